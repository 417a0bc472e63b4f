"""Fixtures: a server for the run, a session per test."""

import pytest

from server import active_session, running_functions


@pytest.fixture(scope="session")
def server():
    with running_functions() as running:
        yield running


@pytest.fixture
def spark(server):
    yield from active_session(server)
