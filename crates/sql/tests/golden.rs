//! Spark's own SQL test files: what they hold must parse, or fail as they say.
//!
//! The files lie beside the checkout; without them the test says so and passes.

#![allow(clippy::unwrap_used, clippy::panic)]

use firesteel_plan::{SetStatement, Statement};
use firesteel_sql::{ParserOptions, parse_script_or_statement};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// One statement of a file, and what Spark makes of it.
struct Case {
    file: String,
    text: String,
    /// The condition of its error, if it is one.
    error: Option<String>,
    /// Whether the parser raises it.
    is_parse_error: bool,
}

fn results() -> Option<PathBuf> {
    let path = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap())
        .join("../../../shared/conformance/golden/cases/results");
    path.is_dir().then_some(path)
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "out") {
            found.push(path);
        }
    }
}

/// Settings by the folder that a file lies in, and by its `--SET` lines.
fn options(name: &str, input: &str) -> ParserOptions {
    let mut options = ParserOptions::default();
    if name.contains("postgreSQL/") {
        options.legacy_interval = true;
    }
    if name.starts_with("nonansi/") {
        options.ansi = false;
    }
    if name.starts_with("timestampNTZ/") {
        options.timestamp_is_ntz = true;
    }
    for line in input.lines().filter_map(|line| line.strip_prefix("--SET ")) {
        for pair in line.split(',') {
            if let Some((key, value)) = pair.split_once('=') {
                set(&mut options, key.trim(), value.trim());
            }
        }
    }
    options
}

fn set(options: &mut ParserOptions, key: &str, value: &str) {
    let on = value.eq_ignore_ascii_case("true");
    match key {
        "spark.sql.ansi.enabled" => options.ansi = on,
        "spark.sql.ansi.enforceReservedKeywords" => options.enforce_reserved_keywords = on,
        "spark.sql.ansi.doubleQuotedIdentifiers" => options.double_quoted_identifiers = on,
        "spark.sql.parser.quotedRegexColumnNames" => options.quoted_regex_column_names = on,
        "spark.sql.parser.escapedStringLiterals" => options.escaped_string_literals = on,
        "spark.sql.legacy.interval.enabled" => options.legacy_interval = on,
        "spark.sql.legacy.setopsPrecedence.enabled" => options.legacy_set_operation_precedence = on,
        "spark.sql.legacy.bangEqualsNot" => options.bang_equals_not = on,
        "spark.sql.timestampType" => options.timestamp_is_ntz = value == "TIMESTAMP_NTZ",
        _ => {}
    }
}

fn cases(root: &Path) -> Vec<(ParserOptions, Vec<Case>)> {
    let mut found = Vec::new();
    files(root, &mut found);
    found
        .iter()
        .map(|path| {
            let file = path.strip_prefix(root).unwrap().to_string_lossy().replace(".out", "");
            let input = fs::read(root.parent().unwrap().join("inputs").join(&file)).unwrap_or_default();
            let options = options(&file, &String::from_utf8_lossy(&input));
            let bytes = fs::read(path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            let segments: Vec<&str> = segments(&text);
            let cases = segments
                .chunks(3)
                .map(|segment| {
                    let output = segment[2].trim_start();
                    let head = output.lines().next().unwrap_or("");
                    let is_error = head.ends_with("Exception") && !head.contains(' ');
                    let condition = output.split("\"errorClass\" : \"").nth(1).and_then(|rest| rest.split('"').next());
                    Case {
                        file: file.clone(),
                        text: segment[0].trim().to_string(),
                        error: is_error.then(|| condition.unwrap_or("").to_string()),
                        is_parse_error: head == "org.apache.spark.sql.catalyst.parser.ParseException",
                    }
                })
                .collect();
            (options, cases)
        })
        .collect()
}

/// The texts after the lines that begin with `-- !query`.
fn segments(text: &str) -> Vec<&str> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("-- !query") {
            starts.push((at, at + line.len()));
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
    starts.iter().zip(ends).map(|((_, start), end)| &text[*start..end]).collect()
}

/// Conditions that Spark finds out while parsing, and we later, with the catalog or the types.
const LATER: [&str; 4] = [
    "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH",
    "INVALID_INLINE_TABLE.FAILED_SQL_EXPRESSION_EVALUATION",
    "FEATURE_NOT_ENABLED",
    "",
];

/// Statements whose text has another in it.
fn is_parsed_later(text: &str) -> bool {
    text.starts_with("EXECUTE IMMEDIATE")
}

#[test]
fn golden_files_parse_as_spark_parses_them() {
    let Some(root) = results() else {
        println!("skipped: no golden files beside the checkout");
        return;
    };
    let (mut total, mut right) = (0, 0);
    let mut wrong = BTreeMap::new();
    for (mut options, cases) in cases(&root) {
        for case in cases {
            total += 1;
            let parsed = parse_script_or_statement(&case.text, &options);
            let condition = case.error.as_deref();
            let verdict = match &parsed {
                Ok(_) if !case.is_parse_error || condition.is_some_and(|condition| LATER.contains(&condition)) => None,
                Ok(_) if is_parsed_later(&case.text) => None,
                Ok(_) => Some(format!("parses, for {condition:?}")),
                Err(error) if condition.is_some() && error.condition() == condition => None,
                Err(error) => Some(format!("{:?} for {condition:?}\n    {error}", error.condition())),
            };
            match verdict {
                None => right += 1,
                Some(verdict) => {
                    wrong.insert(format!("{}: {}", case.file, case.text), verdict);
                }
            }
            if let Ok(Statement::Set(SetStatement::Assign { key, value })) = parsed {
                set(&mut options, &key, &value);
            }
        }
    }
    for (text, verdict) in &wrong {
        println!("{text}\n    {verdict}");
    }
    println!("{right} of {total} as Spark");
    // A ratchet: raise it, never lower it.
    assert!(right >= 9_466, "{right} of {total}");
}
