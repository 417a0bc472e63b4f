"""Rows at hand and ranges stand in Spark's partitions where these show (expected values: Spark on two cores)."""

from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from server import running_functions


@pytest.fixture(scope="module")
def spark():
    with running_functions("--cores", "2") as server:
        session = SparkSession.builder.remote(server.url).create()
        yield session
        session.stop()


@pytest.fixture
def seven(spark):
    return spark.createDataFrame([(i, i * 0.1) for i in range(7)], ["a", "b"])


def first(frame):
    return [row[0] for row in frame.collect()]


def test_projections_and_filters_of_rows_at_hand_see_one_partition(spark, seven):
    assert first(seven.select(F.spark_partition_id())) == [0] * 7
    assert first(seven.select(F.monotonically_increasing_id())) == list(range(7))
    assert first(seven.filter("a > 1").limit(4).select(F.spark_partition_id())) == [0] * 4
    assert first(spark.sql("SELECT spark_partition_id() FROM VALUES (1), (2), (3)")) == [0] * 3


def test_other_operators_see_two(spark, seven):
    halves = [0, 0, 0, 1, 1, 1, 1]
    assert first(seven.union(seven).select(F.spark_partition_id())) == halves + [p + 2 for p in halves]
    exploded = seven.select("a", F.explode(F.array(F.lit(1), F.lit(2))))
    assert first(exploded.select(F.spark_partition_id())) == [p for p in halves for _ in range(2)]
    assert first(seven.sample(0.99, 3).select(F.spark_partition_id())) == halves
    assert first(spark.range(5).select(F.spark_partition_id())) == [0, 0, 1, 1, 1]


def test_samples_are_those_of_two_partitions(spark):
    twenty = spark.createDataFrame([(i,) for i in range(20)], ["a"])
    expected = [0, 4, 5, 8, 11, 12, 13, 14, 15, 16, 18]
    assert first(twenty.sample(0.5, 3)) == expected
    assert first(spark.range(20).sample(0.5, 3)) == expected
    assert first(twenty.sample(True, 0.5, 3)) == [5, 6, 13, 14, 17, 19]
    assert first(twenty.randomSplit([1.0, 2.0], 24)[0]) == [2, 5, 6, 10, 12, 19]


def test_floating_point_numbers_are_added_by_partition(spark, seven):
    sums = seven.agg(F.sum("b"), F.avg("b"), F.kurtosis("b"), F.skewness("b")).first()
    assert tuple(sums) == (2.1000000000000005, 0.3000000000000001, -1.2500000000000002, 0.0)
    frame = spark.createDataFrame([("x", 40.3), ("y", 37.8), ("z", 44.1)], ["n", "w"])
    assert frame.describe().collect()[1].w == "40.733333333333334"
    assert seven.approxQuantile(["a", "b"], [0.25, 0.5, 0.75], 0.1) == [[1.0, 3.0, 5.0], [0.1, 0.30000000000000004, 0.5]]


def test_functions_of_partitions_run_once_for_each(spark, seven):
    def count(batches):
        yield pd.DataFrame({"n": [sum(len(batch) for batch in batches)]})

    assert first(seven.mapInPandas(count, "n long")) == [3, 4]
    assert first(seven.filter("a = 1").mapInPandas(count, "n long")) == [1]
    assert first(seven.filter("a = 100").mapInPandas(count, "n long")) == []
    assert first(spark.range(1).mapInPandas(count, "n long")) == [0, 1]

    @F.pandas_udf("long")
    def length(values: pd.Series) -> pd.Series:
        return pd.Series([len(values)] * len(values))

    assert first(seven.select(length("a"))) == [3, 3, 3, 4, 4, 4, 4]


def test_users_exchanges_begin_there(spark, seven):
    assert first(seven.sortWithinPartitions(F.desc("a"))) == [2, 1, 0, 6, 5, 4, 3]


def test_few_rows_are_one_partition_where_nobody_gives_a_number(spark, seven):
    assert first(seven.repartition("b").select(F.spark_partition_id())) == [0] * 7
    assert first(seven.repartitionByRange("a").select(F.spark_partition_id())) == [0] * 7
    seven.createOrReplaceTempView("seven")
    assert first(spark.sql("SELECT a FROM seven DISTRIBUTE BY a % 3 SORT BY a DESC")) == [6, 5, 4, 3, 2, 1, 0]


def test_a_file_is_written_for_each(spark, seven, tmp_path):
    def files(frame):
        frame.write.mode("overwrite").json(str(tmp_path / "out"))
        return sorted(path.name[:10] for path in Path(tmp_path, "out").glob("part-*"))

    assert files(seven) == ["part-00000", "part-00001"]
    assert files(seven.limit(1)) == ["part-00000"]
    assert files(seven.filter("a < 0")) == ["part-00000"]


def test_kept_rows_stay_in_theirs(spark, seven):
    seven.cache()
    assert first(seven.select(F.spark_partition_id())) == [0, 0, 0, 1, 1, 1, 1]
    seven.unpersist()
