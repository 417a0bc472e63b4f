//! The schema of CSV files.

use super::CsvOptions;
use super::parser::{Kind, Tokens};
use super::reader::{each_record, each_text};
use crate::lines::text;
use crate::listing::DataFile;
use crate::records::FilePart;
use firesteel_error::Result;
use firesteel_functions::cast::parse_datetime::{parse_date, parse_timestamp, parse_timestamp_without_zone};
use firesteel_types::{DataType, StructField, StructType};
use std::collections::HashMap;

/// The columns of files: names from the header, types from the values where asked for.
pub fn infer(files: &[DataFile], options: &CsvOptions) -> Result<StructType> {
    let each = |i: usize, visit: &mut dyn FnMut(&Tokens) -> Result<bool>| {
        each_record(&FilePart::whole(&files[i]), options, visit)
    };
    let in_parts = |columns: usize| -> Result<Option<Vec<DataType>>> {
        if !options.reads_blocks() || !options.sampling.is_all() {
            return Ok(None);
        }
        let is_splittable = !crate::text::any_compressed(files);
        super::fold::types(&crate::parallel::parts(files, is_splittable), columns, options).map(Some)
    };
    infer_of(files.len(), &each, &in_parts, options)
}

/// The columns of texts, each a record.
pub fn infer_texts(texts: &[String], options: &CsvOptions) -> Result<StructType> {
    let each = |_: usize, visit: &mut dyn FnMut(&Tokens) -> Result<bool>| each_text(texts, options, visit);
    infer_of(1, &each, &|_| Ok(None), options)
}

/// Calls back with the records of one of several inputs.
type Each<'a> = dyn Fn(usize, &mut dyn FnMut(&Tokens) -> Result<bool>) -> Result<()> + 'a;

/// Gives the types of so many columns, where they need not be found record by record.
type InParts<'a> = dyn Fn(usize) -> Result<Option<Vec<DataType>>> + 'a;

fn infer_of(inputs: usize, each: &Each<'_>, in_parts: &InParts<'_>, options: &CsvOptions) -> Result<StructType> {
    let mut names: Option<Vec<String>> = None;
    for input in 0..inputs {
        each(input, &mut |tokens| {
            names = Some(header(tokens, options));
            Ok(false)
        })?;
        if names.is_some() {
            break;
        }
    }
    let Some(names) = names else { return Ok(StructType::default()) };
    let mut types: Vec<DataType> =
        vec![if options.infer_schema { DataType::Null } else { DataType::STRING }; names.len()];
    let found = if options.infer_schema { in_parts(names.len())? } else { None };
    if let Some(found) = found {
        types = found;
    } else if options.infer_schema {
        let mut is_taken = options.sampling.start();
        for input in 0..inputs {
            let mut is_first = options.header;
            each(input, &mut |tokens| {
                // The header takes part in the draw.
                let is_sampled = is_taken();
                if std::mem::take(&mut is_first) || !is_sampled {
                    return Ok(true);
                }
                for (i, so_far) in types.iter_mut().enumerate() {
                    if let Some(value) = value(tokens, i, options) {
                        *so_far = widened(so_far, &value, options);
                    }
                }
                Ok(true)
            })?;
        }
    }
    let fields = names
        .into_iter()
        .zip(types)
        .map(|(name, data_type)| {
            let data_type = if data_type.is_null() { DataType::STRING } else { data_type };
            StructField::new(name, data_type, true)
        })
        .collect();
    Ok(StructType::new(fields))
}

fn value(tokens: &Tokens, index: usize, options: &CsvOptions) -> Option<String> {
    let (bytes, kind) = tokens.get(index)?;
    let value = match kind {
        Kind::Missing => return None,
        Kind::Empty => options.empty.clone(),
        Kind::Text => text(bytes).into_owned(),
    };
    (!value.is_empty() && value != options.null).then_some(value)
}

/// Names of columns: doubled ones get their position, missing ones `_c` and it.
fn header(tokens: &Tokens, options: &CsvOptions) -> Vec<String> {
    if !options.header {
        return (0..tokens.len()).map(|i| format!("_c{i}")).collect();
    }
    let names: Vec<String> = (0..tokens.len())
        .map(|i| match tokens.get(i) {
            Some((bytes, Kind::Text)) => text(bytes).into_owned(),
            _ => String::new(),
        })
        .collect();
    let key = |name: &str| if options.case_sensitive { name.to_string() } else { name.to_lowercase() };
    let mut counts: HashMap<String, usize> = HashMap::with_capacity(names.len());
    for name in &names {
        *counts.entry(key(name)).or_default() += 1;
    }
    names
        .iter()
        .enumerate()
        .map(|(i, name)| {
            if name.is_empty() || *name == options.null {
                format!("_c{i}")
            } else if counts.get(&key(name)).is_some_and(|count| *count > 1) {
                format!("{name}{i}")
            } else {
                name.clone()
            }
        })
        .collect()
}

/// The type that holds what was seen so far and another value.
fn widened(so_far: &DataType, text: &str, options: &CsvOptions) -> DataType {
    if so_far.is_string() {
        return so_far.clone();
    }
    let one = guess(so_far, text, options);
    combined(so_far, &one)
}

/// The first type that fits a value, from the type of the values before on.
pub(super) fn guess(so_far: &DataType, text: &str, options: &CsvOptions) -> DataType {
    use DataType as T;
    let rank = match so_far {
        T::Null | T::Integer => 0,
        T::Long => 1,
        T::Decimal(..) => 2,
        T::Double => 3,
        T::Date => 4,
        T::TimestampNtz => 5,
        T::Timestamp => 6,
        T::Boolean => 7,
        _ => 8,
    };
    if rank == 0 && text.parse::<i32>().is_ok() {
        return T::Integer;
    }
    if rank <= 1 && text.parse::<i64>().is_ok() {
        return T::Long;
    }
    if rank <= 2 {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
            && let Ok(precision) = u8::try_from(digits.trim_start_matches('0').len().max(1))
            && precision <= 38
        {
            return T::Decimal(precision, 0);
        }
    }
    if rank <= 3 && options.double(text).is_some() {
        return T::Double;
    }
    if rank <= 4 && options.infers_dates && is_date(text, options) {
        return T::Date;
    }
    if rank <= 5 && options.infers_ntz {
        let is_moment = match &options.timestamp_ntz {
            Some(pattern) => pattern.parse_timestamp_ntz(text).is_some(),
            None => parse_timestamp_without_zone(text).is_some(),
        };
        if is_moment {
            return T::TimestampNtz;
        }
    }
    if rank <= 6 {
        let is_moment = match &options.timestamp {
            Some(pattern) => pattern.parse_timestamp(text, options.zone).is_some(),
            None => parse_timestamp(text, options.zone).is_some(),
        };
        if is_moment {
            return T::Timestamp;
        }
    }
    if rank <= 7 && (text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")) {
        return T::Boolean;
    }
    T::STRING
}

fn is_date(text: &str, options: &CsvOptions) -> bool {
    match &options.date {
        Some(pattern) => pattern.parse_date(text).is_some(),
        None => text.len() == 10 && text.as_bytes().get(4) == Some(&b'-') && parse_date(text).is_some(),
    }
}

pub(super) fn combined(a: &DataType, b: &DataType) -> DataType {
    use DataType as T;
    let rank = |t: &DataType| [T::Integer, T::Long, T::Double].iter().position(|x| x == t);
    match (a, b) {
        (T::Null, other) | (other, T::Null) => other.clone(),
        (a, b) if a == b => a.clone(),
        (T::Decimal(..), T::Double) | (T::Double, T::Decimal(..)) => T::Double,
        (T::Decimal(p, s), T::Decimal(q, t)) => decimal((*p, *s), (*q, *t)),
        (T::Decimal(p, s), T::Integer) | (T::Integer, T::Decimal(p, s)) => decimal((*p, *s), (10, 0)),
        (T::Decimal(p, s), T::Long) | (T::Long, T::Decimal(p, s)) => decimal((*p, *s), (20, 0)),
        (T::Date, T::Timestamp) | (T::Timestamp, T::Date) => T::Timestamp,
        (T::Date, T::TimestampNtz) | (T::TimestampNtz, T::Date) => T::TimestampNtz,
        (T::Timestamp, T::TimestampNtz) | (T::TimestampNtz, T::Timestamp) => T::Timestamp,
        (a, b) => match (rank(a), rank(b)) {
            (Some(x), Some(y)) => {
                if x >= y {
                    a.clone()
                } else {
                    b.clone()
                }
            }
            _ => T::STRING,
        },
    }
}

fn decimal((p, s): (u8, i8), (q, t): (u8, i8)) -> DataType {
    let scale = s.max(t);
    let whole = (i16::from(p) - i16::from(s)).max(i16::from(q) - i16::from(t));
    match u8::try_from(whole + i16::from(scale)) {
        Ok(precision) if precision <= 38 => DataType::Decimal(precision, scale),
        _ => DataType::Double,
    }
}
