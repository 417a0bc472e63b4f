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
