"""`spark.sql.legacy.timeParserPolicy`: dates and times read as before Spark 3."""

import datetime

import pytest
from pyspark.errors import SparkUpgradeException

POLICY = "spark.sql.legacy.timeParserPolicy"


@pytest.fixture
def policy(spark):
    def set_to(value):
        spark.conf.set(POLICY, value)

    yield set_to
    spark.conf.unset(POLICY)


def test_legacy_patterns_are_those_of_simple_date_format(spark, policy):
    policy("LEGACY")
    for text, pattern, expected in [
        ("26/October/2015", "dd/MMMMM/yyyy", datetime.date(2015, 10, 26)),
        ("22 05 2020 Friday", "dd MM yyyy EEEEE", datetime.date(2020, 5, 22)),
        ("2020-1-2 and more", "yyyy-MM-dd", datetime.date(2020, 1, 2)),
        ("99", "yy", datetime.date(1999, 1, 1)),
    ]:
        assert spark.sql(f"SELECT to_date('{text}', '{pattern}')").first()[0] == expected
    assert spark.sql("SELECT try_to_timestamp('2019-10-06 10:11', 'yyyy-MM-dd HH:mm[:ss]')").first()[0] is None
    row = spark.sql("""SELECT from_json('{"d":"26/October/2015"}', 'd DATE', map('dateFormat', 'dd/MMMMM/yyyy')).d""")
    assert row.first()[0] == datetime.date(2015, 10, 26)


def test_legacy_patterns_print_as_simple_date_format(spark, policy):
    policy("LEGACY")
    printed = spark.sql("SELECT date_format(TIMESTAMP '2020-05-22 10:11:12.123', 'MMMMM EEEEE u [SSSSSS]')").first()[0]
    assert printed == "May Friday 5 [000123]"


def test_texts_that_both_ways_read_differently_are_an_error(spark, policy):
    policy("EXCEPTION")
    with pytest.raises(SparkUpgradeException):
        spark.sql("SELECT to_date('2020-1-1', 'yyyy-MM-dd')").collect()
