"""Built-in functions: their descriptions, names, types and last bits. Expected values are Spark's."""

import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException, PySparkException
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegerType


def value(spark, query):
    return spark.sql(query).collect()[0][0]


def condition(spark, query):
    with pytest.raises(PySparkException) as error:
        spark.sql(query).collect()
    return error.value.getCondition()


def test_descriptions_come_from_the_declarations(spark):
    lines = [row[0] for row in spark.sql("DESCRIBE FUNCTION EXTENDED lpad").collect()]
    assert lines[0] == "Function: lpad"
    assert lines[1] == "Class: org.apache.spark.sql.catalyst.expressions.LPadExpressionBuilder"
    assert lines[2].startswith("Usage: lpad(str, len[, pad]) - ")
    assert lines[3].startswith("Extended Usage:\n    Examples:\n      > SELECT lpad(") and "  \n    Since: 1.5.0\n" in lines[3]
    assert [row[0] for row in spark.sql("DESCRIBE FUNCTION case").collect()][1].startswith("Usage: ")
    assert spark.catalog.getFunction("abs").className == "org.apache.spark.sql.catalyst.expressions.Abs"


def test_listings_know_the_functions_of_sql_only(spark):
    names = [row.function for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()]
    assert len(names) == 574 and "product" not in names and {"from_avro", "theta_union", "!="} <= set(names)
    assert [row.function for row in spark.sql("SHOW FUNCTIONS LIKE 'abs|acos'").collect()] == ["abs", "acos"]
    assert not spark.catalog.functionExists("product")
    assert spark.range(3).select(F.product(F.col("id") + 1)).collect()[0][0] == 6.0


def test_functions_unknown_to_sql_give_way(spark):
    spark.sql("CREATE TEMPORARY FUNCTION product(x INT) RETURNS INT RETURN x + 41")
    assert value(spark, "SELECT product(1)") == 42


@pytest.mark.parametrize(
    "query, name",
    [
        ("SELECT hll_union(hll_sketch_agg(1), hll_sketch_agg(2))", "hll_union(hll_sketch_agg(1, 12), hll_sketch_agg(2, 12), false)"),
        ("SELECT st_srid(st_geomfromwkb(X'0101000000000000000000F03F0000000000000040'))",
         "st_srid(st_geomfromwkb(X'0101000000000000000000F03F0000000000000040', 0))"),
        ("SELECT string_agg(a) WITHIN GROUP (ORDER BY a) FROM VALUES ('a') t(a)",
         "listagg(a, NULL) WITHIN GROUP (ORDER BY a ASC NULLS FIRST)"),
        ("SELECT string_agg(a) FROM VALUES ('a') t(a)", "string_agg(a, NULL)"),
        ("SELECT xpath_number('<a><b>1</b></a>', 'a/b')", "xpath_number(<a><b>1</b></a>, a/b)"),
        ("SELECT current_date", "current_date()"),
        ("SELECT user", "current_user()"),
    ],
)  # fmt: skip
def test_names_have_what_was_left_out(spark, query, name):
    assert spark.sql(query).columns == [name]


@pytest.mark.parametrize(
    "call", ["array_append(array(1), 2)", "array_prepend(array(1), 2)", "map_keys(map(1, 2))", "map_values(map(1, 2))"]
)
def test_made_arrays_may_hold_nulls(spark, call):
    assert spark.sql(f"SELECT {call} a").schema["a"].dataType == ArrayType(IntegerType(), True)


@pytest.mark.parametrize(
    "call, expected",
    [
        ("exp(1)", 2.7182818284590455),
        ("cosh(1)", 1.543080634815244),
        ("cbrt(-7.29538D)", -1.9394680938048359),
        ("hypot(-7.112629999999999D, 10D)", 12.271491576695148),
        ("log10(0.57749D)", -0.23845553175169817),
        ("acosh(1.00878D)", 0.13241738503919834),
        ("acosh(1e300D)", 691.4686750787736),
        ("atan(-7.14187D)", -1.4316814066713524),
        ("asin(-0.89182D)", -1.1013524259369025),
    ],
)
def test_last_bits(spark, call, expected):
    assert value(spark, f"SELECT {call}") == expected


def test_frequent_items_come_in_sparks_order(spark):
    query = "SELECT approx_top_k(a) FROM VALUES (0), (0), (1), (1), (2), (3), (4), (4) AS t(a)"
    assert [tuple(row) for row in value(spark, query)] == [(0, 2), (4, 2), (1, 2), (2, 1), (3, 1)]
    items = [row[0] for row in value(spark, "SELECT approx_top_k(id, 20) FROM range(0, 20, 1, 1)")]
    assert items == [0, 6, 11, 5, 1, 13, 4, 16, 9, 7, 17, 14, 10, 12, 2, 3, 18, 8, 19, 15]


def test_bytes_are_filled_up_with_bytes(spark):
    query = "SELECT lpad(x'20', 3, 'a'), hex(lpad(x'1020', 4, x'05')), typeof(lpad(x'20', 3, 'a'))"
    assert tuple(spark.sql(query).collect()[0]) == ("aa ", "05051020", "string")


def test_sums_of_months_overflow(spark):
    query = "SELECT {}(a) FROM VALUES (INTERVAL '2147483647' MONTH), (INTERVAL '1' MONTH) t(a)"
    assert value(spark, f"SELECT ({query.format('try_avg')}) IS NULL")
    assert condition(spark, query.format("avg")) == "INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION"


@pytest.mark.parametrize(
    "call",
    ["hour(TIME'12:00')", "EXTRACT(MINUTE FROM TIME'12:00')", "time_trunc('HOUR', TIME'12:00')", "CAST('12:00' AS TIME)",
     "TIME'12:00' + INTERVAL '1' HOUR", "TIME'12:00' - TIME'11:00'", "coalesce(TIME'12:00', NULL)"],
)  # fmt: skip
def test_times_are_switched_off(spark, call):
    assert condition(spark, f"SELECT {call}") == "UNSUPPORTED_TIME_TYPE"
    spark.conf.set("spark.sql.timeType.enabled", "true")
    assert value(spark, f"SELECT {call}") is not None


def test_gaps_of_sessions_may_differ(spark):
    query = (
        "SELECT a, count(*) c FROM VALUES ('A1', '2021-01-01 00:00:00'), ('A1', '2021-01-01 00:04:30'), "
        "('A2', '2021-01-01 00:01:00'), ('A2', '2021-01-01 00:04:30') t(a, b) "
        "GROUP BY a, session_window(b, CASE WHEN a = 'A1' THEN '5 minutes' ELSE '1 minute' END) ORDER BY a"
    )
    assert [tuple(row) for row in spark.sql(query).collect()] == [("A1", 2), ("A2", 1), ("A2", 1)]


@pytest.mark.parametrize(
    "call, expected",
    [
        ("from_csv('1', 'a int', map('quote', 'ab'))", "OPTION_VALUE_EXCEEDS_ONE_CHARACTER"),
        ("from_csv('1', 'a int', map('maxColumns', 'x'))", "_LEGACY_ERROR_TEMP_2146"),
        ("from_csv('1', 'a int', map('header', 'x'))", "_LEGACY_ERROR_TEMP_2147"),
        ("from_csv('1', 'a array<int>')", "UNSUPPORTED_DATATYPE"),
        ("from_json('{}', 'a int, _corrupt_record int')", "INVALID_CORRUPT_RECORD_TYPE"),
        ("from_json('{}', 'a int', map('encoding', 'nosuch'))", "INVALID_PARAMETER_VALUE.CHARSET"),
        ("to_csv(1)", "DATATYPE_MISMATCH.UNSUPPORTED_INPUT_TYPE"),
        ("schema_of_csv(1)", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"),
        ("get_json_object(1, '$.a')", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"),
        ("mask('Ab1', 1)", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"),
        ("from_json(1, 'a int')", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"),
        ("date_part(a, now()) FROM VALUES ('year') t(a)", "NON_FOLDABLE_ARGUMENT"),
        ("aes_encrypt('a', '00', 'XYZ')", "INVALID_PARAMETER_VALUE.AES_KEY_LENGTH"),
    ],
)
def test_options_are_checked(spark, call, expected):
    assert condition(spark, f"SELECT {call}") == expected


@pytest.mark.parametrize(
    "call",
    ["from_csv('1', 'a int', map('sep', ''))", "schema_of_csv('1,2', map('sep', ''))",
     "to_json(named_struct('a', 1), map('pretty', 'maybe'))", "to_xml(named_struct('a', 1), map('rowTag', ''))",
     "from_xml('<p/>', 'a int', map('valueTag', '_', 'attributePrefix', '_'))"],
)  # fmt: skip
def test_options_without_a_meaning_are_illegal(spark, call):
    with pytest.raises(IllegalArgumentException):
        spark.sql(f"SELECT {call}").collect()


def test_avro(spark):
    from pyspark.sql.avro.functions import from_avro, to_avro

    frame = spark.createDataFrame([(1, Row(age=2, name="Alice"))], ("key", "value"))
    written = frame.select(to_avro(frame.value).alias("avro"))
    assert written.collect() == [Row(avro=b"\x00\x00\x04\x00\nAlice")]
    schema = """{"type":"record","name":"topLevelRecord","fields":
        [{"name":"avro","type":[{"type":"record","name":"value","namespace":"topLevelRecord",
        "fields":[{"name":"age","type":["long","null"]},{"name":"name","type":["string","null"]}]},"null"]}]}"""
    assert written.select(from_avro(written.avro, schema).alias("v")).collect() == [
        Row(v=Row(avro=Row(age=2, name="Alice")))
    ]
    union = '{"type": "record", "name": "struct", "fields": [{"name": "u", "type": ["int", "string"]}]}'
    assert value(spark, f"SELECT schema_of_avro('{union}', map())") == "STRUCT<u: STRUCT<member0: INT, member1: STRING> NOT NULL>"
    assert condition(spark, """SELECT from_avro(x'0a', '"string"')""") == "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION"
    assert value(spark, """SELECT from_avro(x'0a', '"string"', map('mode', 'PERMISSIVE'))""") is None


MESSAGES = bytes.fromhex(
    "0ACE010A41636F6E6E6563746F722F70726F746F6275662F7372632F746573742F7265736F75726365732F70726F746F6275"
    "662F7079737061726B5F746573742E70726F746F121D6F72672E6170616368652E737061726B2E73716C2E70726F746F6275"
    "66224B0A0D53696D706C654D65737361676512100A03616765180120012805520361676512120A046E616D65180220012809"
    "52046E616D6512140A0573636F7265180320012803520573636F72654215421353696D706C654D65737361676550726F746F"
    "73620670726F746F33"
)


def test_protobuf(spark):
    from pyspark.sql.protobuf.functions import from_protobuf, to_protobuf

    schema = "key STRING, value STRUCT<age: INTEGER, name: STRING, score: LONG>"
    frame = spark.createDataFrame([("1", (2, "Alice", 109200))], schema)
    written = frame.select(to_protobuf(frame.value, "SimpleMessage", binaryDescriptorSet=MESSAGES).alias("value"))
    assert written.collect()[0].value.hex() == "08021205416c6963651890d506"
    read = written.select(from_protobuf(written.value, "SimpleMessage", binaryDescriptorSet=MESSAGES).alias("value"))
    assert read.collect() == [Row(value=Row(age=2, name="Alice", score=109200))]
    with pytest.raises(AnalysisException) as error:
        frame.select(to_protobuf(frame.value, "Other", binaryDescriptorSet=MESSAGES)).collect()
    assert error.value.getCondition() == "PROTOBUF_MESSAGE_NOT_FOUND"
    assert condition(spark, "SELECT from_protobuf(x'', 'M', '/nosuch/file')") == "PROTOBUF_DESCRIPTOR_FILE_NOT_FOUND"
