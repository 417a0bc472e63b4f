"""Fixtures: a server for the run, a session per test."""

import pytest
from pyspark.sql import SparkSession

from server import Server


@pytest.fixture(scope="session")
def server():
    with Server() as running:
        yield running


@pytest.fixture
def spark(server):
    session = SparkSession.builder.remote(server.url).create()
    yield session
    session.stop()
