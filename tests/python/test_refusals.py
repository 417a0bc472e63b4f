"""What is refused, under Spark's conditions, and what is not."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F


def condition(action):
    with pytest.raises(AnalysisException) as error:
        action()
    return error.value.getCondition()


def test_unions_of_structs_go_by_position(spark):
    assert spark.sql("select named_struct('a', 1) s union all select named_struct('b', 2)").collect() == [((1,),), ((2,),)]
    query = "select array(named_struct('a', 1)) s union all select array(named_struct('b', 2))"
    assert spark.sql(query).collect() == [([(1,)],), ([(2,)],)]
    assert spark.sql("select named_struct('a', 1) s union all select named_struct('b', 2)").schema["s"].dataType.names == ["a"]
    other = "select named_struct('a', 1) s union all select named_struct('a', 2, 'b', 3)"
    assert condition(lambda: spark.sql(other).collect()) == "INCOMPATIBLE_COLUMN_TYPE"


def test_several_generators(spark):
    rows = spark.sql("select explode(array(1, 2)), explode(array(3, 4))").collect()
    assert [tuple(r) for r in rows] == [(1, 3), (1, 4), (2, 3), (2, 4)]
    frame = spark.range(1).select(F.explode(F.array(F.lit(1), F.lit(2))).alias("a"), F.posexplode(F.array(F.lit(3))))
    assert [tuple(r) for r in frame.collect()] == [(1, 0, 3), (2, 0, 3)]
    frame = spark.range(1).selectExpr("explode(array(1, 2)) a", "explode(array(a)) b")
    assert [tuple(r) for r in frame.collect()] == [(1, 1), (2, 2)]


def test_names_for_the_wrong_number_of_columns(spark):
    assert condition(lambda: spark.range(1).toDF("a", "b").collect()) == "ASSIGNMENT_ARITY_MISMATCH"


def test_writes(spark, tmp_path):
    path = str(tmp_path / "out")
    write = spark.range(1).write.mode("overwrite")
    assert condition(lambda: spark.sql("select 1 id, 2 x").write.text(path)) == "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE"
    assert condition(lambda: write.sortBy("id").parquet(path)) == "SORT_BY_WITHOUT_BUCKETING"
    write = spark.range(1).write.mode("overwrite")
    assert condition(lambda: write.bucketBy(2, "nope").saveAsTable("no_buckets")) == "COLUMN_NOT_DEFINED_IN_TABLE"
