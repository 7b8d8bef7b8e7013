"""What an sdist holds, and from that what its build would need; nothing of it is run."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import IO, Any, cast

from envdoctor.adapters.index.metadata_text import (
    Headers,
    MetadataRecord,
    OnlyABuild,
    read_headers,
    read_requires_txt,
    record_of,
)
from envdoctor.adapters.index.setup_conditions import Unforeseeable, with_conditions
from envdoctor.model.candidate import BuildRisk, MetadataSource
from envdoctor.model.dataclass import dataclass
from envdoctor.toml_tables import TomlError, read_toml

__all__ = ["SdistContents", "UnreadableSdist", "grade", "read_sdist", "read_sdist_member"]

_VERSION = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})")
_NATIVE = re.compile(
    r"(?:\.(?:c|cc|cpp|cxx|cu|hip|m|mm|pyx|pxd|rs|f|f77|f90|f95|go|s|asm)"
    r"|(?:^|/)(?:Cargo\.toml|CMakeLists\.txt|meson\.build|configure\.ac|configure))$"
)
_ASIDE = re.compile(
    r"(?:^|/)(?:tests?|testing|docs?|examples?|samples?|benchmarks?|fixtures|node_modules)/", re.IGNORECASE
)
_DECLARES = re.compile(
    r"ext_modules|ext-modules|cythonize|CUDAExtension|CppExtension|cffi_modules|rust_extensions|RustExtension"
    r"|CMakeExtension|\bExtension\s*\(|setuptools_rust"
)
_OF_FILES = re.compile(r"Extension\s*\(")
_GENERATED = re.compile(r"cythonize|cffi_modules|mypyc|pythran|pycc|setuptools_rust|rust_extensions|RustExtension")
"""Makes what is compiled out of Python, or elsewhere."""
_COMPILING_BACKEND = re.compile(
    r"mesonpy|scikit_build_core|scikit-build|skbuild|maturin|setuptools[-_]rust|sipbuild|enscons"
)
_PURE_BACKEND = re.compile(
    r"build-backend\s*=\s*[\"'](?:flit_core|hatchling|poetry\.core|poetry_core|pdm\.backend|uv_build)"
)
_STAND_IN_BACKEND = re.compile(r"build-backend\s*=\s*[\"'](?:wheel|nvidia)_stub\b")
"""NVIDIA's: the build fetches the wheel itself from another index."""
_RUNS_PIP = re.compile(r"[\"']-m[\"']\s*,\s*[\"']pip[\"']|\bpip\.main\(|\bpip\._internal\b")
_DOWNLOADS = re.compile(r"\b(?:urlretrieve|urlopen)\s*\(")
_OF_INSTALLING = re.compile(
    r"^class \w+\((?:[^()\n]{0,200}\W)?_?(?:install|build|build_py|bdist_wheel)\b[^()\n]{0,200}\)", re.MULTILINE
)
_INSTALLS = re.compile(r"\b(?:os\.system|subprocess\.\w+|check_call|pip\.main)\([^()]{0,200}\binstall\b")
_BODY = re.compile(r"\s*(?:async )?(def|class) (\w+)")
_HOOKS = re.compile(r"^[^\S\n]*(?:script\s*=|build\s*=\s*[\"'{]|\[tool\.hatch\.build\..*hooks)", re.MULTILINE)


def grade(names: Iterable[str], texts: Mapping[str, str]) -> BuildRisk:
    """Grade an sdist.

    ``names`` and the keys of ``texts`` are relative to its top folder; ``texts`` holds ``setup.py``, ``setup.cfg`` and
    ``pyproject.toml`` where there are any.
    """
    project = texts.get("pyproject.toml", "")
    declared = "\n".join(_without_comments(texts.get(name, "")) for name in ("setup.py", "setup.cfg"))
    native = any(_NATIVE.search(name) and not _ASIDE.search(name) for name in names)
    if _COMPILING_BACKEND.search(_without_comments(project)):
        return BuildRisk.COMPILER
    if _DECLARES.search(declared + project) and (native or not _without_its_sources(declared + project)):
        return BuildRisk.COMPILER
    if _PURE_BACKEND.search(project) and not _HOOKS.search(project):
        return BuildRisk.ANYWHERE
    if native:
        return BuildRisk.COMPILER
    fetching = _RUNS_PIP.search(declared) or _DOWNLOADS.search(declared)
    if (fetching and _OF_INSTALLING.search(declared)) or _installs_at_once(declared):
        return BuildRisk.FETCHES
    if _STAND_IN_BACKEND.search(project):
        return BuildRisk.FETCHES
    return BuildRisk.ANYWHERE if declared.strip() or project else BuildRisk.UNKNOWN


def _installs_at_once(script: str) -> bool:
    """Whether an install runs with the script itself, which runs for metadata, too."""
    return any(_runs_at_once(script, found.start()) for found in islice(_INSTALLS.finditer(script), 20))


def _runs_at_once(script: str, at: int) -> bool:
    """Whether no function or class is around a call, or a function that the script calls at its top."""
    *above, line = script[:at].split("\n")
    indent = len(line) - len(line.lstrip())
    for each in reversed(above):
        depth = len(each) - len(each.lstrip())
        if not each.strip() or depth >= indent:
            continue
        indent = depth
        if "argv" in each:  # For who types a word of its own, such as `publish`.
            return False
        if body := _BODY.match(each):
            called = re.search(rf"^{body[2]}\(", script, re.MULTILINE) is not None
            return body[1] == "def" and not depth and called
    return True


def _without_its_sources(declared: str) -> bool:
    """Whether extensions are declared of files that the archive would have: without them they are for developers."""
    return _OF_FILES.search(declared) is not None and _GENERATED.search(declared) is None


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


_MOST_UNPACKED = 2 * 1024**3
_MOST_MEMBERS = 200_000
_MOST_TEXT = 2 * 1024 * 1024
_EGG_REQUIRES = re.compile(r"(?:^|/)[^/]+\.egg-info/requires\.txt$")
_EGG_INFO = re.compile(r"(?:^|/)[^/]+\.egg-info/(?:PKG-INFO|SOURCES\.txt)$")
_TEXTS = ("PKG-INFO", "setup.py", "setup.cfg", "pyproject.toml")
_INSTALL_REQUIRES = re.compile(r"install_requires|requires\s*=|extras_require|dependencies")


class UnreadableSdist(Exception):
    """Not an archive, or one beyond the limits; the text is the reason."""


@dataclass(frozen=True, slots=True)
class SdistContents:
    """Member names as in the archive, and the texts that metadata and grading need (by name without top folder)."""

    names: tuple[str, ...]
    texts: dict[str, str]

    def encode(self) -> bytes:
        """Return the compact form for the cache."""
        return zlib.compress(json.dumps([self.names, self.texts], separators=(",", ":")).encode(), 1)

    @classmethod
    def decode(cls, body: bytes) -> SdistContents:
        """Read the compact form. Raises ValueError or zlib.error."""
        names, texts = json.loads(zlib.decompress(body))
        return cls(tuple(names), dict(texts))

    def risk(self) -> BuildRisk:
        """Grade what building would need."""
        return grade((_inside(name) for name in self.names), self.texts)

    def metadata(self) -> MetadataRecord:
        """Return what the archive says without being built. Raises OnlyABuild."""
        info = self.texts.get("PKG-INFO")
        headers = read_headers(info.encode()) if info is not None else Headers()
        project = self._project()
        python = headers.requires_python or _text(project.get("requires-python"))
        extras = headers.provides_extra
        static = _at_least_2_2(headers.metadata_version) and "requires-dist" not in headers.dynamic
        if static:
            return record_of(headers.requires_dist, python, extras, MetadataSource.PKG_INFO)
        if headers.requires_dist:
            return record_of(self._with_conditions(headers.requires_dist), python, extras, MetadataSource.PKG_INFO)
        if project and "dependencies" not in _listed(project, "dynamic"):
            lines, named = _project_lines(project)
            return record_of(lines, python, named, MetadataSource.PKG_INFO)
        egg = next((text for name, text in self.texts.items() if _EGG_REQUIRES.search(name)), None)
        if egg is not None or any(_EGG_INFO.search(name) for name in self.names):
            lines, named = read_requires_txt(egg or "")
            return record_of(self._with_conditions(lines), python, named or extras, MetadataSource.EGG_INFO)
        declared = self.texts.get("setup.py", "") + self.texts.get("setup.cfg", "")
        if declared and not _INSTALL_REQUIRES.search(declared):
            return record_of((), python, extras, MetadataSource.PKG_INFO)
        raise OnlyABuild

    def _with_conditions(self, lines: tuple[str, ...]) -> tuple[str, ...]:
        """Return what the packer's machine wrote with the conditions of ``setup.py``. Raises OnlyABuild."""
        try:
            return with_conditions(lines, self.texts.get("setup.py", ""))
        except Unforeseeable as error:
            raise OnlyABuild(f"whether it wants `{error}` depends on the machine") from None

    def _project(self) -> dict[str, Any]:
        try:
            table = read_toml(self.texts.get("pyproject.toml", "")).get("project")
        except TomlError:
            return {}
        return table if isinstance(table, dict) else {}


def _at_least_2_2(version: str) -> bool:
    found = _VERSION.fullmatch(version)
    return found is not None and (int(found[1]), int(found[2])) >= (2, 2)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _listed(table: dict[str, Any], key: str) -> list[Any]:
    value = table.get(key)
    return value if isinstance(value, list) else []


def _project_lines(project: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    lines = [line for line in _listed(project, "dependencies") if isinstance(line, str)]
    extras = project.get("optional-dependencies")
    extras = extras if isinstance(extras, dict) else {}
    for extra, wanted in extras.items():
        for line in wanted if isinstance(wanted, list) else ():
            head, _, marker = str(line).partition(";")
            own = f"({marker.strip()}) and " if marker.strip() else ""
            lines.append(f'{head.strip()} ; {own}extra == "{extra}"')
    return tuple(lines), tuple(extras)


def _inside(name: str) -> str:
    return name.partition("/")[2] or name


def _wanted(name: str) -> bool:
    inside = _inside(name)
    return inside in _TEXTS or _EGG_REQUIRES.search(inside) is not None


def read_sdist(content: bytes, filename: str) -> SdistContents:
    """Read names and metadata texts in one pass. Raises UnreadableSdist."""
    names: list[str] = []
    texts: dict[str, str] = {}
    for name, size, take in _members(content, filename):
        names.append(name)
        if _wanted(name) and size <= _MOST_TEXT:
            texts[_inside(name)] = take().decode("utf-8", "replace")
    return SdistContents(tuple(names), texts)


def read_sdist_member(content: bytes, filename: str, member: str, limit: int) -> bytes | None:
    """Return one member's bytes, None where there is none. Raises UnreadableSdist."""
    for name, size, take in _members(content, filename):
        if name == member:
            if size > limit:
                raise UnreadableSdist(f"`{member}` is larger than {limit} bytes")
            return take()
    return None


_Entry = tuple[str, int, Callable[[], bytes]]


def _members(content: bytes, filename: str) -> Iterator[_Entry]:
    """Yield regular files: name, size, and how to read it before going on."""
    try:
        members = _zip_members(content) if filename.endswith(".zip") else _tar_members(content, filename)
        for name, size, take in members:
            yield name, size, partial(_whole, take)
    except _DAMAGED as error:
        raise UnreadableSdist(f"its archive is damaged ({error})") from None


_DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    OSError,
    EOFError,
    lzma.LZMAError,
    zlib.error,
    ValueError,
    RuntimeError,
)
"""RuntimeError: an encrypted member, or a compression that nobody knows."""


def _whole(take: Callable[[], bytes]) -> bytes:
    """Return a member's bytes; who asks for them is outside of the loop over the archive. Raises UnreadableSdist."""
    try:
        return take()
    except _DAMAGED as error:
        raise UnreadableSdist(f"its archive is damaged ({error})") from None


def _zip_members(content: bytes) -> Iterator[_Entry]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        infos = archive.infolist()
        if len(infos) > _MOST_MEMBERS or sum(info.file_size for info in infos) > _MOST_UNPACKED:
            raise UnreadableSdist("its archive is larger than the limits here")
        for info in infos:
            if not info.filename.endswith("/"):
                yield info.filename, info.file_size, lambda info=info: archive.read(info)  # type: ignore[misc]


def _tar_members(content: bytes, filename: str) -> Iterator[_Entry]:
    packed = io.BytesIO(content)
    opener = gzip.open if filename.endswith((".gz", ".tgz")) else bz2.open if filename.endswith(".bz2") else lzma.open
    count = unpacked = 0
    with cast("IO[bytes]", opener(packed)) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            count += 1
            unpacked += max(member.size, 0)
            if count > _MOST_MEMBERS or unpacked > _MOST_UNPACKED:
                raise UnreadableSdist("its archive is larger than the limits here")
            if member.isreg():
                yield member.name, member.size, lambda member=member: _taken(archive, member)  # type: ignore[misc]


def _taken(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    return file.read() if file is not None else b""
