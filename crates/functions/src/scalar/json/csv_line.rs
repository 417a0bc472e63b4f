//! Lines of CSV: their fields, and fields as a line.

/// How a line is read and written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialect {
    pub separator: String,
    pub quote: Option<char>,
    pub escape: Option<char>,
    pub escape_of_escape: Option<char>,
    pub comment: Option<char>,
    pub stray_quote: StrayQuote,
    /// How many fields a line may have.
    pub max_columns: usize,
    pub null_value: String,
    pub empty_value: String,
    pub ignores_leading_blanks: bool,
    pub ignores_trailing_blanks: bool,
    pub quotes_all: bool,
}

/// What happens where text follows the quote that ends a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StrayQuote {
    /// The field goes on to the next separator, quotes and all.
    StopAtDelimiter,
    /// The quote belongs to the field.
    StopAtClosingQuote,
    /// The field is null.
    SkipValue,
}

/// What a field was written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Nothing that counts.
    Missing,
    Plain,
    Quoted,
}

/// A field, and how it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvField {
    pub text: String,
    pub written: Written,
}

/// What is trimmed.
fn is_blank(character: char) -> bool {
    character <= ' '
}

/// Parts a line into fields; none where the line is empty or a comment.
pub fn split(line: &str, dialect: &Dialect) -> Option<Vec<CsvField>> {
    if line.is_empty() || dialect.comment.is_some_and(|comment| line.starts_with(comment)) {
        return None;
    }
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let (field, after) = field(rest, dialect);
        fields.push(field);
        match after {
            Some(after) => rest = after,
            None => return Some(fields),
        }
    }
}

/// The text up to the next separator, and what follows that.
fn up_to_separator<'a>(text: &'a str, dialect: &Dialect) -> (&'a str, Option<&'a str>) {
    match text.split_once(dialect.separator.as_str()) {
        Some((field, after)) => (field, Some(after)),
        None => (text, None),
    }
}

/// Skips blanks that are no separator.
fn skip_blanks<'a>(mut text: &'a str, dialect: &Dialect) -> &'a str {
    while text.starts_with(is_blank) && !text.starts_with(dialect.separator.as_str()) {
        text = &text[1..];
    }
    text
}

/// The first field, and what follows the separator after it.
fn field<'a>(text: &'a str, dialect: &Dialect) -> (CsvField, Option<&'a str>) {
    let text = if dialect.ignores_leading_blanks { skip_blanks(text, dialect) } else { text };
    if let Some(quote) = dialect.quote
        && let Some(rest) = text.strip_prefix(quote)
    {
        return quoted_field(rest, quote, dialect);
    }
    let (field, after) = up_to_separator(text, dialect);
    let field = if dialect.ignores_trailing_blanks { field.trim_end_matches(is_blank) } else { field };
    let written = if field.is_empty() { Written::Missing } else { Written::Plain };
    (CsvField { text: field.to_string(), written }, after)
}

/// The field that stands behind an opening quote.
fn quoted_field<'a>(mut rest: &'a str, quote: char, dialect: &Dialect) -> (CsvField, Option<&'a str>) {
    let mut text = String::new();
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        let next = after.chars().next();
        let escapes_itself = next == Some(character) && dialect.escape_of_escape == next;
        if Some(character) == dialect.escape && (next == Some(quote) || (character != quote && escapes_itself)) {
            text.extend(next);
            rest = &after[next.map_or(0, char::len_utf8)..];
            continue;
        }
        if character != quote {
            text.push(character);
            rest = after;
            continue;
        }
        let tail = skip_blanks(after, dialect);
        if tail.is_empty() {
            return (CsvField { text, written: Written::Quoted }, None);
        }
        if let Some(following) = tail.strip_prefix(dialect.separator.as_str()) {
            return (CsvField { text, written: Written::Quoted }, Some(following));
        }
        match dialect.stray_quote {
            StrayQuote::StopAtClosingQuote => {
                text.push(character);
                rest = after;
            }
            StrayQuote::SkipValue => {
                let (_, following) = up_to_separator(after, dialect);
                return (CsvField { text: String::new(), written: Written::Missing }, following);
            }
            StrayQuote::StopAtDelimiter => {
                let (end, following) = up_to_separator(after, dialect);
                let end = if dialect.ignores_trailing_blanks { end.trim_end_matches(is_blank) } else { end };
                return (CsvField { text: format!("{quote}{text}{quote}{end}"), written: Written::Plain }, following);
            }
        }
    }
    (CsvField { text, written: Written::Quoted }, None)
}

/// Writes a field; None for null.
pub fn write_field(out: &mut String, text: Option<&str>, dialect: &Dialect) {
    let Some(text) = text else {
        out.push_str(&dialect.null_value);
        return;
    };
    if text.is_empty() {
        out.push_str(&dialect.empty_value);
        return;
    }
    let text = if dialect.ignores_leading_blanks { text.trim_start_matches(is_blank) } else { text };
    let text = if dialect.ignores_trailing_blanks { text.trim_end_matches(is_blank) } else { text };
    let Some(quote) = dialect.quote else {
        out.push_str(text);
        return;
    };
    let needs_quotes = dialect.quotes_all
        || text.contains(dialect.separator.as_str())
        || text.contains(quote)
        || text.contains(['\n', '\r'])
        || dialect.comment.is_some_and(|comment| text.starts_with(comment));
    if !needs_quotes {
        out.push_str(text);
        return;
    }
    out.push(quote);
    for character in text.chars() {
        if character == quote {
            out.extend(dialect.escape);
        }
        out.push(character);
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(escape: char, stray_quote: StrayQuote) -> Dialect {
        Dialect {
            separator: ",".into(),
            quote: Some('"'),
            escape: Some(escape),
            escape_of_escape: (escape != '"').then_some(escape),
            comment: Some('#'),
            stray_quote,
            max_columns: 20480,
            null_value: String::new(),
            empty_value: String::new(),
            ignores_leading_blanks: false,
            ignores_trailing_blanks: false,
            quotes_all: false,
        }
    }

    fn texts(line: &str, escape: char, stray_quote: StrayQuote) -> Vec<String> {
        let fields = split(line, &dialect(escape, stray_quote)).unwrap_or_default();
        fields.into_iter().map(|field| field.text).collect()
    }

    #[test]
    fn text_behind_a_quote_reaches_to_the_separator() {
        let stop = StrayQuote::StopAtDelimiter;
        assert_eq!(texts("\"a\"x,b", '\\', stop), ["\"a\"x", "b"]);
        assert_eq!(texts("\"a\"b,c\"d,e", '\\', stop), ["\"a\"b", "c\"d", "e"]);
        assert_eq!(texts("\"a\"\",\"b\"", '"', stop), ["\"a\",\"b\""]);
        assert_eq!(texts(" \"a\" ,b", '\\', stop), [" \"a\" ", "b"]);
    }

    #[test]
    fn text_behind_a_quote_may_be_dropped_or_kept() {
        assert_eq!(texts("\"a\"b,c\"d,e", '\\', StrayQuote::SkipValue), ["", "c\"d", "e"]);
        assert_eq!(texts("\"a\"b\",c", '\\', StrayQuote::StopAtClosingQuote), ["a\"b", "c"]);
    }

    #[test]
    fn comments_and_empty_lines_have_no_fields() {
        assert_eq!(split("# x,y", &dialect('\\', StrayQuote::SkipValue)), None);
        assert_eq!(split("", &dialect('\\', StrayQuote::SkipValue)), None);
    }
}
