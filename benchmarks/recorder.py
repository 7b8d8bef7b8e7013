"""A proxy on loopback that keeps each page and each metadata file that it is asked for, and never a wheel."""

from __future__ import annotations

import contextlib
import io
import json
import re
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast

import httpx

from benchmarks.site import normal, page_of, place_of
from envdoctor.adapters.index.index_settings import IndexSettings
from envdoctor.adapters.index.opening import default_index_url

__all__ = ["recording"]

_PAGE = "application/vnd.pypi.simple.v1+json"
_TAIL = 64 * 1024
_ATTEMPTS = 4
_FAILING = 500


class RangeFile(io.RawIOBase):
    """A file of the index as one that can be read anywhere, by HTTP ranges."""

    def __init__(self, client: httpx.Client, url: str) -> None:
        self._client, self._url, self._at = client, url, 0
        answer = client.get(url, headers={"Range": "bytes=0-0"}).raise_for_status()
        self._size = int(answer.headers["content-range"].rpartition("/")[2])
        self._known = (0, b"")

    def seekable(self) -> bool:
        """Say that it can be read anywhere."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go there."""
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        """Return where."""
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Return bytes from here on."""
        stop = self._size if size < 0 else min(self._size, self._at + size)
        start, held = self._known
        if not (start <= self._at and stop <= start + len(held)):
            last = min(self._size, max(stop, self._at + _TAIL)) - 1
            answer = self._client.get(self._url, headers={"Range": f"bytes={self._at}-{last}"}).raise_for_status()
            start, held = self._known = (self._at, answer.content)
        taken = held[self._at - start : stop - start]
        self._at = stop
        return taken


class Recorder:
    """Asks the real index and keeps its answers below a folder."""

    def __init__(self, root: Path, upstream: str) -> None:
        self._root, self._upstream = root, upstream
        self._client = httpx.Client(timeout=120, follow_redirects=True, limits=httpx.Limits(max_connections=24))
        self._locks: dict[str, threading.Lock] = {}
        self._sdists: dict[str, str] = {}
        """Place of a static entry to the address of its sdist."""

    def page(self, name: str, base: str) -> bytes | None:
        """Return a project's page, None where there is none."""
        kept = self._root / "raw" / f"{name}.json"
        with self._locks.setdefault(name, threading.Lock()):
            if not kept.exists():
                answer = self._get(f"{self._upstream}{name}/")
                _keep(kept, answer.content if answer.status_code == 200 else b"")
            raw = kept.read_bytes()
        if not raw:
            return None
        page = page_of(raw, base)
        by_version = {entry["filename"]: entry["url"] for entry in json.loads(raw)["files"]}
        for entry in page["files"]:
            if entry["filename"] not in by_version:
                self._sdists[entry["url"].removeprefix(base)] = _sdist_of(entry["filename"], by_version)
        return json.dumps(page).encode()

    def file(self, place: str) -> bytes | None:
        """Return a metadata file or an sdist, None where there is none."""
        kept = self._root / ("site/files" if place.endswith(".metadata") else "sdists") / place
        with self._locks.setdefault(place, threading.Lock()):
            if not kept.exists():
                found = self._fetched(place)
                if found is None:
                    return None
                _keep(kept, found)
            return kept.read_bytes()

    def _fetched(self, place: str) -> bytes | None:
        wheel = place.removesuffix(".metadata")
        if wheel in self._sdists:
            sdist = self.file(place_of(self._sdists[wheel]))
            return static_metadata(wheel.rpartition("/")[2], sdist) if sdist else None
        if place.endswith(".whl"):
            return None
        answer = self._get(f"https://{place}")
        if answer.status_code == 200:
            return answer.content
        return self._of_wheel(f"https://{wheel}") if wheel != place else None

    def _of_wheel(self, url: str) -> bytes | None:
        """Return the metadata inside a wheel of which the index has no sidecar."""
        try:
            archive = zipfile.ZipFile(cast("io.BufferedReader", RangeFile(self._client, url)))
            name = next(n for n in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", n))
            return archive.read(name)
        except (httpx.HTTPError, zipfile.BadZipFile, StopIteration, KeyError):
            return None

    def _get(self, url: str) -> httpx.Response:
        for _ in range(_ATTEMPTS - 1):
            with contextlib.suppress(httpx.TransportError):
                answer = self._once(url)
                if answer.status_code < _FAILING:
                    return answer
        return self._once(url)

    def _once(self, url: str) -> httpx.Response:
        return self._client.get(url, headers={"Accept": _PAGE if url.endswith("/") else "*/*"})


def _sdist_of(wheel: str, known: dict[str, str]) -> str:
    name, version = wheel.split("-")[:2]
    for filename, url in known.items():
        stem = re.sub(r"\.(tar\.gz|zip)$", "", filename)
        if stem.rpartition("-")[2] == version and normal(stem.rpartition("-")[0]) == normal(name):
            return url
    raise KeyError(wheel)


def _keep(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)


def static_metadata(wheel: str, sdist: bytes) -> bytes:
    """Return what an sdist says of itself without being built: its PKG-INFO, with the lines of requires.txt.

    One that says nothing is taken to need nothing: the same for every tool.
    """
    if sdist.startswith(b"PK"):
        archive = zipfile.ZipFile(io.BytesIO(sdist))
        texts = {n: archive.read(n) for n in archive.namelist() if n.endswith(("PKG-INFO", "requires.txt"))}
    else:
        with tarfile.open(fileobj=io.BytesIO(sdist)) as tar:
            members = [m for m in tar.getmembers() if m.isfile() and m.name.endswith(("PKG-INFO", "requires.txt"))]
            texts = {m.name: file.read() for m in members if (file := tar.extractfile(m))}
    own = min((n for n in texts if n.endswith("PKG-INFO")), key=len, default=None)
    name, version = wheel.split("-")[:2]
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\n"
    text = texts[own].decode("utf-8", "replace").replace("\r\n", "\n") if own else text
    head, _, body = text.partition("\n\n")
    listed = next((texts[n].decode("utf-8", "replace") for n in texts if n.endswith("egg-info/requires.txt")), "")
    if "\nRequires-Dist:" not in head and listed:
        head += "".join(f"\n{line}" for line in _headers(listed))
    return f"{head}\n\n{body}".encode()


def _headers(listed: str) -> Iterator[str]:
    extra = condition = ""
    for line in filter(None, map(str.strip, listed.splitlines())):
        section = re.fullmatch(r"\[(.*)\]", line)
        if section:
            extra, _, condition = section[1].partition(":")
            if extra:
                yield f"Provides-Extra: {extra}"
            continue
        marks = [f"({condition})"] if condition else []
        marks += [f'extra == "{extra}"'] if extra else []
        yield f"Requires-Dist: {line}" + (f" ; {' and '.join(marks)}" if marks else "")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    recorder: Recorder

    def do_GET(self) -> None:
        """Answer with what the index has."""
        path = self.path.partition("?")[0]
        port = self.server.server_address[1]
        kind = "application/octet-stream"
        if path.startswith("/simple/"):
            kind = _PAGE
            body = self.recorder.page(normal(path.split("/")[2]), f"http://127.0.0.1:{port}/files/")
        else:
            body = self.recorder.file(path.removeprefix("/files/"))
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        if self.command == "GET":
            with contextlib.suppress(ConnectionError):  # whoever asked has gone
                self.wfile.write(body or b"")

    do_HEAD = do_GET  # noqa: N815 - what http.server calls

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def recording(root: Path) -> Iterator[str]:
    """Run the proxy before the index that pip is configured for; yield its URL."""
    upstream = default_index_url(IndexSettings()).rstrip("/") + "/"
    handler = type("Handler", (_Handler,), {"recorder": Recorder(root, upstream)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/simple/"
    finally:
        server.shutdown()
