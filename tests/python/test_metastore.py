"""Databases, tables, views and functions outlive the server that has a metastore."""

import subprocess

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from server import Server, binary
from test_faults import client


class Kept:
    """Servers one after the other on one metastore and one warehouse."""

    def __init__(self, folder):
        self.metastore = folder / "state" / "catalog.redb"
        warehouse = f"spark.sql.warehouse.dir={folder / 'warehouse'}"
        self.arguments = ("--metastore", str(self.metastore), "--conf", warehouse)

    def run(self, work, end=Server.stop):
        server = Server(*self.arguments)
        try:
            session = SparkSession.builder.remote(server.url).create()
            try:
                return work(session)
            finally:
                session.stop()
        finally:
            end(server)


@pytest.fixture
def kept(tmp_path):
    return Kept(tmp_path)


def make(spark):
    for statement in (
        "CREATE DATABASE d COMMENT 'kept' WITH DBPROPERTIES (k = 'v')",
        "CREATE TABLE d.t (id INT NOT NULL COMMENT 'key', name CHAR(3), p STRING) USING parquet PARTITIONED BY (p)"
        " COMMENT 'a table' TBLPROPERTIES (a = '1')",
        "INSERT INTO d.t VALUES (1, 'x', 'a'), (2, 'y', 'b')",
        "ANALYZE TABLE d.t COMPUTE STATISTICS",
        "CREATE VIEW d.v (n COMMENT 'twice') AS SELECT id * 2 AS m FROM d.t",
        "CREATE FUNCTION d.f(x INT DEFAULT 3) RETURNS INT RETURN x + 1",
        "CREATE FUNCTION d.g() RETURNS TABLE (a INT, b STRING) RETURN SELECT 1, 'x'",
        "CREATE TABLE gone (a INT)",
        "DROP TABLE gone",
        "CREATE TABLE old (a INT)",
        "ALTER TABLE old RENAME TO new",
    ):
        spark.sql(statement)


def rows(spark, text):
    return [tuple(row) for row in spark.sql(text).collect()]


def look(spark):
    described = {row[0]: row[1] for row in spark.sql("DESCRIBE EXTENDED d.t").collect()}
    return {
        "rows": rows(spark, "SELECT * FROM d.t ORDER BY id"),
        "view": rows(spark, "SELECT n FROM d.v ORDER BY n"),
        "functions": rows(spark, "SELECT d.f(), d.f(10)") + rows(spark, "SELECT * FROM d.g()"),
        "database": rows(spark, "DESCRIBE DATABASE EXTENDED d"),
        "columns": spark.table("d.t").schema.json(),
        "table": {name: described[name] for name in ("Comment", "Provider", "Statistics", "Created Time", "Location")},
        "properties": rows(spark, "SHOW TBLPROPERTIES d.t"),
        "partitions": rows(spark, "SHOW PARTITIONS d.t"),
        "create": rows(spark, "SHOW CREATE TABLE d.v"),
        "tables": rows(spark, "SHOW TABLES IN default"),
    }


@pytest.mark.parametrize("end", [Server.stop, Server.kill])
def test_all_is_there_again(kept, end):
    def first(spark):
        make(spark)
        return look(spark)

    before = kept.run(first, end)
    assert before["rows"] == [(1, "x  ", "a"), (2, "y  ", "b")]
    assert before["functions"] == [(4, 11), (1, "x")]
    assert before["tables"] == [("default", "new", False)]
    assert kept.run(look, end) == before

    def change(spark):
        spark.sql("INSERT INTO d.t VALUES (3, 'z', 'b')")
        spark.sql("ALTER VIEW d.v AS SELECT id AS n FROM d.t")
        spark.sql("DROP FUNCTION d.f")
        with pytest.raises(AnalysisException):
            spark.sql("CREATE TABLE new (a INT)")

    kept.run(change, end)
    assert kept.run(lambda spark: rows(spark, "SELECT n FROM d.v ORDER BY n")) == [(1,), (2,), (3,)]
    assert kept.run(lambda spark: rows(spark, "SHOW USER FUNCTIONS IN d")) == [("spark_catalog.d.g",)]
    kept.run(lambda spark: spark.sql("DROP DATABASE d CASCADE"))
    assert kept.run(lambda spark: rows(spark, "SHOW DATABASES")) == [("default",)]


def test_changes_survive_a_server_that_is_killed_amid_them(kept):
    server = Server(*kept.arguments)
    # A process of its own: a client whose server is gone looks for it for minutes.
    code = (
        "for number in range(20):\n    spark.sql(f'CREATE TABLE t{number} (a INT)')\n"
        "print('done', flush=True)\nimport time\ntime.sleep(600)\n"
    )
    process = client(code, server)
    assert process.stdout.readline() == "done\n"
    server.kill()
    process.kill()
    process.communicate()
    names = kept.run(lambda spark: {row.tableName for row in spark.sql("SHOW TABLES").collect()})
    assert names == {f"t{number}" for number in range(20)}


def test_a_second_server_is_refused(kept):
    def second(_):
        started = subprocess.run(
            [binary(), "server", "--port", "0", *kept.arguments], capture_output=True, text=True, timeout=30
        )
        assert started.returncode != 0
        assert "another server is using it" in started.stderr
        assert str(kept.metastore) in started.stderr

    kept.run(second)
    kept.run(lambda spark: spark.sql("CREATE TABLE t (a INT)"))


def test_other_files_are_refused(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("keep me\n" * 1000)
    for path in (notes, tmp_path):
        started = subprocess.run(
            [binary(), "server", "--port", "0", "--metastore", str(path)], capture_output=True, text=True, timeout=30
        )
        assert started.returncode != 0
        assert "The metastore" in started.stderr
    assert notes.read_text() == "keep me\n" * 1000


def test_temporary_things_end_with_their_session(kept):
    def first(spark):
        spark.sql("CREATE TEMPORARY VIEW v AS SELECT 1 AS a")
        spark.sql("CREATE TEMPORARY FUNCTION f() RETURNS INT RETURN 1")
        spark.sql("CREATE GLOBAL TEMPORARY VIEW g AS SELECT 1 AS a")

    kept.run(first)
    assert kept.run(lambda spark: rows(spark, "SHOW VIEWS")) == []


def test_a_table_whose_rows_were_never_written_is_not_there_after_a_crash(kept):
    import threading
    import time

    server = Server(*kept.arguments)
    session = SparkSession.builder.remote(server.url).create()
    session.sql("CREATE TABLE begun AS SELECT 1 AS a")
    query = "CREATE TABLE half AS SELECT count(*) AS n FROM range(1000000000000)"

    def create():
        with pytest.raises(Exception):
            session.sql(query)

    thread = threading.Thread(target=create, daemon=True)
    thread.start()
    other = SparkSession.builder.remote(server.url).create()
    deadline = time.monotonic() + 30
    while not other.catalog.tableExists("half") and time.monotonic() < deadline:
        time.sleep(0.05)
    server.process.kill()
    server.process.wait()

    def after(spark):
        assert [row.tableName for row in spark.sql("SHOW TABLES").collect()] == ["begun"]
        spark.sql("CREATE TABLE half AS SELECT 1 AS n")
        assert rows(spark, "SELECT * FROM half") == [(1,)]

    kept.run(after)
