"""Literals of the client."""

from decimal import Decimal

from pyspark.sql import functions as F


def test_decimals_keep_their_scale(spark):
    frame = spark.range(1).select(F.lit(Decimal("1.10")), F.lit(Decimal("-0.001")), F.lit(Decimal("1E+3")))
    assert [kind for _, kind in frame.dtypes] == ["decimal(10,2)", "decimal(10,3)", "decimal(10,0)"]
    assert tuple(frame.first()) == (Decimal("1.10"), Decimal("-0.001"), Decimal("1000"))


def test_a_decimal_beside_a_column(spark):
    assert [r.id for r in spark.range(3).filter(F.col("id") > Decimal("0.5")).collect()] == [1, 2]
