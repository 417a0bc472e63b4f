"""Tables and frames without a file: every operator takes them."""

import pytest

QUERIES = [
    ("SELECT a, count(*) FROM empty GROUP BY a", []),
    ("SELECT count(*), sum(a) FROM empty", [(0, None)]),
    ("SELECT DISTINCT a FROM empty", []),
    ("SELECT a FROM empty ORDER BY a LIMIT 3", []),
    ("SELECT x.a FROM empty x JOIN empty y ON x.a = y.a", []),
    ("SELECT r.id, e.a FROM range(1) r LEFT JOIN empty e ON r.id = e.a", [(0, None)]),
    ("SELECT a, row_number() OVER (PARTITION BY a ORDER BY b) FROM empty", []),
    ("SELECT a FROM empty UNION SELECT 1", [(1,)]),
]


def answers(spark):
    return [[tuple(row) for row in spark.sql(text).collect()] for text, _ in QUERIES]


@pytest.mark.parametrize("format", ["parquet", "csv", "json"])
def test_a_table_without_files(spark, format):
    spark.sql("DROP TABLE IF EXISTS empty")
    spark.sql(f"CREATE TABLE empty (a INT, b STRING) USING {format}")
    try:
        expected = [rows for _, rows in QUERIES]
        assert answers(spark) == expected
        spark.sql("INSERT INTO empty VALUES (1, 'x')")
        assert spark.table("empty").count() == 1
        spark.sql("TRUNCATE TABLE empty")
        assert answers(spark) == expected
    finally:
        spark.sql("DROP TABLE empty")


def test_no_partition_is_left(spark, tmp_path):
    path = f"{tmp_path}/t"
    spark.range(10).selectExpr("id", "id % 2 AS p").write.partitionBy("p").parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("parted")
    assert spark.sql("SELECT p, count(*) FROM parted WHERE p = 7 GROUP BY p").collect() == []
    assert spark.sql("SELECT max(id) FROM parted WHERE p > 7").first()[0] is None
    spark.catalog.dropTempView("parted")


def test_kept_rows_that_are_none(spark):
    kept = spark.range(10).filter("id > 10").localCheckpoint()
    assert kept.groupBy("id").count().collect() == []
    assert kept.join(kept, "id").orderBy("id").collect() == []
