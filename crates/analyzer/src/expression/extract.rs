//! Fields of structs, elements of arrays, values of maps.

use crate::analyzer::Analyzer;
use crate::attribute::quote;
use datafusion::logical_expr::Expr as DfExpr;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::Origin;
use firesteel_types::{DataType, StructField, StructType};

/// `child.name`
pub(crate) fn extract_field(a: &Analyzer<'_>, child: TypedExpr, name: &str) -> Result<TypedExpr> {
    match child.data_type.clone() {
        DataType::Struct(schema) => {
            let index = field_index(a, &schema, name)?;
            let field = &schema.fields[index];
            let text = format!("{}.{}", child.name, field.name);
            Ok(get_field(a, child, index)?.named(text))
        }
        DataType::Array { element, contains_null } if matches!(element.as_ref(), DataType::Struct(_)) => {
            let DataType::Struct(schema) = element.as_ref() else {
                return Err(SparkError::internal("an array of structs without structs"));
            };
            let index = field_index(a, schema, name)?;
            let field = &schema.fields[index];
            let text = format!("{}.{}", child.name, field.name);
            let key = super::literal(&firesteel_types::Literal::String(field.name.clone()))?;
            let _ = contains_null;
            let mut context = a.build_context(&Origin::Unknown);
            Ok(context.call("get_array_struct_fields", vec![child, key])?.named(text))
        }
        DataType::Array { .. } => Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
            .with("sqlExpr", format!("\"{}[{name}]\"", child.name))
            .with("paramIndex", "second")
            .with("requiredType", "\"INTEGRAL\"")
            .with("inputSql", format!("\"{name}\""))
            .with("inputType", "\"STRING\"")),
        DataType::Map { .. } => {
            let key = super::literal(&firesteel_types::Literal::String(name.to_string()))?;
            let text = format!("{}[{}]", child.name, name);
            let mut context = a.build_context(&Origin::Unknown);
            Ok(context.call("get_map_value", vec![child, key])?.named(text))
        }
        other => Err(SparkError::new("INVALID_EXTRACT_BASE_FIELD_TYPE")
            .with("base", format!("\"{}\"", child.name))
            .with("other", format!("\"{}\"", other.sql()))),
    }
}

fn field_index(a: &Analyzer<'_>, schema: &StructType, name: &str) -> Result<usize> {
    let same = |f: &StructField| {
        if a.case_sensitive() { f.name == name } else { f.name.eq_ignore_ascii_case(name) }
    };
    let mut found = schema.fields.iter().enumerate().filter(|(_, f)| same(f)).map(|(i, _)| i);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (Some(_), Some(_)) => {
            let count = schema.fields.iter().filter(|f| same(f)).count();
            Err(SparkError::new("AMBIGUOUS_REFERENCE_TO_FIELDS")
                .with("field", quote(name))
                .with("count", count.to_string()))
        }
        _ => Err(SparkError::new("FIELD_NOT_FOUND")
            .with("fieldName", quote(name))
            .with("fields", schema.fields.iter().map(|f| quote(&f.name)).collect::<Vec<_>>().join(", "))),
    }
}

/// Reads a field that is known to be there; it is null where the struct is.
pub(crate) fn get_field(a: &Analyzer<'_>, child: TypedExpr, index: usize) -> Result<TypedExpr> {
    let position = i32::try_from(index).map_err(|_| SparkError::internal("a struct of too many fields"))?;
    let position = super::literal(&firesteel_types::Literal::Integer(position))?;
    a.build_context(&Origin::Unknown).call("get_struct_field", vec![child, position])
}

/// `child[extraction]`
pub(crate) fn extract_value(
    a: &Analyzer<'_>,
    child: TypedExpr,
    extraction: TypedExpr,
    origin: &Origin,
) -> Result<TypedExpr> {
    let text = format!("{}[{}]", child.name, extraction.name);
    match &child.data_type {
        DataType::Struct(_) => {
            match extraction.literal() {
                Some(ScalarValue::Utf8(Some(name)) | ScalarValue::Utf8View(Some(name))) => {
                    let name = name.clone();
                    extract_field(a, child, &name)
                }
                _ => Err(SparkError::new("INVALID_EXTRACT_FIELD_TYPE")
                    .with("extraction", format!("\"{}\"", extraction.name))),
            }
        }
        DataType::Array { element, .. }
            if matches!(element.as_ref(), DataType::Struct(_)) && extraction.data_type.is_string() =>
        {
            match extraction.literal() {
                Some(ScalarValue::Utf8(Some(name))) => {
                    let name = name.clone();
                    extract_field(a, child, &name)
                }
                _ => Err(SparkError::new("INVALID_EXTRACT_FIELD_TYPE")
                    .with("extraction", format!("\"{}\"", extraction.name))),
            }
        }
        DataType::Array { .. } => {
            let mut context = a.build_context(origin);
            Ok(context.call("get_array_item", vec![child, extraction])?.named(text))
        }
        DataType::Map { .. } => {
            let mut context = a.build_context(origin);
            Ok(context.call("get_map_value", vec![child, extraction])?.named(text))
        }
        other => Err(SparkError::new("INVALID_EXTRACT_BASE_FIELD_TYPE")
            .with("base", format!("\"{}\"", child.name))
            .with("other", format!("\"{}\"", other.sql()))),
    }
}

/// `Column.withField`, `Column.dropFields`.
pub(crate) fn update_field(
    a: &Analyzer<'_>,
    child: TypedExpr,
    path: &str,
    value: Option<TypedExpr>,
    origin: &Origin,
) -> Result<TypedExpr> {
    let parts = firesteel_sql::parse_attribute_name(path)?;
    update_path(a, child, &parts, value, origin)
}

fn update_path(
    a: &Analyzer<'_>,
    child: TypedExpr,
    path: &[String],
    value: Option<TypedExpr>,
    origin: &Origin,
) -> Result<TypedExpr> {
    let DataType::Struct(schema) = child.data_type.clone() else {
        return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
            .with("sqlExpr", format!("\"update_fields({})\"", child.name))
            .with("paramIndex", "first")
            .with("inputSql", format!("\"{}\"", child.name))
            .with("inputType", format!("\"{}\"", child.data_type.sql()))
            .with("requiredType", "\"STRUCT\""));
    };
    let Some((first, rest)) = path.split_first() else { return Ok(child) };
    let same = |name: &str| if a.case_sensitive() { name == first } else { name.eq_ignore_ascii_case(first) };
    let action = match &value {
        Some(v) => format!("WithField({})", v.name),
        None => "dropfield()".to_string(),
    };
    let text = format!("update_fields({}, {action})", child.name);
    let mut arguments = Vec::new();
    let mut is_found = false;
    for (index, field) in schema.fields.iter().enumerate() {
        let here = same(&field.name);
        is_found |= here;
        let old = get_field(a, child.clone(), index)?.named(&field.name);
        let new = if !here {
            Some(old)
        } else if !rest.is_empty() {
            Some(update_path(a, old, rest, value.clone(), origin)?)
        } else {
            value.clone()
        };
        if let Some(new) = new {
            arguments.push(super::literal(&firesteel_types::Literal::String(field.name.clone()))?);
            arguments.push(new);
        }
    }
    if !is_found {
        match value {
            Some(value) if rest.is_empty() => {
                arguments.push(super::literal(&firesteel_types::Literal::String(first.clone()))?);
                arguments.push(value);
            }
            Some(_) => {
                return Err(SparkError::new("FIELD_NOT_FOUND")
                    .with("fieldName", quote(first))
                    .with("fields", schema.fields.iter().map(|f| quote(&f.name)).collect::<Vec<_>>().join(", ")));
            }
            None => return Ok(child),
        }
    }
    if arguments.is_empty() {
        return Err(SparkError::new("DATATYPE_MISMATCH.CANNOT_DROP_ALL_FIELDS").with("sqlExpr", format!("\"{text}\"")));
    }
    let is_nullable = child.nullable;
    let mut context = a.build_context(origin);
    let built = context.call("named_struct", arguments)?;
    if !is_nullable {
        return Ok(built.named(text));
    }
    // A null struct stays null.
    let condition = context.call("isnull", vec![child])?;
    let null = TypedExpr::new(
        DfExpr::Literal(
            ScalarValue::try_from(&firesteel_types::arrow_mapping::to_arrow(&built.data_type))
                .map_err(crate::resolved::engine_error)?,
            None,
        ),
        built.data_type.clone(),
        true,
        "NULL",
    );
    Ok(context.call("if", vec![condition, null, built])?.named(text))
}
