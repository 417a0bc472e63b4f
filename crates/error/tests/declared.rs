//! Every condition that the workspace raises by name is declared.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use firesteel_error::conditions;

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn raised_conditions_are_declared() {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let crates = Path::new(&package).parent().unwrap();
    let mut files = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        sources(&entry.unwrap().path().join("src"), &mut files);
    }
    let mut unknown = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for piece in text.split("SparkError::new(").skip(1) {
            let Some(name) = piece.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next()) else {
                continue;
            };
            if conditions::lookup(name).is_none() {
                unknown.push(format!("{name} in {}", file.display()));
            }
        }
    }
    assert!(unknown.is_empty(), "not declared: {unknown:#?}");
}
