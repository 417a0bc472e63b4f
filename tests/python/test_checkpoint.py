"""Checkpoints over Connect: kept rows, released with the client's frame or its session."""

import gc
import threading

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.plan import LogicalPlan


class KeptRelation(LogicalPlan):
    """A frame by the id that the server keeps it under, without a finaliser."""

    def __init__(self, relation_id):
        super().__init__(None)
        self._relation_id = relation_id

    def plan(self, session):
        plan = self._create_proto_relation()
        plan.cached_remote_relation.relation_id = self._relation_id
        return plan


def relation_id(frame):
    return frame._plan._relation_id


def by_id(spark, identifier):
    return DataFrame(KeptRelation(identifier), spark)


def random_frame(spark, rows=100):
    return spark.range(rows).withColumn("r", F.rand())


@pytest.mark.parametrize("eager", [True, False])
def test_rows_are_fixed(spark, eager):
    frame = random_frame(spark).localCheckpoint(eager)
    assert frame.schema.names == ["id", "r"]
    assert frame.collect() == frame.collect()


def test_deleting_the_frame_releases_the_rows(spark):
    frame = random_frame(spark).localCheckpoint()
    identifier = relation_id(frame)
    assert by_id(spark, identifier).count() == 100
    del frame
    gc.collect()
    with pytest.raises(PySparkException) as raised:
        by_id(spark, identifier).count()
    assert raised.value.getCondition() == "CONNECT_INVALID_PLAN.DATAFRAME_NOT_FOUND"
    assert raised.value.getSqlState() == "56K00"


def test_a_derived_frame_keeps_the_rows(spark):
    frame = random_frame(spark).localCheckpoint()
    derived = frame.filter("id < 10")
    first = derived.collect()
    del frame
    gc.collect()
    assert derived.collect() == first


def test_a_view_keeps_the_rows(spark):
    frame = random_frame(spark).localCheckpoint()
    frame.createOrReplaceTempView("kept")
    first = frame.orderBy("id").collect()
    del frame
    gc.collect()
    assert spark.table("kept").orderBy("id").collect() == first


def test_sessions_do_not_see_each_other(server, spark):
    frame = random_frame(spark).localCheckpoint()
    other = SparkSession.builder.remote(server.url).create()
    with pytest.raises(PySparkException) as raised:
        by_id(other, relation_id(frame)).count()
    assert raised.value.getCondition() == "CONNECT_INVALID_PLAN.DATAFRAME_NOT_FOUND"
    other.stop()
    assert frame.count() == 100


def test_checkpoint_of_a_checkpoint(spark):
    frame = random_frame(spark).localCheckpoint()
    again = frame.withColumn("s", F.col("r") * 2).localCheckpoint()
    del frame
    gc.collect()
    assert again.filter("s = r * 2").count() == 100


def test_eager_errors_come_at_once(spark):
    with pytest.raises(PySparkException) as raised:
        spark.range(1).select(F.expr("1 div (id * 0)")).localCheckpoint()
    assert raised.value.getCondition() == "DIVIDE_BY_ZERO"


def test_reliable_checkpoint_needs_a_directory(spark):
    with pytest.raises(PySparkException):
        spark.range(1).checkpoint()


def test_a_lazy_checkpoint_runs_once_under_concurrent_first_uses(spark):
    frame = random_frame(spark, 10_000).localCheckpoint(False)
    sums = []
    threads = [threading.Thread(target=lambda: sums.append(frame.agg(F.sum("r")).collect()[0][0])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sums) == 4
    assert max(sums) - min(sums) < 1e-9
