//! No text makes the parser panic, hang or exhaust the stack.

#![allow(clippy::unwrap_used, clippy::panic)]

use firesteel_sql::{
    ParserOptions, parse_attribute_name, parse_data_type, parse_expression, parse_script_or_statement,
    parse_statements, parse_table_schema,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A small generator of numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }
}

const PIECES: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "BY",
    "ORDER",
    "HAVING",
    "LIMIT",
    "UNION",
    "ALL",
    "EXCEPT",
    "INTERSECT",
    "WITH",
    "AS",
    "RECURSIVE",
    "VALUES",
    "TABLE",
    "JOIN",
    "LEFT",
    "SEMI",
    "ANTI",
    "CROSS",
    "NATURAL",
    "LATERAL",
    "VIEW",
    "EXPLODE",
    "USING",
    "ON",
    "AND",
    "OR",
    "NOT",
    "IN",
    "EXISTS",
    "BETWEEN",
    "LIKE",
    "ILIKE",
    "ESCAPE",
    "IS",
    "NULL",
    "TRUE",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST",
    "INTERVAL",
    "DAY",
    "TO",
    "SECOND",
    "YEAR",
    "MONTH",
    "DATE",
    "TIMESTAMP",
    "TIME",
    "ROLLUP",
    "CUBE",
    "GROUPING",
    "SETS",
    "OVER",
    "PARTITION",
    "ROWS",
    "PRECEDING",
    "CURRENT",
    "ROW",
    "WINDOW",
    "PIVOT",
    "UNPIVOT",
    "FOR",
    "TABLESAMPLE",
    "PERCENT",
    "INSERT",
    "INTO",
    "OVERWRITE",
    "UPDATE",
    "SET",
    "DELETE",
    "MERGE",
    "MATCHED",
    "CREATE",
    "REPLACE",
    "TEMPORARY",
    "FUNCTION",
    "RETURNS",
    "RETURN",
    "DROP",
    "ALTER",
    "ADD",
    "COLUMN",
    "COLUMNS",
    "SHOW",
    "TABLES",
    "DESCRIBE",
    "EXPLAIN",
    "CACHE",
    "REFRESH",
    "ANALYZE",
    "BEGIN",
    "DECLARE",
    "IF",
    "WHILE",
    "DO",
    "REPEAT",
    "UNTIL",
    "LOOP",
    "LEAVE",
    "ITERATE",
    "HANDLER",
    "CONDITION",
    "EXECUTE",
    "IMMEDIATE",
    "IDENTIFIER",
    "COLLATE",
    "STRUCT",
    "ARRAY",
    "MAP",
    "TRIM",
    "BOTH",
    "POSITION",
    "EXTRACT",
    "SUBSTRING",
    "OVERLAY",
    "FILTER",
    "WITHIN",
    "IGNORE",
    "NULLS",
    "FIRST",
    "DISTINCT",
    "(",
    ")",
    "(",
    ")",
    "[",
    "]",
    ",",
    ".",
    ";",
    ":",
    "::",
    "->",
    "=>",
    "|>",
    "||",
    "|",
    "&",
    "^",
    "~",
    "+",
    "-",
    "*",
    "/",
    "%",
    "=",
    "<",
    ">",
    "<=",
    ">=",
    "<>",
    "!=",
    "<=>",
    "<<",
    ">>",
    ">>>",
    "!",
    "?",
    "/*+",
    "*/",
    "/*",
    "--",
    "'",
    "\"",
    "`",
    "'a'",
    "\"b\"",
    "`c`",
    "1",
    "2.5",
    "1e3",
    "1L",
    "5Y",
    "0x",
    ".5",
    "a",
    "b",
    "t.c",
    "é",
    "𝕏",
    "\\",
    "\n",
    "\u{0}",
    "x'ab'",
    "r'c'",
    "'\\u00'",
    "'\\U0010FFFF'",
    "'\\uD800'",
    "{",
    "}",
    "@",
    "#",
    "$",
];

fn soup(random: &mut Random, separator: &str) -> String {
    let length = 1 + random.below(40);
    (0..length).map(|_| random.pick(PIECES)).collect::<Vec<_>>().join(separator)
}

/// Runs every entry on a text; only that they come back counts.
fn try_all(text: &str) {
    let mut options = ParserOptions::default();
    let _ = parse_script_or_statement(text, &options);
    let _ = parse_expression(text, &options);
    let _ = parse_data_type(text, &options);
    let _ = parse_table_schema(text, &options);
    let _ = parse_attribute_name(text);
    let _ = parse_statements(text, &options);
    options.enforce_reserved_keywords = true;
    options.double_quoted_identifiers = true;
    options.legacy_interval = true;
    options.cursors = true;
    let _ = parse_script_or_statement(text, &options);
}

fn golden_inputs() -> Vec<String> {
    fn read(folder: &Path, texts: &mut Vec<String>) {
        let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                read(&path, texts);
            } else if path.extension().is_some_and(|extension| extension == "sql") {
                texts.push(String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
            }
        }
    }
    let root = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap())
        .join("../../../shared/conformance/golden/cases/inputs");
    let mut texts = Vec::new();
    if root.is_dir() {
        read(&root, &mut texts);
    } else {
        println!("skipped: no golden files beside the checkout");
    }
    texts
}

#[test]
fn token_soup_is_parsed_or_refused() {
    let mut random = Random(0x5eed);
    for round in 0..20_000 {
        let separator = if round % 3 == 0 { "" } else { " " };
        try_all(&soup(&mut random, separator));
    }
}

#[test]
fn queries_with_soup_in_them_are_parsed_or_refused() {
    let mut random = Random(0xfeed);
    for _ in 0..20_000 {
        let piece = soup(&mut random, " ");
        let text = match random.below(6) {
            0 => format!("SELECT {piece} FROM t"),
            1 => format!("SELECT a FROM t {piece}"),
            2 => format!("BEGIN {piece}; END"),
            3 => format!("CREATE TABLE t ({piece})"),
            4 => format!("SELECT * FROM ({piece}) WHERE x"),
            _ => format!("SELECT CAST(a AS {piece})"),
        };
        try_all(&text);
    }
}

#[test]
fn mutated_statements_are_parsed_or_refused() {
    let mut random = Random(0xbeef);
    for text in golden_inputs() {
        let statements = firesteel_sql::split_statements(&text);
        for statement in statements.iter().step_by(3) {
            let characters: Vec<char> = statement.chars().collect();
            if characters.is_empty() || characters.len() > 3000 {
                continue;
            }
            let mut changed = characters.clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(changed.len());
                match random.below(4) {
                    0 => {
                        changed.remove(at);
                    }
                    1 => changed.truncate(at),
                    2 => {
                        let piece: Vec<char> = format!(" {} ", random.pick(PIECES)).chars().collect();
                        changed.splice(at..at, piece);
                    }
                    _ => {
                        let from = random.below(characters.len());
                        let piece = characters[from..(from + 30).min(characters.len())].to_vec();
                        changed.splice(at..at, piece);
                    }
                }
                if changed.is_empty() {
                    changed.push('x');
                }
            }
            try_all(&changed.into_iter().collect::<String>());
        }
    }
}

/// Texts that nest or repeat without end.
fn endless(count: usize) -> Vec<String> {
    let nested =
        |open: &str, inside: &str, close: &str| format!("{}{inside}{}", open.repeat(count), close.repeat(count));
    vec![
        nested("(", "1", ")"),
        nested("(", "", ""),
        format!("SELECT {}", nested("(", "SELECT 1", ")")),
        format!("SELECT {}", nested("(SELECT ", "1", ")")),
        format!("SELECT {}", nested("((SELECT ", "1", ") + 1)")),
        format!("SELECT * FROM {}", nested("(", "t", ")")),
        format!("SELECT * FROM {}", nested("(SELECT * FROM ", "t", ")")),
        format!("SELECT * FROM {}", nested("((SELECT * FROM ", "t", ") x JOIN y)")),
        nested("WITH a AS (", "SELECT 1", ") SELECT 1"),
        format!("SELECT {}1", "- ".repeat(count)),
        format!("SELECT {}a", "- ".repeat(count)),
        format!("SELECT {}a", "NOT ".repeat(count)),
        format!("SELECT {}a", "!".repeat(count)),
        format!("SELECT a{}", "[0]".repeat(count)),
        format!("SELECT a{}", "[".repeat(count)),
        format!("SELECT a{}", ".b".repeat(count)),
        format!("SELECT f(){}", ".b".repeat(count)),
        format!("SELECT a{}", "::int".repeat(count)),
        format!("SELECT a{}", " COLLATE x".repeat(count)),
        format!("SELECT a{}", " + a".repeat(count)),
        format!("SELECT a{}", " || a".repeat(count)),
        format!("SELECT a{}", " AND a".repeat(count)),
        format!("SELECT a{}", " OR a AND b".repeat(count)),
        format!("SELECT a{}", " = a".repeat(count)),
        format!("SELECT a{}", " IN (a".repeat(count)),
        format!("SELECT a{}", " BETWEEN a AND b".repeat(count)),
        format!("SELECT {}", "CASE ".repeat(count)),
        format!("SELECT {}", "CASE WHEN ".repeat(count)),
        format!("SELECT {}1{}", "CASE ".repeat(count), " WHEN 1 THEN 2 WHEN 3 THEN 4 END".repeat(count)),
        format!("SELECT {}", nested("f(", "1", ")")),
        format!("SELECT {}", nested("position(", "1", ")")),
        format!("SELECT {}", nested("trim(", "1", ")")),
        format!("SELECT {}", nested("first(", "1", ")")),
        format!("SELECT {}", nested("substring(", "1", ", 2)")),
        format!("SELECT {}", nested("dateadd(day, ", "1", ", x)")),
        format!("SELECT {}", nested("identifier(", "a", ")")),
        format!("SELECT {}1", "x -> ".repeat(count)),
        format!("SELECT CAST(a AS {}int", "ARRAY<".repeat(count)),
        format!("SELECT CAST(a AS {})", nested("ARRAY<", "int", ">")),
        format!("SELECT CAST(a AS {})", nested("STRUCT<a: ", "int", ">")),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(count)),
        format!("SELECT 1{}", " INTERSECT SELECT 1".repeat(count)),
        format!("SELECT * FROM a{}", " JOIN b".repeat(count)),
        format!("SELECT * FROM a{}", ", b".repeat(count)),
        format!("SELECT * FROM a{}", " LATERAL VIEW explode(x) t AS y".repeat(count)),
        format!("FROM a{}", " |> WHERE x".repeat(count)),
        format!("FROM a{}", " |> AS x".repeat(count)),
        format!("FROM a{}", " SELECT 1".repeat(count)),
        format!("SELECT {}1", "1, ".repeat(count)),
        format!("SELECT 1 GROUP BY {}", nested("ROLLUP(", "a", ")")),
        format!("SELECT 1 GROUP BY {}", nested("GROUPING SETS (", "a", ")")),
        "EXPLAIN ".repeat(count),
        format!("{}SELECT 1", "EXPLAIN ".repeat(count)),
        nested("BEGIN ", "SELECT 1;", "END;"),
        nested("BEGIN IF x THEN ", "SELECT 1;", "END IF; END;"),
        nested("BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION ", "SELECT 1;", "END;"),
        "/*".repeat(count),
        "'".repeat(count),
        "`".repeat(count),
        "--".repeat(count),
        ";".repeat(count),
        format!("SELECT a LIKE ANY (b{})", ", b".repeat(count)),
        format!("SELECT 1 /*+ {}", "a(".repeat(count)),
        format!("SELECT /*+ {}", "a(".repeat(count)),
        format!("SELECT interval {}", "1 day ".repeat(count)),
        format!("SELECT {}", "1".repeat(count)),
        format!("SELECT 1e{}", "9".repeat(count)),
        format!("SELECT {} over w", "a.".repeat(count)),
        format!("SELECT a:b{}", "[0]".repeat(count)),
        format!("VALUES {}", nested("(", "1", ")")),
        format!("INSERT INTO t {}", nested("(", "SELECT 1", ")")),
        format!("CREATE VIEW v AS {}", nested("(", "SELECT 1", ")")),
        format!("SELECT {}", "transform(x USING ".repeat(count)),
        "MAP ".repeat(count),
        format!("SELECT a IN {}", nested("(", "SELECT 1", ")")),
        format!("SELECT a {}", "LIKE ALL (".repeat(count)),
    ]
}

#[test]
fn deep_and_long_texts_end_well_on_a_small_stack() {
    // What is parsed is also dropped here.
    let run = || {
        for count in [100, 900, 1900, 20_000] {
            for text in endless(count) {
                let start = Instant::now();
                let _ = parse_script_or_statement(&text, &ParserOptions::default());
                let _ = parse_expression(&text, &ParserOptions::default());
                let _ = parse_statements(&text, &ParserOptions::default());
                let head: String = text.chars().take(60).collect();
                assert!(start.elapsed() < Duration::from_secs(20), "slow: {head} ({count})");
            }
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn long_chains_of_conditions_are_parsed() {
    let options = ParserOptions::default();
    assert!(parse_expression(&format!("a = 1{}", " OR a = 1".repeat(20_000)), &options).is_ok());
    assert!(parse_expression(&format!("a IN (1{})", ", 1".repeat(50_000)), &options).is_ok());
    assert!(parse_expression(&format!("a{}", " + 1".repeat(1_000)), &options).is_ok());
}

#[test]
fn too_deep_texts_are_told_so() {
    let text = format!("{}1{}", "(".repeat(5_000), ")".repeat(5_000));
    let error = parse_expression(&text, &ParserOptions::default()).unwrap_err();
    assert_eq!(error.condition(), Some("FAILED_TO_PARSE_TOO_COMPLEX"));
}
