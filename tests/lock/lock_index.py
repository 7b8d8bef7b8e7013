"""A package index on a loopback port, for locks that are made of it."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class LoopbackIndex:
    """A simple index (PEP 691) that serves what was added to it; ``status`` answers for single paths."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.pages: dict[str, list[dict[str, object]]] = {}
        self.status: dict[str, int] = {}
        index = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                status, kind, body = index._answer(self.path)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        # A client that hangs up is no failure of the test.
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.root = f"http://127.0.0.1:{self._server.server_port}"
        self.url = f"{self.root}/simple/"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, path: str) -> tuple[int, str, bytes]:
        refused = self.status.get(path)
        body: bytes | None = self.files.get(path.rpartition("/")[2])
        kind = "application/octet-stream"
        if path.startswith("/simple/") and path.split("/")[2] in self.pages:
            name = path.split("/")[2]
            kind = "application/vnd.pypi.simple.v1+json"
            page = {"meta": {"api-version": "1.1"}, "name": name, "files": self.pages[name]}
            body = json.dumps(page).encode()
        if refused is not None or body is None:
            return refused or 404, "text/plain", b""
        return 200, kind, body

    def wheel(
        self,
        name: str,
        version: str,
        requires: tuple[str, ...] = (),
        *,
        hashed: bool = True,
        tag: str = "py3-none-any",
        metadata: str = "",
    ) -> str:
        """Serve a wheel and return its sha256."""
        about = f"{name}-{version}.dist-info"
        lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
        lines += [f"Requires-Dist: {line}" for line in requires]
        members = {
            f"{name}.py": "",
            f"{about}/METADATA": metadata or "\n".join(lines) + "\n",
            f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: {tag}\n",
            f"{about}/RECORD": "",
        }
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for member, text in members.items():
                archive.writestr(member, text)
        return self._serve(name, f"{name}-{version}-{tag}.whl", stream.getvalue(), hashed=hashed)

    def sdist(self, name: str, version: str, setup: str) -> str:
        """Serve an sdist that says nothing but through its setup.py; return its sha256."""
        root = f"{name}-{version}"
        texts = {"PKG-INFO": f"Metadata-Version: 1.0\nName: {name}\nVersion: {version}\n", "setup.py": setup}
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w:gz") as archive:
            for member, text in texts.items():
                entry = tarfile.TarInfo(f"{root}/{member}")
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
        return self._serve(name, f"{root}.tar.gz", stream.getvalue(), hashed=True)

    @staticmethod
    def digest(body: bytes) -> str:
        return hashlib.sha256(body).hexdigest()

    def _serve(self, name: str, filename: str, body: bytes, *, hashed: bool) -> str:
        digest = self.digest(body)
        self.files[filename] = body
        entry: dict[str, object] = {
            "filename": filename,
            "url": f"{self.root}/files/{filename}",
            "hashes": {"sha256": digest} if hashed else {},
            "size": len(body),
        }
        self.pages.setdefault(name, []).append(entry)
        return digest
