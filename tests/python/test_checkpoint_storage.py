"""Where the rows of checkpoints lie: memory, files, and what is left when the server dies."""

import gc
import subprocess
import sys
import time
from pathlib import Path

import grpc
import pytest
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from server import Server
from wire import Wire, condition, kept_plan, range_plan, rows_of, sql_plan

WIDE = "SELECT id, id * 2 AS twice, repeat('x', 100) AS s, rand() AS r FROM range({})"


def files(folder: Path) -> list:
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "lock")


def empty(folder: Path, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while files(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not files(folder)


def test_ten_million_rows_on_a_budget(tmp_path):
    rows = 10_000_000
    with Server("--memory-limit", "256m", "--spill-directory", str(tmp_path)) as server:
        spark = SparkSession.builder.remote(server.url).create()
        frame = spark.sql(f"SELECT id, id % 1000 AS k, id * 3 AS v, rand() AS r FROM range({rows})").localCheckpoint()
        assert files(tmp_path)
        sums = frame.agg(F.count("*"), F.sum("id"), F.sum("v")).first()
        assert sums == (rows, rows * (rows - 1) // 2, 3 * rows * (rows - 1) // 2)
        assert frame.agg(F.sum("r")).first() == frame.agg(F.sum("r")).first()
        assert frame.groupBy("k").agg(F.sum("v").alias("s")).agg(F.sum("s"), F.count("*")).first() == (sums[2], 1000)
        again = frame.filter("id % 2 = 0").localCheckpoint()
        assert again.count() == rows // 2
        del frame
        gc.collect()
        assert again.agg(F.max("id")).first() == (rows - 2,)
        del again
        gc.collect()
        assert empty(tmp_path)
        spark.stop()


def test_levels_say_where_rows_lie(tmp_path):
    with Server("--spill-directory", str(tmp_path)) as server:
        spark = SparkSession.builder.remote(server.url).create()
        frame = spark.sql(WIDE.format(1000))
        memory = frame.localCheckpoint()
        assert not files(tmp_path)
        disk = frame.localCheckpoint(True, StorageLevel.DISK_ONLY)
        assert files(tmp_path)
        assert memory.count() == disk.count() == 1000
        lazy = frame.localCheckpoint(False, StorageLevel.DISK_ONLY)
        del disk
        gc.collect()
        assert empty(tmp_path)
        assert lazy.collect() == lazy.collect()
        assert files(tmp_path)
        spark.stop()
        assert empty(tmp_path)


def test_persisted_rows_on_disk_go_when_unpersisted(tmp_path):
    with Server("--spill-directory", str(tmp_path)) as server:
        spark = SparkSession.builder.remote(server.url).create()
        frame = spark.sql(WIDE.format(1000)).persist(StorageLevel.DISK_ONLY)
        assert frame.count() == 1000
        assert files(tmp_path)
        frame.unpersist()
        assert empty(tmp_path)
        frame.persist(StorageLevel.DISK_ONLY).count()
        assert files(tmp_path)
        spark.stop()
        assert empty(tmp_path)


def test_reliable_checkpoints_are_files_that_stay(tmp_path):
    folder = tmp_path / "checkpoints"
    with Server("-c", f"spark.checkpoint.dir={folder}") as server:
        spark = SparkSession.builder.remote(server.url).create()
        frame = spark.sql(WIDE.format(1000)).checkpoint()
        kept = files(folder)
        assert kept
        assert all(p.relative_to(folder).parts[1].startswith("rdd-") and p.name.startswith("part-") for p in kept)
        assert frame.collect() == frame.collect()
        lazy = spark.sql(WIDE.format(10)).checkpoint(eager=False)
        assert files(folder) == kept
        assert lazy.collect() == lazy.collect()
        assert len(files(folder)) > len(kept)
        kept = files(folder)
        del frame, lazy
        gc.collect()
        spark.stop()
        assert files(folder) == kept
    assert files(folder) == kept


def test_a_reliable_checkpoint_that_fails_leaves_no_part_as_whole(tmp_path):
    with Server("-c", f"spark.checkpoint.dir={tmp_path}") as server:
        spark = SparkSession.builder.remote(server.url).create()
        with pytest.raises(PySparkException):
            spark.range(0, 10, 1, 1).select(F.expr("1 div (id - 9)")).checkpoint()
        assert not files(tmp_path)
        spark.stop()


def test_a_reliable_checkpoint_without_its_files(tmp_path):
    with Server("-c", f"spark.checkpoint.dir={tmp_path}") as server:
        spark = SparkSession.builder.remote(server.url).create()
        gone, damaged = [spark.sql(WIDE.format(1000)).checkpoint() for _ in range(2)]
        for frame, harm in ((gone, Path.unlink), (damaged, lambda p: p.write_bytes(p.read_bytes()[:100]))):
            number = 0 if frame is gone else 1
            for path in files(tmp_path):
                if f"rdd-{number}" in str(path):
                    harm(path)
            with pytest.raises(PySparkException):
                frame.collect()
        assert spark.range(3).count() == 3
        spark.stop()


@pytest.mark.parametrize("kind", ["a file", "below a file"])
def test_folders_that_cannot_be_written(tmp_path, kind):
    target = tmp_path / "file"
    target.write_text("in the way")
    folder = target if kind == "a file" else target / "deeper"
    with Server("-c", f"spark.checkpoint.dir={folder}", "--spill-directory", str(tmp_path / "spill")) as server:
        spark = SparkSession.builder.remote(server.url).create()
        with pytest.raises(PySparkException) as raised:
            spark.range(3).checkpoint()
        assert str(folder) in str(raised.value)
        assert spark.range(3).localCheckpoint().count() == 3
        spark.stop()


def test_a_spill_folder_that_vanishes(tmp_path):
    folder = tmp_path / "spill"
    with Server("--spill-directory", str(folder)) as server:
        spark = SparkSession.builder.remote(server.url).create()
        frame = spark.sql(WIDE.format(1000)).localCheckpoint(True, StorageLevel.DISK_ONLY)
        for path in sorted(folder.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        folder.rmdir()
        folder.write_text("in the way")
        with pytest.raises(PySparkException) as raised:
            frame.collect()
        assert raised.value.getCondition() != "INTERNAL_ERROR"
        with pytest.raises(PySparkException) as raised:
            spark.sql(WIDE.format(1000)).localCheckpoint(True, StorageLevel.DISK_ONLY)
        assert raised.value.getCondition() != "INTERNAL_ERROR"
        assert spark.sql(WIDE.format(1000)).localCheckpoint().count() == 1000
        spark.stop()


def test_an_idle_session_s_rows_go(tmp_path):
    settings = ("defaultSessionTimeout=300ms", "maintenanceInterval=50ms")
    flags = [flag for s in settings for flag in ("-c", f"spark.connect.session.manager.{s}")]
    with Server("--spill-directory", str(tmp_path), *flags) as server, Wire(server.port) as wire:
        identifier = wire.checkpoint(range_plan(3))
        command = sql_plan("SELECT 1")
        command.Clear()
        command.command.checkpoint_command.relation.CopyFrom(range_plan(3).root)
        command.command.checkpoint_command.local = True
        command.command.checkpoint_command.eager = True
        command.command.checkpoint_command.storage_level.use_disk = True
        command.command.checkpoint_command.storage_level.replication = 1
        wire.execute(command)
        assert rows_of(wire.execute(kept_plan(identifier))) == 3
        assert files(tmp_path)
        assert empty(tmp_path)
        with pytest.raises(grpc.RpcError) as raised:
            wire.execute(kept_plan(identifier))
        assert condition(raised.value) == "INVALID_HANDLE.SESSION_CLOSED"


def test_a_killed_server_leaves_nothing_for_long(tmp_path):
    first = Server("--spill-directory", str(tmp_path))
    with Wire(first.port) as wire:
        command = range_plan(1)
        command.command.checkpoint_command.relation.CopyFrom(sql_plan(WIDE.format(1000)).root)
        command.command.checkpoint_command.local = True
        command.command.checkpoint_command.eager = True
        command.command.checkpoint_command.storage_level.use_disk = True
        command.command.checkpoint_command.storage_level.replication = 1
        identifier = [r for r in wire.execute(command) if r.HasField("checkpoint_command_result")][0]
        identifier = identifier.checkpoint_command_result.relation.relation_id
        observed = wire.call("Config", config_request()).server_side_session_id
        other = Server("--spill-directory", str(tmp_path))
        assert files(tmp_path)
        first.kill()
        assert files(tmp_path)
        with pytest.raises(grpc.RpcError) as raised:
            wire.execute(kept_plan(identifier), timeout=20)
        assert raised.value.code() == grpc.StatusCode.UNAVAILABLE
    with Server("--spill-directory", str(tmp_path), port=first.port) as second:
        assert not files(tmp_path)
        with Wire(second.port, session=wire.session) as again:
            request = config_request()
            request.client_observed_server_side_session_id = observed
            with pytest.raises(grpc.RpcError) as raised:
                again.call("Config", request)
            assert condition(raised.value) == "INVALID_HANDLE.SESSION_CHANGED"
            with pytest.raises(grpc.RpcError) as raised:
                again.execute(kept_plan(identifier))
            assert condition(raised.value) == "CONNECT_INVALID_PLAN.DATAFRAME_NOT_FOUND"
            assert again.is_alive()
    assert other.stop() == 0


def config_request():
    from pyspark.sql.connect import proto

    return proto.ConfigRequest(operation={"get_all": {}})


def test_a_living_server_s_files_are_not_swept(tmp_path):
    with Server("--spill-directory", str(tmp_path)) as first, Wire(first.port) as wire:
        spark = SparkSession.builder.remote(first.url).create()
        frame = spark.sql(WIDE.format(1000)).localCheckpoint(True, StorageLevel.DISK_ONLY)
        kept = files(tmp_path)
        with Server("--spill-directory", str(tmp_path)):
            assert files(tmp_path) == kept
        assert files(tmp_path) == kept
        assert frame.count() == 1000
        spark.stop()
        assert wire.is_alive()


KILLED = """
import gc, os, sys
sys.path.insert(0, {here!r})
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from server import Server

server = Server()
spark = SparkSession.builder.remote(server.url).create()
frame = spark.range(3).localCheckpoint()
server.kill()
with Server(port=server.port) as server:
    try:
        frame.collect()
    except PySparkException as error:
        print(error.getCondition())
    fresh = SparkSession.builder.remote(server.url).create()
    print(fresh.range(3).count(), flush=True)
    del frame
    gc.collect()
    fresh.stop()
    server.stop()
    # The client's farewell at exit would be tried for minutes.
    os._exit(0)
"""


def test_pyspark_notices_a_server_that_was_killed(tmp_path):
    """In a process of its own: a dead session would stay the active one of this."""
    code = KILLED.format(here=str(Path(__file__).parent))
    script = tmp_path / "client.py"
    script.write_text(code)
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    name, count = run.stdout.split()
    # The client closes itself at the first, and may say so instead.
    assert name in ("INVALID_HANDLE.SESSION_CHANGED", "NO_ACTIVE_SESSION")
    assert count == "3"


def test_release_during_a_checkpoint_leaves_nothing(tmp_path):
    with Server("--spill-directory", str(tmp_path)) as server:
        for _ in range(3):
            with Wire(server.port) as wire:
                command = range_plan(1)
                command.command.checkpoint_command.relation.CopyFrom(sql_plan(WIDE.format(3_000_000)).root)
                command.command.checkpoint_command.local = True
                command.command.checkpoint_command.eager = True
                command.command.checkpoint_command.storage_level.use_disk = True
                command.command.checkpoint_command.storage_level.replication = 1
                stream = wire.stream(command, reattachable=True)
                next(stream)
                deadline = time.monotonic() + 20
                while not files(tmp_path) and time.monotonic() < deadline:
                    time.sleep(0.01)
                wire.release_session()
            assert empty(tmp_path, 20)
