"""`format("jdbc")`: PostgreSQL, MariaDB and SQLite, each started here where its programs are installed."""

import datetime
import decimal
import io
import sqlite3
from contextlib import redirect_stdout

import pytest
from databases import MariaDb, Postgres, program
from pyspark.errors import AnalysisException, PySparkException

D = decimal.Decimal


def server_of(kind, tmp_path_factory):
    missing = [name for name in kind.programs if program(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    return kind(tmp_path_factory.mktemp(kind.__name__.lower()))


@pytest.fixture(scope="module")
def postgres(tmp_path_factory):
    database = server_of(Postgres, tmp_path_factory)
    yield database
    database.stop()


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory):
    database = server_of(MariaDb, tmp_path_factory)
    yield database
    database.stop()


@pytest.fixture
def sqlite(tmp_path):
    return {"url": f"jdbc:sqlite:{tmp_path / 'shop.db'}"}


def read(spark, options, table=None, **more):
    reader = spark.read.format("jdbc").options(**options, **more)
    return (reader.option("dbtable", table) if table else reader).load()


def write(frame, options, table, mode="error", **more):
    frame.write.format("jdbc").options(**options, **more, dbtable=table).mode(mode).save()


def rows(frame, *order):
    return [tuple(row) for row in (frame.orderBy(*order) if order else frame).collect()]


def explained(frame):
    out = io.StringIO()
    with redirect_stdout(out):
        frame.explain(True)
    return out.getvalue()


def raised(function):
    with pytest.raises(PySparkException) as caught:
        function()
    return caught.value


# Options


@pytest.mark.parametrize(
    "options, message",
    [
        ({"dbtable": "t"}, "requirement failed: Option 'url' is required."),
        ({"url": "jdbc:sqlite:x"}, "One of the options 'dbtable' and 'query' is needed."),
        ({"url": "jdbc:sqlite:x", "dbtable": "t", "query": "select 1"}, "The options 'dbtable' and 'query' exclude"),
        ({"url": "jdbc:sqlite:x", "query": ""}, "The option 'query' must have a value."),
        (
            {
                "url": "jdbc:sqlite:x", "query": "select 1", "partitionColumn": "a", "lowerBound": "1",
                "upperBound": "2", "numPartitions": "2",
            },
            "Options 'query' and 'partitionColumn' can not be specified together.",
        ),
        ({"url": "jdbc:sqlite:x", "dbtable": "t", "partitionColumn": "a"}, "users need to specify all or none"),
        ({"url": "jdbc:sqlite:x", "dbtable": "t", "fetchsize": "x"}, 'For input string: "x"'),
        ({"url": "jdbc:sqlite:x", "dbtable": "t", "pushDownPredicate": "x"}, 'For input string: "x"'),
        ({"url": "jdbc:sqlite:x", "dbtable": "t", "batchsize": "0"}, "The minimum value is 1."),
        ({"url": "jdbc:sqlite:x", "dbtable": "t", "isolationLevel": "FOO"}, "'FOO' is no value"),
        ({"url": "jdbc:nosuch:x", "dbtable": "t"}, "No suitable driver"),
        ({"url": "jdbc:sqlite:x", "dbtable": "t", "driver": "a.b.C"}, "a.b.C"),
    ],
)
def test_options_are_checked_before_anything_is_asked(spark, options, message):
    error = raised(lambda: spark.read.format("jdbc").options(**options).load().schema)
    assert message in str(error)


def test_nobody_answers(spark):
    options = {"url": "jdbc:postgresql://127.0.0.1:1/x", "user": "u", "password": "hidden-word"}
    error = raised(lambda: read(spark, options, "t").schema)
    assert "127.0.0.1:1" in str(error) and "hidden-word" not in str(error)


# SQLite


ALL = """
    SELECT 1 a, CAST(2 AS BIGINT) b, true c, 'x''y' d, CAST(1.50 AS DECIMAL(10,2)) e, date'2020-01-02' f,
           timestamp'2020-01-02 03:04:05.5' g, 1.5D h, x'0102' i
    UNION ALL SELECT null, null, null, null, null, null, null, null, null
"""
ALL_ROWS = [
    (None,) * 9,
    (
        1, 2, True, "x'y", D("1.50"), datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 500000),
        1.5, bytearray(b"\x01\x02"),
    ),
]


def test_sqlite_there_and_back(spark, sqlite):
    write(spark.sql(ALL), sqlite, "t")
    back = read(spark, sqlite, "t")
    assert back.schema.simpleString() == (
        "struct<a:int,b:bigint,c:boolean,d:string,e:decimal(10,2),f:date,g:timestamp,h:double,i:binary>"
    )
    assert rows(back, "a") == ALL_ROWS
    assert back.where("a = 1").select("d").collect()[0].d == "x'y"
    assert back.count() == 2


def test_sqlite_modes(spark, sqlite):
    one = spark.sql("SELECT 1 a, 'x' b")
    write(one, sqlite, "t")
    error = raised(lambda: write(one, sqlite, "t"))
    assert isinstance(error, AnalysisException) and error.getCondition() == "_LEGACY_ERROR_TEMP_1288"
    assert error.getMessageParameters() == {"name": "t"}
    write(one, sqlite, "t", "ignore")
    write(one.selectExpr("b", "a + 1 a"), sqlite, "t", "append")
    assert rows(read(spark, sqlite, "t"), "a") == [(1, "x"), (2, "x")]
    write(spark.sql("SELECT 'new' c"), sqlite, "t", "overwrite")
    assert rows(read(spark, sqlite, "t")) == [("new",)]
    error = raised(lambda: write(one, sqlite, "t", "append"))
    assert error.getCondition() == "COLUMN_NOT_DEFINED_IN_TABLE"


def test_sqlite_tables_of_others(spark, sqlite, tmp_path):
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR(10), price REAL, big INTEGER)")
        connection.execute("INSERT INTO t VALUES (1, 'a', 1.5, 5000000000), (2, 'b', NULL, 1)")
    assert rows(read(spark, sqlite, "t").select("id", "name", "price"), "id") == [(1, "a", 1.5), (2, "b", None)]
    assert read(spark, sqlite, query="SELECT name, count(*) n FROM t GROUP BY 1").schema.simpleString() == (
        "struct<name:string,n:bigint>"
    )
    assert "5000000000" in str(raised(lambda: read(spark, sqlite, "t").select("big").collect()))
    wide = read(spark, sqlite, "t", customSchema="big BIGINT")
    assert rows(wide.select("big"), "big") == [(1,), (5000000000,)]


def test_sqlite_errors(spark, sqlite):
    error = raised(lambda: read(spark, sqlite, "missing").schema)
    assert error.getCondition() == "JDBC_EXTERNAL_ENGINE_SYNTAX_ERROR.DURING_OUTPUT_SCHEMA_RESOLUTION"
    assert error.getMessageParameters()["jdbcQuery"] == "SELECT * FROM missing WHERE 1=0"
    error = raised(lambda: write(spark.sql("SELECT array(1) a"), sqlite, "t"))
    assert error.getCondition() == "_LEGACY_ERROR_TEMP_2082"
    error = raised(lambda: write(spark.sql("SELECT interval '1' day a"), sqlite, "t"))
    assert error.getCondition() == "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE"


def test_partitions_cover_all_rows(spark, sqlite):
    write(spark.range(100).selectExpr("id", "IF(id = 7, null, id) n"), sqlite, "t")
    split = spark.read.jdbc(sqlite["url"], "t", column="n", lowerBound=10, upperBound=50, numPartitions=4)
    assert split.count() == 100
    assert rows(split.selectExpr("spark_partition_id() p").groupBy("p").count(), "p") == [
        (0, 20), (1, 10), (2, 10), (3, 60),
    ]
    listed = spark.read.jdbc(sqlite["url"], "t", predicates=["id < 10", "id >= 90"])
    assert rows(listed.selectExpr("spark_partition_id() p").groupBy("p").count(), "p") == [(0, 10), (1, 10)]
    error = raised(lambda: spark.read.jdbc(sqlite["url"], "t", "zz", 0, 1, 2).schema)
    assert error.getCondition() == "_LEGACY_ERROR_TEMP_1286"


def test_tables_in_sql(spark, sqlite):
    write(spark.sql("SELECT 1 a, 'x' b"), sqlite, "t")
    options = f"OPTIONS (url '{sqlite['url']}', dbtable 't', password 'hidden-word')"
    spark.sql("DROP TABLE IF EXISTS jdbc_table")
    spark.sql(f"CREATE TABLE jdbc_table USING jdbc {options}")
    try:
        spark.sql("INSERT INTO jdbc_table VALUES (2, 'y')")
        assert rows(spark.sql("SELECT * FROM jdbc_table ORDER BY a")) == [(1, "x"), (2, "y")]
        shown = spark.sql("SHOW CREATE TABLE jdbc_table").collect()[0][0]
        shown += str(spark.sql("DESCRIBE EXTENDED jdbc_table").collect())
        assert "hidden-word" not in shown and sqlite["url"] not in shown
        assert "hidden-word" not in explained(spark.table("jdbc_table"))
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW jdbc_view USING jdbc {options}")
        assert spark.table("jdbc_view").count() == 2
        spark.sql("INSERT OVERWRITE jdbc_table VALUES (9, 'z')")
        assert rows(spark.table("jdbc_view")) == [(9, "z")]
        error = raised(lambda: spark.sql(f"CREATE TABLE jdbc_other (a STRING) USING jdbc {options}"))
        assert error.getCondition() == "USER_SPECIFIED_AND_ACTUAL_SCHEMA_MISMATCH"
    finally:
        spark.sql("DROP TABLE IF EXISTS jdbc_table")


def test_tables_made_from_queries(spark, sqlite):
    options = f"OPTIONS (url '{sqlite['url']}', dbtable 'made')"
    spark.sql("DROP TABLE IF EXISTS jdbc_made")
    spark.sql(f"CREATE TABLE jdbc_made USING jdbc {options} AS SELECT 1 a")
    try:
        assert rows(spark.table("jdbc_made")) == [(1,)]
        assert rows(read(spark, sqlite, "made")) == [(1,)]
    finally:
        spark.sql("DROP TABLE jdbc_made")


# PostgreSQL


POSTGRES_TYPES = [
    # The column's type, a value, Spark's type, the value in Python.
    ("bool", "true", "boolean", True),
    ("int2", "-5", "smallint", -5),
    ("int4", "7", "int", 7),
    ("int8", "9000000000", "bigint", 9000000000),
    ("float4", "1.5", "float", 1.5),
    ("float8", "2.5", "double", 2.5),
    ("numeric(10,2)", "12.30", "decimal(10,2)", D("12.30")),
    ("numeric", "1.5", "decimal(38,18)", D("1.500000000000000000")),
    ("text", "'a''b'", "string", "a'b"),
    ("varchar(5)", "'abc'", "string", "abc"),
    ("char(4)", "'ab'", "string", "ab  "),
    ("bytea", "'\\x0aff'", "binary", bytearray(b"\x0a\xff")),
    ("date", "'2020-01-02'", "date", datetime.date(2020, 1, 2)),
    ("timestamp", "'2020-01-02 03:04:05.25'", "timestamp", datetime.datetime(2020, 1, 2, 3, 4, 5, 250000)),
    ("time", "'03:04:05'", "timestamp", datetime.datetime(1970, 1, 1, 3, 4, 5)),
    ("uuid", "'0b6ee2cc-fe2b-4c1e-8f0c-7c1ac2d0a9d5'", "string", "0b6ee2cc-fe2b-4c1e-8f0c-7c1ac2d0a9d5"),
    ("json", "'{\"a\": 1}'", "string", '{"a": 1}'),
    ("jsonb", "'{\"a\":1}'", "string", '{"a": 1}'),
    ("interval", "'1 day 02:00'", "string", "1 day 02:00:00"),
    ("inet", "'10.0.0.1'", "string", "10.0.0.1"),
    ("bit(1)", "B'1'", "boolean", True),
    ("bit(3)", "B'101'", "binary", bytearray(b"101")),
    ("int4[]", "'{1,NULL,3}'", "array<int>", [1, None, 3]),
    ("text[]", "'{a,\"b,c\",NULL}'", "array<string>", ["a", "b,c", None]),
    ("int4[][]", "'{{1,2},{3,4}}'", "array<array<int>>", [[1, 2], [3, 4]]),
    ("numeric(5,1)[]", "'{1.5}'", "array<decimal(5,1)>", [D("1.5")]),
    ("mood", "'sad'", "string", "sad"),
]


def test_postgres_types(spark, postgres):
    postgres.sql("CREATE TYPE mood AS ENUM ('sad', 'glad')")
    columns = ", ".join(f"c{i} {kind[0]}" for i, kind in enumerate(POSTGRES_TYPES))
    values = ", ".join(kind[1] for kind in POSTGRES_TYPES)
    postgres.sql(f"CREATE TABLE types ({columns}); INSERT INTO types VALUES ({values}); INSERT INTO types DEFAULT VALUES")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    frame = read(spark, postgres.options, "types")
    found = [(kind[0], field.dataType.simpleString()) for kind, field in zip(POSTGRES_TYPES, frame.schema)]
    assert found == [(kind[0], kind[2]) for kind in POSTGRES_TYPES]
    assert all(field.nullable for field in frame.schema)
    full, empty = rows(frame, frame.c2.isNull())
    assert [(kind[0], value) for kind, value in zip(POSTGRES_TYPES, full)] == [
        (kind[0], kind[3]) for kind in POSTGRES_TYPES
    ]
    assert empty == (None,) * len(POSTGRES_TYPES)


def test_postgres_moments_keep_their_instant(spark, postgres):
    postgres.sql(
        "CREATE TABLE moments (id int, z timestamptz, l timestamp);"
        "INSERT INTO moments VALUES (1, '2020-01-02 03:04:05+00', '2020-01-02 03:04:05')"
    )
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    frame = read(spark, postgres.options, "moments")
    texts = frame.selectExpr("CAST(z AS STRING)", "CAST(l AS STRING)")
    assert rows(texts) == [("2020-01-01 22:04:05", "2020-01-02 03:04:05")]
    assert frame.where("z = timestamp'2020-01-01 22:04:05' AND l = timestamp'2020-01-02 03:04:05'").count() == 1
    plain = read(spark, postgres.options, "moments", preferTimestampNTZ="true")
    assert plain.schema.simpleString() == "struct<id:int,z:timestamp,l:timestamp_ntz>"
    write(frame.selectExpr("id + 1 id", "z", "l"), postgres.options, "moments", "append")
    assert postgres.sql("SELECT count(DISTINCT (z, l)) FROM moments").strip() == "1"
    spark.conf.unset("spark.sql.session.timeZone")


def test_postgres_there_and_back(spark, postgres):
    source = spark.sql(
        ALL.replace("x'0102' i", "x'0102' i, array('a\"b', null, 'c') j").replace("null, null\n", "null, null, null\n")
    )
    write(source, postgres.options, "t")
    back = read(spark, postgres.options, "t")
    assert back.schema.simpleString() == source.schema.simpleString()
    assert rows(back, "a") == rows(source, "a")
    types = postgres.sql("SELECT string_agg(data_type, ',' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 't'")
    assert types.strip() == (
        "integer,bigint,boolean,text,numeric,date,timestamp with time zone,double precision,bytea,ARRAY"
    )


def test_postgres_overwrite_keeps_the_table_when_it_truncates(spark, postgres):
    postgres.sql("CREATE TABLE kept (id int PRIMARY KEY, name varchar(9) DEFAULT 'none'); INSERT INTO kept VALUES (1)")
    write(spark.sql("SELECT 2 id"), postgres.options, "kept", "overwrite", truncate="true")
    assert postgres.sql("SELECT * FROM kept").strip() == "2|none"
    write(spark.sql("SELECT 3 id, 'abc' name"), postgres.options, "kept", "overwrite",
          createTableColumnTypes="name VARCHAR(20)", createTableOptions="WITH (fillfactor = 70)")
    length = "SELECT character_maximum_length FROM information_schema.columns WHERE table_name='kept' AND column_name='name'"
    assert postgres.sql(length).strip() == "20"


def test_postgres_pushes_down(spark, postgres):
    postgres.sql("CREATE TABLE pushed AS SELECT i AS id, 'n' || i AS name FROM generate_series(1, 1000) i")
    frame = read(spark, postgres.options, "pushed")
    assert frame.where("id > 990 AND name LIKE 'n99%'").count() == 9
    assert frame.where("id IN (1, 2) OR name = 'n3'").count() == 3
    assert frame.where("NOT (id <= 998)").count() == 2
    assert len(frame.limit(5).collect()) == 5
    assert frame.where("length(name) = 2").count() == 9
    assert read(spark, postgres.options, "pushed", pushDownPredicate="false").where("id = 5").count() == 1
    assert "s3cret" not in explained(frame.where("id > 5"))


def test_postgres_many_partitions_there_and_back(spark, postgres):
    write(spark.range(0, 10000, 1, 4).selectExpr("id", "date_add(date'2020-01-01', CAST(id % 100 AS INT)) d"),
          postgres.options, "many", batchsize="300", numPartitions="2")
    by_day = spark.read.jdbc(postgres.url, "many", "d", "2020-01-01", "2020-04-01", 5,
                             properties={"user": "admin", "password": "s3cret"})
    assert by_day.agg({"id": "sum"}).collect()[0][0] == 49995000
    assert by_day.selectExpr("spark_partition_id() p").distinct().count() == 5


def test_postgres_failed_partitions_leave_nothing(spark, postgres):
    postgres.sql("CREATE TABLE strict (id int CHECK (id < 50))")
    error = raised(lambda: write(spark.range(0, 100, 1, 1).selectExpr("CAST(id AS INT) id"),
                                 postgres.options, "strict", "append", batchsize="10"))
    assert "check constraint" in str(error) and "s3cret" not in str(error)
    assert postgres.sql("SELECT count(*) FROM strict").strip() == "0"


def test_postgres_errors(spark, postgres):
    error = raised(lambda: read(spark, {**postgres.options, "password": "wrong-word"}, "t").schema)
    assert "password authentication failed" in str(error) and "wrong-word" not in str(error)
    error = raised(lambda: read(spark, postgres.options, "missing").schema)
    assert error.getCondition() == "JDBC_EXTERNAL_ENGINE_SYNTAX_ERROR.DURING_OUTPUT_SCHEMA_RESOLUTION"
    assert error.getMessageParameters()["jdbcQuery"] == "SELECT * FROM missing WHERE 1=0"
    error = raised(lambda: spark.read.jdbc(postgres.url, "pg_class", predicates=["zzz = 1"], properties={
        "user": "admin", "password": "s3cret"}).select("relname").collect())
    assert error.getCondition() == "JDBC_EXTERNAL_ENGINE_SYNTAX_ERROR.DURING_QUERY_EXECUTION"
    wide = read(spark, postgres.options, query="SELECT 12345678901234567890123456789012345678901234567890::numeric n")
    assert raised(wide.collect).getCondition() == "NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION"
    slow = read(spark, postgres.options, query="SELECT pg_sleep(30) s", queryTimeout="1")
    assert "timeout" in str(raised(slow.collect))


def test_postgres_query_ends_with_its_reader(spark, postgres):
    frame = read(spark, postgres.options, query="SELECT i FROM generate_series(1, 100000000) i")
    # The condition stays here, and with it the limit.
    assert len(frame.where("length(CAST(i AS STRING)) = 1").limit(3).collect()) == 3
    busy = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%generate_series(1, 100000000)%' AND pid <> pg_backend_pid()"
    postgres.wait(lambda: postgres.sql(f"SELECT 1 / (CASE WHEN ({busy}) = 0 THEN 1 ELSE 0 END)"))


# MariaDB


MARIADB_TYPES = [
    ("tinyint(1)", "1", "boolean", True),
    ("tinyint", "-5", "tinyint", -5),
    ("tinyint unsigned", "200", "smallint", 200),
    ("smallint", "300", "smallint", 300),
    ("smallint unsigned", "60000", "int", 60000),
    ("mediumint", "70000", "int", 70000),
    ("int", "7", "int", 7),
    ("int unsigned", "4000000000", "bigint", 4000000000),
    ("bigint", "9000000000", "bigint", 9000000000),
    ("bigint unsigned", "18000000000000000000", "decimal(20,0)", D("18000000000000000000")),
    ("float", "1.5", "float", 1.5),
    ("double", "2.5", "double", 2.5),
    ("decimal(10,2)", "12.30", "decimal(10,2)", D("12.30")),
    ("char(4)", "'ab'", "string", "ab"),
    ("varchar(5)", "'a''\\\\c'", "string", "a'\\c"),
    ("text", "'long'", "string", "long"),
    ("enum('sad','glad')", "'sad'", "string", "sad"),
    ("json", "'{\"a\": 1}'", "string", '{"a": 1}'),
    ("blob", "x'0aff'", "binary", bytearray(b"\x0a\xff")),
    ("varbinary(4)", "x'0aff'", "binary", bytearray(b"\x0a\xff")),
    ("date", "'2020-01-02'", "date", datetime.date(2020, 1, 2)),
    ("datetime(3)", "'2020-01-02 03:04:05.25'", "timestamp", datetime.datetime(2020, 1, 2, 3, 4, 5, 250000)),
    ("time", "'03:04:05'", "timestamp", datetime.datetime(1970, 1, 1, 3, 4, 5)),
    ("year", "2020", "date", datetime.date(2020, 1, 1)),
    ("bit(1)", "b'1'", "boolean", True),
]


def test_mariadb_types(spark, mariadb):
    columns = ", ".join(f"c{i} {kind[0]}" for i, kind in enumerate(MARIADB_TYPES))
    values = ", ".join(kind[1] for kind in MARIADB_TYPES)
    mariadb.sql(f"CREATE TABLE types ({columns}); INSERT INTO types VALUES ({values}); INSERT INTO types VALUES ()")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    frame = read(spark, mariadb.options, "types")
    found = [(kind[0], field.dataType.simpleString()) for kind, field in zip(MARIADB_TYPES, frame.schema)]
    assert found == [(kind[0], kind[2]) for kind in MARIADB_TYPES]
    full, empty = rows(frame, frame.c6.isNull())
    assert [(kind[0], value) for kind, value in zip(MARIADB_TYPES, full)] == [
        (kind[0], kind[3]) for kind in MARIADB_TYPES
    ]
    assert empty == (None,) * len(MARIADB_TYPES)


def test_mariadb_there_and_back(spark, mariadb):
    # TIMESTAMP has seconds there.
    source = spark.sql(ALL.replace("05.5'", "05'"))
    write(source, mariadb.options, "t")
    back = read(spark, mariadb.options, "t")
    assert rows(back, "a") == rows(source, "a")
    assert back.where("d = 'x''y' AND a >= 1 AND f = date'2020-01-02'").count() == 1
    write(source.where("a = 1"), mariadb.options, "t", "overwrite", truncate="true")
    assert rows(read(spark, mariadb.options, "t")) == rows(source.where("a = 1"))


def test_mariadb_moments_keep_their_instant(spark, mariadb):
    mariadb.sql("SET time_zone = '+00:00'; CREATE TABLE moments (z timestamp NULL, l datetime);"
                "INSERT INTO moments VALUES ('2020-01-02 03:04:05', '2020-01-02 03:04:05')")
    spark.conf.set("spark.sql.session.timeZone", "+02:00")
    texts = read(spark, mariadb.options, "moments").selectExpr("CAST(z AS STRING)", "CAST(l AS STRING)")
    assert rows(texts) == [("2020-01-02 05:04:05", "2020-01-02 03:04:05")]
    spark.conf.unset("spark.sql.session.timeZone")


def test_mariadb_errors(spark, mariadb):
    error = raised(lambda: read(spark, {**mariadb.options, "password": "wrong-word"}, "t").schema)
    assert "Access denied" in str(error) and "wrong-word" not in str(error)
    error = raised(lambda: read(spark, mariadb.options, "missing").schema)
    assert error.getCondition() == "JDBC_EXTERNAL_ENGINE_SYNTAX_ERROR.DURING_OUTPUT_SCHEMA_RESOLUTION"
    both = {"url": mariadb.url.replace("mysql", "mariadb") + "?user=buyer&password=s3cret"}
    assert read(spark, both, query="SELECT 1 a").count() == 1
