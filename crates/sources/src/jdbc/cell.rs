//! Values as databases send them, as Spark's.

use super::url::sql_error;
use firesteel_error::{Result, SparkError};
use firesteel_types::calendar::checked_days_from_civil;
use firesteel_types::{DataType, Literal, TimeZone};

/// A value as it comes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cell<'a> {
    Null,
    Text(&'a str),
    Bytes(&'a [u8]),
    Integer(i64),
    Real(f64),
}

/// What a column's values are to be.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub data_type: DataType,
    /// The zone of times without an offset that are moments.
    pub zone: TimeZone,
    /// True for moments that a server tells in the zone that it was given, false for clocks on the wall.
    pub is_told: bool,
    /// How the text of binaries is to be read.
    pub binary: BinaryText,
}

/// How binaries are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryText {
    /// The bytes themselves.
    Raw,
    /// `\x0a1b`.
    Hex,
    /// Bytes that are one number.
    Number,
}

const DAY: i64 = 86_400_000_000;
/// 0001-01-01 and 9999-12-31T23:59:59 stand for the infinities.
const FIRST_DAY: i32 = -719_162;
const LAST_DAY: i32 = 2_932_896;

impl Column {
    /// The column as a server tells it that has a zone of its own.
    pub fn of_server(&self, zone: TimeZone) -> Self {
        if self.is_told { Self { zone, ..self.clone() } } else { self.clone() }
    }

    /// The value, of the column's type.
    pub fn literal(&self, cell: Cell<'_>) -> Result<Literal> {
        self.of_type(cell, &self.data_type)
    }

    fn of_type(&self, cell: Cell<'_>, data_type: &DataType) -> Result<Literal> {
        let literal = match (data_type, cell) {
            (_, Cell::Null) => Some(Literal::Null(data_type.clone())),
            (DataType::Boolean, _) => self.boolean(cell).map(Literal::Boolean),
            (DataType::Byte, _) => self.integer(cell).and_then(|v| i8::try_from(v).ok()).map(Literal::Byte),
            (DataType::Short, _) => self.integer(cell).and_then(|v| i16::try_from(v).ok()).map(Literal::Short),
            (DataType::Integer, _) => self.integer(cell).and_then(|v| i32::try_from(v).ok()).map(Literal::Integer),
            (DataType::Long, _) => self.integer(cell).and_then(|v| i64::try_from(v).ok()).map(Literal::Long),
            (DataType::Float, Cell::Text(text)) => number(text).map(|v| Literal::Float(v as f32)),
            (DataType::Float, _) => real(cell).map(|v| Literal::Float(v as f32)),
            (DataType::Double, Cell::Text(text)) => number(text).map(Literal::Double),
            (DataType::Double, _) => real(cell).map(Literal::Double),
            (DataType::Decimal(precision, scale), _) => return decimal(&text_of(cell), *precision, *scale),
            (DataType::String(_) | DataType::Char(_) | DataType::Varchar(_), _) => Some(Literal::String(text_of(cell))),
            (DataType::Binary, _) => self.bytes(cell).map(Literal::Binary),
            (DataType::Date, Cell::Text(text)) => date(text).map(Literal::Date),
            (DataType::Timestamp, Cell::Text(text)) => self.moment(text, true).map(Literal::Timestamp),
            (DataType::TimestampNtz, Cell::Text(text)) => self.moment(text, false).map(Literal::TimestampNtz),
            // SQLite has no type of moments: numbers are milliseconds.
            (DataType::Date, Cell::Integer(millis)) => {
                i32::try_from(millis.div_euclid(86_400_000)).ok().map(Literal::Date)
            }
            (DataType::Timestamp, Cell::Integer(millis)) => millis.checked_mul(1000).map(Literal::Timestamp),
            (DataType::TimestampNtz, Cell::Integer(millis)) => millis.checked_mul(1000).map(Literal::TimestampNtz),
            (DataType::Array { element, .. }, Cell::Text(text)) => return self.array(text, element),
            _ => None,
        };
        literal.ok_or_else(|| unfit(&text_of(cell), data_type))
    }

    fn boolean(&self, cell: Cell<'_>) -> Option<bool> {
        match cell {
            Cell::Integer(value) => Some(value != 0),
            Cell::Real(value) => Some(value != 0.0),
            Cell::Bytes(bytes) => Some(bytes.iter().any(|byte| *byte != 0)),
            Cell::Text(text) => match text.to_ascii_lowercase().as_str() {
                "t" | "true" | "1" | "y" | "yes" | "on" => Some(true),
                "f" | "false" | "0" | "n" | "no" | "off" | "" => Some(false),
                other => other.parse::<f64>().ok().map(|value| value != 0.0),
            },
            Cell::Null => None,
        }
    }

    fn integer(&self, cell: Cell<'_>) -> Option<i128> {
        match cell {
            Cell::Integer(value) => Some(i128::from(value)),
            Cell::Real(value) if value.is_finite() => Some(value.trunc() as i128),
            Cell::Bytes(bytes) if bytes.len() <= 8 && self.binary == BinaryText::Number => {
                Some(bytes.iter().fold(0, |value, byte| (value << 8) | i128::from(*byte)))
            }
            Cell::Bytes(bytes) => std::str::from_utf8(bytes).ok().and_then(whole),
            Cell::Text(text) => whole(text),
            Cell::Null | Cell::Real(_) => None,
        }
    }

    fn bytes(&self, cell: Cell<'_>) -> Option<Vec<u8>> {
        match (cell, self.binary) {
            (Cell::Text(text), BinaryText::Hex) => from_hex(text.strip_prefix("\\x")?),
            (Cell::Text(text), BinaryText::Raw | BinaryText::Number) => Some(text.as_bytes().to_vec()),
            (Cell::Bytes(bytes), _) => Some(bytes.to_vec()),
            (Cell::Integer(value), _) => Some(value.to_be_bytes().to_vec()),
            _ => None,
        }
    }

    /// Microseconds of a text; without an offset, in the column's zone if `in_zone`.
    fn moment(&self, text: &str, in_zone: bool) -> Option<i64> {
        match text {
            "infinity" => return Some(i64::from(LAST_DAY) * DAY + DAY - 1_000_000),
            "-infinity" => return Some(i64::from(FIRST_DAY) * DAY),
            _ => {}
        }
        let (text, is_before_christ) = era(text);
        let (day, rest) = match text.split_once([' ', 'T']) {
            Some((day, rest)) => (civil(day, is_before_christ)?, rest),
            None if text.contains(':') => (0, text),
            None => (civil(text, is_before_christ)?, ""),
        };
        let at = rest.char_indices().skip(1).find(|(_, c)| matches!(c, '+' | '-' | 'Z')).map(|(i, _)| i);
        let (clock, offset) = at.map_or((rest, None), |i| (&rest[..i], Some(&rest[i..])));
        let local = day.checked_mul(DAY)?.checked_add(clock_micros(clock)?)?;
        match offset {
            Some(offset) if in_zone => local.checked_sub(offset_micros(offset)?),
            Some(_) | None if !in_zone => Some(local),
            _ => self.zone.to_utc(local),
        }
    }

    /// An array in the text form of PostgreSQL.
    fn array(&self, text: &str, element: &DataType) -> Result<Literal> {
        let wrong = || unfit(text, &DataType::array(element.clone(), true));
        let body = match text.find('{') {
            Some(at) if at == 0 || text[..at].ends_with('=') => &text[at..],
            _ => return Err(wrong()),
        };
        let body = body.strip_prefix('{').and_then(|body| body.strip_suffix('}')).ok_or_else(wrong)?;
        let items = items(body).ok_or_else(wrong)?;
        let values = items
            .iter()
            .map(|item| match item {
                None => Ok(Literal::Null(element.clone())),
                Some(item) => self.of_type(Cell::Text(item), element),
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Literal::Array(values, element.clone()))
    }
}

/// The items of an array, unquoted; those of inner arrays stay as they are.
fn items(body: &str) -> Option<Vec<Option<String>>> {
    let mut out = Vec::new();
    if body.is_empty() {
        return Some(out);
    }
    let (mut item, mut depth, mut is_quoted, mut was_quoted) = (String::new(), 0_usize, false, false);
    let mut chars = body.chars();
    let finish = |item: &mut String, was_quoted: &mut bool| {
        let text = std::mem::take(item);
        let is_null = !std::mem::take(was_quoted) && text.eq_ignore_ascii_case("null");
        (!is_null).then_some(text)
    };
    while let Some(c) = chars.next() {
        match c {
            '\\' if depth == 0 => item.push(chars.next()?),
            '\\' => {
                item.push(c);
                item.push(chars.next()?);
            }
            '"' => {
                is_quoted = !is_quoted;
                if depth > 0 {
                    item.push(c);
                } else {
                    was_quoted = true;
                }
            }
            '{' | '}' if !is_quoted => {
                depth = if c == '{' { depth + 1 } else { depth.checked_sub(1)? };
                item.push(c);
            }
            ',' if !is_quoted && depth == 0 => out.push(finish(&mut item, &mut was_quoted)),
            c => item.push(c),
        }
    }
    out.push(finish(&mut item, &mut was_quoted));
    (!is_quoted && depth == 0).then_some(out)
}

fn text_of(cell: Cell<'_>) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Text(text) => text.to_string(),
        Cell::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Cell::Integer(value) => value.to_string(),
        Cell::Real(value) => firesteel_types::number_text::double_text(value),
    }
}

/// A value that its column cannot hold.
fn unfit(text: &str, data_type: &DataType) -> SparkError {
    sql_error(&format!("Bad value for type {} : {text}", data_type.simple_string()))
}

fn whole(text: &str) -> Option<i128> {
    let text = text.trim();
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    match text {
        "t" | "true" => Some(1),
        "f" | "false" => Some(0),
        // What is behind the point is cut off.
        _ => text.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| value.trunc() as i128),
    }
}

fn real(cell: Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Integer(value) => Some(value as f64),
        Cell::Real(value) => Some(value),
        Cell::Bytes(bytes) => std::str::from_utf8(bytes).ok().and_then(number),
        _ => None,
    }
}

fn number(text: &str) -> Option<f64> {
    match text.trim() {
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        text => text.parse().ok(),
    }
}

/// A decimal rounded to its scale, half up.
pub(super) fn decimal(text: &str, precision: u8, scale: i8) -> Result<Literal> {
    let wrong = || unfit(text, &DataType::Decimal(precision, scale));
    let (mantissa, exponent) = match text.trim().split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().map_err(|_| wrong())?),
        None => (text.trim(), 0),
    };
    let (is_negative, digits) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{before}{after}");
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let out_of_range = || {
        SparkError::new("NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION")
            .with("roundedValue", text.trim())
            .with("originalValue", text.trim())
            .with("precision", precision.to_string())
            .with("scale", scale.to_string())
    };
    // The place of the point among the digits that are kept.
    let kept =
        i64::try_from(before.len()).unwrap_or(i64::MAX).saturating_add(exponent).saturating_add(i64::from(scale));
    let mut value: i128 = 0;
    for i in 0..kept.max(0) {
        let digit = usize::try_from(i).ok().and_then(|i| all.as_bytes().get(i)).map_or(0, |byte| byte - b'0');
        if value == 0 && digit == 0 && i >= i64::try_from(all.len()).unwrap_or(i64::MAX) {
            break;
        }
        value = value.checked_mul(10).and_then(|v| v.checked_add(i128::from(digit))).ok_or_else(out_of_range)?;
    }
    let next = usize::try_from(kept).ok().and_then(|i| all.as_bytes().get(i));
    if next.is_some_and(|byte| *byte >= b'5') {
        value = value.checked_add(1).ok_or_else(out_of_range)?;
    }
    let limit = 10_i128.checked_pow(u32::from(precision)).unwrap_or(i128::MAX);
    if value >= limit {
        return Err(out_of_range());
    }
    Ok(Literal::Decimal(if is_negative { -value } else { value }, precision, scale))
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    text.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some((digit(*high)? << 4) | digit(*low)?),
            _ => None,
        })
        .collect()
}

fn era(text: &str) -> (&str, bool) {
    match text.strip_suffix(" BC") {
        Some(text) => (text, true),
        None => (text, false),
    }
}

fn date(text: &str) -> Option<i32> {
    match text {
        "infinity" => return Some(LAST_DAY),
        "-infinity" => return Some(FIRST_DAY),
        _ => {}
    }
    let (text, is_before_christ) = era(text);
    let day = text.split([' ', 'T']).next().unwrap_or(text);
    i32::try_from(civil(day, is_before_christ)?).ok()
}

/// The day of `year-month-day`; of a year alone, its first.
fn civil(text: &str, is_before_christ: bool) -> Option<i64> {
    let mut parts = text.split('-');
    let year: i64 = parts.next()?.parse().ok()?;
    let year = if is_before_christ { 1 - year } else { year };
    let month = parts.next().map_or(Some(1), |part| part.parse().ok())?;
    let day = parts.next().map_or(Some(1), |part| part.parse().ok())?;
    if parts.next().is_some() {
        return None;
    }
    checked_days_from_civil(year, month, day)
}

/// Microseconds of `hours:minutes:seconds.fraction`, of which a sign may be before.
fn clock_micros(text: &str) -> Option<i64> {
    if text.is_empty() {
        return Some(0);
    }
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let mut parts = text.split(':');
    let hours: i64 = parts.next()?.parse().ok()?;
    let minutes: i64 = parts.next().map_or(Some(0), |part| part.parse().ok())?;
    let (seconds, fraction) = match parts.next() {
        None => (0, 0),
        Some(text) => {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
            let digits: String = fraction.chars().chain("000000".chars()).take(6).collect();
            (whole.parse::<i64>().ok()?, digits.parse::<i64>().ok()?)
        }
    };
    Some(sign * (((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + fraction))
}

fn offset_micros(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    Some(sign * clock_micros(&text[1..])?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(text: &str, data_type: DataType) -> Result<Literal> {
        let column = Column {
            data_type,
            zone: TimeZone::parse("Europe/Berlin").unwrap(),
            is_told: false,
            binary: BinaryText::Hex,
        };
        column.literal(Cell::Text(text))
    }

    #[test]
    fn texts_are_values() {
        assert_eq!(of("t", DataType::Boolean).unwrap(), Literal::Boolean(true));
        assert_eq!(of("-12", DataType::Short).unwrap(), Literal::Short(-12));
        assert!(of("40000", DataType::Short).is_err());
        assert_eq!(of("\\x0aff", DataType::Binary).unwrap(), Literal::Binary(vec![10, 255]));
        assert_eq!(of("1970-01-02", DataType::Date).unwrap(), Literal::Date(1));
        assert_eq!(of("Infinity", DataType::Double).unwrap(), Literal::Double(f64::INFINITY));
    }

    #[test]
    fn decimals_round_half_up_to_their_scale() {
        assert_eq!(of("1.005", DataType::Decimal(5, 2)).unwrap(), Literal::Decimal(101, 5, 2));
        assert_eq!(of("-12", DataType::Decimal(5, 2)).unwrap(), Literal::Decimal(-1200, 5, 2));
        assert_eq!(of("1.5e2", DataType::Decimal(5, 1)).unwrap(), Literal::Decimal(1500, 5, 1));
        assert_eq!(of("0.004", DataType::Decimal(5, 2)).unwrap(), Literal::Decimal(0, 5, 2));
        let error = of("1234.5", DataType::Decimal(5, 2)).unwrap_err();
        assert_eq!(error.condition(), Some("NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION"));
        assert!(of("NaN", DataType::Decimal(5, 2)).is_err());
    }

    #[test]
    fn moments_have_an_offset_or_are_of_the_zone() {
        let hour = 3_600_000_000;
        assert_eq!(of("1970-01-01 02:00:00+01", DataType::Timestamp).unwrap(), Literal::Timestamp(hour));
        assert_eq!(of("1970-01-01 02:00:00", DataType::Timestamp).unwrap(), Literal::Timestamp(hour));
        assert_eq!(of("1970-01-01 02:00:00", DataType::TimestampNtz).unwrap(), Literal::TimestampNtz(2 * hour));
        assert_eq!(of("01:00:00.5", DataType::TimestampNtz).unwrap(), Literal::TimestampNtz(hour + 500_000));
    }

    #[test]
    fn arrays_may_hold_nulls_quotes_and_arrays() {
        let strings = DataType::array(DataType::STRING, true);
        let text = |text: &str| Literal::String(text.to_string());
        let values = vec![text("a"), Literal::Null(DataType::STRING), text("b,\"c"), text("NULL")];
        let array = of("{a,NULL,\"b,\\\"c\",\"NULL\"}", strings).unwrap();
        assert_eq!(array, Literal::Array(values, DataType::STRING));
        let inner = DataType::array(DataType::Integer, true);
        let nested = of("{{1,2},{3,NULL}}", DataType::array(inner.clone(), true)).unwrap();
        let row = |values: Vec<Literal>| Literal::Array(values, DataType::Integer);
        let rows = vec![
            row(vec![Literal::Integer(1), Literal::Integer(2)]),
            row(vec![Literal::Integer(3), Literal::Null(DataType::Integer)]),
        ];
        assert_eq!(nested, Literal::Array(rows, inner));
    }
}
