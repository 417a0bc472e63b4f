//! Single bits of numbers.

use crate::coercion::coerce_argument;
use crate::coercion::mismatch::unexpected_input;
use crate::scalar::string::declare::{function, param, strict};
use crate::scalar::string::rows::{Integers, Rows, array_or_constant, downcast, finish, internal, primitives};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, BooleanArray, Int32Array, Int64Array};
use arrow::datatypes::{DataType as ArrowType, Int8Type};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

const GET_ARGUMENTS: Signature = Signature::of(&[param("expr", ArgType::Integral), param("pos", ArgType::Integer)]);

function! {
    /// `bit_count(expr)`
    BIT_COUNT = "bit_count" in Bitwise,
        Signature::of(&[param("expr", ArgType::Any)]) => Body::Build(build_count);
    usage "The number of bits that are set in the number as one of 64 bits.";
    since "3.0.0";
    example "SELECT bit_count(0)" => "0";
}
function! {
    /// `bit_get(expr, pos)`
    BIT_GET = "bit_get" in Bitwise, GET_ARGUMENTS => strict(DataType::Byte, |args| bit_get(args, "bit_get"));
    usage "The bit at a position, counted from 0 at the right.";
    since "3.2.0";
    example "SELECT bit_get(11, 0)" => "1";
    example "SELECT bit_get(11, 2)" => "0";
}
function! {
    /// `getbit(expr, pos)`
    GETBIT = "getbit" in Bitwise, GET_ARGUMENTS => strict(DataType::Byte, |args| bit_get(args, "getbit"));
    usage "The bit at a position, counted from 0 at the right.";
    since "3.2.0";
    example "SELECT getbit(11, 0)" => "1";
    example "SELECT getbit(11, 2)" => "0";
}

fn longs(args: &KernelArgs<'_>) -> Result<(Int64Array, bool)> {
    let (array, is_constant) = array_or_constant(args, 0)?;
    let array: ArrayRef = match array.data_type() {
        ArrowType::Boolean => {
            let bits = downcast::<BooleanArray>(&array)?;
            Arc::new(bits.iter().map(|bit| bit.map(i64::from)).collect::<Int64Array>())
        }
        ArrowType::Int64 => array,
        _ => arrow::compute::cast(&array, &ArrowType::Int64).map_err(internal)?,
    };
    Ok((downcast::<Int64Array>(&array)?.clone(), is_constant))
}

fn build_count(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    const ACCEPTED: ArgType = ArgType::OneOf(&[ArgType::Integral, ArgType::Boolean]);
    let Some(argument) = arguments.into_iter().next() else { return Err(SparkError::internal("no arguments")) };
    let text = format!("bit_count({})", argument.name);
    // Strings are not read as numbers here.
    if !(argument.data_type.is_integral() || matches!(argument.data_type, DataType::Boolean | DataType::Null)) {
        return Err(unexpected_input(&text, 0, ACCEPTED, &argument));
    }
    let argument = coerce_argument(argument, ACCEPTED, 0, &text, context)?;
    let nullable = argument.nullable;
    let expr = crate::kernel::call(&BIT_COUNT, bit_count, &[argument], &DataType::Integer, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::Integer, nullable, text))
}

fn bit_count(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (numbers, _) = longs(args)?;
    let counts: Int32Array = numbers.unary(|n| n.count_ones() as i32);
    finish(args, Arc::new(counts))
}

fn bit_get(args: &KernelArgs<'_>, function: &str) -> Result<ColumnarValue> {
    let (numbers, is_constant) = longs(args)?;
    let positions: Integers = Rows::of(args, 1)?;
    let width = match args.types.first() {
        Some(DataType::Byte) => 8,
        Some(DataType::Short) => 16,
        Some(DataType::Integer) => 32,
        _ => 64,
    };
    primitives::<Int8Type>(args, |row| {
        let at = if is_constant { 0 } else { row };
        let Some(position) = positions.get(row).filter(|_| numbers.is_valid(at)) else { return Ok(None) };
        if !(0..width).contains(&position) {
            return Err(SparkError::new("INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE")
                .with("functionName", format!("`{function}`"))
                .with("parameter", "`pos`")
                .with("upper", width.to_string())
                .with("invalidValue", position.to_string()));
        }
        Ok(Some(((numbers.value(at) >> position) & 1) as i8))
    })
}
