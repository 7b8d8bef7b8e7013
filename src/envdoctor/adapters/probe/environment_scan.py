"""The distributions in a folder, and what their wheels tell of its machine where no interpreter can be asked."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from pathlib import Path
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from envdoctor.adapters.probe.environment_metadata import is_forbidden, is_gone, read_distribution, read_text
from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import (
    CondaPackage,
    EnvironmentProblem,
    EnvironmentProblemKind,
    InstalledDistribution,
    Platform,
)

__all__ = ["Scan", "platform_of_tags", "python_of_tags", "read_conda_packages", "scan_folder"]

_PLATFORM = re.compile(r"(manylinux|musllinux|linux|win|macosx)\d*(?:_\d+){0,4}(?:_(\w+))?$")
_SYSTEMS = {"manylinux": "linux", "musllinux": "linux", "linux": "linux", "win": "win32", "macosx": "darwin"}
_MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "aarch64": "aarch64", "arm64": "arm64"}


def python_of_tags(distributions: Iterable[InstalledDistribution]) -> tuple[int, int] | None:
    """Return the CPython that most compiled wheels of a bare folder were built for."""
    votes: Counter[tuple[int, int]] = Counter()
    for item in distributions:
        for tag in item.wheel_tags[:1]:
            interpreter, _, rest = tag.partition("-")
            # `cp310-abi3` says no more than "3.10 or later".
            if re.fullmatch("cp3[0-9]{1,3}", interpreter) and rest.startswith(interpreter):
                votes[3, int(interpreter[3:])] += 1
    return votes.most_common(1)[0][0] if votes else None


def platform_of_tags(distributions: Iterable[InstalledDistribution]) -> Platform:
    """Return what most compiled wheels are for; empty without any."""
    votes: Counter[tuple[str, str]] = Counter()
    for item in distributions:
        for tag in item.wheel_tags[:1]:
            match = _PLATFORM.match(tag.rpartition("-")[2])
            if match:
                votes[_SYSTEMS[match[1]], _MACHINES.get(match[2] or "", "")] += 1
    return Platform(*votes.most_common(1)[0][0]) if votes else Platform()


_FILE_URL = re.compile(r'"url"\s*:\s*"file://([^"]*)"')
_FILE = re.compile(r"(.+)-([^-]+)-([^-]+)\.json$")


def read_conda_packages(root: Path) -> tuple[CondaPackage, ...]:
    """Return the packages of ``root/conda-meta``, by name; a record that cannot be read is told by its file name."""
    try:
        records = sorted(path for path in (root / "conda-meta").iterdir() if path.suffix == ".json")
    except OSError:
        return ()
    return tuple(package for path in records if (package := _read(path)) is not None)


def _read(path: Path) -> CondaPackage | None:
    match = _FILE.match(path.name)
    if match is None:
        return None
    channel = ""
    # The records list every file and run to megabytes; the channel alone is worth no more than their beginning.
    data = read_text(str(path), 16 * 1024) or b""
    found = re.search(rb'"channel"\s*:\s*("(?:[^"\\]|\\.)*")', data)
    if found:
        try:
            channel = str(json.loads(found[1])).rstrip("/")
        except ValueError:
            return CondaPackage(match[1], match[2], match[3], "")
        # `https://host/conda-forge/linux-64` and a token in it: the channel's own name is enough.
        parts = [
            part for part in channel.split("/") if part and not part.endswith(("-64", "-aarch64", "noarch", "-arm64"))
        ]
        channel = parts[-1] if parts else channel
    return CondaPackage(match[1], match[2], match[3], channel)


@dataclass(slots=True)
class Scan:
    """What one folder holds."""

    distributions: list[InstalledDistribution] = field(default_factory=list)
    problems: list[EnvironmentProblem] = field(default_factory=list)
    pth: list[tuple[str, int, str]] = field(default_factory=list)
    """``(file, line number, text)`` of the lines that run code."""


def scan_folder(folder: str, *, pth: bool = True) -> Scan:
    """Read every distribution of ``folder``, by name; a folder that cannot be listed is a problem.

    ``pth`` false leaves ``.pth`` files alone: they count in site-packages folders only.
    """
    scan = Scan()
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except PermissionError:
        scan.problems.append(EnvironmentProblem(EnvironmentProblemKind.FORBIDDEN, folder, "permission denied"))
        return scan
    except OSError as error:
        scan.problems.append(
            EnvironmentProblem(EnvironmentProblemKind.UNREADABLE_METADATA, folder, error.strerror or str(error))
        )
        return scan
    for name in names:
        if name.startswith("~"):
            # pip renames what it replaces so; a `~` that stays is an uninstall that never ended.
            scan.problems.append(
                EnvironmentProblem(
                    EnvironmentProblemKind.LEFTOVER, f"{folder}/{name}", "left by an interrupted install"
                )
            )
        elif name.endswith((".dist-info", ".egg-info")):
            _add(scan, folder, name)
        elif name.endswith(".egg"):
            _add_egg(scan, folder, name)
        elif name.endswith(".egg-link"):
            _add_link(scan, folder, name)
        elif pth and name.endswith(".pth"):
            scan.pth.extend(pth_lines(f"{folder}/{name}"))
    return scan


def _add(scan: Scan, folder: str, name: str) -> None:
    distribution = read_distribution(folder, name)
    if distribution is not None:
        scan.distributions.append(distribution)
        if distribution.editable and (gone := _gone_source(folder, distribution)):
            scan.problems.append(EnvironmentProblem(EnvironmentProblemKind.SOURCE_GONE, distribution.name, gone))
        return
    path = f"{folder}/{name}"
    metadata = "METADATA" if name.endswith(".dist-info") else "PKG-INFO"
    if is_forbidden(f"{path}/{metadata}"):
        # Its name says what it is of: what may not be read is not missing.
        project, _, version = name.rpartition(".")[0].partition("-")
        unread = InstalledDistribution(canonicalize_name(project), version, location=folder, metadata_path=path)
        scan.distributions += [unread] if version else []
        problem = EnvironmentProblem(EnvironmentProblemKind.FORBIDDEN, path, f"{metadata}: permission denied")
    elif os.path.isfile(f"{path}/{metadata}") or not name.endswith(".dist-info"):
        problem = EnvironmentProblem(
            EnvironmentProblemKind.UNREADABLE_METADATA, path, f"{metadata} has no name and version"
        )
    else:
        problem = EnvironmentProblem(EnvironmentProblemKind.NO_METADATA, path, "there is no METADATA in it")
    scan.problems.append(problem)


def _gone_source(folder: str, distribution: InstalledDistribution) -> str:
    """Return what an editable install points to that is not there (PEP 610, and its ``.pth`` lines); else empty."""
    found = _FILE_URL.search(distribution.direct_url or "")
    source = _local_path(found[1]) if found else ""
    if source and is_gone(source):
        return f"`{source}` is not there"
    record = (read_text(f"{distribution.metadata_path}/RECORD", 64 * 1024) or b"").decode("utf-8", "replace")
    names = [line.partition(",")[0] for line in record.splitlines() if line.partition(",")[0].endswith(".pth")]
    for name in names:
        text = (read_text(f"{folder}/{name}") or b"").decode("utf-8", "replace")
        paths = [line.strip() for line in text.splitlines() if line.startswith(("/", "\\")) or line[1:2] == ":"]
        if paths and all(is_gone(path) for path in paths):
            return f"`{paths[0]}`, which `{name}` names, is not there"
    return ""


def _local_path(url: str) -> str:
    """Return the path of a ``file:`` URL of this system's kind; empty for one of another."""
    path = unquote(url)
    if re.match(r"/[A-Za-z]:/", path):
        return path[1:] if os.name == "nt" else ""
    return path if os.name != "nt" else ""


def _add_egg(scan: Scan, folder: str, name: str) -> None:
    # An unpacked egg keeps its egg-info as EGG-INFO; a zipped one is not opened.
    path = f"{folder}/{name}"
    if os.path.isdir(f"{path}/EGG-INFO"):
        distribution = read_distribution(path, "EGG-INFO")
        if distribution is not None:
            scan.distributions.append(replace(distribution, location=path))


def _add_link(scan: Scan, folder: str, name: str) -> None:
    # `setup.py develop`: the first line is the folder of the project, which holds its egg-info.
    lines = (read_text(f"{folder}/{name}") or b"").decode("utf-8", "replace").splitlines()
    target = lines[0].strip() if lines else ""
    try:
        with os.scandir(target or "\0") as entries:
            found = sorted(entry.name for entry in entries if entry.name.endswith(".egg-info"))
    except (OSError, ValueError):
        detail = f"it points to `{target}`, which is not there"
        project = name.removesuffix(".egg-link")
        scan.problems.append(EnvironmentProblem(EnvironmentProblemKind.SOURCE_GONE, project, detail))
        return
    for entry in found:
        distribution = read_distribution(target, entry)
        if distribution is not None:
            scan.distributions.append(replace(distribution, editable=True))


def pth_lines(path: str) -> Iterator[tuple[str, int, str]]:
    """Yield the lines of a ``.pth`` file that ``site`` would execute: those that begin with ``import``."""
    text = (read_text(path) or b"").decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(("import ", "import\t")):
            yield path, number, line.strip()
