"""chispa compares frames, and says which rows differ."""

import chispa
import pytest
from chispa.column_comparer import ColumnsNotEqualError
from chispa.dataframe_comparer import DataFramesNotEqualError
from chispa.schema_comparer import SchemasNotEqualError, assert_schema_equality
from pyspark.sql import functions as F


def without_punctuation(column):
    return F.regexp_replace(column, r"[^\w\s]+", "")


def test_columns_that_are_equal(spark):
    data = [("jo&&se", "jose"), ("**li**", "li"), ("#::luisa", "luisa"), (None, None)]
    frame = spark.createDataFrame(data, ["name", "expected"]).withColumn("clean", without_punctuation("name"))
    chispa.assert_column_equality(frame, "clean", "expected")


def test_columns_that_differ(spark):
    data = [("matt7", "matt"), ("bill&", "bill"), (None, None)]
    frame = spark.createDataFrame(data, ["name", "expected"]).withColumn("clean", without_punctuation("name"))
    with pytest.raises(ColumnsNotEqualError, match="matt7"):
        chispa.assert_column_equality(frame, "clean", "expected")


def test_frames_that_are_equal(spark):
    left = spark.createDataFrame([(1, "a"), (2, None)], "n INT, s STRING")
    right = spark.createDataFrame([(None, 2), ("a", 1)], "s STRING, n INT")
    chispa.assert_df_equality(left, right, ignore_column_order=True, ignore_row_order=True)
    chispa.assert_df_equality(left, left.union(left).distinct(), ignore_row_order=True)
    chispa.assert_df_equality(left.filter("n > 5"), left.limit(0))


def test_frames_that_differ(spark):
    left = spark.createDataFrame([("bob", "jose"), ("li", "li")], ["name", "expected"])
    right = spark.createDataFrame([("bob", "jose"), ("li", "luisa")], ["name", "expected"])
    with pytest.raises(DataFramesNotEqualError, match="luisa"):
        chispa.assert_df_equality(left, right)
    with pytest.raises(SchemasNotEqualError, match="expected"):
        chispa.assert_df_equality(left, right.withColumn("expected", F.length("expected")))


def test_numbers_that_are_almost_equal(spark):
    left = spark.createDataFrame([(1.1, "a"), (float("nan"), "b"), (None, "c")], "x DOUBLE, s STRING")
    right = spark.createDataFrame([(1.15, "a"), (float("nan"), "b"), (None, "c")], "x DOUBLE, s STRING")
    chispa.assert_approx_df_equality(left, right, 0.1, allow_nan_equality=True)
    with pytest.raises(DataFramesNotEqualError):
        chispa.assert_approx_df_equality(left, right, 0.01, allow_nan_equality=True)


def test_schema_by_its_tree(spark):
    frame = spark.sql("SELECT 1 AS a, array(struct('x' AS b)) AS c")
    assert_schema_equality(frame.schema, frame.select("*").schema)
    with pytest.raises(SchemasNotEqualError):
        assert_schema_equality(frame.schema, frame.drop("c").schema)
