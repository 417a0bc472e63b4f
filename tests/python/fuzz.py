"""Random plans and bytes against every call of a server: it may refuse, but must go on answering.

    python fuzz.py --seconds 600 --seed 7        # for long; starts a server of its own

The seeds in `seeds.bin` are requests that PySpark made; `--record` makes them anew.
"""

import argparse
import random
import struct
import sys
import time
import uuid
import zlib
from collections import Counter
from pathlib import Path

import grpc
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from pyspark.sql.connect import proto

from server import Server
from wire import Wire, condition

SEEDS = Path(__file__).with_name("seeds.bin")
SERVICE = "/spark.connect.SparkConnectService/"
METHODS = {
    "ExecutePlan": proto.ExecutePlanRequest,
    "AnalyzePlan": proto.AnalyzePlanRequest,
    "Config": proto.ConfigRequest,
    "AddArtifacts": proto.AddArtifactsRequest,
    "ArtifactStatus": proto.ArtifactStatusesRequest,
    "Interrupt": proto.InterruptRequest,
    "ReattachExecute": proto.ReattachExecuteRequest,
    "ReleaseExecute": proto.ReleaseExecuteRequest,
    "ReleaseSession": proto.ReleaseSessionRequest,
    "FetchErrorDetails": proto.FetchErrorDetailsRequest,
    "CloneSession": proto.CloneSessionRequest,
    "GetStatus": proto.GetStatusRequest,
}
STREAMED = ("ExecutePlan", "ReattachExecute")
NUMBERS = [0, 1, -1, 2, 7, 100, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]
REALS = [0.0, -1.0, 0.5, float("nan"), float("inf"), 1e308, -1e-308]
TEXTS = ["", " ", "id", "a.b", "`", "*", "SELECT 1", "a INT", "{}", "é\u202e", "\0", "x" * 1000, "../x", "nonsense", "1", "NaN", "2024-02-30", "spark.sql.ansi.enabled"]


def load() -> dict:
    """The recorded requests, as bytes by call."""
    data, at, found = SEEDS.read_bytes(), 0, {}
    data = zlib.decompress(data)
    names = list(METHODS)
    while at < len(data):
        method, size = struct.unpack_from("<BI", data, at)
        at += 5
        found.setdefault(names[method], []).append(data[at : at + size])
        at += size
    return found


def save(seeds: list) -> None:
    names = list(METHODS)
    packed = b"".join(struct.pack("<BI", names.index(method), len(data)) + data for method, data in seeds)
    SEEDS.write_bytes(zlib.compress(packed, 9))


class Mutator:
    """Changes requests at random, as messages and as bytes."""

    def __init__(self, seed: int, seeds: dict):
        self.random = random.Random(seed)
        self.seeds = seeds
        self.parts = {}
        for method, requests in seeds.items():
            for data in requests:
                self._collect(METHODS[method].FromString(data))

    def _collect(self, message: Message) -> None:
        """Keeps all messages in a message, to be put elsewhere."""
        for part in messages(message):
            kept = self.parts.setdefault(part.DESCRIPTOR.full_name, [])
            if len(kept) < 400:
                kept.append(part.SerializeToString())

    def request(self, method: str) -> bytes:
        """A request for a method, more or less damaged."""
        seeds = self.seeds.get(method)
        data = self.random.choice(seeds) if seeds else b""
        kind = self.random.random()
        if kind < 0.1:
            return self.bytes(data)
        message = METHODS[method].FromString(data)
        for _ in range(self.random.choice([0, 1, 1, 2, 3, 8])):
            self.change(message)
        if kind < 0.2:
            return self.bytes(message.SerializeToString())
        return message.SerializeToString()

    def bytes(self, data: bytes) -> bytes:
        """Bytes with some of them changed, cut, or put twice."""
        out = bytearray(data)
        for _ in range(self.random.randint(1, 6)):
            at = self.random.randrange(len(out) + 1)
            kind = self.random.randrange(4)
            if kind == 0 and at < len(out):
                out[at] = self.random.randrange(256)
            elif kind == 1:
                out[at:at] = self.random.randbytes(self.random.randint(1, 9))
            elif kind == 2:
                del out[at : at + self.random.randint(1, 9)]
            else:
                out[at:at] = out[at // 2 : at]
        return bytes(out[:200_000])

    def change(self, message: Message) -> None:
        """Changes one field of one message in a message."""
        target = self.random.choice(messages(message))
        if not target.DESCRIPTOR.fields:
            return
        field = self.random.choice(list(target.DESCRIPTOR.fields))
        try:
            if self.random.random() < 0.2:
                target.ClearField(field.name)
            elif is_map(field):
                target.ClearField(field.name)
            elif field.is_repeated if hasattr(field, "is_repeated") else field.label == FieldDescriptor.LABEL_REPEATED:
                values = getattr(target, field.name)
                if values and self.random.random() < 0.5:
                    del values[self.random.randrange(len(values))]
                elif field.message_type:
                    values.add().MergeFromString(self.part(field))
                else:
                    values.append(self.value(field))
            elif field.message_type:
                getattr(target, field.name).SetInParent()
                getattr(target, field.name).Clear()
                getattr(target, field.name).SetInParent()
                getattr(target, field.name).MergeFromString(self.part(field))
            else:
                setattr(target, field.name, self.value(field))
        except (DecodeError, ValueError, TypeError):
            pass

    def part(self, field) -> bytes:
        known = self.parts.get(field.message_type.full_name)
        return self.random.choice(known) if known and self.random.random() < 0.9 else b""

    def value(self, field):
        kind = field.cpp_type
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return self.random.random() < 0.5
        if kind in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
            return self.random.choice(REALS)
        if kind == FieldDescriptor.CPPTYPE_STRING:
            text = self.random.choice(TEXTS)
            return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
        if kind == FieldDescriptor.CPPTYPE_ENUM:
            return self.random.choice([v.number for v in field.enum_type.values])
        return self.random.choice(NUMBERS)


def is_map(field) -> bool:
    return bool(field.message_type and field.message_type.GetOptions().map_entry)


def messages(message: Message) -> list:
    """A message and all those in it."""
    found, todo = [], [message]
    while todo:
        current = todo.pop()
        found.append(current)
        for field, value in current.ListFields():
            if not field.message_type or is_map(field):
                continue
            if isinstance(value, Message):
                todo.append(value)
            else:
                todo.extend(value)
    return found


class Fuzz:
    """A run against one server."""

    def __init__(self, port: int, seed: int):
        self.wire = Wire(port)
        self.mutator = Mutator(seed, load())
        self.random = self.mutator.random
        self.conditions = Counter()
        self.internal = []
        self.slow = []
        self.fatal = []

    def step(self) -> None:
        method = self.random.choice(["ExecutePlan"] * 8 + ["AnalyzePlan"] * 5 + list(METHODS))
        data = self.own(method, self.mutator.request(method))
        started = time.monotonic()
        try:
            self.send(method, data)
            self.conditions["OK"] += 1
        except grpc.RpcError as error:
            name = condition(error) or error.code().name
            self.conditions[name] += 1
            if name == "INTERNAL_ERROR":
                self.internal.append((method, data, error.details()))
            if error.code() == grpc.StatusCode.UNAVAILABLE:
                self.fatal.append((method, data, error.details()))
            if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED or time.monotonic() - started > 5:
                self.slow.append((method, data))

    def own(self, method: str, data: bytes) -> bytes:
        """The request as one of this session, where its bytes can still be read; now and then as it is."""
        message = METHODS[method]()
        try:
            message.MergeFromString(data)
        except DecodeError:
            return data
        if self.random.random() > 0.02 and method != "ReleaseSession":
            message.session_id = self.wire.session
            message.ClearField("client_observed_server_side_session_id")
            message.ClearField("user_context")
        if method == "ExecutePlan":
            message.ClearField("operation_id")
        self.tame(message)
        return message.SerializeToString()

    def tame(self, message: Message) -> None:
        """No writes outside, and no rows without end: both are what was asked for."""
        for part in messages(message):
            name = part.DESCRIPTOR.name
            if name in ("WriteOperation", "WriteOperationV2", "WriteStreamOperationStart"):
                part.Clear()
            elif name == "Range":
                part.start = max(-10_000, min(part.start, 10_000))
                part.end = max(-10_000, min(part.end, 10_000))
            elif name in ("Repartition", "RepartitionByExpression"):
                part.num_partitions = min(part.num_partitions, 1_000)
            elif name == "Literal" and part.WhichOneof("literal_type") in ("integer", "long"):
                kind = part.WhichOneof("literal_type")
                setattr(part, kind, max(-100_000, min(getattr(part, kind), 100_000)))

    def send(self, method: str, data: bytes) -> None:
        path, channel = SERVICE + method, self.wire.channel
        if method == "AddArtifacts":
            channel.stream_unary(path, None, None)(iter([data]), timeout=20)
        elif method in STREAMED:
            for count, _ in enumerate(channel.unary_stream(path, None, None)(data, timeout=20)):
                if count > 50:
                    break
        else:
            channel.unary_unary(path, None, None)(data, timeout=20)

    def run(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        steps = 0
        while time.monotonic() < deadline and not self.fatal:
            self.step()
            steps += 1
            if steps % 200 == 0:
                # The session collects views, settings and errors; now and then a fresh one.
                self.wire.session = str(uuid.uuid4())
        self.wire.session = str(uuid.uuid4())


def record() -> None:
    """Captures what PySpark sends for frames of many kinds."""
    import fuzz_seeds

    save(fuzz_seeds.capture())


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    if arguments.record:
        record()
        return 0
    with Server() as server:
        fuzz = Fuzz(server.port, arguments.seed)
        fuzz.run(arguments.seconds)
        print(f"seed {arguments.seed}: {sum(fuzz.conditions.values())} requests")
        for name, count in fuzz.conditions.most_common():
            print(f"{count:8} {name}")
        for title, found in (("fatal", fuzz.fatal), ("internal", fuzz.internal), ("slow", fuzz.slow)):
            seen = set()
            for method, data, *text in found:
                key = (method, *[t[:60] for t in text])
                if key not in seen:
                    seen.add(key)
                    print(f"\n{title}: {method} {text}\n{data.hex()}")
        if fuzz.fatal:
            print("dead")
            return 1
        is_alive = fuzz.wire.is_alive()
        print("alive" if is_alive else "dead")
        return 0 if is_alive and not fuzz.internal else 1


if __name__ == "__main__":
    sys.exit(main())
