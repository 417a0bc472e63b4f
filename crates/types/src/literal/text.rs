//! Literals as text: SQL, and the form in names of columns.

use crate::interval_text::{write_calendar_interval, write_day_time, write_year_month};
use crate::moment_text::{write_date, write_time, write_timestamp, write_timestamp_at};
use crate::number_text::{write_decimal, write_double, write_float};
use crate::{DataType, DayTimeField, Literal, TimeZone, YearMonthField};
use std::fmt::Write;

impl Literal {
    /// The literal as SQL text, such as `1L`, `DATE '2020-01-01'` or `ARRAY(1, 2)`; timestamps in the session's zone.
    ///
    /// ```
    /// use firesteel_types::{Literal, TimeZone};
    /// assert_eq!(Literal::Double(1.5).sql(TimeZone::UTC), "1.5D");
    /// assert_eq!(Literal::String("it's".into()).sql(TimeZone::UTC), r"'it\'s'");
    /// ```
    pub fn sql(&self, zone: TimeZone) -> String {
        let mut out = String::new();
        self.write_sql(&mut out, zone);
        out
    }

    /// The literal as it stands in the name of a column, such as `1`, `abc`, `NULL` or `DATE '2020-01-01'`.
    pub fn display(&self, zone: TimeZone) -> String {
        let mut out = String::new();
        match self {
            Literal::Null(_) => out.push_str("NULL"),
            Literal::String(text) => out.push_str(text),
            other => {
                if !other.write_number(&mut out) {
                    other.write_sql(&mut out, zone);
                }
            }
        }
        out
    }

    /// Appends a number without its SQL suffix; false for all else.
    fn write_number(&self, out: &mut String) -> bool {
        // Writing to a string cannot fail, here and below.
        let _ = match self {
            Literal::Byte(value) => write!(out, "{value}"),
            Literal::Short(value) => write!(out, "{value}"),
            Literal::Integer(value) => write!(out, "{value}"),
            Literal::Long(value) => write!(out, "{value}"),
            Literal::Float(value) => {
                write_float(out, *value);
                Ok(())
            }
            Literal::Double(value) => {
                write_double(out, *value);
                Ok(())
            }
            Literal::Decimal(unscaled, _, scale) => {
                write_decimal(out, *unscaled, *scale);
                Ok(())
            }
            _ => return false,
        };
        true
    }

    fn write_sql(&self, out: &mut String, zone: TimeZone) {
        let quoted = |out: &mut String, word: &str, write: &dyn Fn(&mut String)| {
            out.push_str(word);
            out.push_str(" '");
            write(out);
            out.push('\'');
        };
        match self {
            Literal::Null(data_type) => match data_type {
                DataType::Null | DataType::Array { .. } | DataType::Map { .. } | DataType::Struct(_) => {
                    out.push_str("NULL");
                }
                other => out.push_str(&format!("CAST(NULL AS {})", other.sql())),
            },
            Literal::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
            Literal::Byte(_) | Literal::Short(_) | Literal::Integer(_) | Literal::Long(_) | Literal::Decimal(..) => {
                self.write_number(out);
                out.push_str(match self {
                    Literal::Byte(_) => "Y",
                    Literal::Short(_) => "S",
                    Literal::Long(_) => "L",
                    Literal::Decimal(..) => "BD",
                    _ => "",
                });
            }
            Literal::Float(_) => {
                out.push_str("CAST('");
                self.write_number(out);
                out.push_str("' AS FLOAT)");
            }
            Literal::Double(value) if value.is_finite() => {
                self.write_number(out);
                out.push('D');
            }
            Literal::Double(_) => {
                out.push_str("CAST('");
                self.write_number(out);
                out.push_str("' AS DOUBLE)");
            }
            Literal::String(text) => write_quoted(out, text),
            Literal::Binary(bytes) => {
                out.push_str("X'");
                bytes.iter().for_each(|byte| {
                    let _ = write!(out, "{byte:02X}");
                });
                out.push('\'');
            }
            Literal::Date(days) => quoted(out, "DATE", &|out| write_date(out, i64::from(*days))),
            Literal::Timestamp(micros) => quoted(out, "TIMESTAMP", &|out| {
                write_timestamp_at(out, *micros, zone.offset_at(micros.div_euclid(1_000_000)));
            }),
            Literal::TimestampNtz(micros) => quoted(out, "TIMESTAMP_NTZ", &|out| write_timestamp(out, *micros)),
            Literal::Time(nanos, _) => quoted(out, "TIME", &|out| write_time(out, *nanos)),
            Literal::CalendarInterval(months, days, micros) => {
                quoted(out, "INTERVAL", &|out| write_calendar_interval(out, *months, *days, *micros));
            }
            Literal::YearMonthInterval(months, data_type) => {
                let (start, end) = match data_type {
                    DataType::YearMonthInterval(start, end) => (*start, *end),
                    _ => (YearMonthField::Year, YearMonthField::Month),
                };
                write_year_month(out, *months, start, end);
            }
            Literal::DayTimeInterval(micros, data_type) => {
                let (start, end) = match data_type {
                    DataType::DayTimeInterval(start, end) => (*start, *end),
                    _ => (DayTimeField::Day, DayTimeField::Second),
                };
                write_day_time(out, *micros, start, end);
            }
            Literal::Array(elements, _) => {
                write_call(out, "ARRAY", elements.iter().map(|element| element.sql(zone)));
            }
            Literal::Map(entries, _, _) => {
                let pairs = entries.iter().flat_map(|(key, value)| [key.sql(zone), value.sql(zone)]);
                write_call(out, "MAP", pairs);
            }
            Literal::Struct(values, data_type) => {
                let pairs = data_type.fields.iter().zip(values).flat_map(|(field, value)| {
                    let mut name = String::new();
                    write_quoted(&mut name, &field.name);
                    [name, value.sql(zone)]
                });
                write_call(out, "NAMED_STRUCT", pairs);
            }
        }
    }
}

fn write_quoted(out: &mut String, text: &str) {
    out.push('\'');
    for c in text.chars() {
        if c == '\\' || c == '\'' {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('\'');
}

fn write_call(out: &mut String, function: &str, arguments: impl Iterator<Item = String>) {
    let arguments: Vec<String> = arguments.collect();
    let _ = write!(out, "{function}({})", arguments.join(", "));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddl::parse_data_type;

    #[test]
    fn literals_are_sparks() {
        let zone = TimeZone::parse("America/Los_Angeles").unwrap();
        let int = Literal::Integer;
        let string = |text: &str| Literal::String(text.into());
        let DataType::Struct(fields) = parse_data_type("struct<a: int, `b c`: string>").unwrap() else {
            unreachable!()
        };
        // SQL and the name of a column, by Spark 4.2.1.
        for (literal, sql, name) in [
            (int(1), "1", "1"),
            (Literal::Long(1), "1L", "1"),
            (Literal::Byte(1), "1Y", "1"),
            (Literal::Short(-1), "-1S", "-1"),
            (Literal::Float(1.5), "CAST('1.5' AS FLOAT)", "1.5"),
            (Literal::Float(f32::NEG_INFINITY), "CAST('-Infinity' AS FLOAT)", "-Infinity"),
            (Literal::Double(1e10), "1.0E10D", "1.0E10"),
            (Literal::Double(-0.0), "-0.0D", "-0.0"),
            (Literal::Double(f64::NAN), "CAST('NaN' AS DOUBLE)", "NaN"),
            (Literal::Decimal(150, 3, 2), "1.50BD", "1.50"),
            (Literal::Decimal(1, 8, 8), "1E-8BD", "1E-8"),
            (string("it's"), "'it\\'s'", "it's"),
            (string("a\\b"), "'a\\\\b'", "a\\b"),
            (string("a\nb"), "'a\nb'", "a\nb"),
            (Literal::Boolean(true), "true", "true"),
            (Literal::Null(DataType::Null), "NULL", "NULL"),
            (Literal::Null(DataType::Integer), "CAST(NULL AS INT)", "NULL"),
            (Literal::Null(DataType::array(DataType::Integer, true)), "NULL", "NULL"),
            (Literal::Binary(vec![0x1f, 0]), "X'1F00'", "X'1F00'"),
            (Literal::Date(18_262), "DATE '2020-01-01'", "DATE '2020-01-01'"),
            (
                Literal::Timestamp(1_590_969_600_000_000),
                "TIMESTAMP '2020-05-31 17:00:00'",
                "TIMESTAMP '2020-05-31 17:00:00'",
            ),
            (
                Literal::TimestampNtz(1),
                "TIMESTAMP_NTZ '1970-01-01 00:00:00.000001'",
                "TIMESTAMP_NTZ '1970-01-01 00:00:00.000001'",
            ),
            (Literal::Time(45_296_700_000_000, 6), "TIME '12:34:56.7'", "TIME '12:34:56.7'"),
            (
                Literal::CalendarInterval(14, 25, 18_367_500_000),
                "INTERVAL '1 years 2 months 25 days 5 hours 6 minutes 7.5 seconds'",
                "INTERVAL '1 years 2 months 25 days 5 hours 6 minutes 7.5 seconds'",
            ),
            (
                Literal::YearMonthInterval(14, DataType::YEAR_MONTH),
                "INTERVAL '1-2' YEAR TO MONTH",
                "INTERVAL '1-2' YEAR TO MONTH",
            ),
            (
                Literal::DayTimeInterval(-1_500_000, parse_data_type("interval second").unwrap()),
                "INTERVAL '-01.5' SECOND",
                "INTERVAL '-01.5' SECOND",
            ),
            (
                Literal::Array(vec![string("a"), Literal::Null(DataType::STRING)], DataType::STRING),
                "ARRAY('a', CAST(NULL AS STRING))",
                "ARRAY('a', CAST(NULL AS STRING))",
            ),
            (Literal::Array(vec![], DataType::Null), "ARRAY()", "ARRAY()"),
            (
                Literal::Map(vec![(string("a"), Literal::Long(1))], DataType::STRING, DataType::Long),
                "MAP('a', 1L)",
                "MAP('a', 1L)",
            ),
            (
                Literal::Struct(vec![int(1), string("x")], fields),
                "NAMED_STRUCT('a', 1, 'b c', 'x')",
                "NAMED_STRUCT('a', 1, 'b c', 'x')",
            ),
        ] {
            assert_eq!(literal.sql(zone), sql);
            assert_eq!(literal.display(zone), name);
        }
    }
}
