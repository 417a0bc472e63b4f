//! The prompt.

use crate::Failure;
use crate::query::{is_complete, statements};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::path::PathBuf;

fn history() -> Option<PathBuf> {
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".firesteel_history"))
}

/// Reads statements, which end with a semicolon, and shows their results until the input ends.
pub fn run(execute: impl Fn(&str) -> Result<String, Failure>) -> Result<(), Failure> {
    let mut editor = DefaultEditor::new()?;
    if let Some(path) = history() {
        // There is none at first.
        let _ = editor.load_history(&path);
    }
    println!("Statements end with a semicolon; Ctrl-D or quit ends the session.");
    let mut typed = String::new();
    loop {
        let prompt = if typed.is_empty() { "sql> " } else { "  -> " };
        match editor.readline(prompt) {
            Ok(line) => {
                let is_first = typed.is_empty();
                typed.push_str(&line);
                typed.push('\n');
                let word = line.trim().trim_end_matches(';');
                if is_first && ["quit", "exit"].iter().any(|end| word.eq_ignore_ascii_case(end)) {
                    break;
                }
                if typed.trim().is_empty() {
                    typed.clear();
                    continue;
                }
                if !is_complete(&typed) {
                    continue;
                }
                editor.add_history_entry(typed.trim())?;
                for statement in statements(&std::mem::take(&mut typed)) {
                    match execute(&statement) {
                        Ok(shown) => print!("{shown}"),
                        Err(error) => {
                            eprintln!("{error}");
                            break;
                        }
                    }
                }
            }
            Err(ReadlineError::Interrupted) => typed.clear(),
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(path) = history() {
        // A history that cannot be kept is no reason to fail.
        let _ = editor.save_history(&path);
    }
    Ok(())
}
