//! Data types within SQL text.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::token::TokenKind;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::{Collation, DataType, DayTimeField, Metadata, StructField, YearMonthField};
use firesteel_types::{ddl, srid};

impl Parser<'_> {
    /// A type, such as `DECIMAL(10, 2)` or `ARRAY<STRUCT<a: INT>>`.
    pub fn data_type(&mut self) -> Result<DataType> {
        let data_type = self.nested(Self::any_type);
        self.defer(data_type, || DataType::Null)
    }

    fn any_type(&mut self) -> Result<DataType> {
        let start = self.mark();
        let name = self.identifier()?.to_ascii_lowercase();
        let has_angle = self.is_mark("<");
        match name.as_str() {
            "array" | "map" if has_angle => self.element_types(&name),
            "struct" if has_angle || self.is_mark("<>") => self.struct_type(),
            "array" | "map" | "struct" => Err(self.incomplete(start, &name)),
            "interval" => self.interval_type(start),
            "timestamp" => {
                if self.take_all(&[K::WITHOUT, K::TIME, K::ZONE]) {
                    return Ok(DataType::TimestampNtz);
                }
                if self.is(K::WITH) && self.ahead_is(1, K::LOCAL) {
                    self.expect_all(&[K::WITH, K::LOCAL, K::TIME, K::ZONE])?;
                    return Ok(DataType::Timestamp);
                }
                if self.is_mark("(") && self.ahead_is_integer(1) {
                    let digits =
                        self.in_parentheses(|parser| parser.take_integer().ok_or_else(|| parser.unexpected()))?;
                    return Err(self.unsupported_type(start, format!("TIMESTAMP({})", digits.join(","))));
                }
                Ok(if self.options.timestamp_is_ntz { DataType::TimestampNtz } else { DataType::Timestamp })
            }
            "string" => Ok(DataType::String(self.collation()?.unwrap_or_default())),
            "geometry" | "geography" => self.spatial_type(start, &name),
            _ => self.plain_type(start, &name),
        }
    }

    /// `ARRAY<…>` and `MAP<…, …>`.
    fn element_types(&mut self, name: &str) -> Result<DataType> {
        self.expect_mark("<")?;
        let first = self.data_type()?;
        let data_type = if name == "map" {
            self.expect_mark(",")?;
            DataType::map(first, self.data_type()?, true)
        } else {
            DataType::array(first, true)
        };
        self.close_angle()?;
        self.deepen()?;
        Ok(data_type)
    }

    fn struct_type(&mut self) -> Result<DataType> {
        if self.take_mark("<>") {
            return Ok(DataType::struct_of(Vec::new()));
        }
        self.expect_mark("<")?;
        let mut fields = Vec::new();
        if !self.is_mark(">") && !self.is_mark(">>") && !self.is_mark(">>>") {
            fields = self.struct_fields()?;
        }
        self.close_angle()?;
        self.deepen()?;
        Ok(DataType::struct_of(fields))
    }

    /// Fields of a struct, between commas.
    pub(crate) fn struct_fields(&mut self) -> Result<Vec<StructField>> {
        self.comma_separated(Self::struct_field)
    }

    fn close_angle(&mut self) -> Result<()> {
        if self.take_closing_angle() { Ok(()) } else { Err(self.unexpected()) }
    }

    /// `name[:] type [NOT NULL] [COMMENT 'text']`.
    fn struct_field(&mut self) -> Result<StructField> {
        let name = self.identifier()?;
        self.take_mark(":");
        let data_type = self.data_type()?;
        let mut nullable = true;
        if self.is(K::NOT) && self.ahead_is(1, K::NULL) {
            self.advance();
            self.advance();
            nullable = false;
        }
        let mut field = StructField::new(name, data_type, nullable);
        if self.is(K::COMMENT) && self.ahead_is_text(1) {
            self.advance();
            field = field.with_metadata(comment_metadata(self.string()?));
        }
        Ok(field)
    }

    fn incomplete(&self, start: Mark, name: &str) -> SparkError {
        match name {
            "array" => self.error(start, "INCOMPLETE_TYPE_DEFINITION.ARRAY").with("elementType", "<INT>"),
            "map" => self.error(start, "INCOMPLETE_TYPE_DEFINITION.MAP"),
            _ => self.error(start, "INCOMPLETE_TYPE_DEFINITION.STRUCT"),
        }
    }

    fn interval_type(&mut self, start: Mark) -> Result<DataType> {
        let unit_at = |parser: &Self, count: usize| match parser.ahead(count).kind {
            TokenKind::Word(Some(word)) => word.text().to_ascii_lowercase(),
            _ => String::new(),
        };
        let from = unit_at(self, 0);
        if YearMonthField::parse(&from).is_none() && DayTimeField::parse(&from).is_none() {
            return Ok(DataType::CalendarInterval);
        }
        self.advance();
        let to = if self.is(K::TO) { unit_at(self, 1) } else { String::new() };
        let has_end = YearMonthField::parse(&to).is_some() || DayTimeField::parse(&to).is_some();
        if has_end {
            self.advance();
            self.advance();
        }
        let to = if has_end { to } else { from.clone() };
        match (YearMonthField::parse(&from), YearMonthField::parse(&to)) {
            (Some(first), Some(last)) if first < last || !has_end => {
                return Ok(DataType::YearMonthInterval(first, last));
            }
            _ => {}
        }
        match (DayTimeField::parse(&from), DayTimeField::parse(&to)) {
            (Some(first), Some(last)) if first < last || !has_end => Ok(DataType::DayTimeInterval(first, last)),
            _ => Err(self
                .error(start, "INVALID_INTERVAL_FORMAT.UNSUPPORTED_FROM_TO_EXPRESSION")
                .with("input", "")
                .with("from", from)
                .with("to", to)),
        }
    }

    fn spatial_type(&mut self, start: Mark, name: &str) -> Result<DataType> {
        if !self.is_mark("(") {
            return Err(self.unsupported_type(start, name.to_ascii_uppercase()));
        }
        self.advance();
        let token = self.peek();
        let number = if self.take(K::ANY) {
            Some(srid::ANY)
        } else if self.integer_token().is_some() {
            self.advance();
            self.text_of(token).parse::<i32>().ok()
        } else {
            return Err(self.unexpected());
        };
        self.expect_mark(")")?;
        let known = match name {
            "geometry" => number.filter(|n| srid::is_geometry_srid(*n)).map(DataType::Geometry),
            _ => number.filter(|n| srid::is_geography_srid(*n)).map(DataType::Geography),
        };
        known.ok_or_else(|| self.error(start, "ST_INVALID_SRID_VALUE").with("srid", self.text_of(token)))
    }

    /// A type by name, with numbers in parentheses.
    fn plain_type(&mut self, start: Mark, name: &str) -> Result<DataType> {
        let mut texts: Vec<String> = Vec::new();
        if self.is_mark("(") && self.ahead_is_integer(1) {
            texts = self.in_parentheses(|parser| parser.take_integer().ok_or_else(|| parser.unexpected()))?;
        }
        match (name, texts.len()) {
            ("character", 1) | ("char" | "varchar", 1) => {
                let length = self.length(start, texts.first().map_or("", String::as_str))?;
                self.collation()?;
                Ok(if name == "varchar" { DataType::Varchar(length) } else { DataType::Char(length) })
            }
            ("char" | "character" | "varchar", 0) => Err(self
                .error(start, "DATATYPE_MISSING_SIZE")
                .with("type", format!("\"{}\"", self.token_text(start).to_uppercase()))),
            ("time", _) => {
                let precision = texts.first().map_or("", String::as_str);
                self.take_all(&[K::WITHOUT, K::TIME, K::ZONE]);
                match if precision.is_empty() { Ok(6) } else { precision.parse::<u8>() } {
                    Ok(precision @ 0..=6) => Ok(DataType::Time(precision)),
                    _ => Err(SparkError::new("UNSUPPORTED_TIME_PRECISION")
                        .with_class(ExceptionClass::Spark)
                        .with("precision", precision)),
                }
            }
            ("array" | "map" | "struct", _) => Err(self.incomplete(start, name)),
            (_, 0) => ddl::parse_data_type(name)
                .map_err(|_| self.unsupported_type(start, self.token_text(start).to_ascii_uppercase())),
            ("decimal" | "dec" | "numeric", _) => {
                let text = format!("{name}({})", texts.join(","));
                ddl::parse_data_type(&text).map_err(|error| {
                    if error.is("UNSUPPORTED_DATATYPE") {
                        self.unsupported_type(start, text.to_ascii_uppercase())
                    } else {
                        error
                    }
                })
            }
            _ => {
                let text = format!("{}({})", self.token_text(start).to_ascii_uppercase(), texts.join(","));
                Err(self.unsupported_type(start, text))
            }
        }
    }

    fn length(&self, start: Mark, text: &str) -> Result<u32> {
        match text.parse::<i32>() {
            Ok(length) if length >= 0 => Ok(length.unsigned_abs()),
            Ok(_) => Err(self.error(start, "PARSE_SYNTAX_ERROR").with("error", format!("'{text}'")).with("hint", "")),
            Err(_) => Err(SparkError::plain(ExceptionClass::NumberFormat, format!("For input string: \"{text}\""))),
        }
    }

    fn unsupported_type(&self, start: Mark, name: String) -> SparkError {
        self.error(start, "UNSUPPORTED_DATATYPE").with("typeName", format!("\"{name}\""))
    }

    /// `COLLATE name`.
    pub(crate) fn collation(&mut self) -> Result<Option<Collation>> {
        if !(self.is(K::COLLATE) && self.ahead_is_name(1)) {
            return Ok(None);
        }
        self.advance();
        let name = self.qualified_name()?.join(".");
        Collation::parse(&name).map(Some)
    }
}

/// Metadata that hold a comment.
pub(crate) fn comment_metadata(comment: String) -> Metadata {
    let mut map = serde_json::Map::new();
    map.insert("comment".to_string(), serde_json::Value::String(comment));
    Metadata::new(map)
}
