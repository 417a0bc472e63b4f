"""A server for the run and a session per test: `make test-libraries`.

FIRESTEEL_TEST_URL names a server that runs already, such as Spark's own.
"""

import os
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from server import Server  # noqa: E402


@pytest.fixture(scope="session")
def url(tmp_path_factory):
    running = os.environ.get("FIRESTEEL_TEST_URL")
    if running:
        yield running
        return
    warehouse = tmp_path_factory.mktemp("warehouse")
    with Server("--conf", f"spark.sql.warehouse.dir={warehouse}") as server:
        yield server.url


# Libraries ask `SparkSession.builder.getOrCreate()` for the session, so one serves all.
@pytest.fixture(scope="session")
def spark(url):
    session = SparkSession.builder.remote(url).getOrCreate()
    yield session
    session.stop()
