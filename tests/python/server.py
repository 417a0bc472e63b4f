"""Starts and stops a Firesteel server for tests and examples."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def binary() -> str:
    """The server's binary: FIRESTEEL_BIN, else the release build of this checkout."""
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    return os.environ.get("FIRESTEEL_BIN", f"{target}/release/firesteel")


class Server:
    """A server process on a free port.

    >>> with Server() as server:                      # doctest: +SKIP
    ...     SparkSession.builder.remote(server.url).getOrCreate()
    """

    def __init__(self, *arguments: str, path: str | None = None, env: dict | None = None, port: int = 0):
        self.process = subprocess.Popen(
            [path or binary(), "server", "--port", str(port), *arguments],
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("FIRESTEEL_LOG") else subprocess.DEVNULL,
            text=True,
            env={**os.environ, **(env or {})},
        )
        self.port = self._wait_for_port()
        self.url = f"sc://127.0.0.1:{self.port}"

    def _wait_for_port(self, seconds: float = 60) -> int:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self.process.stdout], [], [], 0.5)
            if ready:
                line = self.process.stdout.readline()
                found = re.search(r"sc://[^\s:]+:(\d+)", line)
                if found:
                    return int(found.group(1))
                if not line and self.process.poll() is not None:
                    break
        raise RuntimeError(f"the server did not start (exit code {self.process.poll()})")

    @property
    def pid(self) -> int:
        return self.process.pid

    def stop(self, seconds: float = 20) -> int:
        """SIGTERM; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.stop()


def running_functions(*arguments: str) -> Server:
    """A server whose Python functions run in this interpreter."""
    return Server(*arguments, env={"PYSPARK_PYTHON": sys.executable})


def active_session(server: Server):
    """A session with a server, which is the active one until it ends.

    Types given as text are parsed in the active session, which would else be one
    whose server an earlier test has killed.
    """
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(server.url).create()
    type(session)._active_session.session = session
    type(session)._default_session = session
    yield session
    session.stop()
