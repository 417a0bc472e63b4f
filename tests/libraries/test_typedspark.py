"""typedspark's frames with schemas, and sparkdantic's schemas of pydantic models."""

import datetime
from typing import Optional

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StringType
from sparkdantic import SparkModel
from typedspark import ArrayType, Column, DataSet, Schema, StructType, create_partially_filled_dataset, load_table
from typedspark import register_schema_to_dataset, transform_to_schema


class Address(Schema):
    street: Column[StringType]
    number: Column[IntegerType]


class Person(Schema):
    name: Column[StringType]
    age: Column[LongType]
    tags: Column[ArrayType[StringType]]
    address: Column[StructType[Address]]


class Adult(Schema):
    name: Column[StringType]
    label: Column[StringType]


@pytest.fixture
def people(spark):
    return create_partially_filled_dataset(
        spark, Person, {Person.name: ["Ann", "Bob"], Person.age: [30, 7], Person.tags: [["a", "b"], []]}
    )


def test_data_sets_know_their_schema(spark, people):
    assert people.typedspark_schema == Person
    assert people.schema.simpleString() == (
        "struct<name:string,age:bigint,tags:array<string>,address:struct<street:string,number:int>>"
    )
    assert [tuple(row) for row in people.filter(Person.age > 10).collect()] == [("Ann", 30, ["a", "b"], None)]
    with pytest.raises(TypeError, match="age"):
        DataSet[Person](spark.createDataFrame([("Ann",)], "name STRING"))


def test_transformations(people):
    adults = transform_to_schema(people.filter(Person.age > 10), Adult, {Adult.label: F.concat_ws("+", Person.tags)})
    assert [tuple(row) for row in adults.collect()] == [("Ann", "a+b")]


def test_columns_of_two_frames(people):
    left, left_schema = people, register_schema_to_dataset(people, Person)
    other = people.withColumn("age", F.col("age") + 1)
    joined = left.join(other, left_schema.name == other["name"]).select(left_schema.age, other["age"])
    assert sorted(tuple(row) for row in joined.collect()) == [(7, 8), (30, 31)]


def test_tables(spark, people):
    people.createOrReplaceTempView("typed_people")
    frame, schema = load_table(spark, "typed_people")
    assert [row[0] for row in frame.select(schema.name).orderBy(schema.name.desc()).collect()] == ["Bob", "Ann"]


class Order(SparkModel):
    key: int
    placed: datetime.date
    items: list[str]
    note: Optional[str] = None


def test_pydantic_models_as_schemas(spark):
    orders = [Order(key=1, placed=datetime.date(2024, 2, 29), items=["x"]), Order(key=2, placed=datetime.date(2024, 3, 1), items=[])]
    schema = Order.model_spark_schema()
    frame = spark.createDataFrame([order.model_dump() for order in orders], schema)
    assert frame.schema == schema
    assert [Order(**row.asDict()) for row in frame.orderBy("key").collect()] == orders
