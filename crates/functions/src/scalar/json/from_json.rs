//! `from_json`.

use super::checks;
use super::convert::{Converter, Outcome};
use super::formats::{Formats, drop_unused, note_policy};
use super::options::Options;
use super::reader::{Json, read};
use crate::kernel::kernel;
use crate::scalar::datetime::pattern::Use;
use crate::scalar::string::constant::{text_of, value_of};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Rows, Texts, downcast, finish, internal, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{ArrayRef, StringArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructType, TimeZone, arrow_mapping, ddl};
use std::sync::Arc;

function! {
    /// `from_json(jsonStr, schema[, options])`
    FROM_JSON = "from_json" in Json, Signature::with_optional(
            &[param("jsonStr", ArgType::TEXT), param("schema", ArgType::Any), param("options", ArgType::Any)],
            1,
        )
        => Body::Named(build);
    usage "The value of a JSON text, by a schema.";
    since "2.2.0";
    example "SELECT from_json('{\"a\":1, \"b\":0.8}', 'a INT, b DOUBLE')" => "{\"a\":1,\"b\":0.8}";
}

/// The kernel, by which a call that has travelled finds it again.
pub static KERNELS: &[&Function] = &[&kernel("from_json", from_json)];

/// The schema that a constant argument names.
pub fn schema_of(argument: &TypedExpr) -> Result<DataType> {
    let not_text =
        || SparkError::new("INVALID_SCHEMA.NON_STRING_LITERAL").with("inputSchema", format!("\"{}\"", argument.name));
    if !argument.data_type.is_string() {
        return Err(not_text());
    }
    let value = value_of(argument)?.ok_or_else(not_text)?;
    let text = text_of(&value).ok_or_else(not_text)?;
    ddl::parse_schema(text)
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [text, schema, rest @ ..] = arguments.as_slice() else {
        return Err(SparkError::internal("from_json takes two arguments"));
    };
    let data_type = schema_of(schema)?.as_nullable();
    let call = format!("from_json({})", text.name);
    let text = &crate::coercion::coerce_argument(text.clone(), ArgType::TEXT, 0, &call, context)?;
    if !matches!(data_type, DataType::Struct(_) | DataType::Array { .. } | DataType::Map { .. } | DataType::Variant) {
        return Err(SparkError::new("DATATYPE_MISMATCH.INVALID_JSON_SCHEMA")
            .with("schema", format!("\"{}\"", data_type.sql()))
            .with("sqlExpr", format!("\"{call}\"")));
    }
    if data_type.exists(&|t| matches!(t, DataType::Map { key, .. } if !key.is_string())) {
        return Err(SparkError::new("DATATYPE_MISMATCH.INVALID_JSON_MAP_KEY_TYPE")
            .with("schema", format!("\"{}\"", data_type.sql()))
            .with("sqlExpr", format!("\"{call}\"")));
    }
    if data_type.exists(&|t| matches!(t, DataType::Geometry(_) | DataType::Geography(_))) {
        return Err(SparkError::unsupported("from_json with spatial types in the schema"));
    }
    let mut options = Options::of(rest.first())?;
    checks::json(&options)?;
    note_policy(&mut options, context.conf);
    drop_unused(&mut options, &data_type);
    if let DataType::Struct(fields) = &data_type {
        checks::corrupt_record(fields, &options)?;
    }
    check_mode(&options, "from_json")?;
    if let Some(column) = options.get("singleVariantColumn") {
        check_single_variant(&data_type, column)?;
    }
    if options.get("columnNameOfCorruptRecord").is_none() {
        options.set("columnNameOfCorruptRecord", "_corrupt_record");
    }
    let payload = Some(Arc::from(options.to_payload()));
    Formats::compile(options, Use::Parsing)?;
    let expr = crate::kernel::call_with_payload(
        &FROM_JSON,
        from_json,
        std::slice::from_ref(text),
        &data_type,
        true,
        context,
        payload,
    )?;
    // A column of maps is called after their entries.
    let name = if matches!(data_type, DataType::Map { .. }) { "entries".to_string() } else { call };
    Ok(TypedExpr::new(expr, data_type, true, name))
}

/// With the option `singleVariantColumn`, the schema is that one column.
fn check_single_variant(data_type: &DataType, column: &str) -> Result<()> {
    match data_type {
        DataType::Struct(fields) => match fields.fields.as_slice() {
            [only] if only.name == column && only.data_type == DataType::Variant => Ok(()),
            _ => {
                Err(SparkError::new("INVALID_SINGLE_VARIANT_COLUMN").with("schema", format!("\"{}\"", data_type.sql())))
            }
        },
        _ => Err(SparkError::new("INVALID_SINGLE_VARIANT_COLUMN").with("schema", format!("\"{}\"", data_type.sql()))),
    }
}

/// Fails for modes that functions do not have.
pub fn check_mode(options: &Options, function: &str) -> Result<()> {
    match options.get("mode").map(str::to_ascii_uppercase).as_deref() {
        Some("DROPMALFORMED") => Err(SparkError::new("PARSE_MODE_UNSUPPORTED")
            .with("funcName", format!("`{function}`"))
            .with("mode", "DROPMALFORMED")),
        _ => Ok(()),
    }
}

/// Fails where the options want that for a bad record.
pub fn check_outcome(options: &Options, outcome: Outcome, fields: usize) -> Result<()> {
    if outcome != Outcome::Fine && options.get("mode").is_some_and(|mode| mode.eq_ignore_ascii_case("FAILFAST")) {
        return Err(SparkError::new("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION")
            .with("badRecord", format!("[{}]", vec!["null"; fields].join(",")))
            .with("failFastMode", "FAILFAST"));
    }
    Ok(())
}

/// What is read of a row's text.
pub enum Record<'a> {
    /// A null, or a text without a value.
    Missing,
    Malformed,
    Value(Json<'a>),
}

fn from_json(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let formats = args.prepared(|| Formats::of(args.settings.payload.as_deref(), Use::Parsing))?;
    let options = &formats.options;
    let leniency = options.leniency();
    let count = row_count(args);
    let records: Vec<Record<'_>> = (0..count)
        .map(|row| match values.get(row).map(|text| read(text, leniency)) {
            None | Some(Ok(None)) => Record::Missing,
            Some(Ok(Some(json))) => Record::Value(json),
            Some(Err(_)) => Record::Malformed,
        })
        .collect();
    let zone = match options.get("timeZone") {
        Some(zone) => TimeZone::parse(zone)?,
        None => TimeZone::parse(&args.settings.time_zone)?,
    };
    let converter = Converter { formats, zone };
    let texts: Vec<Option<&str>> = (0..count).map(|row| values.get(row)).collect();
    let array = match args.return_type {
        DataType::Struct(fields) if options.get("singleVariantColumn").is_some() => {
            single_variants(&converter, &records, fields)?
        }
        DataType::Struct(fields) => structs(&converter, &records, &texts, fields)?,
        other => {
            // A single object stands for an array of one.
            let wrapped: Vec<Option<Json<'_>>> = records
                .iter()
                .map(|record| match record {
                    Record::Value(json @ Json::Object(_)) if matches!(other, DataType::Array { element, .. } if matches!(element.as_ref(), DataType::Struct(_))) => {
                        Some(Json::Array(vec![json.clone()]))
                    }
                    Record::Value(json) => Some(json.clone()),
                    Record::Missing => None,
                    // Any value that cannot be converted.
                    Record::Malformed if *other == DataType::Variant => None,
                    Record::Malformed => Some(Json::Boolean(false)),
                })
                .collect();
            let roots: Vec<Option<&Json<'_>>> = wrapped.iter().map(Option::as_ref).collect();
            let (array, outcomes) = converter.column(&roots, other)?;
            for outcome in outcomes {
                check_outcome(options, outcome, 1)?;
            }
            array
        }
    };
    finish(args, array)
}

/// Whole records as the one column of a struct.
fn single_variants(converter: &Converter<'_>, records: &[Record<'_>], fields: &StructType) -> Result<ArrayRef> {
    let roots: Vec<Option<&Json<'_>>> = records
        .iter()
        .map(|record| match record {
            Record::Value(json) => Some(json),
            Record::Missing | Record::Malformed => None,
        })
        .collect();
    let (column, outcomes) = converter.column(&roots, &DataType::Variant)?;
    for (record, outcome) in records.iter().zip(outcomes) {
        let outcome = if matches!(record, Record::Malformed) { Outcome::Failed } else { outcome };
        check_outcome(&converter.formats.options, outcome, 1)?;
    }
    let ArrowType::Struct(arrow_fields) = arrow_mapping::to_arrow(&DataType::Struct(Arc::new(fields.clone()))) else {
        return Err(SparkError::internal("a struct is a struct"));
    };
    let valid: Vec<bool> = records.iter().map(|record| !matches!(record, Record::Missing)).collect();
    let array = StructArray::try_new(arrow_fields, vec![column], Some(NullBuffer::from(valid))).map_err(internal)?;
    Ok(Arc::new(array))
}

/// Records as structs, with the text of bad ones where a field wants it.
pub fn structs(
    converter: &Converter<'_>,
    records: &[Record<'_>],
    texts: &[Option<&str>],
    fields: &StructType,
) -> Result<ArrayRef> {
    let corrupt = converter.formats.options.get("columnNameOfCorruptRecord").unwrap_or_default();
    let corrupt_at = fields.fields.iter().position(|f| f.name == corrupt && f.data_type.is_string());
    let mut wanted = fields.clone();
    if let Some(at) = corrupt_at {
        wanted.fields.remove(at);
    }
    let roots: Vec<Option<&Json<'_>>> = records
        .iter()
        .map(|record| match record {
            Record::Value(json @ Json::Object(_)) => Some(json),
            _ => None,
        })
        .collect();
    let (array, mut outcomes) = converter.structs(&roots, &wanted)?;
    for (record, outcome) in records.iter().zip(&mut outcomes) {
        match record {
            Record::Malformed => *outcome = Outcome::Failed,
            Record::Value(Json::Object(_) | Json::Null) | Record::Missing => {}
            Record::Value(_) => *outcome = Outcome::Failed,
        }
        check_outcome(&converter.formats.options, *outcome, wanted.fields.len())?;
    }
    let array = downcast::<StructArray>(&array)?;
    let mut columns: Vec<ArrayRef> = array.columns().to_vec();
    if let Some(at) = corrupt_at {
        let bad: StringArray = outcomes
            .iter()
            .zip(texts)
            .map(|(outcome, text)| if *outcome == Outcome::Fine { None } else { *text })
            .collect();
        columns.insert(at, Arc::new(bad));
    }
    // A bad record is a row of nulls, no null.
    let valid: Vec<bool> = records.iter().map(|record| !matches!(record, Record::Missing)).collect();
    let ArrowType::Struct(arrow_fields) = arrow_mapping::to_arrow(&DataType::Struct(Arc::new(fields.clone()))) else {
        return Err(SparkError::internal("a struct is a struct"));
    };
    let nulls = Some(NullBuffer::from(valid));
    if arrow_fields.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(records.len(), nulls)));
    }
    Ok(Arc::new(StructArray::try_new(arrow_fields, columns, nulls).map_err(internal)?))
}
