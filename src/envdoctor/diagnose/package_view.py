"""One look at a package, whether it is planned, installed or only asked for."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from packaging.version import Version

from envdoctor.diagnose.surroundings import shows_conda
from envdoctor.model.candidate import FileKind
from envdoctor.model.dataclass import dataclass
from envdoctor.model.project import ReadingProblemKind
from envdoctor.model.requirement import Requirement, may_hold
from envdoctor.model.target import Backend, TargetProperty

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.diagnose.wheel_facts import WheelFacts
    from envdoctor.model.environment import InstalledEnvironment
    from envdoctor.model.project import Brought, Project
    from envdoctor.model.resolution import Resolution, ResolvedPackage
    from envdoctor.model.target import Target

__all__ = ["OF_DEFAULT_INDEX", "PackageView", "Place", "Scene", "kept_by_image", "of_image", "scenes"]

_CUDA_RUNTIME = re.compile(r"nvidia-cuda-runtime(-cu\d+)?")
_CUDA_VERSION = re.compile(r"(\d+)\.(\d)\b")
_CUDA_SUFFIX = re.compile(r"^nvidia-.*-cu(\d{2})$")
_CONDA_CUDA = re.compile(
    r"(?:pytorch-cuda|cudatoolkit|cuda-version|cuda-toolkit)\s{0,9}[=~<>]{0,3}\s{0,9}(\d{2})\.(\d)"
)
_CONDA_BUILD = re.compile(r"cuda(\d{2})\.?(\d)")
"""In a build of conda's channels, which stands behind name and version: ``py3.10_cuda11.8_cudnn8.7.0_0``."""
_FIRST_DAY = 20_000_101
OF_DEFAULT_INDEX = "what is known of its wheels"
"""The source of a label that the version does not name: the default index's builds have none."""
_OF_TORCH = frozenset({"torch", "torchvision", "torchaudio"})


class Place(enum.Enum):
    """Where a set of packages is."""

    PLAN = "plan"
    """In the resolution."""
    INSTALLED = "installed"
    ASKED = "asked"
    """Pinned exactly by a person, where no resolution exists; other packages are unknown there."""


_WHERE = {Place.PLAN: "in the resolution", Place.INSTALLED: "installed", Place.ASKED: "asked for"}


@dataclass(frozen=True, slots=True)
class PackageView:
    """What predicates may ask of one package."""

    name: str
    version: Version
    place: Place
    label: str | None = None
    """Build label: ``cpu``, ``cu118``, ``rocm6.3``; None where nothing tells."""
    label_source: str = ""
    label_is_told: bool = False
    """Its own installed files tell the label, beside its version."""
    extras: frozenset[str] = frozenset()
    source_only: bool | None = None
    index: str | None = None
    other_build: bool = False
    """Conda installs a build of its channels, or an image has one; the file of the plan only stands for it."""
    yanked: bool = False
    asked: bool = False
    """A person asks for it by name."""
    set_aside: tuple[Requirement, ...] = ()
    files: tuple[str, ...] | None = None

    @property
    def cuda_major(self) -> int | None:
        """Major version of the CUDA that it was built for; None for other builds or where unknown."""
        match = re.fullmatch(r"cu(\d{2})\d*", self.label or "")
        return int(match.group(1)) if match else None

    @property
    def unlabelled(self) -> bool:
        """Whether its version names no build, as on the default index."""
        return self.version.local is None

    @property
    def nightly(self) -> bool:
        """Whether its version names the day of its build, `2.8.0.dev20250601`."""
        return (self.version.dev or 0) >= _FIRST_DAY

    def goes_by_series(self, other: PackageView | None) -> bool:
        """Return whether both are builds of conda's channels, or of an image: those hold together by their series."""
        return self.other_build and other is not None and other.other_build

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def where(self) -> str:
        """What evidence says of its place."""
        return _WHERE[self.place]


@dataclass(frozen=True, slots=True)
class Scene:
    """The packages of one place, together with everything else that is known."""

    examination: Examination
    place: Place | None
    """None: no set of packages is known at all."""
    packages: Mapping[str, PackageView] = field(default_factory=dict)

    def get(self, name: str) -> PackageView | None:
        """Return the package called ``name`` (normalised), or None."""
        return self.packages.get(name)


def _label_of_dependencies(dependencies: Iterable[Requirement]) -> str | None:
    """Return ``cu124`` where CUDA 12.4's runtime is pinned; else ``cu12`` where no more than the major is told."""
    major = None
    for dependency in dependencies:
        if dependency.name == "cuda-toolkit" or _CUDA_RUNTIME.fullmatch(dependency.name):
            pins = [item.version for item in dependency.specifier if item.operator in ("==", "~=")]
            if pins and (version := _CUDA_VERSION.match(pins[0])):
                return f"cu{version[1]}{version[2]}"
            major = major or (f"cu{pins[0].split('.')[0]}" if pins else None)
        if match := _CUDA_SUFFIX.match(dependency.name):
            major = major or f"cu{match.group(1)}"
    return major


def _bound_label(examination: Examination, index: str) -> str | None:
    indexes = examination.profile.indexes if examination.profile else ()
    return next((item.local_label for item in indexes if item.name == index), None)


def _is_of_conda(package: ResolvedPackage, target: Target | None) -> bool:
    """Return whether conda alone is asked for a package, on a target for which its channels have builds."""
    lines = [line for line in package.wanted_by if line.origin.kind != "distribution"]
    if target is not None and target.backend not in (Backend.CUDA, Backend.CPU, Backend.UNKNOWN):
        return False
    return bool(lines) and all(line.conda for line in lines)


def _label_by_conda(examination: Examination) -> str | None:
    """Return the label that the environment file's own lines tell: ``cu118`` for ``pytorch-cuda=11.8``."""
    project = examination.project
    if project is None:
        return None
    texts = [line.text for line in project.requirements if line.conda]
    texts += [item.text for item in project.problems if item.kind is ReadingProblemKind.OF_CONDA]
    # What stands before `::` is a channel.
    lines = [text.rpartition("::")[2].strip() for text in texts]
    parted = ([part for part in line.split("=") if part] for line in lines if line.startswith(("pytorch", "torch")))
    builds = [parts[2] for parts in parted if len(parts) == 3]
    found = next(filter(None, (*map(_CONDA_CUDA.match, lines), *map(_CONDA_BUILD.search, builds))), None)
    if found is not None:
        return f"cu{found[1]}{found[2]}"
    on_cpu = any(line.startswith(("cpuonly", "pytorch-cpu")) for line in lines) or any("cpu" in item for item in builds)
    return "cpu" if on_cpu else None


def of_image(package: ResolvedPackage, project: Project | None) -> Brought | None:
    """Return what the image has of a planned package, where that is what is planned; None where another is."""
    version = Version(package.version.public)
    own = [one for one in project.brought if one.name == package.name] if project is not None else []
    return next((one for one in own if one.version == version and package.version.local in (None, one.label)), None)


def kept_by_image(examination: Examination, name: str) -> str:
    """Return what to say behind a remedy that takes another build of what the image has; empty for anything else."""
    package = examination.resolution.get(name) if examination.resolution is not None else None
    own = of_image(package, examination.project) if package is not None else None
    if own is None:
        return ""
    stays = f"; pip leaves the {name} {own.version} of the image `{own.image}` where a line admits it"
    return f"{stays}: uninstall it first, or take another image"


def _planned(resolution: Resolution, examination: Examination, facts: WheelFacts) -> dict[str, PackageView]:
    packages: dict[str, PackageView] = {}
    for item in resolution.packages:
        label, source = item.version.local, "its version"
        if _is_of_conda(item, examination.target):
            label = _label_by_conda(examination) if item.name in _OF_TORCH else None
            packages[item.name] = _planned_view(item, label, "the environment file", other_build=True)
            continue
        if (image := of_image(item, examination.project)) is not None and item.version.local is None:
            packages[item.name] = _planned_view(item, image.label, f"the image at {image.origin}", other_build=True)
            continue
        if label is None and item.file.index != "default":
            label, source = _bound_label(examination, item.file.index), f"index {item.file.index}"
        if label is None and item.name == "torch":
            label, source = _label_of_dependencies(item.dependencies), "its dependencies"
        if label is None and item.file.index == "default" and examination.target is not None:
            label, source = (
                facts.build_label(item.name, item.version, examination.target),
                OF_DEFAULT_INDEX,
            )
        packages[item.name] = _planned_view(item, label, source)
    return packages


def _planned_view(item: ResolvedPackage, label: str | None, source: str, *, other_build: bool = False) -> PackageView:
    return PackageView(
        item.name,
        item.version,
        Place.PLAN,
        label=label,
        label_source=source if label else "",
        extras=item.extras,
        source_only=item.file.kind is FileKind.SDIST and not other_build,
        index=item.file.index,
        other_build=other_build,
        yanked=item.file.yanked is not None,
        asked=any(wanted.origin.kind != "distribution" for wanted in item.wanted_by),
        set_aside=item.set_aside,
    )


def _of_default_index(examination: Examination) -> bool:
    """Return whether a version without a label tells the build: not on a machine that nobody named.

    Where a card is given, it is to be judged for: then the assumed system counts, and the report says that it is.
    """
    return TargetProperty.OS not in examination.assumed or bool(examination.facts.of_cards())


def _label_of_runtime(environment: InstalledEnvironment) -> str | None:
    """Return ``cu124`` where CUDA 12.4's runtime is installed: torch's default wheels for Linux pin theirs exactly."""
    for item in environment.distributions:
        if _CUDA_RUNTIME.fullmatch(item.name) and (version := _CUDA_VERSION.match(item.version)):
            return f"cu{version[1]}{version[2]}"
    return None


def _installed(
    environment: InstalledEnvironment, examination: Examination, facts: WheelFacts
) -> dict[str, PackageView]:
    packages: dict[str, PackageView] = {}
    of_conda = shows_conda(environment)
    for item in environment.distributions:
        try:
            version = Version(item.version)
        except ValueError:
            continue
        label, source = version.local, "its version"
        conda = version.local is None and (item.installer == "conda" if item.installer else of_conda)
        if label is None and item.build_label:
            label, source = item.build_label, "its build in conda" if conda else f"{item.name}/version.py"
        if item.name == "torch" and label is None:
            label, source = _torch_build_fact(examination), "facts"
        if item.name == "torch" and label is None and item.installer != "conda":
            label, source = _label_of_runtime(environment), "the CUDA runtime beside it"
            conda = conda and label is None
        if label is None and not conda and examination.target is not None and _of_default_index(examination):
            label, source = facts.build_label(item.name, version, examination.target), OF_DEFAULT_INDEX
        files = None if item.files is None else tuple(entry.path for entry in item.files)
        told = version.local is None and bool(item.build_label)
        view = PackageView(
            item.name,
            version,
            Place.INSTALLED,
            label=label,
            label_source=source,
            label_is_told=told,
            files=files,
            other_build=conda,
        )
        packages.setdefault(item.name, view)
    return packages


def _torch_build_fact(examination: Examination) -> str | None:
    """Return the label of torch's own version, or the CUDA that torch says it was built with."""
    text, cuda = (examination.facts.value(name) for name in ("torch.version", "torch.cuda"))
    label = str(text).partition("+")[2] if text else ""
    return label or (f"cu{str(cuda).replace('.', '')}" if cuda else None)


def _asked(examination: Examination) -> dict[str, PackageView]:
    packages: dict[str, PackageView] = {}
    requirements = examination.project.requirements if examination.project else ()
    environment = examination.target.marker_environment() if examination.target else None
    for requirement in requirements:
        pins = [item for item in requirement.specifier if item.operator == "==" and not item.version.endswith(".*")]
        if not pins or (environment and not may_hold(requirement.marker, environment)):
            continue
        version = Version(pins[0].version)
        view = PackageView(requirement.name, version, Place.ASKED, extras=requirement.extras, asked=True)
        packages.setdefault(requirement.name, replace(view, label=version.local, label_source="its version"))
    return packages


def scenes(examination: Examination, facts: WheelFacts) -> list[Scene]:
    """Return one scene per place that holds packages; a single empty one where there is no such place."""
    found: list[Scene] = examination.scenes
    if found:
        return found  # Several rules look at the same.
    if examination.resolution is not None:
        found.append(Scene(examination, Place.PLAN, _planned(examination.resolution, examination, facts)))
    if examination.environment is not None:
        found.append(Scene(examination, Place.INSTALLED, _installed(examination.environment, examination, facts)))
    if not found and examination.project is not None:
        found.append(Scene(examination, Place.ASKED, _asked(examination)))
    if not found:
        found.append(Scene(examination, None))
    return found
