"""Streaming queries: what frames of streams may do, batches, checkpoints, state, what is told of queries."""

import json
import time

import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException, PySparkException
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQueryListener

NOT_STARTED = "_LEGACY_ERROR_TEMP_3102"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    put(tmp_path, "a.csv", "1,x", "2,y")
    return tmp_path


def put(folder, name, *lines):
    (folder / "in" / name).write_text("\n".join(lines) + "\n")


def files(spark, folder, **options):
    return spark.readStream.schema("id int, s string").options(**options).csv(str(folder / "in"))


def memory(frame, name, **options):
    return frame.writeStream.format("memory").queryName(name).options(**options)


def condition_of(call):
    with pytest.raises(PySparkException) as error:
        call()
    return error.value.getCondition()


# ---- analysis ----


def test_streams_have_a_schema_and_say_that_they_are_streams(spark, folder):
    rate = spark.readStream.format("rate").load()
    assert rate.isStreaming
    assert rate.schema.simpleString() == "struct<timestamp:timestamp,value:bigint>"
    frame = files(spark, folder)
    assert frame.schema.simpleString() == "struct<id:int,s:string>"
    assert frame.filter("id > 1").groupBy("s").count().isStreaming
    assert frame.join(spark.range(3), "id").isStreaming
    assert not spark.range(3).isStreaming


def test_views_of_streams_are_streams(spark, folder):
    files(spark, folder).createOrReplaceTempView("stream_view")
    assert spark.table("stream_view").isStreaming
    assert spark.sql("SELECT count(*) FROM stream_view").isStreaming
    assert spark.readStream.table("stream_view").isStreaming
    query = "SELECT * FROM range(2) WHERE id IN (SELECT id FROM stream_view)"
    assert condition_of(lambda: spark.sql(query).schema) == "INVALID_SUBQUERY_EXPRESSION.STREAMING_QUERY"


def test_streams_of_files_need_a_schema(spark, folder):
    path = str(folder / "in")
    assert condition_of(lambda: spark.readStream.csv(path).schema) == "_LEGACY_ERROR_TEMP_2048"
    assert spark.readStream.text(path).schema.simpleString() == "struct<value:string>"
    spark.conf.set("spark.sql.streaming.schemaInference", "true")
    inferred = spark.readStream.option("inferSchema", "true").csv(path).schema
    assert inferred.simpleString() == "struct<_c0:int,_c1:string>"


def test_sources_refuse_what_they_do_not_know(spark):
    rate = spark.readStream.format("rate")
    assert condition_of(lambda: rate.schema("a int").load().schema) == "_LEGACY_ERROR_TEMP_2242"
    with pytest.raises(IllegalArgumentException, match="must be positive"):
        spark.readStream.format("rate").option("rowsPerSecond", "-1").load().schema
    with pytest.raises(IllegalArgumentException, match="rowsPerBatch"):
        spark.readStream.format("rate-micro-batch").load().schema
    assert condition_of(lambda: spark.readStream.format("noop").load().schema) == "_LEGACY_ERROR_TEMP_2049"
    assert condition_of(lambda: spark.readStream.format("nope").load().schema) == "DATA_SOURCE_NOT_FOUND"


@pytest.mark.parametrize("action", ["collect", "count", "show", "cache", "localCheckpoint", "inputFiles"])
def test_streams_do_not_run_like_other_frames(spark, folder, action):
    assert condition_of(lambda: getattr(files(spark, folder), action)()) == NOT_STARTED


def test_streams_are_not_written_like_other_frames(spark, folder):
    frame = files(spark, folder)
    save = frame.write.format("noop").mode("overwrite").save
    assert condition_of(save) == "CALL_ON_STREAMING_DATASET_UNSUPPORTED"
    assert condition_of(frame.writeTo("streamed").create) == "CALL_ON_STREAMING_DATASET_UNSUPPORTED"
    assert condition_of(lambda: spark.range(1).writeStream.format("noop").start()) == "WRITE_STREAM_NOT_ALLOWED"


def test_watermarks_are_notes_on_columns_of_streams(spark):
    rate = spark.readStream.format("rate").load()
    marked = rate.withWatermark("timestamp", "10 minutes")
    assert marked.schema["timestamp"].metadata == {"spark.watermarkDelayMs": 600000}
    assert marked.select(F.col("timestamp").alias("t")).schema["t"].metadata == {"spark.watermarkDelayMs": 600000}
    wrong = rate.withWatermark("value", "1 minute")
    assert condition_of(lambda: wrong.schema) == "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE"
    unknown = rate.withWatermark("nothing", "1 minute")
    assert condition_of(lambda: unknown.schema) == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    assert spark.range(1).withWatermark("nothing", "1 minute").collect()[0].id == 0


def test_duplicates_within_a_watermark_are_for_streams(spark):
    rate = spark.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    assert rate.dropDuplicatesWithinWatermark(["value"]).isStreaming
    batch = spark.range(1).dropDuplicatesWithinWatermark(["id"])
    assert batch.columns == ["id"]
    assert condition_of(batch.collect) == NOT_STARTED


def test_explanations_show_the_stream(spark, folder, capsys):
    files(spark, folder).filter("id > 1").explain()
    assert "StreamingRelation FileSource[" in capsys.readouterr().out


@pytest.mark.parametrize(
    "change, mode, expected",
    [
        (lambda f: f.groupBy("s").count(), "append", "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"),
        (lambda f: f, "complete", "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"),
        (lambda f: f.orderBy("id"), "append", NOT_STARTED),
        (lambda f: f.limit(1), "update", NOT_STARTED),
        (lambda f: f.offset(1), "append", NOT_STARTED),
        (lambda f: f.sample(0.5), "append", NOT_STARTED),
        (lambda f: f.intersect(f), "append", NOT_STARTED),
        (lambda f: f.groupBy("s").agg(F.countDistinct("id")), "complete", NOT_STARTED),
        (lambda f: f.dropDuplicatesWithinWatermark(["id"]), "append", NOT_STARTED),
        (lambda f: f.select(F.monotonically_increasing_id()), "append", NOT_STARTED),
        (lambda f: f, "sometimes", "STREAMING_OUTPUT_MODE.INVALID"),
    ],
)
def test_queries_that_cannot_run_say_so_at_their_start(spark, folder, change, mode, expected):
    writer = change(files(spark, folder)).writeStream.format("noop").outputMode(mode)
    assert condition_of(writer.start) == expected


def test_sinks_say_what_they_need(spark, folder):
    frame = files(spark, folder)
    assert condition_of(frame.writeStream.format("memory").start) == "_LEGACY_ERROR_TEMP_1194"
    assert condition_of(frame.writeStream.format("csv").option("path", "/tmp/x").start) == "_LEGACY_ERROR_TEMP_1298"
    assert condition_of(frame.writeStream.format("rate").start) == "_LEGACY_ERROR_TEMP_2049"
    partitioned = frame.writeStream.partitionBy("nothing").format("noop")
    assert condition_of(partitioned.start) == "_LEGACY_ERROR_TEMP_1196"


# ---- queries ----


def test_files_come_into_memory(spark, folder):
    query = memory(files(spark, folder), "files_in_memory").start()
    try:
        query.processAllAvailable()
        assert sorted(spark.table("files_in_memory").collect()) == [(1, "x"), (2, "y")]
        put(folder, "b.csv", "3,z")
        query.processAllAvailable()
        assert spark.table("files_in_memory").count() == 3
        assert query.isActive and query.exception() is None
        assert [other.id for other in spark.streams.active] == [query.id]
        assert spark.streams.get(query.id).name == "files_in_memory"
        assert query.awaitTermination(0.1) is False
    finally:
        query.stop()
    assert not query.isActive
    assert query.status == {"message": "Stopped", "isDataAvailable": False, "isTriggerActive": False}
    assert query.awaitTermination(1) is True


def test_progress_tells_what_a_batch_did(spark, folder):
    query = memory(files(spark, folder), "progress_told").trigger(availableNow=True).start()
    query.awaitTermination()
    progress = query.lastProgress
    assert (progress.batchId, progress.numInputRows) == (0, 2)
    assert progress.sources[0].description.startswith("FileStreamSource[file:")
    assert json.loads(progress.sources[0].endOffset) == {"logOffset": 0}
    assert (progress.sink.description, progress.sink.numOutputRows) == ("MemorySink", 2)
    assert len(query.recentProgress) == 1


def test_triggers_end_when_all_is_read(spark, folder):
    put(folder, "b.csv", "3,z")
    for name, trigger, batches in [("now", {"availableNow": True}, 2), ("once", {"once": True}, 1)]:
        frame = files(spark, folder, maxFilesPerTrigger=1)
        query = memory(frame, f"trigger_{name}").trigger(**trigger).start()
        query.awaitTermination(60)
        assert not query.isActive
        assert spark.table(f"trigger_{name}").count() == 3
        assert len(query.recentProgress) == batches


def test_a_query_goes_on_where_its_checkpoint_ends(spark, folder):
    place = {"checkpointLocation": str(folder / "checkpoint")}

    def run(name):
        query = files(spark, folder).writeStream.format("json").option("path", str(folder / "out"))
        query = query.options(**place).trigger(availableNow=True).start()
        query.awaitTermination(60)
        return query

    first = run("first")
    put(folder, "b.csv", "3,z")
    second = run("second")
    run("third")
    assert first.id == second.id and first.runId != second.runId
    rows = spark.read.schema("id int, s string").json(str(folder / "out")).collect()
    assert sorted(rows) == [(1, "x"), (2, "y"), (3, "z")]
    entries = [json.loads(line) for line in (folder / "out/_spark_metadata/0").read_text().splitlines()[1:]]
    assert entries and all(entry["action"] == "add" for entry in entries)
    assert (folder / "checkpoint/commits/1").exists()


def test_rows_of_a_rate_are_counted(spark):
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
    query = memory(source, "counted").trigger(once=True).start()
    query.awaitTermination(60)
    assert [row.value for row in spark.table("counted").orderBy("value").collect()] == list(range(10))
    rate = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    query = memory(rate, "rated").start()
    for _ in range(100):
        if spark.table("rated").count() >= 5:
            break
        time.sleep(0.1)
    query.stop()
    values = [row.value for row in spark.table("rated").orderBy("value").collect()]
    assert values == list(range(len(values))) and len(values) >= 5


def test_streams_fill_tables(spark, folder):
    spark.sql("DROP TABLE IF EXISTS streamed_table")
    writer = files(spark, folder).writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).toTable("streamed_table")
    query.awaitTermination(60)
    assert sorted(spark.table("streamed_table").collect()) == [(1, "x"), (2, "y")]
    stream = spark.readStream.table("streamed_table")
    assert stream.isStreaming
    query = memory(stream, "of_table").trigger(availableNow=True).start()
    query.awaitTermination(60)
    assert spark.table("of_table").count() == 2
    spark.sql("DROP TABLE streamed_table")


def test_failures_end_a_query_and_are_told(spark, folder):
    query = files(spark, folder).select(F.expr("1 / (id - 1)")).writeStream.format("noop").start()
    assert condition_of(lambda: query.awaitTermination(60)) == "STREAM_FAILED"
    assert not query.isActive
    assert "DIVIDE_BY_ZERO" in str(query.exception())
    assert query.status["message"].startswith("Terminated with exception: [DIVIDE_BY_ZERO]")
    assert condition_of(lambda: spark.streams.awaitAnyTermination(1)) == "STREAM_FAILED"
    spark.streams.resetTerminated()
    assert spark.streams.awaitAnyTermination(0.1) is False


def test_functions_of_batches_are_refused(spark, folder):
    with pytest.raises(PySparkException, match="foreachBatch"):
        files(spark, folder).writeStream.foreachBatch(lambda frame, number: None).start()


def test_functions_take_rows(spark, folder):
    path = folder / "rows"
    path.mkdir()

    class Writer:
        def open(self, partition, epoch):
            self.epoch = epoch
            return True

        def process(self, row):
            (path / f"{self.epoch}-{row.id}").write_text(row.s)

        def close(self, error):
            pass

    query = files(spark, folder).writeStream.foreach(Writer()).trigger(availableNow=True).start()
    query.awaitTermination(120)
    assert sorted((file.name, file.read_text()) for file in path.iterdir()) == [("0-1", "x"), ("0-2", "y")]


def test_names_are_unique_among_running_queries(spark, folder):
    query = memory(files(spark, folder), "only_one").start()
    with pytest.raises(IllegalArgumentException, match="already active"):
        memory(files(spark, folder), "only_one").start()
    query.stop()


def test_stopping_does_not_wait_for_the_next_trigger(spark, folder):
    query = memory(files(spark, folder), "stopped").trigger(processingTime="1 hour").start()
    query.stop()
    assert not query.isActive


def test_listeners_are_told(spark, folder):
    told = []

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event):
            told.append("started")

        def onQueryProgress(self, event):
            told.append(("progress", event.progress.numInputRows))

        def onQueryTerminated(self, event):
            told.append(("terminated", event.exception))

    listener = Listener()
    spark.streams.addListener(listener)
    query = memory(files(spark, folder), "listened").trigger(availableNow=True).start()
    query.awaitTermination(60)
    # The client takes a lock to remove a listener that it also takes to tell of an event.
    for _ in range(300):
        if len(told) < 3:
            time.sleep(0.1)
    spark.streams.removeListener(listener)
    # The client itself tells of the start, on a thread of its own.
    assert sorted(told, key=str) == [("progress", 2), ("terminated", None), "started"]


def test_observations_come_with_the_progress(spark, folder):
    frame = files(spark, folder).observe("seen", F.count(F.lit(1)).alias("rows"), F.max("s").alias("last"))
    query = memory(frame, "observed").trigger(availableNow=True).start()
    query.awaitTermination(60)
    assert "seen" in query.lastProgress.observedMetrics


# ---- state ----


def test_aggregates_go_over_all_batches(spark, folder):
    counts = files(spark, folder).groupBy("s").agg(F.count("*").alias("n"), F.avg("id").alias("mean"))
    query = memory(counts, "aggregated").outputMode("complete").start()
    try:
        query.processAllAvailable()
        put(folder, "b.csv", "3,x")
        query.processAllAvailable()
        assert sorted(spark.table("aggregated").collect()) == [("x", 2, 2.0), ("y", 1, 2.0)]
        assert query.lastProgress.stateOperators[0].numRowsTotal == 2
    finally:
        query.stop()


def test_updates_are_the_groups_that_have_changed(spark, folder):
    query = memory(files(spark, folder).groupBy("s").count(), "updated").outputMode("update").start()
    try:
        query.processAllAvailable()
        put(folder, "b.csv", "3,x")
        query.processAllAvailable()
        assert sorted(spark.table("updated").collect()) == [("x", 1), ("x", 2), ("y", 1)]
    finally:
        query.stop()


def test_groups_are_written_once_their_time_is_over(spark, folder):
    times = files(spark, folder).select(F.timestamp_seconds("id").alias("t"))
    counts = times.withWatermark("t", "5 seconds").groupBy(F.window("t", "10 seconds")).count()
    query = memory(counts.select("window.start", "count"), "finished").outputMode("append").start()
    try:
        query.processAllAvailable()
        assert spark.table("finished").count() == 0
        put(folder, "b.csv", "20,x")
        query.processAllAvailable()
        assert [row["count"] for row in spark.table("finished").collect()] == [2]
        put(folder, "c.csv", "3,late")
        query.processAllAvailable()
        assert spark.table("finished").count() == 1
    finally:
        query.stop()


def test_duplicates_are_remembered_over_restarts(spark, folder):
    place = {"path": str(folder / "out"), "checkpointLocation": str(folder / "checkpoint")}
    for name, lines in [("b.csv", ["3,x", "4,z"]), ("c.csv", ["5,z"])]:
        put(folder, name, *lines)
        query = files(spark, folder).dropDuplicates(["s"]).writeStream.format("json").options(**place)
        query.trigger(availableNow=True).start().awaitTermination(60)
    rows = spark.read.schema("id int, s string").json(place["path"]).collect()
    assert sorted(row.s for row in rows) == ["x", "y", "z"]


def test_each_batch_has_its_own_time(spark, folder):
    frame = files(spark, folder).select("id", F.current_timestamp().alias("now"))
    query = memory(frame, "timed").start()
    try:
        query.processAllAvailable()
        put(folder, "b.csv", "3,x")
        query.processAllAvailable()
        times = {row.id: row.now for row in spark.table("timed").collect()}
        assert times[1] == times[2] < times[3]
    finally:
        query.stop()
