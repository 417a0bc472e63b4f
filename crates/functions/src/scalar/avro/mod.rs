//! Avro: `from_avro`, `to_avro` and `schema_of_avro`.

mod read;
mod schema;
mod write;

use crate::kernel::kernel;
use crate::scalar::json::options::Options;
use crate::scalar::string::constant::{text_of, value_of};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Binaries, Rows, array_or_constant, binaries, finish, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use datafusion::logical_expr::{ColumnarValue, lit};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::{DataType, Literal};
use read::Reader;
use schema::Schema;
use std::sync::Arc;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[&FROM_AVRO, &SCHEMA_OF_AVRO, &TO_AVRO];

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[&kernel("from_avro", from_avro), &kernel("to_avro", to_avro)];

const SCHEMA: &str = "jsonFormatSchema";
const OPTIONS: &str = "options";
/// What the outermost record is called.
const TOP_LEVEL: &str = "topLevelRecord";

function! {
    /// `from_avro(child, jsonFormatSchema[, options])`
    FROM_AVRO = "from_avro" in Misc, Signature::with_optional(
            &[param("child", ArgType::Any), param(SCHEMA, ArgType::Any), param(OPTIONS, ArgType::Any)],
            1,
        )
        => Body::Named(build_from);
    usage "The value of Avro bytes, which were written by a schema in JSON.";
    since "4.0.0";
    example "SELECT from_avro(X'020A416C696365', '{\"type\": \"record\", \"name\": \"r\", \"fields\": [{\"name\": \"id\", \"type\": \"int\"}, {\"name\": \"name\", \"type\": \"string\"}]}')" => "{\"id\":1,\"name\":\"Alice\"}";
}
function! {
    /// `to_avro(child[, jsonFormatSchema])`
    TO_AVRO = "to_avro" in Misc,
        Signature::with_optional(&[param("child", ArgType::Any), param(SCHEMA, ArgType::Any)], 1)
        => Body::Named(build_to);
    usage "A value as Avro bytes, by a schema in JSON or by that of its type.";
    since "4.0.0";
    example "SELECT hex(to_avro(150))" => "AC02";
}
function! {
    /// `schema_of_avro(jsonFormatSchema[, options])`
    SCHEMA_OF_AVRO = "schema_of_avro" in Misc,
        Signature::with_optional(&[param(SCHEMA, ArgType::Any), param(OPTIONS, ArgType::Any)], 1)
        => Body::Named(build_schema);
    usage "The type that values of an Avro schema have, as SQL writes it.";
    since "4.0.0";
    example "SELECT schema_of_avro('{\"type\": \"array\", \"items\": \"int\"}')" => "ARRAY<INT>";
}

/// The text of a call, with what is left out.
fn call_text(function: &Function, arguments: &[TypedExpr]) -> String {
    let mut names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    names.resize(function.signature.params.len(), "NULL".to_string());
    function.call_text(&names)
}

/// A constant text, or the error of an argument that is none.
fn constant_text(call: &str, argument: &TypedExpr, message: &str) -> Result<Option<String>> {
    let wrong = || {
        SparkError::new("DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT")
            .with("sqlExpr", format!("\"{call}\""))
            .with("msg", message)
            .with("hint", "")
    };
    if !argument.data_type.is_string() && !argument.data_type.is_null() {
        return Err(wrong());
    }
    let value = value_of(argument)?.ok_or_else(wrong)?;
    Ok(text_of(&value).map(str::to_string))
}

/// The options of an argument that may be left out, or null.
fn options_of(argument: Option<&TypedExpr>) -> Result<Options> {
    Options::of(argument.filter(|a| !a.data_type.is_null() && !is_empty_map(a)))
}

/// `map()`, whose types are those of nothing.
fn is_empty_map(argument: &TypedExpr) -> bool {
    matches!(&argument.data_type, DataType::Map { key, .. } if key.is_null())
}

fn build_from(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let call = call_text(&FROM_AVRO, &arguments);
    let [child, schema, rest @ ..] = arguments.as_slice() else {
        return Err(SparkError::internal("from_avro takes a value and a schema"));
    };
    let message = "The second argument of the FROM_AVRO SQL function must be a constant text: a schema in JSON";
    let written = constant_text(&call, schema, message)?.unwrap_or_default();
    let mut options = options_of(rest.first())?;
    let wanted = Schema::parse(options.get("avroSchema").unwrap_or(&written))?;
    Schema::parse(&written)?;
    let (mut data_type, _) = wanted.data_type()?;
    match options.get("mode").unwrap_or("FAILFAST").to_ascii_uppercase().as_str() {
        "FAILFAST" => {}
        // What is malformed is null wherever it stands.
        "PERMISSIVE" => data_type = data_type.as_nullable(),
        other => {
            let message = format!("from_avro knows the modes PERMISSIVE and FAILFAST, not {other}");
            return Err(SparkError::plain(ExceptionClass::Analysis, message));
        }
    }
    options.set("schema", written);
    let child = crate::coercion::coerce_argument(child.clone(), ArgType::Binary, 0, &call, context)?;
    let payload = Some(Arc::from(options.to_payload()));
    let expr = crate::kernel::call_with_payload(&FROM_AVRO, from_avro, &[child], &data_type, true, context, payload)?;
    Ok(TypedExpr::new(expr, data_type, true, call))
}

/// The schemas by which a call's values were written and are read.
struct Schemas {
    written: Schema,
    wanted: Schema,
    is_permissive: bool,
}

impl Schemas {
    fn of(payload: Option<&str>) -> Result<Self> {
        let options = Options::from_payload(payload);
        let written = options.get("schema").unwrap_or_default();
        Ok(Self {
            written: Schema::parse(written)?,
            wanted: Schema::parse(options.get("avroSchema").unwrap_or(written))?,
            is_permissive: options.get("mode").is_some_and(|mode| mode.eq_ignore_ascii_case("PERMISSIVE")),
        })
    }
}

fn from_avro(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let schemas = args.prepared(|| Schemas::of(args.settings.payload.as_deref()))?;
    let values: Binaries = Rows::of(args, 0)?;
    let null = || Literal::Null(args.return_type.clone());
    let mut rows = Vec::with_capacity(row_count(args));
    for row in 0..row_count(args) {
        rows.push(match values.get(row) {
            None => null(),
            Some(bytes) => match Reader::new(bytes).value(&schemas.written, &schemas.wanted, args.return_type) {
                Some(value) => value,
                None if schemas.is_permissive => null(),
                None => {
                    return Err(SparkError::new("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION")
                        .with("badRecord", format!("X'{}'", hex::encode_upper(bytes)))
                        .with("failFastMode", "FAILFAST"));
                }
            },
        });
    }
    finish(args, Literal::array_of(&rows.iter().collect::<Vec<_>>(), args.return_type)?)
}

fn build_to(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let call = call_text(&TO_AVRO, &arguments);
    let [child, rest @ ..] = arguments.as_slice() else {
        return Err(SparkError::internal("to_avro takes a value"));
    };
    let given = match rest.first() {
        None => None,
        Some(schema) => {
            let message = "The second argument of the TO_AVRO SQL function must be a constant text: a schema in JSON";
            constant_text(&call, schema, message)?
        }
    };
    if !child.data_type.is_null() {
        match &given {
            Some(schema) => write::check(&child.data_type, &Schema::parse(schema)?, TOP_LEVEL)?,
            None => drop(schema_of_type(&child.data_type, child.nullable)?),
        }
    }
    // Whether there are nulls is part of the schema of a type.
    let payload = match given {
        Some(schema) => format!("schema {schema}"),
        None => format!("type {}", child.nullable),
    };
    let nullable = child.nullable;
    let arguments = std::slice::from_ref(child);
    let payload = Some(Arc::from(payload));
    let expr =
        crate::kernel::call_with_payload(&TO_AVRO, to_avro, arguments, &DataType::Binary, nullable, context, payload)?;
    Ok(TypedExpr::new(expr, DataType::Binary, nullable, call))
}

fn schema_of_type(data_type: &DataType, nullable: bool) -> Result<Schema> {
    Schema::of(data_type, nullable, TOP_LEVEL, "").ok_or_else(|| {
        SparkError::plain(ExceptionClass::Analysis, format!("Avro has no type for values of {}", data_type.sql()))
    })
}

fn to_avro(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let data_type = args.types.first().cloned().unwrap_or(DataType::Null);
    let schema = args.prepared(|| match args.settings.payload.as_deref().and_then(|p| p.split_once(' ')) {
        Some(("schema", text)) => Schema::parse(text),
        Some((_, nullable)) => schema_of_type(&data_type, nullable == "true"),
        None => Err(SparkError::internal("to_avro without a schema")),
    })?;
    let (array, is_constant) = array_or_constant(args, 0)?;
    binaries(args, |row| {
        let value = Literal::from_array(array.as_ref(), if is_constant { 0 } else { row }, &data_type)?;
        if value.is_null() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        write::write(&value, schema, TOP_LEVEL, &mut bytes)?;
        Ok(Some(bytes))
    })
}

fn build_schema(_: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let call = call_text(&SCHEMA_OF_AVRO, &arguments);
    let [schema, rest @ ..] = arguments.as_slice() else {
        return Err(SparkError::internal("schema_of_avro takes a schema"));
    };
    options_of(rest.first())?;
    let message = "The first argument of the SCHEMA_OF_AVRO SQL function must be a constant text: a schema in JSON";
    let text = constant_text(&call, schema, message)?.unwrap_or_default();
    let (data_type, _) = Schema::parse(&text)?.data_type()?;
    Ok(TypedExpr::new(lit(data_type.sql()), DataType::STRING, false, call))
}

#[cfg(test)]
mod tests {
    use super::read::Reader;
    use super::schema::Schema;
    use super::write::write;
    use firesteel_types::{Literal, ddl};

    #[test]
    fn records_are_written_as_spark_writes_them() {
        let data_type = ddl::parse_schema("age BIGINT, name STRING").unwrap();
        let firesteel_types::DataType::Struct(fields) = data_type.clone() else { panic!() };
        let value = Literal::Struct(vec![Literal::Long(2), Literal::String("Alice".into())], fields);
        let schema = Schema::of(&data_type, true, "topLevelRecord", "").unwrap();
        let mut bytes = Vec::new();
        write(&value, &schema, "topLevelRecord", &mut bytes).unwrap();
        assert_eq!(bytes, b"\x00\x00\x04\x00\nAlice");
        assert_eq!(Reader::new(&bytes).value(&schema, &schema, &data_type), Some(value));
        assert_eq!(Reader::new(&bytes[..6]).value(&schema, &schema, &data_type), None);
    }

    #[test]
    fn fields_are_found_by_name_and_missing_ones_have_defaults() {
        let written = r#"{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "string"}]}"#;
        let wanted = r#"{"type": "record", "name": "r", "fields": [{"name": "c", "type": "double", "default": 1.5},
            {"name": "a", "type": ["null", "long"]}]}"#;
        let (written, wanted) = (Schema::parse(written).unwrap(), Schema::parse(wanted).unwrap());
        let (data_type, _) = wanted.data_type().unwrap();
        let Some(Literal::Struct(values, _)) = Reader::new(b"\x0e\x02x").value(&written, &wanted, &data_type) else {
            panic!()
        };
        assert_eq!(values, [Literal::Double(1.5), Literal::Long(7)]);
    }

    #[test]
    fn endless_arrays_of_nothing_are_refused() {
        let schema = Schema::parse(r#"{"type": "array", "items": "null"}"#).unwrap();
        let (data_type, _) = schema.data_type().unwrap();
        let bytes = b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f\x00";
        assert_eq!(Reader::new(bytes).value(&schema, &schema, &data_type), None);
    }
}
