//! What Spark 4.2.1 prints.

use super::*;
use crate::Literal;
use crate::ddl::parse_data_type;

fn text(literal: &Literal, style: TextStyle) -> String {
    let array = literal.to_array(1).unwrap();
    let zone = TimeZone::parse("America/Los_Angeles").unwrap();
    let mut out = String::new();
    ValueFormatter::in_zone(&literal.data_type(), zone, style).write(&mut out, &array, 0).unwrap();
    out
}

#[test]
fn values_are_sparks() {
    let int = |value: Option<i32>| value.map_or(Literal::Null(DataType::Integer), Literal::Integer);
    let string = |text: &str| Literal::String(text.to_string());
    let row = |values: Vec<Literal>| {
        let field = |(i, v): (usize, &Literal)| crate::StructField::new(format!("c{i}"), v.data_type(), true);
        let fields = values.iter().enumerate().map(field).collect();
        Literal::Struct(values.clone(), std::sync::Arc::new(StructType::new(fields)))
    };
    // Cast without and with ANSI mode, and show, by Spark 4.2.1.
    for (literal, cast, ansi, show) in [
        (Literal::Decimal(1, 10, 8), "1E-8", "0.00000001", "0.00000001"),
        (Literal::Decimal(0, 10, 8), "0E-8", "0.00000000", "0.00000000"),
        (Literal::Double(1e10), "1.0E10", "1.0E10", "1.0E10"),
        (Literal::Float(1.1), "1.1", "1.1", "1.1"),
        (Literal::Binary(b"abc".to_vec()), "abc", "abc", "[61 62 63]"),
        (Literal::Binary(vec![0xff, 0]), "\u{fffd}\0", "\u{fffd}\0", "[FF 00]"),
        (Literal::Boolean(true), "true", "true", "true"),
        (Literal::Date(18_262), "2020-01-01", "2020-01-01", "2020-01-01"),
        (
            Literal::Timestamp(1_577_865_600_100_000),
            "2020-01-01 00:00:00.1",
            "2020-01-01 00:00:00.1",
            "2020-01-01 00:00:00.1",
        ),
        (
            Literal::TimestampNtz(1),
            "1970-01-01 00:00:00.000001",
            "1970-01-01 00:00:00.000001",
            "1970-01-01 00:00:00.000001",
        ),
        (Literal::Time(3_723_100_000_000, 6), "01:02:03.1", "01:02:03.1", "01:02:03.1"),
        (
            Literal::YearMonthInterval(14, DataType::YEAR_MONTH),
            "INTERVAL '1-2' YEAR TO MONTH",
            "INTERVAL '1-2' YEAR TO MONTH",
            "INTERVAL '1-2' YEAR TO MONTH",
        ),
        (
            Literal::DayTimeInterval(18_000_000_000, parse_data_type("interval hour").unwrap()),
            "INTERVAL '05' HOUR",
            "INTERVAL '05' HOUR",
            "INTERVAL '05' HOUR",
        ),
        (
            Literal::CalendarInterval(0, 1, -500_000),
            "1 days -0.5 seconds",
            "1 days -0.5 seconds",
            "1 days -0.5 seconds",
        ),
        (
            Literal::Array(vec![int(Some(1)), int(None), int(Some(3))], DataType::Integer),
            "[1, null, 3]",
            "[1, null, 3]",
            "[1, NULL, 3]",
        ),
        (Literal::Array(vec![string("a"), string("b c")], DataType::STRING), "[a, b c]", "[a, b c]", "[a, b c]"),
        (
            Literal::Array(vec![Literal::Decimal(1, 8, 8)], DataType::Decimal(8, 8)),
            "[1E-8]",
            "[0.00000001]",
            "[0.00000001]",
        ),
        (Literal::Array(vec![Literal::Binary(b"ab".to_vec())], DataType::Binary), "[ab]", "[ab]", "[[61 62]]"),
        (Literal::Array(vec![], DataType::Null), "[]", "[]", "[]"),
        (Literal::Array(vec![Literal::Null(DataType::Null)], DataType::Null), "[null]", "[null]", "[NULL]"),
        (
            Literal::Map(
                vec![(string("a"), int(Some(1))), (string("b"), int(None))],
                DataType::STRING,
                DataType::Integer,
            ),
            "{a -> 1, b -> null}",
            "{a -> 1, b -> null}",
            "{a -> 1, b -> NULL}",
        ),
        (row(vec![int(Some(1)), string("x"), int(None)]), "{1, x, null}", "{1, x, null}", "{1, x, NULL}"),
        (
            row(vec![Literal::Map(
                vec![(int(Some(1)), row(vec![int(Some(2))]))],
                DataType::Integer,
                row(vec![int(Some(2))]).data_type(),
            )]),
            "{{1 -> {2}}}",
            "{{1 -> {2}}}",
            "{{1 -> {2}}}",
        ),
    ] {
        assert_eq!(text(&literal, TextStyle::Cast { plain_decimals: false }), cast);
        assert_eq!(text(&literal, TextStyle::Cast { plain_decimals: true }), ansi);
        assert_eq!(text(&literal, TextStyle::Show), show);
    }
}

#[test]
fn encodings_do_not_matter() {
    let plain = StringArray::from(vec![Some("a"), None]);
    let formatter = ValueFormatter::new(&DataType::STRING, "UTC", TextStyle::Show).unwrap();
    for encoding in [
        ArrowType::Utf8View,
        ArrowType::LargeUtf8,
        ArrowType::Dictionary(Box::new(ArrowType::Int8), Box::new(ArrowType::Utf8)),
    ] {
        let array = arrow::compute::cast(&plain, &encoding).unwrap();
        assert_eq!(formatter.to_strings(&array).unwrap(), plain);
    }
}

#[test]
fn vectors_have_a_form_of_their_own() {
    let vector = |json: &str| DataType::from_json(json).unwrap();
    let udt = vector(
        r#"{"type":"udt","class":"org.apache.spark.ml.linalg.VectorUDT","sqlType":{"type":"struct","fields":[
        {"name":"type","type":"byte"},{"name":"size","type":"integer"},
        {"name":"indices","type":{"type":"array","elementType":"integer","containsNull":false}},
        {"name":"values","type":{"type":"array","elementType":"double","containsNull":false}}]}}"#,
    );
    let DataType::Udt { sql_type, .. } = &udt else { unreachable!() };
    let DataType::Struct(fields) = sql_type.as_ref() else { unreachable!() };
    let doubles = Literal::Array(vec![Literal::Double(1.0), Literal::Double(2.5)], DataType::Double);
    let indices = Literal::Array(vec![Literal::Integer(0), Literal::Integer(2)], DataType::Integer);
    let ints = DataType::array(DataType::Integer, false);
    for (values, expected) in [
        (vec![Literal::Byte(1), Literal::Null(DataType::Integer), Literal::Null(ints), doubles.clone()], "[1.0,2.5]"),
        (vec![Literal::Byte(0), Literal::Integer(3), indices, doubles], "(3,[0,2],[1.0,2.5])"),
    ] {
        let array = Literal::Struct(values, fields.clone()).to_array(1).unwrap();
        let mut out = String::new();
        let formatter = ValueFormatter::new(&udt, "UTC", TextStyle::Show).unwrap();
        formatter.write(&mut out, &array, 0).unwrap();
        assert_eq!(out, expected);
    }
}
