"""Data sources in Python: registered, read and written."""

import sys

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.errors import AnalysisException, PySparkException, PythonException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceWriter,
    EqualTo,
    InputPartition,
    WriterCommitMessage,
)

from python_server import python_server, spark  # noqa: F401

# Workers do not have this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Numbers(DataSource):
    @classmethod
    def name(cls):
        return "numbers"

    def schema(self):
        return "x int, options string"

    def reader(self, schema):
        return NumbersReader(self.options)


class NumbersReader(DataSourceReader):
    def __init__(self, options):
        self.options = options

    def partitions(self):
        return [InputPartition(i) for i in range(int(self.options.get("n", 2)))]

    def read(self, partition):
        yield partition.value, str(sorted(self.options.items()))


def test_partitions_are_read_by_tasks_of_their_own(spark):
    spark.dataSource.register(Numbers)
    frame = spark.read.format("NUMBERS").option("n", "3").load("/a")
    assert frame.schema.simpleString() == "struct<x:int,options:string>"
    assert frame.collect() == [Row(x=i, options="[('n', '3'), ('path', '/a')]") for i in range(3)]
    numbered = frame.select(F.spark_partition_id().alias("p"), "x").collect()
    assert numbered == [Row(p=i, x=i) for i in range(3)]
    assert frame.where("x > 0").orderBy(F.desc("x")).select("x").collect() == [Row(x=2), Row(x=1)]
    assert spark.read.format("numbers").load().count() == 2


def test_schemas_of_the_user_and_of_the_source(spark):
    spark.dataSource.register(Numbers)
    frame = spark.read.format("numbers").schema("a int, b string").option("n", "1").load()
    assert frame.collect() == [Row(a=0, b="[('n', '1')]")]
    with pytest.raises(PythonException, match="DATA_SOURCE_RETURN_SCHEMA_MISMATCH"):
        spark.read.format("numbers").schema("a int").load().collect()


def test_sources_are_of_their_session(spark, python_server):
    spark.dataSource.register(Numbers)
    other = SparkSession.builder.remote(python_server.url).create()
    with pytest.raises(PySparkException) as caught:
        other.read.format("numbers").load().collect()
    assert caught.value.getCondition() == "DATA_SOURCE_NOT_FOUND"
    other.stop()


def source(spark, name, rows, schema="x int", **methods):
    """Registers a source whose one partition is read by a function."""

    class Reader(DataSourceReader):
        def read(self, partition):
            return rows()

    for method, body in methods.items():
        setattr(Reader, method, body)

    class Source(DataSource):
        def schema(self):
            return schema

        def reader(self, schema):
            return Reader()

    Source.name = classmethod(lambda cls: name)
    spark.dataSource.register(Source)
    return spark.read.format(name).load()


def test_rows_arrow_batches_and_mistakes(spark):
    rows = source(spark, "rows", lambda: iter([Row(b=1, a=2), (3, 4)]), "a int, b int")
    assert rows.collect() == [Row(a=2, b=1), Row(a=3, b=4)]
    batch = lambda: iter([pa.RecordBatch.from_arrays([pa.array([1, None], pa.int32())], names=["x"])])  # noqa: E731
    assert source(spark, "batches", batch).collect() == [Row(x=1), Row(x=None)]
    with pytest.raises(PythonException, match="DATA_SOURCE_INVALID_RETURN_TYPE"):
        source(spark, "scalars", lambda: iter([1])).collect()

    def fail(*_):
        raise ValueError("out of order")

    with pytest.raises(PythonException, match="out of order"):
        source(spark, "failing", fail).collect()
    with pytest.raises(AnalysisException, match="out of order") as caught:
        source(spark, "partless", lambda: iter([]), partitions=fail).collect()
    assert caught.value.getCondition() == "PYTHON_DATA_SOURCE_ERROR"
    assert caught.value.getMessageParameters()["type"] == "read partitions"


def test_names_of_built_in_sources_are_taken(spark):
    class Parquet(Numbers):
        @classmethod
        def name(cls):
            return "parquet"

    with pytest.raises(AnalysisException) as caught:
        spark.dataSource.register(Parquet)
    assert caught.value.getCondition() == "DATA_SOURCE_ALREADY_EXISTS"


def test_filters_go_to_readers(spark):
    def push(self, filters):
        self.filters = repr(filters)
        for filter in filters:
            if not isinstance(filter, EqualTo):
                yield filter

    def read(self, partition):
        yield 1, "a", getattr(self, "filters", None)
        yield 2, "b", getattr(self, "filters", None)

    frame = source(spark, "filtered", None, "x int, y string, f string", pushFilters=push, read=read)
    with pytest.raises(AnalysisException, match="DATA_SOURCE_PUSHDOWN_DISABLED"):
        frame.collect()
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    equal = "[IsNotNull(attribute=('x',)), EqualTo(attribute=('x',), value=1)]"
    # What the reader says it applies is not applied again.
    assert frame.where("x = 1").collect() == [Row(x=1, y="a", f=equal), Row(x=2, y="b", f=equal)]
    greater = "[IsNotNull(attribute=('x',)), GreaterThan(attribute=('x',), value=1)]"
    assert frame.where("x > 1").collect() == [Row(x=2, y="b", f=greater)]
    assert [r.f for r in frame.where("length(y) = 1 AND y LIKE 'b%'").collect()] == [
        "[IsNotNull(attribute=('y',)), StringStartsWith(attribute=('y',), value='b')]"
    ]
    assert [r.f for r in frame.collect()] == [None, None]
    frame.createOrReplaceTempView("filtered_view")
    both = "SELECT x FROM filtered_view WHERE x = 1 UNION ALL SELECT x FROM filtered_view WHERE x > 1"
    assert spark.sql(both).collect() == [Row(x=1), Row(x=2), Row(x=2)]


class Sink(Numbers):
    @classmethod
    def name(cls):
        return "sink"

    def writer(self, schema, overwrite):
        return SinkWriter(schema, overwrite, self.options)


class Written(WriterCommitMessage):
    def __init__(self, rows):
        self.rows = rows


class SinkWriter(DataSourceWriter):
    def __init__(self, schema, overwrite, options):
        self.schema, self.overwrite, self.options = schema.simpleString(), overwrite, options

    def write(self, rows):
        written = [tuple(row) for row in rows]
        if self.options.get("fail") == "write":
            raise ValueError("the disk is full")
        return Written(written)

    def commit(self, messages):
        if self.options.get("fail") == "commit":
            raise ValueError("nobody agrees")
        self.note("commit", [message.rows for message in messages])

    def abort(self, messages):
        self.note("abort", [message is not None for message in messages])

    def note(self, what, messages):
        with open(self.options["out"], "a") as out:
            out.write(f"{what} {self.overwrite} {self.schema} {messages}\n")


def test_tasks_write_and_the_writer_commits(spark, tmp_path):
    spark.dataSource.register(Sink)
    out = tmp_path / "out.txt"
    frame = spark.range(0, 4, 1, 2).select(F.col("id").cast("int").alias("x"))

    def write(mode, **options):
        out.unlink(missing_ok=True)
        frame.write.format("sink").option("out", str(out)).options(**options).mode(mode).save()

    write("append")
    assert out.read_text() == "commit False struct<x:int> [[(0,), (1,)], [(2,), (3,)]]\n"
    write("overwrite")
    assert out.read_text().startswith("commit True")
    with pytest.raises(AnalysisException) as caught:
        write("error")
    assert caught.value.getCondition() == "UNSUPPORTED_DATA_SOURCE_SAVE_MODE"
    with pytest.raises(PythonException, match="the disk is full"):
        write("append", fail="write")
    assert out.read_text() == "abort False struct<x:int> [False, False]\n"
    with pytest.raises(AnalysisException, match="nobody agrees"):
        write("append", fail="commit")
    assert out.read_text() == "abort False struct<x:int> [True, True]\n"
    frame.limit(0).write.format("sink").option("out", str(out)).mode("append").save()
    assert out.read_text().endswith("commit False struct<x:int> [[]]\n")


def test_tables_and_views_of_a_source(spark):
    spark.dataSource.register(Numbers)
    spark.sql("DROP TABLE IF EXISTS of_numbers")
    spark.sql("CREATE TABLE of_numbers USING numbers")
    assert spark.table("of_numbers").collect() == [Row(x=0, options="[]"), Row(x=1, options="[]")]
    spark.sql("DROP TABLE of_numbers")
    spark.sql("CREATE TEMPORARY VIEW numbers_view USING numbers OPTIONS (n '1')")
    assert spark.table("numbers_view").collect() == [Row(x=0, options="[('n', '1')]")]
    with pytest.raises(AnalysisException) as caught:
        spark.sql("SELECT * FROM numbers.`/a`").collect()
    assert caught.value.getCondition() == "UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY"
