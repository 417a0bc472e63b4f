//! Lines of CSV: their fields, and fields as a line.

/// How a line is read and written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialect {
    pub separator: String,
    pub quote: Option<char>,
    pub escape: Option<char>,
    pub comment: Option<char>,
    pub null_value: String,
    pub empty_value: String,
    pub ignores_leading_blanks: bool,
    pub ignores_trailing_blanks: bool,
    pub quotes_all: bool,
}

/// A field, and whether it was in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvField {
    pub text: String,
    pub is_quoted: bool,
}

/// Parts a line into fields.
pub fn split(line: &str, dialect: &Dialect) -> Vec<CsvField> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let (field, after) = field(rest, dialect);
        fields.push(field);
        match after {
            Some(after) => rest = after,
            None => return fields,
        }
    }
}

/// The first field, and what follows the separator after it.
fn field<'a>(text: &'a str, dialect: &Dialect) -> (CsvField, Option<&'a str>) {
    let trimmed = text.trim_start_matches(' ');
    if let Some(quote) = dialect.quote
        && let Some(mut rest) = trimmed.strip_prefix(quote)
    {
        let mut out = String::new();
        while let Some(character) = rest.chars().next() {
            let after = &rest[character.len_utf8()..];
            let next = after.chars().next();
            if Some(character) == dialect.escape && next.is_some_and(|n| n == quote || Some(n) == dialect.escape) {
                out.extend(next);
                rest = &after[next.map_or(0, char::len_utf8)..];
            } else if character == quote {
                let tail = after.trim_start_matches(' ');
                if tail.is_empty() {
                    return (CsvField { text: out, is_quoted: true }, None);
                }
                if let Some(following) = tail.strip_prefix(dialect.separator.as_str()) {
                    return (CsvField { text: out, is_quoted: true }, Some(following));
                }
                // A quote inside a field.
                out.push(character);
                rest = after;
            } else {
                out.push(character);
                rest = after;
            }
        }
        return (CsvField { text: out, is_quoted: true }, None);
    }
    let (field, after) = match text.split_once(dialect.separator.as_str()) {
        Some((field, after)) => (field, Some(after)),
        None => (text, None),
    };
    let field = if dialect.ignores_leading_blanks { field.trim_start() } else { field };
    let field = if dialect.ignores_trailing_blanks { field.trim_end() } else { field };
    (CsvField { text: field.to_string(), is_quoted: false }, after)
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
    let text = if dialect.ignores_leading_blanks { text.trim_start() } else { text };
    let text = if dialect.ignores_trailing_blanks { text.trim_end() } else { text };
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
