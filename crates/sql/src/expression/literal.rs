//! Literals: numbers, strings, typed literals.

use crate::datetime;
use crate::parser::Parser;
use crate::text::unescape;
use crate::token::{NumberKind, Token, TokenKind};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{CastMode, Expr, ExprKind};
use firesteel_types::{DataType, Literal};

/// Types that may stand before a string.
const TYPED_LITERALS: &str =
    "\"DATE\", \"TIMESTAMP_NTZ\", \"TIMESTAMP_LTZ\", \"TIMESTAMP\", \"INTERVAL\", \"X\", \"TIME\"";

impl Parser<'_> {
    // ---- numbers ----

    /// A number, perhaps with a minus sign.
    pub(super) fn number(&mut self) -> Result<Expr> {
        let start = self.mark();
        let sign = if self.take_mark("-") { "-" } else { "" };
        let token = self.peek();
        let TokenKind::Number(kind) = token.kind else { return Err(self.unexpected()) };
        self.advance();
        let text = format!("{sign}{}", self.text_of(token));
        let literal = self.number_of(start, kind, &text)?;
        Ok(Expr::literal(literal).at(self.origin(start)))
    }

    fn number_of(&self, start: usize, kind: NumberKind, text: &str) -> Result<Literal> {
        let suffix = match kind {
            NumberKind::Integer | NumberKind::Decimal | NumberKind::Exponent => 0,
            NumberKind::BigDecimal => 2,
            _ => 1,
        };
        let digits = text.get(..text.len().saturating_sub(suffix)).unwrap_or_default();
        let out_of_range = |name: &str, low: &str, high: &str| {
            self.error(start, "INVALID_NUMERIC_LITERAL_RANGE")
                .with("rawStrippedQualifier", digits)
                .with("minValue", low)
                .with("maxValue", high)
                .with("typeName", name)
        };
        match kind {
            NumberKind::Integer => {
                if let Ok(value) = digits.parse() {
                    return Ok(Literal::Integer(value));
                }
                if let Ok(value) = digits.parse() {
                    return Ok(Literal::Long(value));
                }
                self.decimal(start, digits)
            }
            NumberKind::Decimal | NumberKind::BigDecimal => self.decimal(start, digits),
            NumberKind::Exponent if self.options.exponent_literal_as_decimal => self.decimal(start, digits),
            NumberKind::Byte => digits.parse().map(Literal::Byte).map_err(|_| out_of_range("tinyint", "-128", "127")),
            NumberKind::Short => {
                digits.parse().map(Literal::Short).map_err(|_| out_of_range("smallint", "-32768", "32767"))
            }
            NumberKind::Long => digits
                .parse()
                .map(Literal::Long)
                .map_err(|_| out_of_range("bigint", "-9223372036854775808", "9223372036854775807")),
            NumberKind::Float => match digits.parse::<f64>() {
                Ok(value) if value.abs() <= f64::from(f32::MAX) => {
                    Ok(Literal::Float(digits.parse().unwrap_or_default()))
                }
                _ => Err(out_of_range("float", "-3.4028234663852886E+38", "3.4028234663852886E+38")),
            },
            NumberKind::Double | NumberKind::Exponent => match digits.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Literal::Double(value)),
                _ => Err(out_of_range("double", "-1.7976931348623157E+308", "1.7976931348623157E+308")),
            },
        }
    }

    /// A decimal of just the digits that are written.
    fn decimal(&self, start: usize, text: &str) -> Result<Literal> {
        const MAX_PRECISION: usize = 38;
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => {
                let (mantissa, exponent) = text.split_at(at);
                (mantissa, exponent.get(1..).unwrap_or_default().parse::<i64>().unwrap_or(i64::MAX / 4))
            }
            None => (text, 0),
        };
        let (is_negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: String = format!("{whole}{fraction}").trim_start_matches('0').to_string();
        let mut scale = i64::try_from(fraction.len()).unwrap_or(i64::MAX / 4).saturating_sub(exponent);
        let too_precise = |precision: usize| {
            self.error(start, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION")
                .with("precision", precision.to_string())
                .with("maxPrecision", MAX_PRECISION.to_string())
        };
        if scale < 0 {
            // There is no negative scale: `1e2BD` is 100.
            let zeros = usize::try_from(scale.unsigned_abs()).unwrap_or(usize::MAX);
            if !digits.is_empty() {
                if zeros > MAX_PRECISION {
                    return Err(too_precise(digits.len().saturating_add(zeros)));
                }
                digits.push_str(&"0".repeat(zeros));
            }
            scale = 0;
        }
        let scale_digits = usize::try_from(scale).unwrap_or(usize::MAX);
        let precision = digits.len().max(scale_digits).max(1);
        if precision > MAX_PRECISION {
            return Err(too_precise(precision));
        }
        let unscaled: i128 = if digits.is_empty() { 0 } else { digits.parse().map_err(|_| too_precise(precision))? };
        let unscaled = if is_negative { -unscaled } else { unscaled };
        let (precision, scale) = (u8::try_from(precision), i8::try_from(scale));
        match (precision, scale) {
            (Ok(precision), Ok(scale)) => Ok(Literal::Decimal(unscaled, precision, scale)),
            _ => Err(too_precise(MAX_PRECISION + 1)),
        }
    }

    // ---- strings ----

    /// Whether a token is a string.
    pub fn ahead_is_text(&self, count: usize) -> bool {
        match self.ahead(count).kind {
            TokenKind::Text => true,
            TokenKind::DoubleQuoted => !self.options.quotes_names_doubly(),
            TokenKind::Mark("?" | ":") => self.text_marker(count).is_some(),
            _ => false,
        }
    }

    /// The position after the strings that begin `count` tokens ahead.
    pub fn after_texts(&self, count: usize) -> usize {
        let mut end = count;
        while self.ahead_is_text(end) {
            end += self.text_marker(end).unwrap_or(1);
        }
        end
    }

    /// The value of a string literal; strings one after another are one.
    pub fn string(&mut self) -> Result<String> {
        if !self.ahead_is_text(0) {
            return Err(self.unexpected());
        }
        let mut value = String::new();
        while self.ahead_is_text(0) {
            if let Some(text) = self.take_text_marker() {
                value.push_str(&text);
                continue;
            }
            let token = self.advance();
            value.push_str(&self.string_of(token));
        }
        Ok(value)
    }

    /// The value of a token that is a string.
    pub fn string_of(&self, token: Token) -> String {
        let characters = self.characters_of(token);
        let inside = |prefix: usize| characters.get(prefix..characters.len().saturating_sub(1)).unwrap_or_default();
        match characters.first() {
            Some('r' | 'R') => inside(2).iter().collect(),
            _ if self.options.escaped_string_literals => inside(1).iter().collect(),
            Some(quote) => unescape(inside(1), *quote, self.options.consecutive_string_literals),
            None => String::new(),
        }
    }

    pub(super) fn string_literal(&mut self) -> Result<Expr> {
        let start = self.mark();
        let value = self.string()?;
        Ok(Expr::literal(Literal::String(value)).at(self.origin(start)))
    }

    // ---- typed literals ----

    /// `DATE '…'` and the like: a word and a string.
    pub(super) fn typed_literal(&mut self) -> Result<Expr> {
        let start = self.mark();
        let name = self.word()?.to_ascii_uppercase();
        let token = self.advance();
        let value = self.string_of(token);
        let invalid = |parser: &Self| invalid_literal(parser, start, &name, &value);
        let origin = self.origin(start);
        let literal = |literal: Literal| Ok(Expr::literal(literal).at(origin.clone()));
        match name.as_str() {
            "DATE" => match datetime::parse_date(&value) {
                Some(days) => literal(Literal::Date(days)),
                None => match datetime::special_moment(&value) {
                    Some(moment) => Ok(self.special_date(start, moment)),
                    None => Err(invalid(self)),
                },
            },
            "TIMESTAMP_NTZ" => match datetime::parse_timestamp(&value).and_then(|t| t.without_zone()) {
                Some(micros) => literal(Literal::TimestampNtz(micros)),
                None => self.special_timestamp(start, &value, DataType::TimestampNtz).ok_or_else(|| invalid(self)),
            },
            "TIMESTAMP" | "TIMESTAMP_LTZ" => {
                let Some(parsed) = datetime::parse_timestamp(&value) else {
                    return self.special_timestamp(start, &value, DataType::Timestamp).ok_or_else(|| invalid(self));
                };
                if name == "TIMESTAMP" && self.options.timestamp_is_ntz && !parsed.has_zone() {
                    return match parsed.without_zone() {
                        Some(micros) => literal(Literal::TimestampNtz(micros)),
                        None => Err(invalid(self)),
                    };
                }
                // The session's zone is needed for the value.
                let child = Box::new(Expr::literal(Literal::String(value)).at(origin.clone()));
                Ok(Expr::new(ExprKind::Cast { child, to: DataType::Timestamp, mode: CastMode::Ansi }).at(origin))
            }
            "TIME" => match datetime::parse_time(&value) {
                Some(nanos) => literal(Literal::Time(nanos, 6)),
                None => Err(invalid(self)),
            },
            "X" => match hexadecimal(&value) {
                Some(bytes) => literal(Literal::Binary(bytes)),
                None => Err(invalid(self)),
            },
            _ => Err(self
                .error(start, "UNSUPPORTED_TYPED_LITERAL")
                .with("unsupportedType", format!("\"{name}\""))
                .with("supportedTypes", TYPED_LITERALS)),
        }
    }

    /// `DATE 'today'` and the like.
    fn special_date(&self, start: usize, moment: datetime::Moment) -> Expr {
        let today = self.call(start, "current_date", Vec::new());
        let day = |days: i32| Expr::literal(Literal::Integer(days)).at(self.origin(start));
        match moment {
            datetime::Moment::Epoch => Expr::literal(Literal::Date(0)).at(self.origin(start)),
            datetime::Moment::Now | datetime::Moment::Today => today,
            datetime::Moment::Tomorrow => self.call(start, "date_add", vec![today, day(1)]),
            datetime::Moment::Yesterday => self.call(start, "date_add", vec![today, day(-1)]),
        }
    }

    /// `TIMESTAMP 'now'` and the like.
    fn special_timestamp(&self, start: usize, value: &str, data_type: DataType) -> Option<Expr> {
        let moment = datetime::special_moment(value)?;
        let origin = self.origin(start);
        let cast = |child: Expr| {
            let kind = ExprKind::Cast { child: Box::new(child), to: data_type.clone(), mode: CastMode::Ansi };
            Expr::new(kind).at(origin.clone())
        };
        Some(match moment {
            datetime::Moment::Epoch if data_type == DataType::Timestamp => {
                Expr::literal(Literal::Timestamp(0)).at(origin)
            }
            datetime::Moment::Epoch => Expr::literal(Literal::TimestampNtz(0)).at(origin),
            datetime::Moment::Now if data_type == DataType::Timestamp => {
                self.call(start, "current_timestamp", Vec::new())
            }
            datetime::Moment::Now => self.call(start, "localtimestamp", Vec::new()),
            day => cast(self.special_date(start, day)),
        })
    }
}

/// The error that a string is none of a type's values.
pub(crate) fn invalid_literal(parser: &Parser<'_>, start: usize, name: &str, value: &str) -> SparkError {
    let quoted = format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"));
    parser.error(start, "INVALID_TYPED_LITERAL").with("valueType", format!("\"{name}\"")).with("value", quoted)
}

/// The bytes of hexadecimal digits; a first digit may stand alone.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let padded = if text.len() % 2 == 1 { format!("0{text}") } else { text.to_string() };
    let digits: Option<Vec<u8>> =
        padded.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    Some(digits?.chunks(2).filter_map(|pair| Some(pair.first()? * 16 + pair.get(1)?)).collect())
}
