//! Records of CSV text.

use super::{CsvOptions, UnescapedQuotes};

/// What a value was written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing, not even quotes.
    Missing,
    /// Quotes around nothing.
    Empty,
    Text,
}

/// The values of a record. Reused from record to record.
#[derive(Debug, Default)]
pub struct Tokens {
    text: Vec<u8>,
    values: Vec<(usize, usize, Kind)>,
}

impl Tokens {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// A value's bytes.
    pub fn get(&self, index: usize) -> Option<(&[u8], Kind)> {
        self.values.get(index).map(|(start, end, kind)| (&self.text[*start..*end], *kind))
    }

    fn clear(&mut self) {
        self.text.clear();
        self.values.clear();
    }

    fn push(&mut self, start: usize, kind: Kind) {
        self.values.push((start, self.text.len(), kind));
    }
}

impl CsvOptions {
    fn at_separator(&self, data: &[u8], at: usize) -> bool {
        match self.separator.as_slice() {
            [one] => data.get(at) == Some(one),
            several => data[at..].starts_with(several),
        }
    }

    fn at_end(&self, data: &[u8], at: usize) -> bool {
        match data.get(at) {
            None => true,
            Some(b'\n' | b'\r') => self.multi_line,
            Some(_) => false,
        }
    }

    fn is_blank(&self, data: &[u8], at: usize) -> bool {
        data.get(at).is_some_and(|b| *b <= b' ') && !self.at_end(data, at) && !self.at_separator(data, at)
    }

    /// Where an unquoted value ends.
    fn value_end(&self, data: &[u8], from: usize) -> usize {
        if let [one] = self.separator.as_slice() {
            let found = if self.multi_line {
                memchr::memchr3(*one, b'\n', b'\r', &data[from..])
            } else {
                memchr::memchr(*one, &data[from..])
            };
            return found.map_or(data.len(), |i| from + i);
        }
        (from..data.len()).find(|i| self.at_end(data, *i) || self.at_separator(data, *i)).unwrap_or(data.len())
    }

    /// Reads the record that begins at `start`, and gives where the next one begins. Without
    /// `multi_line` the data is one record.
    pub fn record(&self, data: &[u8], start: usize, tokens: &mut Tokens) -> usize {
        tokens.clear();
        let mut at = start;
        loop {
            let mut from = at;
            if self.trims_start {
                while self.is_blank(data, from) {
                    from += 1;
                }
            }
            at = if self.quote.is_some() && data.get(from).copied() == self.quote {
                self.quoted(data, from, tokens)
            } else {
                let end = self.value_end(data, from);
                self.unquoted(&data[from..end], tokens);
                end
            };
            if self.at_end(data, at) {
                return match (data.get(at), data.get(at + 1)) {
                    (Some(b'\r'), Some(b'\n')) => at + 2,
                    _ => at + 1,
                };
            }
            at += self.separator.len();
        }
    }

    fn unquoted(&self, mut value: &[u8], tokens: &mut Tokens) {
        if self.trims_end {
            while let [rest @ .., last] = value
                && *last <= b' '
            {
                value = rest;
            }
        }
        let start = tokens.text.len();
        tokens.text.extend_from_slice(value);
        tokens.push(start, if value.is_empty() { Kind::Missing } else { Kind::Text });
    }

    /// Ends a value whose text from `start` on stood in quotes, and goes on behind them.
    fn stray_quote(&self, start: usize, rest: &[u8], tokens: &mut Tokens) {
        if let Some(quote) = self.quote {
            tokens.text.insert(start, quote);
        }
        let mut rest = rest;
        if self.trims_end {
            while let [front @ .., last] = rest
                && *last <= b' '
            {
                rest = front;
            }
        }
        tokens.text.extend_from_slice(rest);
        tokens.push(start, Kind::Text);
    }

    /// Reads a value in quotes, and gives where it ends.
    fn quoted(&self, data: &[u8], begin: usize, tokens: &mut Tokens) -> usize {
        let start = tokens.text.len();
        let mut at = begin + 1;
        while let Some(byte) = data.get(at).copied() {
            let next = data.get(at + 1).copied();
            if Some(byte) == self.escape && self.escape != self.quote {
                if next.is_some() && next == self.quote {
                    tokens.text.push(next.unwrap_or(byte));
                    at += 2;
                } else if next == Some(byte) && self.escape_of_escape == Some(byte) {
                    tokens.text.push(byte);
                    at += 2;
                } else {
                    tokens.text.push(byte);
                    at += 1;
                }
                continue;
            }
            if Some(byte) != self.quote {
                tokens.text.push(byte);
                at += 1;
                continue;
            }
            if self.escape == self.quote && next == self.quote {
                tokens.text.push(byte);
                at += 2;
                continue;
            }
            let mut after = at + 1;
            while self.is_blank(data, after) {
                after += 1;
            }
            if self.at_end(data, after) || self.at_separator(data, after) {
                let kind = if tokens.text.len() == start { Kind::Empty } else { Kind::Text };
                tokens.push(start, kind);
                return after;
            }
            // Text goes on behind the quote: the quotes are part of it.
            let end = match self.unescaped_quotes {
                UnescapedQuotes::StopAtClosingQuote => {
                    tokens.text.push(byte);
                    at += 1;
                    continue;
                }
                UnescapedQuotes::SkipValue => {
                    tokens.text.truncate(start);
                    tokens.push(start, Kind::Missing);
                    return self.value_end(data, at + 1);
                }
                UnescapedQuotes::StopAtDelimiter => self.value_end(data, at + 1),
            };
            self.stray_quote(start, &data[at..end], tokens);
            return end;
        }
        tokens.push(start, if tokens.text.len() == start { Kind::Empty } else { Kind::Text });
        data.len()
    }
}
