"""Python functions: scalar, pandas, Arrow, grouped, windows; and what happens when they fail."""

import os
import sys
import threading
import time
from typing import Iterator

import pandas as pd
import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.errors import AnalysisException, PySparkException, PythonException
from pyspark.sql import Row, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.functions import pandas_udf, udf
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from python_server import python_server, spark  # noqa: F401

# Workers do not have this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.mark.parametrize("arrow", [True, False])
def test_a_scalar_function(spark, arrow):
    twice = udf(lambda x: x * 2, "long", useArrow=arrow)
    frame = spark.range(5)
    assert [r[0] for r in frame.select(twice("id")).collect()] == [0, 2, 4, 6, 8]
    assert frame.where(twice("id") > 4).count() == 2
    named = udf(lambda x: x, "long", useArrow=arrow)
    assert frame.select(named("id")).columns == ["<lambda>(id)"]


def test_values_of_all_kinds_go_there_and_back(spark):
    frame = spark.sql(
        "SELECT date'2020-01-02' d, timestamp'2020-01-02 03:04:05' t, cast(1.5 AS decimal(5,2)) x, array(1, null) a, "
        "map('a', 1) m, struct(1 AS z, 'y' AS s) s, binary('ab') b, 1.5D f, interval 1 day i, true o, 'text' v"
    )
    for arrow in (True, False):
        columns = [udf(lambda v: v, dict(frame.dtypes)[c], useArrow=arrow)(c).alias(c) for c in frame.columns]
        assert frame.select(*columns).collect() == frame.collect()
        shown = [udf(lambda v: repr(v), useArrow=arrow)(c) for c in "dxasbfi"]
        assert list(frame.select(*shown).first()) == [
            "datetime.date(2020, 1, 2)",
            "Decimal('1.50')",
            "[1, None]",
            "Row(z=1, s='y')",
            "b'ab'",
            "1.5",
            "datetime.timedelta(days=1)",
        ]


def test_pickled_results_of_other_types_are_null(spark):
    values = [True, 1, 2**40, 1.5, "s", None, [1], (1,), {"a": 1}, b"b"]
    expected = {
        "boolean": [True, None, None, None, None, None, None, None, None, None],
        "tinyint": [None, 1, 0, None, None, None, None, None, None, None],
        "bigint": [None, 1, 2**40, None, None, None, None, None, None, None],
        "double": [None, None, None, 1.5, None, None, None, None, None, None],
        "array<int>": [None, None, None, None, None, None, [1], [1], None, [98]],
        "map<string,int>": [None, None, None, None, None, None, None, None, {"a": 1}, None],
    }
    for kind, wanted in expected.items():
        columns = [udf(lambda _, v=v: v, kind, useArrow=False)("id") for v in values]
        assert list(spark.range(1).select(*columns).first()) == wanted, kind


def test_nested_calls_and_expressions_around_them(spark):
    plus = pandas_udf(lambda s: s + 1, "long")
    pickled = udf(lambda x: x * 10, "long", useArrow=False)
    frame = spark.range(3).select(plus(plus("id")), pickled(plus("id")) + F.col("id"), plus(pickled("id") + 1))
    assert [tuple(r) for r in frame.collect()] == [(2, 10, 2), (3, 21, 12), (4, 32, 22)]


def test_functions_in_aggregates_sorts_and_joins(spark):
    odd = udf(lambda x: x % 2, "long")
    frame = spark.range(6)
    assert sorted(map(tuple, frame.groupBy(odd("id")).agg(F.sum(odd("id"))).collect())) == [(0, 0), (1, 3)]
    assert [r.id for r in frame.orderBy(odd("id"), "id").collect()] == [0, 2, 4, 1, 3, 5]
    other = spark.range(2).withColumnRenamed("id", "k")
    assert frame.join(other, odd("id") == F.col("k")).count() == 6
    both = udf(lambda a, b: a == b, "boolean")
    assert frame.join(other, both("id", "k")).count() == 2
    with pytest.raises(AnalysisException) as caught:
        frame.join(other, both("id", "k"), "left").collect()
    assert caught.value.getCondition() == "UNSUPPORTED_FEATURE.PYTHON_UDF_IN_ON_CLAUSE"
    for kind, name in [("left", "LEFT OUTER"), ("right", "RIGHT OUTER"), ("leftsemi", "LEFT SEMI")]:
        with pytest.raises(AnalysisException, match=f"in the ON clause of a {name} JOIN"):
            frame.join(other, [both("id", "k"), F.col("id") == F.col("k")], kind).collect()


def test_functions_by_name_in_sql(spark):
    spark.udf.register("h_twice", lambda x: x * 2, LongType())
    assert [r[0] for r in spark.sql("SELECT h_twice(id) FROM range(3) WHERE h_twice(id) > 0").collect()] == [2, 4]
    assert spark.sql("SELECT h_twice(id) FROM range(1)").columns == ["h_twice(id)"]
    assert [r[0] for r in spark.range(3).selectExpr("h_twice(id)").collect()] == [0, 2, 4]
    assert spark.sql("SELECT h_twice(x => 3)").first()[0] == 6


def test_nondeterministic_functions_run_once(spark):
    import random

    rand = udf(lambda: random.random(), "double").asNondeterministic()
    rows = spark.range(3).select(rand().alias("r")).select("r", F.col("r").alias("s")).collect()
    assert all(r.r == r.s for r in rows)


def test_unused_functions_are_not_called(spark):
    def fail(x):
        raise ValueError("called")

    frame = spark.range(3).withColumn("x", udf(fail, "long")("id"))
    assert frame.count() == 3
    assert frame.select("id").collect() == spark.range(3).collect()


def test_map_in_pandas_and_arrow(spark):
    def double(batches):
        for batch in batches:
            yield batch.assign(id=batch.id * 2)

    def keep(batches):
        yield from batches

    frame = spark.range(10)
    assert [r.id for r in frame.mapInPandas(double, "id long").collect()] == [2 * i for i in range(10)]
    assert frame.mapInArrow(keep, frame.schema).collect() == frame.collect()
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "4")
    sizes = frame.coalesce(1).mapInPandas(lambda bs: (pd.DataFrame({"n": [len(b)]}) for b in bs), "n long")
    assert [r.n for r in sizes.collect()] == [4, 4, 2]


def test_iterator_functions(spark):
    @pandas_udf("long")
    def plus(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        for batch in batches:
            yield batch + 1

    assert [r[0] for r in spark.range(3).select(plus("id")).collect()] == [1, 2, 3]


def test_groups(spark):
    frame = spark.createDataFrame([(1, 1.0), (1, 2.0), (2, 3.0), (None, 4.0)], "k int, v double")

    def centre(group):
        return group.assign(v=group.v - group.v.mean())

    rows = frame.groupBy("k").applyInPandas(centre, frame.schema).orderBy("k", "v").collect()
    assert rows == [Row(k=None, v=0.0), Row(k=1, v=-0.5), Row(k=1, v=0.5), Row(k=2, v=0.0)]

    def count(key, group):
        return pd.DataFrame([(key[0], len(group))])

    counted = frame.groupBy((F.col("v") > 1.5).alias("big")).applyInPandas(count, "big boolean, n long")
    assert sorted(map(tuple, counted.collect())) == [(False, 1), (True, 3)]

    def arrow(table):
        return table.slice(0, 1)

    assert frame.groupBy("k").applyInArrow(arrow, frame.schema).count() == 3


def test_groups_keep_the_order_of_their_rows(spark):
    frame = spark.range(0, 20000, 1, 4).select((F.col("id") % 7).alias("k"), "id")

    def is_sorted(group):
        return pd.DataFrame({"ok": [bool(group.id.is_monotonic_increasing)], "n": [len(group)]})

    rows = frame.groupBy("k").applyInPandas(is_sorted, "ok boolean, n long").collect()
    assert len(rows) == 7 and all(r.ok for r in rows) and sum(r.n for r in rows) == 20000


def test_pairs_of_groups(spark):
    left = spark.createDataFrame([(1, "a"), (2, "b")], "k int, l string")
    right = spark.createDataFrame([(2, "x"), (2, "y"), (3, "z")], "k int, r string")

    def sizes(key, a, b):
        return pd.DataFrame([(key[0], len(a), len(b))])

    pairs = left.groupBy("k").cogroup(right.groupBy("k")).applyInPandas(sizes, "k int, a long, b long")
    assert sorted(map(tuple, pairs.collect())) == [(1, 1, 0), (2, 1, 2), (3, 0, 1)]


def test_groups_without_results_lose_no_others(spark):
    frame = spark.range(20).select((F.col("id") % 5).alias("k"), "id")

    def odd(group):
        return group[group.k % 2 == 1]

    assert frame.groupBy("k").applyInPandas(odd, frame.schema).count() == 8


def test_aggregates(spark):
    @pandas_udf("double")
    def mean(values: pd.Series) -> float:
        return values.mean()

    frame = spark.createDataFrame([(1, 1.0), (1, 2.0), (2, 3.0)], "k int, v double")
    rows = frame.groupBy("k").agg(mean("v"), mean(F.col("v") * 2).alias("m")).orderBy("k").collect()
    assert [tuple(r) for r in rows] == [(1, 1.5, 3.0), (2, 3.0, 6.0)]
    assert frame.agg(mean("v")).first()[0] == 2.0
    assert frame.select(mean("v")).first()[0] == 2.0
    with pytest.raises(AnalysisException) as caught:
        frame.groupBy("k").agg(mean("v"), F.sum("v")).collect()
    assert caught.value.getCondition() == "INVALID_PANDAS_UDF_PLACEMENT"


def test_windows(spark):
    @pandas_udf("double")
    def mean(values: pd.Series) -> float:
        return values.mean()

    frame = spark.createDataFrame([(1, 1.0), (1, 2.0), (1, 4.0), (2, 3.0)], "k int, v double")
    whole = Window.partitionBy("k")
    rows = frame.select("k", "v", mean("v").over(whole).alias("m")).orderBy("k", "v").collect()
    assert [r.m for r in rows] == [7 / 3, 7 / 3, 7 / 3, 3.0]
    running = whole.orderBy("v")
    last = running.rowsBetween(-1, 0)
    rows = frame.select("k", "v", mean("v").over(running).alias("a"), mean("v").over(last).alias("b"))
    rows = rows.orderBy("k", "v").collect()
    assert [(r.a, r.b) for r in rows] == [(1.0, 1.0), (1.5, 1.5), (7 / 3, 3.0), (3.0, 3.0)]


def test_an_exception_comes_with_its_traceback(spark):
    def fail(x):
        raise ValueError(f"no {x}")

    for arrow in (True, False):
        with pytest.raises(PythonException) as caught:
            spark.range(1).select(udf(fail, "long", useArrow=arrow)("id")).collect()
        assert "Traceback (most recent call last)" in str(caught.value)
        assert "ValueError: no 0" in str(caught.value)
        assert spark.range(2).count() == 2


def test_rows_of_the_wrong_form_are_the_users_error(spark):
    with pytest.raises(PythonException) as caught:
        spark.range(1).select(pandas_udf(lambda s: pd.Series([1, 2]), "long")("id")).collect()
    assert "RESULT_LENGTH_MISMATCH" in str(caught.value) or "SCHEMA_MISMATCH" in str(caught.value)


def leave(x):
    os._exit(3)


def crash(x):
    import ctypes

    ctypes.string_at(0)


def close_socket(x):
    for descriptor in range(3, 64):
        try:
            os.close(descriptor)
        except OSError:
            pass


@pytest.mark.parametrize("function", [leave, crash, close_socket])
def test_a_lost_worker_fails_its_query_alone(spark, python_server, function):
    other = SparkSession.builder.remote(python_server.url).create()
    results = []

    def run():
        slow = udf(lambda x: [time.sleep(0.05), x][1], "long", useArrow=False)
        results.append(other.range(20).select(slow("id")).collect())

    thread = threading.Thread(target=run)
    thread.start()
    with pytest.raises(PySparkException) as caught:
        spark.range(1).select(udf(function, "long")("id")).collect()
    assert "exited unexpectedly" in str(caught.value)
    assert spark.range(1).select(udf(lambda x: x + 1, "long")("id")).first()[0] == 1
    thread.join()
    other.stop()
    assert results and len(results[0]) == 20


def test_an_endless_loop_ends_by_interrupt(spark):
    def forever(x):
        while True:
            pass

    failures = []

    def run():
        try:
            spark.range(1).select(udf(forever, "long")("id")).collect()
        except PySparkException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    deadline = time.monotonic() + 60
    while thread.is_alive() and time.monotonic() < deadline:
        spark.interruptAll()
        thread.join(0.2)
    assert not thread.is_alive() and failures
    assert spark.range(3).select(udf(lambda x: x, "long")("id")).count() == 3


def children(pid):
    """Processes below a process, as (pid, state, name)."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                _, rest = file.read().rsplit(")", 1)
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if int(parent) == pid:
            found.append((int(name), state))
            found.extend(children(int(name)))
    return found


def test_workers_are_reaped(python_server):
    session = SparkSession.builder.remote(python_server.url).create()
    for i in range(30):
        function = leave if i % 3 else crash
        with pytest.raises(PySparkException):
            session.range(1).select(udf(function, "long")("id")).collect()
    session.stop()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        below = children(python_server.pid)
        if len(below) < 12 and not any(state == "Z" for _, state in below):
            return
        time.sleep(0.2)
    assert False, below


def test_table_functions(spark):
    from pyspark.sql.functions import udtf

    for arrow in (True, False):

        class Twice:
            def eval(self, x: int):
                yield x, x + 1
                yield x * 10, None

            def terminate(self):
                yield -1, -1

        twice = udtf(Twice, returnType="a int, b int", useArrow=arrow)
        assert list(map(tuple, twice(F.lit(3)).collect())) == [(3, 4), (30, None), (-1, -1)]
        spark.udtf.register("h_twice_rows", twice)
        rows = spark.sql("SELECT t.x, f.a FROM VALUES (1), (2) t(x), LATERAL h_twice_rows(t.x) f").collect()
        assert list(map(tuple, rows)) == [(1, 1), (1, 10), (2, 2), (2, 20), (2, -1)]
        counted = spark.sql("SELECT count(*) FROM h_twice_rows(1)").first()[0]
        assert counted == 3


def test_table_functions_of_tables(spark):
    from pyspark.sql.functions import udtf

    @udtf(returnType="k int, total int", useArrow=False)
    class Total:
        def __init__(self):
            self.k, self.total = None, 0

        def eval(self, row: Row):
            self.k, self.total = row["k"], self.total + row["v"]

        def terminate(self):
            yield self.k, self.total

    spark.udtf.register("h_total", Total)
    spark.createDataFrame([(1, 10), (2, 20), (1, 5)], "k int, v int").createOrReplaceTempView("h_rows")
    rows = spark.sql("SELECT * FROM h_total(TABLE(h_rows) PARTITION BY k) ORDER BY k").collect()
    assert list(map(tuple, rows)) == [(1, 15), (2, 20)]


def test_modules_files_and_archives_of_a_session(spark, python_server, tmp_path):
    import zipfile

    module = tmp_path / "h_module.py"
    module.write_text("def answer():\n    return 42\n")
    package = tmp_path / "h_package.zip"
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("h_inside.py", "VALUE = 7\n")
    data = tmp_path / "h_data.txt"
    data.write_text("text")
    spark.addArtifacts(str(module), pyfile=True)
    spark.addArtifacts(str(package), pyfile=True)
    spark.addArtifacts(str(data), file=True)
    spark.addArtifacts(f"{package}#h_unpacked", archive=True)

    @udf("string")
    def use(_):
        import h_inside
        import h_module

        with open("h_data.txt") as file, open("h_unpacked/h_inside.py") as unpacked:
            return f"{h_module.answer()} {h_inside.VALUE} {file.read()} {unpacked.read().strip()}"

    assert spark.range(1).select(use("id")).first()[0] == "42 7 text VALUE = 7"
    other = SparkSession.builder.remote(python_server.url).create()
    with pytest.raises(PythonException):
        other.range(1).select(use("id")).collect()
    other.stop()


def test_aggregates_over_grouping_sets(spark):
    @pandas_udf("int")
    def total(values: pd.Series) -> int:
        return values.sum()

    frame = spark.createDataFrame([(1, 2), (1, 3), (2, 4)], "a int, v int")
    expected = [(None, 9), (1, 5), (2, 4)]
    for grouped in (frame.rollup("a"), frame.cube("a")):
        assert sorted(map(tuple, grouped.agg(total("v")).collect()), key=str) == sorted(expected, key=str)
    spark.udf.register("h_total_of", total)
    frame.createOrReplaceTempView("h_frame")
    sets = "SELECT a, grouping(a), h_total_of(v) FROM h_frame GROUP BY GROUPING SETS ((a), (), ()) ORDER BY 2, 1"
    assert [tuple(r) for r in spark.sql(sets).collect()] == [(1, 0, 5), (2, 0, 4), (None, 1, 9), (None, 1, 9)]


def test_relations_without_rows_have_no_tasks(spark):
    def fail(batches):
        raise ValueError("called")
        yield

    empty = spark.createDataFrame([], "a int")
    assert empty.mapInPandas(fail, "a int").collect() == []
    assert empty.select("a").union(empty).repartition(2).mapInArrow(fail, "a int").collect() == []
    assert spark.range(3).where("false").mapInPandas(fail, "a int").collect() == []
    with pytest.raises(PythonException):
        spark.range(3).where("id > 5").mapInPandas(fail, "a int").collect()


def test_profiles_come_to_the_client(spark):
    spark.conf.set("spark.sql.pyspark.udf.profiler", "perf")
    one = udf(lambda x: x + 1, "long")
    two = udf(lambda x: x + 2, "long")
    spark.range(5).select(one("id"), two("id"), one("id"), two(F.col("id") + 1)).collect()
    profiles = spark._client._profiler_collector._perf_profile_results
    assert len(profiles) == 3
    spark.range(5).select(one("id")).write.format("noop").mode("overwrite").save()
    assert len(spark._client._profiler_collector._perf_profile_results) == 4


def test_java_functions_fail_by_their_class(spark):
    with pytest.raises(AnalysisException, match="Can not load class no.such.Class"):
        spark.udf.registerJavaFunction("h_java", "no.such.Class", "int")


def test_python_conditions_are_cross_joins(spark):
    left, right = spark.range(2), spark.range(2).withColumnRenamed("id", "k")
    same = udf(lambda a, b: a == b, "boolean")
    assert left.join(right, same("id", "k")).count() == 2
    spark.conf.set("spark.sql.crossJoin.enabled", "false")
    with pytest.raises(AnalysisException, match="cartesian product"):
        left.join(right, same("id", "k")).collect()
    assert left.join(right, same("id", "k") & (F.col("id") == F.col("k"))).count() == 2
