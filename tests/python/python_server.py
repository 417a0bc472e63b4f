"""Fixtures of tests with Python functions: a server that runs them in this interpreter, a session per test."""

import sys

import pytest
from pyspark.sql import SparkSession

from server import Server


@pytest.fixture(scope="module")
def python_server():
    with Server(env={"PYSPARK_PYTHON": sys.executable}) as running:
        yield running


@pytest.fixture
def spark(python_server):
    session = SparkSession.builder.remote(python_server.url).create()
    # Types given as text are parsed in the active session, which may be one whose server was killed.
    type(session)._active_session.session = session
    type(session)._default_session = session
    yield session
    session.stop()
