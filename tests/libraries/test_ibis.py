"""ibis compiles its expressions to SQL and to catalog calls of a session."""

import datetime

import ibis
import pandas
import pyarrow
import pytest
from ibis import _, udf


@pytest.fixture(scope="module")
def con(spark):
    spark.sql("CREATE DATABASE IF NOT EXISTS ibis_test")
    connection = ibis.pyspark.connect(spark)
    yield connection
    spark.sql("DROP DATABASE ibis_test CASCADE")
    spark.catalog.setCurrentDatabase("default")


@pytest.fixture(scope="module")
def birds(con):
    rows = pyarrow.table(
        {
            "id": [1, 2, 3, 4, 5],
            "species": ["owl", "owl", "gull", "gull", "kite"],
            "mass": [0.5, 0.75, None, 1.25, 0.25],
            "seen": [datetime.date(2024, 2, 29), datetime.date(2024, 3, 1), None, datetime.date(2023, 12, 31), datetime.date(2024, 2, 1)],
        }
    )
    return con.create_table("birds", rows, database="ibis_test", overwrite=True)


def rows(expression):
    return [tuple(row.values()) for row in expression.to_pyarrow().to_pylist()]


def test_schema_and_catalog(con, birds):
    assert birds.schema() == ibis.schema({"id": "int64", "species": "string", "mass": "float64", "seen": "date"})
    assert "birds" in con.list_tables(database="ibis_test")
    assert {"default", "ibis_test"} <= set(con.list_databases())
    assert con.list_catalogs() == ["spark_catalog"]
    con.create_view("heavy_birds", birds.filter(_.mass > 0.5), overwrite=True)
    assert rows(con.table("heavy_birds").id.as_table().order_by("id")) == [(2,), (4,)]


def test_groups_and_order(birds):
    query = birds.group_by("species").agg(n=_.count(), mass=_.mass.mean(), last=_.seen.max()).order_by(ibis.desc("n"), "species")
    assert rows(query) == [
        ("gull", 2, 1.25, datetime.date(2023, 12, 31)),
        ("owl", 2, 0.625, datetime.date(2024, 3, 1)),
        ("kite", 1, 0.25, datetime.date(2024, 2, 1)),
    ]
    assert rows(birds.species.topk(1, name="n")) in ([("owl", 2)], [("gull", 2)])
    assert birds.species.nunique().execute() == 3


def test_windows(birds):
    window = ibis.window(group_by="species", order_by="id")
    query = birds.mutate(place=ibis.row_number().over(window), before=_.mass.lag().over(window)).order_by("id")
    assert rows(query.select("id", "place", "before")) == [(1, 0, None), (2, 1, 0.5), (3, 0, None), (4, 1, None), (5, 0, None)]
    share = birds.mutate(share=_.mass / _.mass.sum().over(group_by="species")).filter(_.share < 1)
    assert rows(share.select("id", "share").order_by("id")) == [(1, 0.4), (2, 0.6)]


def test_joins(con, birds):
    wings = ibis.memtable({"species": ["owl", "kite", "dodo"], "span": [95, 155, 0]})
    assert rows(birds.join(wings, "species").select("id", "span").order_by("id")) == [(1, 95), (2, 95), (5, 155)]
    assert con.execute(birds.anti_join(wings, "species").count()) == 2
    assert con.execute(birds.outer_join(wings, "species").count()) == 6


def test_texts_dates_and_arrays(birds):
    query = birds.filter(_.id < 3).order_by("id").select(
        a=_.species.upper().substr(0, 2) + "-" + _.id.cast("string"),
        b=_.seen.truncate("M"),
        c=_.seen.strftime("%d.%m.%Y"),
        d=ibis.cases((_.mass > 0.6, "heavy"), else_="light"),
        e=_.seen + ibis.interval(days=1),
    )
    assert rows(query) == [
        ("OW-1", datetime.date(2024, 2, 1), "29.02.2024", "light", datetime.date(2024, 3, 1)),
        ("OW-2", datetime.date(2024, 3, 1), "01.03.2024", "heavy", datetime.date(2024, 3, 2)),
    ]
    lists = birds.group_by("species").agg(ids=_.id.collect().sort()).filter(_.ids.length() > 1)
    assert rows(lists.select("species", first=_.ids[0]).order_by("species")) == [
        ("gull", 3),
        ("owl", 1),
    ]


def test_functions_in_python(birds):
    @udf.scalar.python
    def initials(text: str, times: int) -> str:
        return text[:1] * times

    @udf.scalar.pandas
    def halved(mass: float) -> float:
        return mass / 2

    @udf.scalar.builtin(signature=(("string",), "string"))
    def soundex(text): ...

    query = birds.filter(_.id.isin([1, 5])).order_by("id")
    assert rows(query.select(a=initials(_.species, _.id), b=halved(_.mass), c=soundex(_.species))) == [
        ("o", 0.25, "O400"),
        ("kkkkk", 0.125, "K300"),
    ]


def test_tables_grow(con, birds):
    con.create_table("copy", birds.limit(0), database="ibis_test", overwrite=True)
    con.insert("copy", birds.filter(_.species == "owl"), database="ibis_test")
    con.insert("copy", pandas.DataFrame({"id": [9], "species": ["auk"], "mass": [1.0], "seen": [None]}), database="ibis_test")
    assert con.table("copy", database="ibis_test").count().execute() == 3
    con.truncate_table("copy", database="ibis_test")
    assert con.table("copy", database="ibis_test").count().execute() == 0


def test_files(con, birds, tmp_path):
    con.to_parquet(birds, tmp_path / "birds.parquet")
    assert con.read_parquet(tmp_path / "birds.parquet").count().execute() == 5
    con.to_csv(birds.select("id", "species"), tmp_path / "birds.csv")
    assert sorted(con.read_csv(tmp_path / "birds.csv", header=True).columns) == ["id", "species"]
    batches = list(con.to_pyarrow_batches(birds.order_by("id"), chunk_size=2))
    assert pyarrow.Table.from_batches(batches)["id"].to_pylist() == [1, 2, 3, 4, 5]


def test_sql(con, birds):
    query = con.sql("SELECT species, sum(mass) AS mass FROM ibis_test.birds GROUP BY species", dialect="spark")
    assert rows(query.filter(_.mass > 1).order_by("species")) == [("gull", 1.25), ("owl", 1.25)]
    with pytest.raises(ibis.common.exceptions.TableNotFound):
        con.table("nowhere")
