//! Arrays made of arrays, of one value, or turned into text.

use super::list::{Column, Lists, MOST_ELEMENTS, Picker, conform, element_of, empty, list_of};
use super::typing::{call_text, require_array, unexpected};
use crate::coercion::{self, mismatch};
use crate::kernel::kernel;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Integers, Rows, Texts, downcast, finish, internal, row_count, texts};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{Array, ListArray, StringArray, StructArray, UInt64Array};
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::{ColumnarValue, Expr};
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructField, arrow_mapping};
use std::fmt::Write;
use std::sync::Arc;

function! {
    /// `flatten(array of arrays)`
    FLATTEN = "flatten" in Array, Signature::of(&[param("arrayOfArrays", ArgType::Any)]) => Body::Build(build_flatten);
    usage "The elements of an array's arrays in one array; NULL if one of them is NULL.";
    since "2.4.0";
    example "SELECT flatten(array(array(1, 2), array(3, 4)))" => "[1,2,3,4]";
}
function! {
    /// `arrays_zip(array, …)`
    ARRAYS_ZIP = "arrays_zip" in Array, Signature::variadic(&[], ArgType::Any) => Body::Build(build_zip);
    usage "An array of structs: the first has the first elements of all arrays, and so on; missing elements are NULL.";
    since "2.4.0";
    example "SELECT arrays_zip(array(1, 2, 3), array(2, 3, 4))" => "[{\"0\":1,\"1\":2},{\"0\":2,\"1\":3},{\"0\":3,\"1\":4}]";
}
function! {
    /// `array_repeat(value, count)`
    ARRAY_REPEAT = "array_repeat" in Array, Signature::of(&[param("element", ArgType::Any), param("count", ArgType::Any)])
        => Body::Build(build_repeat);
    usage "An array of a value so many times.";
    since "2.4.0";
    example "SELECT array_repeat('123', 2)" => "[\"123\",\"123\"]";
}
function! {
    /// `array_join(array, delimiter[, replacement of NULL])`
    ARRAY_JOIN = "array_join" in Array,
        Signature::with_optional(&[
            param("array", ArgType::ArrayOf(&ArgType::String)), param("delimiter", ArgType::Any), param("nullReplacement", ArgType::Any),
        ], 1)
        => Body::Build(build_join);
    usage "The texts of an array with a delimiter between them; NULLs are left out, or replaced.";
    since "2.4.0";
    example "SELECT array_join(array('hello', 'world'), ' ')" => "hello world";
    example "SELECT array_join(array('hello', null, 'world'), ' ', ',')" => "hello , world";
}

/// The kernel, by which a call that has travelled finds it again.
pub static KERNELS: &[&Function] = &[&kernel("arrays_zip", zip)];

fn build_flatten(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let inner = match arguments.first().map(|a| &a.data_type) {
        Some(DataType::Array { element, contains_null }) if matches!(element.as_ref(), DataType::Array { .. }) => {
            Some((element.as_ref().clone(), *contains_null))
        }
        _ => None,
    };
    let Some((data_type, has_null_arrays)) = inner else {
        let call = call_text("flatten", &arguments);
        let first = arguments.first().ok_or_else(|| SparkError::internal("flatten takes an array"))?;
        return Err(unexpected(&call, 0, "\"ARRAY\" of \"ARRAY\"", first));
    };
    let nullable = arguments[0].nullable || has_null_arrays;
    let expr = crate::kernel::call(&FLATTEN, flatten, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn flatten(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let outer = Lists::of(args, 0)?;
    let middle = downcast::<ListArray>(outer.values())?;
    let inner = Lists::new(middle.clone());
    let mut out = Picker::new(args, vec![middle.values().clone()])?;
    for row in 0..row_count(args) {
        match outer.span(row) {
            Some(span) if span.clone().all(|at| middle.is_valid(at)) => {
                for at in span {
                    out.extend(0, inner.span(at).unwrap_or(0..0));
                }
                out.end()?;
            }
            _ => out.end_null()?,
        }
    }
    finish(args, out.finish()?)
}

/// The field that an array gives its elements in `arrays_zip`: by the name of its column, else by position.
fn field_name(argument: &TypedExpr, index: usize) -> String {
    match &argument.expr {
        Expr::Column(_) => argument.name.clone(),
        Expr::ScalarFunction(f) if matches!(f.func.name(), "get_struct_field" | "get_array_struct_fields") => {
            argument.name.rsplit('.').next().unwrap_or(&argument.name).to_string()
        }
        _ => index.to_string(),
    }
}

fn build_zip(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let arguments = arguments
        .into_iter()
        .map(|a| {
            if a.data_type.is_null() {
                coercion::implicitly(a, &DataType::array(DataType::Null, true), context)
            } else {
                Ok(a)
            }
        })
        .collect::<Result<Vec<_>>>()?;
    if arguments.is_empty() {
        return empty(DataType::array(DataType::struct_of(Vec::new()), false));
    }
    for index in 0..arguments.len() {
        require_array(&arguments, index, "arrays_zip")?;
    }
    let fields = arguments
        .iter()
        .enumerate()
        .map(|(i, a)| StructField::new(field_name(a, i), element_of(&a.data_type).0, true))
        .collect();
    let data_type = DataType::array(DataType::struct_of(fields), false);
    let nullable = arguments.iter().any(|a| a.nullable);
    let expr = crate::kernel::call(&ARRAYS_ZIP, zip, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn zip(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let lists = (0..args.values.len()).map(|i| Lists::of(args, i)).collect::<Result<Vec<_>>>()?;
    let ArrowType::List(field) = arrow_mapping::to_arrow(args.return_type) else {
        return Err(SparkError::internal("arrays_zip makes an array"));
    };
    let ArrowType::Struct(fields) = field.data_type().clone() else {
        return Err(SparkError::internal("arrays_zip makes an array of structs"));
    };
    let rows = row_count(args);
    let mut picks: Vec<Vec<Option<u64>>> = vec![Vec::new(); lists.len()];
    let (mut offsets, mut valid, mut count) = (vec![0_i32], Vec::with_capacity(rows), 0_usize);
    for row in 0..rows {
        let spans: Option<Vec<_>> = lists.iter().map(|l| l.span(row)).collect();
        valid.push(spans.is_some());
        if let Some(spans) = spans {
            let longest = spans.iter().map(std::ops::Range::len).max().unwrap_or(0);
            for (picks, span) in picks.iter_mut().zip(&spans) {
                picks.extend((0..longest).map(|i| (i < span.len()).then_some((span.start + i) as u64)));
            }
            count += longest;
        }
        offsets.push(i32::try_from(count).map_err(internal)?);
    }
    let structs = if fields.is_empty() {
        StructArray::new_empty_fields(count, None)
    } else {
        let columns = lists
            .iter()
            .zip(picks)
            .zip(&fields)
            .map(|((list, picks), field)| {
                let taken = arrow::compute::take(list.values(), &UInt64Array::from(picks), None).map_err(internal)?;
                conform(&taken, field.data_type())
            })
            .collect::<Result<Vec<_>>>()?;
        StructArray::try_new(fields, columns, None).map_err(internal)?
    };
    finish(args, list_of(field, offsets, Arc::new(structs), &valid)?)
}

fn build_repeat(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [value, count] = arguments.as_slice() else {
        return Err(SparkError::internal("array_repeat takes a value and a count"));
    };
    if !matches!(count.data_type, DataType::Integer | DataType::Null) {
        return Err(mismatch::unexpected_input(&call_text("array_repeat", &arguments), 1, ArgType::Integer, count));
    }
    let data_type = DataType::array(value.data_type.clone(), value.nullable);
    let nullable = count.nullable;
    arguments[1] = coercion::implicitly(arguments[1].clone(), &DataType::Integer, context)?;
    let expr = crate::kernel::call(&ARRAY_REPEAT, repeat, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn repeat(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let value = Column::of(args, 0)?;
    let counts: Integers = Rows::of(args, 1)?;
    let mut out = Picker::new(args, vec![value.array.clone()])?;
    for row in 0..row_count(args) {
        let Some(count) = counts.get(row) else {
            out.end_null()?;
            continue;
        };
        if i64::from(count) > MOST_ELEMENTS {
            return Err(SparkError::new("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER")
                .with("numberOfElements", count.to_string())
                .with("maxRoundedArrayLength", MOST_ELEMENTS.to_string())
                .with("parameter", "`count`")
                .with("functionName", "`array_repeat`"));
        }
        out.reserve(usize::try_from(count).unwrap_or(0))?;
        for _ in 0..count {
            out.push(0, value.at(row));
        }
        out.end()?;
    }
    finish(args, out.finish()?)
}

fn build_join(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let call = call_text("array_join", &arguments);
    for (index, argument) in arguments.iter_mut().enumerate().skip(1) {
        if !argument.data_type.is_string() && !argument.data_type.is_null() {
            return Err(mismatch::unexpected_input(&call, index, ArgType::String, argument));
        }
        *argument = coercion::implicitly(argument.clone(), &DataType::STRING, context)?;
    }
    let nullable = arguments.iter().any(|a| a.nullable);
    let expr = crate::kernel::call(&ARRAY_JOIN, join, &arguments, &DataType::STRING, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::STRING, nullable, ""))
}

fn join(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let lists = Lists::of(args, 0)?;
    let values = conform(lists.values(), &ArrowType::Utf8)?;
    let values = downcast::<StringArray>(&values)?;
    let delimiters: Texts = Rows::of(args, 1)?;
    let replacements: Option<Texts> = if args.values.len() > 2 { Some(Rows::of(args, 2)?) } else { None };
    let mut text = String::new();
    texts(args, |row, out| {
        let (Some(span), Some(delimiter)) = (lists.span(row), delimiters.get(row)) else { return Ok(None) };
        let replacement = match &replacements {
            None => None,
            Some(given) => match given.get(row) {
                None => return Ok(None),
                given => given,
            },
        };
        text.clear();
        let mut is_first = true;
        for at in span {
            let part = if values.is_valid(at) { Some(values.value(at)) } else { replacement };
            let Some(part) = part else { continue };
            if !std::mem::take(&mut is_first) {
                text.push_str(delimiter);
            }
            text.push_str(part);
        }
        Ok(out.write_str(&text).ok())
    })
}
