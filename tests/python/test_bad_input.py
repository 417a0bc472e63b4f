"""Input that is wrong: local rows, SQL, settings, files. Each gets a condition, and the session goes on."""

import gzip

import grpc
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql.connect import proto

from wire import Wire, condition, details, range_plan, rows_of, sql_plan


@pytest.fixture
def wire(server):
    with Wire(server.port) as wire:
        yield wire
        assert wire.is_alive()
        wire.release_session()


def is_clear(error: grpc.RpcError) -> bool:
    """An error with a condition that is not ours, or, as some of Spark's, with a class and a text."""
    name = condition(error)
    return name != "INTERNAL_ERROR" and bool(details(error).reason) and bool(error.details())


def refused(action) -> grpc.RpcError:
    with pytest.raises(grpc.RpcError) as raised:
        action()
    assert is_clear(raised.value), raised.value.details()
    return raised.value


def ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def local(data: bytes | None = None, schema: str | None = None) -> proto.Plan:
    plan = proto.Plan()
    plan.root.local_relation.SetInParent()
    if data is not None:
        plan.root.local_relation.data = data
    if schema is not None:
        plan.root.local_relation.schema = schema
    return plan


GOOD = ipc(pa.table({"a": [1, 2, 3], "s": ["x", None, "z"], "l": [[1], [], None]}))


def test_the_good_one(wire):
    assert rows_of(wire.execute(local(GOOD))) == 3
    assert rows_of(wire.execute(local(GOOD, "b INT, t STRING, m ARRAY<BIGINT>"))) == 3
    assert rows_of(wire.execute(local(None, "b INT"))) == 0


@pytest.mark.parametrize(
    "data",
    [b"", b"\0", b"\1\0\0\0garbage", GOOD[:10], GOOD[: len(GOOD) // 2], GOOD[:-9], b"ARROW1\0\0" + GOOD],
    ids=["nothing", "zero", "garbage", "head", "half", "no end", "a file's magic"],
)
def test_local_rows_that_are_not_arrow(wire, data):
    for schema in (None, "a BIGINT, s STRING, l ARRAY<BIGINT>"):
        for call in (wire.execute, wire.schema):
            try:
                call(local(data, schema))
            except grpc.RpcError as error:
                assert is_clear(error), error.details()


@pytest.mark.parametrize(
    "schema",
    ["nonsense", "a", "a NONSENSE", "a INT,", "{", "{}", '{"type":"struct"}', '{"type":"struct","fields":[{}]}', "[1]", "null", "a INT" + ", a INT" * 3, "a STRUCT<", "\0", "ARRAY<" * 5000],
)
def test_schemas_of_local_rows(wire, schema):
    for data in (None, GOOD):
        for call in (wire.execute, wire.schema):
            try:
                call(local(data, schema))
            except grpc.RpcError as error:
                assert is_clear(error), error.details()


def test_local_rows_without_anything(wire):
    assert condition(refused(lambda: wire.execute(local()))) is not None


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": pa.array([1], pa.uint64())}),
        pa.table({"a": pa.array([1], pa.duration("ns"))}),
        pa.table({"a": pa.array([1], pa.time32("s"))}),
        pa.table({"a": pa.array([1], pa.timestamp("s", "Nowhere/Atlantis"))}),
        pa.table({"a": pa.array(["x"]).dictionary_encode()}),
        pa.table({"a": pa.array([1.0], pa.float16())}),
        pa.table({"a": pa.array([None], pa.null())}),
        pa.table({"a": pa.array([b"\xff\xfe"], pa.binary()).view(pa.string())}),
        pa.table({"a": pa.array([1], pa.decimal256(70, 3))}),
        pa.table({"a": pa.UnionArray.from_dense(pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1])])}),
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
        pa.table([], names=[]),
    ],
    ids=["uint64", "duration", "time32", "zone", "dictionary", "float16", "null", "bad utf8", "decimal256", "union", "equal names", "no columns"],
)
def test_local_rows_of_odd_types(wire, table):
    for schema in (None, "x INT"):
        try:
            wire.execute(local(ipc(table), schema))
        except grpc.RpcError as error:
            assert is_clear(error), error.details()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "PARSE_EMPTY_STATEMENT"),
        (" ", "PARSE_EMPTY_STATEMENT"),
        ("-- nothing", "PARSE_SYNTAX_ERROR"),
        (";", "PARSE_SYNTAX_ERROR"),
        ("SELEC 1", "PARSE_SYNTAX_ERROR"),
        ("SELECT 'x", "PARSE_SYNTAX_ERROR"),
        ("SELECT `x", "PARSE_SYNTAX_ERROR"),
        ("SELECT (1", "PARSE_SYNTAX_ERROR"),
        ("SELECT 1 +", "PARSE_SYNTAX_ERROR"),
        ("SELECT /* 1", "UNCLOSED_BRACKETED_COMMENT"),
        ("SELECT \0", "PARSE_SYNTAX_ERROR"),
        ("SELECT 1 é", None),
        ("SELECT \u202e1", None),
        ("SELECT 99999999999999999999999999999999999999999", None),
        ("SELECT 1e999999999", None),
        ("SELECT X'0G'", None),
        ("SELECT DATE'nonsense'", "INVALID_TYPED_LITERAL"),
        ("SELECT INTERVAL '1' NONSENSE", None),
        ("SELECT nope", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION"),
        ("SELECT nope(1)", "UNRESOLVED_ROUTINE"),
        ("SELECT abs()", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"),
        ("SELECT abs(1, 2)", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"),
        ("SELECT * FROM nowhere", "TABLE_OR_VIEW_NOT_FOUND"),
        ("SELECT * FROM a.b.c.d.e", None),
        ("SELECT 1 / 0", "DIVIDE_BY_ZERO"),
        ("SELECT 9223372036854775807 + 1", "ARITHMETIC_OVERFLOW"),
        ("SELECT CAST('x' AS INT)", "CAST_INVALID_INPUT"),
        ("SELECT CAST(1 AS NONSENSE)", "UNSUPPORTED_DATATYPE"),
        ("SELECT CAST(array(1) AS INT)", "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"),
        ("SELECT sum(sum(id)) FROM range(3)", "NESTED_AGGREGATE_FUNCTION"),
        ("SELECT id FROM range(3) GROUP BY 1 + 1", "MISSING_AGGREGATION"),
        ("SELECT id FROM range(3) WHERE sum(id) > 1", "INVALID_WHERE_CONDITION"),
        ("SELECT id FROM range(3) HAVING", None),
        ("SELECT id FROM range(3) ORDER BY 7", "ORDER_BY_POS_OUT_OF_RANGE"),
        ("SELECT id FROM range(3) GROUP BY 7", "GROUP_BY_POS_OUT_OF_RANGE"),
        ("SELECT id FROM range(3) LIMIT -1", "INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE"),
        ("SELECT id FROM range(3) LIMIT 'x'", "INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE"),
        ("SELECT 1 UNION SELECT 1, 2", "NUM_COLUMNS_MISMATCH"),
        ("SELECT a.id FROM range(3) a, range(3) b WHERE id = 1", "AMBIGUOUS_REFERENCE"),
        ("SELECT explode(array(1)), explode(array(2))", None),
        ("SELECT row_number()", None),
        ("SELECT element_at(array(1), 7)", "INVALID_ARRAY_INDEX_IN_ELEMENT_AT"),
        ("SELECT array(1)[7]", "INVALID_ARRAY_INDEX"),
        ("SELECT map('a', 1, 'a', 2)", "DUPLICATED_MAP_KEY"),
        ("SELECT sequence(1, 10000000000)", None),
        ("SELECT array_repeat(1, 2147483647)", None),
        ("SELECT raise_error('text')", "USER_RAISED_EXCEPTION"),
        ("SELECT * FROM range(1, 10, 0)", None),
        ("SELECT * FROM range('x')", None),
        ("SELECT regexp_replace('aaa', '(', '')", None),
        ("SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' RLIKE '(a*)*b'", None),
        ("SELECT from_json('{', 'nonsense')", None),
        ("SELECT date_format(current_date(), 'nonsense')", None),
        ("SELECT make_date(9999999, 1, 1)", None),
        ("SELECT :missing", None),
        ("SELECT ?", None),
        ("CREATE TABLE t", None),
        ("DROP TABLE nowhere", "TABLE_OR_VIEW_NOT_FOUND"),
        ("DROP VIEW nowhere", "TABLE_OR_VIEW_NOT_FOUND"),
        ("USE nowhere", "SCHEMA_NOT_FOUND"),
        ("INSERT INTO nowhere VALUES (1)", "TABLE_OR_VIEW_NOT_FOUND"),
        ("DESCRIBE nowhere", "TABLE_OR_VIEW_NOT_FOUND"),
        ("SELECT * FROM parquet.`/nowhere/at/all`", "PATH_NOT_FOUND"),
        ("SET spark.sql.ansi.enabled=nonsense", "INVALID_CONF_VALUE.TYPE_MISMATCH"),
        ("SET TIME ZONE 'Nowhere/Atlantis'", None),
        ("BEGIN SELECT 1", "PARSE_SYNTAX_ERROR"),
        ("EXECUTE IMMEDIATE 'SELEC 1'", None),
        ("WITH a AS (SELECT * FROM a) SELECT * FROM a", "TABLE_OR_VIEW_NOT_FOUND"),
        ("WITH a AS (SELECT 1), a AS (SELECT 2) SELECT 1", "DUPLICATED_CTE_NAMES"),
    ],
)
def test_bad_sql(wire, text, expected):
    try:
        wire.execute(sql_plan(text), timeout=100)
    except grpc.RpcError as error:
        assert is_clear(error), error.details()
        assert expected in (None, condition(error))
    else:
        assert expected is None


def config(wire, **operation) -> proto.ConfigResponse:
    return wire.call("Config", proto.ConfigRequest(operation=operation))


def test_bad_settings(wire):
    def settings(key, value=""):
        return config(wire, set={"pairs": [{"key": key, "value": value}]})

    cases = {
        ("spark.sql.ansi.enabled", "nonsense"): "INVALID_CONF_VALUE.TYPE_MISMATCH",
        ("spark.sql.ansi.enabled", ""): "INVALID_CONF_VALUE.TYPE_MISMATCH",
        ("spark.sql.shuffle.partitions", "x"): "INVALID_CONF_VALUE.TYPE_MISMATCH",
        ("spark.sql.shuffle.partitions", "99999999999999999999"): "INVALID_CONF_VALUE.TYPE_MISMATCH",
        ("spark.sql.warehouse.dir", "/x"): "CANNOT_MODIFY_STATIC_CONFIG",
        ("spark.executor.memory", "1g"): "CANNOT_MODIFY_CONFIG",
    }
    for (key, value), expected in cases.items():
        assert condition(refused(lambda: settings(key, value))).startswith(expected), key
    for key, value in [("spark.sql.session.timeZone", "Nowhere/Atlantis"), ("spark.sql.shuffle.partitions", "-1")]:
        refused(lambda: settings(key, value))
    for key in ("", "\0", "x" * 1_000_000, "é", "spark.unknown", " spark.sql.ansi.enabled"):
        settings(key, "\0" * 1000)
    assert condition(refused(lambda: config(wire, get={"keys": ["spark.nowhere"]}))) == "SQL_CONF_NOT_FOUND"
    refused(lambda: config(wire, unset={"keys": ["spark.sql.warehouse.dir"]}))
    refused(lambda: wire.call("Config", proto.ConfigRequest()))
    refused(lambda: config(wire, set={"pairs": [{"key": "spark.sql.ansi.enabled"}]}))
    config(wire, unset={"keys": ["spark.nowhere"]})
    assert config(wire, is_modifiable={"keys": ["spark.nowhere"]}).pairs[0].value == "false"
    answer = config(wire, set={"pairs": [{"key": "spark.sql.ansi.enabled", "value": "x"}], "silent": True})
    assert answer.warnings
    assert wire.config_get("spark.sql.ansi.enabled") == "true"


def test_files_that_are_something_else(spark, tmp_path):
    (tmp_path / "csv.parquet").write_text("a,b\n1,2\n")
    (tmp_path / "bad.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 1000)[:-20])
    (tmp_path / "not.gz").write_bytes(b"plain text")
    for name, kind in [("csv.parquet", "parquet"), ("csv.parquet", "orc"), ("csv.parquet", "nonsense")]:
        with pytest.raises(PySparkException) as raised:
            spark.read.format(kind).load(str(tmp_path / name)).collect()
        assert raised.value.getCondition() != "INTERNAL_ERROR", str(raised.value)
    for name in ("bad.gz", "not.gz"):
        for kind in ("csv", "text", "json"):
            try:
                spark.read.format(kind).load(str(tmp_path / name)).collect()
            except PySparkException as error:
                assert error.getCondition() != "INTERNAL_ERROR", str(error)
    assert spark.range(3).count() == 3


ODD = [
    b"",
    b"\n",
    b"\0",
    b"\xff\xfe",
    b"\xff\xfe\xfd,\x80\n\xc3\x28,\xa0\xa1\n",
    b"\xef\xbb\xbfa,b\n1,2\n",
    b"a,b\n1\n1,2,3\n,,,,\n",
    b'"a\n1,2',
    b'a,b\n"x""y,"z\n',
    b"a\0b,c\r\r\n\r1,2",
    b"a" * 3_000_000,
    b"," * 300,
    b'{"a":1',
    b'{"a":1}{"a":2}\n[1]\n"x"\nnull\n',
    b'{"a":' + b"[" * 5000 + b"\n",
    b'{"a":"\xff\xd8"}\n{"\\ud800":1}\n',
    b'{"a":1e999}\n{"a":99999999999999999999999999}\n',
]


@pytest.mark.parametrize("kind", ["csv", "json", "text"])
@pytest.mark.parametrize("content", ODD, ids=range(len(ODD)))
def test_odd_text_files(spark, tmp_path, kind, content):
    (tmp_path / "odd").write_bytes(content)
    for schema in (None, "a INT, b STRING") if kind != "text" else (None,):
        for mode in ("PERMISSIVE", "DROPMALFORMED", "FAILFAST"):
            reader = spark.read.format(kind).option("mode", mode)
            reader = reader.schema(schema) if schema else reader
            try:
                reader.load(str(tmp_path / "odd")).collect()
            except PySparkException as error:
                assert error.getCondition() != "INTERNAL_ERROR", str(error)
    assert spark.range(3).count() == 3


def test_files_that_are_not_there(spark, tmp_path):
    for path in (f"{tmp_path}/nowhere", f"{tmp_path}/*/x", "nonsense://host/x", "file://host/x", "s3://", "\0", "", "x" * 5000):
        with pytest.raises(PySparkException) as raised:
            spark.read.parquet(path).collect()
        assert raised.value.getCondition() != "INTERNAL_ERROR", (path, str(raised.value))
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "empty").mkdir()
    for name in ("dangling", "loop", "empty"):
        with pytest.raises(PySparkException) as raised:
            spark.read.parquet(str(tmp_path / name)).collect()
        assert raised.value.getCondition() != "INTERNAL_ERROR", (name, str(raised.value))


def test_writes_to_places_that_cannot_be_written(spark, tmp_path):
    (tmp_path / "file").write_text("in the way")
    for path in (f"{tmp_path}/file/x", "/proc/nowhere/x", "nonsense://host/x", "\0", "x" * 5000):
        for mode in ("error", "overwrite", "append"):
            with pytest.raises(PySparkException) as raised:
                spark.range(3).write.mode(mode).parquet(path)
            assert raised.value.getCondition() != "INTERNAL_ERROR", (path, mode, str(raised.value))
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_write_that_fails_leaves_the_old_rows(spark, tmp_path):
    path = f"{tmp_path}/t"
    spark.range(3).write.parquet(path)
    with pytest.raises(PySparkException):
        spark.range(0, 10, 1, 1).selectExpr("1 div (id - 9) AS id").write.mode("append").parquet(path)
    assert spark.read.parquet(path).count() == 3
    with pytest.raises(PySparkException):
        spark.range(3).write.parquet(path)
    assert spark.read.parquet(path).count() == 3


def test_plans_that_say_nothing(wire):
    plans = [
        proto.Plan(),
        proto.Plan(root={}),
        proto.Plan(command={}),
        proto.Plan(root={"project": {}}),
        proto.Plan(root={"filter": {"input": {"range": {"end": 1, "step": 1}}}}),
        proto.Plan(root={"filter": {"input": {"range": {"end": 1, "step": 1}}, "condition": {}}}),
        proto.Plan(root={"join": {}}),
        proto.Plan(root={"range": {"end": 1}}),
        proto.Plan(root={"range": {"end": 2**63 - 1, "start": -(2**63), "step": 2**63 - 1, "num_partitions": 2**31 - 1}}),
        proto.Plan(root={"range": {"end": 1, "step": 1, "num_partitions": -7}}),
        proto.Plan(root={"limit": {"input": {"range": {"end": 1, "step": 1}}, "limit": -1}}),
        proto.Plan(root={"sample": {"input": {"range": {"end": 1, "step": 1}}, "lower_bound": float("nan"), "upper_bound": -1}}),
        proto.Plan(root={"read": {}}),
        proto.Plan(root={"extension": {}}),
        proto.Plan(command={"extension": {}}),
        proto.Plan(command={"write_operation": {}}),
        proto.Plan(command={"create_dataframe_view": {}}),
        proto.Plan(command={"sql_command": {}}),
        proto.Plan(root={"sql": {}}),
        proto.Plan(root={"set_op": {}}),
        proto.Plan(root={"repartition": {"input": {"range": {"end": 1, "step": 1}}, "num_partitions": -1}}),
        proto.Plan(root={"repartition": {"input": {"range": {"end": 1, "step": 1}}, "num_partitions": 2**31 - 1}}),
        proto.Plan(root={"show_string": {"input": {"range": {"end": 1, "step": 1}}, "num_rows": -1, "truncate": -1}}),
        proto.Plan(compressed_operation={}),
        proto.Plan(compressed_operation={"data": b"x" * 100, "op_type": 1, "compression_codec": 1}),
    ]
    for plan in plans:
        for call in (lambda: wire.execute(plan, timeout=30), lambda: wire.schema(plan)):
            try:
                call()
            except grpc.RpcError as error:
                assert is_clear(error), (plan, error.details())
    refused(lambda: wire.call("AnalyzePlan", proto.AnalyzePlanRequest()))
    refused(lambda: wire.call("Interrupt", proto.InterruptRequest()))
    refused(lambda: wire.execute(range_plan(1), tags=["a,b"]))
    refused(lambda: wire.execute(range_plan(1), tags=[""]))
    refused(lambda: wire.execute(range_plan(1), operation="nonsense"))
