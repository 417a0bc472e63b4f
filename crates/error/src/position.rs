//! Where a text stops to make sense.

/// A place in a text that could not be parsed.
///
/// ```
/// use firesteel_error::TextPosition;
/// let position = TextPosition::of("SELECT 1 +", 10);
/// assert_eq!((position.line, position.column), (1, 10));
/// assert_eq!(position.summary(), " (line 1, pos 10)\n\n== SQL ==\nSELECT 1 +\n----------^^^");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPosition {
    /// 1-based.
    pub line: usize,
    /// 0-based, in characters.
    pub column: usize,
    /// The text's lines up to the place, and those after it.
    above: String,
    below: String,
}

impl TextPosition {
    /// The place of a character of a text, counted from 0.
    pub fn of(text: &str, index: usize) -> Self {
        let place = text.char_indices().nth(index).map_or(text.len(), |(at, _)| at);
        let (before, after) = text.split_at_checked(place).unwrap_or((text, ""));
        let end = after.find('\n').map_or(text.len(), |at| place + at);
        let (above, below) = text.split_at_checked(end).unwrap_or((text, ""));
        Self {
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|c| *c != '\n').count(),
            above: above.to_string(),
            below: below.to_string(),
        }
    }

    /// What is shown behind an error's text.
    pub fn summary(&self) -> String {
        let Self { line, column, above, below } = self;
        format!(" (line {line}, pos {column})\n\n== SQL ==\n{above}\n{}^^^{below}", "-".repeat(*column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_below_its_line() {
        let position = TextPosition::of("a é\nb c\nd", 6);
        assert_eq!((position.line, position.column), (2, 2));
        assert_eq!(position.summary(), " (line 2, pos 2)\n\n== SQL ==\na é\nb c\n--^^^\nd");
    }

    #[test]
    fn a_place_after_the_end_is_the_end() {
        assert_eq!(TextPosition::of("a", 9).column, 1);
    }
}
