"""Whether frames mean the same: data count, not only the shape of the plan."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F


def test_two_checkpoints_are_not_the_same(spark):
    one, two = [spark.range(10).localCheckpoint() for _ in range(2)]
    assert one.sameSemantics(one)
    assert not one.sameSemantics(two)


def test_local_rows_count(spark):
    one, two = [spark.createDataFrame([(i,)], "a INT") for i in range(2)]
    assert not one.sameSemantics(two)


def test_files_count(spark, tmp_path):
    frames = []
    for name in "ab":
        spark.range(3).write.parquet(f"{tmp_path}/{name}")
        frames.append(spark.read.parquet(f"{tmp_path}/{name}"))
    assert not frames[0].sameSemantics(frames[1])
    assert frames[0].semanticHash() != frames[1].semanticHash()


def test_input_files_of_a_checkpoint(spark):
    assert spark.range(10).localCheckpoint().inputFiles() == []


def test_input_files(spark, tmp_path):
    spark.range(3).coalesce(1).write.parquet(f"{tmp_path}/a")
    [file] = [p for p in (tmp_path / "a").iterdir() if p.suffix == ".parquet"]
    frame = spark.read.parquet(f"{tmp_path}/a")
    assert frame.union(frame).filter("id > 1").inputFiles() == [f"file://{file}"]


def test_equal_frames_are_the_same(spark):
    one, two = [spark.createDataFrame([(1, "x")], "a INT, b STRING").filter("a > 0") for _ in range(2)]
    assert one.sameSemantics(two)
    assert spark.range(3).sameSemantics(spark.range(3))
    assert not spark.range(3).sameSemantics(spark.range(4))


def test_columns_that_stand_twice(spark):
    frame = spark.range(5).select("id", (F.col("id") + 1).alias("n"), "id")
    assert [tuple(row) for row in frame.tail(2)] == [(3, 4, 3), (4, 5, 4)]
    assert [len(row) for row in spark.range(3).stat.freqItems([]).collect()] == [0, 0, 0]


def test_a_description_of_a_column_named_summary(spark):
    with pytest.raises(AnalysisException) as raised:
        spark.range(3).describe().describe().collect()
    assert raised.value.getCondition() == "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"


def test_stars_of_frames_that_are_not_there(spark):
    below = spark.range(3)
    with pytest.raises(AnalysisException) as raised:
        below.groupBy((F.col("id") % 2).alias("k")).count().select(below["*"]).collect()
    assert raised.value.getCondition() == "CANNOT_RESOLVE_DATAFRAME_COLUMN"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a, 1 / a + b + c FROM VALUES (1, 1, 1), (0, 1, 1) AS t(a, b, c) WHERE a <> 0",
        "SELECT a, map(b, c) FROM VALUES (1, 'k', 1), (0, CAST(NULL AS STRING), 1) AS t(a, b, c) WHERE a <> 0",
    ],
)
def test_rows_that_are_dropped_do_not_fail(spark, query):
    assert len(spark.sql(query).collect()) == 1
