"""datacompy says in what two frames differ. Its installation is large: requirements-large.txt."""

import pytest

datacompy = pytest.importorskip("datacompy")


@pytest.fixture
def frames(spark):
    left = spark.createDataFrame(
        [(1, "Ann", 10.0, "x"), (2, "Bob", 20.0, "y"), (3, "Cid", None, "z")], "id INT, name STRING, sum DOUBLE, old STRING"
    )
    right = spark.createDataFrame(
        [(1, "Ann", 10.001), (2, "bob ", 25.0), (4, "Dan", 1.0)], "id INT, name STRING, sum DOUBLE"
    )
    return left, right


def test_differences(spark, frames):
    compare = datacompy.SparkSQLCompare(spark, *frames, join_columns=["id"], abs_tol=0.01)
    assert not compare.matches()
    assert compare.df1_unq_columns() == {"old"}
    assert compare.count_matching_rows() == 1
    assert [row["id"] for row in compare.df1_unq_rows.collect()] == [3]
    assert [row["id"] for row in compare.df2_unq_rows.collect()] == [4]
    differing = {column["column"]: column["unequal_cnt"] for column in compare.column_stats}
    assert (differing["name"], differing["sum"]) == (1, 1)
    assert [(row["sum_df1"], row["sum_df2"]) for row in compare.sample_mismatch("sum").collect()] == [(20.0, 25.0)]
    assert "Number of rows with some compared columns unequal: 1" in compare.report()


def test_case_and_spaces(spark, frames):
    left, right = frames
    pair = [frame.filter("id < 3").select("id", "name") for frame in (left, right)]
    assert not datacompy.SparkSQLCompare(spark, *pair, join_columns="id").matches()
    assert datacompy.SparkSQLCompare(spark, *pair, join_columns="id", ignore_case=True, ignore_spaces=True).matches()
    assert datacompy.SparkSQLCompare(spark, left, left, join_columns=["id"]).matches()
