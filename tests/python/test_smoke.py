"""The thin slice through every room. Expected values are real Spark 4.2.1's."""

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType


def rows(frame):
    return [tuple(row) for row in frame.collect()]


def test_version(spark):
    assert spark.version == "4.2.1"


def test_range(spark):
    frame = spark.range(2, 8, 3)
    assert frame.schema == StructType([StructField("id", LongType(), False)])
    assert rows(frame) == [(2,), (5,)]


def test_sql_select(spark):
    frame = spark.sql("SELECT 1 AS a, 'x' AS b, 1.5 AS c, NULL AS d")
    assert frame.schema.simpleString() == "struct<a:int,b:string,c:decimal(2,1),d:void>"
    assert [str(v) for v in frame.collect()[0]] == ["1", "x", "1.5", "None"]


def test_filter_project_and_names(spark):
    frame = spark.range(10).filter("id % 3 = 0").select(F.col("id") + 1, (F.col("id") * 2).alias("twice"))
    assert frame.columns == ["(id + 1)", "twice"]
    assert rows(frame) == [(1, 0), (4, 6), (7, 12), (10, 18)]


def test_aggregate(spark):
    frame = spark.range(10).groupBy((F.col("id") % 2).alias("k")).agg(F.sum("id"), F.count("*")).orderBy("k")
    assert frame.columns == ["k", "sum(id)", "count(1)"]
    assert rows(frame) == [(0, 20, 5), (1, 25, 5)]


def test_join_on_columns_of_frames(spark):
    left = spark.range(4).withColumn("a", F.col("id") * 10)
    right = spark.range(2, 6).withColumn("b", F.col("id") * 100)
    frame = left.join(right, left.id == right.id).select(left.id, "a", "b").orderBy(left.id)
    assert rows(frame) == [(2, 20, 200), (3, 30, 300)]


def test_join_using(spark):
    left = spark.range(3).withColumn("a", F.lit("l"))
    right = spark.range(1, 4).withColumn("b", F.lit("r"))
    frame = left.join(right, "id", "full").orderBy("id")
    assert frame.columns == ["id", "a", "b"]
    assert rows(frame) == [(0, "l", None), (1, "l", "r"), (2, "l", "r"), (3, None, "r")]


def test_create_data_frame_and_view(spark):
    frame = spark.createDataFrame([(1, "a"), (2, None)], "id INT, name STRING")
    frame.createOrReplaceTempView("people")
    assert rows(spark.sql("SELECT name, id FROM people ORDER BY id DESC")) == [(None, 2), ("a", 1)]


def test_parquet_round_trip(spark, tmp_path):
    path = str(tmp_path / "t")
    spark.range(100).withColumn("k", F.col("id") % 3).write.partitionBy("k").parquet(path)
    back = spark.read.parquet(path)
    assert back.columns == ["id", "k"]
    assert rows(back.groupBy("k").count().orderBy("k")) == [(0, 34), (1, 33), (2, 33)]


def test_show(spark, capsys):
    spark.sql("SELECT 1 AS a, 'x' AS b").show()
    assert capsys.readouterr().out == "+---+---+\n|  a|  b|\n+---+---+\n|  1|  x|\n+---+---+\n\n"


def test_window(spark):
    frame = spark.sql("SELECT id, sum(id) OVER (ORDER BY id) AS s, row_number() OVER (ORDER BY id DESC) AS r FROM range(3) ORDER BY id")
    assert rows(frame) == [(0, 0, 3), (1, 1, 2), (2, 3, 1)]


def test_subqueries(spark):
    frame = spark.sql(
        "SELECT id FROM range(5) AS a WHERE EXISTS (SELECT 1 FROM range(3) AS b WHERE b.id = a.id)"
        " AND id > (SELECT min(id) FROM range(3)) ORDER BY id"
    )
    assert rows(frame) == [(1,), (2,)]


def test_local_checkpoint(spark):
    frame = spark.range(10).withColumn("r", F.rand()).localCheckpoint()
    assert rows(frame) == rows(frame)
    assert frame.count() == 10


def test_unresolved_column(spark):
    with pytest.raises(AnalysisException) as raised:
        spark.range(1).select("nope").collect()
    assert raised.value.getCondition() == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    assert raised.value.getSqlState() == "42703"
    assert raised.value.getMessageParameters()["proposal"] == "`id`"


def test_parse_error(spark):
    with pytest.raises(ParseException) as raised:
        spark.sql("SELEC 1")
    assert raised.value.getCondition() == "PARSE_SYNTAX_ERROR"


def test_division_by_zero(spark):
    from pyspark.errors import ArithmeticException

    with pytest.raises(ArithmeticException) as raised:
        spark.sql("SELECT 1 / 0").collect()
    assert raised.value.getCondition() == "DIVIDE_BY_ZERO"
