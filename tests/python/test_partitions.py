"""Values of partitions in statements."""

import datetime
from decimal import Decimal

import pytest
from pyspark.errors import AnalysisException, PySparkException


@pytest.fixture
def table(spark):
    spark.sql("DROP TABLE IF EXISTS kinds_of_partitions")
    spark.sql(
        "CREATE TABLE kinds_of_partitions (a INT, d DATE, t TIMESTAMP, s STRING, n DECIMAL(5, 2), b BOOLEAN, i INT)"
        " USING parquet PARTITIONED BY (d, t, s, n, b, i)"
    )
    yield "kinds_of_partitions"
    spark.sql("DROP TABLE kinds_of_partitions")


def rows(spark, text):
    return [tuple(row) for row in spark.sql(text).collect()]


def test_a_value_is_its_text_in_the_column_s_type(spark, table):
    rest = "t='2024-01-02 03:04:05', s='x y/z', n='1.5', b='true', i='07'"
    spark.sql(f"INSERT INTO {table} PARTITION (d='2024-01-02', {rest}) VALUES (1)")
    typed = "t=TIMESTAMP'2024-01-02 03:04:05.123', s=5, n=1.555, b=true, i=7"
    spark.sql(f"INSERT INTO {table} PARTITION (D=DATE'2024-01-03', {typed}) VALUES (2)")
    spark.sql(f"ALTER TABLE {table} ADD PARTITION (d='2024-02-01', {rest})")
    assert rows(spark, f"SHOW PARTITIONS {table}") == [
        ("d=2024-01-02/t=2024-01-02 03%3A04%3A05/s=x y%2Fz/n=1.50/b=true/i=7",),
        ("d=2024-01-03/t=2024-01-02 03%3A04%3A05.123/s=5/n=1.56/b=true/i=7",),
        ("d=2024-02-01/t=2024-01-02 03%3A04%3A05/s=x y%2Fz/n=1.50/b=true/i=7",),
    ]
    moment = datetime.datetime(2024, 1, 2, 3, 4, 5)
    assert rows(spark, f"SELECT * FROM {table} WHERE a = 1") == [
        (1, datetime.date(2024, 1, 2), moment, "x y/z", Decimal("1.50"), True, 7)
    ]
    spark.sql(f"INSERT OVERWRITE {table} PARTITION (d='2024-01-02', t, s, n, b, i) SELECT 9, NULL, 'q', 1, false, 1")
    assert rows(spark, f"SELECT a, t, s FROM {table} ORDER BY a") == [
        (2, moment.replace(microsecond=123000), "5"),
        (9, None, "q"),
    ]
    spark.sql(f"ALTER TABLE {table} DROP PARTITION (d='2024-01-03')")
    assert rows(spark, f"SELECT a FROM {table}") == [(9,)]


def test_values_that_are_none_of_the_column_s_type(spark, table):
    for value in ("d='bad'", "d=DATE'2024-01-01', i=1.7"):
        rest = ", ".join(f"{name}=NULL" for name in "tsnbi" if f"{name}=" not in value)
        with pytest.raises(PySparkException) as raised:
            spark.sql(f"INSERT INTO {table} PARTITION ({value}, {rest}) VALUES (1)")
        assert raised.value.getCondition() == "CAST_INVALID_INPUT"
    with pytest.raises(AnalysisException) as raised:
        spark.sql(f"INSERT INTO {table} PARTITION (d=DATE'2024-01-01', t=NULL, s='', n=1, b=true, i=1) VALUES (1)")
    assert raised.value.getCondition() == "_LEGACY_ERROR_TEMP_1076"


def test_columns_of_files_take_null_and_come_last(spark):
    spark.sql("DROP TABLE IF EXISTS promises")
    spark.sql("CREATE TABLE promises (a INT NOT NULL, b STRING NOT NULL, c DATE) USING parquet PARTITIONED BY (c)")
    spark.sql("INSERT INTO promises (a, c) VALUES (1, DATE'2024-01-01')")
    spark.sql("INSERT INTO promises VALUES (2, NULL, DATE'2024-01-01')")
    assert rows(spark, "SELECT a, b FROM promises ORDER BY a") == [(1, None), (2, None)]
    assert [column.nullable for column in spark.catalog.listColumns("promises")] == [True, True, True]
    spark.sql("ALTER TABLE promises ADD COLUMN (d INT AFTER a)")
    spark.sql("ALTER TABLE promises ADD COLUMNS (e INT FIRST)")
    assert spark.table("promises").columns == ["a", "b", "d", "e", "c"]
    with pytest.raises(AnalysisException) as raised:
        spark.sql("ALTER TABLE promises ADD COLUMNS (f INT NOT NULL)")
    assert raised.value.getCondition() == "_LEGACY_ERROR_TEMP_1052"
    spark.sql("DROP TABLE promises")


def test_partitions_that_were_there_before_the_table_are_told_of(spark, tmp_path):
    path = str(tmp_path / "known")
    spark.sql("SELECT 1 AS a, 5 AS p UNION ALL SELECT 2, 6 UNION ALL SELECT 3, 7").write.partitionBy("p").parquet(path)
    spark.sql("DROP TABLE IF EXISTS told")
    spark.sql(f"CREATE TABLE told (a INT, p INT) USING parquet PARTITIONED BY (p) LOCATION '{path}'")
    query = "SELECT a, p FROM told ORDER BY a"
    assert rows(spark, query) == []
    assert rows(spark, "SHOW PARTITIONS told") == []
    spark.sql("ALTER TABLE told ADD PARTITION (p = 6)")
    assert rows(spark, query) == [(2, 6)]
    spark.sql("INSERT INTO told VALUES (4, 5)")
    assert rows(spark, query) == [(1, 5), (2, 6), (4, 5)]
    spark.sql("MSCK REPAIR TABLE told DROP PARTITIONS")
    assert rows(spark, "SHOW PARTITIONS told") == [("p=5",), ("p=6",)]
    spark.catalog.recoverPartitions("told")
    assert rows(spark, query) == [(1, 5), (2, 6), (3, 7), (4, 5)]
    spark.sql("DROP TABLE told")
