"""Files read and written through DataFrames."""

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F


def test_input_files_are_told_once_each(spark, tmp_path):
    path = tmp_path / "sp ace"
    spark.range(3).coalesce(1).write.json(str(path))
    frame = spark.read.json(str(path))
    files = frame.union(frame).filter("id > 1").inputFiles()
    assert files == [file.as_uri() for file in Path(path).glob("part-*.json")]
    assert spark.range(3).inputFiles() == []


def test_a_path_that_is_read_cannot_be_overwritten(spark, tmp_path):
    path = str(tmp_path / "data")
    spark.range(10).write.parquet(path)
    frame = spark.read.parquet(path)
    with pytest.raises(AnalysisException) as error:
        frame.filter("id > 3").write.mode("overwrite").parquet(path)
    assert error.value.getCondition() == "UNSUPPORTED_OVERWRITE.PATH"
    assert error.value.getMessageParameters() == {"path": f"file:{path}"}
    assert spark.read.parquet(path).count() == 10
    frame.write.mode("append").parquet(path)
    assert spark.read.parquet(path).count() == 20


def test_partitions_that_are_read_can_be_replaced(spark, tmp_path):
    path = str(tmp_path / "data")
    spark.range(10).withColumn("k", F.col("id") % 2).write.partitionBy("k").parquet(path)
    frame = spark.read.parquet(path).filter("k = 1").withColumn("id", F.col("id") * 10)
    frame.write.mode("overwrite").option("partitionOverwriteMode", "dynamic").partitionBy("k").parquet(path)
    assert spark.read.parquet(path).agg(F.sum("id")).first()[0] == 270


def test_a_table_that_is_read_cannot_be_overwritten(spark):
    spark.sql("create table overwritten using parquet as select 1 as a")
    try:
        writes = [
            lambda: spark.sql("insert overwrite overwritten select a + 1 from overwritten").collect(),
            lambda: spark.table("overwritten").write.mode("overwrite").saveAsTable("overwritten"),
            lambda: spark.table("overwritten").write.insertInto("overwritten", overwrite=True),
        ]
        for write in writes:
            with pytest.raises(AnalysisException) as error:
                write()
            assert error.value.getCondition() == "UNSUPPORTED_OVERWRITE.TABLE"
            assert error.value.getMessageParameters() == {"table": "`spark_catalog`.`default`.`overwritten`"}
        assert spark.table("overwritten").collect() == [(1,)]
    finally:
        spark.sql("drop table overwritten")
