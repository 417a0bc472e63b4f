"""What scans of files give: their order, their partitions, facts of the files."""

import itertools
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StructType


@pytest.fixture
def files(spark, tmp_path):
    """Five files of which the second is the largest, then the fourth."""
    path = str(tmp_path / "files")
    for i, count in enumerate([3, 50, 3, 20, 3]):
        spark.range(i * 1000, i * 1000 + count).coalesce(1).write.mode("append").json(path)
    return path


def test_large_files_come_first_and_each_file_stays_together(spark, files):
    frame = spark.read.schema("id long").json(files)
    for _ in range(5):
        groups = [(k, len(list(g))) for k, g in itertools.groupby(r[0] // 1000 for r in frame.collect())]
        assert groups[:2] == [(1, 50), (3, 20)]
        assert sorted(groups[2:]) == [(0, 3), (2, 3), (4, 3)]


def test_settings_say_how_files_are_packed(spark, files):
    frame = spark.read.schema("id long").json(files).select(F.spark_partition_id().alias("p")).distinct()
    spark.conf.set("spark.sql.files.minPartitionNum", 5)
    assert frame.count() == 4
    spark.conf.unset("spark.sql.files.minPartitionNum")
    spark.conf.set("spark.sql.files.maxPartitionNum", 1)
    assert frame.count() == 1


def test_values_of_partitions_are_made_above_the_scan(spark, files, tmp_path):
    path = str(tmp_path / "parquet")
    for i in range(3):
        spark.range(i * 10, i * 10 + 3 + i).coalesce(1).write.mode("append").parquet(path)
    for frame in [spark.read.parquet(path), spark.read.schema("id long").json(files)]:
        numbers = [r[0] for r in frame.select(F.spark_partition_id()).collect()]
        assert set(numbers) == {0, 1} and numbers == sorted(numbers)
        assert frame.select("id", F.rand(3).alias("r")).filter("r < 2").count() == frame.count()


def test_parts_of_files_hold_each_row_once(spark, files):
    spark.conf.set("spark.sql.files.openCostInBytes", 0)
    spark.conf.set("spark.sql.files.maxPartitionBytes", 100)
    frame = spark.read.schema("id long").json(files)
    assert frame.agg(F.count("*"), F.countDistinct("id")).first() == (79, 79)
    starts = spark.read.text(files).select("_metadata.file_block_start", F.input_file_block_start()).distinct()
    assert all(a == b and a % 100 == 0 for a, b in starts.collect())
    assert starts.filter("file_block_start > 0").count() == starts.count() - 1


def test_a_file_that_is_named_twice_is_read_twice(spark, files):
    file = str(next(Path(files).glob("part-*.json")))
    once = spark.read.text(file).count()
    assert spark.read.text([file, file]).count() == 2 * once


def test_rows_have_numbers_in_their_parquet_file(spark, tmp_path):
    path = str(tmp_path / "many")
    spark.range(0, 10000, 1, 2).write.option("parquet.block.size", 1000).parquet(path)
    frame = spark.read.parquet(path)
    wanted = frame.filter("id in (0, 4999, 5000, 9999)").selectExpr("id", "_metadata.row_index").orderBy("id")
    assert wanted.collect() == [(0, 0), (4999, 4999), (5000, 0), (9999, 4999)]
    below = frame.drop("id").selectExpr("_metadata.row_index r").agg(F.sum("r"), F.count("*"))
    assert below.collect() == [(24995000, 10000)]
    with pytest.raises(AnalysisException) as error:
        spark.read.text(path).select("_metadata.row_index").collect()
    assert error.value.getCondition() == "FIELD_NOT_FOUND"


def test_the_file_of_a_row(spark, tmp_path):
    path = tmp_path / "sp ace"
    spark.createDataFrame([(1, "a"), (2, "b")], "a int, k string").coalesce(1).write.partitionBy("k").parquet(str(path))
    frame = spark.read.parquet(str(path))
    rows = frame.select("a", F.input_file_name(), "_metadata.file_path", "_metadata.file_name").collect()
    for a, name, file_path, file_name in rows:
        file = next(path.glob(f"k={'ab'[a - 1]}/*.parquet"))
        assert name == f"file://{file}".replace(" ", "%20")
        assert file_path == name.replace("file:///", "file:/")
        assert file_name == file.name
    nested = frame.select("a").withColumn("f", F.input_file_name()).filter(F.input_file_name() != "")
    assert nested.count() == 2
    assert frame.groupBy(F.input_file_name()).count().count() == 2
    assert frame.orderBy("a").select(F.input_file_name()).collect() == [("",), ("",)]
    facts = spark.range(1).select(F.input_file_name(), F.input_file_block_start(), F.input_file_block_length())
    assert facts.collect() == [("", -1, -1)]
    with pytest.raises(AnalysisException) as error:
        frame.join(frame.alias("b"), "a").select(F.input_file_name()).collect()
    assert error.value.getCondition() == "MULTI_SOURCES_UNSUPPORTED_FOR_EXPRESSION"


def test_names_in_uris_of_files_are_escaped_where_they_must(spark, tmp_path):
    path = tmp_path / "uris"
    values = [(1, "x=y%z"), (2, "é#?"), (3, "a+b&c;d,e@f!g$h(i)*j~k_l-m.n|o<p>`"), (4, None)]
    spark.createDataFrame(values, "a int, k string").coalesce(1).write.partitionBy("k").parquet(str(path))
    rows = spark.read.parquet(str(path)).select("a", F.input_file_name(), "_metadata.file_path").collect()
    folders = {a: name.removeprefix(f"file://{path}/k=").rsplit("/", 1)[0] for a, name, _ in rows}
    assert folders == {
        1: "x%253Dy%2525z",
        2: "é%2523%253F",
        3: "a+b&c;d,e@f!g$h(i)%252Aj~k_l-m.n%7Co%3Cp%3E%60",
        4: "__HIVE_DEFAULT_PARTITION__",
    }
    assert all(file_path == name.replace("file:///", "file:/") for _, name, file_path in rows)


def test_braces_of_patterns_can_be_escaped(spark, tmp_path):
    for name in ["plain", "br{ace}", "x[y]"]:
        (tmp_path / name).write_text(name)
    for pattern in [r"br\{ace\}", r"br\{ace}", r"{br\{ace\},none}"]:
        assert spark.read.text(f"{tmp_path}/{pattern}").collect() == [("br{ace}",)]
    found = spark.read.text(f"{tmp_path}/{{pl*,x*}}").collect()
    assert sorted(found) == [("plain",), ("x[y]",)]
    with pytest.raises(AnalysisException) as error:
        spark.read.text(f"{tmp_path}/br{{ace}}").collect()
    assert error.value.getCondition() == "PATH_NOT_FOUND"


def test_a_column_of_files_may_be_called_metadata(spark, tmp_path):
    path = str(tmp_path / "own")
    spark.createDataFrame([(1, 2)], "a int, _metadata int").write.parquet(path)
    assert spark.read.parquet(path).select("_metadata").collect() == [(2,)]


def test_texts_of_a_frame_are_records(spark):
    texts = spark.createDataFrame([('{"a":1}',), ('{"a":2,"b":"x"}',)], "value string")
    assert spark.read.json(texts).collect() == [(1, None), (2, "x")]
    lines = spark.createDataFrame([("n,m",), ("2,y",)], "value string")
    assert spark.read.csv(lines).collect() == [("n", "m"), ("2", "y")]
    typed = spark.read.option("header", True).option("inferSchema", True).csv(lines)
    assert typed.dtypes == [("n", "int"), ("m", "string")]
    assert typed.collect() == [(2, "y")]
    bad = spark.createDataFrame([('{"a":1}',), ("oops",)], "value string")
    assert spark.read.schema("a int, b string").json(bad).collect() == [(1, None), (None, None)]
    with pytest.raises(AnalysisException) as error:
        spark.read.json(spark.range(1)).collect()
    assert error.value.getCondition() == "DATAFRAME_INPUT_NOT_STRING_TYPE"


def test_orc_files(spark, tmp_path):
    path = str(tmp_path / "orc")
    frame = spark.sql(
        "select * from values (1, 'a', cast(null as double), true, x'01', date'1960-05-06', "
        "timestamp'2020-01-02 03:04:05.678901'), (2, 'b', 2.5d, null, x'', date'2020-01-01', null) "
        "as t(a, b, c, d, e, f, g)"
    )
    frame.write.orc(path)
    read = spark.read.orc(path)
    assert read.dtypes == frame.dtypes
    assert read.orderBy("a").collect() == frame.orderBy("a").collect()
    assert read.filter("a = 1").select("b").collect() == [("a",)]
    assert read.count() == 2
    assert spark.read.schema("A long, z int").orc(path).orderBy("a").collect() == [(1, None), (2, None)]
    with pytest.raises(AnalysisException) as error:
        spark.read.orc(str(tmp_path)).collect()
    assert error.value.getCondition() == "UNABLE_TO_INFER_SCHEMA"


def test_unpivoted_rows_follow_the_rows_of_the_input(spark):
    frame = spark.createDataFrame([(1, 10, 1.0), (2, 20, 2.0)], ["id", "int", "double"])
    assert frame.unpivot("id", ["int", "double"], "var", "val").collect() == [
        (1, "int", 10.0),
        (1, "double", 1.0),
        (2, "int", 20.0),
        (2, "double", 2.0),
    ]


def test_fields_of_one_name_are_told_apart(spark):
    schema = StructType().add("s", StructType().add("x", IntegerType()).add("x", IntegerType()))
    assert spark.createDataFrame([((1, 2),)], schema).collect() == [((1, 2),)]


def test_plans_that_mean_the_same(spark):
    left, right = spark.range(10), spark.range(10)
    doubled = left.withColumn("a", left.id * 2)
    assert doubled.sameSemantics(right.withColumn("a", right.id * 2))
    assert doubled.sameSemantics(right.withColumn("b", right.id * 2))
    assert not doubled.sameSemantics(right.withColumn("a", right.id + 2))


def test_classes_of_functions_are_looked_for_when_called(spark):
    spark.sql("create function of_class as 'org.example.Nothing'")
    try:
        assert spark.catalog.getFunction("of_class").className == "org.example.Nothing"
        assert spark.catalog.functionExists("of_class")
        spark.sql("create or replace function of_class as 'org.example.Other'")
        spark.sql("create function if not exists of_class as 'org.example.Nothing'")
        assert spark.catalog.getFunction("of_class").className == "org.example.Other"
        with pytest.raises(AnalysisException) as error:
            spark.sql("select of_class(1)").collect()
        assert error.value.getCondition() == "CANNOT_LOAD_FUNCTION_CLASS"
        with pytest.raises(AnalysisException) as error:
            spark.sql("create temporary function of_class as 'org.example.Nothing'")
        assert error.value.getCondition() == "CANNOT_LOAD_FUNCTION_CLASS"
    finally:
        spark.sql("drop function of_class")


def test_keywords_are_rows(spark):
    rows = spark.tvf.sql_keywords()
    assert rows.filter("keyword in ('ADD', 'SELECT', 'NOTHING')").collect() == [("ADD", False), ("SELECT", False)]
    spark.conf.set("spark.sql.ansi.enforceReservedKeywords", "true")
    assert spark.sql("select reserved from sql_keywords() where keyword in ('ADD', 'SELECT')").collect() == [
        (False,),
        (True,),
    ]


def test_explain_modes(spark, capsys):
    frame = spark.range(3).filter("id > 1")
    frame.explain("formatted")
    assert "\n(1) Range\nOutput [1]: [id" in capsys.readouterr().out
    frame.explain("codegen")
    assert capsys.readouterr().out.startswith("Found 0 WholeStageCodegen subtrees.")
