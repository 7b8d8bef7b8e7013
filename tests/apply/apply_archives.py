"""Tiny wheels and source distributions, and a loopback server that gives them out."""

from __future__ import annotations

import base64
import gzip
import hashlib
import http.server
import io
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from packaging.utils import canonicalize_name

from envdoctor.model.step import PlannedFile

__all__ = ["Served", "as_index", "index_page", "make_sdist", "make_wheel", "planned", "serve"]

_BACKEND = """
import base64, hashlib, os, zipfile

def build_wheel(directory, settings=None, metadata=None):
    name = "delta-1.0-py3-none-any.whl"
    files = {
        "delta.py": "WHO = 'delta'\\nDEVICE = 'cuda'\\n",
        "delta-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: delta\\nVersion: 1.0\\n",
        "delta-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    rows = []
    with zipfile.ZipFile(os.path.join(directory, name), "w") as archive:
        for path, text in files.items():
            data = text.encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(data)}")
            archive.writestr(path, data)
        rows.append("delta-1.0.dist-info/RECORD,,")
        archive.writestr("delta-1.0.dist-info/RECORD", "\\n".join(rows) + "\\n")
    return name
"""


def make_wheel(
    name: str,
    version: str,
    files: Mapping[str, str | bytes],
    *,
    scripts: str = "",
    requires: tuple[str, ...] = (),
) -> tuple[str, bytes]:
    """Return file name and bytes of a pure-Python wheel."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {line}\n" for line in requires)
    members: dict[str, bytes] = {
        **{path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()},
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if scripts:
        members[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}\n".encode()
    rows = []
    for path, data in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(data)}\n")
    members[f"{info}/RECORD"] = ("".join(rows) + f"{info}/RECORD,,\n").encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in members.items():
            archive.writestr(zipfile.ZipInfo(path), data)
    return f"{stem}-py3-none-any.whl", buffer.getvalue()


def make_sdist() -> tuple[str, bytes]:
    """Return a source distribution that builds without fetching anything."""
    files = {
        "delta-1.0/pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'
        '[project]\nname = "delta"\nversion = "1.0"\n',
        "delta-1.0/own.py": _BACKEND,
        "delta-1.0/PKG-INFO": "Metadata-Version: 2.1\nName: delta\nVersion: 1.0\n",
    }
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return "delta-1.0.tar.gz", buffer.getvalue()


@dataclass
class Served:
    """What a loopback server gives."""

    url: str
    files: dict[str, bytes]
    cut_after: int | None = None
    """Bytes after which a connection breaks."""
    status: int | None = None
    """What every request is answered with; None: what it asks for."""
    ranges: int | None = None
    """Requests after which no more ranges are given; None: never."""
    asked: list[str] = field(default_factory=list)


@contextmanager
def serve(files: dict[str, bytes]) -> Iterator[Served]:
    """Serve files over HTTP with ranges."""
    served = Served("", files)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.partition("?")[0].lstrip("/")
            served.asked.append(name)
            data = served.files.get(name)
            if data is None or served.status is not None:
                self.send_error(served.status or 404)
                return
            some = served.ranges is None or len(served.asked) <= served.ranges
            wanted = self.headers.get("Range", "") if some else ""
            start, stop = 0, len(data)
            if wanted.startswith("bytes="):
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                start = int(first) if first else max(0, len(data) - int(last))
                stop = min(len(data), int(last) + 1) if first and last else len(data)
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(data)}")
            else:
                self.send_response(200)
            body = data[start:stop]
            self.send_header("Content-Type", "text/html" if name.endswith("/") else "application/octet-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if served.cut_after is not None:
                self.wfile.write(body[: served.cut_after])
                self.wfile.flush()
                self.connection.close()
                return
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_address[1]}/"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def index_page(files: Mapping[str, bytes], prefix: str = "/") -> bytes:
    """Return a simple page that lists files with their hashes."""
    links = (
        f'<a href="{prefix}{name}#sha256={hashlib.sha256(data).hexdigest()}">{name}</a>' for name, data in files.items()
    )
    return f"<!DOCTYPE html><html><body>{' '.join(links)}</body></html>".encode()


def as_index(*archives: tuple[str, bytes]) -> dict[str, bytes]:
    """Return what a server must give to be a simple repository of these files."""
    projects: dict[str, dict[str, bytes]] = {}
    for name, data in archives:
        projects.setdefault(canonicalize_name(name.partition("-")[0]), {})[name] = data
    pages = {f"simple/{project}/": index_page(files) for project, files in projects.items()}
    return {**pages, **dict(archives)}


def planned(name: str, version: str, filename: str, data: bytes, url: str, *, sdist: bool = False) -> PlannedFile:
    """Return a file as a lock names it."""
    return PlannedFile(
        name=canonicalize_name(name),
        version=version,
        filename=filename,
        url=url + filename,
        hashes=(("sha256", hashlib.sha256(data).hexdigest()),),
        size=len(data),
        sdist=sdist,
    )
