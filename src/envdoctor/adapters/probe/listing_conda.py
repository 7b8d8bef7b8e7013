"""The outputs of ``conda list``: text, ``--json``, ``--export`` and ``--explicit``; and of ``conda env export``.

Mamba's are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from packaging.utils import canonicalize_name

from envdoctor.adapters.probe.listing_parts import Listing, ListingError, distribution, lines_of
from envdoctor.model.environment import CondaPackage

__all__ = [
    "add_conda_row",
    "is_conda_export",
    "is_conda_text",
    "read_conda_export",
    "read_conda_json",
    "read_conda_text",
]

_TEXT = re.compile(
    r"^#[^\S\n]*packages in environment at (?P<root>.+)$"
    r"|^[^\S\n]*List of packages in environment: \"?(?P<mamba>[^\"\n]+)",
    re.MULTILINE,
)
_HEADER = re.compile(r"^#?[^\S\n]*(?:Name\s+Version\s+Build\b|Package\s+Version\s+Build\s+Size\s+Kind\b)", re.MULTILINE)
"""Pixi's has a row's kind and size besides."""
_EXPORT = re.compile(r"^[\w.-]+=[^=\s]+=[^=\s]+$", re.MULTILINE)
_PLATFORM = re.compile(r"^#[^\S\n]*platform:\s*(\S+)", re.MULTILINE)
_ARCHIVE = re.compile(r"(?<![\w.-])([\w.-]+)-([^-/]+)-([^-/]+)\.(?:conda|tar\.bz2)(?:#\w+)?$")
# A build of a Python package says which Python, or that it is `noarch: python`.
_PYTHON_BUILD = re.compile(r"py\d|py_\d|pyh[0-9a-f]|python|pypi_")
_PLATFORMS = {"linux": "linux", "win": "win32", "osx": "darwin"}
_NAMES = {
    "pytorch": "torch",
    "pytorch-gpu": "torch",
    "py-opencv": "opencv-python",
    "msgpack-python": "msgpack",
    "pytables": "tables",
    "matplotlib-base": "matplotlib",
    "faiss-gpu": "faiss-gpu",
    "py-xgboost": "xgboost",
    "python-flatbuffers": "flatbuffers",
    "tensorflow-base": "tensorflow",
    "importlib_metadata": "importlib-metadata",
}
"""Conda's names of packages that the Python world calls otherwise."""


def is_conda_text(text: str) -> bool:
    """Return whether the text is one of conda's listings."""
    if _TEXT.search(text) or _HEADER.search(text) or "@EXPLICIT" in text:
        return True
    return len(_EXPORT.findall(text)) >= 1 and "==" not in text


def read_conda_text(text: str, name: str) -> Listing:
    """Read the text of ``conda list``, with or without ``--export`` or ``--explicit``."""
    listing = Listing("conda list")
    header = _TEXT.search(text)
    if header:
        listing.root = (header["root"] or header["mamba"] or "").strip().removesuffix(":").strip()
    platform = _PLATFORM.search(text)
    if platform:
        _set_platform(listing, platform[1])
    first: tuple[int, str] | None = None
    for number, line in lines_of(text):
        if line.startswith(("#", "@", "List of packages")) or _HEADER.match(line) or set(line) <= set("-─━ "):
            continue
        row = _row(line)
        if row is None:
            listing.skip(name, number, line)
            first = first or (number, line)
        else:
            add_conda_row(listing, *row)
    if first is not None and len(listing.problems) > len(listing.conda_packages):
        raise ListingError(name, first[0], f"`{first[1][:80]}` is no line of `conda list`")
    return listing


def _row(line: str) -> tuple[str, str, str, str] | None:
    if "://" in line.split()[0]:
        match = _ARCHIVE.search(line.rsplit("/", 1)[-1])
        return (match[1], match[2], match[3], "") if match else None
    if _EXPORT.match(line):
        name, version, build = line.split("=")
        return name, version, build, "pypi" if build.startswith("pypi_") else ""
    fields = line.split()
    if len(fields) < 2 or not fields[1][:1].isdigit():
        return None
    if "pypi" in fields[2:]:
        return fields[0], fields[1], "pypi_0", "pypi"
    # The build is missing only where a row was cut short.
    return fields[0], fields[1], fields[2] if len(fields) > 2 else "", fields[3] if len(fields) > 3 else ""


def read_conda_json(rows: list[Mapping[str, object]], name: str) -> Listing:
    """Read ``conda list --json``."""
    listing = Listing("conda list")
    for number, row in enumerate(rows):
        if not isinstance(row.get("name"), str) or not isinstance(row.get("version"), str):
            raise ListingError(name, 1, f"entry [{number}] has no `name` and `version`")
        build = str(row.get("build_string") or "")
        add_conda_row(listing, str(row["name"]), str(row["version"]), build, str(row.get("channel") or ""))
        if str(row.get("platform") or "noarch") not in ("noarch", "pypi"):
            _set_platform(listing, str(row["platform"]))
    return listing


def add_conda_row(listing: Listing, name: str, version: str, build: str, channel: str) -> None:
    """Add one package; those of other languages are kept as conda packages only."""
    listing.conda_packages.append(CondaPackage(name, version, build, channel))
    if name == "python":
        listing.set_python(version)
        return
    pypi = channel == "pypi" or build.startswith(("pypi_", "<pip>"))  # The last as conda wrote it up to 4.5.
    if not pypi and not _PYTHON_BUILD.search(build):
        return
    called = name if pypi else _NAMES.get(name, name)
    found = distribution(called, version, installer="pip" if pypi else "conda")
    if found is not None and found.name in _OF_TORCH:
        found = replace(found, build_label=_label_of_build(build))
    # `pytorch` and `pytorch-gpu`, `matplotlib` and `matplotlib-base` are one distribution of Python.
    if found is not None and (pypi or canonicalize_name(called) not in listing.names()):
        listing.distributions.append(found)


_OF_TORCH = frozenset({"torch", "torchvision", "torchaudio"})


def _label_of_build(build: str) -> str:
    """Return ``cu121`` for ``py3.10_cuda12.1_cudnn8_0``, ``py310_cu121`` and ``cuda121_py310h1``; ``cpu``; nothing."""
    if cuda := re.search(r"cu(?:da)?_?(\d{2})\.?(\d)(?!\d)", build):
        return f"cu{cuda[1]}{cuda[2]}"
    return "cpu" if re.search(r"(?:^|_)cpu(?:_|$)", build) else ""


def _set_platform(listing: Listing, subdir: str) -> None:
    system, _, machine = subdir.partition("-")
    if system in _PLATFORMS:
        listing.set_platform(_PLATFORMS[system], {"64": "x86_64", "32": "x86"}.get(machine, machine))


_EXPORT_HEAD = re.compile(r"^dependencies:\s*$", re.MULTILINE)
_EXPORT_ROW = re.compile(r"- (?:[\w./-]+::)?([A-Za-z0-9_][\w.-]*)=([^=\s<>!~*|,]+)(?:=(\S+))?\s*$")


def is_conda_export(text: str) -> bool:
    """Return whether the text is of `conda env export`."""
    return _EXPORT_HEAD.search(text) is not None


def read_conda_export(text: str, name: str) -> Listing:
    """Read `conda env export`; a file that somebody wrote to be installed names no versions, and is refused."""
    listing = Listing("conda env export")
    loose: list[tuple[int, str]] = []
    pip = False
    for number, line in _dependencies(text):
        if re.match(r"- pip:$", line):
            pip = True
        elif pip and (found := re.match(r"- ([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==(\S+)$", line)):
            if (item := distribution(found[1], found[2], installer="pip")) is not None:
                listing.distributions.append(item)
        elif not pip and (row := _EXPORT_ROW.match(line)):
            add_conda_row(listing, row[1], row[2], row[3] or _build_of(row[1]), "")
        else:
            loose.append((number, line))
    if len(loose) * 2 > len(listing.conda_packages) + len(listing.distributions):
        message = (
            f"`{loose[0][1][:80]}` names no installed version: give what `conda list` or `conda env export` prints of "
            "the environment; a file of requirements is checked as the project"
        )
        raise ListingError(name, loose[0][0], message)
    for number, line in loose:
        listing.skip(name, number, line)
    root = re.search(r"^prefix:[^\S\n]*(\S.*)$", text, re.MULTILINE)
    listing.root = root[1].strip() if root else ""
    return listing


def _dependencies(text: str) -> Iterator[tuple[int, str]]:
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if _EXPORT_HEAD.match(line):
            inside = True
        elif inside and re.match(r"\w", line):
            return
        elif inside and line.strip().startswith("- "):
            yield number, line.strip()


_OF_PYTHON = frozenset(
    {"numba", "numpy", "onnx", "onnxruntime", "pandas", "pillow", "pip", "protobuf", "pydantic", "pytorch", "scipy",
     "scikit-learn", "setuptools", "tensorflow", "torchaudio", "torchvision", "transformers", "librosa"}
)  # fmt: skip


def _build_of(name: str) -> str:
    """Return what stands for a build that was left out: some names are Python's, the others may be anything."""
    return "py_0" if name in _OF_PYTHON else ""
