//! `stack(n, value, …)`.

use crate::coercion::mismatch;
use crate::function::Generator;
use crate::scalar::string::constant;
use crate::scalar::string::declare::{function, param};
use crate::{ArgType, Body, BuildContext, Signature, TypedExpr};
use datafusion::logical_expr::lit;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructField};

function! {
    /// `stack(n, value, …)`
    STACK = "stack" in Generator, Signature::variadic(&[param("n", ArgType::Any), param("expr", ArgType::Any)], ArgType::Any)
        => Body::Generator(build);
    usage "The values, row by row, in `n` rows.";
    since "2.0.0";
    example "SELECT stack(2, 1, 2, 3)" => "1\t2\n3\tNULL";
}

fn build(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<Generator> {
    let call = STACK.call_text(&arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>());
    let values = arguments.split_off(1.min(arguments.len()));
    let count = arguments.pop().ok_or_else(|| SparkError::internal("stack takes a number"))?;
    if count.data_type != DataType::Integer {
        return Err(mismatch::unexpected_input(&call, 0, ArgType::Integer, &count));
    }
    let Some(number) = constant::value_of(&count)? else {
        return Err(mismatch::not_foldable(&call, "n", ArgType::Integer, &count));
    };
    let Some(number) = constant::integer_of(&number) else {
        return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_NULL")
            .with("sqlExpr", mismatch::quoted(&call))
            .with("exprName", "`n`"));
    };
    let Some(rows) = usize::try_from(number).ok().filter(|n| *n > 0) else {
        return Err(SparkError::new("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
            .with("sqlExpr", mismatch::quoted(&call))
            .with("exprName", "`n`")
            .with("valueRange", "(0, 2147483647]")
            .with("currentValue", number.to_string()));
    };
    let width = values.len().div_ceil(rows);
    let mut columns = Vec::with_capacity(width);
    for column in 0..width {
        let mut known: Option<(usize, &DataType)> = None;
        for (index, value) in values.iter().enumerate().skip(column).step_by(width) {
            match known {
                _ if value.data_type.is_null() => {}
                None => known = Some((index, &value.data_type)),
                Some((first, data_type)) if !data_type.same_type(&value.data_type) => {
                    return Err(SparkError::new("DATATYPE_MISMATCH.STACK_COLUMN_DIFF_TYPES")
                        .with("sqlExpr", mismatch::quoted(&call))
                        .with("columnIndex", column.to_string())
                        .with("leftParamIndex", (first + 1).to_string())
                        .with("leftType", mismatch::quoted_type(data_type))
                        .with("rightParamIndex", (index + 1).to_string())
                        .with("rightType", mismatch::quoted_type(&value.data_type)));
                }
                Some(_) => {}
            }
        }
        let data_type = known.map_or(DataType::Null, |(_, t)| t.clone());
        columns.push(StructField::new(format!("col{column}"), data_type, true));
    }
    let mut structs = Vec::with_capacity(rows);
    for row in 0..rows {
        let mut fields = Vec::with_capacity(2 * width);
        for (column, field) in columns.iter().enumerate() {
            let value = match values.get(row * width + column) {
                Some(value) => value.clone(),
                None => TypedExpr::new(lit(ScalarValue::Null), DataType::Null, true, "NULL"),
            };
            let name = TypedExpr::new(lit(field.name.clone()), DataType::STRING, false, field.name.clone());
            fields.push(name);
            let value = crate::coercion::implicitly(value, &field.data_type, context)?;
            fields.push(TypedExpr { nullable: true, ..value });
        }
        structs.push(context.call("named_struct", fields)?);
    }
    Ok(Generator { rows: context.call("array", structs)?, columns, is_outer: false })
}
