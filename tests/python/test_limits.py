"""Sizes beyond what there is room for end with a condition, at once; those within it with an answer."""

import grpc
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql.connect import proto

from server import Server
from wire import Wire, condition, range_plan, rows_of, sql_plan


def condition_of(action) -> str:
    with pytest.raises(PySparkException) as raised:
        action()
    return raised.value.getCondition()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT repeat('x', 2147483647) || repeat('x', 2147483647)",
        "SELECT rpad('x', 2147483647, 'y')",
        "SELECT lpad('x', 2147483647, 'yz')",
        "SELECT space(2147483647)",
    ],
)
def test_texts_that_no_array_holds(server, text):
    with Wire(server.port) as wire:
        with pytest.raises(grpc.RpcError) as raised:
            wire.execute(sql_plan(text), timeout=30)
        assert raised.value.code() == grpc.StatusCode.INTERNAL
        assert condition(raised.value) != "INTERNAL_ERROR"
        assert wire.is_alive()
        wire.release_session()


def test_texts_of_many_characters(spark):
    row = spark.sql(
        "SELECT length(space(65536)) AS a, length(lpad('x', 70000, 'ab')) AS b, right(rpad('x', 70000, 'ab'), 3) AS c, "
        "length(repeat('abc', 100000)) AS d, length(format_string('%070000d', 1)) AS e"
    ).first()
    assert tuple(row) == (65536, 70000, "aba", 300000, 70000)


def test_a_long_value_shown_vertically(spark, capsys):
    spark.sql("SELECT repeat('x', 70000) AS a").show(vertical=True, truncate=False)
    assert "x" * 70000 in capsys.readouterr().out


def test_a_transpose_stops_at_the_first_row_too_many(spark, server):
    frame = spark.range(50_000_000).withColumn("k", F.col("id"))
    assert condition_of(lambda: frame.transpose().schema) == "TRANSPOSE_EXCEED_ROW_LIMIT"
    with Wire(server.port) as wire:
        with pytest.raises(grpc.RpcError) as raised:
            wire.schema(proto.Plan(root={"transpose": {"input": {"range": {"end": 2**63 - 1, "step": 1}}}}))
        assert condition(raised.value) == "TRANSPOSE_EXCEED_ROW_LIMIT"
        wire.release_session()


def test_the_columns_of_a_pivot_and_a_crosstab(spark):
    frame = spark.range(20_001).withColumn("k", F.lit(1))
    assert condition_of(lambda: frame.groupBy("k").pivot("id").count().schema) == "_LEGACY_ERROR_TEMP_1324"
    assert condition_of(lambda: frame.crosstab("k", "id").schema) == "_LEGACY_ERROR_TEMP_1324"
    assert frame.crosstab("id", "k").count() == 20_001


def counting(limit: int, options: str = "") -> str:
    return f"WITH RECURSIVE a {options} AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a WHERE n < {limit}) SELECT count(*) FROM a"


def test_the_steps_of_a_recursion(spark):
    assert spark.sql(counting(100)).first()[0] == 100
    assert condition_of(lambda: spark.sql(counting(101)).collect()) == "RECURSION_LEVEL_LIMIT_EXCEEDED"
    assert spark.sql(counting(5, "MAX RECURSION LEVEL 5")).first()[0] == 5
    assert condition_of(lambda: spark.sql(counting(6, "MAX RECURSION LEVEL 5")).collect()) == "RECURSION_LEVEL_LIMIT_EXCEEDED"
    endless = "WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a) SELECT * FROM a"
    assert condition_of(lambda: spark.sql(endless).collect()) == "RECURSION_LEVEL_LIMIT_EXCEEDED"
    assert [r.n for r in spark.sql(endless + " LIMIT 5").collect()] == [1, 2, 3, 4, 5]
    spark.conf.set("spark.sql.cteRecursionLevelLimit", "-1")
    assert spark.sql(counting(200)).first()[0] == 200


def test_the_rows_of_a_recursion(spark):
    spark.conf.set("spark.sql.cteRecursionRowLimit", "10")
    assert spark.sql(counting(9)).first()[0] == 9
    assert condition_of(lambda: spark.sql(counting(10)).collect()) == "RECURSION_ROW_LIMIT_EXCEEDED"


def test_a_subquery_of_several_rows(spark):
    assert condition_of(lambda: spark.sql("SELECT (SELECT id FROM range(3))").collect()) == "SCALAR_SUBQUERY_TOO_MANY_ROWS"


def test_aggregates_where_none_may_be(spark):
    window = Window.orderBy("id")
    assert condition_of(lambda: spark.range(3).withColumn("c", F.count(F.lit(1))).collect()) == "MISSING_GROUP_BY"
    frame = lambda: spark.range(3).agg(F.max(F.lag("id").over(window))).collect()  # noqa: E731
    assert condition_of(frame) == "_LEGACY_ERROR_TEMP_1031"


def test_duplicates_of_an_ordered_column_are_dropped_under_a_limit(spark):
    frame = spark.range(20).withColumn("k", F.lag("id").over(Window.orderBy("id"))).dropDuplicates(["k"])
    assert len(frame.limit(3).collect()) == 3


@pytest.mark.parametrize("setting", ["senderMaxStreamDuration=0", "senderMaxStreamSize=0"])
def test_a_stream_without_limits(setting):
    with Server("-c", f"spark.connect.execute.reattachable.{setting}") as server, Wire(server.port) as wire:
        assert rows_of(wire.execute(range_plan(3), reattachable=True)) == 3
