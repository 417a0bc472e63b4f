//! `format_string`: the format strings of Java's `Formatter`.

use super::declare::{function, param};
use super::rows::{Rows, Texts, array_or_constant, texts, zeros_before};
use crate::scalar::math::decimal::{Rounding, round_double};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, IntervalYearMonthType, Time64NanosecondType, TimestampMicrosecondType,
};
use arrow::array::{Array, ArrayRef, AsArray};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::{DataType, number_text};
use std::fmt::Write;

const ARGUMENTS: Signature = Signature::variadic(&[param("strfmt", ArgType::String)], ArgType::Any);

function! {
    /// `format_string(strfmt, obj, …)`
    FORMAT_STRING = "format_string" in String, ARGUMENTS
        => Body::Build(|context, arguments| build(&FORMAT_STRING, context, arguments));
    usage "A text from a format string such as C's `printf` takes.";
    since "1.5.0";
    example "SELECT format_string('Hello World %d %s', 100, 'days')" => "Hello World 100 days";
}
function! {
    /// `printf(strfmt, obj, …)`
    PRINTF = "printf" in String, ARGUMENTS => Body::Build(|context, arguments| build(&PRINTF, context, arguments));
    usage "A text from a format string such as C's `printf` takes.";
    since "1.5.0";
    example "SELECT printf('Hello World %d %s', 100, 'days')" => "Hello World 100 days";
}

fn build(function: &'static Function, context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = function.call_text(&names);
    let format = arguments.first().and_then(TypedExpr::literal).and_then(|value| value.try_as_str().flatten());
    if format.is_some_and(|format| format.contains("%0$")) && !context.conf.allow_zero_index_in_format {
        return Err(SparkError::new("INVALID_PARAMETER_VALUE.ZERO_INDEX")
            .with("parameter", "`strfmt`")
            .with("functionName", "`format_string`"));
    }
    for argument in arguments.iter().skip(1) {
        if argument.data_type.is_nested()
            || matches!(argument.data_type, DataType::Binary | DataType::Variant | DataType::CalendarInterval)
        {
            return Err(SparkError::unsupported(format!(
                "{} with arguments of type {}",
                function.name, argument.data_type
            )));
        }
    }
    let (data_type, nullable) = match arguments.first() {
        Some(format) if format.data_type.is_string() => (format.data_type.clone(), format.nullable),
        _ => (DataType::STRING, false),
    };
    let expr = crate::kernel::call(function, format_string, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, text))
}

/// A piece of a format string.
#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Specifier(Specifier),
}

#[derive(Debug, Clone, Default)]
struct Specifier {
    /// As it is written.
    source: String,
    argument: Which,
    left: bool,
    alternate: bool,
    plus: bool,
    blank: bool,
    zeros: bool,
    grouped: bool,
    brackets: bool,
    width: usize,
    precision: Option<usize>,
    conversion: char,
    upper: bool,
}

#[derive(Debug, Clone, Copy, Default)]
enum Which {
    /// The argument after the last one taken this way.
    #[default]
    Next,
    /// The same as before.
    Last,
    Number(usize),
}

fn illegal(message: impl Into<String>) -> SparkError {
    SparkError::plain(ExceptionClass::IllegalArgument, message)
}

fn parse(format: &str) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let characters: Vec<char> = format.chars().collect();
    let mut at = 0;
    while at < characters.len() {
        if characters[at] != '%' {
            literal.push(characters[at]);
            at += 1;
            continue;
        }
        let start = at;
        at += 1;
        let mut specifier = Specifier::default();
        let number = |at: &mut usize| {
            let from = *at;
            while characters.get(*at).is_some_and(char::is_ascii_digit) {
                *at += 1;
            }
            characters[from..*at].iter().collect::<String>().parse::<usize>().ok()
        };
        let before = at;
        match number(&mut at) {
            Some(index) if characters.get(at) == Some(&'$') && index > 0 => {
                at += 1;
                specifier.argument = Which::Number(index - 1);
            }
            _ => at = before,
        }
        if characters.get(at) == Some(&'<') {
            specifier.argument = Which::Last;
            at += 1;
        }
        while let Some(flag) = characters.get(at) {
            match flag {
                '-' => specifier.left = true,
                '#' => specifier.alternate = true,
                '+' => specifier.plus = true,
                ' ' => specifier.blank = true,
                '0' => specifier.zeros = true,
                ',' => specifier.grouped = true,
                '(' => specifier.brackets = true,
                _ => break,
            }
            at += 1;
        }
        specifier.width = number(&mut at).unwrap_or(0);
        if characters.get(at) == Some(&'.') {
            at += 1;
            specifier.precision = Some(number(&mut at).ok_or_else(|| illegal("Conversion = '%'"))?);
        }
        let longest = specifier.width.max(specifier.precision.unwrap_or(0));
        if longest > 1 << 24 {
            return Err(illegal(longest.to_string()));
        }
        let Some(conversion) = characters.get(at).copied() else { return Err(illegal("Conversion = '%'")) };
        at += 1;
        specifier.source = characters[start..at].iter().collect();
        specifier.upper = conversion.is_ascii_uppercase();
        specifier.conversion = conversion.to_ascii_lowercase();
        match conversion {
            'n' => literal.push('\n'),
            '%' => literal.push_str(&padded("%", &specifier)),
            'd' | 'o' | 'x' | 'X' | 'e' | 'E' | 'f' | 'g' | 'G' | 's' | 'S' | 'b' | 'B' | 'c' | 'C' => {
                if !literal.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut literal)));
                }
                pieces.push(Piece::Specifier(specifier));
            }
            'h' | 'H' | 'a' | 'A' | 't' | 'T' => {
                return Err(SparkError::unsupported(format!("the conversion %{conversion} of format_string")));
            }
            other => return Err(illegal(format!("Conversion = '{other}'"))),
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    Ok(pieces)
}

fn padded(text: &str, specifier: &Specifier) -> String {
    let missing = specifier.width.saturating_sub(text.chars().count());
    if specifier.left { format!("{text}{}", " ".repeat(missing)) } else { format!("{}{text}", " ".repeat(missing)) }
}

/// A value in a row.
enum Value {
    Null,
    Boolean(bool),
    /// A whole number with its width in bits, and the name of its class in Java.
    Whole(i64, u32, &'static str),
    Double(f64, &'static str),
    /// What `%s` shows, and the name of the class.
    Other(String, &'static str),
}

fn value(data_type: &DataType, array: &ArrayRef, row: usize) -> Result<Value> {
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    const INTEGER: &str = "java.lang.Integer";
    const LONG: &str = "java.lang.Long";
    Ok(match data_type {
        DataType::Null => Value::Null,
        DataType::Boolean => Value::Boolean(array.as_boolean().value(row)),
        DataType::Byte => Value::Whole(array.as_primitive::<Int8Type>().value(row).into(), 8, "java.lang.Byte"),
        DataType::Short => Value::Whole(array.as_primitive::<Int16Type>().value(row).into(), 16, "java.lang.Short"),
        DataType::Integer => Value::Whole(array.as_primitive::<Int32Type>().value(row).into(), 32, INTEGER),
        DataType::Long => Value::Whole(array.as_primitive::<Int64Type>().value(row), 64, LONG),
        // Dates and times are the numbers that stand for them.
        DataType::Date => Value::Whole(array.as_primitive::<Date32Type>().value(row).into(), 32, INTEGER),
        DataType::Timestamp | DataType::TimestampNtz => {
            Value::Whole(array.as_primitive::<TimestampMicrosecondType>().value(row), 64, LONG)
        }
        DataType::Time(_) => Value::Whole(array.as_primitive::<Time64NanosecondType>().value(row), 64, LONG),
        DataType::YearMonthInterval(..) => {
            Value::Whole(array.as_primitive::<IntervalYearMonthType>().value(row).into(), 32, INTEGER)
        }
        DataType::DayTimeInterval(..) => {
            Value::Whole(array.as_primitive::<DurationMicrosecondType>().value(row), 64, LONG)
        }
        DataType::Float => {
            let value = array.as_primitive::<Float32Type>().value(row);
            Value::Double(f64::from(value), "java.lang.Float")
        }
        DataType::Double => Value::Double(array.as_primitive::<Float64Type>().value(row), "java.lang.Double"),
        DataType::Decimal(_, scale) => {
            let mut text = String::new();
            number_text::write_decimal(&mut text, array.as_primitive::<Decimal128Type>().value(row), *scale);
            Value::Other(text, "org.apache.spark.sql.types.Decimal")
        }
        data_type if data_type.is_string() => {
            let text = array.as_string::<i32>().value(row).to_string();
            Value::Other(text, "org.apache.spark.unsafe.types.UTF8String")
        }
        other => return Err(SparkError::unsupported(format!("format_string with arguments of type {other}"))),
    })
}

fn cut(text: &str, specifier: &Specifier) -> String {
    match specifier.precision {
        Some(precision) => text.chars().take(precision).collect(),
        None => text.to_string(),
    }
}

fn mismatch(specifier: &Specifier, class: &str) -> SparkError {
    illegal(format!("{} != {class}", specifier.conversion))
}

/// Puts sign, commas, zeros and blanks around digits.
fn signed(negative: bool, digits: &str, specifier: &Specifier) -> String {
    let (whole, rest) = digits.split_at(digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len()));
    let mut number = String::new();
    if specifier.grouped {
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index) % 3 == 0 {
                number.push(',');
            }
            number.push(digit);
        }
    } else {
        number.push_str(whole);
    }
    number.push_str(rest);
    let (before, after) = match (negative, specifier) {
        (true, Specifier { brackets: true, .. }) => ("(", ")"),
        (true, _) => ("-", ""),
        (false, Specifier { plus: true, .. }) => ("+", ""),
        (false, Specifier { blank: true, .. }) => (" ", ""),
        (false, _) => ("", ""),
    };
    if specifier.zeros {
        let width = specifier.width.saturating_sub(before.len() + after.len());
        number = zeros_before(&number, width);
    }
    format!("{before}{number}{after}")
}

fn whole(value: i64, bits: u32, specifier: &Specifier) -> String {
    let unsigned = if bits == 64 { value as u64 } else { (value as u64) & ((1u64 << bits) - 1) };
    let mut text = match specifier.conversion {
        'd' => return signed(value < 0, &value.unsigned_abs().to_string(), specifier),
        'x' => format!("{}{unsigned:x}", if specifier.alternate { "0x" } else { "" }),
        _ => format!("{}{unsigned:o}", if specifier.alternate { "0" } else { "" }),
    };
    if specifier.zeros {
        text = zeros_before(&text, specifier.width);
    }
    text
}

/// Mantissa and exponent with so many digits after the point, rounded half up.
fn scientific(magnitude: f64, precision: usize) -> String {
    let shortest = format!("{magnitude:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let mut exponent: i32 = exponent.parse().unwrap_or(0);
    let mut mantissa = round_double(mantissa.parse().unwrap_or(0.0), precision as i32, Rounding::HalfUp);
    if mantissa >= 10.0 {
        mantissa /= 10.0;
        exponent += 1;
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", with_fraction(mantissa, precision), exponent.abs())
}

/// So many digits after the point.
fn with_fraction(value: f64, precision: usize) -> String {
    // No double has more digits than these.
    let shown = precision.min(1100);
    format!("{value:.shown$}{}", "0".repeat(precision - shown))
}

fn double(value: f64, specifier: &Specifier) -> String {
    if value.is_nan() {
        return "NaN".to_string();
    }
    let negative = value.is_sign_negative();
    if value.is_infinite() {
        let plain = Specifier { zeros: false, ..specifier.clone() };
        return signed(negative, "Infinity", &plain);
    }
    let magnitude = value.abs();
    let precision = specifier.precision.unwrap_or(6);
    let fixed = |precision: usize| {
        let rounded = round_double(magnitude, precision.min(400) as i32, Rounding::HalfUp);
        with_fraction(rounded, precision)
    };
    let digits = match specifier.conversion {
        'f' => fixed(precision),
        'e' => scientific(magnitude, precision),
        _ => {
            let precision = precision.max(1);
            if magnitude == 0.0 {
                fixed(precision - 1)
            } else if (1e-4..10f64.powi(precision.min(300) as i32)).contains(&magnitude) {
                let exponent = magnitude.log10().floor() as i32;
                fixed((precision as i32 - 1 - exponent).max(0) as usize)
            } else {
                scientific(magnitude, precision - 1)
            }
        }
    };
    signed(negative, &digits, specifier)
}

fn convert(value: &Value, specifier: &Specifier) -> Result<String> {
    let text = match (specifier.conversion, value) {
        ('b', Value::Null) => cut("false", specifier),
        ('b', Value::Boolean(value)) => cut(if *value { "true" } else { "false" }, specifier),
        ('b', _) => cut("true", specifier),
        (_, Value::Null) => cut("null", specifier),
        ('s', Value::Boolean(value)) => cut(if *value { "true" } else { "false" }, specifier),
        ('s', Value::Whole(value, ..)) => cut(&value.to_string(), specifier),
        ('s', Value::Double(value, class)) => {
            let mut text = String::new();
            if *class == "java.lang.Float" {
                number_text::write_float(&mut text, *value as f32);
            } else {
                number_text::write_double(&mut text, *value);
            }
            cut(&text, specifier)
        }
        ('s', Value::Other(text, _)) => cut(text, specifier),
        ('d' | 'x' | 'o', Value::Whole(value, bits, _)) => whole(*value, *bits, specifier),
        ('e' | 'f' | 'g', Value::Double(value, class)) => {
            // A float is written by its own digits.
            let value = if *class == "java.lang.Float" {
                let mut text = String::new();
                number_text::write_float(&mut text, *value as f32);
                text.parse().unwrap_or(*value)
            } else {
                *value
            };
            double(value, specifier)
        }
        ('c', Value::Whole(code, 8 | 16 | 32, _)) => match u32::try_from(*code).ok().and_then(char::from_u32) {
            Some(character) => character.to_string(),
            None => return Err(illegal(format!("Code point = 0x{code:x}"))),
        },
        (_, Value::Boolean(_)) => return Err(mismatch(specifier, "java.lang.Boolean")),
        (_, Value::Whole(_, _, class) | Value::Double(_, class) | Value::Other(_, class)) => {
            return Err(mismatch(specifier, class));
        }
    };
    let text = if specifier.upper { text.to_uppercase() } else { text };
    Ok(padded(&text, specifier))
}

fn format_string(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let formats: Texts = Rows::of(args, 0)?;
    let columns = (1..args.values.len()).map(|i| array_or_constant(args, i)).collect::<Result<Vec<_>>>()?;
    let mut last: Option<(String, Vec<Piece>)> = None;
    texts(args, |row, out| {
        let Some(format) = formats.get(row) else { return Ok(None) };
        if last.as_ref().is_none_or(|(source, _)| source != format) {
            last = Some((format.to_string(), parse(format)?));
        }
        let Some((_, pieces)) = &last else { return Ok(None) };
        let (mut next, mut before) = (0, None);
        for piece in pieces {
            let specifier = match piece {
                Piece::Text(text) => {
                    let _ = out.write_str(text);
                    continue;
                }
                Piece::Specifier(specifier) => specifier,
            };
            let index = match specifier.argument {
                Which::Next => {
                    next += 1;
                    Some(next - 1)
                }
                Which::Last => before,
                Which::Number(index) => Some(index),
            };
            let missing = || illegal(format!("Format specifier '{}'", specifier.source));
            let index = index.ok_or_else(missing)?;
            let (array, is_constant) = columns.get(index).ok_or_else(missing)?;
            let data_type = args.types.get(index + 1).ok_or_else(missing)?;
            before = Some(index);
            let value = value(data_type, array, if *is_constant { 0 } else { row })?;
            let _ = out.write_str(&convert(&value, specifier)?);
        }
        Ok(Some(()))
    })
}
