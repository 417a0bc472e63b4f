"""Who may reach what: users, sessions, tokens, and the places of uploaded files."""

import uuid
import zlib

import grpc
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.connect import proto

from server import Server
from wire import Wire, condition, range_plan, sql_plan


@pytest.fixture
def wire(server):
    with Wire(server.port) as wire:
        yield wire
        wire.release_session()


def test_the_same_session_id_of_another_user_is_another_session(server, wire):
    with Wire(server.port, "somebody else", wire.session) as other:
        wire.config_set(**{"spark.sql.session.timeZone": "Asia/Tokyo"})
        other.config_set(**{"spark.sql.session.timeZone": "Europe/Rome"})
        assert wire.config_get("spark.sql.session.timeZone") == "Asia/Tokyo"
        wire.execute(sql_plan("CREATE TEMPORARY VIEW mine AS SELECT 1 AS a"))
        with pytest.raises(grpc.RpcError) as raised:
            other.execute(sql_plan("SELECT * FROM mine"))
        assert condition(raised.value) == "TABLE_OR_VIEW_NOT_FOUND"
        ids = [w.call("Config", proto.ConfigRequest(operation={"get_all": {}})).server_side_session_id for w in (wire, other)]
        assert ids[0] != ids[1]
        other.release_session()
        assert wire.is_alive()


def test_users_whose_names_look_like_keys(server):
    session = str(uuid.uuid4())
    wires = [Wire(server.port, user, session) for user in ("a", "a/b", "", "/", "a/" + session, "ü\0", "x" * 10_000)]
    for number, wire in enumerate(wires):
        wire.execute(sql_plan(f"CREATE TEMPORARY VIEW v{number} AS SELECT 1"))
    for number, wire in enumerate(wires):
        for other in range(len(wires)):
            if other != number:
                with pytest.raises(grpc.RpcError):
                    wire.execute(sql_plan(f"SELECT * FROM v{other}"))
        wire.release_session()


@pytest.mark.parametrize("session", ["", "nonsense", "0" * 36, str(uuid.uuid4()) + "0", "../../../../../../../../../../../etc/xx", "\0" * 36])
def test_session_ids_must_be_uuids(server, session):
    with Wire(server.port) as wire:
        wire.session = session
        calls = [
            lambda: wire.execute(range_plan(1)),
            lambda: wire.schema(range_plan(1)),
            lambda: wire.config_get("spark.sql.ansi.enabled"),
            lambda: wire.interrupt(),
            lambda: list(wire.reattach(str(uuid.uuid4()))),
            lambda: wire.release(str(uuid.uuid4())),
            lambda: wire.release_session(),
            lambda: wire.states(),
            lambda: wire.call("CloneSession", proto.CloneSessionRequest()),
            lambda: wire.call("ArtifactStatus", proto.ArtifactStatusesRequest()),
        ]
        for call in calls:
            with pytest.raises(grpc.RpcError) as raised:
                call()
            assert condition(raised.value) == "INVALID_HANDLE.FORMAT"


def test_every_call_needs_the_token(tmp_path):
    token = tmp_path / "token"
    token.write_text("secret\n")
    methods = {
        "ExecutePlan": proto.ExecutePlanRequest(plan=range_plan(1)),
        "AnalyzePlan": proto.AnalyzePlanRequest(spark_version={}),
        "Config": proto.ConfigRequest(operation={"get_all": {}}),
        "ArtifactStatus": proto.ArtifactStatusesRequest(),
        "Interrupt": proto.InterruptRequest(interrupt_type=1),
        "ReattachExecute": proto.ReattachExecuteRequest(operation_id=str(uuid.uuid4())),
        "ReleaseExecute": proto.ReleaseExecuteRequest(operation_id=str(uuid.uuid4()), release_all={}),
        "ReleaseSession": proto.ReleaseSessionRequest(),
        "FetchErrorDetails": proto.FetchErrorDetailsRequest(),
        "CloneSession": proto.CloneSessionRequest(),
        "GetStatus": proto.GetStatusRequest(),
    }
    wrong = [None, "", "Bearer", "Bearer ", "Bearer wrong", "bearer secret", "secret", "Bearer secret ", "Bearer secretx", "Basic secret"]
    with Server("--token-file", str(token)) as server:
        for given in wrong:
            metadata = [] if given is None else [("authorization", given)]
            with Wire(server.port, metadata=metadata) as wire:
                for method, request in methods.items():
                    with pytest.raises(grpc.RpcError) as raised:
                        answer = wire.call(method, request)
                        if method in ("ExecutePlan", "ReattachExecute"):
                            list(answer)
                    assert raised.value.code() == grpc.StatusCode.UNAUTHENTICATED, (given, method)
                with pytest.raises(grpc.RpcError) as raised:
                    upload(wire, "files/a", b"x")
                assert raised.value.code() == grpc.StatusCode.UNAUTHENTICATED
        with Wire(server.port, metadata=[("authorization", "Bearer secret")]) as wire:
            assert wire.is_alive()
        good = SparkSession.builder.remote(f"sc://localhost:{server.port}/;token=secret").create()
        assert good.range(3).count() == 3
        good.stop()


def upload(wire, *names, chunks=None, crc=None):
    """Sends artifacts of those names in one batch, or one in chunks."""
    content = names[-1] if isinstance(names[-1], bytes) else b"x"
    names = [name for name in names if isinstance(name, str)]

    def requests():
        request = wire.address(proto.AddArtifactsRequest())
        for name in names:
            artifact = request.batch.artifacts.add(name=name)
            artifact.data.data = content
            artifact.data.crc = zlib.crc32(content) if crc is None else crc
        yield request

    return wire.stub.AddArtifacts(requests(), metadata=wire.metadata, timeout=60)


OUTSIDE = [
    "../x",
    "files/../../x",
    "files/../x",
    "files/..",
    "/etc/firesteel-test",
    "//etc/firesteel-test",
    "",
    ".",
    "..",
    "files/",
    "files//x",
    "files/./x",
    "files\\..\\..\\x",
    "files/a\0b",
    "\0",
    "cache/../../x",
    "forward_to_fs/../../x",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_artifacts_stay_in_their_folder(wire, name):
    for names in ([name], ["files/good", name]):
        with pytest.raises(grpc.RpcError) as raised:
            upload(wire, *names)
        assert condition(raised.value) == "INVALID_ARTIFACT_PATH"
    # Nothing of the failed stream is kept: other bytes are no conflict.
    upload(wire, "files/good", b"other bytes")
    assert wire.is_alive()


def test_forwarding_to_the_server_s_files_is_refused(wire, tmp_path):
    with pytest.raises(grpc.RpcError):
        upload(wire, f"forward_to_fs{tmp_path}/x", b"x")
    assert not (tmp_path / "x").exists()
    assert wire.is_alive()


def test_forwarding_where_it_is_allowed(wire, tmp_path):
    wire.config_set(**{"spark.sql.artifact.copyFromLocalToFs.allowDestLocal": "true"})
    upload(wire, f"forward_to_fs{tmp_path}/x", b"content")
    assert (tmp_path / "x").read_bytes() == b"content"


def test_artifacts_of_the_same_name(wire):
    upload(wire, "files/a", b"1")
    upload(wire, "files/a", b"1")
    with pytest.raises(grpc.RpcError) as raised:
        upload(wire, "files/a", b"2")
    assert condition(raised.value) == "ARTIFACT_ALREADY_EXISTS"
    upload(wire, "cache/a", b"1")
    upload(wire, "cache/a", b"2")


def test_a_bad_checksum_is_reported_and_not_kept(wire):
    answer = upload(wire, "cache/damaged", b"1", crc=7)
    assert [a.is_crc_successful for a in answer.artifacts] == [False]
    assert not status(wire, "cache/damaged")
    answer = upload(wire, "cache/damaged", b"1")
    assert [a.is_crc_successful for a in answer.artifacts] == [True]
    assert status(wire, "cache/damaged")


def status(wire, name):
    return wire.call("ArtifactStatus", proto.ArtifactStatusesRequest(names=[name])).statuses[name].exists


def test_status_of_odd_names(wire):
    for name in [*OUTSIDE, "cache/" + "x" * 100_000, "cache/../../../etc/passwd"]:
        assert not status(wire, name)


def test_artifacts_of_another_user(server, wire):
    upload(wire, "cache/mine", b"1")
    with Wire(server.port, "somebody else", wire.session) as other:
        assert not status(other, "cache/mine")
        other.release_session()
    assert status(wire, "cache/mine")


def test_a_stream_of_artifacts_that_breaks(wire):
    def begin(name="cache/part", chunks=3, total=3, data=b"x"):
        request = wire.address(proto.AddArtifactsRequest())
        request.begin_chunk.name = name
        request.begin_chunk.num_chunks = chunks
        request.begin_chunk.total_bytes = total
        request.begin_chunk.initial_chunk.data = data
        request.begin_chunk.initial_chunk.crc = zlib.crc32(data)
        return request

    def chunk(data=b"x"):
        request = wire.address(proto.AddArtifactsRequest())
        request.chunk.data = data
        request.chunk.crc = zlib.crc32(data)
        return request

    batch = wire.address(proto.AddArtifactsRequest())
    batch.batch.artifacts.add(name="cache/other").data.crc = 0
    broken = [
        [],
        [begin()],
        [begin(), chunk()],
        [begin(), chunk(), chunk(), chunk()],
        [begin(total=7), chunk(), chunk()],
        [begin(), begin()],
        [begin(), batch],
        [chunk()],
        [begin(chunks=0)],
        [begin(chunks=-1)],
        [begin(chunks=2**62), chunk()],
        [begin(total=-1), chunk(), chunk()],
        [wire.address(proto.AddArtifactsRequest())],
    ]
    for requests in broken:
        with pytest.raises(grpc.RpcError) as raised:
            wire.stub.AddArtifacts(iter(requests), timeout=60)
        assert raised.value.code() in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)
        assert condition(raised.value) != "INTERNAL_ERROR"
        assert not status(wire, "cache/part")
    wire.stub.AddArtifacts(iter([begin(), chunk(), chunk()]), timeout=60)
    assert status(wire, "cache/part")


def test_files_of_the_session_by_pyspark(spark, tmp_path):
    module = tmp_path / "some_module.py"
    module.write_text("value = 1\n")
    spark.addArtifacts(str(module), pyfile=True)
    spark.addArtifacts(str(module), pyfile=True)
    module.write_text("value = 2\n")
    with pytest.raises(PySparkException):
        spark.addArtifacts(str(module), pyfile=True)
    link = tmp_path / "link.py"
    link.symlink_to("/etc/hostname")
    spark.addArtifacts(str(link), file=True)
    assert spark.range(2).count() == 2


def test_uploaded_files_go_with_the_session(tmp_path):
    with Server(env={"TMPDIR": str(tmp_path)}) as server, Wire(server.port) as wire:
        upload(wire, "files/deep/a", b"1")
        stored = [p for p in tmp_path.rglob("*") if p.is_file() and p.name == "a"]
        # One that was uploaded, and one where functions look for it.
        assert len(stored) == 2
        assert not any(file.is_symlink() for file in stored)
        wire.release_session()
        assert not any(file.exists() for file in stored)
        assert not [*tmp_path.rglob("*artifacts*"), *tmp_path.rglob("firesteel-session-*")]


def test_artifact_names_that_no_file_can_have(wire):
    upload(wire, "files/a")
    for name in ("files/" + "x" * 300, "files/a/b", "cache/" + "/".join(["d" * 200] * 30)):
        with pytest.raises(grpc.RpcError) as raised:
            upload(wire, name)
        assert condition(raised.value) == "INVALID_ARTIFACT_PATH"
