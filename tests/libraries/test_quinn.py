"""quinn's helpers: columns, transformations, validation, frames to Python values."""

import datetime
import uuid

import pytest
import quinn
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StringType, StructField, StructType
from quinn.transformations import flatten_dataframe


@pytest.fixture
def people(spark):
    data = [("jose", "  oak \t street ", 1), ("li", "elm  road", 2), ("luisa", None, None)]
    return spark.createDataFrame(data, "name STRING, street STRING, n INT")


def values(frame, column):
    return [row[0] for row in frame.select(column).collect()]


def test_texts(people):
    assert values(people, quinn.single_space(F.col("street"))) == ["oak \t street", "elm road", None]
    assert values(people, quinn.remove_all_whitespace(F.col("street"))) == ["oakstreet", "elmroad", None]
    assert values(people, quinn.anti_trim(F.col("street"))) == ["  oakstreet ", "elmroad", None]
    assert values(people, quinn.remove_non_word_characters(F.lit("a!b c?"))) == ["ab c"] * 3
    assert values(people, quinn.uuid5(F.lit("jose")))[0] == str(uuid.uuid5(uuid.NAMESPACE_DNS, "jose"))


def test_flags(people):
    assert values(people, quinn.is_null_or_blank(F.col("street"))) == [False, False, True]
    assert values(people, quinn.is_truthy(F.col("n") > 1)) == [False, True, False]
    assert values(people, quinn.is_not_in(F.col("name"), ["li"])) == [True, False, True]
    assert values(people, quinn.null_between(F.col("n"), F.lit(2), F.lit(None).cast("int"))) == [False, True, False]


def test_python_functions(spark):
    words = spark.createDataFrame([([1, 2, 3],), ([4],)], "a ARRAY<INT>")
    assert values(words, quinn.exists(lambda n: n > 3)(F.col("a"))) == [False, True]
    assert values(words, quinn.forall(lambda n: n > 3)(F.col("a"))) == [False, True]


def test_dates(spark):
    days = spark.sql("SELECT DATE'2024-02-29' AS day")
    assert values(days, quinn.week_start_date(F.col("day"), "Mon")) == [datetime.date(2024, 2, 26)]
    assert values(days, quinn.week_end_date(F.col("day"), "Sat")) == [datetime.date(2024, 3, 2)]
    span = spark.sql("SELECT DATE'2024-02-26' AS start_date, DATE'2024-03-04' AS end_date")
    assert values(span, quinn.business_days_between(F.col("start_date"), F.col("end_date"))) == [5]


def test_transformations(spark, people):
    frame = people.withColumnRenamed("name", "First Name").transform(quinn.snake_case_col_names)
    assert frame.columns == ["first_name", "street", "n"]
    assert quinn.sort_columns(people, "asc").columns == ["n", "name", "street"]
    assert people.transform(quinn.with_columns_renamed(str.upper)).columns == ["NAME", "STREET", "N"]
    split = quinn.split_col(people.filter("n > 1"), "street", " +", ["before", "after"])
    assert [tuple(row) for row in split.select("before", "after").collect()] == [("elm", "road")]
    nested = spark.sql("SELECT 1 AS id, struct(2 AS x, struct(3 AS y) AS s) AS t, map('k', 4) AS m")
    flat = flatten_dataframe(nested)
    assert sorted(flat.columns) == ["id", "m:k", "t:s:y", "t:x"]
    assert sorted(map(str, flat.first())) == ["1", "2", "3", "4"]


def test_validation(people):
    quinn.validate_presence_of_columns(people, ["name", "street"])
    with pytest.raises(quinn.DataFrameMissingColumnError, match="cool"):
        quinn.validate_presence_of_columns(people, ["name", "cool"])
    quinn.validate_schema(people, StructType([StructField("name", StringType()), StructField("n", IntegerType())]))
    with pytest.raises(quinn.DataFrameMissingStructFieldError):
        quinn.validate_schema(people, StructType([StructField("n", StringType())]))
    with pytest.raises(quinn.DataFrameProhibitedColumnError):
        quinn.validate_absence_of_columns(people, ["n"])


def test_frames_to_python(spark, people):
    assert quinn.column_to_list(people, "name") == ["jose", "li", "luisa"]
    assert quinn.two_columns_to_dictionary(people, "name", "n") == {"jose": 1, "li": 2, "luisa": None}
    assert quinn.to_list_of_dictionaries(people.select("n")) == [{"n": 1}, {"n": 2}, {"n": None}]
    made = quinn.create_df(spark, [("jose", 1)], [("name", StringType(), True), ("n", IntegerType(), False)])
    assert quinn.append_if_schema_identical(made, people.select("name", "n")).count() == 4
