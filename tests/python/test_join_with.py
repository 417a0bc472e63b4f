"""joinWith, which clients in Scala send: pairs of rows."""

import pytest
from pyspark.errors import AnalysisException


def pairs(spark, left, right, how, right_struct):
    frame = left.join(right, left.i == right.k, how)
    plan = frame._plan.to_proto(spark.client)
    kind = plan.root.join.join_data_type
    kind.is_left_struct, kind.is_right_struct = True, right_struct
    table, schema = spark.client.to_table(plan, {})[:2]
    return sorted(map(str, table.to_pylist())), [field.nullable for field in schema.fields]


def test_sides_come_out_as_columns(spark):
    left = spark.createDataFrame([(1, "x"), (2, "y")], ["i", "n"])
    right = spark.createDataFrame([(1,), (1,), (3,)], ["k"])
    row = {"i": 1, "n": "x"}
    both = str({"_1": row, "_2": 1})
    assert pairs(spark, left, right, "inner", False) == ([both, both], [False, True])
    assert pairs(spark, left, right, "outer", True) == (
        sorted(map(str, [
            {"_1": row, "_2": {"k": 1}},
            {"_1": row, "_2": {"k": 1}},
            {"_1": {"i": 2, "n": "y"}, "_2": None},
            {"_1": None, "_2": {"k": 3}},
        ])),
        [True, True],
    )
    with pytest.raises(AnalysisException) as raised:
        pairs(spark, left, right, "semi", True)
    assert raised.value.getCondition() == "INVALID_JOIN_TYPE_FOR_JOINWITH"
