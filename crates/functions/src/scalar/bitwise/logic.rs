//! `&`, `|`, `^` and `~`.

use crate::coercion::{implicitly, mismatch};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{array_or_constant, downcast, finish, internal};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, KernelFn, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, PrimitiveArray};
use arrow::datatypes::{ArrowPrimitiveType, DataType as ArrowType, Int8Type, Int16Type, Int32Type, Int64Type};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use std::ops::{BitAnd, BitOr, BitXor, Not};
use std::sync::Arc;

const PAIR: Signature = Signature::of(&[param("expr1", ArgType::Any), param("expr2", ArgType::Any)]);

fn infix(sign: &str, a: &[String]) -> String {
    format!("({})", a.join(&format!(" {sign} ")))
}

function! {
    /// `expr1 & expr2`
    AND = "&" in Bitwise, PAIR => Body::Build(|context, arguments| build(&AND, "&", and, context, arguments));
    text |a| infix("&", a);
    usage "The bits that both numbers have.";
    since "1.4.0";
    example "SELECT 3 & 5" => "1";
}
function! {
    /// `expr1 | expr2`
    OR = "|" in Bitwise, PAIR => Body::Build(|context, arguments| build(&OR, "|", or, context, arguments));
    text |a| infix("|", a);
    usage "The bits that one of the numbers has.";
    since "1.4.0";
    example "SELECT 3 | 5" => "7";
}
function! {
    /// `expr1 ^ expr2`
    XOR = "^" in Bitwise, PAIR => Body::Build(|context, arguments| build(&XOR, "^", xor, context, arguments));
    text |a| infix("^", a);
    usage "The bits that just one of the numbers has.";
    since "1.4.0";
    example "SELECT 3 ^ 5" => "6";
}
function! {
    /// `~ expr`
    NOT = "~" in Bitwise, Signature::of(&[param("expr", ArgType::Any)])
        => Body::Build(build_not);
    text |a| format!("~{}", a.join(", "));
    usage "The bits that the number does not have.";
    since "1.4.0";
    example "SELECT ~ 0" => "-1";
}

fn build(
    function: &'static Function,
    sign: &str,
    kernel: KernelFn,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = infix(sign, &names);
    let types = match arguments.as_slice() {
        [left, right] => (left.data_type.clone(), right.data_type.clone()),
        _ => return Err(SparkError::internal("a bitwise operator takes two arguments")),
    };
    // Two nulls are whole numbers.
    let arguments = if types.0.is_null() && types.1.is_null() {
        let to_integer =
            |a, context: &mut BuildContext<'_>| implicitly(a, &firesteel_types::DataType::Integer, context);
        arguments.into_iter().map(|a| to_integer(a, context)).collect::<Result<Vec<_>>>()?
    } else {
        crate::coercion::to_common_type(arguments, function.name, &text, context)
            .map_err(|_| mismatch::binary_different(&text, &types.0, &types.1))?
    };
    let Some(first) = arguments.first() else { return Err(SparkError::internal("no arguments")) };
    let data_type = first.data_type.clone();
    if !data_type.is_integral() {
        // A string beside another type has become that type, in ANSI mode.
        let promoted = context.conf.ansi_enabled && types.0.is_string() != types.1.is_string();
        let same = types.0 == types.1 || (promoted && !data_type.is_string());
        return Err(if same {
            mismatch::binary_wrong(&text, "\"INTEGRAL\"", &data_type)
        } else {
            mismatch::binary_different(&text, &types.0, &types.1)
        });
    }
    let nullable = arguments.iter().any(|a| a.nullable);
    let expr = crate::kernel::call(function, kernel, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, text))
}

fn build_not(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let Some(argument) = arguments.into_iter().next() else { return Err(SparkError::internal("no arguments")) };
    let text = format!("~{}", argument.name);
    let argument = if argument.data_type.is_null() {
        implicitly(argument, &firesteel_types::DataType::Integer, context)?
    } else {
        argument
    };
    if !argument.data_type.is_integral() {
        return Err(mismatch::unexpected_input(&text, 0, ArgType::Integral, &argument));
    }
    let (data_type, nullable) = (argument.data_type.clone(), argument.nullable);
    let expr = crate::kernel::call(&NOT, not, &[argument], &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, text))
}

fn combine<T: ArrowPrimitiveType>(
    (left, left_constant): (&ArrayRef, bool),
    (right, right_constant): (&ArrayRef, bool),
    function: impl Fn(T::Native, T::Native) -> T::Native,
) -> Result<ArrayRef> {
    let (left, right) = (downcast::<PrimitiveArray<T>>(left)?, downcast::<PrimitiveArray<T>>(right)?);
    let null = |array: &PrimitiveArray<T>, is_constant: bool| is_constant && array.is_null(0);
    let result: PrimitiveArray<T> = if null(left, left_constant) && !right_constant {
        PrimitiveArray::new_null(right.len())
    } else if null(right, right_constant) && !left_constant {
        PrimitiveArray::new_null(left.len())
    } else if left_constant && !right_constant {
        let constant = left.value(0);
        right.unary(|x| function(constant, x))
    } else if right_constant && !left_constant {
        let constant = right.value(0);
        left.unary(|x| function(x, constant))
    } else {
        arrow::compute::binary(left, right, function).map_err(internal)?
    };
    Ok(Arc::new(result))
}

fn pairwise(
    args: &KernelArgs<'_>,
    bytes: fn(i8, i8) -> i8,
    shorts: fn(i16, i16) -> i16,
    integers: fn(i32, i32) -> i32,
    longs: fn(i64, i64) -> i64,
) -> Result<ColumnarValue> {
    let (left, left_constant) = array_or_constant(args, 0)?;
    let (right, right_constant) = array_or_constant(args, 1)?;
    let (l, r) = ((&left, left_constant), (&right, right_constant));
    let result = match left.data_type() {
        ArrowType::Int8 => combine::<Int8Type>(l, r, bytes)?,
        ArrowType::Int16 => combine::<Int16Type>(l, r, shorts)?,
        ArrowType::Int32 => combine::<Int32Type>(l, r, integers)?,
        ArrowType::Int64 => combine::<Int64Type>(l, r, longs)?,
        other => return Err(SparkError::internal(format!("bits of {other}"))),
    };
    finish(args, result)
}

fn and(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    pairwise(args, i8::bitand, i16::bitand, i32::bitand, i64::bitand)
}

fn or(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    pairwise(args, i8::bitor, i16::bitor, i32::bitor, i64::bitor)
}

fn xor(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    pairwise(args, i8::bitxor, i16::bitxor, i32::bitxor, i64::bitxor)
}

fn not(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    fn apply<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<ArrayRef>
    where
        T::Native: Not<Output = T::Native>,
    {
        let result: PrimitiveArray<T> = downcast::<PrimitiveArray<T>>(array)?.unary(|x| !x);
        Ok(Arc::new(result))
    }
    let result = match array.data_type() {
        ArrowType::Int8 => apply::<Int8Type>(&array)?,
        ArrowType::Int16 => apply::<Int16Type>(&array)?,
        ArrowType::Int32 => apply::<Int32Type>(&array)?,
        ArrowType::Int64 => apply::<Int64Type>(&array)?,
        other => return Err(SparkError::internal(format!("bits of {other}"))),
    };
    finish(args, result)
}
