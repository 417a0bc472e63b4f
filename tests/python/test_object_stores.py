"""Data in object stores and on web servers: `make test-stores`.

FIRESTEEL_MOTO names the `moto_server` of an environment with tests/stores/requirements.txt;
without it the tests of such stores are skipped, as those of Azure without FIRESTEEL_AZURITE,
the `azurite-blob` of the npm package azurite, and of Google without FIRESTEEL_GCS, a `fake-gcs-server`. What a store holds reads and behaves as local files do.
"""

import os
import threading
import time

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from server import Server
from stores import Azure, Gcs, Store, Web, denying, files_of, silent

MOTO = os.environ.get("FIRESTEEL_MOTO")
AZURITE = os.environ.get("FIRESTEEL_AZURITE")
GCS = os.environ.get("FIRESTEEL_GCS")
BUCKET = "places"
FORMATS = ["parquet", "csv", "json", "orc", "xml", "text"]


@pytest.fixture(scope="module")
def store():
    if not MOTO:
        pytest.skip("FIRESTEEL_MOTO is not set")
    running = Store(MOTO)
    running.make_bucket(BUCKET)
    yield running
    running.stop()


@pytest.fixture
def session(spark, store):
    for key, value in store.options().items():
        spark.conf.set(f"spark.hadoop.{key}", value)
    return spark


def at(name):
    return f"s3a://{BUCKET}/{name}"


def options_of(format):
    return {"xml": {"rowTag": "row"}, "csv": {"header": "true"}}.get(format, {})


def rows(frame):
    return sorted(map(tuple, frame.collect()), key=repr)


@pytest.mark.parametrize("format", FORMATS)
def test_formats_come_back_as_from_local_files(session, store, tmp_path, format):
    frame = session.range(0, 100, 1, 3).select("id", F.concat(F.lit("é +%"), F.col("id")).alias("s"))
    if format == "text":
        frame = frame.select("s")
    write = frame.write.format(format).options(**options_of(format))
    write.save(at(f"formats/{format}"))
    write.save(str(tmp_path / "local"))
    read = session.read.format(format).options(**options_of(format))
    remote, local = read.load(at(f"formats/{format}")), read.load(str(tmp_path / "local"))
    assert remote.schema == local.schema
    assert rows(remote) == rows(local)
    assert remote.count() == 100
    keys = store.keys(BUCKET, f"formats/{format}/")
    assert f"formats/{format}/_SUCCESS" in keys
    assert len(keys) == 4
    assert store.uploads(BUCKET) == []


@pytest.mark.parametrize("format", ["csv", "json", "text"])
def test_compressed_text(session, format):
    frame = session.range(50).select(F.col("id").cast("string").alias("value"))
    for codec in ["gzip", "bzip2", "deflate", "snappy", "lz4"]:
        path = at(f"compressed/{format}/{codec}")
        frame.write.format(format).option("compression", codec).save(path)
        assert session.read.format(format).load(path).count() == 50


def test_binary_files_and_metadata(session, store):
    store.put(BUCKET, "binary/a b%+é=.bin", b"\x00\x01\x02")
    (row,) = session.read.format("binaryFile").load(at("binary")).collect()
    assert (row.path, row.length, bytes(row.content)) == (at("binary/a b%+é=.bin"), 3, b"\x00\x01\x02")
    store.put(BUCKET, "meta/a b.txt", b"one\n")
    frame = session.read.text(at("meta"))
    name, path, size, file_name = frame.select(
        F.input_file_name(), "_metadata.file_path", "_metadata.file_size", "_metadata.file_name"
    ).first()
    assert (name, path, size, file_name) == (at("meta/a%20b.txt"), at("meta/a%20b.txt"), 4, "a%20b.txt")
    assert frame.inputFiles() == [at("meta/a%20b.txt")]


def test_large_files_go_in_parts(session, store):
    frame = session.range(0, 600_000, 1, 1).select("id", F.sha2(F.col("id").cast("string"), 256).alias("h"))
    for format in ["parquet", "csv", "orc"]:
        frame.write.format(format).options(**options_of(format)).save(at(f"large/{format}"))
        read = session.read.format(format).options(**options_of(format), inferSchema="true")
        total = read.load(at(f"large/{format}")).agg(F.sum("id"), F.count("h"), F.countDistinct("h")).first()
        assert tuple(total) == (179999700000, 600_000, 600_000)
    assert store.uploads(BUCKET) == []


def test_partitions_with_strange_values(session, store):
    values = ["a b", "50%", "ü", "a+b", "k=v", "x/y", None]
    frame = session.createDataFrame([(i, v) for i, v in enumerate(values)], "id int, p string")
    frame.write.partitionBy("p").parquet(at("strange"))
    assert rows(session.read.parquet(at("strange"))) == rows(frame)
    assert session.read.parquet(at("strange")).where("p = '50%'").count() == 1
    assert any("p=50%25/" in key for key in store.keys(BUCKET, "strange/"))
    assert session.read.parquet(at("strange/p=a b")).columns == ["id"]
    assert session.read.option("basePath", at("strange")).parquet(at("strange/p=a b")).columns == ["id", "p"]


def test_save_modes(session, store):
    path = at("modes")
    one, two = session.range(1), session.range(2)
    one.write.parquet(path)
    with pytest.raises(AnalysisException) as caught:
        one.write.parquet(path)
    assert caught.value.getCondition() == "PATH_ALREADY_EXISTS"
    two.write.mode("ignore").parquet(path)
    assert session.read.parquet(path).count() == 1
    two.write.mode("append").parquet(path)
    assert session.read.parquet(path).count() == 3
    before = set(store.keys(BUCKET, "modes/"))
    two.write.mode("overwrite").parquet(path)
    assert session.read.parquet(path).count() == 2
    assert before & set(store.keys(BUCKET, "modes/")) == {"modes/_SUCCESS"}
    with pytest.raises(AnalysisException) as caught:
        session.read.parquet(path).write.mode("overwrite").parquet(path)
    assert caught.value.getCondition() == "UNSUPPORTED_OVERWRITE.PATH"


def test_partition_overwrite(session):
    path = at("dynamic")
    session.createDataFrame([(1, "a"), (2, "b")], "id int, p string").write.partitionBy("p").parquet(path)
    new = session.createDataFrame([(3, "b"), (4, "c")], "id int, p string")
    write = new.write.mode("overwrite").partitionBy("p")
    write.option("partitionOverwriteMode", "dynamic").parquet(path)
    assert rows(session.read.parquet(path)) == [(1, "a"), (3, "b"), (4, "c")]
    write.parquet(path)
    assert rows(session.read.parquet(path)) == [(3, "b"), (4, "c")]


def test_globs(session, store):
    for key in ["globs/2024/01/a.txt", "globs/2024/02/a.txt", "globs/2025/01/b.csv", "globs/x+y/01/[c].txt"]:
        store.put(BUCKET, key, key.encode() + b"\n")
    count = lambda *paths: session.read.text(list(paths)).count()  # noqa: E731
    assert count(at("globs/2024/*")) == 2
    assert count(at("globs/*/01")) == 3
    assert count(at("globs/{2024,2025}/01/*.{txt,csv}")) == 2
    assert count(at("globs/202?/0[12]/a.txt")) == 2
    assert count(at("globs/x+y/01"), at("globs/2025/01/b.csv")) == 2
    assert session.read.option("pathGlobFilter", "*.csv").option("recursiveFileLookup", "true").text(at("globs")).count() == 1
    with pytest.raises(AnalysisException) as caught:
        count(at("globs/2030/*"))
    assert caught.value.getCondition() == "PATH_NOT_FOUND"
    assert at("globs/2030/*") in str(caught.value)


def test_more_keys_than_a_page(session, store):
    for i in range(1203):
        store.put(BUCKET, f"many/k={i % 7}/f{i:04}.txt", b"%d\n" % i)
    frame = session.read.text(at("many"))
    assert (frame.count(), frame.select("k").distinct().count()) == (1203, 7)
    session.range(1).coalesce(1).selectExpr("cast(id as string) value").write.mode("overwrite").text(at("many"))
    assert len(store.keys(BUCKET, "many/")) == 2


def test_hidden_and_empty_files(session, store):
    for key in ["hidden/_SUCCESS", "hidden/_temporary/0/x.txt", "hidden/.part.crc", "hidden/folder", "hidden/folder/"]:
        store.put(BUCKET, key, b"")
    store.put(BUCKET, "hidden/folder/a.txt", b"a\n")
    assert [r.value for r in session.read.option("recursiveFileLookup", "true").text(at("hidden")).collect()] == ["a"]


def test_tables(session, store):
    session.sql(f"CREATE TABLE remote_table (id INT, p STRING) USING parquet PARTITIONED BY (p) LOCATION '{at('table')}'")
    try:
        assert session.table("remote_table").count() == 0
        session.sql("INSERT INTO remote_table VALUES (1, 'a'), (2, 'b')")
        session.sql("INSERT OVERWRITE remote_table PARTITION (p = 'b') VALUES (3)")
        assert rows(session.table("remote_table")) == [(1, "a"), (3, "b")]
        assert [r.partition for r in session.sql("SHOW PARTITIONS remote_table").collect()] == ["p=a", "p=b"]
        session.sql("ALTER TABLE remote_table DROP PARTITION (p = 'a')")
        assert rows(session.table("remote_table")) == [(3, "b")]
        location = [r.data_type for r in session.sql("DESCRIBE EXTENDED remote_table").collect() if r.col_name == "Location"]
        assert location == [at("table")]
    finally:
        session.sql("DROP TABLE remote_table")
    # The data of a table with a location stays.
    assert any(key.startswith("table/p=b/part-") for key in store.keys(BUCKET, "table/"))
    session.sql(f"CREATE TABLE again_table USING parquet LOCATION '{at('table')}'")
    assert rows(session.sql("SELECT * FROM again_table")) == [(3, "b")]
    session.sql("DROP TABLE again_table")


def test_managed_tables_of_a_remote_database(session, store):
    session.sql(f"CREATE DATABASE remote_db LOCATION '{at('db')}'")
    try:
        session.range(3).write.saveAsTable("remote_db.t")
        assert session.table("remote_db.t").count() == 3
        session.sql("ALTER TABLE remote_db.t RENAME TO remote_db.u")
        assert session.table("remote_db.u").count() == 3
        session.sql("TRUNCATE TABLE remote_db.u")
        assert session.table("remote_db.u").count() == 0
        session.sql("INSERT INTO remote_db.u VALUES (1)")
        session.sql("DROP TABLE remote_db.u")
        assert store.keys(BUCKET, "db/") == []
    finally:
        session.sql("DROP DATABASE IF EXISTS remote_db CASCADE")


def test_a_failed_write_leaves_nothing(session, store):
    session.range(5).write.csv(at("failed"))
    before = store.keys(BUCKET, "failed/")
    bad = session.range(0, 600_000, 1, 2).selectExpr(
        "CASE WHEN id < 599999 THEN id ELSE raise_error('stop') END AS id", "sha2(cast(id as string), 512) h"
    )
    with pytest.raises(PySparkException, match="stop"):
        bad.write.mode("overwrite").csv(at("failed"))
    deadline = time.monotonic() + 20
    while store.uploads(BUCKET) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert store.uploads(BUCKET) == []
    assert store.keys(BUCKET, "failed/") == before


def test_a_killed_server_leaves_nothing_to_be_seen(store):
    with Server() as server:
        session = SparkSession.builder.remote(server.url).create()
        for key, value in store.options().items():
            session.conf.set(key, value)
        frame = session.range(0, 200_000_000, 1, 2).selectExpr("id", "sha2(cast(id as string), 512) h")
        failed = []

        def write():
            try:
                frame.write.csv(at("killed"))
            except Exception as error:  # noqa: BLE001
                failed.append(error)

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        deadline = time.monotonic() + 60
        while not store.uploads(BUCKET) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert store.uploads(BUCKET)
        server.kill()
    assert store.keys(BUCKET, "killed/") == []


def test_sessions_have_credentials_of_their_own(server, store):
    path = at("own")
    body = b"<Error><Code>InvalidAccessKeyId</Code><Message>Not known.</Message><AWSAccessKeyId>AKIASECRET</AWSAccessKeyId></Error>"
    mine = SparkSession.builder.remote(server.url).create()
    other = SparkSession.builder.remote(server.url).create()
    with Web(denying(body)) as web:
        for key, value in store.options().items():
            mine.conf.set(key, value)
            other.conf.set(key, value)
        other.conf.set("fs.s3a.endpoint", web.url)
        mine.range(3).write.parquet(path)
        assert mine.read.parquet(path).count() == 3
        with pytest.raises(PySparkException) as caught:
            other.read.parquet(path).count()
        text = str(caught.value)
        assert "denies access" in text and "AKIASECRET" not in text and "hush-hush" not in text
        assert mine.read.parquet(path).count() == 3
        # Options of a reader win over the session's settings.
        assert other.read.options(**store.options()).parquet(path).count() == 3
        shown = str(other.sql("SET").collect())
        assert "hush-hush" not in shown
        plan = mine.read.options(**store.options(secret="sesame")).parquet(path)._explain_string(extended=True)
        assert "sesame" not in plan and "hush-hush" not in plan
    mine.stop()
    other.stop()


def test_what_is_not_there(session, store):
    with pytest.raises(AnalysisException) as caught:
        session.read.parquet(at("nothing")).count()
    assert caught.value.getCondition() == "PATH_NOT_FOUND"
    assert f"s3a://{BUCKET}/nothing" in str(caught.value)
    with pytest.raises(AnalysisException) as caught:
        session.read.parquet("s3a://no-such-bucket/x").count()
    assert caught.value.getCondition() == "PATH_NOT_FOUND"
    with pytest.raises(PySparkException, match="bucket or container does not exist"):
        session.range(1).write.parquet("s3a://no-such-bucket/x")


def test_schemes_and_servers_that_are_not_there(spark, tmp_path):
    with pytest.raises(PySparkException, match='No FileSystem for scheme "foo"'):
        spark.read.parquet("foo://x/y").count()
    with pytest.raises(PySparkException, match="Relative path in absolute URI: foo:bar"):
        spark.read.text("foo:bar").count()
    with pytest.raises(PySparkException, match="the file system hdfs"):
        spark.read.text("hdfs://host/x").count()
    spark.conf.set("fs.s3a.endpoint", "http://127.0.0.1:1")
    spark.conf.set("fs.s3a.access.key", "a")
    spark.conf.set("fs.s3a.secret.key", "b")
    spark.conf.set("fs.s3a.attempts.maximum", "1")
    with pytest.raises(PySparkException, match="cannot be reached"):
        spark.read.text("s3a://bucket/x").count()
    spark.conf.set("fs.s3a.encryption.algorithm", "CSE-KMS")
    with pytest.raises(PySparkException, match="the encryption CSE-KMS"):
        spark.read.text("s3a://bucket/x").count()


def test_an_interrupt_does_not_wait_for_a_silent_server(spark):
    with Web(silent()) as web:
        spark.conf.set("fs.s3a.endpoint", web.url)
        spark.conf.set("fs.s3a.access.key", "a")
        spark.conf.set("fs.s3a.secret.key", "b")
        ended = []

        def read():
            try:
                spark.range(1).write.parquet("s3a://bucket/x")
            except Exception as error:  # noqa: BLE001
                ended.append(error)

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        time.sleep(1)
        assert thread.is_alive()
        spark.interruptAll()
        thread.join(20)
        assert ended and "cannot be reached" not in str(ended[0])


def test_files_of_web_servers_are_read(spark, tmp_path):
    (tmp_path / "a b.csv").write_text("id,s\n1,x\n2,y\n")
    spark.range(1000).coalesce(1).write.parquet(str(tmp_path / "t"))
    spark.range(1000).coalesce(1).write.orc(str(tmp_path / "o"))
    parquet = next((tmp_path / "t").glob("*.parquet")).name
    orc = next((tmp_path / "o").glob("*.orc")).name
    with Web(files_of(tmp_path)) as web:
        frame = spark.read.csv(f"{web.url}/a b.csv", header=True, inferSchema=True)
        assert rows(frame) == [(1, "x"), (2, "y")]
        assert spark.read.parquet(f"{web.url}/t/{parquet}").agg(F.sum("id")).first()[0] == 499500
        assert spark.read.orc(f"{web.url}/o/{orc}").agg(F.sum("id")).first()[0] == 499500
        with pytest.raises(AnalysisException) as caught:
            spark.read.text(f"{web.url}/none.txt").count()
        assert caught.value.getCondition() == "PATH_NOT_FOUND"
        with pytest.raises(PySparkException, match="writes to"):
            spark.range(1).write.parquet(f"{web.url}/new")
        with pytest.raises(PySparkException, match="tables at"):
            spark.sql(f"CREATE TABLE web_table (id INT) USING csv LOCATION '{web.url}/a b.csv'")


@pytest.fixture(scope="module")
def azure():
    if not AZURITE:
        pytest.skip("FIRESTEEL_AZURITE is not set")
    running = Azure(AZURITE, "box")
    yield running
    running.stop()


def test_azure(spark, azure):
    for key, value in azure.options().items():
        spark.conf.set(key, value)
    base = f"abfs://box@{azure.ACCOUNT}.dfs.core.windows.net/a b"
    frame = spark.range(0, 100, 1, 2).selectExpr("id", "id % 3 AS k")
    for format in ["parquet", "csv", "json", "orc"]:
        path = f"{base}/{format}"
        frame.write.partitionBy("k").format(format).save(path)
        frame.write.mode("overwrite").partitionBy("k").format(format).save(path)
        read = spark.read.schema("id bigint, k bigint").format(format).load(f"{base}/{format}")
        assert rows(read) == rows(frame)
        assert spark.read.format(format).schema("id bigint").load(f"{path}/k=[12]").count() == 66
    with pytest.raises(PySparkException) as caught:
        wrong = azure.options(key="d3Jvbmc=")
        spark.read.options(**wrong).parquet(f"{base}/parquet").count()
    assert "denies access" in str(caught.value) and "d3Jvbmc" not in str(caught.value)


@pytest.fixture(scope="module")
def gcs():
    if not GCS:
        pytest.skip("FIRESTEEL_GCS is not set")
    running = Gcs(GCS, "places")
    yield running
    running.stop()


def test_google(spark, gcs):
    for key, value in gcs.options().items():
        spark.conf.set(key, value)
    frame = spark.range(0, 100, 1, 2).selectExpr("id", "id % 3 AS k")
    for format in ["parquet", "csv", "json", "orc"]:
        path = f"gs://places/a b/{format}"
        frame.write.partitionBy("k").format(format).save(path)
        frame.write.mode("overwrite").partitionBy("k").format(format).save(path)
        read = spark.read.schema("id bigint, k bigint").format(format).load(path)
        assert rows(read) == rows(frame)
        assert spark.read.format(format).schema("id bigint").load(f"{path}/k=[12]").count() == 66
