//! Where in a query an error comes from.

/// The kind of query a context points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryContextKind {
    /// SQL text: positions are valid.
    Sql,
    /// A call of the DataFrame API: `call_site` is valid.
    DataFrame,
}

/// A place in a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryContext {
    /// What the place is a place in.
    pub kind: QueryContextKind,
    /// `VIEW`, or empty for the query text itself.
    pub object_type: String,
    /// The name of the view, or empty.
    pub object_name: String,
    /// Position of the fragment's first character in the text, 0-based.
    pub start_index: usize,
    /// Position of the fragment's last character, inclusive.
    pub stop_index: usize,
    /// The piece of SQL, or the name of the API function.
    pub fragment: String,
    /// File and line of the API call.
    pub call_site: String,
    /// 1-based line of the fragment's start (SQL only).
    pub line: usize,
    /// 0-based column of the fragment's start (SQL only).
    pub column: usize,
}

impl QueryContext {
    /// A context for the characters `start..=stop` (in characters) of `text`.
    pub fn sql(text: &str, start: usize, stop: usize) -> Self {
        let fragment: String = text.chars().skip(start).take((stop + 1).saturating_sub(start)).collect();
        let before: Vec<char> = text.chars().take(start).collect();
        let line = before.iter().filter(|c| **c == '\n').count() + 1;
        let column = before.iter().rev().take_while(|c| **c != '\n').count();
        Self {
            kind: QueryContextKind::Sql,
            object_type: String::new(),
            object_name: String::new(),
            start_index: start,
            stop_index: stop,
            fragment,
            call_site: String::new(),
            line,
            column,
        }
    }

    /// A context for a call of the DataFrame API.
    pub fn data_frame(fragment: impl Into<String>, call_site: impl Into<String>) -> Self {
        Self {
            kind: QueryContextKind::DataFrame,
            object_type: String::new(),
            object_name: String::new(),
            start_index: 0,
            stop_index: 0,
            fragment: fragment.into(),
            call_site: call_site.into(),
            line: 0,
            column: 0,
        }
    }

    /// The block shown below the error's text.
    pub fn summary(&self) -> String {
        match self.kind {
            QueryContextKind::Sql => {
                let object = if self.object_type.is_empty() {
                    String::new()
                } else {
                    format!(" of {} {}", self.object_type, self.object_name)
                };
                let width = self.fragment.lines().next().unwrap_or("").chars().count().max(1);
                format!(
                    "== SQL{object} (line {}, position {}) ==\n{}\n{}",
                    self.line,
                    self.column + 1,
                    self.fragment,
                    "^".repeat(width)
                )
            }
            QueryContextKind::DataFrame => {
                format!("== DataFrame ==\n\"{}\" was called from\n{}", self.fragment, self.call_site)
            }
        }
    }
}
