"""One site-packages folder: its distributions, its leftovers, its ``.pth`` lines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from envdoctor.adapters.probe.environment_metadata import read_distribution, read_text
from envdoctor.model.environment import EnvironmentProblem, InstalledDistribution

__all__ = ["Scan", "pth_lines", "scan_folder"]


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
    except OSError as error:
        scan.problems.append(EnvironmentProblem("unreadable-metadata", folder, error.strerror or str(error)))
        return scan
    for name in names:
        if name.startswith("~"):
            # pip renames what it replaces so; a `~` that stays is an uninstall that never ended.
            scan.problems.append(EnvironmentProblem("leftover", f"{folder}/{name}", "left by an interrupted install"))
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
        return
    path = f"{folder}/{name}"
    metadata = "METADATA" if name.endswith(".dist-info") else "PKG-INFO"
    if os.path.isfile(f"{path}/{metadata}") or not name.endswith(".dist-info"):
        problem = EnvironmentProblem("unreadable-metadata", path, f"{metadata} has no name and version")
    else:
        problem = EnvironmentProblem("no-metadata", path, "there is no METADATA in it")
    scan.problems.append(problem)


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
        scan.problems.append(EnvironmentProblem("unreadable-metadata", f"{folder}/{name}", detail))
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
