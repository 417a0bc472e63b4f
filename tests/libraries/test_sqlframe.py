"""sqlframe writes the DataFrame API as SQL, and runs it in a session."""

import pytest
from sqlframe.spark import SparkSession as Session
from sqlframe.spark import Window
from sqlframe.spark import functions as F


@pytest.fixture(scope="module")
def session(spark):
    return Session(conn=spark)


@pytest.fixture
def people(session):
    data = [(1, "Ann", 30, "a"), (2, "Bob", None, "a"), (3, "Cid", 25, "b")]
    return session.createDataFrame(data, schema=["id", "name", "age", "team"])


def rows(frame):
    return [tuple(row) for row in frame.collect()]


def test_select_and_filter(people):
    frame = people.where(F.col("age").isNotNull()).select("id", F.upper("name").alias("name"), (F.col("age") + 1).alias("next"))
    assert rows(frame.orderBy("id")) == [(1, "ANN", 31), (3, "CID", 26)]
    assert people.columns == ["id", "name", "age", "team"]


def test_groups_and_windows(people):
    groups = people.groupBy("team").agg(F.count("*").alias("n"), F.avg("age").alias("mean"))
    assert rows(groups.orderBy("team")) == [("a", 2, 30.0), ("b", 1, 25.0)]
    window = Window.partitionBy("team").orderBy(F.col("id").desc())
    ranked = people.select("id", F.row_number().over(window).alias("place"), F.lag("id").over(window).alias("before"))
    assert rows(ranked.orderBy("id")) == [(1, 2, 2), (2, 1, None), (3, 1, None)]


def test_joins_and_sets(session, people):
    teams = session.createDataFrame([("a", "Red"), ("c", "Blue")], schema=["team", "colour"])
    assert rows(people.join(teams, on="team").select("id", "colour").orderBy("id")) == [(1, "Red"), (2, "Red")]
    assert rows(people.join(teams, on="team", how="left_anti").select("id")) == [(3,)]
    assert people.union(people).distinct().count() == 3
    assert rows(people.dropna().select("id").orderBy("id")) == [(1,), (3,)]


def test_nested_values(session):
    frame = session.range(1).select(F.array(F.lit(3), F.lit(1)).alias("list"), F.struct(F.lit("x").alias("s")).alias("row"))
    assert rows(frame.select(F.sort_array("list").alias("sorted"), F.col("row.s"), F.size("list"))) == [([1, 3], "x", 2)]
    assert rows(frame.select(F.explode("list").alias("item")).orderBy("item")) == [(1,), (3,)]


def test_views_catalog_and_sql(session, people):
    people.createOrReplaceTempView("sqlframe_people")
    assert rows(session.sql("SELECT count(*) AS n FROM sqlframe_people WHERE age > 26")) == [(1,)]
    assert session.catalog.currentDatabase() == "default"
    assert "SELECT" in people.sql()


def test_files(session, people, tmp_path):
    path = str(tmp_path / "people")
    people.write.parquet(path, mode="overwrite")
    back = session.read.parquet(path)
    assert rows(back.select("id", "team").orderBy("id")) == [(1, "a"), (2, "a"), (3, "b")]


def test_pandas(people):
    frame = people.orderBy("id").toPandas()
    assert frame["name"].tolist() == ["Ann", "Bob", "Cid"]
