"""Recursive queries."""

import pytest

STEPS = {
    "both branches of a union": ("SELECT n + 1 FROM t WHERE n < 3 UNION ALL SELECT n + 1 FROM t WHERE n < 3", [1, 2, 2, 3, 3, 3, 3]),
    "both sides of a join": ("SELECT a.n + 1 FROM t AS a JOIN t AS b ON a.n = b.n WHERE a.n < 3", [1, 2, 3]),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_step_may_read_the_rows_before_it_more_than_once(spark, step):
    query, expected = STEPS[step]
    rows = spark.sql(f"WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL ({query})) SELECT n FROM t ORDER BY n").collect()
    assert [row.n for row in rows] == expected
