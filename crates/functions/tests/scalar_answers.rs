//! Spark's own answers to calls of scalar functions, in `answers/*.jsonl`.
//!
//! A line holds the text of a call with its value, type, nullability and column
//! name, or with the condition and parameters of its error. Lines with a call
//! of a function that is not declared are skipped.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

mod call;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType as ArrowType, Field, Schema};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::DFSchema;
use datafusion::common::DataFusionError;
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::physical_expr::create_physical_expr;
use datafusion::scalar::ScalarValue;
use firesteel_config::{SessionConfig, SqlConf};
use firesteel_error::SparkError;
use firesteel_functions::function::{QueryTime, SessionFacts};
use firesteel_functions::{BuildContext, TypedExpr};
use serde_json::Value;
use std::sync::Arc;

fn spark_error(error: DataFusionError) -> SparkError {
    match error {
        DataFusionError::External(inner) => *inner.downcast::<SparkError>().unwrap(),
        DataFusionError::Context(_, inner) => spark_error(*inner),
        other => SparkError::internal(other.to_string()),
    }
}

/// Rows of which the second is null where `with_null`, and which are the end of a longer batch.
fn batch(columns: &[ScalarValue], with_null: bool) -> RecordBatch {
    let fields: Vec<Field> = columns
        .iter()
        .enumerate()
        .map(|(index, value)| Field::new(format!("c{index}"), value.data_type(), true))
        .collect();
    let arrays = columns
        .iter()
        .map(|value| {
            let null = if with_null { ScalarValue::try_from(&value.data_type()).unwrap() } else { value.clone() };
            ScalarValue::iter_to_array([value.clone(), value.clone(), null, value.clone()]).unwrap()
        })
        .collect();
    let options = RecordBatchOptions::new().with_row_count(Some(4));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options).unwrap().slice(1, 3)
}

fn evaluate(expr: &TypedExpr, batch: &RecordBatch) -> Result<ArrayRef, SparkError> {
    let schema = DFSchema::try_from(batch.schema().as_ref().clone()).unwrap();
    let physical =
        create_physical_expr(&expr.expr, &schema, &ExecutionProps::new(), &PhysicalPlanningContext::default())
            .map_err(spark_error)?;
    let value = physical.evaluate(batch).map_err(spark_error)?;
    Ok(value.to_array(batch.num_rows()).unwrap())
}

/// The value as the answers spell it.
fn canonical(array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) || *array.data_type() == ArrowType::Null {
        return "NULL".to_string();
    }
    let float = |x: f64| match x {
        x if x.is_nan() => "NaN".to_string(),
        x if x.is_infinite() => if x > 0.0 { "inf" } else { "-inf" }.to_string(),
        x => format!("{x:e}"),
    };
    match array.data_type() {
        ArrowType::Utf8 => array.as_string::<i32>().value(row).to_string(),
        ArrowType::Utf8View => array.as_string_view().value(row).to_string(),
        ArrowType::Binary => format!("X'{}'", hex::encode_upper(array.as_binary::<i32>().value(row))),
        ArrowType::Float64 => float(array.as_primitive::<arrow::datatypes::Float64Type>().value(row)),
        ArrowType::Float32 => {
            let x = array.as_primitive::<arrow::datatypes::Float32Type>().value(row);
            if x.is_finite() { format!("{x:e}") } else { float(f64::from(x)) }
        }
        ArrowType::List(_) => {
            let values = array.as_list::<i32>().value(row);
            let parts: Vec<String> = (0..values.len()).map(|i| canonical(&values, i)).collect();
            format!("[{}]", parts.join(", "))
        }
        ArrowType::Struct(_) => {
            let parts: Vec<String> = array.as_struct().columns().iter().map(|c| canonical(c, row)).collect();
            format!("({})", parts.join(", "))
        }
        ArrowType::Map(..) => {
            let entries: ArrayRef = Arc::new(array.as_map().value(row));
            let (keys, values) = (entries.as_struct().column(0), entries.as_struct().column(1));
            let parts: Vec<String> =
                (0..entries.len()).map(|i| format!("{}: {}", canonical(keys, i), canonical(values, i))).collect();
            format!("{{{}}}", parts.join(", "))
        }
        ArrowType::Timestamp(_, _) => {
            let plain =
                arrow::compute::cast(array, &ArrowType::Timestamp(arrow::datatypes::TimeUnit::Microsecond, None))
                    .unwrap();
            let options = FormatOptions::default();
            let text = ArrayFormatter::try_new(&plain, &options).unwrap().value(row).to_string().replace('T', " ");
            // Six digits or none.
            match text.split_once('.') {
                Some((seconds, fraction)) => format!("{seconds}.{fraction:0<6}"),
                None => text,
            }
        }
        _ => ArrayFormatter::try_new(array, &FormatOptions::default()).unwrap().value(row).to_string(),
    }
}

fn agrees(expected: &str, actual: &str, data_type: &str) -> bool {
    if expected == actual {
        return true;
    }
    // Java's and C's mathematics may differ in the last bit.
    match (data_type, expected.parse::<f64>(), actual.parse::<f64>()) {
        ("double", Ok(a), Ok(b)) => (a.to_bits() as i64).abs_diff(b.to_bits() as i64) <= 1,
        _ => false,
    }
}

/// Nothing where the answer is right, else what is wrong with it; None where the line is skipped.
///
/// With `as_columns`, the literals of the call are columns instead.
fn check(line: &Value, conf: &SqlConf, as_columns: bool) -> Option<Result<(), String>> {
    let sql = line["sql"].as_str().unwrap();
    let session = SessionFacts {
        user: "root".into(),
        current_catalog: "spark_catalog".into(),
        current_database: "default".into(),
        version: "4.2.1 617618396087429b5627a86ce933bb0f5d6645cb".into(),
    };
    let mut context = BuildContext { conf, query_time: &QueryTime::at(0), context: None, session: &session };
    let fails = line["error"].is_string();
    let built = match call::build(sql, as_columns, &mut context) {
        Err(call::Fault::Skipped(_)) => return None,
        Err(call::Fault::Spark(error)) => Err(error),
        Ok(call) => evaluate(&call.expr, &batch(&call.columns, !fails)).map(|array| (call.expr, array)),
    };
    // What must be constant is no column, and what is drawn at random differs from row to row.
    let needs_constants = |error: &SparkError| {
        ["FOLDABLE", "NON_STRING_LITERAL", "NON_MAP_FUNCTION", "NULL_MAP_KEY", "USER_RAISED_EXCEPTION"]
            .iter()
            .any(|part| error.condition().is_some_and(|condition| condition.contains(part)))
    };
    if as_columns && (built.as_ref().is_err_and(needs_constants) || sql.contains("rand") || sql.contains("uuid")) {
        return None;
    }
    let outcome = match built {
        Err(error) => {
            if line["error"].is_null() {
                return Some(Err(format!("{sql}: {error}")));
            }
            let expected = line["error"].as_str().unwrap();
            if error.condition() != Some(expected) {
                return Some(Err(format!("{sql}: {expected} expected, not {error}")));
            }
            let mut wrong = Vec::new();
            for (name, value) in line["parameters"].as_object().unwrap() {
                let ours = error.parameters().iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
                if ours != value.as_str() {
                    wrong.push(format!("{name}: {value} expected, not {ours:?}"));
                }
            }
            if wrong.is_empty() { Ok(()) } else { Err(format!("{sql}: {}", wrong.join("; "))) }
        }
        Ok((expr, array)) => {
            if let Some(error) = line["error"].as_str() {
                return Some(Err(format!("{sql}: {error} expected, not {}", canonical(&array, 0))));
            }
            let actual = canonical(&array, 0);
            let last = canonical(&array, array.len() - 1);
            let (value, data_type) = (line["value"].as_str().unwrap(), line["type"].as_str().unwrap());
            let nullable = line["nullable"].as_bool().unwrap();
            let mut wrong = Vec::new();
            if !agrees(value, &actual, data_type) {
                wrong.push(format!("{value:?} expected, not {actual:?}"));
            }
            if as_columns {
                if !agrees(value, &last, data_type) {
                    wrong.push(format!("{value:?} expected in the last row, not {last:?}"));
                }
                return Some(if wrong.is_empty() {
                    Ok(())
                } else {
                    Err(format!("{sql} of columns: {}", wrong.join("; ")))
                });
            }
            if expr.data_type.simple_string() != data_type {
                wrong.push(format!("type {data_type} expected, not {}", expr.data_type.simple_string()));
            }
            if expr.nullable != nullable {
                wrong.push(format!("nullable {nullable} expected"));
            }
            if expr.name != line["name"].as_str().unwrap() {
                wrong.push(format!("name {} expected, not {}", line["name"], expr.name));
            }
            if wrong.is_empty() { Ok(()) } else { Err(format!("{sql}: {}", wrong.join("; "))) }
        }
    };
    Some(outcome)
}

fn answers(family: &str) {
    let path = format!("{}/tests/answers/{family}.jsonl", std::env::var("CARGO_MANIFEST_DIR").unwrap());
    let conf = SqlConf::new(&SessionConfig::default());
    let (mut right, mut skipped, mut wrong) = (0, Vec::new(), Vec::new());
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for as_columns in [false, true] {
            match check(&line, &conf, as_columns) {
                None => skipped.push(line["sql"].as_str().unwrap().to_string()),
                Some(Ok(())) => right += 1,
                Some(Err(what)) => wrong.push(what),
            }
        }
    }
    println!("{family}: {right} right, {} wrong, {} skipped", wrong.len(), skipped.len());
    for sql in &skipped {
        println!("skipped {sql}");
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

macro_rules! families {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            answers(stringify!($name));
        })+
    };
}

families!(string math bitwise hash misc regexp url json conversion);
