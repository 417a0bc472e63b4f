"""Clients of other versions: each runs job.py in a process of its own.

FIRESTEEL_CLIENT_VERSIONS names them, such as `3.5.6 4.0.4 4.3.0`; each is
installed on first use into FIRESTEEL_CLIENT_CACHE (~/.cache/firesteel/pyspark).
Everything else that they import comes from the environment of these tests.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from server import Server

JOB = Path(__file__).with_name("job.py")
VERSIONS = os.environ.get("FIRESTEEL_CLIENT_VERSIONS", "").replace(",", " ").split()
CACHE = Path(os.environ.get("FIRESTEEL_CLIENT_CACHE", Path.home() / ".cache/firesteel/pyspark"))


@pytest.fixture(scope="module")
def server():
    # Workers of Python functions run in the environment of these tests.
    with Server(env={"PYSPARK_PYTHON": sys.executable}) as running:
        yield running


def install(version: str) -> Path:
    """The folder with that version of the client, installed if it is not there."""
    folder = CACHE / version
    if folder.exists():
        return folder
    partial = CACHE / f"{version}.{os.getpid()}"
    shutil.rmtree(partial, ignore_errors=True)
    # Not every release has a package of the client alone.
    for packages in ([f"pyspark-client=={version}"], [f"pyspark=={version}", "py4j"]):
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = subprocess.run(
            [*command, "--no-deps", "--target", str(partial), *packages], capture_output=True, text=True
        )
        if done.returncode == 0:
            break
    else:
        pytest.fail(f"PySpark {version} cannot be installed:\n{done.stderr}")
    shutil.rmtree(partial / "pyspark/jars", ignore_errors=True)
    partial.rename(folder)
    return folder


def run(server, folder: Path, path: Path | None) -> str:
    """Runs the job with the client in `path`, else the installed one; its output."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONPATH", None)
    if path:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, str(JOB), server.url, str(folder)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, "\n".join(line for line in done.stdout.splitlines() if not line.startswith("ok "))
    return done.stdout


def test_installed_client(server, tmp_path):
    run(server, tmp_path, None)


@pytest.mark.skipif(not VERSIONS, reason="FIRESTEEL_CLIENT_VERSIONS names no other versions of the client")
@pytest.mark.parametrize("version", VERSIONS or ["none"])
def test_other_client(server, tmp_path, version):
    assert f"client {version}:" in run(server, tmp_path, install(version))
