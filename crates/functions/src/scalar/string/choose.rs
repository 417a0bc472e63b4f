//! `elt`: one of several values, by number.

use super::declare::{function, param};
use super::rows::{Integers, Rows, array_or_constant, finish, internal, row_count};
use crate::coercion::implicitly;
use crate::coercion::mismatch::unexpected_input;
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use arrow::array::Array;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

function! {
    /// `elt(n, input1, input2, …)`
    ELT = "elt" in String, Signature::variadic(&[param("n", ArgType::Integer), param("input1", ArgType::Any)], ArgType::Any)
        => Body::Build(build);
    usage "The `n`th input, counted from 1.";
    since "2.0.0";
    example "SELECT elt(1, 'scala', 'java')" => "scala";
    example "SELECT elt(2, 'a', 1)" => "1";
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = ELT.call_text(&names);
    let all_binary =
        !context.conf.elt_output_as_string && arguments.iter().skip(1).all(|a| a.data_type == DataType::Binary);
    let target = if all_binary { DataType::Binary } else { DataType::STRING };
    let mut coerced = Vec::with_capacity(arguments.len());
    for (index, argument) in arguments.into_iter().enumerate() {
        if index > 0 && argument.data_type.is_nested() {
            const WANTED: ArgType = ArgType::OneOf(&[ArgType::String, ArgType::Binary]);
            return Err(unexpected_input(&text, index, WANTED, &argument));
        }
        coerced.push(if index == 0 { argument } else { implicitly(argument, &target, context)? });
    }
    let expr = crate::kernel::call(&ELT, elt, &coerced, &target, true, context)?;
    Ok(TypedExpr::new(expr, target, true, text))
}

fn elt(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let numbers: Integers = Rows::of(args, 0)?;
    let count = row_count(args);
    let mut inputs = Vec::with_capacity(args.values.len());
    for index in 1..args.values.len() {
        inputs.push(array_or_constant(args, index)?);
    }
    let arrow_type = firesteel_types::arrow_mapping::to_arrow(args.return_type);
    // The array after the inputs holds the null.
    let null = arrow::array::new_null_array(&arrow_type, 1);
    let mut picks = Vec::with_capacity(count);
    for row in 0..count {
        picks.push(match numbers.get(row) {
            None => (inputs.len(), 0),
            Some(n) if n >= 1 && n as usize <= inputs.len() => {
                let input = n as usize - 1;
                (input, if inputs[input].1 { 0 } else { row })
            }
            Some(n) if args.settings.ansi => {
                return Err(SparkError::new("INVALID_ARRAY_INDEX")
                    .with("indexValue", n.to_string())
                    .with("arraySize", inputs.len().to_string()));
            }
            Some(_) => (inputs.len(), 0),
        });
    }
    let mut arrays: Vec<&dyn Array> = inputs.iter().map(|(array, _)| array.as_ref()).collect();
    arrays.push(null.as_ref());
    finish(args, arrow::compute::interleave(&arrays, &picks).map_err(internal)?)
}
