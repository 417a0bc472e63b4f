//! Strings, binaries and arrays put together.

use super::declare::{function, param};
use super::rows::{
    Binaries, Rows, Texts, array_or_constant, binaries, check_bytes, downcast, finish, internal, row_count, texts,
};
use crate::coercion::{implicitly, mismatch, to_common_type};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, ListArray, MutableArrayData, StringArray, make_array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::ColumnarValue;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::fmt::Write;
use std::sync::Arc;

function! {
    /// `concat(col1, col2, …)`
    CONCAT = "concat" in String, Signature::variadic(&[], ArgType::Any)
        => Body::Build(|context, arguments| build(&CONCAT, context, arguments));
    usage "The arguments put together: strings, binaries or arrays; null where one is null.";
    since "1.5.0";
    example "SELECT concat('Spark', 'SQL')" => "SparkSQL";
    example "SELECT concat(array(1, 2, 3), array(4, 5), array(6))" => "[1,2,3,4,5,6]";
}
function! {
    /// `expr1 || expr2`
    CONCAT_OPERATOR = "||" in Operator,
        Signature::of(&[param("expr1", ArgType::Any), param("expr2", ArgType::Any)])
        => Body::Build(|context, arguments| build(&CONCAT_OPERATOR, context, arguments));
    text |a| format!("concat({})", a.join(", "));
    usage "Both sides put together: strings, binaries or arrays.";
    since "2.3.0";
    example "SELECT 'Spark' || 'SQL'" => "SparkSQL";
}
function! {
    /// `concat_ws(sep[, str | array(str)]…)`
    CONCAT_WS = "concat_ws" in String,
        Signature::variadic(&[param("sep", ArgType::String)], ArgType::Any)
        => Body::Build(build_with_separator);
    usage "The strings, and those in arrays of strings, with `sep` between them; nulls are left out.";
    since "1.5.0";
    example "SELECT concat_ws(' ', 'Spark', 'SQL')" => "Spark SQL";
    example "SELECT concat_ws('/', 'foo', null, 'bar')" => "foo/bar";
}

fn build(function: &'static Function, context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = function.call_text(&names);
    if arguments.is_empty() {
        let empty = ScalarValue::Utf8(Some(String::new()));
        return Ok(TypedExpr::new(datafusion::logical_expr::lit(empty), DataType::STRING, false, text));
    }
    let is_array = |a: &TypedExpr| matches!(a.data_type, DataType::Array { .. });
    let arguments = if arguments.iter().any(is_array) {
        // Maps and structs beside arrays are refused by themselves.
        let other = arguments.iter().position(|a| a.data_type.is_nested() && !is_array(a));
        if let Some(index) = other {
            return Err(unexpected_nested(&text, index, &arguments[index]));
        }
        if !arguments.iter().all(is_array) {
            // Spark reads nulls as strings here.
            let types: Vec<DataType> = arguments
                .iter()
                .map(|a| if a.data_type.is_null() { DataType::STRING } else { a.data_type.clone() })
                .collect();
            return Err(mismatch::different_types(&text, function.name, &types));
        }
        to_common_type(arguments, function.name, &text, context)?
    } else if !context.conf.concat_binary_as_string && arguments.iter().all(|a| a.data_type == DataType::Binary) {
        arguments
    } else {
        let collated = arguments
            .iter()
            .map(|a| &a.data_type)
            .find(|t| matches!(t, DataType::String(collation) if !collation.is_binary()))
            .cloned()
            .unwrap_or(DataType::STRING);
        let mut strings = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.into_iter().enumerate() {
            if argument.data_type.is_nested() {
                return Err(unexpected_nested(&text, index, &argument));
            }
            strings.push(implicitly(argument, &collated, context)?);
        }
        strings
    };
    let nullable = arguments.iter().any(|a| a.nullable);
    let data_type = match arguments.first() {
        Some(first) => first.data_type.clone(),
        None => DataType::STRING,
    };
    let kernel = match data_type {
        DataType::Binary => concat_binaries,
        DataType::Array { .. } => concat_arrays,
        _ => concat_texts,
    };
    let expr = crate::kernel::call(function, kernel, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, text))
}

fn unexpected_nested(call: &str, index: usize, argument: &TypedExpr) -> SparkError {
    const WANTED: ArgType = ArgType::OneOf(&[ArgType::String, ArgType::Binary, ArgType::Array]);
    mismatch::unexpected_input(call, index, WANTED, argument)
}

fn concat_texts(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let columns = (0..args.values.len()).map(|i| Rows::of(args, i)).collect::<Result<Vec<Texts>>>()?;
    texts(args, |row, out| {
        if columns.iter().any(|column| column.get(row).is_none()) {
            return Ok(None);
        }
        let bytes: usize = columns.iter().filter_map(|column| column.get(row)).map(str::len).sum();
        check_bytes(out.values_slice().len() + bytes)?;
        for text in columns.iter().filter_map(|column| column.get(row)) {
            let _ = out.write_str(text);
        }
        Ok(Some(()))
    })
}

fn concat_binaries(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let columns = (0..args.values.len()).map(|i| Rows::of(args, i)).collect::<Result<Vec<Binaries>>>()?;
    binaries(args, |row| {
        let parts: Option<Vec<&[u8]>> = columns.iter().map(|column| column.get(row)).collect();
        let Some(parts) = parts else { return Ok(None) };
        check_bytes(parts.iter().map(|part| part.len()).sum())?;
        Ok(Some(parts.concat()))
    })
}

fn concat_arrays(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let count = row_count(args);
    let mut lists: Vec<(ListArray, bool)> = Vec::with_capacity(args.values.len());
    for index in 0..args.values.len() {
        let (array, is_constant) = array_or_constant(args, index)?;
        lists.push((downcast::<ListArray>(&array)?.clone(), is_constant));
    }
    let ArrowType::List(field) = firesteel_types::arrow_mapping::to_arrow(args.return_type) else {
        return Err(SparkError::internal("arrays make an array"));
    };
    let data: Vec<_> = lists.iter().map(|(list, _)| list.values().to_data()).collect();
    let mut values = MutableArrayData::new(data.iter().collect(), false, 0);
    let mut lengths = Vec::with_capacity(count);
    let mut valid = Vec::with_capacity(count);
    for row in 0..count {
        let at = |is_constant: bool| if is_constant { 0 } else { row };
        if lists.iter().any(|(list, is_constant)| list.is_null(at(*is_constant))) {
            lengths.push(0);
            valid.push(false);
            continue;
        }
        let mut length = 0;
        for (index, (list, is_constant)) in lists.iter().enumerate() {
            let offsets = list.value_offsets();
            let row = at(*is_constant);
            let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
            values.try_extend(index, start, end).map_err(internal)?;
            length += end - start;
        }
        lengths.push(length);
        valid.push(true);
    }
    let values = make_array(values.freeze());
    let list = ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), values, Some(NullBuffer::from(valid)))
        .map_err(internal)?;
    finish(args, Arc::new(list))
}

fn build_with_separator(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = CONCAT_WS.call_text(&names);
    let mut strings = Vec::with_capacity(arguments.len());
    for (index, argument) in arguments.into_iter().enumerate() {
        if matches!(argument.data_type, DataType::Map { .. } | DataType::Struct(_)) {
            const WANTED: ArgType = ArgType::OneOf(&[ArgType::ArrayOf(&ArgType::String), ArgType::String]);
            return Err(mismatch::unexpected_input(&text, index, WANTED, &argument));
        }
        let target = match &argument.data_type {
            DataType::Array { contains_null, .. } => DataType::array(DataType::STRING, *contains_null),
            _ => DataType::STRING,
        };
        strings.push(implicitly(argument, &target, context)?);
    }
    let nullable = strings.first().is_some_and(|separator| separator.nullable);
    let expr = crate::kernel::call(&CONCAT_WS, concat_with_separator, &strings, &DataType::STRING, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::STRING, nullable, text))
}

/// One argument of `concat_ws`.
enum Part {
    Text(Texts),
    Texts { lists: ListArray, values: StringArray, is_constant: bool },
}

fn concat_with_separator(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let separators: Texts = Rows::of(args, 0)?;
    let mut parts = Vec::with_capacity(args.values.len());
    for index in 1..args.values.len() {
        let (array, is_constant) = array_or_constant(args, index)?;
        parts.push(match array.data_type() {
            ArrowType::List(_) => {
                let lists = downcast::<ListArray>(&array)?.clone();
                let values: ArrayRef = arrow::compute::cast(lists.values(), &ArrowType::Utf8).map_err(internal)?;
                Part::Texts { values: downcast::<StringArray>(&values)?.clone(), lists, is_constant }
            }
            _ => Part::Text(Rows::of(args, index)?),
        });
    }
    texts(args, |row, out| {
        let Some(separator) = separators.get(row) else { return Ok(None) };
        let mut is_first = true;
        let mut write = |text: &str| {
            if !is_first {
                let _ = out.write_str(separator);
            }
            is_first = false;
            let _ = out.write_str(text);
        };
        for part in &parts {
            match part {
                Part::Text(texts) => texts.get(row).into_iter().for_each(&mut write),
                Part::Texts { lists, values, is_constant } => {
                    let row = if *is_constant { 0 } else { row };
                    if lists.is_valid(row) {
                        let offsets = lists.value_offsets();
                        (offsets[row] as usize..offsets[row + 1] as usize)
                            .filter(|at| values.is_valid(*at))
                            .for_each(|at| write(values.value(at)));
                    }
                }
            }
        }
        Ok(Some(()))
    })
}
