"""PySpark's own helpers for tests."""

import pytest
from pyspark.errors import PySparkAssertionError
from pyspark.sql import Row
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual


@pytest.fixture(autouse=True)
def spark_home(monkeypatch, tmp_path):
    """The helpers look for a home of Spark, which the package of the client alone has not."""
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))


def test_frames_that_are_equal(spark):
    frame = spark.createDataFrame([("a", 1.0, [1, 2]), ("b", None, None)], "k STRING, x DOUBLE, l ARRAY<INT>")
    assertDataFrameEqual(frame, frame.sort("k", ascending=False))
    assertDataFrameEqual(frame, frame.select("l", "k", "x"), ignoreColumnOrder=True)
    assertDataFrameEqual(frame, [Row(k="b", x=None, l=None), Row(k="a", x=1.0 + 1e-9, l=[1, 2])])
    with pytest.raises(PySparkAssertionError):
        assertDataFrameEqual(frame, frame.sort("k", ascending=False), checkRowOrder=True)


def test_frames_that_differ(spark):
    left = spark.createDataFrame([("1", 1000), ("2", 3000)], ["id", "amount"])
    right = spark.createDataFrame([("1", 1001), ("2", 3000)], ["id", "amount"])
    with pytest.raises(PySparkAssertionError) as caught:
        assertDataFrameEqual(left, right, includeDiffRows=True)
    assert caught.value.getCondition() == "DIFFERENT_ROWS"
    assert caught.value.data == [(Row(id="1", amount=1000), Row(id="1", amount=1001))]
    assertDataFrameEqual(left.selectExpr("double(amount)"), right.selectExpr("double(amount)"), rtol=1e-2)


def test_schemas(spark):
    frame = spark.sql("SELECT 1 AS a, named_struct('x', array(1.5D)) AS s")
    assertSchemaEqual(frame.schema, frame.limit(1).schema)
    with pytest.raises(PySparkAssertionError) as caught:
        assertSchemaEqual(frame.schema, frame.select("a").schema)
    assert caught.value.getCondition() == "DIFFERENT_SCHEMA"
