"""Sorts by values that differ from row to row by themselves."""

from pyspark.sql import Window
from pyspark.sql import functions as F


def numbers(spark, rows=6):
    return spark.createDataFrame([(i,) for i in range(rows)], "v int")


def values(frame):
    return [row[0] for row in frame.collect()]


def test_rows_are_sorted_by_random_numbers(spark):
    df = numbers(spark)
    assert values(df.orderBy(F.rand(4))) == [4, 1, 2, 3, 5, 0]
    assert values(df.orderBy(F.rand(4)).limit(3)) == [4, 1, 2]
    assert values(df.withColumn("r", F.rand(4)).orderBy("r")) == [4, 1, 2, 3, 5, 0]


def test_windows_are_sorted_by_random_numbers(spark):
    number = F.row_number().over(Window.orderBy(F.rand(4))).alias("n")
    assert values(numbers(spark).select("v", number).orderBy("n")) == [4, 1, 2, 3, 5, 0]


def test_increasing_ids_break_ties(spark):
    rows = [(1, 1), (2, 2), (3, 3), (3, 4), (3, 5)]
    df = spark.createDataFrame(rows, "c int, v int").withColumn("n", F.monotonically_increasing_id())
    assert values(df.orderBy(F.desc("c"), F.desc("n")).select("v").limit(3)) == [5, 4, 3]
    assert values(df.orderBy(F.desc("c"), "n").select("v").limit(3)) == [3, 4, 5]
    assert values(df.orderBy(F.desc("n")).select("v")) == [5, 4, 3, 2, 1]
