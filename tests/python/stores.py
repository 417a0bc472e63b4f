"""A store that speaks the protocol of S3, and web servers, for tests."""

import base64
import hmac
import http.server
import os
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree
from email.utils import formatdate


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Store:
    """`moto_server` in a process of its own. It takes any keys."""

    def __init__(self, command: str):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = subprocess.Popen(
            [command, "-H", "127.0.0.1", "-p", str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "AWS_EC2_METADATA_DISABLED": "true"},
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(self.url, timeout=5).read()
                return
            except (urllib.error.URLError, OSError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def request(self, method: str, path: str, body: bytes | None = None) -> bytes:
        request = urllib.request.Request(self.url + path, data=body, method=method)
        return urllib.request.urlopen(request, timeout=30).read()

    def make_bucket(self, name: str) -> None:
        self.request("PUT", f"/{name}")

    def put(self, bucket: str, key: str, body: bytes) -> None:
        self.request("PUT", f"/{bucket}/{urllib.parse.quote(key)}", body)

    def _elements(self, path: str, tag: str) -> list[str]:
        root = ElementTree.fromstring(self.request("GET", path))
        return [e.text for e in root.iter() if e.tag.rsplit("}", 1)[-1] == tag]

    def keys(self, bucket: str, prefix: str = "") -> list[str]:
        return self._elements(f"/{bucket}?list-type=2&prefix={urllib.parse.quote(prefix)}", "Key")

    def uploads(self, bucket: str) -> list[str]:
        """Keys of uploads that were begun and neither completed nor given up."""
        return self._elements(f"/{bucket}?uploads", "Key")

    def options(self, access="anyone", secret="hush-hush") -> dict[str, str]:
        return {
            "fs.s3a.endpoint": self.url,
            "fs.s3a.path.style.access": "true",
            "fs.s3a.access.key": access,
            "fs.s3a.secret.key": secret,
        }

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


class Web:
    """A web server on a thread of its own, with a handler of its own."""

    def __init__(self, handler):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def files_of(folder):
    """The handler of a folder's files, which sends no parts of them."""

    class Files(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *_):
            pass

    return Files


def denying(body: bytes):
    """A handler that denies everything."""

    class Denying(http.server.BaseHTTPRequestHandler):
        def _deny(self):
            self.send_response(403)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _deny

        def log_message(self, *_):
            pass

    return Denying


def silent():
    """A handler that never answers."""

    class Silent(http.server.BaseHTTPRequestHandler):
        def _wait(self):
            time.sleep(60)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _wait

        def log_message(self, *_):
            pass

    return Silent


class Azure:
    """`azurite-blob` in a process of its own, with a container."""

    ACCOUNT = "devstoreaccount1"
    # The key that the emulator's documentation gives to everyone.
    KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

    def __init__(self, command: str, container: str):
        self.port = free_port()
        self.process = subprocess.Popen(
            [command, "--blobPort", str(self.port), "--inMemoryPersistence", "--skipApiVersionCheck", "--silent"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                self._make_container(container)
                return
            except (urllib.error.URLError, OSError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def _make_container(self, name: str) -> None:
        date = formatdate(usegmt=True)
        path = f"/{self.ACCOUNT}/{name}"
        headers = f"x-ms-date:{date}\nx-ms-version:2021-08-06\n"
        text = "PUT" + "\n" * 12 + headers + f"/{self.ACCOUNT}{path}\nrestype:container"
        digest = hmac.new(base64.b64decode(self.KEY), text.encode(), "sha256").digest()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}?restype=container",
            method="PUT",
            headers={
                "x-ms-date": date,
                "x-ms-version": "2021-08-06",
                "Authorization": f"SharedKey {self.ACCOUNT}:{base64.b64encode(digest).decode()}",
            },
        )
        urllib.request.urlopen(request, timeout=10).read()

    def options(self, key=KEY) -> dict[str, str]:
        return {
            "fs.azure.abfs.endpoint": f"http://127.0.0.1:{self.port}",
            f"fs.azure.account.key.{self.ACCOUNT}.dfs.core.windows.net": key,
        }

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


class Gcs:
    """`fake-gcs-server` in a process of its own, with a bucket."""

    def __init__(self, command: str, bucket: str):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            [command, "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
            + ["-public-host", f"127.0.0.1:{port}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        body = b'{"name": "%s"}' % bucket.encode()
        request = urllib.request.Request(
            f"{self.url}/storage/v1/b", data=body, method="POST", headers={"Content-Type": "application/json"}
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(request, timeout=10).read()
                return
            except (urllib.error.URLError, OSError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def options(self) -> dict[str, str]:
        return {"fs.gs.storage.root.url": self.url, "fs.gs.auth.type": "UNAUTHENTICATED"}

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)
