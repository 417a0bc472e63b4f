"""MLflow notes frames as data sets of a run."""

import json

import mlflow.data
import pytest
from mlflow.data.spark_dataset import SparkDataset


@pytest.fixture
def flowers(spark):
    return spark.createDataFrame([(1.5, "a"), (2.5, "b"), (3.5, "a")], "width DOUBLE, kind STRING")


def test_data_sets_know_their_schema(flowers):
    data_set = mlflow.data.from_spark(flowers, path="/data/flowers", targets="kind", name="flowers")
    assert isinstance(data_set, SparkDataset)
    assert data_set.schema.input_names() == ["width", "kind"]
    assert [str(kind) for kind in data_set.schema.input_types()] == ["DataType.double", "DataType.string"]
    facts = json.loads(data_set.to_json())
    assert (facts["name"], facts["source_type"]) == ("flowers", "spark")
    assert len(data_set.digest) == 8


def test_digests_tell_frames_apart(flowers):
    digest = mlflow.data.from_spark(flowers, path="/data/flowers").digest
    assert mlflow.data.from_spark(flowers, path="/data/flowers").digest == digest
    assert mlflow.data.from_spark(flowers.filter("width > 2"), path="/data/flowers").digest != digest


def test_data_sets_of_tables(spark, url, flowers, monkeypatch):
    monkeypatch.setenv("SPARK_REMOTE", url)
    flowers.createOrReplaceTempView("mlflow_flowers")
    query = "SELECT * FROM mlflow_flowers WHERE kind = 'a'"
    data_set = mlflow.data.from_spark(spark.sql(query), sql=query)
    assert data_set.source.load().count() == 2
