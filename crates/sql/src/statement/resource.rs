//! ADD and LIST of files.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::Statement;

impl Parser<'_> {
    /// `ADD | LIST JAR | FILE | ARCHIVE path …`, with paths as they are written.
    pub(super) fn resources(&mut self) -> Result<Statement> {
        let start = self.mark();
        let is_add = self.is(K::ADD);
        self.advance();
        let word = self.word()?.to_lowercase();
        let kind = match word.as_str() {
            "jar" | "jars" => "jar",
            "file" | "files" => "file",
            "archive" | "archives" => "archive",
            _ => {
                self.skip_to_end();
                let verb = if is_add { "ADD" } else { "LIST" };
                return Err(self.not_allowed(start, format!("{verb} with resource type '{word}'")));
            }
        };
        let text = self.rest();
        self.skip_to_end();
        let paths = split_paths(text.trim_end().trim_end_matches(';'));
        let kind = kind.to_string();
        if is_add && paths.is_empty() {
            return Err(self.unexpected());
        }
        Ok(if is_add { Statement::AddResource { kind, paths } } else { Statement::ListResources { kind, paths } })
    }
}

/// Paths between white space; quotes keep a path together.
fn split_paths(text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut path = String::new();
    let mut quote = None;
    let mut is_started = false;
    for character in text.chars() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => path.push(character),
            None if matches!(character, '"' | '\'') => {
                quote = Some(character);
                is_started = true;
            }
            None if character.is_whitespace() => {
                if is_started {
                    paths.push(std::mem::take(&mut path));
                    is_started = false;
                }
            }
            None => {
                path.push(character);
                is_started = true;
            }
        }
    }
    if is_started {
        paths.push(path);
    }
    paths
}
