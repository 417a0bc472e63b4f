"""Whether frames mean the same: data count, not only the shape of the plan."""


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
