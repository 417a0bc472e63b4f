//! Numbers by the patterns of Java's `DecimalFormat`, for `format_number`.

use crate::coercion::mismatch::unexpected_input;
use crate::scalar::math::decimal::{Rounding, round_unscaled};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Integers, Rows, Texts, array_or_constant, downcast, internal, texts, zeros_before};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, Decimal128Array, Float64Array};
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::DataType;
use std::fmt::Write;

function! {
    /// `format_number(expr1, expr2)`
    FORMAT_NUMBER = "format_number" in String,
        Signature::of(&[param("expr1", ArgType::Any), param("expr2", ArgType::OneOf(&[ArgType::Integer, ArgType::TEXT]))])
        => Body::Build(build);
    usage "A number with commas between thousands and `expr2` digits after the point, or by the pattern `expr2`.";
    since "1.5.0";
    example "SELECT format_number(12332.123456, 4)" => "12,332.1235";
    example "SELECT format_number(12332.123456, '##################.###')" => "12332.123";
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [value, format] = arguments.as_slice() else {
        return Err(SparkError::internal("format_number takes two arguments"));
    };
    let call = format!("format_number({}, {})", value.name, format.name);
    if !value.data_type.is_numeric() && !value.data_type.is_null() {
        return Err(unexpected_input(&call, 0, ArgType::Numeric, value));
    }
    let value = match &value.data_type {
        DataType::Null | DataType::Float => crate::coercion::implicitly(value.clone(), &DataType::Double, context)?,
        other if other.is_integral() => crate::coercion::implicitly(value.clone(), &DataType::Decimal(20, 0), context)?,
        _ => value.clone(),
    };
    let arguments = [value, format.clone()];
    let expr = crate::kernel::call(&FORMAT_NUMBER, format_number, &arguments, &DataType::STRING, true, context)?;
    Ok(TypedExpr::new(expr, DataType::STRING, true, call))
}

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    prefix: String,
    suffix: String,
    /// Prefix and suffix of numbers below zero, where the pattern has them.
    negative: Option<(String, String)>,
    least_whole: usize,
    least_fraction: usize,
    most_fraction: usize,
    /// Digits between commas; 0: no commas.
    grouping: usize,
    /// Places that the point moves to the right.
    shift: i32,
    /// The point is written without digits behind it, too.
    shows_point: bool,
}

fn malformed(message: String) -> SparkError {
    SparkError::plain(ExceptionClass::IllegalArgument, message)
}

impl Pattern {
    /// The pattern with commas and a number of digits after the point.
    fn with_digits(digits: usize) -> Self {
        Self {
            prefix: String::new(),
            suffix: String::new(),
            negative: None,
            least_whole: 1,
            least_fraction: digits,
            most_fraction: digits,
            grouping: 3,
            shift: 0,
            shows_point: false,
        }
    }

    fn parse(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Ok(Self::with_digits(0));
        }
        let mut halves = split_unquoted(text);
        let negative = if halves.len() > 1 { Some(halves.remove(1)) } else { None };
        let mut half = Half::read(&halves.remove(0))?;
        let negative = match negative {
            Some(half) => {
                let half = Half::read(&half)?;
                Some((half.prefix, half.suffix))
            }
            None => None,
        };
        half.check().ok_or_else(|| malformed(format!("Malformed pattern \"{text}\"")))?;
        let total = half.left + half.zeros + half.right;
        let point = half.point.unwrap_or(total);
        Ok(Self {
            negative,
            least_whole: point - half.left,
            least_fraction: half.left + half.zeros - point,
            most_fraction: total - point,
            grouping: half.grouping.unwrap_or(0),
            shift: half.shift,
            shows_point: half.point.is_some_and(|at| at == 0 || at == total),
            prefix: half.prefix,
            suffix: half.suffix,
        })
    }

    /// Writes the digits of a number that is rounded to `most_fraction` already.
    fn write(&self, out: &mut String, negative: bool, whole: &str, fraction: &str) {
        match (&self.negative, negative) {
            (Some((prefix, _)), true) => out.push_str(prefix),
            (None, true) => {
                out.push('-');
                out.push_str(&self.prefix);
            }
            (_, false) => out.push_str(&self.prefix),
        }
        let whole = whole.trim_start_matches('0');
        let whole = zeros_before(whole, self.least_whole);
        let mut kept = fraction.len();
        while kept > self.least_fraction && fraction.as_bytes()[kept - 1] == b'0' {
            kept -= 1;
        }
        if whole.is_empty() && kept == 0 {
            out.push('0');
        }
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && self.grouping > 0 && (whole.len() - index).is_multiple_of(self.grouping) {
                out.push(',');
            }
            out.push(digit);
        }
        if kept > 0 || self.shows_point {
            out.push('.');
            out.push_str(&fraction[..kept]);
        }
        self.end(out, negative);
    }

    fn end(&self, out: &mut String, negative: bool) {
        match (&self.negative, negative) {
            (Some((_, suffix)), true) => out.push_str(suffix),
            _ => out.push_str(&self.suffix),
        }
    }

    fn write_double(&self, out: &mut String, value: f64) {
        if value.is_nan() {
            out.push_str("NaN");
            return;
        }
        let negative = value.is_sign_negative();
        if value.is_infinite() {
            out.push_str(if negative { "-" } else { "" });
            out.push_str(&self.prefix);
            out.push('∞');
            self.end(out, negative);
            return;
        }
        let scaled = value.abs() * 10f64.powi(self.shift);
        // Java writes no more digits of a double.
        let text = format!("{scaled:.*}", self.most_fraction.min(340));
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        self.write(out, negative, whole, fraction);
    }

    fn write_decimal(&self, out: &mut String, value: i128, scale: i32) {
        let scale = scale - self.shift;
        let digits = self.most_fraction as i32;
        let rounded = round_unscaled(value.abs(), scale, digits, digits.max(scale.min(digits)), Rounding::HalfEven);
        let text = match rounded {
            Some(rounded) => zeros_before(&rounded.to_string(), self.most_fraction + 1),
            // Too many digits to fill up: they are all zeros.
            None => format!("{}{}", value.abs(), "0".repeat((digits - scale).max(0) as usize)),
        };
        let (whole, fraction) = text.split_at(text.len() - self.most_fraction);
        self.write(out, value < 0, whole, fraction);
    }
}

/// Parts a pattern at the semicolon.
fn split_unquoted(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for character in text.chars() {
        quoted ^= character == '\'';
        if character == ';' && !quoted {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(character);
        }
    }
    parts
}

/// Half a pattern: what stands around the digits, and which digits there are.
#[derive(Default)]
struct Half {
    prefix: String,
    suffix: String,
    /// `#` before the zeros, zeros, `#` after them.
    left: usize,
    zeros: usize,
    right: usize,
    /// Digits before the point.
    point: Option<usize>,
    /// Digits after the last comma.
    grouping: Option<usize>,
    /// How far the point moves.
    shift: i32,
}

impl Half {
    /// Digits may go on after other characters, which all belong to the suffix.
    fn read(text: &str) -> Result<Self> {
        let mut half = Self::default();
        let mut quoted = false;
        let mut in_prefix = true;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            if !quoted && matches!(character, '#' | '0' | ',' | '.') {
                in_prefix = false;
                half.digit(character)?;
                continue;
            }
            let affix = if in_prefix { &mut half.prefix } else { &mut half.suffix };
            match character {
                '\'' if characters.next_if_eq(&'\'').is_some() => affix.push('\''),
                '\'' => quoted = !quoted,
                _ if quoted => affix.push(character),
                'E' if !in_prefix => {
                    return Err(SparkError::unsupported("format_number with an exponent in the pattern"));
                }
                '¤' => return Err(SparkError::unsupported("format_number with a currency sign in the pattern")),
                '%' => {
                    half.shift = 2;
                    affix.push(character);
                }
                '‰' => {
                    half.shift = 3;
                    affix.push(character);
                }
                other => affix.push(other),
            }
        }
        Ok(half)
    }

    fn digit(&mut self, character: char) -> Result<()> {
        match character {
            ',' => self.grouping = Some(0),
            '.' if self.point.is_some() => return Err(malformed("Multiple decimal separators in pattern".into())),
            '.' => self.point = Some(self.left + self.zeros + self.right),
            '0' if self.right > 0 => return Err(malformed("Unexpected '0' in pattern".into())),
            '0' => self.zeros += 1,
            _ if self.zeros > 0 => self.right += 1,
            _ => self.left += 1,
        }
        if let Some(count) = self.grouping.as_mut().filter(|_| matches!(character, '#' | '0') && self.point.is_none()) {
            *count += 1;
        }
        Ok(())
    }

    /// None where the digits are in no order. A pattern with a point and no zero gets one.
    fn check(&mut self) -> Option<()> {
        if let Some(point) = self.point.filter(|_| self.zeros == 0 && self.left > 0) {
            let before = point.max(1);
            self.right = self.left - before;
            self.left = before - 1;
            self.zeros = 1;
        }
        let is_placed = match self.point {
            Some(point) => (self.left..=self.left + self.zeros).contains(&point),
            None => self.right == 0,
        };
        (is_placed && self.grouping != Some(0)).then_some(())
    }
}

fn format_number(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, is_constant) = array_or_constant(args, 0)?;
    enum Formats {
        Digits(Integers),
        Texts(Texts),
    }
    let formats = match args.types.get(1) {
        Some(DataType::Integer) => Formats::Digits(Rows::of(args, 1)?),
        _ => Formats::Texts(Rows::of(args, 1)?),
    };
    enum Numbers {
        Doubles(Float64Array),
        Decimals(Decimal128Array, i32),
    }
    let numbers = match array.data_type() {
        ArrowType::Decimal128(_, scale) => {
            Numbers::Decimals(downcast::<Decimal128Array>(&array)?.clone(), i32::from(*scale))
        }
        _ => {
            let doubles: ArrayRef = arrow::compute::cast(&array, &ArrowType::Float64).map_err(internal)?;
            Numbers::Doubles(downcast::<Float64Array>(&doubles)?.clone())
        }
    };
    let mut last: Option<(String, Pattern)> = None;
    let mut buffer = String::new();
    texts(args, |row, out| {
        let at = if is_constant { 0 } else { row };
        if array.is_null(at) {
            return Ok(None);
        }
        let made;
        let pattern = match &formats {
            Formats::Digits(digits) => match digits.get(row) {
                Some(digits) if digits >= 0 => {
                    crate::room::check_many(digits as usize, 4)?;
                    made = Pattern::with_digits(digits as usize);
                    &made
                }
                _ => return Ok(None),
            },
            Formats::Texts(formats) => {
                let Some(format) = formats.get(row) else { return Ok(None) };
                if last.as_ref().is_none_or(|(source, _)| source != format) {
                    last = Some((format.to_string(), Pattern::parse(format)?));
                }
                match &last {
                    Some((_, pattern)) => pattern,
                    None => return Ok(None),
                }
            }
        };
        buffer.clear();
        match &numbers {
            Numbers::Doubles(doubles) => pattern.write_double(&mut buffer, doubles.value(at)),
            Numbers::Decimals(decimals, scale) => pattern.write_decimal(&mut buffer, decimals.value(at), *scale),
        }
        Ok(out.write_str(&buffer).ok())
    })
}
