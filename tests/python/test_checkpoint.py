"""Checkpoints over Connect: kept rows, released with the client's frame or its session."""

import gc
import threading
import uuid

import grpc

import pytest
from pyspark import StorageLevel
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect import proto
from pyspark.sql.connect.plan import LogicalPlan

from wire import Wire, condition, kept_plan, parameters, range_plan, rows_of, sql_plan

NOT_FOUND = "CONNECT_INVALID_PLAN.DATAFRAME_NOT_FOUND"

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
    """Rows that are others at each analysis: `F.rand()` would bring a seed from the client."""
    return spark.range(rows).withColumn("r", F.expr("rand()"))


def test_random_rows_are_others_each_time(spark):
    assert random_frame(spark).collect() != random_frame(spark).collect()


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
    for eager in (True, False):
        with pytest.raises(PySparkException) as raised:
            spark.range(1).checkpoint(eager)
        assert raised.value.getCondition() == "_LEGACY_ERROR_TEMP_3016"


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


@pytest.fixture
def wire(server):
    with Wire(server.port) as wire:
        yield wire
        wire.release_session()


def same_session(server, spark):
    """Messages in a PySpark session."""
    return Wire(server.port, spark.client._user_id or "", spark.session_id)


def is_kept(wire, identifier):
    """Whether the server holds rows under an id, asked without running anything."""
    try:
        wire.schema(kept_plan(identifier))
    except grpc.RpcError as error:
        assert condition(error) == NOT_FOUND
        assert parameters(error) == {"dfId": identifier, "sessionId": wire.session}
        return False
    return True


@pytest.mark.parametrize("level", ["MEMORY_ONLY", "DISK_ONLY", "MEMORY_AND_DISK", "MEMORY_AND_DISK_DESER", "OFF_HEAP", "NONE"])
@pytest.mark.parametrize("eager", [True, False])
def test_storage_levels(spark, level, eager):
    frame = random_frame(spark).localCheckpoint(eager, getattr(StorageLevel, level))
    assert frame.collect() == frame.collect()
    assert frame.count() == 100


def test_replication_zero_is_refused(spark):
    with pytest.raises(PySparkException):
        spark.range(1).localCheckpoint(True, StorageLevel(True, True, False, True, 0))
    assert spark.range(1).count() == 1


def test_the_storage_level_is_not_the_frame_s(spark):
    for eager in (True, False):
        frame = spark.range(3).localCheckpoint(eager, StorageLevel.DISK_ONLY)
        assert str(frame.storageLevel) == "Serialized 1x Replicated"
    frame.persist()
    assert frame.storageLevel == StorageLevel.MEMORY_AND_DISK_DESER
    assert frame.count() == 3
    frame.unpersist()
    assert str(frame.storageLevel) == "Serialized 1x Replicated"


def test_ids_are_fresh(spark):
    frame = spark.range(3)
    ids = {relation_id(f) for f in [frame.localCheckpoint() for _ in range(5)]}
    assert len(ids) == 5
    assert all(str(uuid.UUID(i)) == i for i in ids)


@pytest.mark.parametrize("is_reattachable", [True, False])
def test_responses_of_a_checkpoint(wire, is_reattachable):
    plan = proto.Plan()
    plan.command.checkpoint_command.relation.CopyFrom(range_plan(3).root)
    plan.command.checkpoint_command.local = True
    plan.command.checkpoint_command.eager = True
    kinds = [r.WhichOneof("response_type") for r in wire.execute(plan, reattachable=is_reattachable)]
    kinds = [kind for kind in kinds if kind != "execution_progress"]
    assert kinds == ["checkpoint_command_result"] + ["result_complete"] * is_reattachable


def test_removal_is_idempotent_and_silent(wire):
    identifier = wire.checkpoint(range_plan(3))
    assert is_kept(wire, identifier)
    for wanted in (identifier, identifier, str(uuid.uuid4()), "nonsense", "", "../x", "\0", "x" * 100_000):
        assert wire.remove(wanted) == []
    assert not is_kept(wire, identifier)
    assert wire.execute(proto.Plan(command=proto.Command(remove_cached_remote_relation_command={}))) == []


def test_removal_leaves_other_sessions_alone(server, wire):
    identifier = wire.checkpoint(range_plan(3))
    strangers = [Wire(server.port), Wire(server.port, user="somebody else", session=wire.session)]
    for stranger in strangers:
        assert not is_kept(stranger, identifier)
        assert stranger.remove(identifier) == []
        stranger.release_session()
        stranger.channel.close()
    assert rows_of(wire.execute(kept_plan(identifier))) == 3


@pytest.mark.parametrize("identifier", [str(uuid.uuid4()), "nonsense", ""])
def test_unknown_ids(wire, identifier):
    with pytest.raises(grpc.RpcError) as raised:
        wire.execute(kept_plan(identifier))
    assert condition(raised.value) == NOT_FOUND
    assert not is_kept(wire, identifier)


def test_a_checkpoint_of_nothing(wire):
    plan = proto.Plan()
    plan.command.checkpoint_command.local = True
    empty = proto.Plan()
    empty.command.checkpoint_command.relation.SetInParent()
    for command in (plan, empty):
        with pytest.raises(grpc.RpcError) as raised:
            wire.execute(command)
        assert condition(raised.value) == "CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET"


def test_deleting_the_frame_is_seen_on_the_server(server, spark):
    with same_session(server, spark) as wire:
        frame = random_frame(spark).localCheckpoint()
        derived = frame.filter("id > 5").select("r")
        identifier = relation_id(frame)
        assert is_kept(wire, identifier)
        del frame
        gc.collect()
        assert is_kept(wire, identifier)
        del derived
        gc.collect()
        assert not is_kept(wire, identifier)


def test_a_loop_of_checkpoints_leaves_one(server, spark):
    with same_session(server, spark) as wire:
        frame, ids = spark.range(100), []
        for _ in range(20):
            frame = frame.withColumn("id", F.col("id") + 1).localCheckpoint()
            ids.append(relation_id(frame))
        gc.collect()
        assert [is_kept(wire, i) for i in ids] == [False] * 19 + [True]
        assert frame.agg(F.min("id"), F.max("id")).first() == (20, 119)


def test_a_running_query_keeps_removed_rows(wire):
    identifier = wire.checkpoint(sql_plan("SELECT id, repeat('x', 1000) AS s FROM range(200000)"))
    # More than the server makes ahead of its client: the query runs while the id goes.
    stream = wire.stream(kept_plan(identifier), reattachable=True)
    begun = [next(stream)]
    while not begun[-1].HasField("schema"):
        begun.append(next(stream))
    wire.remove(identifier)
    assert not is_kept(wire, identifier)
    assert rows_of([*begun, *stream]) == 200_000


def test_a_lazy_checkpoint_removed_before_use(wire):
    identifier = wire.checkpoint(range_plan(3), eager=False)
    wire.remove(identifier)
    assert not is_kept(wire, identifier)
    assert wire.is_alive()


def test_removal_does_not_wait_for_queries(server, wire):
    busy = wire.stream(sql_plan("SELECT sum(a.id % 7 * b.id) FROM range(1000000) a, range(1000000) b"), reattachable=True)
    next(busy)
    identifier = wire.checkpoint(range_plan(3), eager=False)
    assert wire.remove(identifier, timeout=30) == []
    assert len(wire.interrupt()) == 1


def test_release_of_the_session_frees(server):
    with Wire(server.port) as wire:
        identifier = wire.checkpoint(range_plan(3))
        wire.release_session(reconnect=True)
        assert not is_kept(wire, identifier)
        identifier = wire.checkpoint(range_plan(3))
        wire.release_session()
        with pytest.raises(grpc.RpcError) as raised:
            wire.schema(kept_plan(identifier))
        assert condition(raised.value) == "INVALID_HANDLE.SESSION_CLOSED"
        # A finaliser that comes too late must not be retried by the client.
        with pytest.raises(grpc.RpcError) as raised:
            wire.remove(identifier)
        assert condition(raised.value) == "INVALID_HANDLE.SESSION_CLOSED"
        assert raised.value.code() == grpc.StatusCode.INTERNAL


def test_a_clone_does_not_see_it(server, wire):
    identifier = wire.checkpoint(range_plan(3))
    clone = wire.call("CloneSession", proto.CloneSessionRequest()).new_session_id
    with Wire(server.port, session=clone) as other:
        assert not is_kept(other, identifier)
        assert other.remove(identifier) == []
        other.release_session()
    assert is_kept(wire, identifier)


def test_analysis_of_a_checkpoint(spark, capsys):
    frame = spark.range(10).filter("id > 5").localCheckpoint()
    assert not frame.isLocal()
    assert not frame.isStreaming
    assert frame.sameSemantics(frame)
    assert frame.semanticHash() == frame.semanticHash()
    frame.explain(True)
    text = capsys.readouterr().out
    assert "ExistingRDD" in text
    assert "Filter" not in text
    assert frame.schema == spark.range(1).schema


def test_a_frame_may_be_joined_with_its_checkpoint(spark):
    frame = random_frame(spark)
    kept = frame.localCheckpoint()
    assert kept.join(kept.withColumnRenamed("r", "s"), "id").filter("r = s").count() == 100
    assert kept.union(kept).distinct().count() == 100
    assert kept.select(kept.id, kept["r"]).filter(kept.r >= 0).count() == 100


@pytest.mark.parametrize("eager", [True, False])
def test_errors_of_analysis_come_at_once(spark, eager):
    with pytest.raises(AnalysisException) as raised:
        spark.range(1).select("nope").localCheckpoint(eager)
    assert raised.value.getCondition() == "UNRESOLVED_COLUMN.WITH_SUGGESTION"


def test_lazy_errors_come_at_the_first_use(spark):
    frame = spark.range(3).select(F.expr("1 div (id - 1)").alias("q")).localCheckpoint(False)
    for _ in range(2):
        with pytest.raises(PySparkException) as raised:
            frame.collect()
        assert raised.value.getCondition() == "DIVIDE_BY_ZERO"
    assert frame.columns == ["q"]
    assert spark.range(3).count() == 3


def test_a_checkpoint_of_an_empty_frame(spark):
    for frame in (spark.range(0), spark.createDataFrame([], "a INT, b STRING")):
        for eager in (True, False):
            kept = frame.localCheckpoint(eager)
            assert kept.schema == frame.schema
            assert kept.collect() == []


def test_all_types_come_back(spark):
    frame = spark.sql(
        "SELECT id, CAST(id AS TINYINT) AS t, 'x' || id AS s, CAST(id AS DECIMAL(20, 3)) AS d, DATE'2024-02-29' AS day,"
        " TIMESTAMP'2024-02-29 12:00:00' AS at, TIMESTAMP_NTZ'2024-02-29 12:00:00' AS ntz,"
        " INTERVAL '1 2' DAY TO HOUR AS dh, X'00FF' AS bin, array(id, NULL) AS a, map('k', id) AS m,"
        " named_struct('n', NULL, 'i', id) AS st, CAST(NULL AS VOID) AS v, 1.5F AS f, true AS b FROM range(3)"
    )
    kept = frame.localCheckpoint()
    assert kept.schema == frame.schema
    assert kept.collect() == frame.collect()


def test_names_that_are_equal_odd_or_none(spark):
    frame = spark.range(2).toDF("a").select("a", F.col("a").alias("a"), F.lit(1).alias("x#1"), F.lit(2).alias(""))
    kept = frame.localCheckpoint()
    assert kept.columns == ["a", "a", "x#1", ""]
    assert [tuple(r) for r in kept.collect()] == [(0, 0, 1, 2), (1, 1, 1, 2)]


def test_two_sessions_keep_their_own(server, spark):
    other = SparkSession.builder.remote(server.url).create()
    mine, theirs = Wire(server.port, session=None), Wire(server.port, session=None)
    ids = [mine.checkpoint(range_plan(3)), theirs.checkpoint(range_plan(5))]
    assert rows_of(mine.execute(kept_plan(ids[0]))) == 3
    assert rows_of(theirs.execute(kept_plan(ids[1]))) == 5
    mine.release_session()
    assert rows_of(theirs.execute(kept_plan(ids[1]))) == 5
    theirs.release_session()
    other.stop()


def test_an_interrupted_checkpoint_leaves_nothing(spark):
    failures = []
    slow = spark.sql("SELECT sum(a.id * b.id % 7) AS s FROM range(1000000) a CROSS JOIN range(1000000) b")

    def run():
        try:
            slow.localCheckpoint()
        except PySparkException as error:
            failures.append(error.getCondition())

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive() and not spark.interruptAll():
        thread.join(0.05)
    thread.join(60)
    assert failures == ["OPERATION_CANCELED"]
    assert spark.range(3).localCheckpoint().count() == 3


def test_lazy_checkpoint_of_a_constant_error(spark):
    for text in ("SELECT 1 / 0", "SELECT id FROM range(3) WHERE id > 1 / 0"):
        with pytest.raises(PySparkException) as raised:
            spark.sql(text).localCheckpoint(False)
        assert raised.value.getCondition() == "DIVIDE_BY_ZERO"
    spark.sql("SELECT CASE WHEN id > 3 THEN 1 / 0 ELSE 1 END FROM range(3)").localCheckpoint(False)
