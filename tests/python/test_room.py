"""Calls that ask for more memory than the process has fail alone."""

import pytest
from pyspark.errors import PySparkException


@pytest.mark.parametrize(
    "call",
    [
        "size(sequence(1, 2147483632))",
        "size(array_repeat(1, 2147483632))",
        "size(array_insert(array(1), 2000000000, 1))",
        "length(format_number(1.0, 2000000000))",
        "length(lpad('x', 2147483647, 'y'))",
        "length(count_min_sketch(1, 0.0000000001D, 0.9999999999D, 1))",
    ],
)
def test_calls_beyond_the_memory_fail_alone(spark, call):
    with pytest.raises(PySparkException):
        spark.sql(f"SELECT {call}").collect()
    assert spark.range(3).count() == 3
