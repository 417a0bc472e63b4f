"""Frames that stay in memory: persist, cache, unpersist."""

import pytest
from pyspark import StorageLevel
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

NOTHING = StorageLevel(False, False, False, False, 1)


def timed_frame(spark, rows=100):
    """Rows that are others at each execution, unless they are kept."""
    return spark.range(rows).withColumn("at", F.current_timestamp())


@pytest.mark.parametrize(
    "level", ["MEMORY_ONLY", "DISK_ONLY", "MEMORY_AND_DISK", "MEMORY_AND_DISK_DESER", "MEMORY_ONLY_2", "OFF_HEAP"]
)
def test_persisted_rows_are_fixed(spark, level):
    frame = timed_frame(spark)
    assert frame.storageLevel == NOTHING
    assert not frame.is_cached
    frame.persist(getattr(StorageLevel, level))
    assert frame.storageLevel == getattr(StorageLevel, level)
    assert frame.collect() == frame.collect()
    assert frame.filter("id < 10").orderBy("id").collect() == frame.orderBy("id").limit(10).collect()
    frame.unpersist()
    assert frame.storageLevel == NOTHING
    assert frame.collect() != frame.collect()


def test_cache_is_memory_and_disk(spark):
    frame = timed_frame(spark).cache()
    assert frame.is_cached
    assert frame.storageLevel == StorageLevel.MEMORY_AND_DISK_DESER
    assert frame.agg(F.max("at")).first() == frame.agg(F.max("at")).first()
    frame.unpersist(blocking=True)


def test_persisting_again_changes_nothing(spark):
    frame = timed_frame(spark).persist(StorageLevel.DISK_ONLY)
    first = frame.collect()
    frame.persist(StorageLevel.MEMORY_ONLY)
    assert frame.storageLevel == StorageLevel.DISK_ONLY
    assert frame.collect() == first
    frame.unpersist()
    frame.unpersist()


def test_errors_come_at_the_first_use_and_again(spark):
    frame = spark.range(3).select(F.expr("1 div (id - 1)").alias("q")).persist()
    for _ in range(2):
        with pytest.raises(PySparkException) as raised:
            frame.collect()
        assert raised.value.getCondition() == "DIVIDE_BY_ZERO"
    frame.unpersist()


def test_persist_of_what_cannot_be_analysed(spark):
    for action in ("persist", "unpersist"):
        with pytest.raises(AnalysisException) as raised:
            getattr(spark.range(1).select("nope"), action)()
        assert raised.value.getCondition() == "UNRESOLVED_COLUMN.WITH_SUGGESTION"


def test_explain_shows_the_memory(spark, capsys):
    frame = timed_frame(spark).persist()
    frame.filter("id > 5").explain()
    assert "InMemory" in capsys.readouterr().out
    frame.unpersist()


def test_clear_cache(spark):
    frames = [timed_frame(spark).persist() for _ in range(3)]
    spark.catalog.clearCache()
    assert [frame.storageLevel for frame in frames] == [NOTHING] * 3


def test_another_session_s_persistence(server, spark):
    other = SparkSession.builder.remote(server.url).create()
    frame = timed_frame(spark).persist()
    first = frame.collect()
    other.catalog.clearCache()
    other.stop()
    assert frame.collect() == first
    frame.unpersist()
