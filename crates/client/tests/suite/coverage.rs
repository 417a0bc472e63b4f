//! The table of docs/client-coverage.md tells the truth, and covers nearly all of PySpark.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What the protocol has for other clients, or for programs that make their own messages.
const BY_MESSAGE: &[&str] = &["ml_relation", "unknown", "extension"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

fn table() -> String {
    std::fs::read_to_string(root().join("../../docs/client-coverage.md")).unwrap()
}

fn sources(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

/// Every word of the crate's sources that may be a function's name: of a declaration, or in a macro's list.
fn names() -> BTreeSet<String> {
    let mut text = String::new();
    sources(&root().join("src"), &mut text);
    let mut names = BTreeSet::new();
    for line in text.lines() {
        let declared = line.split_once("fn ").map(|(_, rest)| rest);
        // Lines of macros begin with the name; `parsers!` has two of them.
        let listed = line.strip_prefix("    ").filter(|rest| !rest.starts_with([' ', '/']));
        for rest in declared.into_iter().chain(listed) {
            let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            names.insert(word);
        }
    }
    names
}

/// The rows of the table, by class.
fn rows(table: &str) -> BTreeMap<String, Vec<(String, String)>> {
    let mut classes = BTreeMap::<String, Vec<_>>::new();
    let mut class = None;
    for line in table.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            class = Some(title.to_string());
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        if let (Some(class), [name, here]) = (&class, cells.as_slice())
            && line.starts_with("| `")
        {
            classes.entry(class.clone()).or_default().push((name.to_string(), here.to_string()));
        }
    }
    classes
}

#[test]
fn nearly_every_method_of_each_class_is_there() {
    let (names, table) = (names(), table());
    let rows = rows(&table);
    for class in ["DataFrame", "Column", "SparkSession", "DataFrameReader", "DataFrameWriter", "Catalog", "functions"] {
        let methods = &rows[class];
        let counted: Vec<_> = methods.iter().filter(|(_, here)| here != "Python only").collect();
        let there = counted.iter().filter(|(_, here)| names.contains(here)).count();
        assert!(there * 100 >= counted.len() * 98, "{class}: {there} of {}", counted.len());
        assert!(methods.len() - counted.len() <= 8, "{class}: too much is said to be Python's only");
    }
    for (name, here) in rows.values().flatten() {
        let known = here.starts_with("Bound::") || here == "Python only" || here == "missing" || names.contains(here);
        assert!(known, "{name}: no function {here}");
    }
}

#[test]
fn the_table_is_what_its_program_writes() {
    // Needs a Python with PySpark 4.2.
    let Some(python) = std::env::var_os("FIRESTEEL_PYSPARK_4_2") else {
        return;
    };
    let run = std::process::Command::new(python).arg(root().join("tools/coverage.py")).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(String::from_utf8(run.stdout).unwrap(), table());
}

#[test]
fn every_relation_of_the_protocol_has_a_method() {
    let protocol = root().join("../proto/proto/spark/connect/relations.proto");
    let protocol = std::fs::read_to_string(protocol).unwrap();
    let (_, choices) = protocol.split_once("oneof rel_type").unwrap();
    let (choices, _) = choices.split_once('}').unwrap();
    let mut text = String::new();
    sources(&root().join("src"), &mut text);
    let mut relations = 0;
    for line in choices.lines().filter(|line| line.contains(" = ") && !line.trim_start().starts_with("//")) {
        let name = line.split(" = ").next().unwrap().split_whitespace().last().unwrap();
        let variant: String = name
            .split('_')
            .map(|word| word.get(..1).unwrap_or_default().to_uppercase() + word.get(1..).unwrap_or_default())
            .collect();
        relations += 1;
        let there = text.contains(&format!("RelType::{variant}("));
        assert!(there || BY_MESSAGE.contains(&name), "no method makes {name}");
    }
    assert!(relations > 50, "{relations}");
}
