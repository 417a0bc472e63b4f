"""Fixtures: a server for the run, a session per test."""

import sys

import pytest
from pyspark.sql import SparkSession

from server import Server


@pytest.fixture(scope="session")
def server():
    with Server(env={"PYSPARK_PYTHON": sys.executable}) as running:
        yield running


@pytest.fixture
def spark(server):
    session = SparkSession.builder.remote(server.url).create()
    # Types given as text are parsed in the active session, which may be one whose server was killed.
    type(session)._active_session.session = session
    type(session)._default_session = session
    yield session
    session.stop()
