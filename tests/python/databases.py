"""Servers of databases for tests: started in a temporary folder by a user without privileges."""

import glob
import os
import pwd
import shutil
import socket
import subprocess
import time
from pathlib import Path


def program(name: str) -> str | None:
    """The path of a program, also where Debian keeps those of PostgreSQL."""
    places = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True) + ["/usr/sbin", "/usr/bin"]
    return shutil.which(name) or next((f"{p}/{name}" for p in places if os.access(f"{p}/{name}", os.X_OK)), None)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Database:
    """A server on a free port of this machine."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.port = free_port()
        # Databases refuse to run as root.
        self.user = "nobody" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(folder, self.user)
            for parent in folder.parents:
                if parent == Path("/tmp"):
                    break
                if parent.stat().st_uid == 0 and parent != Path("/"):
                    parent.chmod(parent.stat().st_mode | 0o011)

    def run(self, *command: str, **options):
        return subprocess.run(
            command, user=self.user, cwd=self.folder, check=True, capture_output=True, text=True, **options
        )

    def start(self, *command: str):
        log = open(self.folder / "log", "w")
        self.process = subprocess.Popen(
            command, user=self.user, cwd=self.folder, stdout=log, stderr=log, env={**os.environ, "TZ": "UTC"}
        )

    def wait(self, probe):
        deadline = time.monotonic() + 60
        while True:
            try:
                return probe()
            except subprocess.CalledProcessError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise RuntimeError((self.folder / "log").read_text())
                time.sleep(0.2)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Postgres(Database):
    programs = ("initdb", "postgres", "psql")

    def __init__(self, folder: Path):
        super().__init__(folder)
        data = str(folder / "data")
        (folder / "password").write_text("s3cret")
        (folder / "password").chmod(0o644)
        self.run(
            program("initdb"), "-D", data, "-U", "admin", "-E", "UTF8", "--no-sync",
            "--auth-host=scram-sha-256", "--auth-local=trust", f"--pwfile={folder / 'password'}",
        )
        self.start(
            program("postgres"), "-D", data, "-p", str(self.port), "-k", str(folder), "-h", "127.0.0.1",
            "-c", "fsync=off",
        )
        self.wait(lambda: self.sql("SELECT 1"))
        self.url = f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"
        self.options = {"url": self.url, "user": "admin", "password": "s3cret"}

    def sql(self, text: str) -> str:
        command = [program("psql"), "-h", str(self.folder), "-p", str(self.port), "-U", "admin", "-d", "postgres"]
        return self.run(*command, "-v", "ON_ERROR_STOP=1", "-AtXq", "-c", text).stdout


class MariaDb(Database):
    programs = ("mariadb-install-db", "mariadbd", "mariadb")

    def __init__(self, folder: Path):
        super().__init__(folder)
        data = folder / "data"
        self.run(
            program("mariadb-install-db"), "--no-defaults", f"--datadir={data}",
            "--auth-root-authentication-method=normal", "--skip-test-db",
        )
        self.socket = folder / "socket"
        self.start(
            program("mariadbd"), "--no-defaults", f"--datadir={data}", f"--socket={self.socket}",
            f"--port={self.port}", "--bind-address=127.0.0.1", f"--pid-file={folder / 'pid'}",
            "--innodb-flush-log-at-trx-commit=0", "--skip-name-resolve",
        )
        self.wait(lambda: self.sql("SELECT 1", database=None))
        self.sql(
            "CREATE DATABASE shop CHARACTER SET utf8mb4; CREATE USER 'buyer'@'%' IDENTIFIED BY 's3cret';"
            "GRANT ALL ON *.* TO 'buyer'@'%'",
            database=None,
        )
        self.url = f"jdbc:mysql://127.0.0.1:{self.port}/shop"
        self.options = {"url": self.url, "user": "buyer", "password": "s3cret"}

    def sql(self, text: str, database: str | None = "shop") -> str:
        command = [program("mariadb"), "--no-defaults", f"--socket={self.socket}", "-u", "root", "-N", "-B"]
        return self.run(*command, *([database] if database else []), "-e", text).stdout
