"""Files, modules, archives and packed environments of a session, as its Python functions see them."""

import io
import os
import stat
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from pyspark import cloudpickle
from pyspark.errors import PySparkException, PythonException
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from pyspark.sql.types import StringType

from python_server import python_server, spark  # noqa: F401

# Workers do not have this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def seen(session, function):
    return session.range(1).select(udf(function, StringType(), useArrow=False)("id")).first()[0]


def zipped(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def tarred(path, files):
    with tarfile.open(path, "w:gz" if path.suffix in (".gz", ".tgz") else "w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path


@pytest.mark.parametrize("suffix", ["zip", "egg", "jar"])
def test_packages_in_one_file_are_imported(spark, tmp_path, suffix):
    package = zipped(tmp_path / f"h_{suffix}.{suffix}", {f"h_{suffix}/__init__.py": f"VALUE = '{suffix}'"})
    spark.addArtifacts(str(package), pyfile=True)
    assert seen(spark, lambda _: __import__(f"h_{suffix}").VALUE) == suffix


@pytest.mark.parametrize("name", ["a.zip", "a.jar", "a.tar.gz", "a.tgz"])
def test_archives_are_unpacked_under_their_names(spark, tmp_path, name):
    make = zipped if name.endswith(("zip", "jar")) else tarred
    archive = make(tmp_path / name, {"below/text": name})
    spark.addArtifacts(f"{archive}#named", archive=True)
    assert seen(spark, lambda _: open("named/below/text").read() + str(os.path.exists(name))) == f"{name}False"
    spark.addArtifacts(str(archive), archive=True)
    assert seen(spark, lambda _: open(f"{name}/below/text").read()) == name


def test_modules_can_be_added_between_queries(spark, tmp_path):
    for i in range(3):
        (tmp_path / f"h_part{i}.py").write_text(f"VALUE = {i}\n")
        spark.addArtifacts(str(tmp_path / f"h_part{i}.py"), pyfile=True)
        assert seen(spark, lambda _: str(__import__(f"h_part{i}").VALUE)) == str(i)
        package = zipped(tmp_path / f"h_zip{i}.zip", {f"h_zip{i}.py": f"VALUE = {i}"})
        spark.addArtifacts(str(package), pyfile=True)
        assert seen(spark, lambda _: str(__import__(f"h_zip{i}").VALUE)) == str(i)


def test_files_are_found_and_cannot_be_replaced(spark, tmp_path):
    data = tmp_path / "h_data.txt"
    data.write_text("one")
    spark.addArtifacts(str(data), file=True)

    def read(_):
        path = "h_data.txt"
        try:
            from pyspark.core.files import SparkFiles

            path = SparkFiles.get(path)
        except ImportError:
            pass  # The client's own package has no SparkFiles.
        with open(path) as file:
            return f"{file.read()} {os.path.samefile(path, 'h_data.txt')}"

    assert seen(spark, read) == "one True"
    spark.addArtifacts(str(data), file=True)
    data.write_text("two")
    with pytest.raises(PySparkException) as caught:
        spark.addArtifacts(str(data), file=True)
    assert caught.value.getCondition() == "ARTIFACT_ALREADY_EXISTS"
    assert seen(spark, read) == "one True"


def test_sessions_have_files_of_their_own(spark, python_server, tmp_path):
    data = tmp_path / "h_own.txt"
    data.write_text("mine")
    spark.addArtifacts(str(data), file=True)
    assert seen(spark, lambda _: open("h_own.txt").read()) == "mine"
    assert seen(spark, lambda _: str(open("h_own.txt", "w").write("changed"))) == "7"
    other = SparkSession.builder.remote(python_server.url).create()
    with pytest.raises(PythonException, match="FileNotFoundError"):
        seen(other, lambda _: open("h_own.txt").read())
    other.addArtifacts(str(data), file=True)
    assert seen(other, lambda _: open("h_own.txt").read()) == "mine"
    other.stop()


def test_folders_of_sessions_are_private(spark, tmp_path):
    (tmp_path / "h_private.txt").write_text("x")
    spark.addArtifacts(str(tmp_path / "h_private.txt"), file=True)

    def modes(_):
        folders = [os.path.dirname(os.getcwd()), os.environ.get("PYTHON_WORKER_FACTORY_SOCK_DIR", os.getcwd() + "/..")]
        return " ".join(oct(stat.S_IMODE(os.stat(folder).st_mode)) for folder in folders)

    assert seen(spark, modes) == "0o700 0o700"


def evil_link(path):
    with tarfile.open(path, "w:gz") as archive:
        link = tarfile.TarInfo("out")
        link.type, link.linkname = tarfile.SYMTYPE, "/tmp"
        archive.addfile(link)
        inside = tarfile.TarInfo("out/h_evil")
        inside.size = 1
        archive.addfile(inside, io.BytesIO(b"x"))
    return path


def test_archives_that_reach_outside_are_refused_whole(spark, tmp_path):
    (tmp_path / "h_first.txt").write_text("x")
    spark.addArtifacts(str(tmp_path / "h_first.txt"), file=True)
    outside = zipped(tmp_path / "outside.zip", {"fine": "1", "../../h_evil": "2"})
    above = tarred(tmp_path / "above.tar.gz", {"fine": "1", "../../h_evil": "2"})
    broken = tmp_path / "broken.zip"
    broken.write_text("no archive")
    for archive in (outside, above, evil_link(tmp_path / "link.tar.gz"), broken):
        with pytest.raises(PySparkException):
            spark.addArtifacts(f"{archive}#h_refused", archive=True)
    assert seen(spark, lambda _: str([os.path.lexists(p) for p in ("h_refused", "../h_evil", "/tmp/h_evil")])) == str(
        [False] * 3
    )
    good = zipped(tmp_path / "good.zip", {"fine": "3"})
    spark.addArtifacts(f"{good}#h_refused", archive=True)
    assert seen(spark, lambda _: open("h_refused/fine").read()) == "3"


def test_archives_keep_links_and_modes(spark, tmp_path):
    path = tmp_path / "links.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, mode, text in [("run", 0o100755, "#!/bin/sh"), ("link", 0o120777, "run")]:
            entry = zipfile.ZipInfo(name)
            entry.create_system, entry.external_attr = 3, mode << 16
            archive.writestr(entry, text)
    spark.addArtifacts(f"{path}#links", archive=True)
    assert seen(spark, lambda _: f"{os.readlink('links/link')} {os.access('links/link', os.X_OK)}") == "run True"


def test_packed_environments_run_functions(spark, python_server, tmp_path):
    venv.create(tmp_path / "packed", symlinks=True)
    packages = next((tmp_path / "packed/lib").glob("python*/site-packages"))
    paths = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "base.pth").write_text("\n".join(paths))
    (packages / "h_packed.py").write_text("VALUE = 'packed'\n")
    with tarfile.open(tmp_path / "packed.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "packed", ".")
    spark.addArtifacts(f"{tmp_path}/packed.tar.gz#environment", archive=True)
    spark.conf.set("spark.sql.execution.pyspark.python", "./environment/bin/python")

    def where(_):
        import h_packed

        return f"{h_packed.VALUE} {Path(sys.executable).parts[-3]}"

    assert seen(spark, where) == "packed environment"
    spark.conf.set("spark.sql.execution.pyspark.python", "./nothing/bin/python")
    with pytest.raises(PySparkException, match="nothing/bin/python cannot be started"):
        seen(spark, where)
