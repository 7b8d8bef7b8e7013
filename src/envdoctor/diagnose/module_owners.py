"""Which planned or installed distribution gives a top-level module, and which ones own the same and clash.

Metadata has no word for those that stand in for one another. Sources: the file lists of the wheels, and the READMEs
that say "install only one".
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from envdoctor.diagnose.wheel_facts import Family, shipped_wheel_facts
from envdoctor.model.candidate import FileKind
from envdoctor.ports import ArchiveReader, IndexUnavailable, MetadataUnavailable
from envdoctor.shipped import data_file

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.resolution import ResolvedPackage

__all__ = [
    "SAME_PACKAGE",
    "ModuleOwners",
    "family_of",
    "meant_by",
    "one_to_keep",
    "rivals",
    "stand_ins",
    "what_to_keep",
]

SAME_PACKAGE: dict[str, tuple[str, ...]] = {
    "onnxruntime": (
        "onnxruntime",
        "onnxruntime-gpu",
        "onnxruntime-directml",
        "onnxruntime-rocm",
        "onnxruntime-migraphx",
        "onnxruntime-openvino",
        "onnxruntime-qnn",
        "onnxruntime-silicon",
        "onnxruntime-training",
        "ort-nightly",
        "ort-nightly-gpu",
        "ort-nightly-directml",
    ),
    "cv2": (
        "opencv-python",
        "opencv-python-headless",
        "opencv-contrib-python",
        "opencv-contrib-python-headless",
    ),
    "nvidia.cudnn": ("nvidia-cudnn-cu11", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"),
    "nvidia.nccl": ("nvidia-nccl-cu11", "nvidia-nccl-cu12", "nvidia-nccl-cu13"),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tensorflow-rocm"),
    "faiss": ("faiss", "faiss-cpu", "faiss-gpu", "faiss-gpu-cu11", "faiss-gpu-cu12"),
    "PIL": ("pillow", "pillow-simd"),
}
"""Import package to the distributions that own it. ``tensorflow-intel`` is a part of ``tensorflow`` on Windows."""

_PARTS = frozenset({"tensorflow-intel"})
_STAND_INS = {
    name: tuple(other for other in names if other != name and other not in _PARTS)
    for names in SAME_PACKAGE.values()
    for name in names
    if name not in _PARTS
}


def rivals(import_package: str) -> tuple[str, ...]:
    """Return the distributions of which only one may be installed, since each owns ``import_package``."""
    return tuple(name for name in SAME_PACKAGE[import_package] if name not in _PARTS)


def stand_ins(name: str) -> tuple[str, ...]:
    """Return the other distributions that give the same import package as ``name``."""
    return _STAND_INS.get(name, ())


def family_of(names: Sequence[str]) -> Family | None:
    """Return the family that all of ``names`` belong to, None where the table has none."""
    return next((family for family in shipped_wheel_facts().families if set(names) <= set(family.names)), None)


def one_to_keep(family: Family, backend: str) -> str | None:
    """Return the distribution that is for ``backend``, None where the table does not say."""
    return family.by_backend.get(backend)


def what_to_keep(family: Family, names: Sequence[str], backend: str) -> str:
    """Return a piece of advice: ``keep `onnxruntime-gpu`, which is the one for cuda, and drop `onnxruntime```."""
    name = one_to_keep(family, backend)
    if name is None:
        return f"keep {family.keep}"
    others = [item for item in names if item != name]
    away = " and ".join(f"`{item}`" for item in others)
    if len(others) < len(names):
        return f"keep `{name}`, which is the one for {backend}, and drop {away}"
    return f"take `{name}`, which is the one for {backend}, in place of {away}"


_SUFFIXES = (".py", ".so", ".pyd")


class ModuleOwners:
    """Answers whether a module is provided; listings of wheels are read only where names alone do not tell."""

    def __init__(self, examination: Examination) -> None:
        self._archives = examination.archives
        self._packages = {
            item.name: item for item in (examination.resolution.packages if examination.resolution else ())
        }
        self._names = set(self._packages)
        self._modules: set[str] = set()
        if examination.environment is not None:
            for item in examination.environment.distributions:
                self._names.add(item.name)
                self._modules.update(item.top_level)
        self._listed: set[str] = set()
        self._unread = False
        groups = examination.project.groups if examination.project else ()
        self._optional = {line.name for group in groups for line in group.requirements}

    @staticmethod
    def projects_of(module: str) -> tuple[str, ...]:
        """Return the projects that are known to give ``module``, the usual one first."""
        return tuple(data_file("import-names")["modules"].get(module, ()))

    def provides(self, module: str) -> bool | None:
        """Return whether some distribution gives ``module``; None where that cannot be known."""
        known = self.projects_of(module)
        if module in self._modules or canonicalize_name(module) in self._names or self._names & set(known):
            return True
        if any(self._lists(package, module) for package in self._alike(module)):
            return True
        if known:
            return False
        if self._archives is None:
            return None
        if any(self._lists(package, module) for package in self._packages.values()):
            return True
        return None if self._unread else False

    def optional(self, module: str) -> bool:
        """Return whether only extras and groups that nobody asked for name a project of ``module``.

        What such a project brings along does not count: sources that always run may import it as well.
        """
        projects = self.projects_of(module) or (canonicalize_name(module),)
        return bool(self._optional & set(projects)) and self.provides(module) is False

    def _alike(self, module: str) -> Iterator[ResolvedPackage]:
        """Yield packages whose name shares a word with the module."""
        words = {word for word in canonicalize_name(module).split("-") if len(word) > 2}
        for name, package in self._packages.items():
            if words & set(name.split("-")) or canonicalize_name(module) in name:
                yield package

    def _lists(self, package: ResolvedPackage, module: str) -> bool:
        if package.name not in self._listed:
            self._listed.add(package.name)
            self._modules.update(self._read(self._archives, package))
        return module in self._modules

    def _read(self, archives: ArchiveReader | None, package: ResolvedPackage) -> set[str]:
        if archives is None:
            return set()
        try:
            names = archives.names(package.file)
        except (MetadataUnavailable, IndexUnavailable):
            self._unread = True
            return set()
        depth = 1 if package.file.kind is FileKind.SDIST else 0
        return {module for name in names if (module := _top_level(name, depth))}


def _top_level(name: str, depth: int) -> str | None:
    """Return the module that an archive member makes importable; sdists have a folder above, and maybe ``src``."""
    parts = name.split("/")[depth:]
    if depth and parts[:1] == ["src"]:
        parts = parts[1:]
    if len(parts) > 2 and parts[0].endswith(".data") and parts[1] in ("purelib", "platlib"):
        parts = parts[2:]
    if not parts or not parts[0] or ".dist-info" in parts[0] or parts[0].endswith((".data", ".libs")):
        return None
    if len(parts) > 1:
        return parts[0]
    return parts[0].split(".")[0] if parts[0].endswith(_SUFFIXES) else None


_ALIKE = 0.84
"""How alike two names must be, as difflib rates it: one wrong, missing or doubled letter in six."""
_MOST = 2
"""Other names have at most so many projects; of names that are merely alike, the likeliest is asked about alone."""


@lru_cache(maxsize=1)
def _other_names() -> dict[str, tuple[str, ...]]:
    """Return the names of modules and the like, with the projects that are meant by them."""
    modules = {canonicalize_name(name): tuple(of) for name, of in data_file("import-names")["modules"].items()}
    return modules | {name: tuple(of) for name, of in data_file("known-names")["meant"].items()}


def meant_by(name: str) -> tuple[str, ...]:
    """Return well-known projects that ``name`` (normalised) may have been written for, the likeliest first."""
    others = [item for item in _other_names().get(name, ()) if item != name]
    if others:
        return tuple(others[:_MOST])
    known: list[str] = data_file("known-names")["names"]["known"]
    return tuple(item for item in difflib.get_close_matches(name, known, 1, _ALIKE) if item != name)
