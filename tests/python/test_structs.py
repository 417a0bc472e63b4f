"""Fields of structs that are NULL."""

import pytest
from pyspark.sql import functions as F


@pytest.fixture
def rows(spark):
    return spark.createDataFrame([((1,),), (None,)], "s struct<x:int>")


def test_a_field_of_a_null_struct_is_null(rows):
    assert [tuple(r) for r in rows.selectExpr("s.x", "coalesce(s.x, 7)", "s.x is null").collect()] == [
        (1, 1, False),
        (None, 7, True),
    ]
    assert [r.x for r in rows.select("s.*").collect()] == [1, None]
    assert rows.filter("s.x = 0").count() == 0
    assert rows.filter("s.x is null").count() == 1


def test_a_null_struct_within_a_struct(spark):
    frame = spark.createDataFrame([(((1,),),), ((None,),), (None,)], "s struct<x:struct<y:int>>")
    assert [r.y for r in frame.selectExpr("s.x.y").collect()] == [1, None, None]
    assert [r.x is None for r in frame.selectExpr("s.x").collect()] == [False, True, True]


def test_null_structs_in_arrays_and_maps(spark):
    array = spark.createDataFrame([([(1,), None],), (None,)], "s array<struct<x:int>>")
    assert [r.x for r in array.selectExpr("inline(s)").collect()] == [1, None]
    assert [r.x for r in array.selectExpr("inline_outer(s)").collect()] == [1, None, None]
    assert [r.x for r in array.select(F.explode("s").alias("e")).select("e.x").collect()] == [1, None]
    assert [r[0] for r in array.selectExpr("transform(s, e -> e.x)").collect()] == [[1, None], None]
    assert [f.name for f in array.selectExpr("arrays_zip(s, s.x) z").schema["z"].dataType.elementType] == ["s", "x"]
    keyed = spark.createDataFrame([({"a": (1,), "b": None},)], "s map<string,struct<x:int>>")
    assert tuple(keyed.selectExpr("s.a.x", "s.b.x").first()) == (1, None)


def test_an_aggregate_of_a_field_passes_over_null_structs(rows):
    assert rows.select(F.collect_list("s.x"), F.count("s.x")).first() == ([1], 1)


def test_a_struct_in_values_is_one_value(spark):
    assert spark.sql("select * from values (named_struct('a', 1, 'b', 2)) t").collect() == [((1, 2),)]
    assert spark.sql("select * from values (1, 2) t").collect() == [(1, 2)]
    query = "select 1 where named_struct('a', 1, 'b', 2) in (select named_struct('a', 1, 'b', 2))"
    assert spark.sql(query).count() == 1
