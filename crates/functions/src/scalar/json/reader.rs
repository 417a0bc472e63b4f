//! A reader of JSON text, as lenient as Spark's.

use firesteel_types::DataType;
use std::borrow::Cow;

/// What the reader lets pass beyond the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leniency {
    pub single_quotes: bool,
    pub unquoted_names: bool,
    pub comments: bool,
    pub leading_zeros: bool,
    pub escape_anything: bool,
    pub control_characters: bool,
    pub non_numeric_numbers: bool,
}

impl Leniency {
    /// What functions without options let pass.
    pub const DEFAULT: Self = Self {
        single_quotes: true,
        unquoted_names: false,
        comments: false,
        leading_zeros: false,
        escape_anything: false,
        control_characters: true,
        non_numeric_numbers: false,
    };
}

/// The next piece of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Token<'a> {
    StartObject,
    EndObject,
    StartArray,
    EndArray,
    Name(Cow<'a, str>),
    Text(Cow<'a, str>),
    /// A whole number as it is written.
    Whole(&'a str),
    /// A number with a point or an exponent as it is written.
    Fraction(&'a str),
    /// `NaN`, `Infinity` and their like, as a double.
    NonNumber(f64),
    True,
    False,
    Null,
    /// The end of the text.
    End,
}

/// The text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before a value of an array, or its end.
    ArrayStart,
    /// After a value of an array.
    ArrayNext,
    ObjectStart,
    ObjectNext,
    /// After a name.
    Value,
}

/// Reads tokens from a text.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    leniency: Leniency,
    stack: Vec<Place>,
    is_done: bool,
    /// Where the last value began.
    start: usize,
}

/// The most characters that a number may have.
const MOST_OF_NUMBER: usize = 1000;

/// How deep values may nest.
const MAX_DEPTH: usize = 1000;

impl<'a> Reader<'a> {
    pub fn new(text: &'a str, leniency: Leniency) -> Self {
        Self { text, at: 0, leniency, stack: Vec::new(), is_done: false, start: 0 }
    }

    /// Goes on with another text.
    pub fn restart(&mut self, text: &'a str) {
        self.text = text;
        self.at = 0;
        self.stack.clear();
        self.is_done = false;
    }

    /// Where the value begins of which the first token was the last one.
    pub fn value_start(&self) -> usize {
        self.start
    }

    /// The text from a position up to the next token.
    pub fn text_from(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) -> Result<(), Malformed> {
        loop {
            match self.byte() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'/') if self.leniency.comments => {
                    let rest = &self.text[self.at..];
                    if rest.starts_with("//") {
                        self.at += rest.find('\n').unwrap_or(rest.len());
                    } else if rest.starts_with("/*") {
                        self.at += rest.find("*/").ok_or(Malformed)? + 2;
                    } else {
                        return Err(Malformed);
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// The next token; [`Token::End`] once the value is complete and nothing follows.
    pub fn token(&mut self) -> Result<Token<'a>, Malformed> {
        self.skip_blanks()?;
        match self.stack.last().copied() {
            None if self.is_done => {
                if self.at >= self.text.len() {
                    Ok(Token::End)
                } else {
                    Err(Malformed)
                }
            }
            None if self.at >= self.text.len() => Ok(Token::End),
            None => self.value(),
            Some(Place::ArrayStart) => {
                if self.byte() == Some(b']') {
                    return Ok(self.close(Token::EndArray));
                }
                self.set(Place::ArrayNext);
                self.value()
            }
            Some(Place::ArrayNext) => match self.byte() {
                Some(b']') => Ok(self.close(Token::EndArray)),
                Some(b',') => {
                    self.at += 1;
                    self.skip_blanks()?;
                    self.value()
                }
                _ => Err(Malformed),
            },
            Some(Place::ObjectStart) => {
                if self.byte() == Some(b'}') {
                    return Ok(self.close(Token::EndObject));
                }
                self.name()
            }
            Some(Place::ObjectNext) => match self.byte() {
                Some(b'}') => Ok(self.close(Token::EndObject)),
                Some(b',') => {
                    self.at += 1;
                    self.skip_blanks()?;
                    self.name()
                }
                _ => Err(Malformed),
            },
            Some(Place::Value) => {
                self.set(Place::ObjectNext);
                self.value()
            }
        }
    }

    fn set(&mut self, place: Place) {
        if let Some(last) = self.stack.last_mut() {
            *last = place;
        }
    }

    fn close(&mut self, token: Token<'a>) -> Token<'a> {
        self.at += 1;
        self.stack.pop();
        self.is_done = self.stack.is_empty();
        token
    }

    fn open(&mut self, place: Place, token: Token<'a>) -> Result<Token<'a>, Malformed> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(Malformed);
        }
        self.at += 1;
        self.stack.push(place);
        Ok(token)
    }

    fn value(&mut self) -> Result<Token<'a>, Malformed> {
        self.start = self.at;
        let token = match self.byte().ok_or(Malformed)? {
            b'{' => return self.open(Place::ObjectStart, Token::StartObject),
            b'[' => return self.open(Place::ArrayStart, Token::StartArray),
            b'"' => Token::Text(self.string(b'"')?),
            b'\'' if self.leniency.single_quotes => Token::Text(self.string(b'\'')?),
            b'-' | b'+' | b'0'..=b'9' => self.number()?,
            b'a'..=b'z' | b'A'..=b'Z' => self.word()?,
            _ => return Err(Malformed),
        };
        self.is_done = self.stack.is_empty();
        Ok(token)
    }

    fn word(&mut self) -> Result<Token<'a>, Malformed> {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$')).count();
        let token = match &rest[..length] {
            "true" => Token::True,
            "false" => Token::False,
            "null" => Token::Null,
            "NaN" if self.leniency.non_numeric_numbers => Token::NonNumber(f64::NAN),
            "Infinity" | "INF" if self.leniency.non_numeric_numbers => Token::NonNumber(f64::INFINITY),
            _ => return Err(Malformed),
        };
        self.at += length;
        Ok(token)
    }

    fn number(&mut self) -> Result<Token<'a>, Malformed> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut at = start;
        let signed = matches!(bytes[at], b'-' | b'+');
        at += usize::from(signed);
        let rest = &self.text[at..];
        if signed && self.leniency.non_numeric_numbers {
            for name in ["Infinity", "INF"] {
                if rest.starts_with(name) {
                    self.at = at + name.len();
                    let infinity = if bytes[start] == b'-' { f64::NEG_INFINITY } else { f64::INFINITY };
                    return Ok(Token::NonNumber(infinity));
                }
            }
        }
        if bytes[start] == b'+' {
            return Err(Malformed);
        }
        let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut whole = digits(at);
        if whole == 0 {
            return Err(Malformed);
        }
        let mut first = start;
        if whole > 1 && bytes[at] == b'0' {
            if !self.leniency.leading_zeros {
                return Err(Malformed);
            }
            // Leading zeros are left out of a number without sign.
            let zeros = bytes[at..at + whole - 1].iter().take_while(|b| **b == b'0').count();
            if !signed {
                first = at + zeros;
            }
            at += zeros;
            whole -= zeros;
        }
        at += whole;
        let mut is_fraction = false;
        if bytes.get(at) == Some(&b'.') {
            let count = digits(at + 1);
            if count == 0 {
                return Err(Malformed);
            }
            at += 1 + count;
            is_fraction = true;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            at += 1;
            at += usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
            let count = digits(at);
            if count == 0 {
                return Err(Malformed);
            }
            at += count;
            is_fraction = true;
        }
        // Something must part a number from what follows.
        if !matches!(bytes.get(at), None | Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b']' | b'}' | b'/')) {
            return Err(Malformed);
        }
        if at - start > MOST_OF_NUMBER {
            return Err(Malformed);
        }
        self.at = at;
        let text = &self.text[first..at];
        Ok(if is_fraction { Token::Fraction(text) } else { Token::Whole(text) })
    }

    fn name(&mut self) -> Result<Token<'a>, Malformed> {
        let name = match self.byte().ok_or(Malformed)? {
            b'"' => self.string(b'"')?,
            b'\'' if self.leniency.single_quotes => self.string(b'\'')?,
            _ if self.leniency.unquoted_names => {
                let rest = &self.text[self.at..];
                let length = rest
                    .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '@' | '#' | '*' | '+')))
                    .unwrap_or(rest.len());
                if length == 0 {
                    return Err(Malformed);
                }
                self.at += length;
                Cow::Borrowed(&rest[..length])
            }
            _ => return Err(Malformed),
        };
        self.skip_blanks()?;
        if self.byte() != Some(b':') {
            return Err(Malformed);
        }
        self.at += 1;
        self.set(Place::Value);
        Ok(Token::Name(name))
    }

    fn hex(&mut self) -> Result<u32, Malformed> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).ok_or(Malformed)?;
        self.at += 4;
        digits.iter().try_fold(0, |value, byte| Ok(value * 16 + char::from(*byte).to_digit(16).ok_or(Malformed)?))
    }

    fn string(&mut self, quote: u8) -> Result<Cow<'a, str>, Malformed> {
        self.at += 1;
        let start = self.at;
        let bytes = self.text.as_bytes();
        loop {
            let rest = &bytes[self.at..];
            self.at += rest.iter().position(|b| *b == quote || *b == b'\\' || *b < 0x20).ok_or(Malformed)?;
            match bytes[self.at] {
                byte if byte == quote => {
                    self.at += 1;
                    return Ok(Cow::Borrowed(&self.text[start..self.at - 1]));
                }
                b'\\' => break,
                _ if !self.leniency.control_characters => return Err(Malformed),
                _ => self.at += 1,
            }
        }
        let mut out = self.text[start..self.at].to_string();
        let mut copied = self.at;
        loop {
            match bytes.get(self.at).copied().ok_or(Malformed)? {
                byte if byte == quote => {
                    out.push_str(&self.text[copied..self.at]);
                    self.at += 1;
                    return Ok(Cow::Owned(out));
                }
                b'\\' => {
                    out.push_str(&self.text[copied..self.at]);
                    self.at += 1;
                    let kind = self.text[self.at..].chars().next().ok_or(Malformed)?;
                    self.at += kind.len_utf8();
                    out.push(match kind {
                        'b' => '\u{8}',
                        't' => '\t',
                        'n' => '\n',
                        'f' => '\u{c}',
                        'r' => '\r',
                        '"' | '/' | '\\' => kind,
                        'u' => self.unicode()?,
                        '\'' if self.leniency.single_quotes => kind,
                        _ if self.leniency.escape_anything => kind,
                        _ => return Err(Malformed),
                    });
                    copied = self.at;
                }
                byte if byte < 0x20 && !self.leniency.control_characters => return Err(Malformed),
                _ => self.at += 1,
            }
        }
    }

    fn unicode(&mut self) -> Result<char, Malformed> {
        let high = self.hex()?;
        if (0xd800..0xdc00).contains(&high) && self.text[self.at..].starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let low = self.hex()?;
            if (0xdc00..0xe000).contains(&low) {
                return char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)).ok_or(Malformed);
            }
            self.at = before;
        }
        // Half of a pair has no place in UTF-8.
        Ok(char::from_u32(high).unwrap_or('?'))
    }

    /// Skips what belongs to a token just read.
    pub fn skip(&mut self, token: &Token<'_>) -> Result<(), Malformed> {
        if !matches!(token, Token::StartObject | Token::StartArray) {
            return Ok(());
        }
        let depth = self.stack.len();
        while self.stack.len() >= depth {
            if self.token()? == Token::End {
                return Err(Malformed);
            }
        }
        Ok(())
    }
}

/// A value read as a whole.
#[derive(Debug, Clone, PartialEq)]
pub enum Json<'a> {
    Null,
    Boolean(bool),
    Whole(&'a str),
    Fraction(&'a str),
    NonNumber(f64),
    Text(Cow<'a, str>),
    Array(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// Reads a value; what follows it does not count. None for a text without a value.
pub fn read<'a>(text: &'a str, leniency: Leniency) -> Result<Option<Json<'a>>, Malformed> {
    let mut reader = Reader::new(text, leniency);
    match reader.token()? {
        Token::End => Ok(None),
        token => read_value(&mut reader, token).map(Some),
    }
}

/// Reads the value that a token begins.
pub fn read_value<'a>(reader: &mut Reader<'a>, token: Token<'a>) -> Result<Json<'a>, Malformed> {
    Ok(match token {
        Token::Null => Json::Null,
        Token::True => Json::Boolean(true),
        Token::False => Json::Boolean(false),
        Token::Whole(text) => Json::Whole(text),
        Token::Fraction(text) => Json::Fraction(text),
        Token::NonNumber(value) => Json::NonNumber(value),
        Token::Text(text) => Json::Text(text),
        Token::StartArray => {
            let mut values = Vec::new();
            loop {
                match reader.token()? {
                    Token::EndArray => return Ok(Json::Array(values)),
                    token => values.push(read_value(reader, token)?),
                }
            }
        }
        Token::StartObject => {
            let mut fields = Vec::new();
            loop {
                match reader.token()? {
                    Token::EndObject => return Ok(Json::Object(fields)),
                    Token::Name(name) => {
                        let token = reader.token()?;
                        fields.push((name, read_value(reader, token)?));
                    }
                    _ => return Err(Malformed),
                }
            }
        }
        Token::Name(_) | Token::EndArray | Token::EndObject | Token::End => return Err(Malformed),
    })
}

/// Reads the value that a token begins, of which a type is wanted: what stands for a string and is none
/// becomes the text as it is written.
pub fn read_as<'a>(reader: &mut Reader<'a>, token: Token<'a>, wanted: &DataType) -> Result<Json<'a>, Malformed> {
    match (wanted, &token) {
        (_, Token::Null | Token::Text(_)) => read_value(reader, token),
        (DataType::String(_) | DataType::Char(_) | DataType::Varchar(_), _) => {
            let start = reader.value_start();
            reader.skip(&token)?;
            Ok(Json::Text(Cow::Borrowed(reader.text_from(start))))
        }
        (DataType::Array { element, .. }, Token::StartArray) => {
            let mut values = Vec::new();
            loop {
                match reader.token()? {
                    Token::EndArray => return Ok(Json::Array(values)),
                    token => values.push(read_as(reader, token, element)?),
                }
            }
        }
        (DataType::Map { value, .. }, Token::StartObject) => read_fields(reader, |_| value),
        (DataType::Struct(schema), Token::StartObject) => read_fields(reader, |name| {
            schema.fields.iter().find(|f| f.name == name).map_or(&DataType::Null, |f| &f.data_type)
        }),
        _ => read_value(reader, token),
    }
}

/// Reads the rest of an object.
fn read_fields<'a, 't>(reader: &mut Reader<'a>, wanted: impl Fn(&str) -> &'t DataType) -> Result<Json<'a>, Malformed> {
    let mut fields = Vec::new();
    loop {
        match reader.token()? {
            Token::EndObject => return Ok(Json::Object(fields)),
            Token::Name(name) => {
                let token = reader.token()?;
                let value = read_as(reader, token, wanted(&name))?;
                fields.push((name, value));
            }
            _ => return Err(Malformed),
        }
    }
}
