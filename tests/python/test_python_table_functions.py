"""Table functions in Python that say themselves which rows they make."""

import sys

import pytest
from pyspark import cloudpickle
from pyspark.errors import AnalysisException
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.functions import OrderingColumn, PartitioningColumn, SelectedColumn, udtf
from pyspark.sql.types import IntegerType, StringType, StructType
from pyspark.sql.udtf import AnalyzeResult

from python_server import python_server, spark  # noqa: F401

# Workers do not have this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

ROWS = "TABLE(VALUES ('a', 1), ('b', 5), ('a', 3) AS t(k, v))"


class Same:
    @staticmethod
    def analyze(a):
        return AnalyzeResult(StructType().add("a", a.dataType))

    def eval(self, a):
        yield (a,)


def test_rows_are_of_the_argument_s_type(spark):
    same = udtf(Same)
    assert same(F.lit("x")).collect() == [Row(a="x")]
    spark.udtf.register("same", same)
    frame = spark.sql("SELECT * FROM same(array(1, 2))")
    assert frame.schema.simpleString() == "struct<a:array<int>>"
    assert frame.collect() == [Row(a=[1, 2])]
    assert spark.sql("SELECT * FROM VALUES (1), (2) t(x), LATERAL same(x)").collect() == [Row(x=1, a=1), Row(x=2, a=2)]


def test_analysis_sees_types_values_and_names(spark):
    @udtf
    class Shown:
        @staticmethod
        def analyze(*args, **kwargs):
            shown = [(a.dataType.simpleString(), a.value, a.isTable, a.isConstantExpression) for a in args]
            named = {name: a.value for name, a in sorted(kwargs.items())}
            return AnalyzeResult(StructType().add(f"{shown}{named}", StringType()))

        def eval(self, *args, **kwargs):
            yield ("",)

    spark.udtf.register("shown", Shown)

    def columns(arguments):
        return spark.sql(f"SELECT * FROM shown({arguments})").columns[0]

    assert columns("1 + 1, 'a', rand(0)") == (
        "[('int', 2, False, True), ('string', 'a', False, True), ('double', None, False, False)]{}"
    )
    assert columns("x => date'2020-01-01', y => named_struct('a', array(1))") == (
        "[]{'x': datetime.date(2020, 1, 1), 'y': Row(a=[1])}"
    )
    assert columns("TABLE(SELECT 1 AS a, 'x' AS b), 5") == (
        "[('struct<a:int,b:string>', None, True, False), ('int', 5, False, True)]{}"
    )


def listing(spark, name, **result):
    """A function that lists the rows of each of its partitions."""

    class Listing:
        def __init__(self, analysis=None):
            self.rows = []

        def eval(self, row):
            self.rows.append(row.asDict())

        def terminate(self):
            yield (str(self.rows),)

    Listing.analyze = staticmethod(lambda rows: AnalyzeResult(StructType().add("s", StringType()), **result))
    spark.udtf.register(name, udtf(Listing))
    return lambda clause="": [r.s for r in spark.sql(f"SELECT * FROM {name}({ROWS} {clause})").collect()]


def test_functions_ask_for_partitions_order_and_columns(spark):
    by_key = listing(spark, "by_key", partitionBy=[PartitioningColumn("k")], orderBy=[OrderingColumn("v", False)])
    assert by_key() == ["[{'k': 'a', 'v': 3}, {'k': 'a', 'v': 1}]", "[{'k': 'b', 'v': 5}]"]
    single = listing(spark, "single", withSinglePartition=True, select=[SelectedColumn("v + 1", "w")])
    assert single() == ["[{'w': 2}, {'w': 6}, {'w': 4}]"]
    chosen = listing(spark, "chosen", select=[SelectedColumn("v")])
    assert chosen("PARTITION BY k") == ["[{'v': 1}, {'v': 3}]", "[{'v': 5}]"]


def test_what_makes_no_sense_is_refused(spark):
    def condition(call):
        with pytest.raises(AnalysisException) as caught:
            call()
        return caught.value.getCondition()

    both = listing(spark, "both", withSinglePartition=True, partitionBy=[PartitioningColumn("k")])
    assert condition(both) == "TABLE_VALUED_FUNCTION_REQUIRED_METADATA_INVALID"
    order = listing(spark, "ordered", orderBy=[OrderingColumn("v")])
    assert condition(order) == "TABLE_VALUED_FUNCTION_REQUIRED_METADATA_INVALID"
    by_key = listing(spark, "by_key", partitionBy=[PartitioningColumn("k")])
    twice = "TABLE_VALUED_FUNCTION_REQUIRED_METADATA_INCOMPATIBLE_WITH_CALL"
    assert condition(lambda: by_key("PARTITION BY v")) == twice
    nameless = listing(spark, "nameless", select=[SelectedColumn("v + 1")])
    needs_name = "UDTF_INVALID_REQUESTED_SELECTED_EXPRESSION_FROM_ANALYZE_METHOD_REQUIRES_ALIAS"
    assert condition(nameless) == needs_name


def test_errors_of_analysis_come_with_their_text(spark):
    @udtf
    class Failing:
        @staticmethod
        def analyze(a):
            raise ValueError("not today")

        def eval(self, a):
            yield (a,)

    with pytest.raises(AnalysisException, match="not today") as caught:
        Failing(F.lit(1)).collect()
    assert caught.value.getCondition() == "TABLE_VALUED_FUNCTION_FAILED_TO_ANALYZE_IN_PYTHON"
    with pytest.raises(AnalysisException, match="too many positional arguments"):
        udtf(Same)(F.lit(1), F.lit(2)).collect()


def test_several_tables_are_paired(spark):
    @udtf(returnType="a string, b string")
    class Pairs:
        def eval(self, left, right):
            yield left["k"], right["k"]

    spark.udtf.register("pairs", Pairs)
    query = f"SELECT * FROM pairs({ROWS}, TABLE(VALUES ('x') AS t(k)))"
    with pytest.raises(AnalysisException) as caught:
        spark.sql(query).collect()
    assert caught.value.getCondition() == "TABLE_VALUED_FUNCTION_TOO_MANY_TABLE_ARGUMENTS"
    spark.conf.set("spark.sql.tvf.allowMultipleTableArguments.enabled", "true")
    assert [tuple(r) for r in spark.sql(query).collect()] == [("a", "x"), ("b", "x"), ("a", "x")]


def test_outer_lateral_joins_keep_rows_without_results(spark):
    class Large:
        def eval(self, a):
            if a > 1:
                yield (a,)

    for arrow in (True, False):
        spark.udtf.register("large", udtf(Large, returnType="a int", useArrow=arrow))
        rows = spark.sql("SELECT * FROM VALUES (1), (2) t(x) LEFT JOIN LATERAL large(x) ON true").collect()
        assert rows == [Row(x=1, a=None), Row(x=2, a=2)]
    rows = spark.sql("SELECT * FROM VALUES (1), (2) t(x) JOIN LATERAL large(x) e ON e.a = 2").collect()
    assert rows == [Row(x=2, a=2)]


def test_columns_are_nullable_as_declared(spark):
    class Once:
        def eval(self, a):
            yield (a,)

    function = udtf(Once, returnType=StructType().add("a", IntegerType(), False))
    assert not function(F.lit(1)).schema["a"].nullable
