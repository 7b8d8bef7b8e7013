"""The data files and profiles that ship with the package, by name; a profile is not read merely to be found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version

import envdoctor
from envdoctor.model.build_label import LabelLife
from envdoctor.model.dataclass import dataclass
from envdoctor.model.version_table import VersionTable
from envdoctor.toml_tables import read_toml

__all__ = [
    "BuildTool",
    "advisories_folder",
    "architecture_of_card",
    "build_tools",
    "chips_of_card",
    "couplings",
    "data_file",
    "needs_in_words",
    "refused_builds",
    "same_module",
    "shipped_folder",
    "shipped_names",
    "shipped_path",
    "torch_labels",
    "vouched_demands",
]


@lru_cache(maxsize=1)
def shipped_folder() -> Path:
    """Return the folder of shipped profiles: beside the package in a wheel, at the top of a checkout otherwise."""
    package = Path(envdoctor.__file__).resolve().parent
    installed = package / "data" / "profiles"
    return installed if installed.is_dir() else package.parent.parent / "profiles"


def shipped_names() -> list[str]:
    """Return the names of all shipped profiles, abstract ones too, sorted."""
    folder = shipped_folder()
    return sorted(path.stem for path in folder.glob("*.toml")) if folder.is_dir() else []


def shipped_path(name: str) -> Path | None:
    """Return the file of a shipped profile, None where there is none of that name."""
    return shipped_folder() / f"{name}.toml" if name in shipped_names() else None


@lru_cache(maxsize=1)
def advisories_folder() -> Path:
    """Return the folder of ``advisories/*.toml``: inside an installed package, or at the top of a checkout."""
    package = Path(__file__).resolve().parent
    packed = package / "data" / "advisories"
    return packed if packed.is_dir() else package.parents[1] / "advisories"


@lru_cache(maxsize=16)
def data_file(name: str) -> dict[str, Any]:
    """Return the contents of ``advisories/data/<name>.toml``."""
    return read_toml((advisories_folder() / "data" / f"{name}.toml").read_text(encoding="utf-8"))


def same_module(name: str) -> dict[str, dict[str, str]]:
    """Return the other distributions that own the files of one, each with which of them is for which GPU backend."""
    rows = (row for row in data_file("wheels")["family"] if name in row["names"])
    return {other: row.get("by_backend", {}) for row in rows for other in row["names"] if other != name}


@lru_cache(maxsize=1)
def _cards() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(row["pattern"], re.IGNORECASE), row["architecture"]) for row in data_file("gpus")["card"])


@lru_cache(maxsize=256)
def architecture_of_card(name: str) -> str | None:
    """Return ``sm_120`` or ``gfx1201`` of a card by the name that it is sold under, None where that is not known."""
    return next((architecture for pattern, architecture in _cards() if pattern.search(name)), None)


def chips_of_card(name: str) -> str:
    """Return which chips a name stands for that several have; empty for any other."""
    rows = data_file("gpus")["several"]
    return next((row["chips"] for row in rows if re.search(row["pattern"], name, re.IGNORECASE)), "")


@dataclass(frozen=True, slots=True)
class BuildTool:
    """Something outside Python that builds can need, and how its presence shows."""

    words: str
    programs: tuple[str, ...] = ()
    """One of them is enough."""
    libraries: tuple[str, ...] = ()
    """All of them, by pkg-config's names."""
    strict: bool = False
    """Without pkg-config the libraries count as missing: the build itself asks it."""


@lru_cache(maxsize=1)
def build_tools() -> Mapping[str, BuildTool]:
    """Return what builds can need, by key."""
    return {
        row["key"]: BuildTool(
            row["words"], tuple(row.get("programs", ())), tuple(row.get("libraries", ())), row.get("strict", False)
        )
        for row in data_file("build-needs")["what"]
    }


def needs_in_words(keys: Iterable[str]) -> tuple[str, ...]:
    """Return needs of a build as people call them; a profile's own that the table does not have, by their names."""
    tools = build_tools()
    return tuple(tools[key].words if key in tools else key for key in keys)


@lru_cache(maxsize=1)
def refused_builds() -> Mapping[str, tuple[tuple[SpecifierSet, SpecifierSet, str], ...]]:
    """Return versions whose build stops on some Pythons, with those Pythons and why, by project."""
    found: dict[str, tuple[tuple[SpecifierSet, SpecifierSet, str], ...]] = {}
    for row in data_file("build-needs")["refuses"]:
        told = (SpecifierSet(row["version"]), SpecifierSet(row["python"]), row.get("why", ""))
        found[row["package"]] = (*found.get(row["package"], ()), told)
    return found


@lru_cache(maxsize=1)
def torch_labels() -> Mapping[str, LabelLife]:
    """Return which releases of torch PyTorch's indexes have with a label, by label."""
    document = data_file("torch-labels")
    newest = Version(document["newest"])
    found: dict[str, LabelLife] = {}
    for row in document["label"]:
        last = Version(row["last"]) if "last" in row else None
        unsure = tuple(SpecifierSet(item) for item in row.get("unsure", ()))
        found[row["name"]] = LabelLife(row["name"], Version(row["first"]), last, unsure, newest)
    return found


@lru_cache(maxsize=1)
def couplings() -> tuple[VersionTable, ...]:
    """Return which binaries were built against which releases of others; a table is called ``torchaudio-torch``."""
    return tuple(map(_version_table, data_file("couplings")["coupling"]))


@lru_cache(maxsize=1)
def vouched_demands() -> Mapping[tuple[str, str], VersionTable]:
    """Return with which versions of a project a distribution works although its metadata says less, by both names."""
    tables = map(_version_table, data_file("vouched")["vouched"])
    return {(table.subject, table.object): table for table in tables}


def _version_table(row: dict[str, Any]) -> VersionTable:
    name, requires = row["name"], row["requires"]
    rows = tuple((of, needs) for of, needs in row["rows"])
    return VersionTable(f"{name}-{requires}", name, requires, rows, row["evidence"], Version(row["known-to"]))
