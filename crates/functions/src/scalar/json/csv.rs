//! `from_csv`, `to_csv` and `schema_of_csv`.

use super::checks;
use super::convert::{Converter, Outcome};
use super::csv_line::{CsvField, Dialect, StrayQuote, Written, split, write_field};
use super::formats::{Formats, drop_unused, note_policy, print_day, print_moment};
use super::from_json::{check_mode, check_outcome, schema_of};
use super::options::Options;
use super::to_json::{write_moment, write_moment_in};
use crate::cast::Mode;
use crate::cast::array::{CastOptions, cast_array};
use crate::cast::parse_datetime::{parse_date, parse_timestamp};
use crate::coercion::mismatch::{quoted, unexpected_input};
use crate::kernel::kernel;
use crate::scalar::datetime::pattern::Use;
use crate::scalar::datetime::print::NamedZone;
use crate::scalar::string::constant::{not_foldable, text_of, value_of};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Rows, Texts, array_or_constant, downcast, finish, internal, row_count, texts};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::types::{Date32Type, TimestampMicrosecondType};
use arrow::array::{Array, ArrayRef, AsArray, Date32Array, StringArray, StructArray, TimestampMicrosecondArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::{ColumnarValue, lit};
use firesteel_error::{Result, SparkError};
use firesteel_types::value_text::{TextStyle, ValueFormatter};
use firesteel_types::{DataType, StructField, TimeZone, arrow_mapping};
use std::fmt::Write;
use std::sync::Arc;

function! {
    /// `from_csv(csvStr, schema[, options])`
    FROM_CSV = "from_csv" in Csv, Signature::with_optional(
            &[param("csvStr", ArgType::TEXT), param("schema", ArgType::Any), param("options", ArgType::Any)],
            1,
        )
        => Body::Build(build_from_csv);
    text |a| format!("from_csv({})", a.first().map(String::as_str).unwrap_or_default());
    usage "The fields of a line of CSV, by a schema.";
    since "3.0.0";
    example "SELECT from_csv('1, 0.8', 'a INT, b DOUBLE')" => "{\"a\":1,\"b\":0.8}";
}
function! {
    /// `to_csv(expr[, options])`
    TO_CSV = "to_csv" in Csv,
        Signature::with_optional(&[param("expr", ArgType::Any), param("options", ArgType::Any)], 1)
        => Body::Build(build_to_csv);
    text |a| format!("to_csv({})", a.first().map(String::as_str).unwrap_or_default());
    usage "A struct as a line of CSV.";
    since "3.0.0";
    example "SELECT to_csv(named_struct('a', 1, 'b', 2))" => "1,2";
}
function! {
    /// `schema_of_csv(csv[, options])`
    SCHEMA_OF_CSV = "schema_of_csv" in Csv,
        Signature::with_optional(&[param("csv", ArgType::Any), param("options", ArgType::Any)], 1)
        => Body::Build(build_schema_of_csv);
    text |a| format!("schema_of_csv({})", a.first().map(String::as_str).unwrap_or_default());
    usage "The schema of a constant line of CSV, as SQL writes it.";
    since "3.0.0";
    example "SELECT schema_of_csv('1,abc')" => "STRUCT<_c0: INT, _c1: STRING>";
}

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[&kernel("from_csv", from_csv), &kernel("to_csv", to_csv)];

/// The dialect of options; the defaults differ for reading and writing.
fn dialect(options: &Options, is_writing: bool) -> Dialect {
    let character = |name: &str, default: Option<char>| match options.get(name) {
        Some(text) => text.chars().next().filter(|c| *c != '\0'),
        None => default,
    };
    let quote = character("quote", Some('"'));
    let escape = character("escape", Some('\\'));
    Dialect {
        separator: options.get("sep").or_else(|| options.get("delimiter")).unwrap_or(",").replace("\\t", "\t"),
        quote,
        escape,
        escape_of_escape: character("charToEscapeQuoteEscaping", escape.filter(|_| escape != quote)),
        stray_quote: match options.get("unescapedQuoteHandling").map(str::to_ascii_uppercase).as_deref() {
            Some("STOP_AT_CLOSING_QUOTE") => StrayQuote::StopAtClosingQuote,
            Some("SKIP_VALUE") => StrayQuote::SkipValue,
            _ => StrayQuote::StopAtDelimiter,
        },
        max_columns: options.get("maxColumns").and_then(|text| text.parse().ok()).unwrap_or(20480),
        comment: character("comment", None),
        null_value: options.get("nullValue").unwrap_or_default().to_string(),
        empty_value: options.get("emptyValue").unwrap_or(if is_writing { "\"\"" } else { "" }).to_string(),
        ignores_leading_blanks: options.flag("ignoreLeadingWhiteSpace", is_writing),
        ignores_trailing_blanks: options.flag("ignoreTrailingWhiteSpace", is_writing),
        quotes_all: options.flag("quoteAll", false),
    }
}

fn build_from_csv(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [text, schema, rest @ ..] = arguments.as_slice() else {
        return Err(SparkError::internal("from_csv takes two arguments"));
    };
    let data_type = schema_of(schema)?.as_nullable();
    let call = format!("from_csv({})", text.name);
    let DataType::Struct(fields) = &data_type else {
        return Err(SparkError::new("INVALID_SCHEMA.NON_STRUCT_TYPE")
            .with("inputSchema", format!("\"{}\"", schema.name))
            .with("dataType", format!("\"{}\"", data_type.sql())));
    };
    if let Some(field) = fields.fields.iter().find(|f| f.data_type.is_nested()) {
        return Err(SparkError::new("UNSUPPORTED_DATATYPE")
            .with_class(firesteel_error::ExceptionClass::UnsupportedOperation)
            .with("typeName", format!("\"{}\"", field.data_type.sql())));
    }
    if fields.fields.iter().any(|f| f.data_type == DataType::Variant) {
        return Err(SparkError::unsupported("from_csv with fields of type variant"));
    }
    let mut options = Options::of(rest.first())?;
    checks::csv(&options)?;
    note_policy(&mut options, context.conf);
    drop_unused(&mut options, &data_type);
    check_mode(&options, "from_csv")?;
    checks::corrupt_record(fields, &options)?;
    if options.get("columnNameOfCorruptRecord").is_none() {
        options.set("columnNameOfCorruptRecord", "_corrupt_record");
    }
    let payload = Some(Arc::from(options.to_payload()));
    Formats::compile(options, Use::Parsing)?;
    let nullable = text.nullable;
    let expr = crate::kernel::call_with_payload(
        &FROM_CSV,
        from_csv,
        std::slice::from_ref(text),
        &data_type,
        nullable,
        context,
        payload,
    )?;
    Ok(TypedExpr::new(expr, data_type, nullable, call))
}

fn from_csv(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let formats = args.prepared(|| Formats::of(args.settings.payload.as_deref(), Use::Parsing))?;
    let options = &formats.options;
    let dialect = dialect(options, false);
    let DataType::Struct(fields) = args.return_type else {
        return Err(SparkError::internal("from_csv makes structs"));
    };
    let corrupt = options.get("columnNameOfCorruptRecord").unwrap_or_default();
    let corrupt_at = fields.fields.iter().position(|f| f.name == corrupt && f.data_type.is_string());
    let wanted: Vec<&StructField> =
        fields.fields.iter().enumerate().filter(|(i, _)| Some(*i) != corrupt_at).map(|(_, f)| f).collect();
    let count = row_count(args);
    let lines: Vec<Option<Vec<CsvField>>> =
        (0..count).map(|row| fields_of(values.get(row), &dialect)).collect::<Result<_>>()?;
    let mut outcomes = vec![Outcome::Fine; count];
    for (line, outcome) in lines.iter().zip(&mut outcomes) {
        if line.as_ref().is_some_and(|line| !line.is_empty() && line.len() != wanted.len()) {
            *outcome = Outcome::Partial;
        }
    }
    let zone = options.get("timeZone").unwrap_or(&args.settings.time_zone);
    let casts = CastOptions::new(Mode::Try, zone)?;
    let converter = Converter { formats, zone: TimeZone::parse(zone)? };
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(fields.fields.len());
    for (index, field) in wanted.iter().enumerate() {
        let is_text = field.data_type.is_string();
        let column: StringArray = lines
            .iter()
            .map(|line| {
                let cell = line.as_ref()?.get(index)?;
                let text = match cell.written {
                    Written::Missing => return None,
                    Written::Quoted if cell.text.is_empty() => dialect.empty_value.as_str(),
                    Written::Plain | Written::Quoted => cell.text.as_str(),
                };
                match text {
                    text if text == dialect.null_value => None,
                    text if is_text => Some(text),
                    text => Some(text.trim()),
                }
            })
            .collect();
        let given: ArrayRef = Arc::new(column);
        let texts = given.as_string::<i32>();
        let converted: ArrayRef = match &field.data_type {
            DataType::Date if formats.date.is_some() => {
                Arc::new(texts.iter().map(|t| t.and_then(|t| converter.day(t))).collect::<Date32Array>())
            }
            DataType::Timestamp if formats.timestamp.is_some() => {
                let moments: TimestampMicrosecondArray =
                    texts.iter().map(|t| t.and_then(|t| converter.moment(t))).collect();
                Arc::new(moments.with_timezone(arrow_mapping::ENGINE_TIME_ZONE))
            }
            DataType::TimestampNtz if formats.timestamp_ntz.is_some() => {
                let moments: TimestampMicrosecondArray =
                    texts.iter().map(|t| t.and_then(|t| converter.local_moment(t))).collect();
                Arc::new(moments)
            }
            other => cast_array(&given, &DataType::STRING, other, &casts)?,
        };
        for (row, outcome) in outcomes.iter_mut().enumerate() {
            if given.is_valid(row) && converted.is_null(row) {
                *outcome = Outcome::Partial;
            }
        }
        columns.push(converted);
    }
    for outcome in &outcomes {
        check_outcome(options, *outcome, wanted.len())?;
    }
    if let Some(at) = corrupt_at {
        let bad: StringArray =
            (0..count).map(|row| if outcomes[row] == Outcome::Fine { None } else { values.get(row) }).collect();
        columns.insert(at, Arc::new(bad));
    }
    let ArrowType::Struct(arrow_fields) = arrow_mapping::to_arrow(args.return_type) else {
        return Err(SparkError::internal("a struct is a struct"));
    };
    let nulls = Some(NullBuffer::from(lines.iter().map(Option::is_some).collect::<Vec<bool>>()));
    let array = if arrow_fields.is_empty() {
        StructArray::new_empty_fields(count, nulls)
    } else {
        StructArray::try_new(arrow_fields, columns, nulls).map_err(internal)?
    };
    finish(args, Arc::new(array))
}

/// The fields of a line: none where it is null, no fields where nothing stands in it.
fn fields_of(line: Option<&str>, dialect: &Dialect) -> Result<Option<Vec<CsvField>>> {
    let Some(line) = line else { return Ok(None) };
    let fields = split(line, dialect).unwrap_or_default();
    if fields.len() > dialect.max_columns {
        return Err(SparkError::new("MALFORMED_CSV_RECORD").with("badRecord", line));
    }
    Ok(Some(fields))
}

fn build_to_csv(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [value, rest @ ..] = arguments.as_slice() else {
        return Err(SparkError::internal("to_csv takes an argument"));
    };
    let call = format!("to_csv({})", value.name);
    let DataType::Struct(fields) = &value.data_type else {
        return Err(unwritable(&call, value));
    };
    if fields.fields.iter().any(|f| f.data_type == DataType::Variant) {
        return Err(unwritable(&call, value));
    }
    let mut options = Options::of(rest.first())?;
    checks::csv(&options)?;
    note_policy(&mut options, context.conf);
    if options.get("timeZone").is_none() {
        options.set("timeZone", context.conf.time_zone.as_str());
    }
    let payload = Some(Arc::from(options.to_payload()));
    Formats::compile(options, Use::Printing)?;
    let expr = crate::kernel::call_with_payload(
        &TO_CSV,
        to_csv,
        std::slice::from_ref(value),
        &DataType::STRING,
        true,
        context,
        payload,
    )?;
    Ok(TypedExpr::new(expr, DataType::STRING, true, call))
}

/// The error of a value that CSV cannot hold.
fn unwritable(call: &str, value: &TypedExpr) -> SparkError {
    SparkError::new("DATATYPE_MISMATCH.UNSUPPORTED_INPUT_TYPE")
        .with("sqlExpr", format!("\"{call}\""))
        .with("functionName", "`to_csv`")
        .with("dataType", format!("\"{}\"", value.data_type.sql()))
}

fn to_csv(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let formats = args.prepared(|| Formats::of(args.settings.payload.as_deref(), Use::Printing))?;
    let options = &formats.options;
    let dialect = dialect(options, true);
    let named_zone = NamedZone::parse(options.get("timeZone").unwrap_or("UTC"))?;
    let utc = NamedZone::parse("UTC")?;
    let zone = named_zone.zone;
    let (array, is_constant) = array_or_constant(args, 0)?;
    let structs = downcast::<StructArray>(&array)?;
    let Some(DataType::Struct(fields)) = args.types.first() else {
        return Err(SparkError::internal("to_csv takes structs"));
    };
    let formatters: Vec<ValueFormatter> = fields
        .fields
        .iter()
        .map(|f| ValueFormatter::in_zone(&f.data_type, zone, TextStyle::Cast { plain_decimals: true }))
        .collect();
    let (mut line, mut cell) = (String::new(), String::new());
    texts(args, |row, out| {
        let row = if is_constant { 0 } else { row };
        if structs.is_null(row) {
            return Ok(None);
        }
        line.clear();
        for (index, (field, column)) in fields.fields.iter().zip(structs.columns()).enumerate() {
            if index > 0 {
                line.push_str(&dialect.separator);
            }
            if column.is_null(row) || field.data_type.is_null() {
                write_field(&mut line, None, &dialect);
                continue;
            }
            cell.clear();
            match &field.data_type {
                DataType::Timestamp => {
                    let moment = column.as_primitive::<TimestampMicrosecondType>().value(row);
                    match &formats.timestamp {
                        Some(pattern) => print_moment(pattern, &mut cell, moment, &named_zone)?,
                        None => write_moment_in(&mut cell, moment, zone),
                    }
                }
                DataType::TimestampNtz => {
                    let moment = column.as_primitive::<TimestampMicrosecondType>().value(row);
                    match &formats.timestamp_ntz {
                        Some(pattern) => print_moment(pattern, &mut cell, moment, &utc)?,
                        None => write_moment(&mut cell, moment),
                    }
                }
                DataType::Date if formats.date.is_some() => {
                    let day = i64::from(column.as_primitive::<Date32Type>().value(row));
                    if let Some(pattern) = &formats.date {
                        print_day(pattern, &mut cell, day)?;
                    }
                }
                _ => formatters[index].write(&mut cell, column, row)?,
            }
            write_field(&mut line, Some(&cell), &dialect);
        }
        Ok(out.write_str(&line).ok())
    })
}

/// Fails for an argument that is no text, and not NULL.
pub fn check_text(call: &str, argument: &TypedExpr) -> Result<()> {
    if argument.data_type.is_string() || argument.data_type.is_null() {
        return Ok(());
    }
    Err(unexpected_input(call, 0, ArgType::String, argument))
}

fn build_schema_of_csv(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let Some(argument) = arguments.first() else {
        return Err(SparkError::internal("schema_of_csv takes an argument"));
    };
    let call = format!("schema_of_csv({})", argument.name);
    check_text(&call, argument)?;
    let options = Options::of(arguments.get(1))?;
    checks::csv(&options)?;
    let Some(value) = value_of(argument)? else {
        return Err(not_foldable(argument, &call, "csv", "STRING"));
    };
    let Some(text) = text_of(&value) else {
        return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_NULL")
            .with("exprName", "csv")
            .with("sqlExpr", quoted(&call)));
    };
    let zone = TimeZone::parse(&context.conf.time_zone)?;
    let dialect = dialect(&options, false);
    let fields = fields_of(Some(text), &dialect)?
        .filter(|fields| !fields.is_empty())
        .ok_or_else(|| SparkError::internal("schema_of_csv of a line without fields"))?
        .iter()
        .enumerate()
        .map(|(index, field)| StructField::new(format!("_c{index}"), infer(&field.text, &dialect, zone), true))
        .collect();
    Ok(TypedExpr::new(lit(DataType::struct_of(fields).sql()), DataType::STRING, false, call))
}

/// The type of a field, the narrowest first.
fn infer(text: &str, dialect: &Dialect, zone: TimeZone) -> DataType {
    if text.is_empty() || text == dialect.null_value {
        return DataType::STRING;
    }
    if text.parse::<i32>().is_ok() {
        return DataType::Integer;
    }
    if text.parse::<i64>().is_ok() {
        return DataType::Long;
    }
    let unsigned = text.trim_start_matches(['-', '+']);
    if !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) && unsigned.len() <= 38 {
        return DataType::Decimal(unsigned.len() as u8, 0);
    }
    let is_number =
        unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') && text.trim().parse::<f64>().is_ok();
    if is_number || matches!(text, "NaN" | "Inf" | "-Inf") {
        return DataType::Double;
    }
    let plain_date = text.len() == 10 && text.as_bytes().get(4) == Some(&b'-');
    if plain_date && parse_date(text).is_some() {
        return DataType::Date;
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) && text.len() > 10 && parse_timestamp(text, zone).is_some() {
        return DataType::Timestamp;
    }
    if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        return DataType::Boolean;
    }
    DataType::STRING
}
