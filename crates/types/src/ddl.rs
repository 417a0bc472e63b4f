//! Types and table schemas from DDL text.
//!
//! [`parse_data_type`] reads one type, [`parse_table_schema`] a list of
//! columns, and [`parse_schema`] whatever a client may send as a schema.

mod token;

use crate::{Collation, DataType, DayTimeField, Metadata, StructField, StructType, YearMonthField, srid};
use firesteel_error::{ExceptionClass, QueryContext, Result, SparkError, TextPosition};
use serde_json::{Map, Value};
use token::{Token, TokenKind, tokenize};

/// How deep types may nest in text, so that no text can exhaust a thread's stack:
/// parsing takes up to 2 KiB a level, and what is done with the type afterwards about as much.
const MAX_DEPTH: usize = 256;

/// Parses a single type, such as `array<struct<a: int>>`.
///
/// ```
/// use firesteel_types::{DataType, ddl::parse_data_type};
/// assert_eq!(parse_data_type("Array<BIGINT>")?, DataType::array(DataType::Long, true));
/// assert!(parse_data_type("array<int").unwrap_err().is("PARSE_SYNTAX_ERROR"));
/// # Ok::<(), firesteel_error::SparkError>(())
/// ```
pub fn parse_data_type(text: &str) -> Result<DataType> {
    let mut parser = Parser::new(text)?;
    let data_type = parser.data_type()?;
    parser.end(&data_type)?;
    Ok(data_type)
}

/// Parses a list of columns, such as `a INT, b: STRING NOT NULL COMMENT 'x'`.
pub fn parse_table_schema(text: &str) -> Result<StructType> {
    let mut parser = Parser::new(text)?;
    let mut fields = vec![parser.field()?];
    while parser.take_mark(",") {
        fields.push(parser.field()?);
    }
    if let Some(field) = fields.last() {
        parser.end(&field.data_type)?;
    }
    Ok(StructType::new(fields))
}

/// Parses a type or a list of columns; the error is the one about a type (`DataType.fromDDL`).
pub fn parse_ddl(text: &str) -> Result<DataType> {
    parse_data_type(text).or_else(|error| match parse_table_schema(text) {
        Ok(schema) => Ok(DataType::Struct(schema.into())),
        Err(_) => Err(error),
    })
}

/// Parses a schema as clients send it: JSON, a list of columns, or a single type.
pub fn parse_schema(text: &str) -> Result<DataType> {
    if text.trim_start().starts_with(['{', '"']) {
        return DataType::from_json(text);
    }
    match parse_table_schema(text) {
        Ok(schema) => Ok(DataType::Struct(schema.into())),
        Err(error) => parse_data_type(text).map_err(|_| error),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self> {
        let tokens = tokenize(text);
        if tokens.len() == 1 {
            return Err(SparkError::new("PARSE_EMPTY_STATEMENT")
                .with_class(ExceptionClass::Parse)
                .with_context(QueryContext::sql(text, 0, 0)));
        }
        Ok(Self { text, tokens, at: 0, depth: 0 })
    }

    fn peek(&self) -> &Token {
        self.ahead(0)
    }

    fn ahead(&self, count: usize) -> &Token {
        // The list ends with an End token, which is never consumed.
        &self.tokens[(self.at + count).min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn take_mark(&mut self, mark: &str) -> bool {
        let found = self.peek().is_mark(mark);
        if found {
            self.at += 1;
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek().is_word(word);
        if found {
            self.at += 1;
        }
        found
    }

    fn take_words(&mut self, words: &[&str]) -> bool {
        let found = words.iter().enumerate().all(|(i, word)| self.ahead(i).is_word(word));
        if found {
            self.at += words.len();
        }
        found
    }

    fn expect_mark(&mut self, mark: &str) -> Result<()> {
        if self.take_mark(mark) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn context(&self, token: &Token) -> QueryContext {
        let length = token.text.chars().count().max(1);
        QueryContext::sql(self.text, token.start, token.start + length - 1)
    }

    fn unexpected(&self) -> SparkError {
        self.syntax_error(self.peek(), "")
    }

    fn syntax_error(&self, token: &Token, hint: &str) -> SparkError {
        let near = match token.kind {
            TokenKind::End => "end of input".to_string(),
            _ => format!("'{}'", token.text),
        };
        SparkError::new("PARSE_SYNTAX_ERROR")
            .with_class(ExceptionClass::Parse)
            .with("error", near)
            .with("hint", hint)
            .with_position(TextPosition::of(self.text, token.start))
    }

    fn error_at(&self, token: &Token, condition: &'static str) -> SparkError {
        SparkError::new(condition).with_class(ExceptionClass::Parse).with_context(self.context(token))
    }

    fn unsupported(&self, token: &Token, name: &str) -> SparkError {
        self.error_at(token, "UNSUPPORTED_DATATYPE").with("typeName", format!("\"{}\"", name.to_uppercase()))
    }

    /// Fails unless all text has been read; `last` is the type just read.
    fn end(&self, last: &DataType) -> Result<()> {
        let token = self.peek();
        if token.kind == TokenKind::End {
            return Ok(());
        }
        let simple = !matches!(
            last,
            DataType::Array { .. }
                | DataType::Map { .. }
                | DataType::Struct(_)
                | DataType::String(_)
                | DataType::YearMonthInterval(..)
                | DataType::DayTimeInterval(..)
        );
        let hint = if simple { String::new() } else { format!(": extra input '{}'", token.text) };
        Err(self.syntax_error(token, &hint))
    }

    fn identifier(&mut self) -> Result<String> {
        let token = self.peek().clone();
        let name = match token.kind {
            TokenKind::Word => token.text,
            TokenKind::Quoted(name) => name,
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        if self.peek().is_mark("-") && self.ahead(1).kind == TokenKind::Word {
            let dashed = format!("{name}-{}", self.ahead(1).text);
            return Err(self.error_at(self.peek(), "INVALID_IDENTIFIER").with("ident", dashed));
        }
        Ok(name)
    }

    /// A column or a field: `name[:] type [NOT NULL] [COMMENT 'text']`.
    fn field(&mut self) -> Result<StructField> {
        let name = self.identifier()?;
        self.take_mark(":");
        let data_type = self.data_type()?;
        let nullable = !self.take_words(&["not", "null"]);
        let mut field = StructField::new(name, data_type, nullable);
        if self.take_word("comment") {
            let mut comment = String::new();
            while let TokenKind::Text(text) = &self.peek().kind {
                comment.push_str(text);
                self.at += 1;
            }
            if !matches!(self.tokens[self.at - 1].kind, TokenKind::Text(_)) {
                return Err(self.unexpected());
            }
            let mut metadata = Map::new();
            metadata.insert("comment".to_string(), Value::String(comment));
            field = field.with_metadata(Metadata::new(metadata));
        }
        Ok(field)
    }

    fn data_type(&mut self) -> Result<DataType> {
        let token = self.next();
        match &token.kind {
            TokenKind::Quoted(name) => return Err(self.unsupported(&token, name)),
            TokenKind::Word => {}
            _ => return Err(self.syntax_error(&token, "")),
        }
        let name = token.text.to_ascii_lowercase();
        match name.as_str() {
            "array" | "map" | "struct" => self.complex_type(&token, &name),
            "interval" => self.interval_type(&token),
            "geometry" | "geography" => self.spatial_type(&token, &name),
            _ => self.primitive_type(&token, &name),
        }
    }

    fn complex_type(&mut self, token: &Token, name: &str) -> Result<DataType> {
        if name == "struct" && self.take_mark("<>") {
            return Ok(DataType::struct_of(Vec::new()));
        }
        let open = self.peek().clone();
        if !open.is_mark("<") {
            if matches!(open.kind, TokenKind::End) || open.is_mark(",") || open.is_mark(">") {
                return Err(self.error_at(
                    token,
                    match name {
                        "array" => "INCOMPLETE_TYPE_DEFINITION.ARRAY",
                        "map" => "INCOMPLETE_TYPE_DEFINITION.MAP",
                        _ => "INCOMPLETE_TYPE_DEFINITION.STRUCT",
                    },
                ));
            }
            return Err(self.unexpected());
        }
        if self.depth >= MAX_DEPTH {
            return Err(self.error_at(token, "FAILED_TO_PARSE_TOO_COMPLEX"));
        }
        self.at += 1;
        self.depth += 1;
        let inside = self.inside_brackets(name);
        self.depth -= 1;
        // Spark's parser gives up on the whole bracket.
        inside.map_err(|error| if error.is("PARSE_SYNTAX_ERROR") { self.syntax_error(&open, "") } else { error })
    }

    fn inside_brackets(&mut self, name: &str) -> Result<DataType> {
        let data_type = match name {
            "array" => DataType::array(self.data_type()?, true),
            "map" => {
                let key = self.data_type()?;
                self.expect_mark(",")?;
                DataType::map(key, self.data_type()?, true)
            }
            _ => {
                let mut fields = Vec::new();
                if !self.peek().is_mark(">") {
                    fields.push(self.field()?);
                    while self.take_mark(",") {
                        fields.push(self.field()?);
                    }
                }
                DataType::struct_of(fields)
            }
        };
        self.expect_mark(">")?;
        Ok(data_type)
    }

    fn interval_type(&mut self, token: &Token) -> Result<DataType> {
        let unit = self.peek().text.to_ascii_lowercase();
        if let Some(start) = YearMonthField::parse(&unit) {
            self.at += 1;
            if !(self.peek().is_word("to") && self.ahead(1).is_word("month")) {
                return Ok(DataType::YearMonthInterval(start, start));
            }
            self.at += 2;
            if start == YearMonthField::Month {
                return Err(self.interval_error(token, &unit, "month"));
            }
            return Ok(DataType::YearMonthInterval(start, YearMonthField::Month));
        }
        let Some(start) = DayTimeField::parse(&unit) else {
            return if self.peek().kind == TokenKind::Word
                && !self.peek().is_word("not")
                && !self.peek().is_word("comment")
            {
                Err(self.unexpected())
            } else {
                Ok(DataType::CalendarInterval)
            };
        };
        self.at += 1;
        let end = if self.peek().is_word("to") { DayTimeField::parse(&self.ahead(1).text) } else { None };
        match end {
            None | Some(DayTimeField::Day) => Ok(DataType::DayTimeInterval(start, start)),
            Some(end) => {
                self.at += 2;
                if end <= start {
                    return Err(self.interval_error(token, &unit, end.name()));
                }
                Ok(DataType::DayTimeInterval(start, end))
            }
        }
    }

    fn interval_error(&self, token: &Token, from: &str, to: &str) -> SparkError {
        self.error_at(token, "INVALID_INTERVAL_FORMAT.UNSUPPORTED_FROM_TO_EXPRESSION")
            .with("input", "")
            .with("from", from)
            .with("to", to)
    }

    fn spatial_type(&mut self, token: &Token, name: &str) -> Result<DataType> {
        if !self.peek().is_mark("(") {
            return Err(self.unsupported(token, name));
        }
        let inside = self.ahead(1).clone();
        if !self.ahead(2).is_mark(")") || !(inside.is_word("any") || inside.kind == TokenKind::Integer) {
            return Err(self.unexpected());
        }
        self.at += 3;
        let number = if inside.is_word("any") { Some(srid::ANY) } else { inside.text.parse::<i32>().ok() };
        let known = match name {
            "geometry" => number.filter(|n| srid::is_geometry_srid(*n)).map(DataType::Geometry),
            _ => number.filter(|n| srid::is_geography_srid(*n)).map(DataType::Geography),
        };
        known.ok_or_else(|| SparkError::new("ST_INVALID_SRID_VALUE").with("srid", inside.text))
    }

    /// `(1, 2)` after a type's name; empty where there are no brackets.
    fn parameters(&mut self) -> Result<Vec<String>> {
        let mut parameters = Vec::new();
        if !self.take_mark("(") {
            return Ok(parameters);
        }
        loop {
            if self.peek().kind != TokenKind::Integer {
                return Err(self.unexpected());
            }
            parameters.push(self.next().text);
            if self.take_mark(")") {
                return Ok(parameters);
            }
            self.expect_mark(",")?;
        }
    }

    fn primitive_type(&mut self, token: &Token, name: &str) -> Result<DataType> {
        let parameters = self.parameters()?;
        let parsed = match (name, parameters.as_slice()) {
            ("boolean", []) => DataType::Boolean,
            ("tinyint" | "byte", []) => DataType::Byte,
            ("smallint" | "short", []) => DataType::Short,
            ("int" | "integer", []) => DataType::Integer,
            ("bigint" | "long", []) => DataType::Long,
            ("float" | "real", []) => DataType::Float,
            ("double", []) => DataType::Double,
            ("date", []) => DataType::Date,
            ("timestamp", []) => self.timestamp(),
            ("timestamp_ntz", []) => DataType::TimestampNtz,
            ("timestamp_ltz", []) => DataType::Timestamp,
            ("time", []) => self.time(6)?,
            ("time", [precision]) => self.time(number(precision)?)?,
            ("string", []) => DataType::String(self.collation()?.unwrap_or_default()),
            ("binary", []) => DataType::Binary,
            ("void", []) => DataType::Null,
            ("variant", []) => DataType::Variant,
            ("char" | "character" | "varchar", []) => {
                return Err(self
                    .error_at(token, "DATATYPE_MISSING_SIZE")
                    .with("type", format!("\"{}\"", name.to_uppercase())));
            }
            ("char" | "character", [length]) => {
                let data_type = DataType::Char(number(length)?);
                self.collation()?;
                data_type
            }
            ("varchar", [length]) => {
                let data_type = DataType::Varchar(number(length)?);
                self.collation()?;
                data_type
            }
            ("decimal" | "dec" | "numeric", []) => DataType::DECIMAL,
            ("decimal" | "dec" | "numeric", [precision]) => decimal(number(precision)?, 0)?,
            ("decimal" | "dec" | "numeric", [precision, scale]) => decimal(number(precision)?, number(scale)?)?,
            (_, []) => {
                return Err(if self.peek().is_mark(".") || self.peek().is_mark("<") {
                    self.unexpected()
                } else {
                    self.unsupported(token, &token.text)
                });
            }
            (_, parameters) => {
                return Err(self.unsupported(token, &format!("{}({})", token.text, parameters.join(","))));
            }
        };
        Ok(parsed)
    }

    fn timestamp(&mut self) -> DataType {
        if self.take_words(&["without", "time", "zone"]) {
            return DataType::TimestampNtz;
        }
        self.take_words(&["with", "local", "time", "zone"]);
        DataType::Timestamp
    }

    fn time(&mut self, precision: u32) -> Result<DataType> {
        self.take_words(&["without", "time", "zone"]);
        match u8::try_from(precision) {
            Ok(precision @ 0..=6) => Ok(DataType::Time(precision)),
            _ => Err(SparkError::new("UNSUPPORTED_TIME_PRECISION").with("precision", precision.to_string())),
        }
    }

    fn collation(&mut self) -> Result<Option<Collation>> {
        if !(self.peek().is_word("collate") && matches!(self.ahead(1).kind, TokenKind::Word | TokenKind::Quoted(_))) {
            return Ok(None);
        }
        self.at += 1;
        let mut name = self.identifier()?;
        while self.take_mark(".") {
            name.push('.');
            name.push_str(&self.identifier()?);
        }
        Collation::parse(&name).map(Some)
    }
}

fn number(text: &str) -> Result<u32> {
    // Spark's lengths are Java ints.
    text.parse::<i32>()
        .ok()
        .and_then(|n| u32::try_from(n).ok())
        .ok_or_else(|| SparkError::plain(ExceptionClass::NumberFormat, format!("For input string: \"{text}\"")))
}

/// A decimal type, unless Spark has none of that precision and scale.
fn decimal(precision: u32, scale: u32) -> Result<DataType> {
    if scale > precision {
        let message = format!("Decimal scale ({scale}) cannot be greater than precision ({precision}).");
        return Err(SparkError::plain(ExceptionClass::Analysis, message));
    }
    match (u8::try_from(precision), i8::try_from(scale)) {
        (Ok(precision @ 0..=38), Ok(scale)) => Ok(DataType::Decimal(precision, scale)),
        _ => Err(SparkError::new("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION")
            .with("precision", precision.to_string())
            .with("maxPrecision", "38")),
    }
}

#[cfg(test)]
mod tests;
