//! `firesteel sql`.

use crate::arguments::SqlArguments;
use crate::embedded::Embedded;
use crate::remote::Remote;
use crate::{Failure, repl};
use async_trait::async_trait;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// How results are shown.
#[derive(Debug, Clone, Copy)]
pub struct Display {
    pub rows: i32,
    pub truncate: i32,
}

/// Something that runs SQL.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Runs one statement; the text of its result, empty where it has none.
    async fn run(&self, text: String, display: Display) -> Result<String, Failure>;
    /// Ends the session.
    async fn close(&self);
}

/// Runs the text of the command line, or a prompt.
pub fn run(arguments: &SqlArguments) -> Result<(), Failure> {
    let runtime = crate::runtime(None)?;
    let backend: Arc<dyn Backend> = match &arguments.remote {
        Some(url) => Arc::new(runtime.block_on(Remote::connect(url, arguments.ca_cert.as_deref()))?),
        None => Arc::new(Embedded::new(arguments.engine.options())?),
    };
    let display = Display { rows: arguments.rows, truncate: arguments.truncate };
    let execute = |text: &str| {
        let task = {
            let (backend, text) = (backend.clone(), text.to_string());
            async move { backend.run(text, display).await }
        };
        runtime.block_on(interruptible(task))
    };
    let result = match &arguments.text {
        Some(text) => statements(text).iter().try_for_each(|statement| {
            let shown = execute(statement)?;
            Ok(std::io::stdout().write_all(shown.as_bytes())?)
        }),
        None => repl::run(execute),
    };
    runtime.block_on(backend.close());
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}

/// Runs on a thread with a large stack, and gives up at Ctrl-C.
async fn interruptible(
    task: impl Future<Output = Result<String, Failure>> + Send + 'static,
) -> Result<String, Failure> {
    let mut task = tokio::spawn(task);
    tokio::select! {
        result = &mut task => result?,
        _ = tokio::signal::ctrl_c() => {
            task.abort();
            Err("interrupted".into())
        }
    }
}

/// Cuts a text at semicolons outside of quotes and comments. Scripts
/// (`BEGIN … END`) stay whole.
pub fn statements(text: &str) -> Vec<String> {
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.eq_ignore_ascii_case("begin") {
        return vec![text.trim().trim_end_matches(';').to_string()];
    }
    let mut statements = Vec::new();
    let mut start = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'\'' | b'"' | b'`') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' && quote != b'`' { 2 } else { 1 };
                }
            }
            b'-' if bytes.get(at + 1) == Some(&b'-') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += 2;
                while at + 1 < bytes.len() && (bytes[at], bytes[at + 1]) != (b'*', b'/') {
                    at += 1;
                }
                at += 1;
            }
            b';' => {
                statements.push(text[start..at].to_string());
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    statements.push(text.get(start..).unwrap_or_default().to_string());
    statements.retain(|statement| !statement.trim().is_empty());
    statements
}

/// Whether a text typed so far ends a statement.
pub fn is_complete(text: &str) -> bool {
    let trimmed = text.trim_end();
    if !trimmed.ends_with(';') {
        return false;
    }
    let marked = format!("{trimmed} x");
    statements(&marked).last().is_some_and(|last| last.trim() == "x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolons_in_quotes_and_comments_do_not_cut() {
        assert_eq!(
            statements("select ';' ; select `a;b` -- c;d\n; /* ; */ select 'it\\';s'"),
            ["select ';' ", " select `a;b` -- c;d\n", " /* ; */ select 'it\\';s'"]
        );
        assert_eq!(statements(" ;; "), Vec::<String>::new());
        assert_eq!(statements("begin select 1; end;"), ["begin select 1; end"]);
    }

    #[test]
    fn a_statement_ends_with_a_semicolon() {
        assert!(is_complete("select 1;\n"));
        assert!(!is_complete("select 1"));
        assert!(!is_complete("select ';"));
    }
}
