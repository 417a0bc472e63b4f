//! The number of elements.

use crate::coercion::mismatch;
use crate::kernel::kernel;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{array_or_constant, downcast, primitives};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Nullability, Returns, Signature, TypedExpr};
use arrow::array::{Array, ListArray, MapArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, Int32Type};
use datafusion::logical_expr::ColumnarValue;
use firesteel_config::SqlConf;
use firesteel_error::Result;
use firesteel_types::DataType;
use std::sync::Arc;

function! {
    /// `size(array or map)`
    SIZE = "size" in Collection, Signature::of(&[param("expr", ArgType::Any)])
        => Body::Build(|context, arguments| size("size", context, arguments));
    usage "The number of elements of an array, or of entries of a map.";
    since "1.5.0";
    example "SELECT size(array('b', 'd', 'c', 'a'))" => "4";
    example "SELECT size(map('a', 1, 'b', 2))" => "2";
}
function! {
    /// `cardinality(array or map)`
    CARDINALITY = "cardinality" in Collection, Signature::of(&[param("expr", ArgType::Any)])
        => Body::Build(|context, arguments| size("cardinality", context, arguments));
    usage "The number of elements of an array, or of entries of a map.";
    since "2.4.0";
    example "SELECT cardinality(array('b', 'd', 'c', 'a'))" => "4";
}
function! {
    /// `array_size(array)`
    ARRAY_SIZE = "array_size" in Array, Signature::of(&[param("array", ArgType::Array)]) => Body::Scalar {
        returns: Returns::Type(DataType::Integer),
        nullable: Nullability::IfAnyArgument,
        kernel: count,
    };
    usage "The number of elements of an array.";
    since "3.3.0";
    example "SELECT array_size(array('b', 'd', 'c', 'a'))" => "4";
}

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[&kernel("size", count), &kernel("cardinality", count)];

/// Whether the size of NULL is -1.
fn null_has_size(conf: &SqlConf) -> bool {
    !conf.ansi_enabled && conf.size_of_null
}

fn size(name: &str, context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let function = if name == "size" { &SIZE } else { &CARDINALITY };
    let wanted = ArgType::OneOf(&[ArgType::Array, ArgType::Map]);
    let call = function.call_text(&arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>());
    let arguments =
        arguments
            .into_iter()
            .map(|a| {
                if a.data_type.is_null() {
                    crate::coercion::coerce_argument(a, wanted, 0, &call, context)
                } else {
                    Ok(a)
                }
            })
            .collect::<Result<Vec<_>>>()?;
    for argument in &arguments {
        if !matches!(argument.data_type, DataType::Array { .. } | DataType::Map { .. }) {
            return Err(mismatch::unexpected_input(&call, 0, wanted, argument));
        }
    }
    let legacy = null_has_size(context.conf);
    let nullable = !legacy && arguments.iter().any(|a| a.nullable);
    let payload = legacy.then(|| Arc::from("null is -1"));
    let made =
        crate::kernel::call_with_payload(function, count, &arguments, &DataType::Integer, nullable, context, payload)?;
    Ok(TypedExpr::new(made, DataType::Integer, nullable, ""))
}

fn count(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, is_constant) = array_or_constant(args, 0)?;
    let null_size = args.settings.payload.as_ref().map(|_| -1);
    let (offsets, nulls): (OffsetBuffer<i32>, Option<NullBuffer>) = match array.data_type() {
        ArrowType::Map(..) => {
            let map = downcast::<MapArray>(&array)?;
            (map.offsets().clone(), map.nulls().cloned())
        }
        _ => {
            let list = downcast::<ListArray>(&array)?;
            (list.offsets().clone(), list.nulls().cloned())
        }
    };
    primitives::<Int32Type>(args, |row| {
        let row = if is_constant { 0 } else { row };
        if nulls.as_ref().is_some_and(|n| n.is_null(row)) {
            return Ok(null_size);
        }
        Ok(Some(offsets[row + 1] - offsets[row]))
    })
}
