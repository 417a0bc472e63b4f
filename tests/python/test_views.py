"""Views mean what they meant when they were made."""

import datetime
from decimal import Decimal

import pytest
from pyspark.errors import NumberFormatException, PySparkException


def rows(spark, text, **arguments):
    return [tuple(row) for row in spark.sql(text, **arguments).collect()]


@pytest.fixture
def database(spark):
    spark.sql("DROP DATABASE IF EXISTS views CASCADE")
    spark.sql("CREATE DATABASE views")
    spark.sql("USE views")
    yield spark
    spark.sql("DROP DATABASE views CASCADE")


def test_settings_are_those_of_the_view(database):
    spark = database
    spark.conf.set("spark.sql.ansi.enabled", "false")
    spark.sql("CREATE VIEW lenient AS SELECT CAST('x' AS INT) AS a, 1 / 0 AS b")
    spark.sql("CREATE TEMPORARY VIEW t AS SELECT CAST('x' AS INT) AS a")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    assert rows(spark, "SELECT * FROM lenient") == [(None, None)]
    assert rows(spark, "SELECT * FROM t") == [(None,)]
    spark.sql("CREATE VIEW strict AS SELECT CAST('x' AS INT) AS a")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    spark.sql("CREATE VIEW outer_view AS SELECT * FROM strict")
    for view in ("strict", "outer_view"):
        with pytest.raises(NumberFormatException) as raised:
            spark.sql(f"SELECT a FROM {view}").collect()
        assert raised.value.getCondition() == "CAST_INVALID_INPUT"
        assert "== SQL of VIEW spark_catalog.views.strict (line 1, position 8) ==" in str(raised.value)


def test_zones_are_those_of_the_view(database):
    spark = database
    spark.sql("CREATE VIEW zones AS SELECT CAST(TIMESTAMP'2024-01-01 00:00:00Z' AS STRING) AS a, current_timezone() AS z")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    assert rows(spark, "SELECT a, z FROM zones") == [("2024-01-01 00:00:00", "America/New_York")]


def test_parameters_stand_in_the_view_s_text(database):
    spark = database
    spark.sql("CREATE VIEW named AS SELECT :x AS a, 'b' AS b", args={"x": 1})
    spark.sql("CREATE VIEW positions AS SELECT ? AS a, ? AS c", args=[1, "x'y"])
    spark.sql(
        "CREATE VIEW kinds AS SELECT :a AS q, :b AS r, :d AS n",
        args={"a": datetime.date(2020, 1, 1), "b": Decimal("1.50"), "d": None},
    )
    spark.sql("EXECUTE IMMEDIATE 'CREATE VIEW immediate AS SELECT ? AS a' USING 3")
    texts = {
        "named": "SELECT 1 AS a, 'b' AS b",
        "positions": r"SELECT 1 AS a, 'x\'y' AS c",
        "kinds": "SELECT DATE '2020-01-01' AS q, 1.50BD AS r, NULL AS n",
        "immediate": "SELECT 3 AS a",
    }
    for view, text in texts.items():
        [(created,)] = rows(spark, f"SHOW CREATE TABLE {view}")
        assert created.endswith(f"\nAS {text}\n"), created
    assert rows(spark, "SELECT * FROM positions") == [(1, "x'y")]
    assert rows(spark, "SELECT * FROM kinds") == [(datetime.date(2020, 1, 1), Decimal("1.50"), None)]


def test_variables_cannot_stand_in_a_stored_view(database):
    database.sql("DECLARE VARIABLE number INT DEFAULT 5")
    with pytest.raises(PySparkException) as raised:
        database.sql("CREATE VIEW v AS SELECT number AS q")
    assert raised.value.getCondition() == "INVALID_TEMP_OBJ_REFERENCE"
