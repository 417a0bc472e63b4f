"""-0.0 is 0.0 and NaN is NaN wherever rows are grouped, ordered or told apart."""

import pytest

ROWS = (
    "with v as (select * from values (1, 0.0d), (2, -0.0d), (3, double('nan')), (4, -double('nan')), (5, 1.0d) t(id, f)) "
)


@pytest.mark.parametrize("key", ["f", "struct(f)", "array(f)", "array(struct(f))", "map('a', f)"])
def test_groups(spark, key):
    counts = [row[1] for row in spark.sql(ROWS + f"select {key} k, count(*) from v group by 1").collect()]
    assert sorted(counts) == [1, 2, 2]


@pytest.mark.parametrize("key", ["f", "struct(f)", "array(f)"])
def test_windows(spark, key):
    query = f"select id, count(*) over (partition by {key}), rank() over (order by {key}) from v"
    rows = sorted(tuple(row) for row in spark.sql(ROWS + query).collect())
    assert rows == [(1, 2, 1), (2, 2, 1), (3, 2, 4), (4, 2, 4), (5, 1, 3)]


def test_range_frames(spark):
    query = "select id, sum(id) over (order by f range between 0.5 preceding and 0.5 following) from v"
    rows = sorted(tuple(row) for row in spark.sql(ROWS + query).collect())
    assert rows == [(1, 3), (2, 3), (3, 7), (4, 7), (5, 5)]


@pytest.mark.parametrize("key, expected", [("f", [2, 1, 5, 4, 3]), ("struct(f)", [2, 1, 5, 4, 3])])
def test_orders(spark, key, expected):
    assert [row.id for row in spark.sql(ROWS + f"select * from v order by {key}, id desc").collect()] == expected


@pytest.mark.parametrize(
    "query, expected",
    [
        ("select distinct f from v", ["0.0", "1.0", "nan"]),
        ("select distinct array(f)[0] from v", ["0.0", "1.0", "nan"]),
        ("select f from v except all select 0.0d", ["0.0", "1.0", "nan", "nan"]),
        ("select f from v except select 0.0d", ["1.0", "nan"]),
        ("select f from v intersect all select -0.0d", ["0.0"]),
        ("select f from v union select 0.0d", ["0.0", "1.0", "nan"]),
        ("select count(distinct f) from v", ["3"]),
        ("select count(distinct struct(f)) from v", ["3"]),
    ],
)
def test_rows_that_are_told_apart(spark, query, expected):
    assert sorted(str(row[0]) for row in spark.sql(ROWS + query).collect()) == expected


def test_duplicates(spark):
    frame = spark.sql(ROWS + "select * from v").dropDuplicates(["f"]).select("f")
    assert sorted(str(row.f) for row in frame.collect()) == ["0.0", "1.0", "nan"]
