"""A frame reads the files that were there when it was first looked at."""

import pytest
from pyspark.errors import PySparkException


def test_files_that_come_later_are_not_seen(spark, tmp_path):
    path = str(tmp_path / "numbers")
    spark.range(3).write.parquet(path)
    frame = spark.read.parquet(path)
    assert frame.count() == 3
    spark.range(4).write.mode("append").parquet(path)
    assert frame.count() == 3
    assert frame.select("id").count() == 3
    assert spark.read.parquet(path).count() == 7
    frame.createOrReplaceTempView("few_numbers")
    assert spark.table("few_numbers").count() == 3
    spark.sql("REFRESH TABLE few_numbers")
    assert spark.table("few_numbers").count() == 7


def test_what_is_persisted_is_read_anew(spark, tmp_path):
    path = str(tmp_path / "numbers")
    spark.range(3).write.parquet(path)
    frame = spark.read.parquet(path).cache()
    assert frame.count() == 3
    spark.range(4).write.mode("append").parquet(path)
    assert frame.count() == 7
    frame.unpersist()


def test_views_of_tables_see_what_is_inserted(spark):
    spark.sql("DROP TABLE IF EXISTS listed")
    spark.sql("CREATE TABLE listed (a INT) USING parquet")
    spark.sql("INSERT INTO listed VALUES (1), (2)")
    spark.table("listed").createOrReplaceTempView("of_listed")
    spark.sql("INSERT INTO listed VALUES (3)")
    assert spark.table("of_listed").count() == 3
    spark.sql("DROP TABLE listed")


def test_files_that_are_gone_are_an_error(spark, tmp_path):
    path = str(tmp_path / "numbers")
    spark.range(3).write.parquet(path)
    frame = spark.read.parquet(path)
    assert frame.count() == 3
    spark.range(4).write.mode("overwrite").parquet(path)
    with pytest.raises(PySparkException) as raised:
        frame.count()
    assert raised.value.getCondition() == "FAILED_READ_FILE.FILE_NOT_EXIST"
    assert spark.read.parquet(path).count() == 4
