"""Binaries that belong together, by the shipped tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from packaging.specifiers import Specifier
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.advisories.vocabulary import shipped_tables
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.package_view import PackageView, Place, Scene, scenes
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.build_label import BuildLabel, read_label, torch_of_label
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.target import Backend
from envdoctor.model.version_table import VersionTable, contains
from envdoctor.shipped import couplings, data_file

__all__ = [
    "PAIR_TABLES",
    "builds_apart",
    "built_for_another_torch",
    "built_for_numpy1",
    "misfits",
    "plan_scene",
]


PAIR_TABLES = tuple(table.name for table in couplings())


_STABLE_ABI = "2.11"
"""The first torchaudio that is built for torch's stable ABI: what it needs of a build is less."""


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
    """Yield the pairs of a scene that the named tables speak against; what metadata admits outranks a table."""
    tables = shipped_tables()
    for name in names:
        table = tables[name]
        subject, object_ = scene.get(table.subject), scene.get(table.object)
        if subject is None or object_ is None:
            continue
        wanted = table.wanted(subject.version, object_.version, series=subject.goes_by_series(object_))
        if wanted is None:
            continue
        if not table.fits(wanted, object_.version) and not _admitted_by_metadata(scene, subject, object_, wanted):
            yield Misfit(subject, object_, wanted, table)


@dataclass(frozen=True, slots=True)
class NumpyOneBuilds:
    """Up to when the wheels of a project were built against NumPy 1."""

    last: Version
    """The last release of that kind."""
    first: Version | None
    """The first release after it, whose wheels load with NumPy 2; None where the project ended."""


@lru_cache(maxsize=1)
def built_for_numpy1() -> dict[str, NumpyOneBuilds]:
    """Return the table of ``advisories/data/numpy-abi.toml``, by project."""
    rows = data_file("numpy-abi")["numpy1"]
    firsts = {row["package"]: Version(row["first"]) for row in rows if "first" in row}
    return {row["package"]: NumpyOneBuilds(Version(row["last"]), firsts.get(row["package"])) for row in rows}


def _admitted_by_metadata(scene: Scene, subject: PackageView, object_: PackageView, wanted: str) -> bool:
    """Return whether the subject's own metadata names the other project and admits the version that is there.

    A bare ``numpy``, or ``numpy>=1.21``, was written before there was a NumPy 2 and says nothing of it.
    """
    resolution = scene.examination.resolution
    package = resolution.get(canonicalize_name(subject.name)) if resolution and scene.place is Place.PLAN else None
    stated = [item for item in package.dependencies if item.name == object_.name] if package else []
    own = [item for item in stated if not (isinstance(item.origin, DistributionOrigin) and item.origin.coupling)]
    if wanted.startswith("<") and not any(_names_later(clause, wanted) for item in own for clause in item.specifier):
        return False
    return bool(own) and all(item.admits(object_.version) for item in own)


def _names_later(clause: Specifier, wanted: str) -> bool:
    return not contains(wanted, Version(clause.version.removesuffix(".*")))


def built_for_another_torch(scene: Scene) -> Iterator[tuple[PackageView, str]]:
    """Yield what says in its label that it was built for another torch than the one of the scene, and for which."""
    torch = scene.get("torch")
    for view in scene.packages.values() if torch is not None else ():
        wanted = torch_of_label(view.version.local)
        if torch is not None and wanted is not None and not contains(wanted, torch.version):
            yield view, wanted.replace(".dev0", "")


def builds_apart(companion: PackageView, torch: PackageView) -> tuple[BuildLabel, BuildLabel] | None:
    """Return the two builds where they cannot be loaded together; None where they can, or where it is not known.

    torchvision and torchaudio look at the CUDA release when they are imported: at its major number, torchaudio before
    2.11.1 at the minor one too. A torchcodec for the CPU needs nothing that a CUDA torch lacks. ROCm builds belong
    together by the release alone: the hashes of AMD's labels differ by design.
    """
    mine, its = read_label(companion.label), read_label(torch.label)
    if mine is None or its is None:
        return None
    stable = companion.name == "torchaudio" and contains(f">={_STABLE_ABI}", companion.version)
    if mine.backend is not its.backend:
        # A CPU torchaudio for the stable ABI loads beside any torch; it has no GPU code of its own.
        alone = stable or companion.name == "torchcodec"
        return None if alone and mine.backend is Backend.CPU else (mine, its)
    exact = companion.name == "torchaudio" and contains("<2.11.1", companion.version)
    exact = exact and not companion.goes_by_series(torch)
    parts = 3 if mine.backend is Backend.ROCM else 2 if exact else 1
    return None if mine.same_release(its, parts) else (mine, its)
