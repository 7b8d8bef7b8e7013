"""Binaries that belong together, by the shipped tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from packaging.version import Version

from envdoctor.diagnose.advisories.book import shipped_advisories
from envdoctor.diagnose.package_view import PackageView, Place, Scene, scenes
from envdoctor.diagnose.wheel_facts import contains, shipped_wheel_facts
from envdoctor.shipped import data_file

if TYPE_CHECKING:
    from envdoctor.diagnose.advisories.predicate import VersionTable
    from envdoctor.diagnose.examination import Examination

__all__ = ["PAIR_TABLES", "Misfit", "NumpyOneBuilds", "built_for_numpy1", "misfits", "plan_scene"]

PAIR_TABLES = ("torchaudio-torch", "torchvision-torch", "torchcodec-torch", "torch-directml-torch")


@dataclass(frozen=True, slots=True)
class Misfit:
    """Two packages of one place that a table does not let stand together."""

    subject: PackageView
    object: PackageView
    wanted: str
    table: VersionTable


def plan_scene(examination: Examination) -> Scene | None:
    """Return the packages of the resolution, None where there is none."""
    found = scenes(examination, shipped_wheel_facts())
    return next((scene for scene in found if scene.place is Place.PLAN), None)


def misfits(scene: Scene, names: tuple[str, ...]) -> Iterator[Misfit]:
    """Yield the pairs of a scene that the named tables speak against."""
    tables = shipped_advisories().tables
    for name in names:
        table = tables[name]
        subject, object_ = scene.get(table.subject), scene.get(table.object)
        if subject is None or object_ is None:
            continue
        wanted = table.wanted(subject.version)
        if wanted is not None and not contains(wanted, object_.version):
            yield Misfit(subject, object_, wanted, table)


@dataclass(frozen=True, slots=True)
class NumpyOneBuilds:
    """Up to when the wheels of a project were built against NumPy 1."""

    last: Version
    """The last release of that kind."""
    first: Version
    """The first release after it, whose wheels load with NumPy 2."""


@lru_cache(maxsize=1)
def built_for_numpy1() -> dict[str, NumpyOneBuilds]:
    """Return the table of ``advisories/data/numpy-abi.toml``, by project."""
    rows = data_file("numpy-abi")["numpy1"]
    return {row["package"]: NumpyOneBuilds(Version(row["last"]), Version(row["first"])) for row in rows}
