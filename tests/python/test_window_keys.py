"""Windows over keys of all types, and aggregates with an order of their own over windows."""

import pytest
from pyspark.errors import AnalysisException


@pytest.mark.parametrize(
    "values",
    [
        "(x'00'), (x'01')",
        "(INTERVAL 1 DAY), (INTERVAL 2 DAY)",
        "(INTERVAL 1 YEAR), (INTERVAL 2 YEAR)",
        "('a' COLLATE UNICODE), ('b')",
        "(true), (false)",
        "(array(1)), (array(2))",
    ],
)
def test_running_windows_take_keys_of_every_type(spark, values):
    counts = spark.sql(f"SELECT count(*) OVER (ORDER BY k) AS n FROM VALUES {values} t(k) ORDER BY n").collect()
    assert [row.n for row in counts] == [1, 2]


def test_peers_of_binary_keys_are_counted_together(spark):
    query = "SELECT count(*) OVER (ORDER BY k) AS n FROM VALUES (x'00'), (x'01'), (x'01') t(k) ORDER BY n"
    assert [row.n for row in spark.sql(query).collect()] == [1, 3, 3]


def test_bounds_of_frames_may_be_texts(spark):
    query = "SELECT count(*) OVER (ORDER BY k RANGE BETWEEN 'inf' PRECEDING AND '1' FOLLOWING) AS n FROM VALUES (1D), (2D), (9D) t(k) ORDER BY n"
    assert [row.n for row in spark.sql(query).collect()] == [2, 2, 3]


@pytest.mark.parametrize(
    "call",
    ["listagg(a) WITHIN GROUP (ORDER BY a)", "median(a)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY a)"],
)
@pytest.mark.parametrize("window", ["ORDER BY a", "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"])
def test_aggregates_with_an_order_of_their_own_take_no_ordered_windows(spark, call, window):
    with pytest.raises(AnalysisException) as error:
        spark.sql(f"SELECT {call} OVER ({window}) FROM VALUES (1), (2) t(a)").collect()
    assert error.value.getCondition() == "INVALID_WINDOW_SPEC_FOR_AGGREGATION_FUNC"


def test_names_within_expressions_show_in_their_texts(spark):
    from pyspark.sql import functions as F

    frame = spark.range(1).select((F.col("id").alias("x") + 1), F.array(F.col("id").alias("a b")))
    assert frame.columns == ["(id AS x + 1)", "array(id AS `a b`)"]


def test_correlated_values_are_grouped_by_what_the_outer_row_fixes(spark):
    spark.sql("CREATE OR REPLACE TEMP VIEW outer_x AS SELECT * FROM VALUES (1, 1), (2, 2) x(x1, x2)")
    spark.sql("CREATE OR REPLACE TEMP VIEW inner_y AS SELECT * FROM VALUES (1, 1), (2, 3) y(y1, y2)")
    fixed = "SELECT x1, (SELECT count(*) FROM inner_y WHERE y1 = x1 GROUP BY y1) AS n FROM outer_x ORDER BY x1"
    assert [tuple(row) for row in spark.sql(fixed).collect()] == [(1, 1), (2, 1)]
