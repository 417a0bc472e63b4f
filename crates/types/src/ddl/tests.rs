//! What Spark 4.2.1 says to each text.

use super::*;

/// Text, and the type as SQL.
const TYPES: &[(&str, &str)] = &[
    ("struct<>", "STRUCT<>"),
    ("struct<a int>", "STRUCT<a: INT>"),
    ("struct< >", "STRUCT<>"),
    ("character(3)", "CHAR(3)"),
    ("decimal(0,0)", "DECIMAL(0,0)"),
    ("dec", "DECIMAL(10,0)"),
    ("numeric(3)", "DECIMAL(3,0)"),
    ("time", "TIME(6)"),
    ("time(3) without time zone", "TIME(3)"),
    ("timestamp without time zone", "TIMESTAMP_NTZ"),
    ("timestamp with local time zone", "TIMESTAMP"),
    ("timestamp_ltz", "TIMESTAMP"),
    ("byte", "TINYINT"),
    ("short", "SMALLINT"),
    ("long", "BIGINT"),
    ("real", "FLOAT"),
    ("integer", "INT"),
    ("string collate unicode_CI", "STRING COLLATE UNICODE_CI"),
    ("string collate UNICODE_CI_AI", "STRING COLLATE UNICODE_CI_AI"),
    ("string collate en", "STRING COLLATE EN"),
    ("string collate de_CI_RTRIM", "STRING COLLATE DE_CI_RTRIM"),
    ("string collate system.builtin.unicode", "STRING COLLATE UNICODE"),
    ("string collate `unicode`", "STRING COLLATE UNICODE"),
    ("geometry( any )", "GEOMETRY(ANY)"),
    ("geography(4326)", "GEOGRAPHY(4326)"),
    ("void", "VOID"),
    ("array<array<int>>", "ARRAY<ARRAY<INT>>"),
    ("map<int, array<struct<a int>>>", "MAP<INT, ARRAY<STRUCT<a: INT>>>"),
    ("char(0)", "CHAR(0)"),
    ("boolean", "BOOLEAN"),
    ("varchar(0)", "VARCHAR(0)"),
    ("array<void>", "ARRAY<VOID>"),
    ("struct<a: interval day>", "STRUCT<a: INTERVAL DAY>"),
    ("struct<a: int not null comment 'x'>", "STRUCT<a: INT NOT NULL COMMENT 'x'>"),
    ("struct<1a: int>", "STRUCT<`1a`: INT>"),
    ("struct<`a`: int>", "STRUCT<a: INT>"),
    ("map<array<int>,map<int,int>>", "MAP<ARRAY<INT>, MAP<INT, INT>>"),
    ("string collate utf8_lcase_rtrim", "STRING COLLATE UTF8_LCASE_RTRIM"),
    ("string collate UTF8_BINARY_RTRIM", "STRING COLLATE UTF8_BINARY_RTRIM"),
];

/// Text, and the struct as SQL.
const SCHEMAS: &[(&str, &str)] = &[
    ("a int not null comment 'x' ", "STRUCT<a: INT NOT NULL COMMENT 'x'>"),
    ("a struct<x int, y:int comment 'a' 'b'>", "STRUCT<a: STRUCT<x: INT, y: INT COMMENT 'ab'>>"),
    ("`a` int", "STRUCT<a: INT>"),
    ("1a int", "STRUCT<`1a`: INT>"),
    ("a int comment \"dq\"", "STRUCT<a: INT COMMENT 'dq'>"),
    ("a int comment r'a\\n'", "STRUCT<a: INT COMMENT 'a\\n'>"),
    ("a int -- c\n, b int /* x */", "STRUCT<a: INT, b: INT>"),
    ("a int, a int", "STRUCT<a: INT, a: INT>"),
    ("a struct<a int, a int>", "STRUCT<a: STRUCT<a: INT, a: INT>>"),
];

/// Text, condition (empty: none), and column of the error.
const BAD_TYPES: &[(&str, &str, usize)] = &[
    ("array", "INCOMPLETE_TYPE_DEFINITION.ARRAY", 0),
    ("map", "INCOMPLETE_TYPE_DEFINITION.MAP", 0),
    ("struct", "INCOMPLETE_TYPE_DEFINITION.STRUCT", 0),
    ("foo", "UNSUPPORTED_DATATYPE", 0),
    ("foo(3)", "UNSUPPORTED_DATATYPE", 0),
    ("char", "DATATYPE_MISSING_SIZE", 0),
    ("varchar", "DATATYPE_MISSING_SIZE", 0),
    ("CHARACTER", "DATATYPE_MISSING_SIZE", 0),
    ("int(5)", "UNSUPPORTED_DATATYPE", 0),
    ("decimal(40)", "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", 0),
    ("decimal(40,2)", "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", 0),
    ("decimal(5,6)", "", 0),
    ("decimal(1,2,3)", "UNSUPPORTED_DATATYPE", 0),
    ("decimal()", "PARSE_SYNTAX_ERROR", 8),
    ("decimal(5,-2)", "PARSE_SYNTAX_ERROR", 10),
    ("time(7)", "UNSUPPORTED_TIME_PRECISION", 0),
    ("time()", "PARSE_SYNTAX_ERROR", 5),
    ("timestamp with time zone", "PARSE_SYNTAX_ERROR", 10),
    ("datetime", "UNSUPPORTED_DATATYPE", 0),
    ("interval day to year", "PARSE_SYNTAX_ERROR", 13),
    ("interval hour to day", "PARSE_SYNTAX_ERROR", 14),
    ("interval second to second", "INVALID_INTERVAL_FORMAT.UNSUPPORTED_FROM_TO_EXPRESSION", 0),
    ("interval month to month", "INVALID_INTERVAL_FORMAT.UNSUPPORTED_FROM_TO_EXPRESSION", 0),
    ("interval year to year", "PARSE_SYNTAX_ERROR", 14),
    ("interval month to year", "PARSE_SYNTAX_ERROR", 15),
    ("interval foo", "PARSE_SYNTAX_ERROR", 9),
    ("interval day hour", "PARSE_SYNTAX_ERROR", 13),
    ("string collate foo", "COLLATION_INVALID_NAME", 0),
    ("geometry", "UNSUPPORTED_DATATYPE", 0),
    ("geography", "UNSUPPORTED_DATATYPE", 0),
    ("geometry(1)", "ST_INVALID_SRID_VALUE", 0),
    ("geography(3857)", "ST_INVALID_SRID_VALUE", 0),
    ("geometry(-1)", "PARSE_SYNTAX_ERROR", 8),
    ("variant(1)", "UNSUPPORTED_DATATYPE", 0),
    ("null", "UNSUPPORTED_DATATYPE", 0),
    ("array<int", "PARSE_SYNTAX_ERROR", 5),
    ("array<int>>", "PARSE_SYNTAX_ERROR", 10),
    ("array<>", "PARSE_SYNTAX_ERROR", 5),
    ("map<int>", "PARSE_SYNTAX_ERROR", 3),
    ("map<int,int,int>", "PARSE_SYNTAX_ERROR", 3),
    ("`int`", "UNSUPPORTED_DATATYPE", 0),
    ("a.b", "PARSE_SYNTAX_ERROR", 1),
    ("timestamp(3)", "UNSUPPORTED_DATATYPE", 0),
    ("string collate", "PARSE_SYNTAX_ERROR", 7),
    ("string(3)", "UNSUPPORTED_DATATYPE", 0),
    ("varchar(99999999999)", "", 0),
    ("decimal(99999999999)", "", 0),
    ("struct<a:int,>", "PARSE_SYNTAX_ERROR", 6),
    ("struct<a:int b:int>", "PARSE_SYNTAX_ERROR", 6),
    ("double precision", "PARSE_SYNTAX_ERROR", 7),
    ("int unsigned", "PARSE_SYNTAX_ERROR", 4),
    ("text", "UNSUPPORTED_DATATYPE", 0),
    ("blob", "UNSUPPORTED_DATATYPE", 0),
    ("any", "UNSUPPORTED_DATATYPE", 0),
    ("struct<a: int comment 'x' not null>", "PARSE_SYNTAX_ERROR", 6),
    ("'int'", "PARSE_SYNTAX_ERROR", 0),
    ("int;", "PARSE_SYNTAX_ERROR", 3),
    ("int x", "PARSE_SYNTAX_ERROR", 4),
    ("float(3)", "UNSUPPORTED_DATATYPE", 0),
    ("nvarchar(3)", "UNSUPPORTED_DATATYPE", 0),
    ("object", "UNSUPPORTED_DATATYPE", 0),
];

const BAD_SCHEMAS: &[(&str, &str, usize)] = &[
    ("a int b", "PARSE_SYNTAX_ERROR", 6),
    ("a int,", "PARSE_SYNTAX_ERROR", 6),
    ("", "PARSE_EMPTY_STATEMENT", 0),
    ("a", "PARSE_SYNTAX_ERROR", 1),
    ("a int default 5", "PARSE_SYNTAX_ERROR", 6),
    ("a array<int", "PARSE_SYNTAX_ERROR", 7),
    ("a map<int,int>>", "PARSE_SYNTAX_ERROR", 14),
    ("a b.c", "PARSE_SYNTAX_ERROR", 3),
    ("struct<>", "PARSE_SYNTAX_ERROR", 6),
    ("a int null", "PARSE_SYNTAX_ERROR", 6),
    ("a int comment 'x' not null", "PARSE_SYNTAX_ERROR", 18),
    ("`a int", "PARSE_SYNTAX_ERROR", 0),
    ("a-b int", "INVALID_IDENTIFIER", 1),
    ("a int comment x", "PARSE_SYNTAX_ERROR", 14),
    ("a.b int", "PARSE_SYNTAX_ERROR", 1),
];

#[test]
fn types_parse() {
    for (text, sql) in TYPES {
        assert_eq!(parse_data_type(text).map(|t| t.sql()).map_err(|e| e.to_string()).as_deref(), Ok(*sql), "{text}");
    }
}

#[test]
fn schemas_parse() {
    for (text, sql) in SCHEMAS {
        assert_eq!(parse_table_schema(text).map(|t| t.sql()).map_err(|e| e.to_string()).as_deref(), Ok(*sql), "{text}");
    }
}

fn check(text: &str, error: SparkError, condition: &str, column: usize) {
    assert_eq!(error.condition().unwrap_or(""), condition, "{text}");
    let context = error.contexts().first().map(|context| context.excerpt().column);
    if let Some(found) = error.position().map(|position| position.column).or(context) {
        assert_eq!(found, column, "{text}");
    }
}

#[test]
fn bad_types_fail_where_spark_fails() {
    for (text, condition, column) in BAD_TYPES {
        check(text, parse_data_type(text).unwrap_err(), condition, *column);
    }
}

#[test]
fn bad_schemas_fail_where_spark_fails() {
    for (text, condition, column) in BAD_SCHEMAS {
        check(text, parse_table_schema(text).unwrap_err(), condition, *column);
    }
}

#[test]
fn colons_may_follow_column_names() {
    let schema =
        parse_table_schema("a: INT, b STRING NOT NULL COMMENT 'x', c: STRUCT<x INT, y: ARRAY<STRING>>").unwrap();
    assert_eq!(schema.to_ddl(), "a INT,b STRING NOT NULL COMMENT 'x',c STRUCT<x: INT, y: ARRAY<STRING>>");
}

#[test]
fn hints_name_extra_input() {
    let hint = |text: &str| parse_data_type(text).unwrap_err().parameters()[1].1.clone();
    assert_eq!(hint("map<int, boolean>>"), ": extra input '>'");
    assert_eq!(hint("int x"), "");
}

#[test]
fn a_schema_is_json_columns_or_a_type() {
    assert_eq!(parse_schema("\"long\"").unwrap(), DataType::Long);
    assert_eq!(parse_schema(" map<string , string > ").unwrap().sql(), "MAP<STRING, STRING>");
    assert_eq!(parse_schema("a DOUBLE, b CHAR( 50 )").unwrap().sql(), "STRUCT<a: DOUBLE, b: CHAR(50)>");
    assert_eq!(parse_schema("interval day").unwrap().sql(), "INTERVAL DAY");
    assert!(parse_schema("blabla").unwrap_err().is("PARSE_SYNTAX_ERROR"));
    assert!(parse_ddl("blabla").unwrap_err().is("UNSUPPORTED_DATATYPE"));
}

#[test]
fn nesting_is_limited() {
    let deep = |levels: usize| format!("{}int{}", "struct<a: ".repeat(levels), ">".repeat(levels));
    let deepest = parse_data_type(&deep(MAX_DEPTH)).unwrap();
    assert_eq!(parse_data_type(&deepest.sql()).unwrap(), deepest);
    assert!(parse_data_type(&deep(100_000)).unwrap_err().is("FAILED_TO_PARSE_TOO_COMPLEX"));
}

#[test]
fn strings_are_unescaped() {
    let comment = |text: &str| {
        let schema = parse_table_schema(&format!("a int comment {text}")).unwrap();
        schema.fields[0].comment().unwrap().to_string()
    };
    assert_eq!(comment(r"'a\n\t\\ \'q\' ''d'' \u0041 \101'"), "a\n\t\\ 'q' 'd' A A");
    assert_eq!(comment(r"r'a\n'"), r"a\n");
    assert_eq!(comment("\"it's\" ' two'"), "it's two");
}
