"""A package index on a loopback port, and the wheels that it serves."""

from __future__ import annotations

import hashlib
import io
import json
import re
import threading
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

JSON = "application/vnd.pypi.simple.v1+json"


@dataclass
class Answer:
    """What the server says to one path; ``before`` are statuses given first, one a request."""

    body: bytes
    content_type: str = JSON
    status: int = 200
    before: list[int] = field(default_factory=list)
    etag: str | None = None
    ranges: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    password: str | None = None
    cut_short: bool = False


class IndexServer:
    """A simple index on a loopback port, which counts what it is asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
                server.respond(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._httpd.daemon_threads = True
        self.root = f"http://127.0.0.1:{self._httpd.server_port}"
        self.url = f"{self.root}/simple/"
        threading.Thread(target=self._httpd.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._httpd.shutdown()
        self._httpd.server_close()

    def count(self, path: str = "") -> int:
        return sum(1 for asked, _ in self.asked if path in asked)

    def counts(self) -> Counter[str]:
        return Counter(path for path, _ in self.asked)

    def respond(self, handler: BaseHTTPRequestHandler) -> None:
        answer = self.answers.get(handler.path)
        if answer is None:
            self._send(handler, 404, b"", {})
            return
        headers = {"Content-Type": answer.content_type, **answer.headers}
        if answer.password and answer.password not in (handler.headers.get("Authorization") or ""):
            self._send(handler, 401, b"", {})
            return
        if answer.before:
            self._send(handler, answer.before.pop(0), b"", headers)
            return
        if answer.etag:
            headers["ETag"] = answer.etag
            if handler.headers.get("If-None-Match") == answer.etag:
                self._send(handler, 304, b"", headers)
                return
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", handler.headers.get("Range") or "")
        if asked and answer.ranges:
            size = len(answer.body)
            start = int(asked[1]) if asked[1] else max(0, size - int(asked[2]))
            stop = min(int(asked[2]) + 1 if asked[1] and asked[2] else size, size)
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
            self._send(handler, 206, answer.body[start:stop], headers)
            return
        self._send(handler, answer.status, answer.body, headers, answer.cut_short)

    @staticmethod
    def _send(
        handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str], cut_short: bool = False
    ) -> None:
        handler.send_response(status)
        for key, value in headers.items():
            handler.send_header(key, value)
        if status != 304:
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[: len(body) // 2] if cut_short else body)
        if cut_short:
            handler.close_connection = True

    def page(self, name: str, files: list[dict[str, object]], **more: object) -> Answer:
        """Serve a JSON page."""
        body = json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": files}).encode()
        answer = self.answers[f"/simple/{name}/"] = Answer(body, **more)  # type: ignore[arg-type]
        return answer

    def file(self, filename: str, body: bytes, **entry: object) -> dict[str, object]:
        """Serve a file, and return its entry for a page."""
        self.answers[f"/files/{filename}"] = Answer(body, "application/octet-stream")
        return {
            "filename": filename,
            "url": f"{self.root}/files/{filename}",
            "hashes": {"sha256": hashlib.sha256(body).hexdigest()},
            "size": len(body),
            "upload-time": "2024-05-01T10:00:00.123456Z",
            **entry,
        }

    def wheel(self, filename: str, *requires: str, **entry: object) -> dict[str, object]:
        return self.file(filename, make_wheel(filename, *requires), **entry)


def make_wheel(filename: str, *requires: str, members: dict[str, bytes] | None = None, padding: int = 0) -> bytes:
    """Return a wheel; ``padding`` bytes that do not compress come first."""
    name, version = filename.split("-")[:2]
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        *(f"Requires-Dist: {r}" for r in requires),
    ]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        if padding:
            archive.writestr(zipfile.ZipInfo(f"{name}/data.bin"), bytes(i * i % 251 for i in range(padding)))
        for member, content in (members or {}).items():
            archive.writestr(member, content)
        archive.writestr(f"{name}-{version}.dist-info/METADATA", "\n".join([*lines, "", "Text", "Requires-Dist: no"]))
        archive.writestr(f"{name}-{version}.dist-info/RECORD", "")
    return buffer.getvalue()
