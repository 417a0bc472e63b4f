"""Python functions that fail, crash, use too much or never end: their query alone is lost, and nothing stays behind."""

import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from pyspark import cloudpickle
from pyspark.errors import PySparkException, PythonException
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from python_server import python_server, spark  # noqa: F401
from server import Server

# Workers do not have this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

UDF = "spark.sql.execution.pyspark.udf."


def fail(x):
    raise ValueError(f"no {x}")


def leave(x):
    os._exit(3)


def crash(x):
    import ctypes

    ctypes.string_at(0)


def forever(x):
    while True:
        pass


def asleep(x):
    time.sleep(600)
    return x


def called(function, arrow):
    return udf(function, "long", useArrow=arrow)("id")


def interrupted(session, function, arrow=False):
    """Seconds from an interrupt to the end of a query that does not end."""
    failures = []

    def run():
        try:
            session.range(2).select(called(function, arrow)).collect()
        except PySparkException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(1)
    start = time.monotonic()
    session.interruptAll()
    thread.join(30)
    assert not thread.is_alive() and "OPERATION_CANCELED" in str(failures[0])
    return time.monotonic() - start


@pytest.mark.parametrize("arrow", [True, False])
@pytest.mark.parametrize("function", [forever, asleep])
def test_queries_that_do_not_end_are_interrupted(spark, function, arrow):
    assert interrupted(spark, function, arrow) < 10
    assert spark.range(2).select(called(lambda x: x + 1, arrow)).count() == 2


@pytest.mark.parametrize("arrow", [True, False])
def test_silent_workers_are_ended_where_asked(spark, arrow):
    spark.conf.set(f"{UDF}idleTimeoutSeconds", "1")
    spark.conf.set(f"{UDF}killOnIdleTimeout", "true")
    with pytest.raises(PySparkException, match=r"terminated due to idle timeout \(timeout: 1 seconds\)"):
        spark.range(1).select(called(asleep, arrow)).collect()
    spark.conf.set(f"{UDF}killOnIdleTimeout", "false")
    late = udf(lambda x: [time.sleep(2), x][1], "long", useArrow=arrow)
    assert spark.range(1).select(late("id")).first()[0] == 0


def test_faults_of_native_code_come_with_their_traces(spark):
    with pytest.raises(PySparkException, match="exited unexpectedly") as caught:
        spark.range(1).select(called(crash, False)).collect()
    assert f"{UDF}faulthandler.enabled" in str(caught.value)
    spark.conf.set(f"{UDF}faulthandler.enabled", "true")
    for arrow in (True, False):
        with pytest.raises(PySparkException, match="exited unexpectedly") as caught:
            spark.range(1).select(called(crash, arrow)).collect()
        assert "Segmentation fault" in str(caught.value) and "in crash" in str(caught.value)


def test_settings_of_executors_reach_workers(spark):
    spark.conf.set("spark.executorEnv.H_COLOUR", "blue")
    assert spark.range(1).select(udf(lambda _: os.environ.get("H_COLOUR"), "string")("id")).first()[0] == "blue"
    secret = udf(lambda _: ",".join(sorted(k for k in os.environ if "AWS" in k or "TOKEN" in k)), "string")
    assert spark.range(1).select(secret("id")).first()[0] == ""


def test_workers_may_take_as_much_memory_as_they_are_given():
    memory = "spark.executor.pyspark.memory=4g"
    # Secrets of the server's environment are not the workers'.
    env = {"PYSPARK_PYTHON": sys.executable, "AWS_SECRET_ACCESS_KEY": "x", "MY_TOKEN": "x"}
    with Server("--conf", memory, env=env) as server:
        session = SparkSession.builder.remote(server.url).create()
        take = lambda size: called(lambda x: len(bytearray(size)), False)  # noqa: E731
        with pytest.raises(PythonException, match="MemoryError"):
            session.range(1).select(take(6 << 30)).collect()
        assert session.range(1).select(take(1 << 20)).first()[0] == 1 << 20
        names = udf(lambda _: ",".join(os.environ), "string")
        seen = session.range(1).select(names("id")).first()[0].split(",")
        assert not {"AWS_SECRET_ACCESS_KEY", "MY_TOKEN"} & set(seen)
        session.stop()


def below(pid):
    """Processes below a process, as (pid, state)."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            state, parent = Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        if int(parent) == pid:
            found += [(int(name), state), *below(int(name))]
    return found


def held(pid):
    """What a server holds: descriptors, and files below its folders of Python workers."""
    folders = {path for path in Path(tempfile.gettempdir()).glob("firesteel-*")}
    return len(os.listdir(f"/proc/{pid}/fd")), sum(len(files) for folder in folders for _, _, files in os.walk(folder))


def settled(pid, check, seconds=30):
    """Whether something comes to hold for the processes below a server."""
    deadline = time.monotonic() + seconds
    while not check(below(pid)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return check(below(pid))


def lose(session, turn):
    """One query that fails."""
    function = (fail, leave, crash)[turn % 3]
    with pytest.raises(PySparkException) as caught:
        session.range(2).select(called(function, turn % 2 == 0)).collect()
    assert ("ValueError" if function is fail else "exited unexpectedly") in str(caught.value)


def test_nothing_stays_of_queries_that_fail(python_server):
    pid = python_server.pid
    url = python_server.url
    other = SparkSession.builder.remote(url).create()
    steps = []

    def undisturbed():
        step = udf(lambda x: [time.sleep(0.01), x][1], "long", useArrow=False)
        steps.append(other.range(300).select(step("id").alias("x")).agg({"x": "sum"}).first()[0])

    thread = threading.Thread(target=undisturbed)
    thread.start()
    before = None
    for turn in range(90):
        session = SparkSession.builder.remote(url).create()
        lose(session, turn)
        session.stop()
        if turn == 29:
            before = held(pid)
    thread.join(60)
    other.stop()
    assert steps == [300 * 299 // 2]
    is_calm = lambda found: len(found) < 16 and not any(state == "Z" for _, state in found)  # noqa: E731
    assert settled(pid, is_calm), below(pid)
    after = held(pid)
    assert after[0] <= before[0] + 8 and after[1] <= before[1] + 8, (before, after)
