"""Operations that outlive their streams: reattach, release, and who may do so."""

import threading
import uuid

import grpc
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.connect import proto

from server import Server
from wire import Wire, condition, kept_plan, range_plan, rows_of, sql_plan


@pytest.fixture
def wire(server):
    with Wire(server.port) as wire:
        yield wire
        wire.release_session()


def fresh() -> str:
    return str(uuid.uuid4())


def contents(responses) -> list:
    """Responses without what differs from one execution to the next."""
    kept = []
    for response in responses:
        if response.WhichOneof("response_type") in ("execution_progress",) or response.HasField("metrics"):
            continue
        copy = proto.ExecutePlanResponse()
        copy.CopyFrom(response)
        copy.ClearField("response_id")
        copy.ClearField("operation_id")
        kept.append(copy)
    return kept


def endless() -> proto.Plan:
    return sql_plan("SELECT sum(a.id % 7 * b.id) FROM range(1000000) a, range(1000000) b")


def a_checkpoint() -> proto.Plan:
    plan = proto.Plan()
    plan.command.checkpoint_command.relation.CopyFrom(range_plan(3).root)
    plan.command.checkpoint_command.local = True
    plan.command.checkpoint_command.eager = True
    return plan


PLANS = {
    "rows": lambda: sql_plan("SELECT id, repeat('x', 20) AS s FROM range(0, 200000, 1, 1)"),
    "no rows": lambda: range_plan(0),
    "command": a_checkpoint,
    "statement": lambda: proto.Plan(command={"sql_command": {"input": {"sql": {"query": "SHOW DATABASES"}}}}),
}


@pytest.mark.parametrize("name", PLANS)
def test_reattach_after_every_response(wire, name):
    """For every k: k responses, a cut, and the rest after the last one make the whole."""
    plan = PLANS[name]()
    operation = fresh()
    whole = list(wire.stream(plan, operation=operation, reattachable=True))
    assert whole[-1].HasField("result_complete")
    assert len({response.response_id for response in whole}) == len(whole)
    for count in range(len(whole) + 1):
        last = whole[count - 1].response_id if count else None
        assert whole[:count] + list(wire.reattach(operation, last)) == whole
    wire.release(operation)


def test_a_cut_while_it_runs(wire):
    """The same with streams that break on the way, each of an operation of its own."""
    plan = PLANS["rows"]()
    whole = contents(wire.stream(plan, operation=fresh(), reattachable=True))
    for count in range(1, len(whole)):
        operation = fresh()
        stream = wire.stream(plan, operation=operation, reattachable=True)
        read = [next(stream) for _ in range(count)]
        stream.cancel()
        read += wire.reattach(operation, read[-1].response_id)
        assert contents(read) == whole
        wire.release(operation)


def test_a_cut_after_every_response_of_one_operation(wire):
    operation = fresh()
    stream = wire.stream(PLANS["rows"](), operation=operation, reattachable=True)
    read = []
    while not (read and read[-1].HasField("result_complete")):
        read.append(next(stream))
        stream.cancel()
        stream = wire.reattach(operation, read[-1].response_id)
    assert rows_of(read) == 200_000
    assert list(stream) == []
    offsets = [r.arrow_batch.start_offset for r in read if r.HasField("arrow_batch")]
    assert offsets == sorted(offsets)


def test_a_resent_request_attaches(wire):
    operation = fresh()
    first = list(wire.stream(range_plan(3), operation=operation, reattachable=True))
    assert list(wire.stream(range_plan(3), operation=operation, reattachable=True)) == first
    with pytest.raises(grpc.RpcError) as raised:
        wire.execute(range_plan(4), operation=operation, reattachable=True)
    assert condition(raised.value) == "INVALID_HANDLE.OPERATION_ALREADY_EXISTS"
    wire.release(operation)
    with pytest.raises(grpc.RpcError) as raised:
        wire.execute(range_plan(3), operation=operation, reattachable=True)
    assert condition(raised.value) == "INVALID_HANDLE.OPERATION_ABANDONED"


def test_a_second_consumer_takes_over(wire):
    operation = fresh()
    first = wire.stream(endless(), operation=operation, reattachable=True)
    head = next(first)
    second = wire.reattach(operation)
    assert next(second) == head
    with pytest.raises(grpc.RpcError) as raised:
        list(first)
    assert condition(raised.value) == "INVALID_CURSOR.DISCONNECTED"
    assert "INVALID_CURSOR.DISCONNECTED" in raised.value.details()
    assert wire.interrupt(operation) == [operation]
    with pytest.raises(grpc.RpcError) as raised:
        list(second)
    assert condition(raised.value) == "OPERATION_CANCELED"


def test_errors_are_replayed(wire):
    operation = fresh()
    for attempt in range(3):
        with pytest.raises(grpc.RpcError) as raised:
            if attempt:
                list(wire.reattach(operation))
            else:
                wire.execute(sql_plan("SELECT 1 DIV id FROM range(3)"), operation=operation, reattachable=True)
        assert condition(raised.value) == "DIVIDE_BY_ZERO"
    wire.release(operation)


def test_freed_and_foreign_responses(wire):
    operation, other = fresh(), fresh()
    whole = list(wire.stream(PLANS["rows"](), operation=operation, reattachable=True))
    foreign = list(wire.stream(range_plan(3), operation=other, reattachable=True))
    assert wire.release(operation, until=whole[2].response_id).operation_id == operation
    assert list(wire.reattach(operation, whole[2].response_id)) == whole[3:]
    for last in (None, whole[1].response_id):
        with pytest.raises(grpc.RpcError) as raised:
            list(wire.reattach(operation, last))
        assert condition(raised.value) == "INVALID_CURSOR.POSITION_NOT_AVAILABLE"
    for last in (foreign[0].response_id, fresh(), "nonsense", "\0", "é" * 36):
        with pytest.raises(grpc.RpcError) as raised:
            list(wire.reattach(operation, last))
        assert condition(raised.value) == "INVALID_CURSOR.POSITION_NOT_FOUND"
        with pytest.raises(grpc.RpcError) as raised:
            wire.release(operation, until=last)
        assert condition(raised.value) == "INVALID_CURSOR.POSITION_NOT_FOUND"
    for released in (operation, other):
        assert wire.release(released).operation_id == released
        assert wire.release(released).operation_id == ""
        with pytest.raises(grpc.RpcError) as raised:
            list(wire.reattach(released))
        assert condition(raised.value) == "INVALID_HANDLE.OPERATION_NOT_FOUND"


@pytest.mark.parametrize("operation", ["", "nonsense", str(uuid.uuid4()), "x" * 100_000])
def test_unknown_operations(wire, operation):
    assert wire.is_alive()
    with pytest.raises(grpc.RpcError) as raised:
        list(wire.reattach(operation))
    assert condition(raised.value) == "INVALID_HANDLE.OPERATION_NOT_FOUND" or len(operation) > 1000
    assert wire.release(operation).operation_id == ""
    assert wire.interrupt(operation or fresh()) == []


def test_not_reattachable(wire):
    operation = fresh()
    stream = wire.stream(endless(), operation=operation)
    next(stream)
    with pytest.raises(grpc.RpcError) as raised:
        list(wire.reattach(operation))
    assert condition(raised.value) == "INVALID_CURSOR.NOT_REATTACHABLE"
    assert wire.interrupt(operation) == [operation]


def test_release_stops_a_running_operation(wire):
    operation = fresh()
    stream = wire.stream(endless(), operation=operation, reattachable=True)
    next(stream)
    assert wire.states()[operation] == "RUNNING"
    wire.release(operation)
    with pytest.raises(grpc.RpcError):
        list(stream)
    assert wire.states()[operation] == "CANCELLED"
    assert wire.interrupt() == []


def test_another_user_s_operation_is_out_of_reach(server, wire):
    operation = fresh()
    stream = wire.stream(endless(), operation=operation, reattachable=True, tags=["t"])
    next(stream)
    for user, session in (("somebody else", wire.session), ("", fresh())):
        with Wire(server.port, user, session) as stranger:
            assert stranger.is_alive()
            assert stranger.interrupt() == []
            assert stranger.interrupt(operation) == []
            assert stranger.interrupt(tag="t") == []
            assert operation not in stranger.states()
            assert stranger.release(operation).operation_id == ""
            with pytest.raises(grpc.RpcError) as raised:
                list(stranger.reattach(operation))
            assert condition(raised.value) == "INVALID_HANDLE.OPERATION_NOT_FOUND"
            stranger.release_session()
    assert wire.states()[operation] == "RUNNING"
    assert wire.interrupt(tag="t") == [operation]


def test_release_of_the_session_ends_its_streams(server):
    with Wire(server.port) as wire:
        stream = wire.stream(endless(), reattachable=True)
        next(stream)
        wire.release_session()
        with pytest.raises(grpc.RpcError) as raised:
            list(stream)
        assert condition(raised.value) == "INVALID_CURSOR.DISCONNECTED"


@pytest.mark.parametrize("limit", ["senderMaxStreamSize=20k", "senderMaxStreamDuration=50ms"])
def test_the_server_cuts_streams_and_clients_come_back(limit):
    with Server("-c", f"spark.connect.execute.reattachable.{limit}") as server:
        session = SparkSession.builder.remote(server.url).create()
        assert session.range(200_000).toPandas()["id"].sum() == 19_999_900_000
        assert session.sql("SELECT sum(a.id % 7) AS s FROM range(3000) a, range(3000) b").first().s == 26_982_000
        session.stop()


def test_the_retry_buffer_is_bounded():
    with Server("-c", "spark.connect.execute.reattachable.observerRetryBufferSize=1k") as server, Wire(server.port) as wire:
        operation = fresh()
        whole = list(wire.stream(PLANS["rows"](), operation=operation, reattachable=True))
        assert list(wire.reattach(operation, whole[-1].response_id)) == []
        with pytest.raises(grpc.RpcError) as raised:
            list(wire.reattach(operation))
        assert condition(raised.value) == "INVALID_CURSOR.POSITION_NOT_AVAILABLE"


def test_abandoned_operations_are_dropped():
    settings = ("detachedTimeout=100ms", "maintenanceInterval=50ms")
    flags = [flag for s in settings for flag in ("-c", f"spark.connect.execute.manager.{s}")]
    with Server(*flags) as server, Wire(server.port) as wire:
        operation = fresh()
        stream = wire.stream(endless(), operation=operation, reattachable=True)
        next(stream)
        stream.cancel()
        waiting = threading.Event()
        for _ in range(200):
            if wire.states().get(operation) != "RUNNING":
                break
            waiting.wait(0.05)
        for attempt in (lambda: wire.reattach(operation), lambda: wire.stream(endless(), operation, True)):
            with pytest.raises(grpc.RpcError) as raised:
                list(attempt())
            assert condition(raised.value) == "INVALID_HANDLE.OPERATION_ABANDONED"
        assert wire.is_alive()


def test_a_kept_relation_survives_a_cut(wire):
    operation = fresh()
    stream = wire.stream(a_checkpoint(), operation=operation, reattachable=True)
    first = next(stream)
    stream.cancel()
    rest = list(wire.reattach(operation, first.response_id))
    found = [r.checkpoint_command_result.relation.relation_id for r in [first, *rest] if r.HasField("checkpoint_command_result")]
    assert len(found) == 1
    assert rows_of(wire.execute(kept_plan(found[0]))) == 3
