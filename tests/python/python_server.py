"""Fixtures of tests with Python functions: a server of the file's own, a session per test."""

import pytest

from server import active_session, running_functions


@pytest.fixture(scope="module")
def python_server():
    with running_functions() as running:
        yield running


@pytest.fixture
def spark(python_server):
    yield from active_session(python_server)
