//! Numbers as bits of bitmaps of 32,768 bits.

use crate::coercion::mismatch::unexpected_input;
use crate::scalar::string::declare::{function, param, strict};
use crate::scalar::string::rows::{Binaries, Rows, array_or_constant, downcast, finish, primitives};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use arrow::array::Int64Array;
use arrow::datatypes::Int64Type;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

/// Bits of one bitmap.
const BITS: i64 = 32_768;
const NUMBER: Signature = Signature::of(&[param("child", ArgType::Long)]);

function! {
    /// `bitmap_bit_position(child)`
    BITMAP_BIT_POSITION = "bitmap_bit_position" in Misc, NUMBER
        => strict(DataType::Long, |args| each(args, |n| if n > 0 { (n - 1) % BITS } else { n.wrapping_neg() % BITS }));
    usage "The bit of a number in its bitmap.";
    since "3.5.0";
    example "SELECT bitmap_bit_position(123)" => "122";
}
function! {
    /// `bitmap_bucket_number(child)`
    BITMAP_BUCKET_NUMBER = "bitmap_bucket_number" in Misc, NUMBER
        => strict(DataType::Long, |args| each(args, |n| if n > 0 { 1 + (n - 1) / BITS } else { n / BITS }));
    usage "The bitmap that a number is in.";
    since "3.5.0";
    example "SELECT bitmap_bucket_number(123)" => "1";
}
function! {
    /// `bitmap_count(child)`
    BITMAP_COUNT = "bitmap_count" in Misc, Signature::of(&[param("child", ArgType::Any)]) => Body::Build(build_count);
    usage "The number of bits that are set in a bitmap.";
    since "3.5.0";
    example "SELECT bitmap_count(X'1010')" => "2";
}

fn each(args: &KernelArgs<'_>, function: impl Fn(i64) -> i64) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let result: Int64Array = downcast::<Int64Array>(&array)?.unary(function);
    finish(args, Arc::new(result))
}

fn build_count(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let Some(argument) = arguments.first() else { return Err(SparkError::internal("no arguments")) };
    if argument.data_type != DataType::Binary {
        return Err(unexpected_input(&format!("bitmap_count({})", argument.name), 0, ArgType::Binary, argument));
    }
    let nullable = argument.nullable;
    let expr = crate::kernel::call(&BITMAP_COUNT, count, &arguments, &DataType::Long, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::Long, nullable, String::new()))
}

fn count(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Binaries = Rows::of(args, 0)?;
    primitives::<Int64Type>(args, |row| {
        Ok(values.get(row).map(|bytes| bytes.iter().map(|byte| i64::from(byte.count_ones())).sum()))
    })
}
