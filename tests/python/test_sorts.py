"""Rows keep the order of a sort wherever it stands."""

import pytest
from pyspark.sql import functions as F


@pytest.fixture
def falling(spark):
    return spark.createDataFrame([(i, i * 7 % 5) for i in range(7)], ["a", "b"]).sort(F.desc("a"))


def first(frame):
    return [row[0] for row in frame.collect()]


def test_aggregations_see_the_order(falling):
    everything = falling.agg(F.collect_list("a"), F.first("a"), F.last("a")).first()
    assert tuple(everything) == ([6, 5, 4, 3, 2, 1, 0], 6, 0)
    groups = {row.b: row.all for row in falling.groupBy("b").agg(F.collect_list("a").alias("all")).collect()}
    assert groups == {0: [5, 0], 1: [3], 3: [4], 2: [6, 1], 4: [2]}


def test_windows_see_the_order(falling):
    numbered = falling.selectExpr("a", "row_number() OVER (ORDER BY 1) AS n").sort("a").collect()
    assert [row.n for row in numbered] == [7, 6, 5, 4, 3, 2, 1]
    assert [tuple(row) for row in falling.selectExpr("a", "row_number() OVER (ORDER BY b) AS n").collect()] == [
        (5, 1), (0, 2), (3, 3), (6, 4), (1, 5), (4, 6), (2, 7)
    ]


def test_numbers_of_rows_see_the_order(falling):
    numbered = falling.select("a", F.monotonically_increasing_id().alias("n"))
    assert [tuple(row) for row in numbered.filter("a > 3").sort("a").collect()] == [(4, 2), (5, 1), (6, 0)]


def test_unions_and_functions_of_partitions_have_the_order(falling):
    assert first(falling.union(falling.limit(2))) == [6, 5, 4, 3, 2, 1, 0, 6, 5]
    assert first(falling.coalesce(1)) == [6, 5, 4, 3, 2, 1, 0]
    assert first(falling.mapInPandas(lambda batches: batches, "a long, b long")) == [6, 5, 4, 3, 2, 1, 0]


def test_a_limit_takes_the_first_rows_whatever_is_sorted_above(spark):
    frame = spark.createDataFrame([(i, i % 3) for i in range(12)], ["a", "b"])
    assert first(frame.limit(4).sort(F.desc("a"))) == [3, 2, 1, 0]
    assert first(frame.select("b").limit(3).sort("b")) == [0, 1, 2]
    numbered = frame.select("b").limit(3).selectExpr("row_number() OVER (PARTITION BY b ORDER BY b)")
    assert first(numbered) == [1, 1, 1]
    assert sorted(first(frame.select("b").intersectAll(frame.select("b").limit(3)))) == [0, 1, 2]
    values = "VALUES (1, 1), (2, 1), (3, 1), (4, 1) AS t(a, b)"
    assert first(spark.sql(f"SELECT * FROM (SELECT * FROM {values} LIMIT 2) ORDER BY a DESC")) == [2, 1]


def test_rows_of_equal_keys_stay_in_their_order(spark):
    frame = spark.createDataFrame([(i, i % 3) for i in range(100)], ["a", "b"])
    assert first(frame.sort("b")) == sorted(range(100), key=lambda a: (a % 3, a))
    few = spark.createDataFrame([(i, i % 3) for i in range(12)], ["a", "b"])
    assert first(few.sort("b").limit(5)) == [0, 3, 6, 9, 1]
