"""CHAR columns are padded when read, and compared as if both sides were padded."""

import pytest


@pytest.fixture
def chars(spark):
    spark.sql("drop table if exists padded_chars")
    spark.sql("create table padded_chars (a char(5), b char(3), d string) using parquet")
    spark.sql("insert into padded_chars values ('ab', 'ab', 'ab')")
    yield spark
    spark.sql("drop table padded_chars")


@pytest.mark.parametrize(
    "condition, expected",
    [
        ("a = 'ab'", True),
        ("'ab' = a", True),
        ("a = 'ab     '", True),
        ("a <=> 'ab'", True),
        ("a <> 'ab'", False),
        ("a > 'ab'", False),
        ("a in ('ab', 'abcdefgh')", True),
        ("a not in ('ab', 'c')", False),
        ("a = b", True),
        ("a = d", False),
        ("a = concat('a', 'b')", True),
        ("a like 'ab'", False),
        ("case a when 'ab' then true else false end", True),
    ],
)
def test_comparisons(chars, condition, expected):
    assert chars.sql(f"select {condition} from padded_chars").first()[0] == expected


def test_a_column_under_another_name(chars):
    assert chars.sql("select 1 from (select a z from padded_chars) where z = 'ab'").count() == 1
    assert chars.sql("select 1 from padded_chars x join padded_chars y on x.a = y.b").count() == 1


def test_files_of_unpadded_values(spark, tmp_path):
    spark.sql("select 'ab' a").write.parquet(str(tmp_path / "files"))
    spark.sql("drop table if exists unpadded_chars")
    spark.sql(f"create table unpadded_chars (a char(5)) using parquet location '{tmp_path / 'files'}'")
    assert spark.sql("select length(a), a = 'ab' from unpadded_chars").first() == (5, True)
    spark.sql("drop table unpadded_chars")
