"""A server for the run."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from server import Server  # noqa: E402


@pytest.fixture(scope="session")
def server():
    running = os.environ.get("FIRESTEEL_TEST_URL")
    if running:
        yield SimpleNamespace(url=running)
        return
    with Server() as server:
        yield server
