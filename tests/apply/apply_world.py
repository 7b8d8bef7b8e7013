"""Tiny wheels, a loopback server, and an environment with a project: a world that fits into a second."""

from __future__ import annotations

import base64
import gzip
import hashlib
import http.server
import io
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from packaging.utils import canonicalize_name

from envdoctor.adapters.apply.interpreters import ask_python
from envdoctor.model.plan import (
    BuildSdist,
    CreateEnvironment,
    DownloadFiles,
    InstallFromLock,
    PatchLater,
    Plan,
    PlannedFile,
    RemoveDistribution,
    Step,
    WriteRecord,
    WriteStub,
    WriteVariables,
)
from envdoctor.model.profile import Patch, PatchKind

UV = shutil.which("uv") or str(Path(sys.executable).with_name("uv.exe" if os.name == "nt" else "uv"))
BASE = sys._base_executable  # type: ignore[attr-defined]

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
            if data is None:
                self.send_error(404)
                return
            wanted = self.headers.get("Range", "")
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


ALPHA_1 = make_wheel(
    "alpha",
    "1.0",
    {"alpha/__init__.py": "V = 1\n", "alpha/old.py": "x\n", "shared.py": "1\n"},
    scripts="alpha = alpha:go",
)
ALPHA_2 = make_wheel(
    "alpha",
    "2.0",
    {"alpha/__init__.py": "V = 2\n", "alpha/new.py": "y\n", "shared.py": "2\n"},
    scripts="alpha = alpha:go",
)
BETA_1 = make_wheel("beta", "1.0", {"beta/__init__.py": "V = 1\n", "beta/data.bin": bytes(range(256))})
GAMMA_1 = make_wheel("gamma", "1.0", {"gamma.py": "import left_out\nDEVICE = 'cuda'\n"})
DELTA = make_sdist()
EVERYTHING = dict([ALPHA_1, ALPHA_2, BETA_1, GAMMA_1, DELTA])

PROJECT = {
    "app.py": b"import deepspeed\r\n\r\ndevice = 'cuda'\r\n",
    "scripts/start.bat": b"python app.py --deepspeed\r\n",
    "notes.txt": "größer\n".encode("latin-1"),
}


@dataclass
class World:
    """An environment with alpha 1.0 and beta 1.0 beside a project."""

    root: Path

    @property
    def environment(self) -> Path:
        """The environment."""
        return self.root / "env"

    @property
    def project(self) -> Path:
        """The project."""
        return self.root / "project"

    def state(self) -> dict[str, tuple[object, ...]]:
        """Return everything that must be the same again: content, modes, links, also of empty folders."""
        return {
            **{f"env/{name}": value for name, value in tree_state(self.environment).items()},
            **{f"project/{name}": value for name, value in tree_state(self.project).items()},
        }


def tree_state(root: Path) -> dict[str, tuple[object, ...]]:
    """Return every name under a folder but ``.envdoctor`` with its content."""
    found: dict[str, tuple[object, ...]] = {}
    if not root.exists():
        return {"": ("absent",)}
    for folder, names, files in os.walk(root):
        if ".envdoctor" in names:
            names.remove(".envdoctor")
        for name in [*names, *files]:
            path = Path(folder, name)
            relative = path.relative_to(root).as_posix()
            if path.is_symlink():
                found[relative] = ("link", str(path.readlink()))
            elif path.is_dir():
                found[relative] = ("folder", path.stat().st_mode)
            else:
                status = path.stat()
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found[relative] = ("file", status.st_mode, status.st_mtime_ns, digest)
    return found


def make_world(root: Path, *, environment: bool = True) -> World:
    """Build a world in an empty folder."""
    world = World(root)
    for name, data in PROJECT.items():
        path = world.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if environment:
        run([UV, "venv", "--no-config", "--no-project", "--python", BASE, str(world.environment)])
        wheels = root / "wheels"
        wheels.mkdir()
        for name, data in (ALPHA_1, BETA_1):
            (wheels / name).write_bytes(data)
        run(
            [UV, "pip", "install", "--no-config", "--offline", "--no-index", "--no-deps", "--link-mode", "copy",
             "--python", str(python_in(world.environment)), *map(str, wheels.glob("*.whl"))]
        )  # fmt: skip
        shutil.rmtree(wheels)
    return world


def copy_world(world: World, root: Path) -> World:
    """Copy a world with times and modes; nothing in it knows where it is but its scripts."""
    shutil.copytree(world.root, root, symlinks=True)
    return World(root)


def python_in(environment: Path) -> Path:
    """Return an environment's interpreter."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def site_of(environment: Path) -> Path:
    """Return an environment's site-packages."""
    library = "Lib" if os.name == "nt" else f"lib/python{sys.version_info[0]}.{sys.version_info[1]}"
    return environment / library / "site-packages"


def run(argv: list[str]) -> None:
    """Run a command that must not fail."""
    done = subprocess.run(argv, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def full_plan(world: World, url: str, *, created: bool = False) -> Plan:
    """Return a plan with every kind of step."""
    from envdoctor.adapters.apply.preview import preview_patches
    from envdoctor.adapters.apply.trees import FolderTree

    alpha = planned("alpha", "2.0", *ALPHA_2, url)
    gamma = planned("gamma", "1.0", *GAMMA_1, url)
    delta = planned("delta", "1.0", *DELTA, url, sdist=True)
    files = (alpha, delta, gamma)
    patches = [
        Patch(PatchKind.GUARD_IMPORT, ("app.py",), "b", module="deepspeed", name="guard"),
        Patch(PatchKind.SET_ATTRIBUTE, ("app.py",), "b", attribute="device", value="'cpu'", name="device"),
        Patch(PatchKind.REMOVE_FILE, ("scripts/start.bat",), "b", name="no-start"),
    ]
    preview = preview_patches(patches, {"project": FolderTree(world.project)})
    assert not preview.refusals
    later = [
        PatchLater(
            "",
            Patch(kind, (file,), "b", root="site-packages", attribute="DEVICE", value="'cpu'", name=f"later-{file}"),
            f"later-{file}",
        )
        for kind, file in ((PatchKind.SET_ATTRIBUTE, "delta.py"), (PatchKind.SET_ATTRIBUTE, "gamma.py"))
    ]
    facts = ask_python(BASE)
    assert facts is not None
    make: list[Step] = [
        CreateEnvironment("", str(world.environment), "3.11", BASE, "uv"),
    ]
    gone: list[Step] = [RemoveDistribution("", canonicalize_name("beta"), "1.0", "it must not be there")]
    steps: list[Step] = [
        DownloadFiles("", files),
        *(make if created else []),
        BuildSdist("", delta, {"TORCH_CUDA_ARCH_LIST": "11.0"}),
        *([] if created else gone),
        InstallFromLock("", files, "uv"),
        *preview.steps,
        *later,
        WriteStub("", "deepspeed/__init__.py", "deepspeed", '"""stub"""\n'),
        WriteVariables("", {"PYTHONUTF8": "1"}),
        WriteRecord("", "environment.json", '{"variables": {"PYTHONUTF8": "1"}}\n', "variables"),
    ]
    from dataclasses import replace

    numbered = tuple(replace(step, id=f"s{number:02d}") for number, step in enumerate(steps, 1))
    return Plan(numbered, str(world.environment), str(world.project))
