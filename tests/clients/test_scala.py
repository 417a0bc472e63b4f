"""Spark's client for Scala: scala/Tour.scala, compiled and run with the jars of PySpark.

FIRESTEEL_SPARK_JARS names their folder; else PySpark is installed into
FIRESTEEL_CLIENT_CACHE (~/.cache/firesteel/pyspark) on first use. expected.txt holds
what Spark 4.2.1 answers. Functions of Scala need a JVM on the server: they are refused.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("scala")
VERSION = "4.2.1"
CACHE = Path(os.environ.get("FIRESTEEL_CLIENT_CACHE", Path.home() / ".cache/firesteel/pyspark"))
OPENED = ["java.lang", "java.lang.invoke", "java.nio", "java.util", "sun.nio.ch"]


def java_version() -> int:
    if not shutil.which("java"):
        return 0
    text = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', text)
    return int(found.group(1)) if found else 0


pytestmark = pytest.mark.skipif(java_version() < 17, reason="no Java 17 or later")


def jars() -> Path:
    """The folder of PySpark's jars, installed if it is not there."""
    if "FIRESTEEL_SPARK_JARS" in os.environ:
        return Path(os.environ["FIRESTEEL_SPARK_JARS"])
    folder = CACHE / f"{VERSION}-jars"
    if not folder.exists():
        partial = CACHE / f"{VERSION}-jars.{os.getpid()}"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "--target", str(partial), f"pyspark=={VERSION}"], check=True)
        (partial / "pyspark/jars").rename(folder)
        shutil.rmtree(partial)
    return folder


def java(*arguments: str) -> str:
    # The first compiler is enough for programs as short as these.
    done = subprocess.run(
        ["java", "-XX:TieredStopAtLevel=1", *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def answers(server, tmp_path_factory):
    """What each step printed."""
    folder = tmp_path_factory.mktemp("scala")
    classes = folder / "classes"
    classes.mkdir()
    path = os.pathsep.join(
        [str(jars() / f"connect-repl/spark-connect-client-jvm_2.13-{VERSION}.jar"), str(jars() / "*")]
    )
    java("-cp", path, "scala.tools.nsc.Main", "-usejavacp", "-d", str(classes), str(FOLDER / "Tour.scala"))
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
    return steps(java(*opened, "-cp", f"{classes}{os.pathsep}{path}", "Tour", server.url, str(folder / "data")))


def steps(text: str) -> dict[str, str]:
    """The text after each `## name`."""
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)[1:]
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2])}


EXPECTED = steps((FOLDER / "expected.txt").read_text())


@pytest.mark.parametrize("name", EXPECTED)
def test_step(answers, name):
    assert answers[name] == EXPECTED[name]


def test_functions_of_scala_are_refused(answers):
    closures = {name: text for name, text in answers.items() if name.startswith("closure: ")}
    assert len(closures) == 12
    for name, text in closures.items():
        assert "UnsupportedOperationException" in text and "need a JVM" in text, f"{name}: {text}"
