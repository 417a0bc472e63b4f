"""Names of columns, and names in errors."""

import pytest
from pyspark.errors import AnalysisException, DateTimeException, NumberFormatException, SparkRuntimeException
from pyspark.sql import Window
from pyspark.sql import functions as F


def test_signs(spark):
    assert spark.sql("select -id, +id, -(id + 1), ~id from range(1)").columns == ["(- id)", "(+ id)", "(- (id + 1))", "~id"]
    assert spark.range(1).select(-F.col("id"), F.negative("id")).columns == ["negative(id)", "negative(id)"]


@pytest.mark.parametrize(
    "query, expected",
    [
        ("select aB from (select 1 as Ab)", ["aB"]),
        ("select t.aB, T.AB from (select 1 as Ab) t", ["aB", "AB"]),
        ("select aB, count(*) from (select 1 as Ab) group by ab", ["aB", "count(1)"]),
        ("select aB from (select 1 as Ab) order by AB", ["aB"]),
        ("select max(aB) from (select 1 as Ab)", ["max(aB)"]),
        ("select aB from (select 1 as Ab) union select 2", ["aB"]),
    ],
)
def test_a_column_has_the_name_as_the_query_spells_it(spark, query, expected):
    assert spark.sql(query).columns == expected
    assert spark.sql(query).count() >= 1


def test_a_column_of_a_frame_joined_with_itself(spark):
    frame = spark.range(2)
    assert sorted(r.id for r in frame.join(frame, "id").select(frame.id).collect()) == [0, 1]
    with pytest.raises(AnalysisException) as error:
        frame.join(frame, frame.id == frame.id).select(frame.id).collect()
    assert error.value.getMessageParameters() == {"name": '"id"'}


@pytest.mark.parametrize(
    "kind, error", [("int", NumberFormatException), ("date", DateTimeException), ("boolean", SparkRuntimeException)]
)
def test_classes_of_failed_casts(spark, kind, error):
    with pytest.raises(error) as raised:
        spark.sql(f"select cast('a' as {kind})").collect()
    assert raised.value.getCondition() == "CAST_INVALID_INPUT"


def test_nth_value_with_its_flag(spark):
    frame = spark.createDataFrame([(1, None), (1, 10), (2, 5), (2, 7)], "k int, x int")
    window = Window.partitionBy("k").orderBy("x")
    rows = frame.select("k", "x", F.nth_value("x", 2).over(window), F.nth_value("x", 1, True).over(window)).collect()
    assert sorted((tuple(r) for r in rows), key=str) == [(1, 10, 10, 10), (1, None, None, None), (2, 5, None, 5), (2, 7, 7, 5)]


def test_a_table_that_is_not_there(spark):
    with pytest.raises(AnalysisException) as error:
        spark.table("no_such_table").collect()
    assert error.value.getMessageParameters() == {
        "relationName": "`no_such_table`",
        "searchPath": "[`system`.`builtin`, `system`.`session`, `spark_catalog`.`default`]",
    }


def test_a_table_is_made_once(spark):
    spark.sql("drop table if exists made_once")
    made = spark.catalog.createTable("made_once", schema=spark.range(1).schema, source="parquet")
    assert made.count() == 0
    assert made.collect() == []
    spark.sql("drop table made_once")


def test_a_frame_s_column_that_was_replaced_or_dropped_is_no_column_of_the_new_frame(spark):
    frame = spark.range(3).withColumn("x", F.lit(1))
    for later, column in (
        (frame.withColumn("x", F.lit(2)), "x"),
        (frame.select(F.col("id").alias("y")), "id"),
        (frame.drop("x"), "x"),
    ):
        for use in (lambda: later.select(frame[column]), lambda: later.groupBy(frame[column]).count()):
            with pytest.raises(AnalysisException) as error:
                use().collect()
            assert error.value.getCondition() == "CANNOT_RESOLVE_DATAFRAME_COLUMN"
    assert frame.select("id").filter(frame["x"] == 1).count() == 3
