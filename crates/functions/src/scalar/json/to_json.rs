//! `to_json`.

use super::checks;
use super::formats::{Formats, note_policy, print_day, print_moment};
use super::options::Options;
use super::writer::{KeyWriter, in_ascii, write_number, write_text};
use crate::cast::variant::Variants;
use crate::kernel::kernel;
use crate::scalar::datetime::pattern::Use;
use crate::scalar::datetime::print::NamedZone;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{array_or_constant, internal, texts};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use arrow::array::{Array, ArrayRef, AsArray};
use base64::Engine;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::number_text::write_plain_decimal;
use firesteel_types::value_text::{TextStyle, ValueFormatter};
use firesteel_types::{DataType, TimeZone, calendar, moment_text, variant_text};
use std::fmt::Write;
use std::sync::Arc;

function! {
    /// `to_json(expr[, options])`
    TO_JSON = "to_json" in Json,
        Signature::with_optional(&[param("expr", ArgType::Any), param("options", ArgType::Any)], 1)
        => Body::Build(build);
    text |a| format!("to_json({})", a.first().map(String::as_str).unwrap_or_default());
    usage "A struct, an array or a map as JSON text.";
    since "2.2.0";
    example "SELECT to_json(named_struct('a', 1, 'b', 2))" => "{\"a\":1,\"b\":2}";
    example "SELECT to_json(array(named_struct('a', 1, 'b', 2)))" => "[{\"a\":1,\"b\":2}]";
}

/// The kernel, by which a call that has travelled finds it again.
pub static KERNELS: &[&Function] = &[&kernel("to_json", to_json)];

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [value, rest @ ..] = arguments.as_slice() else {
        return Err(SparkError::internal("to_json takes an argument"));
    };
    let call = format!("to_json({})", value.name);
    if !value.data_type.is_nested() && value.data_type != DataType::Variant {
        return Err(SparkError::new("DATATYPE_MISMATCH.INVALID_JSON_SCHEMA")
            .with("schema", format!("\"{}\"", value.data_type.sql()))
            .with("sqlExpr", format!("\"{call}\"")));
    }
    let mut options = Options::of(rest.first())?;
    checks::json(&options)?;
    note_policy(&mut options, context.conf);
    if options.get("timeZone").is_none() {
        options.set("timeZone", context.conf.time_zone.as_str());
    }
    let payload = Some(Arc::from(options.to_payload()));
    Formats::compile(options, Use::Printing)?;
    let expr = crate::kernel::call_with_payload(
        &TO_JSON,
        to_json,
        std::slice::from_ref(value),
        &DataType::STRING,
        true,
        context,
        payload,
    )?;
    Ok(TypedExpr::new(expr, DataType::STRING, true, call))
}

/// How values are written.
struct Writer<'a> {
    formats: &'a Formats,
    zone: TimeZone,
    named_zone: NamedZone,
    utc: NamedZone,
    ignores_nulls: bool,
    sorts_keys: bool,
    is_pretty: bool,
}

fn to_json(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let formats = args.prepared(|| Formats::of(args.settings.payload.as_deref(), Use::Printing))?;
    let options = &formats.options;
    let named_zone = NamedZone::parse(options.get("timeZone").unwrap_or("UTC"))?;
    let writer = Writer {
        formats,
        zone: named_zone.zone,
        utc: NamedZone::parse("UTC")?,
        named_zone,
        ignores_nulls: options.flag("ignoreNullFields", true),
        sorts_keys: options.flag("sortKeys", false),
        is_pretty: options.flag("pretty", false),
    };
    let (array, is_constant) = array_or_constant(args, 0)?;
    let Some(data_type) = args.types.first() else { return Err(SparkError::internal("to_json without arguments")) };
    let escapes_others = options.flag("writeNonAsciiCharacterAsCodePoint", false);
    let mut text = String::new();
    texts(args, |row, out| {
        let row = if is_constant { 0 } else { row };
        if array.is_null(row) {
            return Ok(None);
        }
        text.clear();
        writer.value(&mut text, data_type, &array, row, 0)?;
        if escapes_others {
            text = in_ascii(&text);
        }
        Ok(out.write_str(&text).ok())
    })
}

/// A moment as ISO 8601 has it, with milliseconds.
pub fn write_moment(out: &mut String, local_micros: i64) {
    let days = local_micros.div_euclid(86_400_000_000);
    let rest = local_micros.rem_euclid(86_400_000_000);
    let (year, month, day) = calendar::civil_from_days(days);
    let seconds = rest / 1_000_000;
    let sign = if year > 9999 { "+" } else { "" };
    let _ = write!(
        out,
        "{sign}{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        rest % 1_000_000 / 1000
    );
}

/// A moment in a zone, with the zone's offset.
pub fn write_moment_in(out: &mut String, micros: i64, zone: TimeZone) {
    write_moment(out, zone.to_local(micros));
    let offset = zone.offset_at(micros.div_euclid(1_000_000));
    if offset == 0 {
        out.push('Z');
    } else {
        let minutes = offset.abs() / 60;
        let _ = write!(out, "{}{:02}:{:02}", if offset < 0 { '-' } else { '+' }, minutes / 60, minutes % 60);
        if offset % 60 != 0 {
            let _ = write!(out, ":{:02}", offset.abs() % 60);
        }
    }
}

impl Writer<'_> {
    fn line(&self, out: &mut String, depth: usize) {
        if self.is_pretty {
            out.push('\n');
            out.push_str(&"  ".repeat(depth));
        }
    }

    fn colon(&self, out: &mut String) {
        out.push_str(if self.is_pretty { " : " } else { ":" });
    }

    fn value(&self, out: &mut String, data_type: &DataType, array: &ArrayRef, row: usize, depth: usize) -> Result<()> {
        if array.is_null(row) {
            out.push_str("null");
            return Ok(());
        }
        match data_type {
            DataType::Null => out.push_str("null"),
            DataType::Boolean => out.push_str(if array.as_boolean().value(row) { "true" } else { "false" }),
            DataType::Byte => drop(write!(out, "{}", array.as_primitive::<Int8Type>().value(row)).ok()),
            DataType::Short => drop(write!(out, "{}", array.as_primitive::<Int16Type>().value(row)).ok()),
            DataType::Integer => drop(write!(out, "{}", array.as_primitive::<Int32Type>().value(row)).ok()),
            DataType::Long => drop(write!(out, "{}", array.as_primitive::<Int64Type>().value(row)).ok()),
            DataType::Float => {
                let value = array.as_primitive::<Float32Type>().value(row);
                if value.is_finite() {
                    firesteel_types::number_text::write_float(out, value);
                } else {
                    write_number(out, f64::from(value));
                }
            }
            DataType::Double => write_number(out, array.as_primitive::<Float64Type>().value(row)),
            DataType::Decimal(_, scale) => {
                write_plain_decimal(out, array.as_primitive::<arrow::datatypes::Decimal128Type>().value(row), *scale);
            }
            DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) => {
                let plain =
                    arrow::compute::cast(&array.slice(row, 1), &arrow::datatypes::DataType::Utf8).map_err(internal)?;
                write_text(out, plain.as_string::<i32>().value(0));
            }
            DataType::Binary => {
                out.push('"');
                base64::engine::general_purpose::STANDARD.encode_string(array.as_binary::<i32>().value(row), out);
                out.push('"');
            }
            DataType::Date => {
                let day = i64::from(array.as_primitive::<Date32Type>().value(row));
                let mut text = String::new();
                match &self.formats.date {
                    Some(pattern) => print_day(pattern, &mut text, day)?,
                    None => moment_text::write_date(&mut text, day),
                }
                write_text(out, &text);
            }
            DataType::Timestamp => {
                let moment = array.as_primitive::<TimestampMicrosecondType>().value(row);
                let mut text = String::new();
                match &self.formats.timestamp {
                    Some(pattern) => print_moment(pattern, &mut text, moment, &self.named_zone)?,
                    None => write_moment_in(&mut text, moment, self.zone),
                }
                write_text(out, &text);
            }
            DataType::TimestampNtz => {
                let moment = array.as_primitive::<TimestampMicrosecondType>().value(row);
                let mut text = String::new();
                match &self.formats.timestamp_ntz {
                    Some(pattern) => print_moment(pattern, &mut text, moment, &self.utc)?,
                    None => write_moment(&mut text, moment),
                }
                write_text(out, &text);
            }
            DataType::Array { element, .. } => {
                let values = array.as_list::<i32>().value(row);
                out.push('[');
                for index in 0..values.len() {
                    if index > 0 {
                        out.push_str(if self.is_pretty { ", " } else { "," });
                    } else if self.is_pretty {
                        out.push(' ');
                    }
                    self.value(out, element, &values, index, depth)?;
                }
                out.push_str(if self.is_pretty { " ]" } else { "]" });
            }
            DataType::Struct(fields) => {
                let columns = array.as_struct().columns();
                let mut order: Vec<usize> = (0..fields.fields.len()).collect();
                if self.sorts_keys {
                    order.sort_by(|a, b| fields.fields[*a].name.cmp(&fields.fields[*b].name));
                }
                out.push('{');
                let mut is_first = true;
                for index in order {
                    let (Some(column), field) = (columns.get(index), &fields.fields[index]) else { continue };
                    if self.ignores_nulls && (column.is_null(row) || field.data_type.is_null()) {
                        continue;
                    }
                    self.entry(out, &mut is_first, &field.name, depth);
                    self.value(out, &field.data_type, column, row, depth + 1)?;
                }
                self.end(out, is_first, depth);
            }
            DataType::Map { key, value, .. } => {
                let entries = array.as_map().value(row);
                let keys = KeyWriter::new(key, self.zone);
                let mut named = Vec::with_capacity(entries.len());
                for index in 0..entries.len() {
                    let mut name = String::new();
                    keys.write(&mut name, entries.column(0), index)?;
                    named.push((name, index));
                }
                if self.sorts_keys {
                    named.sort();
                }
                out.push('{');
                let mut is_first = true;
                for (name, index) in named {
                    self.entry(out, &mut is_first, &name, depth);
                    self.value(out, value, entries.column(1), index, depth + 1)?;
                }
                self.end(out, is_first, depth);
            }
            DataType::Udt { sql_type, .. } => self.value(out, sql_type, array, row, depth)?,
            DataType::Variant => {
                let variants = Variants::of(&array.slice(row, 1))?;
                match variants.get(0) {
                    Some(variant) => variant_text::write_part(out, &variant, self.zone)?,
                    None => out.push_str("null"),
                }
            }
            DataType::Geometry(_) | DataType::Geography(_) | DataType::Unparsed(_) => {
                return Err(SparkError::unsupported(format!("to_json of values of type {data_type}")));
            }
            DataType::Time(_)
            | DataType::CalendarInterval
            | DataType::YearMonthInterval(..)
            | DataType::DayTimeInterval(..) => {
                let mut text = String::new();
                ValueFormatter::in_zone(data_type, self.zone, TextStyle::Cast { plain_decimals: true })
                    .write(&mut text, array, row)?;
                write_text(out, &text);
            }
        }
        Ok(())
    }

    fn entry(&self, out: &mut String, is_first: &mut bool, name: &str, depth: usize) {
        if !std::mem::take(is_first) {
            out.push(',');
        }
        self.line(out, depth + 1);
        write_text(out, name);
        self.colon(out);
    }

    fn end(&self, out: &mut String, is_empty: bool, depth: usize) {
        if !is_empty {
            self.line(out, depth);
        } else if self.is_pretty {
            out.push(' ');
        }
        out.push('}');
    }
}
