//! `named_struct(name, value, …)`.

use crate::coercion::mismatch;
use crate::kernel::kernel;
use crate::scalar::array::list::{canonical, constant as constant_of};
use crate::scalar::map::create::not_in_pairs;
use crate::scalar::string::constant;
use crate::scalar::string::declare::function;
use crate::scalar::string::rows::{finish, internal, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{ArrayRef, StructArray};
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructField, arrow_mapping};
use std::sync::Arc;

function! {
    /// `named_struct(name, value, …)`
    NAMED_STRUCT = "named_struct" in Struct, Signature::variadic(&[], ArgType::Any) => Body::Build(build);
    usage "A struct of fields with the given names and values.";
    since "1.5.0";
    example "SELECT named_struct('a', 1, 'b', 2, 'c', 3)" => "{\"a\":1,\"b\":2,\"c\":3}";
}

/// The kernel, by which a call that has travelled finds it again.
pub static KERNELS: &[&Function] = &[&kernel("named_struct", run)];

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    if !arguments.len().is_multiple_of(2) {
        return Err(not_in_pairs("named_struct", arguments.len()));
    }
    if arguments.is_empty() {
        let row: ArrayRef = Arc::new(StructArray::new_empty_fields(1, None));
        return constant_of(&row, DataType::struct_of(Vec::new()));
    }
    let texts: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let mut wrong = Vec::new();
    let mut fields = Vec::new();
    let mut values = Vec::new();
    for pair in arguments.chunks_exact(2) {
        let [name, value] = pair else { continue };
        let text = if name.data_type.is_string() {
            match name.literal() {
                Some(literal) => literal.try_as_str().flatten().map(str::to_string),
                None => constant::value_of(name)?.as_ref().and_then(constant::text_of).map(str::to_string),
            }
        } else {
            None
        };
        match text {
            Some(text) => fields.push(StructField::new(text, value.data_type.clone(), value.nullable)),
            None => wrong.push(mismatch::quoted(&name.name)),
        }
        values.push(value.clone());
    }
    if !wrong.is_empty() {
        return Err(SparkError::new("DATATYPE_MISMATCH.CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING")
            .with("sqlExpr", mismatch::quoted(&NAMED_STRUCT.call_text(&texts)))
            .with("inputExprs", format!("[{}]", wrong.join(", "))));
    }
    let data_type = DataType::struct_of(fields);
    let expr = crate::kernel::call(&NAMED_STRUCT, run, &values, &data_type, false, context)?;
    Ok(TypedExpr::new(expr, data_type, false, ""))
}

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let rows = row_count(args);
    let ArrowType::Struct(fields) = arrow_mapping::to_arrow(args.return_type) else {
        return Err(SparkError::internal("named_struct makes a struct"));
    };
    let DataType::Struct(schema) = args.return_type else {
        return Err(SparkError::internal("named_struct makes a struct"));
    };
    if fields.is_empty() {
        return finish(args, Arc::new(StructArray::new_empty_fields(rows, None)));
    }
    let mut columns = Vec::with_capacity(fields.len());
    for (index, field) in schema.fields.iter().enumerate() {
        let value = args.values.get(index).ok_or_else(|| SparkError::internal("a field without a value"))?;
        let array = value.to_array(rows).map_err(internal)?;
        columns.push(canonical(&array, &field.data_type)?);
    }
    finish(args, Arc::new(StructArray::try_new(fields, columns, None).map_err(internal)?))
}
