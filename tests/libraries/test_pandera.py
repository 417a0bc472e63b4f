"""pandera validates frames against schemas: types, checks, and the report of errors."""

import decimal
import json

import pandera.pyspark as pa
import pyspark.sql.types as T
import pytest
from pandera.errors import SchemaError


class Product(pa.DataFrameModel):
    """Rows of the shop's catalogue."""

    id: T.IntegerType() = pa.Field(gt=5)
    name: T.StringType() = pa.Field(str_startswith="B", nullable=False)
    price: T.DecimalType(20, 5) = pa.Field()
    tags: T.ArrayType(T.StringType()) = pa.Field()
    notes: T.MapType(T.StringType(), T.StringType()) = pa.Field()


SCHEMA = T.StructType(
    [
        T.StructField("id", T.IntegerType(), False),
        T.StructField("name", T.StringType(), False),
        T.StructField("price", T.DecimalType(20, 5), False),
        T.StructField("tags", T.ArrayType(T.StringType(), True), True),
        T.StructField("notes", T.MapType(T.StringType(), T.StringType()), True),
    ]
)
GOOD = (23, "Bread", decimal.Decimal("44.4"), ["food"], {"category": "bakery"})
BAD = (1, "Butter", decimal.Decimal("99.0"), ["rich"], {"category": "dairy"})


def errors_of(frame):
    return json.loads(json.dumps(frame.pandera.errors, default=str))


def test_good_rows_have_no_errors(spark):
    checked = Product.validate(check_obj=spark.createDataFrame([GOOD], SCHEMA))
    assert errors_of(checked) == {}
    assert checked.count() == 1


def test_checks_that_fail_are_reported(spark):
    checked = Product.validate(check_obj=spark.createDataFrame([GOOD, BAD], SCHEMA))
    (entry,) = errors_of(checked)["DATA"]["DATAFRAME_CHECK"]
    assert (entry["column"], entry["check"]) == ("id", "greater_than(5)")
    assert entry["error"] == "<Schema Column(name=id, type=DataType(IntegerType()))> failed validation greater_than(5)"


def test_types_and_columns_that_are_wrong(spark):
    frame = spark.createDataFrame([(7, 1.5)], "id BIGINT, name DOUBLE")
    errors = errors_of(Product.validate(check_obj=frame))
    assert [entry["column"] for entry in errors["SCHEMA"]["COLUMN_NOT_IN_DATAFRAME"]] == ["price", "tags", "notes"]
    wrong = {entry["column"]: entry["error"] for entry in errors["SCHEMA"]["WRONG_DATATYPE"]}
    assert wrong["id"] == "expected column 'id' to have type IntegerType(), got LongType()"
    assert wrong["name"] == "expected column 'name' to have type StringType(), got DoubleType()"


def test_nulls_and_duplicates(spark):
    class Keys(pa.DataFrameModel):
        k: T.IntegerType() = pa.Field(nullable=False)
        v: T.StringType() = pa.Field(nullable=True)

        class Config:
            unique = "k"

    frame = spark.createDataFrame([(1, "a"), (1, None), (None, "c")], "k INT, v STRING")
    errors = errors_of(Keys.validate(check_obj=frame))
    assert errors["SCHEMA"]["SERIES_CONTAINS_NULLS"][0]["column"] == "k"
    assert "duplicate" in str(errors["DATA"]["DUPLICATES"][0]["error"]).lower()


def test_schema_objects_and_built_in_checks(spark):
    schema = pa.DataFrameSchema(
        {
            "n": pa.Column("int", pa.Check.in_range(0, 10)),
            "s": pa.Column("string", [pa.Check.isin(["a", "b"]), pa.Check.str_contains("a")]),
            "d": pa.Column("date"),
        }
    )
    frame = spark.sql("SELECT * FROM VALUES (1, 'a', DATE'2024-01-01'), (11, 'b', NULL) AS t(n, s, d)")
    errors = errors_of(schema.validate(frame))
    failed = sorted((entry["column"], entry["check"]) for entry in errors["DATA"]["DATAFRAME_CHECK"])
    assert failed == [("n", "in_range(0, 10)"), ("s", "str_contains('a')")]


def test_errors_can_be_raised(spark):
    with pytest.raises(SchemaError):
        pa.DataFrameSchema({"n": pa.Column("int", pa.Check.gt(5))}).validate(spark.range(1).selectExpr("int(id) n"), lazy=False)
