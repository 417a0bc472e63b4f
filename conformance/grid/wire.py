"""Queries over the bare protocol: answers as Spark's types and values as text, or errors by condition."""

import uuid

import grpc
import pyarrow as pa
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc

OPTIONS = [("grpc.max_receive_message_length", -1)]


class Failure(Exception):
    """An error of the server: its condition with SQLSTATE, else its exception class or gRPC status."""

    def __init__(self, condition: str, message: str):
        super().__init__(message)
        self.condition = condition
        self.message = message


class Unreadable(Exception):
    """Values that pyarrow does not read (intervals of years and months); the columns are known."""

    def __init__(self, columns: list[tuple[str, bool]]):
        super().__init__("unreadable")
        self.columns = columns


class Session:
    """A session of a server."""

    def __init__(self, channel: grpc.Channel, settings: dict[str, str]):
        self.stub = base_pb2_grpc.SparkConnectServiceStub(channel)
        self.id = str(uuid.uuid4())
        request = base_pb2.ConfigRequest(session_id=self.id, client_type="grid")
        request.user_context.user_id = "grid"
        for key, value in settings.items():
            request.operation.set.pairs.add(key=key, value=value)
        self.stub.Config(request)

    def command(self, sql: str) -> None:
        request = self._request()
        request.plan.command.sql_command.input.sql.query = sql
        list(self._run(request))

    def analyze(self, sql: str) -> list[tuple[str, bool]]:
        """Types and nullability of the columns."""
        request = base_pb2.AnalyzePlanRequest(session_id=self.id, client_type="grid")
        request.user_context.user_id = "grid"
        request.schema.plan.root.common.plan_id = 0
        request.schema.plan.root.sql.query = sql
        try:
            schema = self.stub.AnalyzePlan(request, timeout=60).schema.schema
        except grpc.RpcError as error:
            raise failure(error) from None
        return [(type_text(f.data_type), f.nullable) for f in schema.struct.fields]

    def query(self, sql: str) -> tuple[list[tuple[str, bool]], list[list[str | None]]]:
        """Types and nullability of the columns, and their values."""
        request = self._request()
        request.plan.root.common.plan_id = 0
        request.plan.root.sql.query = sql
        schema, batches = None, []
        for response in self._run(request):
            if response.HasField("schema"):
                schema = response.schema
            if response.HasField("arrow_batch"):
                batches.append(response.arrow_batch.data)
        columns = [(type_text(f.data_type), f.nullable) for f in schema.struct.fields]
        values = [[] for _ in columns]
        try:
            for data in batches:
                with pa.ipc.open_stream(data) as reader:
                    for batch in reader:
                        for index, column in enumerate(batch.columns):
                            values[index] += value_texts(column)
        except (NotImplementedError, KeyError):
            raise Unreadable(columns) from None
        return columns, values

    def close(self) -> None:
        request = base_pb2.ReleaseSessionRequest(session_id=self.id)
        request.user_context.user_id = "grid"
        self.stub.ReleaseSession(request)

    def _request(self) -> base_pb2.ExecutePlanRequest:
        request = base_pb2.ExecutePlanRequest(session_id=self.id, client_type="grid")
        request.user_context.user_id = "grid"
        return request

    def _run(self, request: base_pb2.ExecutePlanRequest):
        try:
            yield from self.stub.ExecutePlan(request, timeout=60)
        except grpc.RpcError as error:
            raise failure(error) from None


def failure(error: grpc.RpcError) -> Failure:
    status = rpc_status.from_call(error)
    for detail in status.details if status else []:
        info = error_details_pb2.ErrorInfo()
        if detail.Is(info.DESCRIPTOR):
            detail.Unpack(info)
            condition = info.metadata.get("errorClass")
            if condition:
                return Failure(f"{condition} {info.metadata.get('sqlState', '')}".strip(), error.details())
            return Failure(info.reason, error.details())
    return Failure(error.code().name, error.details())


SIMPLE = {"null": "void", "binary": "binary", "boolean": "boolean", "byte": "tinyint", "short": "smallint", "integer": "int",
          "long": "bigint", "float": "float", "double": "double", "date": "date", "timestamp": "timestamp",
          "timestamp_ntz": "timestamp_ntz", "calendar_interval": "interval", "variant": "variant"}
YEAR_MONTH = ["year", "month"]
DAY_TIME = ["day", "hour", "minute", "second"]


def type_text(data_type) -> str:
    """A type, with `?` behind parts that may be null."""
    kind = data_type.WhichOneof("kind")
    part = getattr(data_type, kind)
    if kind in SIMPLE:
        return SIMPLE[kind]
    if kind == "string":
        return f"string {part.collation}" if part.collation and part.collation != "UTF8_BINARY" else "string"
    if kind == "decimal":
        return f"decimal({part.precision},{part.scale})"
    if kind in ("char", "var_char"):
        return f"{kind}({part.length})"
    if kind == "time":
        return f"time({part.precision})"
    if kind in ("year_month_interval", "day_time_interval"):
        names = YEAR_MONTH if kind == "year_month_interval" else DAY_TIME
        return f"interval {names[part.start_field]} to {names[part.end_field]}"
    if kind == "array":
        return f"array<{type_text(part.element_type)}{'?' * part.contains_null}>"
    if kind == "map":
        return f"map<{type_text(part.key_type)}, {type_text(part.value_type)}{'?' * part.value_contains_null}>"
    if kind == "struct":
        return "struct<" + ", ".join(f"{f.name}: {type_text(f.data_type)}{'?' * f.nullable}" for f in part.fields) + ">"
    return f"{kind}({part.srid})" if kind in ("geometry", "geography") else kind


def value_texts(array: pa.Array) -> list[str | None]:
    """The values of a column as text."""
    array_type = array.type
    if pa.types.is_null(array_type):
        return [None] * len(array)
    if pa.types.is_struct(array_type):
        names = [array_type.field(k).name for k in range(array_type.num_fields)]
        parts = [value_texts(array.field(k)) for k in range(len(names))]
        texts = ["{" + ", ".join(text_of(part[row]) for part in parts) + "}" for row in range(len(array))]
    elif pa.types.is_map(array_type):
        keys, items = value_texts(array.keys), value_texts(array.items)
        offsets = array.offsets.to_pylist()
        texts = ["{" + ", ".join(f"{text_of(keys[k])}: {text_of(items[k])}" for k in range(start - offsets[0], end - offsets[0])) + "}"
                 for start, end in zip(offsets, offsets[1:])]
    elif pa.types.is_list(array_type) or pa.types.is_large_list(array_type):
        items = value_texts(array.flatten() if array.null_count else array.values)
        texts, at = [], array.offsets[0].as_py() if not array.null_count and len(array) else 0
        for valid, length in zip(array.is_valid().to_pylist(), array.value_lengths().to_pylist()):
            length = length if valid else 0
            texts.append("[" + ", ".join(text_of(item) for item in items[at:at + length]) + "]")
            at += length
    elif pa.types.is_date32(array_type):
        texts = [str(v) for v in array.view(pa.int32()).to_pylist()]
    elif pa.types.is_timestamp(array_type) or pa.types.is_time64(array_type) or pa.types.is_duration(array_type):
        texts = [str(v) for v in array.view(pa.int64()).to_pylist()]
    elif pa.types.is_floating(array_type):
        texts = [None if v is None else float_text(v) for v in array.to_pylist()]
    elif pa.types.is_binary(array_type) or pa.types.is_large_binary(array_type):
        texts = [None if v is None else v.hex() for v in array.to_pylist()]
    elif pa.types.is_boolean(array_type) or pa.types.is_integer(array_type) or pa.types.is_decimal(array_type):
        texts = [str(v).lower() for v in array.to_pylist()]
    elif pa.types.is_string(array_type) or pa.types.is_large_string(array_type):
        texts = string_texts(array)
    else:
        texts = [str(v) for v in array.to_pylist()]
    return [text if valid else None for text, valid in zip(texts, array.is_valid().to_pylist())]


def string_texts(array: pa.Array) -> list[str | None]:
    """Strings, which may hold bytes that are no UTF-8."""
    raw = array.cast(pa.large_binary() if pa.types.is_large_string(array.type) else pa.binary()).to_pylist()
    return [None if v is None else v.decode("utf-8", "backslashreplace") for v in raw]


def float_text(value: float) -> str:
    return repr(value)


def text_of(text: str | None) -> str:
    return "NULL" if text is None else text
