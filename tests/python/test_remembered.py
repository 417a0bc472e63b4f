"""Analyses that a session remembers hold as long as nothing else has a say in them."""

import time

import pytest
from pyspark.errors import ArithmeticException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def test_a_frame_grows_step_by_step(spark):
    df = spark.range(10)
    for step in range(30):
        df = df.withColumn(f"c{step}", F.col("id") + step)
        assert df.columns[-1] == f"c{step}"
    assert df.where("id = 2").collect()[0][1:] == tuple(range(2, 32))


def test_a_frame_stands_twice_in_a_plan(spark):
    df = spark.range(4).withColumn("k", F.col("id") % 2)
    assert df.schema.names == ["id", "k"]
    joined = df.alias("a").join(df.alias("b"), F.col("a.k") == F.col("b.k"))
    assert joined.count() == 8
    assert df.join(df, "id").count() == 4
    assert df.union(df).groupBy("k").count().orderBy("k").collect() == [(0, 4), (1, 4)]


def test_the_clock_goes_on(spark):
    df = spark.sql("SELECT current_timestamp() AS t")
    assert df.schema.names == ["t"]
    first = df.collect()[0].t
    time.sleep(0.01)
    assert df.collect()[0].t > first


def test_seeds_are_drawn_anew(spark):
    df = spark.sql("SELECT rand() AS r, uuid() AS u")
    assert df.schema.names == ["r", "u"]
    assert len({df.collect()[0] for _ in range(5)}) == 5


def test_settings_change(spark):
    df = spark.range(1).select((F.lit(1) / F.col("id")).alias("x"))
    assert df.schema["x"].nullable
    with pytest.raises(ArithmeticException):
        df.collect()
    spark.conf.set("spark.sql.ansi.enabled", "false")
    assert df.collect() == [(None,)]
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    stamp = spark.range(1).select(F.to_timestamp(F.lit("2020-01-01 00:00:00")).cast("long").alias("s"))
    tokyo = stamp.collect()[0].s
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert stamp.collect()[0].s - tokyo == 9 * 3600


def test_functions_and_variables_change(spark):
    spark.sql("CREATE TEMPORARY FUNCTION f(x INT) RETURNS INT RETURN x + 1")
    spark.sql("DECLARE VARIABLE v INT DEFAULT 1")
    df = spark.range(1).selectExpr("f(1) AS a", "v AS b")
    assert df.schema.names == ["a", "b"]
    assert df.collect() == [(2, 1)]
    spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION f(x INT) RETURNS INT RETURN x + 10")
    spark.sql("SET VAR v = 5")
    assert df.collect() == [(11, 5)]


def test_functions_of_the_catalog_are_changed_by_others(spark, server):
    spark.sql("CREATE OR REPLACE FUNCTION shared_f(x INT) RETURNS INT RETURN x + 1")
    try:
        df = spark.range(1).selectExpr("shared_f(1) AS a")
        assert df.schema.names == ["a"]
        assert df.collect() == [(2,)]
        other = SparkSession.builder.remote(server.url).create()
        other.sql("CREATE OR REPLACE FUNCTION shared_f(x INT) RETURNS INT RETURN x + 10")
        other.stop()
        assert df.collect() == [(11,)]
    finally:
        spark.sql("DROP FUNCTION shared_f")


def test_persisted_rows_are_used(spark):
    df = spark.range(3).withColumn("r", F.col("id") * 2)
    assert df.count() == 3
    before = df.select("r")
    assert before.schema.names == ["r"]
    df.persist()
    assert df.storageLevel.useMemory
    assert before.collect() == [(0,), (2,), (4,)]
    df.unpersist()
    assert before.collect() == [(0,), (2,), (4,)]
