//! Records that look like the one before: the same names in the same order, plain values, no blanks.

use firesteel_functions::scalar::json::reader::Json;
use std::borrow::Cow;

/// The names of a record, as they are written, each with its column.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// `"name":` and the column that the values go to.
    fields: Vec<(String, Option<usize>)>,
}

/// A value that is written plainly.
enum Plain<'a> {
    Value(Json<'a>),
    /// Its text, where no string is expected but one may be wanted.
    Bare(Json<'a>, &'a str),
}

impl Layout {
    /// The layout of a record with these names.
    pub(crate) fn new(names: &[(Cow<'_, str>, Option<usize>)]) -> Self {
        let is_plain = |name: &str| name.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\');
        if !names.iter().all(|(name, _)| is_plain(name)) {
            return Self::default();
        }
        Self { fields: names.iter().map(|(name, column)| (format!("\"{name}\":"), *column)).collect() }
    }

    /// Whether a record with these names has this layout.
    pub(crate) fn is_of(&self, names: &[(Cow<'_, str>, Option<usize>)]) -> bool {
        self.fields.len() == names.len()
            && self
                .fields
                .iter()
                .zip(names)
                .all(|((key, _), (name, _))| key.get(1..key.len() - 2).is_some_and(|known| known == name.as_ref()))
    }

    /// Gives the values of a record to `set`; false where the record does not look like this, of which
    /// some values may have been given already.
    pub(crate) fn read<'a>(
        &self,
        record: &'a str,
        is_string: impl Fn(usize) -> bool,
        mut set: impl FnMut(usize, Json<'a>),
    ) -> bool {
        let Some(mut rest) = record.strip_prefix('{') else { return false };
        for (i, (key, column)) in self.fields.iter().enumerate() {
            if i > 0 {
                let Some(next) = rest.strip_prefix(',') else { return false };
                rest = next;
            }
            let Some(next) = rest.strip_prefix(key.as_str()) else { return false };
            let Some((value, next)) = value(next) else { return false };
            rest = next;
            if let Some(column) = *column {
                let value = match value {
                    // What is no string stands in a column of strings as it is written.
                    Plain::Bare(_, text) if is_string(column) => Json::Text(Cow::Borrowed(text)),
                    Plain::Bare(value, _) | Plain::Value(value) => value,
                };
                set(column, value);
            }
        }
        rest == "}" && !self.fields.is_empty()
    }
}

/// The value that a text begins with and what follows, if it is plain.
#[inline]
fn value(text: &str) -> Option<(Plain<'_>, &str)> {
    let bytes = text.as_bytes();
    match bytes.first()? {
        b'"' => {
            let rest = text.get(1..)?;
            let end = rest.bytes().position(|b| b == b'"' || b == b'\\' || b < 0x20)?;
            if rest.as_bytes().get(end) != Some(&b'"') {
                return None;
            }
            Some((Plain::Value(Json::Text(Cow::Borrowed(rest.get(..end)?))), rest.get(end + 1..)?))
        }
        b'-' | b'0'..=b'9' => {
            let digits =
                |from: usize| bytes.get(from..).map_or(0, |b| b.iter().take_while(|b| b.is_ascii_digit()).count());
            let first = usize::from(bytes.first() == Some(&b'-'));
            let whole = digits(first);
            if whole == 0 || (whole > 1 && bytes.get(first) == Some(&b'0')) {
                return None;
            }
            let mut end = first + whole;
            let is_fraction = bytes.get(end) == Some(&b'.');
            if is_fraction {
                let fraction = digits(end + 1);
                if fraction == 0 {
                    return None;
                }
                end += 1 + fraction;
            }
            if !matches!(bytes.get(end), Some(b',' | b'}')) {
                return None;
            }
            let (number, rest) = text.split_at_checked(end)?;
            let value = if is_fraction { Json::Fraction(number) } else { Json::Whole(number) };
            Some((Plain::Bare(value, number), rest))
        }
        _ => {
            let word = |word: &'static str, value| Some((Plain::Bare(value, word), text.strip_prefix(word)?));
            if let Some(rest) = text.strip_prefix("null") {
                return Some((Plain::Value(Json::Null), rest));
            }
            word("true", Json::Boolean(true)).or_else(|| word("false", Json::Boolean(false)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(record: &str) -> Option<Vec<(usize, Json<'_>)>> {
        let layout = Layout::new(&[("a".into(), Some(0)), ("b".into(), None), ("c".into(), Some(1))]);
        let mut values = Vec::new();
        layout.read(record, |column| column == 1, |column, value| values.push((column, value))).then_some(values)
    }

    #[test]
    fn plain_records_are_read() {
        let text = |text: &'static str| Json::Text(Cow::Borrowed(text));
        assert_eq!(read(r#"{"a":1,"b":null,"c":"x"}"#), Some(vec![(0, Json::Whole("1")), (1, text("x"))]));
        assert_eq!(read(r#"{"a":-1.50,"b":"y","c":7}"#), Some(vec![(0, Json::Fraction("-1.50")), (1, text("7"))]));
        assert_eq!(read(r#"{"a":true,"b":2,"c":null}"#), Some(vec![(0, Json::Boolean(true)), (1, Json::Null)]));
    }

    #[test]
    fn others_are_left() {
        for record in [
            "",
            "{}",
            r#"{"a":1,"b":2}"#,
            r#"{"a":1,"c":2,"b":3}"#,
            r#"{"a":1, "b":2,"c":3}"#,
            r#"{"a":1,"b":2,"c":3} "#,
            r#"{"a":01,"b":2,"c":3}"#,
            r#"{"a":1e5,"b":2,"c":3}"#,
            r#"{"a":1.,"b":2,"c":3}"#,
            r#"{"a":nulls,"b":2,"c":3}"#,
            r#"{"a":"\n","b":2,"c":3}"#,
            r#"{"a":[1],"b":2,"c":3}"#,
            r#"{"a":1,"b":2,"c":"x"#,
        ] {
            assert_eq!(read(record), None, "{record}");
        }
    }
}
