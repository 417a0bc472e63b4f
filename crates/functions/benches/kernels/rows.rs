//! The rows that are computed on: drawn from their numbers, one value in sixteen null.

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int32Array, ListArray, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{Int32Type, Schema};
use firesteel_types::{DataType, StructField, arrow_mapping};
use std::ops::Range;
use std::sync::Arc;

const WORDS: [&str; 8] = ["Green", "old", "apple", "garden", "river", "gray", "Of", "THE"];

/// Names and types of the columns.
pub fn types() -> Vec<(&'static str, DataType)> {
    vec![
        ("i", DataType::Integer),
        ("j", DataType::Integer),
        ("x", DataType::Double),
        ("y", DataType::Double),
        ("p", DataType::Boolean),
        ("q", DataType::Boolean),
        ("s", DataType::STRING),
        ("n", DataType::STRING),
        ("iso", DataType::STRING),
        ("dmy", DataType::STRING),
        ("js", DataType::STRING),
        ("d1", DataType::Date),
        ("d2", DataType::Date),
        ("t", DataType::Timestamp),
        ("a", DataType::array(DataType::Integer, true)),
    ]
}

/// The rows of some numbers.
pub fn batch(rows: Range<u64>) -> RecordBatch {
    let types = types();
    let fields: Vec<_> = types
        .iter()
        .map(|(name, t)| arrow_mapping::to_arrow_field(&StructField::new(*name, t.clone(), true)))
        .collect();
    let columns = types
        .iter()
        .zip(1..)
        .map(|((name, t), salt)| cast(&column(name, Drawn { rows: rows.clone(), salt }), &arrow_mapping::to_arrow(t)))
        .collect::<Result<Vec<ArrayRef>, _>>();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.unwrap()).unwrap()
}

fn column(name: &str, drawn: Drawn) -> ArrayRef {
    match name {
        "i" => Arc::new(drawn.each(|v| (v % 1_000_000) as i32).collect::<Int32Array>()),
        "j" => Arc::new(drawn.each(|v| (v % 1_000) as i32).collect::<Int32Array>()),
        "x" => Arc::new(drawn.each(|v| (v % 200_000_000) as f64 / 1e3 - 1e5).collect::<Float64Array>()),
        "y" => Arc::new(drawn.each(|v| (v % 10_000 + 1) as f64 / 8.0).collect::<Float64Array>()),
        "p" | "q" => Arc::new(drawn.each(|v| v.is_multiple_of(2)).collect::<BooleanArray>()),
        "s" => Arc::new(drawn.each(sentence).collect::<StringArray>()),
        "n" => Arc::new(drawn.each(|v| (v % 100_000_000).to_string()).collect::<StringArray>()),
        "iso" => Arc::new(drawn.each(|v| date(v, |y, m, d| format!("{y}-{m:02}-{d:02}"))).collect::<StringArray>()),
        "dmy" => Arc::new(drawn.each(|v| date(v, |y, m, d| format!("{d:02}/{m:02}/{y}"))).collect::<StringArray>()),
        "js" => Arc::new(drawn.each(json).collect::<StringArray>()),
        "d1" | "d2" => Arc::new(drawn.each(|v| (v % 20_000) as i32).collect::<Date32Array>()),
        "t" => Arc::new(drawn.each(|v| (v % 1_700_000_000_000_000) as i64).collect::<TimestampMicrosecondArray>()),
        "a" => Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(drawn.each(numbers))),
        other => panic!("no column {other}"),
    }
}

/// The values of a column before they have their type.
struct Drawn {
    rows: Range<u64>,
    salt: u64,
}

impl Drawn {
    fn each<T>(self, make: impl Fn(u64) -> T) -> impl Iterator<Item = Option<T>> {
        let Self { rows, salt } = self;
        rows.map(move |row| {
            let mixed = mix(row ^ (salt << 48));
            (!mixed.is_multiple_of(16)).then(|| make(mixed >> 8))
        })
    }
}

/// A number without visible order from a number: the finalizer of SplitMix64.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Four words with blanks around them.
fn sentence(value: u64) -> String {
    let word = |at: u32| WORDS[(value >> (3 * at)) as usize % WORDS.len()];
    format!("  {} {} {} {} ", word(0), word(1), word(2), word(3))
}

fn date(value: u64, write: impl Fn(u64, u64, u64) -> String) -> String {
    write(1970 + value % 60, 1 + (value >> 8) % 12, 1 + (value >> 16) % 28)
}

fn json(value: u64) -> String {
    format!(
        r#"{{"id":{},"address":{{"city":"{}","zip":"{:05}"}},"name":"n{}"}}"#,
        value % 1_000_000,
        WORDS[value as usize % WORDS.len()],
        value % 100_000,
        value % 1_000
    )
}

/// Up to seven numbers.
fn numbers(value: u64) -> Vec<Option<i32>> {
    (0..value % 8).map(|at| Some(((value >> (4 * at)) % 16) as i32)).collect()
}
