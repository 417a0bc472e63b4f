"""Names in HAVING and ORDER BY, recursive queries, functions and collations through a client."""

import pytest
from pyspark.errors import AnalysisException


def condition(spark, text):
    with pytest.raises(AnalysisException) as error:
        spark.sql(text).collect()
    return error.value.getCondition()


def test_a_column_that_is_not_grouped_is_no_column_for_having_and_order_by(spark):
    spark.sql("CREATE OR REPLACE TEMP VIEW sc AS SELECT * FROM VALUES (1, 2), (2, 3), (1, 5) AS t(a, b)")
    for clause in ("HAVING b > 1", "ORDER BY b"):
        assert condition(spark, f"SELECT a FROM sc GROUP BY a {clause}") == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    frame = spark.sql("SELECT a, sum(b) AS s FROM sc GROUP BY a HAVING max(b) > 1 ORDER BY s DESC")
    assert [tuple(row) for row in frame.collect()] == [(1, 7), (2, 3)]


def test_windows_and_aggregates_do_not_stand_in_order_by_of_plain_rows(spark):
    frame = spark.range(3)
    from pyspark.sql import functions as f

    with pytest.raises(AnalysisException) as error:
        frame.select("id").sort(f.max("id")).collect()
    assert error.value.getCondition() == "UNSUPPORTED_EXPR_FOR_OPERATOR"


def test_a_function_that_is_made_is_checked(spark):
    text = "CREATE OR REPLACE TEMPORARY FUNCTION sc_f(x INT) RETURNS INT RETURN "
    assert condition(spark, text + "sum(x)") == "USER_DEFINED_FUNCTIONS.CANNOT_CONTAIN_COMPLEX_FUNCTIONS"
    assert condition(spark, text + "y") == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    spark.sql(text + "x + 1")
    assert spark.sql("SELECT sc_f(1) AS y").collect()[0].y == 2


def test_collated_texts_are_grouped_by_their_keys(spark):
    values = "VALUES ('aaa'), ('AAA'), ('b') AS t(c)"
    frame = spark.sql(f"SELECT c COLLATE UTF8_LCASE AS c FROM {values}")
    assert sorted(tuple(row) for row in frame.groupBy("c").count().collect()) == [("aaa", 2), ("b", 1)]
    assert spark.sql("SELECT 'a' COLLATE UNICODE_CI = 'A' AS e").collect()[0].e
    mixed = "SELECT c = d FROM (SELECT 'a' COLLATE UTF8_LCASE AS c, 'a' AS d)"
    assert condition(spark, mixed) == "INDETERMINATE_COLLATION_IN_EXPRESSION"


def test_grouping_sorts_rows_that_windows_have_ranked(spark):
    spark.sql("CREATE OR REPLACE TEMP VIEW sg AS SELECT id % 2 AS a, id % 3 AS b, id AS x FROM range(6)")
    ranked = (
        "SELECT sum(x), a, b, rank() OVER (PARTITION BY grouping(a) + grouping(b) ORDER BY sum(x)) AS r"
        " FROM sg GROUP BY ROLLUP (a, b) ORDER BY "
    )
    rows = [tuple(row) for row in spark.sql(ranked + "grouping(a) + grouping(b), r").collect()]
    assert [row[0] for row in rows] == [0, 1, 2, 3, 4, 5, 6, 9, 15]
    rows = [tuple(row) for row in spark.sql(ranked + "CASE WHEN grouping(a) = 0 THEN a END, r, 2, 3").collect()]
    assert [row[0] for row in rows] == [15, 6, 0, 2, 4, 9, 1, 3, 5]
    assert condition(spark, ranked + "sum(x)") != "INTERNAL_ERROR"


@pytest.mark.parametrize(
    "rows, error",
    [
        ("(1), ('a')", "ParseException"),
        ("(1), (true)", "ParseException"),
        ("(1), (CAST('a' AS DATE))", "ParseException"),
        ("(struct(1)), (struct('a'))", "ParseException"),
        ("(1), (upper('a'))", "AnalysisException"),
        ("(array(1)), (array('a'))", "AnalysisException"),
    ],
)
def test_rows_of_values_have_a_type_without_casts_from_strings(spark, rows, error):
    with pytest.raises(AnalysisException) as raised:
        spark.sql(f"SELECT * FROM VALUES {rows} t(x)").collect()
    assert raised.value.getCondition() == "INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE"
    assert raised.value.getMessageParameters() == {"colName": "`x`"}
    assert type(raised.value).__name__ == error


def test_rows_of_values_have_the_wider_type(spark):
    assert spark.sql("SELECT * FROM VALUES (1L), (1.5f)").schema.simpleString() == "struct<col1:float>"
    assert spark.sql("SELECT * FROM VALUES (1), (2.5), (NULL)").schema.simpleString() == "struct<col1:decimal(11,1)>"


def test_names_for_a_function_s_columns_are_as_many_as_the_columns(spark):
    for call, function, names, columns in (
        ("range(1) t(a, b)", "`range`", "2", "1"),
        ("stack(2, 1, 2, 3, 4) t(a)", "`stack`", "1", "2"),
    ):
        with pytest.raises(AnalysisException) as raised:
            spark.sql(f"SELECT * FROM {call}").collect()
        assert raised.value.getCondition() == "NUM_TABLE_VALUE_ALIASES_MISMATCH"
        assert raised.value.getMessageParameters() == {
            "funcName": function,
            "aliasesNum": names,
            "outColsNum": columns,
        }


def test_positions_in_group_by_and_a_star(spark):
    assert condition(spark, "SELECT * FROM range(3) GROUP BY 5") == "STAR_GROUP_BY_POS"


def test_days_that_are_added_to_a_date_show_where_they_come_from(spark):
    frame = spark.sql("SELECT DATE'2024-01-31' + INTERVAL 1 DAY, DATE'2024-01-31' - INTERVAL '3' DAY")
    assert frame.columns == [
        "date_add(DATE '2024-01-31', extractansiintervaldays(INTERVAL '1' DAY))",
        "date_add(DATE '2024-01-31', (- extractansiintervaldays(INTERVAL '3' DAY)))",
    ]


def test_times_of_day_are_no_rows_and_no_columns_of_tables_unless_the_session_has_them(spark):
    for text in ("SELECT TIME'01:02:03'", "SELECT array(TIME'01:02:03')", "CREATE TABLE times_of_day (a TIME)"):
        assert condition(spark, text) == "UNSUPPORTED_TIME_TYPE"
    assert spark.sql("SELECT TIME'01:02:03' AS a").schema.simpleString() == "struct<a:time(6)>"
    assert spark.sql("SELECT CAST(TIME'01:02:03' AS STRING)").collect()[0][0] == "01:02:03"
    assert spark.sql("SELECT TIME'01:02:03' AS a").count() == 1
    spark.conf.set("spark.sql.timeType.enabled", "true")
    assert spark.sql("SELECT TIME'01:02:03' AS a").collect()[0].a.minute == 2


def test_a_function_is_described_as_it_was_made(spark):
    spark.sql("DROP FUNCTION IF EXISTS described")
    spark.sql(
        "CREATE FUNCTION described(x INT COMMENT 'c', yyy STRING DEFAULT 'q') RETURNS STRING COMMENT 'cc' RETURN yyy || x"
    )
    lines = [row[0] for row in spark.sql("DESCRIBE FUNCTION described").collect()]
    assert lines == [
        "Function: spark_catalog.default.described",
        "Type:     SCALAR",
        "Input:    x   INT   ",
        "          yyy STRING",
        "Returns:  STRING",
    ]
    lines = [row[0] for row in spark.sql("DESCRIBE FUNCTION EXTENDED described").collect()]
    assert lines[2:9] == [
        "Input:         x   INT    'c'",
        "               yyy STRING DEFAULT 'q'",
        "Returns:       STRING",
        "Comment:       cc",
        "Deterministic: true",
        "Data Access:   CONTAINS SQL",
        "Configs:       spark.sql.ansi.enabled=true",
    ]
    assert lines[-1] == "Body:          yyy || x"
    assert spark.sql("SELECT described(yyy => 'n', x => 2)").columns == ["spark_catalog.default.described(2, n)"]
    spark.sql("DROP FUNCTION described")
    spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION chance() RETURNS DOUBLE RETURN rand()")
    lines = [row[0] for row in spark.sql("DESCRIBE FUNCTION EXTENDED chance").collect()]
    assert "Deterministic: false" in lines
