"""Input whose bytes are damaged: none of its lengths may be believed."""

import gzip
import struct
from pathlib import Path

import grpc
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from test_bad_input import GOOD, is_clear, local, refused
from wire import Wire


@pytest.fixture
def wire(server):
    with Wire(server.port) as wire:
        yield wire
        assert wire.is_alive()
        wire.release_session()


@pytest.mark.parametrize("size", [2**40, 2**47, 2**62, -1])
def test_a_body_s_length_in_local_rows(wire, size):
    reader = pa.ipc.MessageReader.open_stream(pa.BufferReader(GOOD))
    reader.read_next_message()
    length = struct.pack("<q", len(reader.read_next_message().body))
    assert GOOD.count(length) == 1
    refused(lambda: wire.execute(local(GOOD.replace(length, struct.pack("<q", size)))))


def test_every_damaged_byte_of_local_rows(wire):
    """Lengths and offsets are in there: none may be believed."""
    for at in range(0, len(GOOD), 3):
        damaged = bytearray(GOOD)
        damaged[at] ^= 0xFF
        try:
            wire.execute(local(bytes(damaged)))
        except grpc.RpcError as error:
            assert is_clear(error), (at, error.details())


def parquet(spark, folder):
    path = f"{folder}/t"
    spark.sql("SELECT id, repeat('x', 10) AS s FROM range(1000)").coalesce(1).write.parquet(path)
    [file] = [p for p in (folder / "t").iterdir() if p.suffix == ".parquet"]
    return path, file


def test_damaged_parquet(spark, tmp_path):
    path, file = parquet(spark, tmp_path)
    whole = file.read_bytes()
    assert spark.read.parquet(path).count() == 1000
    damages = [b"", whole[:3], whole[:100], whole[: len(whole) // 2], whole[:-1], whole[:-8], whole[4:], b"PAR1" * 3]
    damages += [whole[:-8] + struct.pack("<I", 2**31 - 1) + b"PAR1", whole[:-8] + struct.pack("<I", 0) + b"PAR1"]
    for damaged in damages:
        file.write_bytes(damaged)
        with pytest.raises(PySparkException) as raised:
            spark.read.parquet(path).collect()
        assert raised.value.getCondition() == "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER", str(raised.value)
    assert spark.range(3).count() == 3


def test_every_part_of_a_parquet_file_damaged(spark, tmp_path):
    path, file = parquet(spark, tmp_path)
    whole = file.read_bytes()
    bad = []
    for at in range(0, len(whole), max(1, len(whole) // 60)):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        file.write_bytes(damaged)
        try:
            spark.read.schema("id BIGINT, s STRING").parquet(path).collect()
        except PySparkException as error:
            if error.getCondition() == "INTERNAL_ERROR":
                bad.append((at, str(error)[:200]))
    assert not bad
    assert spark.range(3).count() == 3


def test_a_file_that_vanishes_before_it_is_read(spark, tmp_path):
    path, file = parquet(spark, tmp_path)
    frame = spark.read.parquet(path)
    frame.createOrReplaceTempView("vanishing")
    file.unlink()
    try:
        spark.table("vanishing").collect()
    except PySparkException as error:
        assert error.getCondition() != "INTERNAL_ERROR", str(error)
    spark.catalog.dropTempView("vanishing")
    assert spark.range(3).count() == 3


@pytest.mark.parametrize("length", [2**31 - 1, 0x34323032])
def test_lengths_that_nothing_follows(server, wire, length):
    """Ten bytes must not cost gigabytes."""

    def peak():
        [line] = [x for x in Path(f"/proc/{server.pid}/status").read_text().splitlines() if x.startswith("VmHWM")]
        return int(line.split()[1]) * 1024

    before = peak()
    refused(lambda: wire.execute(local(struct.pack("<iI", -1, length) + b"xx")))
    assert peak() < before + 64 * 2**20


def test_every_bit_of_local_rows(wire):
    """A body's length of 2**57 bytes ended the whole server."""
    for at in range(len(GOOD)):
        for bit in (0x80, 0x40, 0xFF):
            damaged = bytearray(GOOD)
            damaged[at] ^= bit
            try:
                wire.execute(local(bytes(damaged)))
            except grpc.RpcError as error:
                assert is_clear(error), (at, bit, error.details())


def test_a_parquet_file_without_a_byte_is_skipped_under_a_schema(spark, tmp_path):
    path, file = parquet(spark, tmp_path)
    file.write_bytes(b"")
    assert spark.read.schema("id BIGINT, s STRING").parquet(path).count() == 0


def test_a_compressed_file_that_ends_early(spark, tmp_path):
    data = gzip.compress(b"a,b\n" * 100_000)
    (tmp_path / "x.csv.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(PySparkException) as raised:
        spark.read.schema("a STRING, b STRING").csv(str(tmp_path)).collect()
    assert raised.value.getCondition() == "FAILED_READ_FILE.NO_HINT"
