"""What may go wrong around a query: clients that die, servers that stop, loads and sizes."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.connect import proto

from server import Server
from wire import Wire, condition, range_plan, rows_of, sql_plan

HERE = Path(__file__).parent
ENDLESS = "SELECT sum(a.id * b.id % 7) FROM range(1000000) a CROSS JOIN range(1000000) b"
MANY_ROWS = "SELECT id, repeat('x', 1000) AS s FROM range(2000000)"


def memory(server) -> int:
    """Bytes of memory that the server holds."""
    for line in Path(f"/proc/{server.pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no RssAnon")


def until(wanted, seconds: float = 30) -> bool:
    """Waits for a condition."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if wanted():
            return True
        time.sleep(0.05)
    return False


def client(code: str, server, *arguments: str) -> subprocess.Popen:
    """A process that runs code with a PySpark session `spark`."""
    head = f"import sys; sys.path.insert(0, {str(HERE)!r})\nfrom pyspark.sql import SparkSession\n"
    head += f"spark = SparkSession.builder.remote({server.url!r}).create()\n"
    # From a file: with `-c` the client of 4.2.0 looks for an installation of Spark.
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(head + code)
    return subprocess.Popen([sys.executable, file.name, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("query", [ENDLESS, MANY_ROWS], ids=["silent", "many rows"])
@pytest.mark.parametrize("is_reattachable", [True, False])
def test_a_client_that_is_killed(query, is_reattachable):
    flags = ("detachedTimeout=200ms", "maintenanceInterval=50ms")
    with Server(*[f for s in flags for f in ("-c", f"spark.connect.execute.manager.{s}")]) as server:
        session, operation = str(uuid.uuid4()), str(uuid.uuid4())
        code = (
            "import sys, time\nfrom wire import *\n"
            f"w = Wire({server.port}, session={session!r})\n"
            f"s = w.stream(sql_plan({query!r}), operation={operation!r}, reattachable={is_reattachable})\n"
            "next(s)\nprint('running', flush=True)\ntime.sleep(600)\n"
        )
        with Wire(server.port, session=session) as wire:
            assert wire.is_alive()
            before = memory(server)
            process = client(code, server)
            assert process.stdout.readline() == "running\n"
            assert wire.states()[operation] == "RUNNING"
            process.kill()
            process.communicate()
            assert until(lambda: wire.states()[operation] == "CANCELLED")
            assert wire.interrupt() == []
            # The buffer ahead of the client is 32 MiB.
            assert until(lambda: memory(server) < before + 100 * 2**20)
            assert wire.is_alive()


def test_sigterm_during_a_query():
    server = Server()
    code = (
        "from pyspark.errors import PySparkException\nprint('ready', flush=True)\n"
        f"try:\n    spark.sql({ENDLESS!r}).collect()\n"
        "except PySparkException as e:\n    print(e.getCondition(), e.getSqlState(), flush=True)\n"
        "    import os\n    os._exit(0)\n"
    )
    process = client(code, server)
    assert process.stdout.readline() == "ready\n"
    with Wire(server.port) as wire:
        stream = wire.stream(sql_plan(ENDLESS), reattachable=True)
        next(stream)
        time.sleep(1)
        assert server.stop() == 0
        with pytest.raises(grpc.RpcError) as raised:
            list(stream)
        assert condition(raised.value) == "OPERATION_CANCELED"
    assert process.communicate(timeout=60)[0] == "OPERATION_CANCELED HY008\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_an_idle_server(number):
    server = Server()
    server.process.send_signal(number)
    assert server.process.wait(20) == 0


def test_a_second_signal_does_no_harm():
    server = Server()
    with Wire(server.port) as wire:
        stream = wire.stream(sql_plan(ENDLESS))
        next(stream)
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 0


def test_two_hundred_sessions_at_once(server):
    with Wire(server.port) as wire:
        before = memory(server)

        def work(number):
            mine = Wire(server.port)
            mine.stub, mine.session = wire.stub, str(uuid.uuid4())
            mine.execute(sql_plan(f"CREATE TEMPORARY VIEW v AS SELECT {number} AS n, id FROM range(1000)"))
            mine.config_set(**{"spark.sql.shuffle.partitions": str(number + 1)})
            identifier = mine.checkpoint(sql_plan("SELECT sum(n) AS s FROM v"))
            return mine, identifier

        with ThreadPoolExecutor(16) as pool:
            sessions = list(pool.map(work, range(200)))
            assert [s.config_get("spark.sql.shuffle.partitions") for s, _ in sessions] == [str(n + 1) for n in range(200)]
            assert all(pool.map(lambda s: rows_of(s[0].execute(sql_plan("SELECT * FROM v"))) == 1000, sessions))
            list(pool.map(lambda s: s[0].release_session(), sessions))
        assert memory(server) < before + 200 * 2**20
        wire.release_session()


def test_fifty_clients_at_once(server):
    def work(number):
        with Wire(server.port, fresh_connection=True) as wire:
            plan = sql_plan(f"SELECT id % 10 AS k, count(*) AS c FROM range({1000 * (number + 1)}) GROUP BY 1")
            rows = [rows_of(wire.execute(plan, reattachable=bool(number % 2))) for _ in range(3)]
            with pytest.raises(grpc.RpcError) as raised:
                wire.execute(sql_plan(f"SELECT nope{number}"))
            assert condition(raised.value) == "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION"
            wire.release_session()
            return rows

    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(work, range(50))) == [[10, 10, 10]] * 50


def test_fifty_operations_of_one_session(spark):
    def work(number):
        if number % 10 == 0:
            with pytest.raises(PySparkException):
                spark.sql("SELECT 1 DIV id FROM range(3)").collect()
            return number
        return spark.range(number).agg(F.count("*")).first()[0]

    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(work, range(50))) == list(range(50))


def deep(depth: int) -> proto.Plan:
    """A plan of nested relations, made of bytes: protobuf's own builder is too slow and too shallow."""
    inner = range_plan(1).root.SerializeToString()

    def varint(number):
        out = bytearray()
        while True:
            number, low = number >> 7, number & 127
            out.append(low | (128 if number else 0))
            if not number:
                return bytes(out)

    parts, size = [], len(inner)
    limit = proto.Limit.DESCRIPTOR.fields_by_name
    tail = varint(limit["limit"].number << 3) + b"\x05"
    relation_tag = varint(proto.Relation.DESCRIPTOR.fields_by_name["limit"].number << 3 | 2)
    input_tag = varint(limit["input"].number << 3 | 2)
    for _ in range(depth):
        head = input_tag + varint(size)
        size = len(head) + size + len(tail)
        outer = relation_tag + varint(size)
        size += len(outer)
        parts.append(outer + head)
    root = b"".join(reversed(parts)) + inner + tail * depth
    return b"\x0a" + varint(len(root)) + root


def send_plan(wire, method: str, plan: bytes, kind: str):
    """Sends a plan of bytes that this protobuf would refuse to parse."""

    def field(number, content):
        size, out = len(content), bytearray([number << 3 | 2])
        while True:
            size, low = size >> 7, size & 127
            out.append(low | (128 if size else 0))
            if not size:
                return bytes(out) + content

    user = proto.UserContext(user_id=wire.user).SerializeToString()
    message = field(1, wire.session.encode()) + field(2, user)
    message += field(3, plan) if kind == "ExecutePlan" else field(4, field(1, plan))
    path = f"/spark.connect.SparkConnectService/{kind}"
    if kind == "ExecutePlan":
        return list(wire.channel.unary_stream(path, None, None)(message, timeout=60))
    return wire.channel.unary_unary(path, None, None)(message, timeout=60)


@pytest.mark.parametrize("depth", [10, 300, 5_000, 10_000, 100_000])
@pytest.mark.parametrize("kind", ["ExecutePlan", "AnalyzePlan"])
def test_deep_plans(server, depth, kind):
    with Wire(server.port) as wire:
        try:
            assert send_plan(wire, kind, deep(depth), kind)
        except grpc.RpcError as error:
            assert depth > 300
            assert error.code() != grpc.StatusCode.UNAVAILABLE
            assert error.details()
            assert condition(error) != "INTERNAL_ERROR"
        assert wire.is_alive()
        wire.release_session()


@pytest.mark.parametrize("depth", [100, 10_000])
@pytest.mark.parametrize(
    "text",
    [
        lambda n: "SELECT " + "(" * n + "1" + ")" * n,
        lambda n: "SELECT " + "-" + " -" * n + "1",
        lambda n: "SELECT " + "abs(" * n + "1" + ")" * n,
        lambda n: "SELECT " + "1 + " * n + "1",
        lambda n: "SELECT " + "NOT " * n + "true",
        lambda n: "SELECT * FROM " + "(SELECT * FROM " * n + "range(1)" + ")" * n,
        lambda n: " UNION ALL ".join(["SELECT 1"] * n),
        lambda n: "SELECT " + "array(" * n + "1" + ")" * n,
        lambda n: "SELECT CAST(NULL AS " + "ARRAY<" * n + "INT" + ">" * n + ")",
        lambda n: "SELECT CASE WHEN true THEN " * 1 + "CASE WHEN true THEN " * n + "1" + " END" * n + " END",
        lambda n: "/*" * n + " x " + "*/" * n + " SELECT 1",
        lambda n: "BEGIN " * n + "SELECT 1; " + "END; " * n,
    ],
    ids=["brackets", "minus", "calls", "sum", "not", "subqueries", "union", "arrays", "types", "case", "comments", "scripts"],
)
def test_deep_sql(server, text, depth):
    with Wire(server.port) as wire:
        try:
            wire.execute(sql_plan(text(depth)), timeout=100)
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.INTERNAL, error.details()
            assert condition(error) not in (None, "INTERNAL_ERROR") or not condition(error) and error.details()
        assert wire.is_alive()
        wire.release_session()


def test_a_row_of_64_mebibytes(spark):
    size = 64 * 2**20
    frame = spark.sql(f"SELECT repeat('x', {size}) AS s, 1 AS n UNION ALL SELECT 'y', 2")
    rows = frame.collect()
    assert sorted(len(row.s) for row in rows) == [1, size]
    local = spark.createDataFrame([("z" * size,)], "s STRING")
    assert local.selectExpr("length(s) AS n", "substr(s, -3) AS t").first() == (size, "zzz")
    assert spark.range(2).count() == 2


def test_a_string_that_is_too_long(spark):
    with pytest.raises(PySparkException):
        spark.sql("SELECT repeat(repeat('x', 1000000), 1000000) AS s").selectExpr("length(s)").collect()
    assert spark.range(2).count() == 2


def test_messages_above_the_limit(server):
    limit = 128 * 2**20
    with Wire(server.port) as wire:
        assert wire.is_alive()
        before = memory(server)
        for excess in (1024, 2**20):
            plan = proto.Plan()
            plan.root.local_relation.schema = "a INT"
            plan.root.local_relation.data = bytes(limit + excess)
            for call in (lambda: wire.execute(plan), lambda: wire.schema(plan)):
                with pytest.raises(grpc.RpcError) as raised:
                    call()
                assert raised.value.code() in (grpc.StatusCode.OUT_OF_RANGE, grpc.StatusCode.RESOURCE_EXHAUSTED)
                assert str(limit) in raised.value.details()
            del plan
        assert wire.is_alive()
        assert memory(server) < before + 64 * 2**20


def test_a_message_of_two_gibibytes(server):
    """Its length is announced, then it comes in pieces: nobody has 2 GiB at hand."""
    import socket
    import struct

    with Wire(server.port) as wire:
        before = memory(server)

        def frame(kind, flags, stream, payload):
            return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

        def text(value):
            return bytes([len(value)]) + value.encode()

        path = "/spark.connect.SparkConnectService/ExecutePlan"
        headers = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "x")]
        headers += [("content-type", "application/grpc"), ("te", "trailers")]
        block = b"".join(b"\x00" + text(name) + text(value) for name, value in headers)
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.settimeout(20)
            connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 4, 1, block))
            piece = bytes(16_000)
            try:
                connection.sendall(frame(0, 0, 1, b"\x00" + struct.pack(">I", 2**31) + piece))
                for _ in range(300):
                    connection.sendall(frame(0, 0, 1, piece))
            except OSError:
                pass  # The server may hang up at once.
            kinds, reader = [], connection.makefile("rb")
            # Until headers or a reset of the stream come, or a farewell.
            while not {1, 3, 7} & set(kinds):
                head = reader.read(9)
                if len(head) < 9:
                    break
                kinds.append(head[3])
                reader.read(int.from_bytes(head[:3], "big"))
        assert {1, 3, 7} & set(kinds)
        assert wire.is_alive()
        assert memory(server) < before + 64 * 2**20


def test_results_of_many_bytes_in_total(server):
    with Wire(server.port) as wire:
        before = memory(server)
        rows = sum(rows_of([r]) for r in wire.stream(sql_plan("SELECT repeat('x', 1000) AS s FROM range(200000)")))
        assert rows == 200_000
        assert until(lambda: memory(server) < before + 200 * 2**20)
        wire.release_session()
