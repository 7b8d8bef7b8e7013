"""What installed distributions ask of each other, on their interpreter, and what of it was set aside on purpose."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from packaging.markers import Marker, default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envdoctor.diagnose.demand import Demands, InstalledDemand
from envdoctor.diagnose.surroundings import shows_conda
from envdoctor.model.compatibility import KNOWN_PYTHONS
from envdoctor.model.environment import EnvironmentKind
from envdoctor.model.finding import Waiver
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.requirement import endless_number, may_hold
from envdoctor.model.target import Target, TargetProperty, dotted

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.environment import CondaPackage, InstalledDistribution, InstalledEnvironment
    from envdoctor.model.origin import Origin
    from envdoctor.model.profile import Profile
    from envdoctor.model.project import Project

__all__ = ["demands_of", "marker_environment", "waiver_for", "with_demands"]


def waiver_for(examination: Examination, demand: InstalledDemand, have: InstalledDistribution | None) -> Waiver | None:
    """Return the recorded override that sets ``demand`` aside, None where there is none or it asks for another version.

    Overrides come from the profile, from the project itself, and from the environment's lock.
    """
    markers = marker_environment(examination.environment, examination.target) if examination.environment else None
    consumer = demand.consumer.name
    for override in _of_profile(examination.profile):
        if _sets_aside(override, demand) and _agrees(override, have, markers):
            return Waiver(override.because, _place(examination.profile, override.requirement.origin))
    for override in _of_project(examination.project):
        if _sets_aside(override, demand) and _agrees(override, have, markers):
            return Waiver("the project overrides it", str(override.requirement.origin))
    lock = examination.environment.lock if examination.environment else None
    for override in lock.overrides if lock else ():
        if _sets_aside(override, demand) and _agrees(override, have, markers):
            whose = f"{consumer} -> " if override.replaces else ""
            return Waiver("recorded as an override", f"lock: overrides: {whose}{override.requirement}")
    return None


def _of_profile(profile: Profile | None) -> tuple[Override, ...]:
    return (*profile.overrides, *(item.override() for item in profile.excludes)) if profile else ()


def _of_project(project: Project | None) -> tuple[Override, ...]:
    said = project.overrides if project else ()
    return tuple(Override(requirement, source=OverrideSource.PROJECT) for requirement in said)


def _sets_aside(override: Override, demand: InstalledDemand) -> bool:
    return override.name == demand.name and override.replaces_demand_of(demand.consumer.name)


def _agrees(override: Override, have: InstalledDistribution | None, markers: dict[str, str] | None) -> bool:
    """Return whether what is installed is what the override says: a version, or nothing at all."""
    requirement = override.requirement
    if have is None or not may_hold(requirement.marker, markers):
        return have is None and not may_hold(requirement.marker, markers)
    return not requirement.specifier or requirement.admits(have.version)


def _place(profile: Profile | None, origin: Origin) -> str:
    """Return the file and key path of an entry; one of the base stands in another file, under another number."""
    if profile is None or not isinstance(origin, ProfileOrigin):
        return str(origin)
    return f"{profile.source if origin.name in ('', profile.name) and profile.source else origin.name}: {origin.key}"


_STAR_AFTER_ORDER = re.compile(r"((?:>=|<=|>|<)\s*\d[\w.]*?)\.\*")
_EXTRA = re.compile(r"\bextra\b")


@lru_cache(maxsize=8192)
def parse_requirement(text: str) -> Requirement | None:
    """Parse a ``Requires-Dist`` text, with ``>=1.*`` read as pip used to; None where it is no requirement."""
    if endless_number(text):
        return None
    try:
        return Requirement(text)
    except InvalidRequirement:
        pass
    try:
        return Requirement(_STAR_AFTER_ORDER.sub(r"\1", text))
    except InvalidRequirement:
        return None


def marker_environment(environment: InstalledEnvironment, target: Target | None) -> dict[str, str]:
    """Return the PEP 508 environment: what the interpreter said, else the target with the folder's Python."""
    if environment.told.markers:
        return {**environment.told.markers, "extra": ""}
    markers = target.marker_environment() if target else _host_markers(environment)
    if target is not None and target.level_assumed:
        markers |= dict.fromkeys(_OF_THE_LEVEL, "")
    if environment.python is not None and markers["python_version"] != dotted(environment.python):
        full = environment.python_full or f"{dotted(environment.python)}.0"
        markers |= {
            "python_version": dotted(environment.python),
            "python_full_version": full,
            "implementation_version": full,
        }
    return markers


_OF_THE_LEVEL = ("platform_release", "platform_version")
"""What follows from the macOS: where that is only assumed, nobody knows what an environment there had to install."""


def _possible_environments(
    environment: InstalledEnvironment, target: Target | None, assumed: frozenset[TargetProperty]
) -> tuple[dict[str, str], ...]:
    """Return the PEP 508 environments that may be the interpreter's: one, or all that what is told leaves open."""
    found = [marker_environment(environment, target)]
    if environment.told.markers:
        return tuple(found)
    typed = target.python_full if target is not None and environment.python in (None, target.python) else None
    if (environment.python_full or typed) is None:
        known = TargetProperty.PYTHON not in assumed
        versions = [found[0]["python_version"]] if known else list(map(dotted, KNOWN_PYTHONS))
        of_python = ("python_full_version", "implementation_version")
        found = [
            {**markers, "python_version": version, **dict.fromkeys(of_python, f"{version}.{patch}")}
            for markers in found
            for version in versions
            for patch in (0, 99)
        ]
    if TargetProperty.OS in assumed:
        found = [
            {**markers, "sys_platform": platform, "os_name": os_name, "platform_system": system}
            for markers in found
            for platform, (os_name, system) in _SYSTEMS.items()
        ]
    return tuple(found)


_SYSTEMS = {"win32": ("nt", "Windows"), "linux": ("posix", "Linux"), "darwin": ("posix", "Darwin")}


# `pip freeze` leaves out what it takes for a part of Python.
_NOT_FROZEN = frozenset({"pip", "setuptools", "wheel", "distribute"})


def left_out(environment: InstalledEnvironment) -> Callable[[str], bool]:
    """Return whether a distribution that is not listed may be there all the same, as a question about its name."""
    if environment.partial:
        return lambda _: True
    if environment.conda_packages:
        names = frozenset(_names_of_conda(environment.conda_packages))
        return lambda name: name in names or name.rstrip(_DIGITS) in names
    if environment.kind is EnvironmentKind.LISTING and shows_conda(environment):
        # pip sees nothing of the libraries that conda gives: MKL, Qt, those of CUDA.
        return lambda _: True
    given = _GIVEN_BY_SYSTEMS if environment.kind is EnvironmentKind.LISTING else frozenset[str]()
    return (given | _NOT_FROZEN if environment.source == "pip freeze" else given).__contains__


_DIGITS = "0123456789"
_GIVEN_BY_SYSTEMS = frozenset({"pyqt5-qt5", "pyqt6-qt6", "pyside6-addons", "pyside6-essentials"})
"""Of PyQt and PySide conda and Linux distributions have builds for a Qt of their own."""


def _names_of_conda(packages: Iterable[CondaPackage]) -> Iterator[str]:
    """Yield what may be distributions of Python's: ``graphviz`` for ``python-graphviz``, ``pyqt`` for ``pyqt5``."""
    for package in packages:
        name = canonicalize_name(package.name)
        yield from (name, name.removeprefix("python-"), name.removeprefix("py-"))
        yield from (name.removesuffix(end) for end in ("-python", "-base", "-core"))


def _host_markers(environment: InstalledEnvironment) -> dict[str, str]:
    """Return this machine's markers, with what is known of the environment's: the last resort, without a target."""
    markers = {**{key: str(value) for key, value in default_environment().items()}, "extra": ""}
    platform = environment.told.platform
    if platform in _SYSTEMS and platform != markers["sys_platform"]:
        os_name, system = _SYSTEMS[platform]
        markers |= {"sys_platform": platform, "os_name": os_name, "platform_system": system}
    return markers


def demands_of(examination: Examination) -> Demands:
    """Return the demands of the examination's environment (empty without one), those handed on where it has them."""
    if examination.demands is not None:
        return examination.demands()
    if examination.environment is None:
        return Demands()
    return _Collector(examination.environment, examination).collect()


def with_demands(examination: Examination) -> Examination:
    """Return the examination with its environment's demands: read when a rule asks first, and once for all rules."""
    return replace(examination, demands=lru_cache(maxsize=1)(lambda: demands_of(examination)))


class _Collector:
    """Follows the extras that distributions ask of each other until nothing new comes up."""

    def __init__(self, environment: InstalledEnvironment, examination: Examination) -> None:
        self.possible = _possible_environments(environment, examination.target, examination.assumed)
        self.verdicts: dict[tuple[str, str], bool] = {}
        self.result = Demands(may_be_there=left_out(environment))
        self.twice: dict[str, list[str]] = {}
        """Of a listing, which tells no folders: the other versions of what it names again, of which one may count."""
        for distribution in environment.distributions:
            first = self.result.installed.setdefault(distribution.name, distribution)
            if first is not distribution and environment.kind is EnvironmentKind.LISTING:
                self.twice.setdefault(distribution.name, []).append(distribution.version)
        self.waiting: list[tuple[str, str]] = []
        self.asked: set[tuple[str, str]] = set()

    def collect(self) -> Demands:
        for distribution in self.result.installed.values():
            self._read(distribution, "")
        while self.waiting:
            name, extra = self.waiting.pop()
            self._read(self.result.installed[name], extra)
        return self.result

    def _read(self, distribution: InstalledDistribution, extra: str) -> None:
        for text in distribution.requires_dist:
            conditional = ";" in text and _EXTRA.search(text, text.index(";")) is not None
            # Without an extra, most lines of a big distribution need no parsing; with one, the plain lines are known.
            if conditional and not extra and " or " not in text and "!=" not in text.partition(";")[2]:
                continue
            if extra and not conditional:
                continue
            requirement = parse_requirement(text)
            if requirement is None:
                if not extra:
                    self.result.unreadable.append((distribution, text))
            elif requirement.marker is None or self._holds(requirement.marker, extra):
                self._add(distribution, requirement, extra)

    def _holds(self, marker: Marker, extra: str) -> bool:
        key = (str(marker), extra)
        if key not in self.verdicts:
            # A demand that some of the environments would not make cannot be held against this one.
            self.verdicts[key] = all(may_hold(marker, {**one, "extra": extra}) for one in self.possible)
        return self.verdicts[key]

    def _add(self, distribution: InstalledDistribution, requirement: Requirement, extra: str) -> None:
        name = canonicalize_name(requirement.name)
        if extra and any(
            known.consumer is distribution and known.requirement is requirement for known in self.result.by_name[name]
        ):
            return
        demand = InstalledDemand(distribution, requirement, name, extra)
        provider = self.result.installed.get(name)
        listed = [provider.version, *self.twice.get(name, ())] if provider is not None else []
        if len(listed) > 1 and not demand.accepts(listed[0]) and any(map(demand.accepts, listed)):
            return
        self.result.by_name[name].append(demand)
        if provider is None:
            return
        for wanted in map(canonicalize_name, requirement.extras):
            if (name, wanted) not in self.asked:
                self.asked.add((name, wanted))
                self.waiting.append((name, wanted))
