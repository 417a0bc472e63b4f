//! Strings of a given length.

use super::declare::{function, param, same_type, strict};
use super::rows::{Binaries, Integers, Rows, Texts, binaries, check_bytes, is_binary, texts, write_times};
use super::substring::prefix;
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use firesteel_types::DataType;
use std::fmt::Write;

const PAD: Signature = Signature::with_optional(
    &[
        param("str", ArgType::OneOf(&[ArgType::String, ArgType::Binary])),
        param("len", ArgType::Integer),
        param("pad", ArgType::OneOf(&[ArgType::String, ArgType::Binary])),
    ],
    1,
);

fn build(
    function: &'static Function,
    kernel: crate::KernelFn,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let first = arguments.first().map_or(DataType::STRING, |a| a.data_type.clone());
    // Bytes are filled up with bytes only: else both are texts.
    let is_binary = |index: usize| arguments.get(index).is_none_or(|a| a.data_type == DataType::Binary);
    let data_type = if first == DataType::Binary && !is_binary(2) { DataType::STRING } else { first };
    let mut names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    if names.len() == 2 {
        names.push(if data_type == DataType::Binary { "X'00'" } else { " " }.to_string());
    }
    let nullable = arguments.iter().any(|a| a.nullable);
    let arguments = arguments
        .into_iter()
        .map(|a| match (&a.data_type, &data_type) {
            (DataType::Binary, to) if to.is_string() => crate::coercion::implicitly(a, to, context),
            _ => Ok(a),
        })
        .collect::<Result<Vec<_>>>()?;
    let expr = crate::kernel::call(function, kernel, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, function.call_text(&names)))
}

fn lpad(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    pad(args, true)
}

fn rpad(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    pad(args, false)
}

function! {
    /// `lpad(str, len[, pad])`
    LPAD = "lpad" in String, PAD => Body::Named(|c, a| build(&LPAD, lpad, c, a));
    usage "The text cut or filled up at its start to `len` characters, with `pad` or else with blanks (binaries: zeros).";
    since "1.5.0";
    example "SELECT lpad('hi', 5, '??')" => "???hi";
    example "SELECT lpad('hi', 1, '??')" => "h";
}
function! {
    /// `rpad(str, len[, pad])`
    RPAD = "rpad" in String, PAD => Body::Named(|c, a| build(&RPAD, rpad, c, a));
    usage "The text cut or filled up at its end to `len` characters, with `pad` or else with blanks (binaries: zeros).";
    since "1.5.0";
    example "SELECT rpad('hi', 5, '??')" => "hi???";
    example "SELECT rpad('hi', 1, '??')" => "h";
}
function! {
    /// `repeat(str, n)`
    REPEAT = "repeat" in String, Signature::of(&[param("str", ArgType::String), param("n", ArgType::Integer)])
        => same_type(repeat);
    usage "The text `n` times.";
    since "1.5.0";
    example "SELECT repeat('123', 2)" => "123123";
}
function! {
    /// `space(n)`
    SPACE = "space" in String, Signature::of(&[param("n", ArgType::Integer)]) => strict(DataType::STRING, space);
    usage "A text of `n` blanks.";
    since "1.5.0";
    example "SELECT concat(space(2), '1')" => "  1";
}

fn pad(args: &KernelArgs<'_>, at_start: bool) -> Result<ColumnarValue> {
    if is_binary(args, 0) {
        return pad_binary(args, at_start);
    }
    let (values, lengths): (Texts, Integers) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let pads: Option<Texts> = if args.values.len() > 2 { Some(Rows::of(args, 2)?) } else { None };
    texts(args, |row, out| {
        let pad = match &pads {
            Some(pads) => pads.get(row),
            None => Some(" "),
        };
        let (Some(text), Some(length), Some(pad)) = (values.get(row), lengths.get(row), pad) else {
            return Ok(None);
        };
        let length = usize::try_from(length).unwrap_or(0);
        let missing = length.saturating_sub(text.chars().count());
        if missing == 0 || pad.is_empty() {
            return Ok(out.write_str(prefix(text, length)).ok());
        }
        check_bytes(out.values_slice().len() + missing)?;
        if !at_start {
            let _ = out.write_str(text);
        }
        let width = pad.chars().count();
        write_times(out, pad, missing / width)?;
        let _ = out.write_str(prefix(pad, missing % width));
        if at_start {
            let _ = out.write_str(text);
        }
        Ok(Some(()))
    })
}

fn pad_binary(args: &KernelArgs<'_>, at_start: bool) -> Result<ColumnarValue> {
    let (values, lengths): (Binaries, Integers) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let pads = if args.values.len() > 2 { Some(super::rows::Bytes::of(args, 2)?) } else { None };
    binaries(args, |row| {
        let pad = match &pads {
            Some(pads) => pads.get(row),
            None => Some(&[0u8][..]),
        };
        let (Some(value), Some(length), Some(pad)) = (values.get(row), lengths.get(row), pad) else {
            return Ok(None);
        };
        let length = usize::try_from(length).unwrap_or(0);
        if value.len() >= length || pad.is_empty() {
            return Ok(Some(value[..length.min(value.len())].to_vec()));
        }
        check_bytes(length)?;
        let filling = pad.iter().cycle().take(length - value.len()).copied();
        Ok(Some(if at_start {
            filling.chain(value.iter().copied()).collect()
        } else {
            value.iter().copied().chain(filling).collect()
        }))
    })
}

fn repeat(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (values, counts): (Texts, Integers) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    texts(args, |row, out| {
        let (Some(text), Some(count)) = (values.get(row), counts.get(row)) else { return Ok(None) };
        let count = usize::try_from(count).unwrap_or(0);
        write_times(out, text, count).map(Some)
    })
}

fn space(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let counts: Integers = Rows::of(args, 0)?;
    texts(args, |row, out| {
        let Some(count) = counts.get(row) else { return Ok(None) };
        let count = usize::try_from(count).unwrap_or(0);
        write_times(out, " ", count).map(Some)
    })
}
