//! How long strings and binaries are.

use super::declare::{function, param, strict};
use super::rows::{array_or_constant, downcast, finish, internal};
use crate::{ArgType, KernelArgs, Signature};
use arrow::array::{Array, ArrayRef, BinaryArray, Int32Array, StringArray};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

const EXPR: Signature = Signature::of(&[param("expr", ArgType::OneOf(&[ArgType::String, ArgType::Binary]))]);

function! {
    /// `length(expr)`
    LENGTH = "length" in String, EXPR => strict(DataType::Integer, characters);
    usage "The number of characters of a string, or of bytes of a binary.";
    since "1.5.0";
    example "SELECT length('Spark SQL ')" => "10";
}
function! {
    /// `len(expr)`
    LEN = "len" in String, EXPR => strict(DataType::Integer, characters);
    usage "The number of characters of a string, or of bytes of a binary.";
    since "3.4.0";
    example "SELECT len('Spark SQL ')" => "10";
}
function! {
    /// `char_length(expr)`
    CHAR_LENGTH = "char_length" in String, EXPR => strict(DataType::Integer, characters);
    usage "The number of characters of a string, or of bytes of a binary.";
    since "2.3.0";
    example "SELECT char_length('Spark SQL ')" => "10";
}
function! {
    /// `character_length(expr)`
    CHARACTER_LENGTH = "character_length" in String, EXPR => strict(DataType::Integer, characters);
    usage "The number of characters of a string, or of bytes of a binary.";
    since "2.3.0";
    example "SELECT character_length('Spark SQL ')" => "10";
}
function! {
    /// `octet_length(expr)`
    OCTET_LENGTH = "octet_length" in String, EXPR => strict(DataType::Integer, |args| bytes(args, 1));
    usage "The number of bytes of a string or a binary.";
    since "2.3.0";
    example "SELECT octet_length('Spark SQL')" => "9";
}
function! {
    /// `bit_length(expr)`
    BIT_LENGTH = "bit_length" in String, EXPR => strict(DataType::Integer, |args| bytes(args, 8));
    usage "The number of bits of a string or a binary.";
    since "2.3.0";
    example "SELECT bit_length('Spark SQL')" => "72";
}

/// The number of characters of valid text.
fn count_characters(text: &str) -> usize {
    // Bytes that do not continue a character.
    text.as_bytes().iter().filter(|byte| (**byte as i8) >= -0x40).count()
}

fn characters(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let Some(strings) = array.as_any().downcast_ref::<StringArray>() else {
        return bytes(args, 1);
    };
    if strings.is_ascii() {
        return bytes(args, 1);
    }
    let lengths: Vec<i32> = (0..strings.len()).map(|row| count_characters(strings.value(row)) as i32).collect();
    let result = Int32Array::try_new(lengths.into(), strings.nulls().cloned()).map_err(internal)?;
    finish(args, Arc::new(result))
}

fn bytes(args: &KernelArgs<'_>, factor: i32) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let offsets = if let Some(strings) = array.as_any().downcast_ref::<StringArray>() {
        strings.offsets().clone()
    } else {
        downcast::<BinaryArray>(&array)?.offsets().clone()
    };
    let lengths: Vec<i32> = offsets.windows(2).map(|pair| (pair[1] - pair[0]).wrapping_mul(factor)).collect();
    let result: ArrayRef = Arc::new(
        Int32Array::try_new(lengths.into(), array.nulls().cloned()).map_err(|e| SparkError::internal(e.to_string()))?,
    );
    finish(args, result)
}
