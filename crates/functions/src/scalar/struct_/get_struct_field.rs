//! `struct.field`.

use crate::kernel::kernel;
use crate::scalar::array::element::column_of;
use crate::scalar::array::list::canonical;
use crate::scalar::string::constant;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{array_or_constant, downcast, finish};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::StructArray;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

function! {
    /// `struct.field`, the field by its position
    GET_STRUCT_FIELD = "get_struct_field" in Internal,
        Signature::of(&[param("struct", ArgType::Any), param("position", ArgType::Integer)]) => Body::Build(build);
    usage "A field of a struct; NULL where the struct is.";
    since "1.0.0";
}

/// The kernel, by which a call that has travelled finds it again.
pub static KERNELS: &[&Function] = &[&kernel("get_struct_field", run)];

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [child, position] = arguments.as_slice() else {
        return Err(SparkError::internal("a field is read of a struct, by position"));
    };
    let DataType::Struct(schema) = &child.data_type else {
        return Err(SparkError::internal("a field is read of a struct"));
    };
    let index = position.literal().and_then(constant::integer_of).and_then(|i| usize::try_from(i).ok());
    let Some((index, field)) = index.and_then(|i| schema.fields.get(i).map(|field| (i, field))) else {
        return Err(SparkError::internal("a struct without the field"));
    };
    let data_type = field.data_type.clone();
    let nullable = child.nullable || field.nullable;
    let payload = Some(Arc::from(index.to_string().as_str()));
    let arguments = std::slice::from_ref(child);
    let expr =
        crate::kernel::call_with_payload(&GET_STRUCT_FIELD, run, arguments, &data_type, nullable, context, payload)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let position: usize = args.settings.payload.as_deref().and_then(|p| p.parse().ok()).unwrap_or(0);
    let (structs, is_constant) = array_or_constant(args, 0)?;
    let column = column_of(downcast::<StructArray>(&structs)?, position)?;
    let column = canonical(&column, args.return_type)?;
    if is_constant && args.number_rows == 0 {
        return Ok(ColumnarValue::Array(column.slice(0, 0)));
    }
    finish(args, column)
}
