//! Where in a query an error comes from.

use std::sync::Arc;

/// The kind of query a context points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryContextKind {
    /// SQL text: positions are valid.
    Sql,
    /// A call of the DataFrame API: `call_site` is valid.
    DataFrame,
}

/// A place in a query. What of the text is shown is cut out only when it is asked for,
/// since every expression may know its place.
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
    /// File and line of the API call.
    pub call_site: String,
    place: Place,
}

/// What a context is cut out of.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Text(Arc<str>),
    Excerpt(Box<Excerpt>),
}

/// What of the query is shown of a place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The piece of SQL, or the name of the API function.
    pub fragment: String,
    /// 1-based line of the fragment's start (SQL only).
    pub line: usize,
    /// 0-based column of the fragment's start (SQL only).
    pub column: usize,
    /// The lines around the fragment, marked below (SQL only).
    pub marked: String,
}

/// How much text of its lines is shown before and after a fragment.
const SURROUNDINGS: usize = 32;

impl QueryContext {
    /// A context for the characters `start..=stop` (in characters) of `text`.
    pub fn sql(text: impl Into<Arc<str>>, start: usize, stop: usize) -> Self {
        Self {
            kind: QueryContextKind::Sql,
            object_type: String::new(),
            object_name: String::new(),
            start_index: start,
            stop_index: stop,
            call_site: String::new(),
            place: Place::Text(text.into()),
        }
    }

    /// The same place with an excerpt instead of the text, such as one that has travelled.
    #[must_use]
    pub fn with_excerpt(mut self, excerpt: Excerpt) -> Self {
        self.place = Place::Excerpt(Box::new(excerpt));
        self
    }

    /// What of the query is shown.
    pub fn excerpt(&self) -> Excerpt {
        let text = match &self.place {
            Place::Text(text) => text,
            Place::Excerpt(excerpt) => return (**excerpt).clone(),
        };
        let characters: Vec<char> = text.chars().collect();
        let before = characters.get(..self.start_index.min(characters.len())).unwrap_or_default();
        let length = (self.stop_index + 1).saturating_sub(self.start_index);
        Excerpt {
            fragment: characters.iter().skip(self.start_index).take(length).collect(),
            line: before.iter().filter(|c| **c == '\n').count() + 1,
            column: before.iter().rev().take_while(|c| **c != '\n').count(),
            marked: mark(&characters, self.start_index, self.stop_index),
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
            call_site: call_site.into(),
            place: Place::Excerpt(Box::new(Excerpt { fragment: fragment.into(), ..Excerpt::default() })),
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
                let excerpt = self.excerpt();
                format!(
                    "== SQL{object} (line {}, position {}) ==\n{}",
                    excerpt.line,
                    excerpt.column + 1,
                    excerpt.marked
                )
            }
            QueryContextKind::DataFrame => {
                format!("== DataFrame ==\n\"{}\" was called from\n{}", self.excerpt().fragment, self.call_site)
            }
        }
    }
}

/// The lines that the characters `start..=stop` stand in, each with a line of marks below it.
fn mark(text: &[char], start: usize, stop: usize) -> String {
    let last = text.len().saturating_sub(1);
    let (start, stop) = (start.min(last), stop.min(last));
    let before = text.get(..start).unwrap_or_default().iter().rev().take_while(|c| **c != '\n').count();
    let after = text.get(stop + 1..).unwrap_or_default().iter().take_while(|c| **c != '\n').count();
    let first = start - before.min(SURROUNDINGS);
    let end = (stop + 1 + after.min(SURROUNDINGS)).min(text.len());
    let dots = |cut: bool| if cut { "..." } else { "" };
    let mut lines = Vec::new();
    let mut at = first;
    for (index, line) in text.get(first..end).unwrap_or_default().split(|c| *c == '\n').enumerate() {
        let lead = dots(index == 0 && before > SURROUNDINGS);
        let tail = dots(at + line.len() == end && after > SURROUNDINGS);
        lines.push(format!("{lead}{}{tail}", line.iter().collect::<String>()));
        let marks: String =
            (at..at + line.len()).map(|place| if (start..=stop).contains(&place) { '^' } else { ' ' }).collect();
        lines.push(format!("{}{}", " ".repeat(lead.len()), marks.trim_end()));
        at += line.len() + 1;
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_line_is_shown_with_marks_below_the_fragment() {
        let context = QueryContext::sql("SELECT a\nFROM t WHERE b = 1", 22, 22);
        assert_eq!(context.summary(), "== SQL (line 2, position 14) ==\nFROM t WHERE b = 1\n             ^");
    }

    #[test]
    fn long_lines_are_cut_around_the_fragment() {
        let text = format!("SELECT {} + x + {}", "a".repeat(50), "b".repeat(50));
        let context = QueryContext::sql(text.as_str(), 60, 60);
        let shown = format!("...{} + x + {}...", "a".repeat(29), "b".repeat(29));
        assert_eq!(context.excerpt().marked, format!("{shown}\n{}^", " ".repeat(35)));
    }
}
