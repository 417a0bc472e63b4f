"""The server as a process: start, stop, tokens, bad clients."""

import subprocess
import threading
import time

import grpc
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from server import Server, binary


def test_sigterm_ends_cleanly():
    server = Server()
    session = SparkSession.builder.remote(server.url).create()
    assert session.range(3).count() == 3
    # A session of a dead server would stay the active one, and later frames' finalisers would call it.
    session.stop()
    assert server.stop() == 0


def test_token_of_the_environment_is_required():
    with Server(env={"SPARK_CONNECT_AUTHENTICATE_TOKEN": "secret"}) as server:
        from pyspark.sql.connect.proto import ConfigRequest, SparkConnectServiceStub

        request = ConfigRequest(session_id="00000000-0000-0000-0000-000000000001")
        request.operation.get_all.SetInParent()
        stub = SparkConnectServiceStub(grpc.insecure_channel(f"127.0.0.1:{server.port}"))
        with pytest.raises(grpc.RpcError) as raised:
            stub.Config(request)
        assert raised.value.code() == grpc.StatusCode.UNAUTHENTICATED
        assert stub.Config(request, metadata=[("authorization", "Bearer secret")]).session_id == request.session_id


def test_token_is_required(tmp_path):
    token = tmp_path / "token"
    token.write_text("secret\n")
    with Server("--token-file", str(token)) as server:
        channel = grpc.insecure_channel(f"127.0.0.1:{server.port}")
        from pyspark.sql.connect.proto import ConfigRequest, SparkConnectServiceStub

        request = ConfigRequest(session_id="00000000-0000-0000-0000-000000000001")
        request.operation.get_all.SetInParent()
        stub = SparkConnectServiceStub(channel)
        for metadata in ([], [("authorization", "Bearer wrong")]):
            with pytest.raises(grpc.RpcError) as raised:
                stub.Config(request, metadata=metadata)
            assert raised.value.code() == grpc.StatusCode.UNAUTHENTICATED
        assert stub.Config(request, metadata=[("authorization", "Bearer secret")]).session_id == request.session_id


def test_one_session_s_error_leaves_others_alone(server, spark):
    other = SparkSession.builder.remote(server.url).create()
    with pytest.raises(PySparkException):
        other.sql("SELECT * FROM nowhere").collect()
    assert spark.range(2).count() == 2
    assert other.range(2).count() == 2
    other.stop()


def test_interrupt(spark):
    failures = []

    def run():
        try:
            spark.sql("SELECT sum(a.id * b.id % 7) FROM range(1000000) a CROSS JOIN range(1000000) b").collect()
        except PySparkException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    for _ in range(100):
        time.sleep(0.1)
        if spark.interruptAll():
            break
    thread.join(60)
    assert failures and failures[0].getCondition() == "OPERATION_CANCELED"


def test_many_sessions(server):
    sessions = [SparkSession.builder.remote(server.url).create() for _ in range(50)]
    assert [s.range(i).count() for i, s in enumerate(sessions)] == list(range(50))
    for session in sessions:
        session.stop()


def test_sql_command():
    out = subprocess.run([binary(), "sql", "SELECT 1 AS a, 'x' AS b"], capture_output=True, text=True, check=True)
    assert "|1  |x  |" in out.stdout
