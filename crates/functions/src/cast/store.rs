//! Casts of values that are written to a table's columns.

use super::array::downcast;
use super::kernel::cast_kernel;
use super::{Mode, can_cast, cast};
use crate::cast::legality::{can_ansi_store_assign, can_up_cast};
use crate::coercion::mismatch::quoted_type;
use crate::function::{Body, Documentation, Function, Group, Nullability, Returns};
use crate::{ArgType, BuildContext, KernelArgs, Param, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, ListArray, MapArray, StringArray, StringBuilder, StructArray};
use datafusion::logical_expr::ColumnarValue;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

pub use firesteel_config::StoreAssignmentPolicy as StorePolicy;

/// Casts a value to a column's type by the store assignment policy; what the policy forbids is
/// `INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST`, with the names as messages show them.
///
/// Values of `CHAR` columns are padded, and values too long for `CHAR` and `VARCHAR` columns fail.
pub fn store_assign(
    value: TypedExpr,
    to: &DataType,
    policy: StorePolicy,
    (table, column): (&str, &str),
    context: &mut BuildContext<'_>,
) -> Result<TypedExpr> {
    let plain = plain_strings(to);
    let from = value.data_type.clone();
    let (legal, mode) = match policy {
        StorePolicy::Ansi => (can_ansi_store_assign(&from.as_nullable(), &plain.as_nullable()), Mode::Ansi),
        StorePolicy::Legacy => (can_cast(&from, &plain, Mode::Legacy), Mode::of_session(context.conf)),
        StorePolicy::Strict => (can_up_cast(&from, &plain), Mode::Ansi),
    };
    if !legal {
        return Err(SparkError::new("INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST")
            .with("tableName", table)
            .with("colName", column)
            .with("srcType", quoted_type(&from))
            .with("targetType", quoted_type(to)));
    }
    let name = value.name.clone();
    let mode = if can_cast(&from, &plain, mode) { mode } else { Mode::Legacy };
    let numbers = |t: &DataType| t.is_integral() || matches!(t, DataType::Decimal(..));
    let value = if policy == StorePolicy::Ansi && plain.exists(&numbers) && !can_up_cast(&from, &plain) {
        checked(value, &plain, column, context)?
    } else {
        cast(value, &plain, mode, context)?
    };
    Ok(fit_length(value, to, context)?.named(name))
}

/// The type with plain strings for those of a declared length.
fn plain_strings(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Char(_) | DataType::Varchar(_) => DataType::STRING,
        DataType::Array { element, contains_null } => DataType::array(plain_strings(element), *contains_null),
        DataType::Map { key, value, value_contains_null } => {
            DataType::map(plain_strings(key), plain_strings(value), *value_contains_null)
        }
        DataType::Struct(fields) => {
            let plain = |f: &firesteel_types::StructField| firesteel_types::StructField {
                data_type: plain_strings(&f.data_type),
                ..f.clone()
            };
            DataType::struct_of(fields.fields.iter().map(plain).collect())
        }
        other => other.clone(),
    }
}

const fn internal(name: &'static str, kernel: crate::KernelFn) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Conversion,
        signature: Signature::of(&[Param { name: "expr", arg_type: ArgType::Any }]),
        body: Body::Scalar { returns: Returns::SameAs(0), nullable: Nullability::Always, kernel },
        deterministic: true,
        text: None,
        documentation: Documentation::EMPTY,
    }
}

/// A cast on insert; the payload is the mode, then the column's name.
pub static CHECKED: Function = internal("cast_on_insert", run_checked);
/// Strings of declared lengths; the payload is the type as JSON.
pub static FIT_LENGTH: Function = internal("fit_length", run_fit_length);
/// Strings padded to the lengths of `CHAR`; the payload is the type as JSON.
pub static PAD_LENGTH: Function = internal("pad_length", run_pad_length);

/// A cast whose overflow speaks of the column.
fn checked(value: TypedExpr, to: &DataType, column: &str, context: &mut BuildContext<'_>) -> Result<TypedExpr> {
    if value.data_type.is_null() {
        return cast(value, to, Mode::Ansi, context);
    }
    let nullable = super::legality::result_is_nullable(&value.data_type, value.nullable, to, Mode::Ansi);
    let payload = Some(Arc::from(format!("ansi {column}")));
    let expr = crate::kernel::call_with_payload(
        &CHECKED,
        run_checked,
        std::slice::from_ref(&value),
        to,
        nullable,
        context,
        payload,
    )?;
    Ok(TypedExpr::new(expr, to.clone(), nullable, value.name))
}

fn run_checked(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    cast_kernel(args).map_err(|error| {
        if !error.is("CAST_OVERFLOW") && !error.is("NUMERIC_VALUE_OUT_OF_RANGE") {
            return error;
        }
        let column = args.settings.payload.as_deref().and_then(|p| p.split_once(' ')).map_or("", |(_, name)| name);
        let from = args.types.first().map(quoted_type).unwrap_or_default();
        SparkError::new("CAST_OVERFLOW_IN_TABLE_INSERT")
            .with("sourceType", from)
            .with("targetType", quoted_type(args.return_type))
            .with("columnName", column)
    })
}

/// Pads and checks strings for a column whose type has declared lengths.
pub fn fit_length(value: TypedExpr, to: &DataType, context: &BuildContext<'_>) -> Result<TypedExpr> {
    if !to.exists(&|t| matches!(t, DataType::Char(_) | DataType::Varchar(_))) {
        return Ok(value);
    }
    lengths(&FIT_LENGTH, run_fit_length, value, to, context)
}

/// Pads the strings of `CHAR` columns; those that are longer stay.
pub fn pad_length(value: TypedExpr, to: &DataType, context: &BuildContext<'_>) -> Result<TypedExpr> {
    lengths(&PAD_LENGTH, run_pad_length, value, to, context)
}

fn lengths(
    function: &Function,
    kernel: crate::KernelFn,
    value: TypedExpr,
    to: &DataType,
    context: &BuildContext<'_>,
) -> Result<TypedExpr> {
    let expr = crate::kernel::call_with_payload(
        function,
        kernel,
        std::slice::from_ref(&value),
        &value.data_type,
        value.nullable,
        context,
        Some(Arc::from(to.json())),
    )?;
    Ok(TypedExpr { expr, ..value })
}

fn run_fit_length(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    run_lengths(args, true)
}

fn run_pad_length(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    run_lengths(args, false)
}

fn run_lengths(args: &KernelArgs<'_>, checks: bool) -> Result<ColumnarValue> {
    let wanted = args.prepared(|| DataType::from_json(args.settings.payload.as_deref().unwrap_or_default()))?;
    match args.values.first() {
        Some(ColumnarValue::Scalar(value)) => {
            let failed = |e: datafusion::common::DataFusionError| SparkError::internal(e.to_string());
            let array = fit(&plain(value.to_array().map_err(failed)?)?, wanted, checks)?;
            Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0).map_err(failed)?))
        }
        _ => Ok(ColumnarValue::Array(fit(&args.array(0)?, wanted, checks)?)),
    }
}

/// Strings as plain ones.
fn plain(array: ArrayRef) -> Result<ArrayRef> {
    use arrow::datatypes::DataType as ArrowType;
    match array.data_type() {
        ArrowType::Utf8View | ArrowType::LargeUtf8 => {
            arrow::compute::cast(&array, &ArrowType::Utf8).map_err(|e| SparkError::internal(e.to_string()))
        }
        _ => Ok(array),
    }
}

fn fit(array: &ArrayRef, wanted: &DataType, checks: bool) -> Result<ArrayRef> {
    let failed = |e: arrow::error::ArrowError| SparkError::internal(e.to_string());
    match wanted {
        DataType::Char(length) | DataType::Varchar(length) => {
            let pads = matches!(wanted, DataType::Char(_));
            let array = plain(Arc::clone(array))?;
            if !pads && !checks {
                return Ok(array);
            }
            let texts = downcast::<StringArray>(&array)?;
            let mut out = StringBuilder::with_capacity(texts.len(), texts.values().len());
            for text in texts {
                match text {
                    Some(text) => out.append_value(fit_text(text, *length as usize, pads, checks)?),
                    None => out.append_null(),
                }
            }
            Ok(Arc::new(out.finish()))
        }
        DataType::Array { element, .. } => {
            let list = downcast::<ListArray>(array)?;
            let (field, offsets, values, nulls) = list.clone().into_parts();
            Ok(Arc::new(ListArray::try_new(field, offsets, fit(&values, element, checks)?, nulls).map_err(failed)?))
        }
        DataType::Map { key, value, .. } => {
            let (field, offsets, entries, nulls, sorted) = downcast::<MapArray>(array)?.clone().into_parts();
            let columns = vec![fit(entries.column(0), key, checks)?, fit(entries.column(1), value, checks)?];
            let entries = StructArray::try_new(entries.fields().clone(), columns, None).map_err(failed)?;
            Ok(Arc::new(MapArray::try_new(field, offsets, entries, nulls, sorted).map_err(failed)?))
        }
        DataType::Struct(fields) if !fields.fields.is_empty() => {
            let rows = downcast::<StructArray>(array)?;
            let columns = rows
                .columns()
                .iter()
                .zip(&fields.fields)
                .map(|(column, field)| fit(column, &field.data_type, checks))
                .collect::<Result<Vec<_>>>()?;
            let made = StructArray::try_new(rows.fields().clone(), columns, rows.nulls().cloned());
            Ok(Arc::new(made.map_err(failed)?))
        }
        _ => Ok(array.clone()),
    }
}

/// A text for a declared length: blanks at the end fill up where `pads`, and give way where it `checks`.
fn fit_text(text: &str, length: usize, pads: bool, checks: bool) -> Result<String> {
    let count = text.chars().count();
    if count <= length {
        let missing = if pads { length - count } else { 0 };
        return Ok(format!("{text}{}", " ".repeat(missing)));
    }
    if !checks {
        return Ok(text.to_string());
    }
    let end = text.char_indices().nth(length).map_or(text.len(), |(at, _)| at);
    let (kept, rest) = text.split_at(end);
    if rest.bytes().all(|b| b == b' ') {
        return Ok(kept.to_string());
    }
    Err(SparkError::new("EXCEED_LIMIT_LENGTH").with("limit", length.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_declared_lengths() {
        assert_eq!(fit_text("ab", 3, true, true).unwrap(), "ab ");
        assert_eq!(fit_text("ab", 3, false, true).unwrap(), "ab");
        assert_eq!(fit_text("abc  ", 3, false, true).unwrap(), "abc");
        assert_eq!(fit_text("abcd", 3, true, false).unwrap(), "abcd");
        assert!(fit_text("abcd", 3, true, true).unwrap_err().is("EXCEED_LIMIT_LENGTH"));
    }
}
