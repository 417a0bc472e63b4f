//! What literals mean. Expected values are Spark's own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

mod shape;

use firesteel_sql::ParserOptions;
use shape::{expression, expression_with};

#[test]
fn whole_numbers_grow_with_their_size() {
    assert_eq!(expression("1"), "1");
    assert_eq!(expression("-2147483648"), "-2147483648");
    assert_eq!(expression("- 1"), "-1");
    assert_eq!(expression("-(1)"), "(- 1)");
    assert_eq!(expression("1 -2"), "(- 1 2)");
    assert_eq!(expression("2147483648"), "Long(2147483648)");
    assert_eq!(expression("-9223372036854775808"), "Long(-9223372036854775808)");
    assert_eq!(expression("9223372036854775808"), "Decimal(9223372036854775808, 19, 0)");
    assert_eq!(expression(&"9".repeat(41)), "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION");
    assert_eq!(expression("-128Y"), "Byte(-128)");
    assert_eq!(expression("128Y"), "INVALID_NUMERIC_LITERAL_RANGE");
    assert_eq!(expression("1S"), "Short(1)");
    assert_eq!(expression("1l"), "Long(1)");
}

#[test]
fn numbers_with_a_point_are_decimals() {
    assert_eq!(expression("1.5"), "Decimal(15, 2, 1)");
    assert_eq!(expression("5."), "Decimal(5, 1, 0)");
    assert_eq!(expression(".5"), "Decimal(5, 1, 1)");
    assert_eq!(expression("00.10"), "Decimal(10, 2, 2)");
    assert_eq!(expression("1e3BD"), "Decimal(1000, 4, 0)");
    assert_eq!(expression("1e-5bd"), "Decimal(1, 5, 5)");
    assert_eq!(expression("1e-40bd"), "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION");
}

#[test]
fn exponents_and_suffixes_make_floats() {
    assert_eq!(expression("1e3"), "Double(1000.0)");
    assert_eq!(expression("1.5D"), "Double(1.5)");
    assert_eq!(expression("1F"), "Float(1.0)");
    assert_eq!(expression("1e400"), "INVALID_NUMERIC_LITERAL_RANGE");
    assert_eq!(expression("1e40f"), "INVALID_NUMERIC_LITERAL_RANGE");
    let options = ParserOptions { exponent_literal_as_decimal: true, ..ParserOptions::default() };
    assert_eq!(expression_with("1e3", &options), "Decimal(1000, 4, 0)");
}

#[test]
fn a_number_with_letters_after_it_is_a_name() {
    assert_eq!(expression("1e"), "1e");
    assert_eq!(expression("1.e"), "1['e']");
    assert_eq!(expression("t.1a"), "t.1a");
}

#[test]
fn strings_have_escapes() {
    assert_eq!(expression("'a''b'"), "'a'b'");
    assert_eq!(expression("'a' 'b'"), "'ab'");
    assert_eq!(expression("\"a\""), "'a'");
    assert_eq!(expression(r"'a\u0041\101\n\q'"), "'aAA\nq'");
    assert_eq!(expression(r"'\%\_'"), r"'\%\_'");
    assert_eq!(expression(r"r'a\n'"), r"'a\n'");
    assert_eq!(expression(r"'\U0001F600'"), "'😀'");
    let options = ParserOptions { double_quoted_identifiers: true, ..ParserOptions::default() };
    assert_eq!(expression_with("\"a\"", &options), "a");
    let options = ParserOptions { escaped_string_literals: true, ..ParserOptions::default() };
    assert_eq!(expression_with(r"'\n'", &options), r"'\n'");
}

#[test]
fn a_word_before_a_string_gives_its_type() {
    assert_eq!(expression("X'1aF'"), "Binary([1, 175])");
    assert_eq!(expression("X'zz'"), "INVALID_TYPED_LITERAL");
    assert_eq!(expression("DATE '2020-1-1'"), "Date(18262)");
    assert_eq!(expression("DATE '2020'"), "Date(18262)");
    assert_eq!(expression("DATE '-0001-01-01'"), "Date(-719893)");
    assert_eq!(expression("DATE '2020-13-01'"), "INVALID_TYPED_LITERAL");
    assert_eq!(expression("DATE 'tomorrow'"), "(date_add (current_date) 1)");
    assert_eq!(
        expression("TIMESTAMP '2020-01-01 1:2:3 Europe/Paris'"),
        "(cast Ansi '2020-01-01 1:2:3 Europe/Paris' Timestamp)"
    );
    assert_eq!(expression("TIMESTAMP '2020-01-01 25:00:00'"), "INVALID_TYPED_LITERAL");
    assert_eq!(expression("TIMESTAMP_NTZ '1970-01-01 00:00:01.5'"), "TimestampNtz(1500000)");
    assert_eq!(expression("TIME '12:00'"), "Time(43200000000000, 6)");
    assert_eq!(expression("TIME '12:00 PM'"), "Time(43200000000000, 6)");
    assert_eq!(expression("TIME '25:00'"), "INVALID_TYPED_LITERAL");
    assert_eq!(expression("FOO 'bar'"), "UNSUPPORTED_TYPED_LITERAL");
    let options = ParserOptions { timestamp_is_ntz: true, ..ParserOptions::default() };
    assert_eq!(expression_with("TIMESTAMP '1970-01-01'", &options), "TimestampNtz(0)");
    assert_eq!(expression_with("CAST(a AS TIMESTAMP)", &options), "(cast Session a TimestampNtz)");
}

#[test]
fn intervals_are_of_one_kind() {
    assert_eq!(expression("INTERVAL 1 MONTH"), "YearMonthInterval(1, YearMonthInterval(Month, Month))");
    assert_eq!(expression("INTERVAL 1 YEAR 2 MONTHS"), "YearMonthInterval(14, YearMonthInterval(Year, Month))");
    assert_eq!(expression("INTERVAL '1-2' YEAR TO MONTH"), "YearMonthInterval(14, YearMonthInterval(Year, Month))");
    assert_eq!(expression("INTERVAL -'-1-2' YEAR TO MONTH"), "YearMonthInterval(14, YearMonthInterval(Year, Month))");
    assert_eq!(expression("INTERVAL 1 WEEK 2 DAYS"), "DayTimeInterval(777600000000, DayTimeInterval(Day, Day))");
    assert_eq!(expression("INTERVAL '1 day 2 hours'"), "DayTimeInterval(93600000000, DayTimeInterval(Day, Hour))");
    assert_eq!(expression("INTERVAL 1.5 SECOND"), "DayTimeInterval(1500000, DayTimeInterval(Second, Second))");
    assert_eq!(
        expression("INTERVAL '1 10:11:12.123' DAY TO SECOND"),
        "DayTimeInterval(123072123000, DayTimeInterval(Day, Second))"
    );
    assert_eq!(expression("INTERVAL -'1' DAY -2 HOURS"), "DayTimeInterval(-93600000000, DayTimeInterval(Day, Hour))");
    assert_eq!(expression("INTERVAL 1 MONTH 1 DAY"), "_LEGACY_ERROR_TEMP_0029");
    assert_eq!(expression("INTERVAL '1day'"), "INVALID_TYPED_LITERAL");
    assert_eq!(expression("INTERVAL '1 day' DAY"), "_LEGACY_ERROR_TEMP_0026");
    assert_eq!(expression("INTERVAL 1 YEAR TO MONTH"), "_LEGACY_ERROR_TEMP_0027");
    assert_eq!(expression("INTERVAL 1.5 DAY"), "INVALID_INTERVAL_FORMAT.INVALID_FRACTION");
    assert_eq!(expression("INTERVAL '1 24:00:00' DAY TO SECOND"), "_LEGACY_ERROR_TEMP_0063");
    assert_eq!(expression("INTERVAL '5' MONTH TO YEAR"), "INVALID_INTERVAL_FORMAT.UNSUPPORTED_FROM_TO_EXPRESSION");
    assert_eq!(expression("INTERVAL 106751992 DAY"), "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION");
}

#[test]
fn intervals_of_old_are_calendar_intervals() {
    let options = ParserOptions { legacy_interval: true, ..ParserOptions::default() };
    assert_eq!(expression_with("INTERVAL 1 MONTH 1 DAY", &options), "CalendarInterval(1, 1, 0)");
    assert_eq!(expression_with("INTERVAL '25:10' HOUR TO MINUTE", &options), "CalendarInterval(0, 1, 4200000000)");
}
