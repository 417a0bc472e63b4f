//! Reading settings by type.

use std::borrow::Cow;

use crate::entry::{Default, Kind};
use crate::hadoop::HadoopSettings;
use crate::table::{alternatives, lookup};
use crate::value;

/// A set of settings that can be read by key, with the declared defaults behind it.
pub trait Reader {
    /// The value that somebody has set for exactly this key.
    fn explicit(&self, key: &str) -> Option<&str>;

    /// All settings of file systems that somebody has made.
    fn hadoop(&self) -> HadoopSettings;

    /// The value that counts: set, or the declared default; `None` for keys without either.
    fn effective(&self, key: &str) -> Option<Cow<'_, str>> {
        if let Some(text) = self.explicit(key) {
            return Some(Cow::Borrowed(text));
        }
        let entry = lookup(key)?;
        if let Some(text) = alternatives(key).find_map(|old| self.explicit(old)) {
            return Some(Cow::Owned(value::print(entry.kind, text)));
        }
        match entry.default {
            Default::Is(text) => Some(Cow::Borrowed(text)),
            Default::Of(other) => self.effective(other).map(|text| Cow::Owned(value::print(entry.kind, &text))),
            Default::Unset => None,
        }
    }

    /// A boolean; `false` if there is none.
    fn boolean(&self, key: &str) -> bool {
        self.effective(key).and_then(|text| value::parse_boolean(&text)).unwrap_or_default()
    }

    /// A whole number (also sizes and spans, in the key's own unit); 0 if there is none.
    fn integer(&self, key: &str) -> i64 {
        self.optional_integer(key).unwrap_or_default()
    }

    /// A whole number (also sizes and spans, in the key's own unit), if there is one.
    fn optional_integer(&self, key: &str) -> Option<i64> {
        let text = self.effective(key)?;
        match lookup(key).map(|entry| entry.kind) {
            Some(Kind::Bytes(unit)) => value::parse_bytes(&text, unit),
            Some(Kind::Time(unit)) => value::parse_time(&text, unit),
            _ => value::parse_long(&text),
        }
    }

    /// A whole number where a negative one means the same as 0.
    fn count(&self, key: &str) -> usize {
        usize::try_from(self.integer(key)).unwrap_or_default()
    }

    /// A real number; 0 if there is none.
    fn real(&self, key: &str) -> f64 {
        self.effective(key).and_then(|text| value::parse_double(&text)).unwrap_or_default()
    }

    /// A text, folded as its declaration says; empty if there is none.
    fn text(&self, key: &str) -> String {
        self.optional_text(key).unwrap_or_default()
    }

    /// A text, folded as its declaration says, if there is one.
    fn optional_text(&self, key: &str) -> Option<String> {
        let text = self.effective(key)?;
        Some(match lookup(key).map(|entry| entry.kind) {
            Some(kind @ (Kind::Enum(..) | Kind::Choice(..) | Kind::LowerText)) => value::print(kind, &text),
            _ => text.into_owned(),
        })
    }

    /// The texts between commas, without the spaces around them.
    fn list(&self, key: &str) -> Vec<String> {
        let text = self.text(key);
        text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_string).collect()
    }
}
