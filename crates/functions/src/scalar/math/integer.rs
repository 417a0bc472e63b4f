//! Functions of whole numbers and of their digits.

use super::abs::overflow;
use crate::scalar::string::declare::{function, lenient, param, strict};
use crate::scalar::string::rows::{Integers, Longs, Rows, Texts, array_or_constant, downcast, finish, texts};
use crate::{ArgType, KernelArgs, Signature};
use arrow::array::{Int32Array, Int64Array};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use firesteel_types::DataType;
use std::fmt::Write;
use std::sync::Arc;

function! {
    /// `factorial(expr)`
    FACTORIAL = "factorial" in Math, Signature::of(&[param("expr", ArgType::Integer)])
        => lenient(DataType::Long, factorial);
    usage "The product of the whole numbers from 1 to `expr`; null outside 0 to 20.";
    since "1.5.0";
    example "SELECT factorial(5)" => "120";
}
function! {
    /// `bin(expr)`
    BIN = "bin" in Math, Signature::of(&[param("expr", ArgType::Long)]) => strict(DataType::STRING, bin);
    usage "The bits of a whole number as text.";
    since "1.5.0";
    example "SELECT bin(13)" => "1101";
    example "SELECT bin(-13)" => "1111111111111111111111111111111111111111111111111111111111110011";
}
function! {
    /// `conv(num, from_base, to_base)`
    CONV = "conv" in Math, Signature::of(&[
            param("num", ArgType::String),
            param("from_base", ArgType::Integer),
            param("to_base", ArgType::Integer),
        ])
        => lenient(DataType::STRING, conv);
    usage "A number written to one base, written to another; a negative base to write to gives a signed number.";
    since "1.5.0";
    example "SELECT conv('100', 2, 10)" => "4";
    example "SELECT conv(-10, 16, -10)" => "-16";
}

fn factorial(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let result: Int64Array = downcast::<Int32Array>(&array)?
        .unary_opt(|n| if (0..=20).contains(&n) { Some((1..=i64::from(n)).product()) } else { None });
    finish(args, Arc::new(result))
}

fn bin(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let numbers: Longs = Rows::of(args, 0)?;
    texts(args, |row, out| Ok(numbers.get(row).and_then(|n| write!(out, "{n:b}").ok())))
}

fn conv(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let numbers: Texts = Rows::of(args, 0)?;
    let (from, to): (Integers, Integers) = (Rows::of(args, 1)?, Rows::of(args, 2)?);
    texts(args, |row, out| {
        let (Some(number), Some(from), Some(to)) = (numbers.get(row), from.get(row), to.get(row)) else {
            return Ok(None);
        };
        match convert(number.trim_matches(' '), from, to, args.settings.ansi)? {
            Some(text) => Ok(out.write_str(&text).ok()),
            None => Ok(None),
        }
    })
}

/// The number to another base; None where there is no number or a base is out of range.
fn convert(number: &str, from: i32, to: i32, ansi: bool) -> Result<Option<String>> {
    if number.is_empty() || !(2..=36).contains(&from) || !(2..=36).contains(&to.unsigned_abs()) {
        return Ok(None);
    }
    let (negative, digits) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let mut value: u64 = 0;
    for digit in digits.chars().map_while(|c| if c.is_ascii() { c.to_digit(from as u32) } else { None }) {
        match value.checked_mul(from as u64).and_then(|v| v.checked_add(u64::from(digit))) {
            Some(next) => value = next,
            None if ansi => return Err(overflow("Overflow in function conv()", true)),
            None => {
                value = u64::MAX;
                break;
            }
        }
    }
    let mut sign = "";
    if negative {
        // A magnitude beyond 63 bits stands for the smallest number when the result is unsigned.
        value = if to > 0 && (value as i64) < 0 { u64::MAX } else { (value as i64).wrapping_neg() as u64 };
    }
    if to < 0 && (value as i64) < 0 {
        sign = "-";
        value = (value as i64).wrapping_neg() as u64;
    }
    let base = u64::from(to.unsigned_abs());
    let mut written = Vec::new();
    loop {
        written.push(char::from_digit((value % base) as u32, base as u32).unwrap_or('0').to_ascii_uppercase());
        value /= base;
        if value == 0 {
            break;
        }
    }
    Ok(Some(sign.chars().chain(written.into_iter().rev()).collect()))
}
