"""Options and settings that are not done fail by name; others do as Spark does."""

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.errors.exceptions.connect import SparkConnectException
from pyspark.sql import functions as F

UNDONE = "UNSUPPORTED_FEATURE.NOT_IN_THIS_SERVER"


def condition(action):
    with pytest.raises(SparkConnectException) as error:
        action()
    return error.value.getCondition()


@pytest.mark.parametrize("format", ["csv", "json", "xml"])
def test_locales_of_writers_and_readers(spark, tmp_path, format):
    day = spark.sql("select date'2024-03-05' d")
    writer = day.write.option("rowTag", "r").option("dateFormat", "d MMM yyyy").format(format)
    english = str(tmp_path / "english")
    writer.option("locale", "en-US").save(english)
    for locale in ["fr", "de", "en_US", ""]:
        assert condition(lambda: writer.option("locale", locale).save(str(tmp_path / "other"))) == UNDONE
        reader = spark.read.format(format).option("rowTag", "r").option("locale", locale).schema("d string")
        assert condition(lambda: reader.load(english).collect()) == UNDONE
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("call", [
    "to_csv(named_struct('a', date'2024-03-05'), map('locale', 'fr', 'dateFormat', 'd MMMM yyyy'))",
    "from_json('{\"a\":\"5 mars 2024\"}', 'a date', map('locale', 'fr', 'dateFormat', 'd MMMM yyyy'))",
    "schema_of_xml('<r><a>1.234,5</a></r>', map('locale', 'de', 'prefersDecimal', 'true'))",
    "from_csv('abc,1', 'a string, b int', map('maxCharsPerColumn', '2'))",
    "from_json('[1]', 'array<int>', map('maxNestingDepth', '1'))",
])
def test_options_of_functions(spark, call):
    assert condition(lambda: spark.sql(f"select {call}").collect()) == UNDONE


@pytest.mark.parametrize("options, expected", [
    ({"encoding": "foo"}, "INVALID_PARAMETER_VALUE.CHARSET"),
    ({"compression": "foo"}, "CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION"),
    ({"maxColumns": "1"}, "MALFORMED_CSV_RECORD"),
])
def test_values_of_options_that_mean_nothing(spark, options, expected):
    frame = spark.createDataFrame([("abc,1",)], "t string")
    assert condition(lambda: frame.select(F.from_csv("t", "a string, b int", options)).collect()) == expected


@pytest.mark.parametrize("text, options, expected", [
    ('"a"x,b', {"mode": "PERMISSIVE"}, ('"a"x', "b", None)),
    ('"a"b,c"d,e', {"mode": "PERMISSIVE"}, ('"a"b', 'c"d', '"a"b,c"d,e')),
    ('"a"x,b', {"unescapedQuoteHandling": "SKIP_VALUE"}, (None, "b", None)),
    ('"a\\"b",c', {"sep": ";"}, ('"a"b",c', None, '"a\\"b",c')),
    ('"a"","b"', {"escape": '"'}, ('"a","b"', None, '"a"","b"')),
    (' "a" ,b', {"mode": "PERMISSIVE"}, (' "a" ', "b", None)),
    ('"",', {"mode": "PERMISSIVE"}, (None, None, None)),
    ("# x,y", {"comment": "#"}, (None, None, None)),
])
def test_fields_of_a_line_of_csv(spark, text, options, expected):
    frame = spark.createDataFrame([(text,)], "t string")
    row = frame.select(F.from_csv("t", "a string, b string, _corrupt_record string", options)).first()
    assert tuple(row[0]) == expected


@pytest.mark.parametrize("key, value", [
    ("spark.sql.chunkBase64String.enabled", "false"),
    ("spark.sql.legacy.histogramNumericPropagateInputType", "false"),
    ("spark.sql.parquet.datetimeRebaseModeInWrite", "LEGACY"),
    ("spark.sql.stableDerivedColumnAlias.enabled", "true"),
])
def test_settings_that_change_answers(spark, key, value):
    assert condition(lambda: spark.conf.set(key, value)) == UNDONE
    spark.conf.set("spark.sql.optimizer.maxIterations", "10")


def test_grouping_id_wants_all_keys(spark):
    values = "from values (1, 2), (3, 4) t(a, b) group by cube(a, b)"
    for arguments in ["a", "b, a", "a, a", "a + 1"]:
        call = f"select grouping_id({arguments}) {values}"
        assert condition(lambda: spark.sql(call).collect()) == "GROUPING_ID_COLUMN_MISMATCH"
    rows = spark.sql(f"select grouping_id(a, b) x, grouping_id() y {values} order by 1").collect()
    assert [tuple(row) for row in rows] == [(i, i) for i in [0, 0, 1, 1, 2, 2, 3]]


@pytest.mark.parametrize("call", [
    "median(a) over (order by a)",
    "median(a) over (order by a rows between 1 preceding and current row)",
    "percentile_cont(0.5) within group (order by a) over (order by a)",
    "listagg(a) within group (order by a) over (order by a)",
])
def test_windows_of_medians_have_no_order(spark, call):
    query = f"select {call} from values 1, 2 t(a)"
    assert condition(lambda: spark.sql(query).collect()) == "INVALID_WINDOW_SPEC_FOR_AGGREGATION_FUNC"
    assert spark.sql("select median(a) over (partition by a) from values 1 t(a)").first()[0] == 1.0


def test_ranges_over_keys_that_take_no_number(spark):
    for key in ["x'01'", "array(1)", "time'01:00:00'"]:
        query = f"select sum(1) over (order by a range between 1 preceding and current row) from values ({key}) t(a)"
        with pytest.raises(AnalysisException) as error:
            spark.sql(query).collect()
        assert error.value.getCondition() == "DATATYPE_MISMATCH.RANGE_FRAME_INVALID_TYPE"


def test_partitions_are_constants(spark):
    spark.sql("create table undone_parts (a int, c string) using parquet partitioned by (c)")
    try:
        for value in ["1+1", "+1", "(1)", "abc", "current_date()", "array(1)", "cast(1 as int)"]:
            with pytest.raises(ParseException) as error:
                spark.sql(f"insert into undone_parts partition (c={value}) values (1)")
            assert error.value.getCondition() == "PARSE_SYNTAX_ERROR", value
        for value in ["date'2024-01-01'", "timestamp'2024-01-01 00:00:00'", "-1", "null", "x'01'", "'a' 'b'", "true"]:
            spark.sql(f"insert into undone_parts partition (c={value}) values (1)")
        assert spark.table("undone_parts").count() == 7
    finally:
        spark.sql("drop table undone_parts")


def test_text_behind_quotes_keeps_what_was_escaped(spark, tmp_path):
    (tmp_path / "a.csv").write_text('"a\\"b"c,d\n"q"r,zz\n')
    rows = spark.read.csv(str(tmp_path / "a.csv")).collect()
    assert [tuple(row) for row in rows] == [('"a"b"c', "d"), ('"q"r', "zz")]
    reader = spark.read.option("unescapedQuoteHandling", "BACK_TO_DELIMITER").schema("a string, b string")
    assert condition(lambda: reader.csv(str(tmp_path / "a.csv")).collect()) == UNDONE


def test_declarations_of_namespaces_are_attributes(spark):
    text = '<r><n:a xmlns:n="u" n:k="3">1</n:a></r>'
    schema = "STRUCT<`n:a`: STRUCT<_VALUE: BIGINT, `_n:k`: BIGINT, `_xmlns:n`: STRING>>"
    assert spark.sql(f"select schema_of_xml('{text}')").first()[0] == schema
    local = "STRUCT<a: STRUCT<_VALUE: BIGINT, _k: BIGINT, _n: STRING>>"
    assert spark.sql(f"select schema_of_xml('{text}', map('ignoreNamespace', 'true'))").first()[0] == local


@pytest.mark.parametrize("name, value, expected", [
    ("excludeAttribute", "x", "_LEGACY_ERROR_TEMP_2147"),
    ("compression", "x", "CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION"),
    ("multiLine", "false", UNDONE),
])
def test_options_of_xml_files(spark, tmp_path, name, value, expected):
    (tmp_path / "a.xml").write_text("<ROWS><ROW><a>1</a></ROW></ROWS>")
    reader = spark.read.format("xml").option("rowTag", "ROW").option(name, value).schema("a int")
    assert condition(lambda: reader.load(str(tmp_path / "a.xml")).collect()) == expected


@pytest.mark.parametrize("query", [
    "collect_set(a) from values (-0.0D), (0.0D) t(a)",
    "array_distinct(array(-0.0D, 0.0D))",
    "array_union(array(-0.0D), array(0.0D))",
    "array_intersect(array(-0.0D), array(0.0D))",
    "map_keys(map(-0.0D, 1))",
    "array(mode(a)) from values (-0.0D) t(a)",
])
def test_one_zero_where_each_value_stands_once(spark, query):
    assert str(spark.sql(f"select {query}").first()[0]) == "[0.0]"


def test_nulls_without_a_type_are_no_conditions(spark):
    filtered = condition(lambda: spark.sql("select 1 from values 1 t(a) where null").collect())
    assert filtered == "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN"
    joined = condition(lambda: spark.sql("select 1 from values 1 t(a) join values 1 u(b) on null").collect())
    assert joined == "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE"
    counted = condition(lambda: spark.sql("select count(*) filter (where null) from values 1 t(a)").collect())
    assert counted == "INVALID_AGGREGATE_FILTER.NOT_BOOLEAN"
    assert spark.sql("select count(*) from values 1 t(a) having null").collect() == []


STRUCTS = "values (named_struct('x', 1)), (named_struct('x', null)), (null), (named_struct('x', 2)) t(k)"
ARRAYS = "values (array(1, null)), (array(null)), (null), (array()), (array(1, 2)), (array(1)) t(k)"


@pytest.mark.parametrize("values, order, expected", [
    (STRUCTS, "nulls last", ["{null}", "{1}", "{2}", None]),
    (STRUCTS, "desc nulls first", [None, "{2}", "{1}", "{null}"]),
    (ARRAYS, "nulls last", ["[]", "[null]", "[1]", "[1, null]", "[1, 2]", None]),
    (ARRAYS, "desc nulls first", [None, "[1, 2]", "[1, null]", "[1]", "[null]", "[]"]),
])
def test_nulls_within_nested_keys(spark, values, order, expected):
    rows = spark.sql(f"select cast(k as string) as text from {values} order by k {order}").collect()
    assert [row[0] for row in rows] == expected
    ranked = spark.sql(f"select cast(k as string) as text, row_number() over (order by k {order}) r from {values} order by r")
    assert [row[0] for row in ranked.collect()] == expected


@pytest.mark.parametrize("values", [
    "(x'41'), (x'42'), (x'42')",
    "('a' collate utf8_lcase), ('b' collate utf8_lcase), ('B' collate utf8_lcase)",
    "(interval 1 month), (interval 2 month), (interval 2 month)",
    "(interval 1 day), (interval 2 day), (interval 2 day)",
    "(time'01:00:00'), (time'02:00:00'), (time'02:00:00')",
    "(named_struct('x', null)), (named_struct('x', 1)), (named_struct('x', 1))",
])
def test_frames_over_keys_of_any_type(spark, values):
    query = f"select sum(1) over (order by k), last(1) over (order by k desc), cume_dist() over (order by k) from values {values} t(k)"
    rows = sorted(tuple(row) for row in spark.sql(query).collect())
    assert rows == [(1, 1, 1 / 3), (3, 1, 1.0), (3, 1, 1.0)]


def test_limits_are_integers(spark):
    for clause in ["limit 2L", "limit 2S", "offset 0L", "limit cast(1 as bigint)"]:
        expected = "INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE"
        assert condition(lambda: spark.sql(f"select 1 {clause}").collect()) == expected
    assert len(spark.sql("select * from range(5) limit length('ab')").collect()) == 2


def test_names_of_relations_by_case(spark):
    assert spark.sql("select T.a from values 1 t(a)").first()[0] == 1
    window = "select sum(a) over W from values 1 t(a) window w as (order by a)"
    assert condition(lambda: spark.sql(window).collect()) == "MISSING_WINDOW_SPECIFICATION"
    spark.conf.set("spark.sql.caseSensitive", "true")
    for query, expected in [
        ("select T.a from values 1 t(a)", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("select T.* from values 1 t(a)", "CANNOT_RESOLVE_STAR_EXPAND"),
        ("with T as (select 1 x) select * from t", "TABLE_OR_VIEW_NOT_FOUND"),
    ]:
        assert condition(lambda: spark.sql(query).collect()) == expected


def test_values_of_a_pivot_have_the_columns_type(spark):
    query = "select * from (select * from values (1, '1', 10), (2, 'b', 5) t(k, p, v)) pivot (sum(v) for p in (1)) order by k"
    assert [tuple(row) for row in spark.sql(query).collect()] == [(1, 10), (2, None)]


def test_means_of_intervals_overflow_in_any_mode(spark):
    spark.conf.set("spark.sql.ansi.enabled", "false")
    values = "from values (interval '106751991' day), (interval '106751991' day) t(a)"
    failed = condition(lambda: spark.sql(f"select avg(a) {values}").collect())
    assert failed == "INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION"
    assert spark.sql(f"select try_avg(a) {values}").first()[0] is None
