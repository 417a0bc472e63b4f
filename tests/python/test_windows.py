"""Window functions over aggregates."""

import pytest
from pyspark.errors import AnalysisException

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


@pytest.mark.parametrize(
    "query, condition",
    [
        ("select * from v where sum(x) over () > 1", "WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE"),
        ("select k from v group by k having sum(k) over () > 1", "WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE"),
        ("select 1 from v group by row_number() over (order by x)", "UNSUPPORTED_EXPR_FOR_OPERATOR"),
        (
            "select a.k from v a join v b on row_number() over (order by a.k) = b.k",
            "UNSUPPORTED_EXPR_FOR_OPERATOR",
        ),
        ("select count(distinct x) over () from v", "DISTINCT_WINDOW_FUNCTION_UNSUPPORTED"),
        ("select row_number() over () from v", "WINDOW_FUNCTION_FRAME_NOT_ORDERED"),
        ("select lag(x) over (partition by k) from v", "WINDOW_FUNCTION_FRAME_NOT_ORDERED"),
        ("select sum(sum(sum(x))) over () from v", "NESTED_AGGREGATE_FUNCTION"),
        ("select count(*) filter (where sum(x) > 20) over () from v", "INVALID_AGGREGATE_FILTER.CONTAINS_AGGREGATE"),
        (
            "select sum(x) over (order by k rows between 1 following and 1 preceding) from v",
            "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON",
        ),
        (
            "select sum(x) over (order by k rows between current row and unbounded preceding) from v",
            "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_INVALID_BOUND",
        ),
    ],
)
def test_windows_stand_only_where_they_can_be_computed(spark, query, condition):
    with pytest.raises(AnalysisException) as error:
        spark.sql(ROWS + query).collect()
    assert error.value.getCondition() == condition


def test_lists_over_empty_frames(spark):
    frame = "over (order by id rows between 5 preceding and 3 preceding)"
    query = f"select collect_list(1) {frame} a, collect_set(id) {frame} b, array_agg('a') {frame} c from range(3)"
    assert [tuple(row) for row in spark.sql(query).collect()] == [([], [], [])] * 3


def test_the_frame_of_an_offset_function_is_its_offset(spark):
    query = "select lag(x, 2) over (order by x), lead(x, -1) over (order by x) from v"
    assert spark.sql(ROWS + query).columns == [
        "lag(x, 2, NULL) OVER (ORDER BY x ASC NULLS FIRST ROWS BETWEEN -2 FOLLOWING AND -2 FOLLOWING)",
        "lead(x, -1, NULL) OVER (ORDER BY x ASC NULLS FIRST ROWS BETWEEN -1 FOLLOWING AND -1 FOLLOWING)",
    ]


def test_offsets_over_nulls_by_an_argument(spark):
    rows = spark.sql(
        "SELECT lag(v, 1, 0, true) OVER w, lag(v, 1, 0, true) RESPECT NULLS OVER w, lead(v, 1, NULL, false) OVER w, "
        "nth_value(v, 1, true) RESPECT NULLS OVER w, lag() OVER w "
        "FROM VALUES (1, NULL), (2, 5), (3, NULL), (4, 7) AS t(id, v) WINDOW w AS (ORDER BY id) ORDER BY id"
    )
    assert [tuple(row) for row in rows.collect()] == [
        (0, 0, 5, None, None),
        (0, None, None, None, None),
        (5, 5, 7, None, None),
        (5, None, None, None, None),
    ]
    with pytest.raises(AnalysisException) as caught:
        spark.sql("SELECT lead(v, 1, NULL, 1) OVER (ORDER BY v) FROM VALUES (1) AS t(v)").collect()
    assert caught.value.getCondition() == "INVALID_PARAMETER_VALUE.BOOLEAN"
    assert caught.value.getMessageParameters()["invalidValue"] == '"1"'
