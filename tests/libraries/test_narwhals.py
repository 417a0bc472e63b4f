"""narwhals gives frames the API of Polars."""

import datetime

import narwhals as nw
import pytest


@pytest.fixture
def trips(spark):
    data = [
        (1, "a", 2.5, datetime.date(2024, 1, 31), [1, 2]),
        (2, "a", None, datetime.date(2024, 2, 29), []),
        (3, "b", -1.5, None, None),
        (4, "b", 8.0, datetime.date(2023, 12, 31), [9]),
    ]
    return nw.from_native(spark.createDataFrame(data, "id BIGINT, line STRING, cost DOUBLE, day DATE, stops ARRAY<INT>"))


def rows(frame):
    return [tuple(row) for row in frame.to_native().collect()]


def test_schema(trips):
    assert trips.collect_schema() == {
        "id": nw.Int64(),
        "line": nw.String(),
        "cost": nw.Float64(),
        "day": nw.Date(),
        "stops": nw.List(nw.Int32()),
    }
    assert trips.implementation.is_pyspark_connect()


def test_expressions(trips):
    frame = trips.sort("id").select(
        nw.col("id"),
        nw.col("cost").fill_null(0).abs().round(0).alias("cost"),
        nw.concat_str([nw.col("line").str.to_uppercase(), nw.col("id").cast(nw.String)], separator="-").alias("key"),
        nw.when(nw.col("cost") > 0).then(nw.lit("in")).otherwise(nw.lit("out")).alias("way"),
        nw.col("day").dt.month().alias("month"),
        nw.col("stops").list.len().alias("stops"),
    )
    assert rows(frame) == [
        (1, 3.0, "A-1", "in", 1, 2),
        (2, 0.0, "A-2", "out", 2, 0),
        (3, 2.0, "B-3", "out", None, None),
        (4, 8.0, "B-4", "in", 12, 1),
    ]


def test_groups(trips):
    frame = trips.group_by("line").agg(
        n=nw.len(), cost=nw.col("cost").sum(), days=nw.col("day").n_unique(), most=nw.col("id").max()
    )
    assert rows(frame.sort("line")) == [("a", 2, 2.5, 2, 2), ("b", 2, 6.5, 2, 4)]
    assert rows(trips.select(nw.col("cost").std(), nw.col("day").null_count())) == [(pytest.approx(4.769696), 1)]


def test_windows(trips):
    frame = trips.with_columns(
        total=nw.col("cost").sum().over("line"),
        before=nw.col("id").shift(1).over("line", order_by="id"),
        running=nw.col("cost").cum_sum().over(order_by="id"),
        mean=nw.col("id").rolling_mean(2, min_samples=1).over(order_by="id"),
    )
    assert rows(frame.select("id", "total", "before", "running", "mean").sort("id")) == [
        (1, 2.5, None, 2.5, 1.0),
        (2, 2.5, 1, None, 1.5),
        (3, 6.5, None, 1.0, 2.5),
        (4, 6.5, 3, 9.0, 3.5),
    ]


def test_joins_and_shapes(spark, trips):
    lines = nw.from_native(spark.createDataFrame([("a", "Red"), ("c", "Blue")], "line STRING, name STRING"))
    assert rows(trips.join(lines, on="line").select("id", "name").sort("id")) == [(1, "Red"), (2, "Red")]
    assert rows(trips.join(lines, on="line", how="anti").select("id").sort("id")) == [(3,), (4,)]
    assert rows(trips.join(lines, on="line", how="full", suffix="_of_line").select(nw.len())) == [(5,)]
    long = trips.select("id", nw.col("cost"), nw.col("id").cast(nw.Float64).alias("x")).unpivot(["cost", "x"], index="id")
    assert rows(long.filter(nw.col("id") == 1).sort("variable")) == [(1, "cost", 2.5), (1, "x", 1.0)]
    assert rows(trips.explode("stops").select("id", "stops").sort("id", "stops")) == [
        (1, 1),
        (1, 2),
        (2, None),
        (3, None),
        (4, 9),
    ]
    assert rows(trips.drop_nulls().top_k(1, by="cost").select("id")) == [(4,)]
    assert trips.unique("line").collect().shape == (2, 5)
