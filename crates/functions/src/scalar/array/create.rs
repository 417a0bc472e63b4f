//! `array(…)`.

use super::list::{Column, Picker, empty};
use crate::coercion;
use crate::scalar::string::declare::function;
use crate::scalar::string::rows::{finish, row_count};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use firesteel_types::DataType;

function! {
    /// `array(expr, …)`
    ARRAY = "array" in Array, Signature::variadic(&[], ArgType::Any) => Body::Build(build);
    usage "An array of the values, which are brought to one type.";
    since "1.1.0";
    example "SELECT array(1, 2, 3)" => "[1,2,3]";
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let call = format!("array({})", names.join(", "));
    if arguments.is_empty() {
        return empty(DataType::array(DataType::Null, false));
    }
    let arguments = common_type(arguments, "array", &call, context)?;
    let element = arguments.first().map_or(DataType::Null, |a| a.data_type.clone());
    let contains_null = arguments.iter().any(|a| a.nullable);
    let data_type = DataType::array(element, contains_null);
    let expr = crate::kernel::call(&ARRAY, run, &arguments, &data_type, false, context)?;
    Ok(TypedExpr::new(expr, data_type, false, call))
}

/// Brings values to one type, or fails with `DATATYPE_MISMATCH.DATA_DIFF_TYPES`.
pub fn common_type(
    arguments: Vec<TypedExpr>,
    function: &str,
    call: &str,
    context: &mut BuildContext<'_>,
) -> Result<Vec<TypedExpr>> {
    coercion::to_common_type(arguments, function, call, context)
}

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let columns = (0..args.values.len()).map(|i| Column::of(args, i)).collect::<Result<Vec<_>>>()?;
    let mut out = Picker::new(args, columns.iter().map(|c| c.array.clone()).collect())?;
    for row in 0..row_count(args) {
        for (source, column) in columns.iter().enumerate() {
            out.push(source, column.at(row));
        }
        out.end()?;
    }
    finish(args, out.finish()?)
}
