//! How a table is divided among partitions.

use super::options::Bounds;
use super::url::Database;
use crate::error::illegal;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::moment_text::{write_date, write_timestamp};
use firesteel_types::{DataType, StructField, StructType, TimeZone};

/// The condition of each partition; None for all rows.
pub(super) fn conditions(
    bounds: &Bounds,
    database: Database,
    schema: &StructType,
    case_sensitive: bool,
    zone: TimeZone,
) -> Result<Vec<Option<String>>> {
    let field = field(&bounds.column, schema, case_sensitive)?;
    let is_numeric = field.data_type.is_numeric();
    if !is_numeric && !matches!(field.data_type, DataType::Date | DataType::Timestamp | DataType::TimestampNtz) {
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1287")
            .with("numericType", "numeric")
            .with("dateType", "date")
            .with("timestampType", "timestamp")
            .with("dataType", field.data_type.catalog_string()));
    }
    let lower = bound(&bounds.lower, &field.data_type, zone)?;
    let upper = bound(&bounds.upper, &field.data_type, zone)?;
    if lower > upper {
        return Err(illegal(format!(
            "requirement failed: Operation not allowed: the lower bound of partitioning column is larger than the \
             upper bound. Lower bound: {}; Upper bound: {}",
            bounds.lower, bounds.upper
        )));
    }
    let (lower, upper) = (i128::from(lower), i128::from(upper));
    let count = i128::from(bounds.count).min(upper - lower);
    if bounds.count <= 1 || count <= 1 {
        return Ok(vec![None]);
    }
    let column = database.quoted(&field.name);
    let text = |value: i128| text(value, &field.data_type, zone);
    let (stride, mut current) = strides(lower, upper, count);
    let mut all = Vec::new();
    for i in 0..count {
        let from = (i != 0).then(|| format!("{column} >= {}", text(current)));
        current += stride;
        let to = (i != count - 1).then(|| format!("{column} < {}", text(current)));
        all.push(match (from, to) {
            (Some(from), Some(to)) => Some(format!("{from} AND {to}")),
            (None, Some(to)) => Some(format!("{to} or {column} is null")),
            (from, None) => from,
        });
    }
    Ok(all)
}

/// The length of a stride, and where the first begins: what is lost by rounding strides lies at both ends.
fn strides(lower: i128, upper: i128, count: i128) -> (i128, i128) {
    const ONE: i128 = 1_000_000_000_000_000_000;
    let precise = half_even(upper * ONE, count) - half_even(lower * ONE, count);
    let stride = precise / ONE;
    let lost = (precise - stride * ONE) * count;
    (stride, lower + (lost + ONE) / (2 * ONE))
}

/// A quotient, rounded to the nearest, to the even one of two.
fn half_even(value: i128, by: i128) -> i128 {
    let (quotient, rest) = (value.div_euclid(by), value.rem_euclid(by));
    match (2 * rest).cmp(&by) {
        std::cmp::Ordering::Less => quotient,
        std::cmp::Ordering::Greater => quotient + 1,
        std::cmp::Ordering::Equal => quotient + quotient.rem_euclid(2),
    }
}

fn field<'a>(name: &str, schema: &'a StructType, case_sensitive: bool) -> Result<&'a StructField> {
    let bare = name.trim_matches(['"', '`']);
    let same = |field: &&StructField| {
        if case_sensitive { field.name == bare } else { field.name.eq_ignore_ascii_case(bare) }
    };
    schema.fields.iter().find(same).ok_or_else(|| {
        let fields: Vec<String> =
            schema.fields.iter().map(|f| format!("{}: {}", f.name, f.data_type.simple_string())).collect();
        SparkError::new("_LEGACY_ERROR_TEMP_1286")
            .with("columnName", name)
            .with("schema", format!("struct<{}>", fields.join(", ")))
    })
}

/// A bound as a number: days, or microseconds.
fn bound(text: &str, data_type: &DataType, zone: TimeZone) -> Result<i64> {
    use super::cell::{BinaryText, Cell, Column};
    use firesteel_types::Literal;
    if data_type.is_numeric() {
        let wrong = || SparkError::plain(ExceptionClass::NumberFormat, format!("For input string: \"{text}\""));
        return text.parse().map_err(|_| wrong());
    }
    let column = Column { data_type: data_type.clone(), zone, is_told: false, binary: BinaryText::Raw };
    match column.literal(Cell::Text(text.trim())) {
        Ok(Literal::Date(days)) => Ok(i64::from(days)),
        Ok(Literal::Timestamp(micros) | Literal::TimestampNtz(micros)) => Ok(micros),
        _ => Err(illegal(format!("Cannot parse the bound value {text} as {}", data_type.simple_string()))),
    }
}

/// A bound in SQL.
fn text(value: i128, data_type: &DataType, zone: TimeZone) -> String {
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    let mut text = String::new();
    match data_type {
        DataType::Date => write_date(&mut text, value),
        DataType::Timestamp => write_timestamp(&mut text, zone.to_local(value)),
        DataType::TimestampNtz => write_timestamp(&mut text, value),
        _ => return value.to_string(),
    }
    format!("'{text}'")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parts(data_type: DataType, lower: &str, upper: &str, count: i32) -> Vec<String> {
        let schema = StructType::new(vec![StructField::new("c", data_type, true)]);
        let bounds = Bounds { column: "C".into(), lower: lower.into(), upper: upper.into(), count };
        let all = conditions(&bounds, Database::Postgres, &schema, false, TimeZone::UTC).unwrap();
        all.into_iter().map(Option::unwrap_or_default).collect()
    }

    #[test]
    fn strides_cover_the_bounds() {
        assert_eq!(
            parts(DataType::Integer, "0", "10", 3),
            ["\"c\" < 3 or \"c\" is null", "\"c\" >= 3 AND \"c\" < 6", "\"c\" >= 6"]
        );
        assert_eq!(parts(DataType::Integer, "0", "2", 5), ["\"c\" < 1 or \"c\" is null", "\"c\" >= 1"]);
        assert_eq!(parts(DataType::Integer, "3", "3", 5), [""]);
        assert_eq!(
            parts(DataType::Date, "2020-01-01", "2020-01-05", 2),
            ["\"c\" < '2020-01-03' or \"c\" is null", "\"c\" >= '2020-01-03'"]
        );
    }
}
