"""A frozen index: pages and metadata of a real one as files, which nginx serves on loopback.

A scratch folder holds ``raw/NAME.json`` (pages as the index gave them), ``site/files/HOST/PATH.metadata``, and what is
made of them: ``site/simple/NAME/index.json``. Every page and metadata file lies beside its packed form.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.inputs import static_versions

__all__ = ["FRESH", "NoServer", "freeze", "missed", "normal", "page_of", "place_of", "serve", "stop"]

FRESH = 600
"""Seconds for which a page is fresh, as public indexes say."""
_MOMENT = 1_750_000_000
_CONFIGURATION = """worker_processes 1;
daemon on;
{user}pid {root}/nginx.pid;
error_log {root}/nginx.err warn;
events {{ worker_connections 1024; }}
http {{
  default_type application/octet-stream;
  client_body_temp_path {root}/tmp; proxy_temp_path {root}/tmp; fastcgi_temp_path {root}/tmp;
  uwsgi_temp_path {root}/tmp; scgi_temp_path {root}/tmp;
  sendfile on; tcp_nodelay on; keepalive_requests 100000; etag on; gzip_static on;
  open_file_cache max=20000 inactive=600s; open_file_cache_valid 600s;
  log_format short '$status $request_uri';
  access_log {root}/nginx.log short;
  server {{
    listen 127.0.0.1:{port} backlog=1024;
    root {root}/site;
    location ~ ^/simple/(?<name>[^/]+)/$ {{
      types {{ application/vnd.pypi.simple.v1+json json; }}
      add_header Cache-Control "max-age={fresh}, public" always;
      try_files /simple/$name/index.json =404;
    }}
    location /files/ {{ add_header Cache-Control "max-age=365000000, immutable, public"; }}
  }}
}}
"""


class NoServer(Exception):
    """There is no nginx, or it does not start."""


def normal(name: str) -> str:
    """Return a project's name as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def place_of(url: str) -> str:
    """Return where a file of the index lies below ``files``: its host, then its path."""
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}"


def page_of(raw: bytes, base: str, metadata: Path | None = None) -> dict[str, Any]:
    """Return a recorded page with the addresses of files below ``base``, and an entry for each static version.

    Sidecars are advertised for every wheel: with the hash that the index gives, else that of the file below
    ``metadata``, where there is one.
    """
    page = json.loads(raw)
    files = [entry for entry in page["files"] if entry["filename"].endswith((".whl", ".tar.gz", ".zip"))]
    files += list(_static_entries(normal(page["name"]), files))
    return {
        "meta": {"api-version": "1.1"},
        "name": page["name"],
        "versions": page.get("versions", []),
        "files": [_entry(entry, base, metadata) for entry in files],
    }


def _entry(entry: dict[str, Any], base: str, metadata: Path | None) -> dict[str, Any]:
    place = place_of(entry["url"])
    side: object = entry["filename"].endswith(".whl")
    if side and metadata is not None:
        told, known = entry.get("core-metadata"), metadata / f"{place}.metadata"
        if isinstance(told, dict):
            side = told
        elif known.is_file():
            side = {"sha256": hashlib.sha256(known.read_bytes()).hexdigest()}
    kept = ("filename", "hashes", "requires-python", "size", "upload-time")
    shown = {key: entry.get(key) for key in kept}
    return {**shown, "yanked": entry.get("yanked", False), "url": base + place, "core-metadata": side}


def _static_entries(name: str, files: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a wheel for each version of which sdists alone are of use: nothing has to be built for its metadata."""
    wanted = static_versions().get(name, set())
    for entry in files:
        stem = re.sub(r"\.(tar\.gz|zip)$", "", entry["filename"])
        version = stem.rpartition("-")[2]
        if stem == entry["filename"] or version not in wanted:
            continue
        wheel = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
        made = f"{entry['url'].rpartition('/')[0]}/{wheel}"
        digest = hashlib.sha256(made.encode()).hexdigest()
        yield {**entry, "filename": wheel, "url": made, "hashes": {"sha256": digest}, "core-metadata": None}


def freeze(root: Path, port: int) -> dict[str, int]:
    """Make the static tree of what was recorded; return how much it is."""
    site = root / "site"
    shutil.rmtree(site / "simple", ignore_errors=True)
    told = {"pages": 0, "bytes of JSON": 0, "files listed": 0, "metadata files": 0}
    for file in sorted((root / "raw").glob("*.json")):
        raw = file.read_bytes()
        if not raw:
            continue
        page = page_of(raw, f"http://127.0.0.1:{port}/files/", site / "files")
        body = json.dumps(page, separators=(",", ":")).encode()
        told["pages"] += 1
        told["bytes of JSON"] += len(body)
        told["files listed"] += len(page["files"])
        _put(site / "simple" / file.stem / "index.json", body)
    for sidecar in (site / "files").rglob("*.metadata"):
        told["metadata files"] += 1
        if not sidecar.with_name(sidecar.name + ".gz").exists():
            _put(sidecar, sidecar.read_bytes())
    return told


def _put(path: Path, body: bytes) -> None:
    """Write a file and its packed form with one age, so that its ETag stays when it is made again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = path.with_name(path.name + ".gz")
    path.write_bytes(body)
    packed.write_bytes(gzip.compress(body, 4, mtime=0))
    for each in (path, packed):
        os.utime(each, (_MOMENT, _MOMENT))


def _nginx(nginx: str) -> str:
    found = shutil.which(nginx) or shutil.which(nginx, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        raise NoServer(f"`{nginx}` is not here: install it (Debian's package nginx-light), or give `--nginx PATH`")
    return found


@contextmanager
def serve(root: Path, port: int, nginx: str = "nginx") -> Iterator[str]:
    """Serve the frozen index; yield its URL. Raises NoServer."""
    stop(root)
    (root / "tmp").mkdir(exist_ok=True)
    user = "user root;\n" if os.geteuid() == 0 else ""
    configuration = root / "nginx.conf"
    configuration.write_text(_CONFIGURATION.format(root=root, port=port, fresh=FRESH, user=user), encoding="utf-8")
    (root / "nginx.log").write_text("", encoding="utf-8")
    done = subprocess.run(
        [_nginx(nginx), "-c", str(configuration), "-p", str(root), "-e", str(root / "nginx.err")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise NoServer(f"nginx does not start: {done.stderr.strip()}")
    try:
        time.sleep(0.3)
        yield f"http://127.0.0.1:{port}/simple/"
    finally:
        stop(root)


def stop(root: Path) -> None:
    """End the server that was started for this folder, if it runs."""
    mark = root / "nginx.pid"
    try:
        os.kill(int(mark.read_text(encoding="utf-8")), signal.SIGQUIT)
    except (OSError, ValueError):
        return
    for _ in range(50):
        if not mark.exists():
            return
        time.sleep(0.1)


def missed(root: Path) -> list[str]:
    """Return the metadata that somebody asked the frozen index for and that was never recorded."""
    lines = (root / "nginx.log").read_text(encoding="utf-8").splitlines()
    return sorted({line.partition(" ")[2] for line in lines if line.startswith("404 /files/")})
