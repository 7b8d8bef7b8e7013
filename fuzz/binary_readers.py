"""Readers of archives and libraries; their inputs are made by the tests' writers of small binaries."""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from fuzz.places import ROOT, as_file, seeds
from fuzz.running import Reader

__all__ = ["binary_readers"]


def binary_readers() -> Iterator[Reader]:
    """Yield them all."""
    from envdoctor.adapters.apply.downloads import check_sdist
    from envdoctor.adapters.index.sdist import UnreadableSdist, read_sdist
    from envdoctor.adapters.index.zip_directory import BadArchive, ZipDirectory
    from envdoctor.adapters.probe.binary_loader import parse_ld_cache
    from envdoctor.adapters.probe.binary_reader import read_binary
    from envdoctor.adapters.probe.binary_stream import BinaryUnreadable

    def sdist(data: bytes, filename: str) -> None:
        contents = read_sdist(data, filename)
        contents.risk()
        contents.metadata()

    for title, data in _libraries().items():
        reading = as_file(lambda path: read_binary(path, numpy=True), "demo.so")
        yield Reader(title, reading, data, (BinaryUnreadable,), (_long_library,))
    archives, many = (_zip(), _zip(zipfile.ZIP_DEFLATED)), lambda size: _zip(members=_many_members(size))
    yield Reader("zip directory", _read_zip, archives, (BadArchive,), (many,))
    whole = as_file(_read_wheel, "demo-1.0-py3-none-any.whl")
    yield Reader("wheel", whole, archives, _wheel_errors(), (many,))
    announced = (UnreadableSdist, _unreadable_metadata())
    tar = lambda data: sdist(gzip.compress(data, 1), "demo-1.0.tar.gz")  # noqa: E731
    yield Reader("sdist tar", tar, _sdists(), announced, (lambda size: _tar(_many_members(size)),))
    packed = lambda data: sdist(_packed(data), "demo-1.0.tar.gz")  # noqa: E731
    yield Reader("sdist tar.gz", packed, _sdists(), announced)
    members = {f"demo-1.0/{name}": data for name, data in _sdist_members().items()}
    zipped = (_zip(members=members), _zip(zipfile.ZIP_DEFLATED, members))
    yield Reader("sdist zip", lambda data: sdist(data, "demo-1.0.zip"), zipped, announced, (many,))
    texts = {name: seeds(name) for name in ("setup.py", "pyproject", "requires.txt", "metadata")}
    check = as_file(check_sdist, "demo-1.0.tar.gz")
    yield Reader("sdist to install", lambda data: check(_packed(data)), _sdists(), _wheel_errors())
    for name, kept in texts.items():
        inside = {"pyproject": "pyproject.toml", "requires.txt": "demo.egg-info/requires.txt", "metadata": "PKG-INFO"}
        member = inside.get(name, name)
        yield Reader(
            f"sdist with {name}",
            lambda data, m=member: sdist(gzip.compress(_tar({m: data}), 1), "demo-1.0.tar.gz"),
            kept,
            announced,
        )
    stored = ZipDirectory({})
    yield Reader(
        "kept zip directory", ZipDirectory.decode, (stored.encode(), zlib.compress(b"[[],[]]")), _cache_errors()
    )
    yield Reader("loader cache", parse_ld_cache, (_ld_cache(),))


def _unreadable_metadata() -> type[Exception]:
    from envdoctor.adapters.index.metadata_text import UnreadableMetadata

    return UnreadableMetadata


def _cache_errors() -> tuple[type[Exception], ...]:
    return (ValueError, TypeError, zlib.error)


def _wheel_errors() -> tuple[type[Exception], ...]:
    from envdoctor.adapters.apply.downloads import WrongFile

    return (WrongFile,)


def _read_wheel(path: Path) -> object:
    from envdoctor.adapters.apply.downloads import wheel_targets

    return wheel_targets(path)


def _read_zip(data: bytes) -> None:
    from envdoctor.adapters.index.zip_directory import Window, read_directory, read_member

    def fetch(start: int, stop: int) -> bytes:
        return data[max(start, 0) : max(stop, 0)]

    start = max(0, len(data) - 300)
    directory, window = read_directory(Window(start, data[start:]), fetch)
    assert type(directory).decode(directory.encode()) == directory
    for name, member in directory.members.items():
        read_member(member, name, window, fetch, 1024 * 1024)


def _libraries() -> dict[str, tuple[bytes, ...]]:
    sys.path.insert(0, str(ROOT / "tests" / "binary"))
    from binary_samples import elf, fatbin, hip_bundle, macho, pe, universal

    codes = fatbin((2, 80, 0x11), (1, 90, 0x8011)) + fatbin((2, 90, 0), payload=72)
    return {
        "elf": (
            elf(needed=("libcudart.so.12", "libc.so.6"), soname="demo.so", runpath="$ORIGIN", glibc=("GLIBC_2.28",)),
            elf(wide=False, machine=3, needed=("a",)),
            elf(order=">", machine=22, needed=("a",), sections={".rodata": b"numpy._core._multiarray_umath\0"}),
        ),
        "pe": (pe(needed=("a.dll", "cudart64_12.dll"), delayed=("b.dll",)), pe(machine=0xAA64)),
        "macho": (
            macho(
                needed=("/usr/lib/libSystem.B.dylib",), weak=("@rpath/a.dylib",), rpath="@loader_path", macos=(13, 0)
            ),
            universal((0x0100000C, macho(needed=("a",))), (0x01000007, macho(constants=b"x"))),
        ),
        "fatbin": (elf(sections={".nv_fatbin": codes}), pe(sections={".nv_fatb": codes})),
        "hip bundle": (elf(sections={".hip_fatbin": hip_bundle("gfx1030", "gfx90a:xnack-")}),),
    }


def _members() -> dict[str, bytes]:
    return {
        "demo-1.0.dist-info/METADATA": seeds("metadata")[0],
        "demo-1.0.dist-info/RECORD": b"demo/__init__.py,sha256=x,6\ndemo-1.0.dist-info/RECORD,,\n",
        "demo-1.0.dist-info/entry_points.txt": b"[console_scripts]\ndemo = demo:main\n",
        "demo-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "demo/__init__.py": b"x = 1\n",
        "demo-1.0/setup.py": seeds("setup.py")[0],
    }


def _many_members(size: int) -> dict[str, bytes]:
    return {**{f"demo-{at}/requires.txt": b"x\n" for at in range(size // 150)}, **_members()}


def _long_library(size: int) -> bytes:
    sys.path.insert(0, str(ROOT / "tests" / "binary"))
    from binary_samples import elf

    made: bytes = elf(needed=tuple(f"lib{at}.so" for at in range(size // 50)))
    return made


def _zip(method: int = zipfile.ZIP_STORED, members: dict[str, bytes] | None = None) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in (members or _members()).items():
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=method)
    return stream.getvalue()


def _tar(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(f"demo-1.0/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


def _sdist_members() -> dict[str, bytes]:
    about = b"Metadata-Version: 2.2\nName: demo\nVersion: 1.0\nRequires-Dist: numpy\n"
    requires = seeds("requires.txt")[0]
    return {"PKG-INFO": about, "setup.py": seeds("setup.py")[1], "demo.egg-info/requires.txt": requires}


def _sdists() -> tuple[bytes, ...]:
    return (_tar(_sdist_members()), _tar({"pyproject.toml": seeds("pyproject")[0], "setup.py": seeds("setup.py")[0]}))


def _packed(data: bytes) -> bytes:
    """Return bytes as a gzip stream, a tenth of them cut."""
    stream = gzip.compress(data, 1, mtime=0)
    return stream[: len(stream) // 2] if len(data) % 10 == 0 else stream


def _ld_cache() -> bytes:
    import struct

    name = b"libcuda.so.1\0/usr/lib/libcuda.so.1\0"
    head = b"glibc-ld.so.cache1.1" + struct.pack("<II", 1, len(name)) + bytes(20)
    return head + struct.pack("<iIIIQ", 0x303, 72, 85, 0, 0) + name
