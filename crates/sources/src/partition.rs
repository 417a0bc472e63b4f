//! Partition columns from folder names: `k=v`.

use crate::error::from_datafusion;
use crate::listing::{DataFile, Listing, Root};
use crate::path::{place, short_uri};
use crate::store::Stores;
use arrow::array::{ArrayRef, NullArray, StringArray};
use datafusion::common::ScalarValue;
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_functions::cast::Mode;
use firesteel_functions::cast::array::{CastOptions, cast_array};
use firesteel_functions::cast::parse_datetime::{parse_date, parse_time, parse_timestamp_parts};
use firesteel_types::{DataType, StructField, StructType};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The value of a partition column that stands for NULL.
pub const DEFAULT_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// The partition columns of some files, with each file's values.
#[derive(Debug, Clone, Default)]
pub struct Partitions {
    pub columns: Vec<StructField>,
    /// The files that belong to the table, each with as many values as there are columns.
    pub files: Vec<(DataFile, Vec<ScalarValue>)>,
}

/// How partition columns are found.
pub struct Discovery<'a> {
    pub conf: &'a SqlConf,
    pub stores: &'a Stores,
    /// The option `basePath`.
    pub base: Option<&'a str>,
    /// Files of subfolders belong to the table, and folder names mean nothing.
    pub recursive: bool,
    pub schema: Option<&'a StructType>,
    /// Names that a catalog knows.
    pub names: Option<&'a [String]>,
}

/// Finds the partition columns of a listing.
pub fn discover(listing: Listing, discovery: &Discovery<'_>) -> Result<Partitions> {
    let Listing { roots, files } = listing;
    if discovery.recursive {
        return Ok(Partitions { columns: Vec::new(), files: files.into_iter().map(|f| (f, Vec::new())).collect() });
    }
    let bases = bases(&roots, discovery)?;
    let mut raw = Vec::with_capacity(files.len());
    let mut tops = BTreeSet::new();
    for file in &files {
        let folder = file.path.parent().unwrap_or(Path::new("/"));
        let (columns, top) = parse(folder, &bases)?;
        tops.insert(if columns.is_empty() { folder.to_path_buf() } else { top });
        raw.push(columns);
    }
    if raw.iter().all(Vec::is_empty) {
        let files = files
            .into_iter()
            .filter(|file| {
                let root = &roots[file.root].path;
                root == &file.path || file.path.parent() == Some(root)
            })
            .map(|file| (file, Vec::new()))
            .collect();
        return Ok(Partitions { columns: Vec::new(), files });
    }
    if tops.len() > 1 {
        let list = tops.iter().map(|p| format!("\n\t{}", short_uri(p))).collect::<String>() + "\n";
        return Err(SparkError::new("CONFLICTING_DIRECTORY_STRUCTURES").with("discoveredBasePaths", list));
    }
    let partitioned: Vec<(DataFile, Vec<(String, String)>)> =
        files.into_iter().zip(raw).filter(|(_, columns)| !columns.is_empty()).collect();
    let names = common_names(&partitioned, discovery)?;
    let mut columns = Vec::with_capacity(names.len());
    let mut values: Vec<Vec<ScalarValue>> = vec![Vec::with_capacity(names.len()); partitioned.len()];
    for (i, name) in names.iter().enumerate() {
        let texts: Vec<Option<&str>> = partitioned
            .iter()
            .map(|(_, columns)| columns.get(i).map(|(_, text)| text.as_str()).filter(|text| *text != DEFAULT_PARTITION))
            .collect();
        let declared = discovery.schema.and_then(|schema| find(schema, name, discovery.conf.case_sensitive));
        let field = match declared {
            Some(field) => StructField { nullable: true, ..field.clone() },
            None if !discovery.conf.partition_type_inference => StructField::new(name, DataType::STRING, true),
            None => StructField::new(name, infer(&texts), true),
        };
        let typed = typed(&texts, &field, discovery.conf)?;
        for (row, row_values) in values.iter_mut().enumerate() {
            row_values.push(ScalarValue::try_from_array(&typed, row).map_err(from_datafusion)?);
        }
        columns.push(field);
    }
    let files = partitioned.into_iter().map(|(file, _)| file).zip(values).collect();
    Ok(Partitions { columns, files })
}

fn find<'a>(schema: &'a StructType, name: &str, case_sensitive: bool) -> Option<&'a StructField> {
    schema.fields.iter().find(|f| if case_sensitive { f.name == name } else { f.name.eq_ignore_ascii_case(name) })
}

/// The folders below which names are partition columns.
fn bases(roots: &[Root], discovery: &Discovery<'_>) -> Result<BTreeSet<PathBuf>> {
    let Some(base) = discovery.base else {
        return Ok(roots
            .iter()
            .map(|root| {
                let path = &root.path;
                if root.is_folder { path.clone() } else { path.parent().unwrap_or(path).to_path_buf() }
            })
            .collect());
    };
    let path = place(base)?;
    if !discovery.stores.exists(&path)? {
        return Err(crate::error::illegal("Option 'basePath' not found"));
    }
    if !discovery.stores.is_folder(&path)? {
        return Err(crate::error::illegal("Option 'basePath' must be a directory"));
    }
    for root in roots {
        if !root.path.starts_with(&path) {
            return Err(crate::error::illegal(format!(
                "Wrong basePath {} for the root path: {}",
                short_uri(&path),
                short_uri(&root.path)
            )));
        }
    }
    Ok(BTreeSet::from([path]))
}

/// The columns of a folder from the outermost in, and the folder that they are below.
fn parse(folder: &Path, bases: &BTreeSet<PathBuf>) -> Result<(Vec<(String, String)>, PathBuf)> {
    let mut columns = Vec::new();
    let mut current = folder;
    while !bases.contains(current) {
        let name = current.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
        match name.split_once('=') {
            Some(("", _)) => return Err(SparkError::new("EMPTY_PARTITION_COLUMN_NAME").with("columnSpec", &*name)),
            Some((_, "")) => return Err(SparkError::new("EMPTY_PARTITION_COLUMN_VALUE").with("columnSpec", &*name)),
            Some((key, value)) => columns.push((unescape(key), unescape(value))),
            _ if !columns.is_empty() => break,
            _ => {}
        }
        match current.parent() {
            Some(parent) => current = parent,
            None => break,
        }
    }
    columns.reverse();
    Ok((columns, current.to_path_buf()))
}

fn common_names(files: &[(DataFile, Vec<(String, String)>)], discovery: &Discovery<'_>) -> Result<Vec<String>> {
    let names = |columns: &[(String, String)]| columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let Some((_, first)) = files.first() else { return Ok(Vec::new()) };
    let first = names(first);
    let same = |columns: &[(String, String)]| {
        columns.len() == first.len()
            && columns
                .iter()
                .zip(&first)
                .all(|((a, _), b)| if discovery.conf.case_sensitive { a == b } else { a.eq_ignore_ascii_case(b) })
    };
    if files.iter().all(|(_, columns)| same(columns)) {
        return Ok(match discovery.names {
            Some(known) if known.len() == first.len() => known.to_vec(),
            _ => first,
        });
    }
    let lists: BTreeSet<String> = files.iter().map(|(_, columns)| names(columns).join(", ")).collect();
    let lists = lists.iter().enumerate().map(|(i, list)| format!("\n\tPartition column name list #{i}: {list}"));
    let folders: BTreeSet<String> = files
        .iter()
        .filter_map(|(file, _)| file.path.parent().map(short_uri))
        .map(|folder| format!("\n\t{folder}"))
        .collect();
    Err(SparkError::new("CONFLICTING_PARTITION_COLUMN_NAMES")
        .with("distinctPartColLists", lists.collect::<String>() + "\n")
        .with("suspiciousPaths", folders.into_iter().collect::<String>()))
}

fn typed(texts: &[Option<&str>], field: &StructField, conf: &SqlConf) -> Result<ArrayRef> {
    if field.data_type.is_null() {
        return Ok(Arc::new(NullArray::new(texts.len())));
    }
    let array: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    let cast =
        |mode| cast_array(&array, &DataType::STRING, &field.data_type, &CastOptions::new(mode, &conf.time_zone)?);
    if !conf.validate_partition_columns {
        return cast(Mode::Try);
    }
    cast(Mode::Ansi).map_err(|cause| {
        let bad = match cast(Mode::Try) {
            Ok(read) => texts
                .iter()
                .enumerate()
                .find(|(i, text)| text.is_some() && arrow::array::Array::is_null(&read, *i))
                .and_then(|(_, text)| *text),
            Err(_) => None,
        };
        SparkError::new("INVALID_PARTITION_VALUE")
            .with("value", format!("'{}'", bad.unwrap_or_default()))
            .with("dataType", format!("\"{}\"", field.data_type.sql()))
            .with("columnName", firesteel_types::text::quote_identifier(&field.name))
            .with_cause(cause)
    })
}

/// The type of a column's values; the type of nulls where there are none.
fn infer(texts: &[Option<&str>]) -> DataType {
    let mut all: Option<DataType> = None;
    for text in texts.iter().flatten() {
        let one = infer_one(text);
        all = Some(match all {
            None => one,
            Some(all) => wider(all, one),
        });
    }
    all.unwrap_or(DataType::Null)
}

fn infer_one(text: &str) -> DataType {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        if text.parse::<i32>().is_ok() {
            return DataType::Integer;
        }
        if text.parse::<i64>().is_ok() {
            return DataType::Long;
        }
        if let Ok(precision) = u8::try_from(digits.trim_start_matches('0').len())
            && precision <= 38
        {
            return DataType::Decimal(precision, 0);
        }
    }
    if let Some(precision) = exponential(text) {
        return DataType::Decimal(precision, 0);
    }
    if is_java_double(text) {
        return DataType::Double;
    }
    if parse_date(text).is_some() && text.len() == 10 && text.as_bytes()[4] == b'-' {
        return DataType::Date;
    }
    // `yyyy-MM-dd HH:mm:ss[.S]`
    let bytes = text.as_bytes();
    if bytes.len() >= 19 && bytes[10] == b' ' && bytes[4] == b'-' && bytes[13] == b':' {
        let rest = &text.get(19..).unwrap_or("x");
        let is_fraction = rest.is_empty() || (rest.starts_with('.') && rest[1..].bytes().all(|b| b.is_ascii_digit()));
        if is_fraction && parse_timestamp_parts(text).is_some() {
            return DataType::Timestamp;
        }
    }
    if text.contains(':') && parse_time(text).is_some() {
        return DataType::Time(6);
    }
    DataType::STRING
}

/// How many digits a number with an exponent has, where it is whole for its form.
fn exponential(text: &str) -> Option<u8> {
    let (mantissa, exponent) = text.split_once(['e', 'E'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let zeros = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let zeros = usize::try_from(zeros).ok()?;
    let precision = digits.trim_start_matches('0').len().max(1).checked_add(zeros)?;
    u8::try_from(precision).ok().filter(|precision| *precision <= 38)
}

/// What Java's `Double.parseDouble` reads.
fn is_java_double(text: &str) -> bool {
    let text = text.trim();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, "NaN" | "Infinity") {
        return true;
    }
    let number = unsigned.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(unsigned);
    number.bytes().next().is_some_and(|b| b.is_ascii_digit() || b == b'.')
        && number.bytes().any(|b| b.is_ascii_digit())
        && number.parse::<f64>().is_ok()
}

fn wider(a: DataType, b: DataType) -> DataType {
    use DataType as T;
    let rank = |t: &DataType| match t {
        T::Integer => Some(0),
        T::Long => Some(1),
        T::Decimal(..) => Some(2),
        T::Double => Some(3),
        _ => None,
    };
    match (a, b) {
        (a, b) if a == b => a,
        (T::Date, T::Timestamp) | (T::Timestamp, T::Date) => T::Timestamp,
        (T::Decimal(p, _), T::Decimal(q, _)) => T::Decimal(p.max(q), 0),
        (T::Decimal(p, _), T::Integer) | (T::Integer, T::Decimal(p, _)) => T::Decimal(p.max(10), 0),
        (T::Decimal(p, _), T::Long) | (T::Long, T::Decimal(p, _)) => T::Decimal(p.max(20), 0),
        (a, b) => match (rank(&a), rank(&b)) {
            // A double does not hold all of these.
            (Some(1 | 2), Some(3)) | (Some(3), Some(1 | 2)) => T::STRING,
            (Some(x), Some(y)) => {
                if x >= y {
                    a
                } else {
                    b
                }
            }
            _ => T::STRING,
        },
    }
}

/// Undoes [`escape`].
pub fn unescape(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// A value as a folder's name: characters that file systems and Hive treat specially become `%XX`.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let special = matches!(
            c,
            '\u{1}'
                ..='\u{1f}'
                    | '"'
                    | '#'
                    | '%'
                    | '\''
                    | '*'
                    | '/'
                    | ':'
                    | '='
                    | '?'
                    | '\\'
                    | '\u{7f}'
                    | '{'
                    | '['
                    | ']'
                    | '^'
        );
        if special {
            out.push_str(&format!("%{:02X}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_guessed_from_values() {
        let infer = |texts: &[&str]| infer(&texts.iter().map(|t| Some(*t)).collect::<Vec<_>>()).simple_string();
        assert_eq!(infer(&["1", "2"]), "int");
        assert_eq!(infer(&["1", "3000000000"]), "bigint");
        assert_eq!(infer(&["1", "1.5"]), "double");
        assert_eq!(infer(&["3000000000", "1.5"]), "string");
        assert_eq!(infer(&["92233720368547758070"]), "decimal(20,0)");
        assert_eq!(infer(&["2020-01-01"]), "date");
        assert_eq!(infer(&["2020-01-01 10:00:00"]), "timestamp");
        assert_eq!(infer(&["a"]), "string");
        assert_eq!(infer(&[]), "void");
        assert_eq!(infer(&["1e5", "2"]), "decimal(10,0)");
        assert_eq!(infer(&["1.5e-1"]), "double");
        assert_eq!(infer(&["10:00:00"]), "time(6)");
    }

    #[test]
    fn names_of_folders_are_escaped() {
        assert_eq!(escape("a/b:c=d e"), "a%2Fb%3Ac%3Dd e");
        assert_eq!(unescape("a%2Fb%3Ac%3Dd e"), "a/b:c=d e");
    }
}
