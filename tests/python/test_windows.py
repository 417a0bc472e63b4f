"""Window functions over aggregates."""

import pytest

ROWS = "with v as (select * from values (1,10),(1,20),(2,5) t(k,x)) "


@pytest.mark.parametrize(
    "query, expected",
    [
        ("select k, sum(sum(x)) over () from v group by k order by k", [(1, 35), (2, 35)]),
        ("select k, avg(sum(x)) over (order by k) from v group by k order by k", [(1, 30.0), (2, 17.5)]),
        (
            "select k, sum(x) * 100 / sum(sum(x)) over (partition by k + 0) from v group by k order by k",
            [(1, 100.0), (2, 100.0)],
        ),
        ("select sum(count(*)) over () from v", [(3,)]),
        ("select k, sum(sum(x)) over () from v group by rollup(k) order by k", [(None, 70), (1, 70), (2, 70)]),
    ],
)
def test_an_aggregate_in_a_window_function_belongs_to_the_groups(spark, query, expected):
    assert [tuple(row) for row in spark.sql(ROWS + query).collect()] == expected
