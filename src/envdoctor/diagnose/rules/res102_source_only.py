"""A package without a wheel for the target.

## What it does

Reports packages that have no wheel for the target and must be built from source, graded: builds anywhere, or needs
a compiler and which libraries. A source distribution that is known to fail on purpose, because another project is
meant, is an error. It also looks behind pins that a repair moves: what such a pin itself demands may be
source only, which is a reason not to go back to it.

## Why is this bad

The install stops in the middle with a compiler's error, most often on Windows and on aarch64.

## Example

`faster-whisper==1.0.1` demands `av==11.*`; av 11.0.0 has only an sdist and needs FFmpeg headers.

The remedy says which Pythons have a wheel of that version, and which version has one for the target.

## References

- PyPA, Source distribution format: https://packaging.python.org/specifications/source-distribution-format/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as ParsedRequirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.examination import Examination, chain_to
from envdoctor.diagnose.file_reach import pythons_in_words, reach_of
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import BuildNeed, shipped_wheel_facts
from envdoctor.model.candidate import BuildRisk, DistributionFile, FileKind, ProjectPage
from envdoctor.model.compatibility import can_use
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Evidence, Finding, Look, Remedy, Severity, in_words
from envdoctor.model.origin import DistributionOrigin, FileOrigin, written_by_a_person
from envdoctor.model.requirement import Requirement, may_hold
from envdoctor.model.target import OperatingSystem, Target, dotted
from envdoctor.ports import Index, IndexUnavailable, MetadataUnavailable, ProjectNotFound
from envdoctor.shipped import needs_in_words

__all__ = ["demands_of_moved_pins"]

_UNANSWERED = (IndexUnavailable, MetadataUnavailable, ProjectNotFound)


@dataclass(frozen=True, slots=True)
class SourceOnlyDemand:
    """A pin of a person demands versions of a project that are source only on the target."""

    name: NormalizedName
    version: Version
    filename: str
    pin: Requirement
    demand: Requirement


def _pinned(requirement: Requirement) -> Version | None:
    exact = [item for item in requirement.specifier if item.operator == "==" and not item.version.endswith("*")]
    return Version(exact[0].version) if exact and written_by_a_person(requirement.origin) else None


def _moved_pins(examination: Examination) -> Iterator[tuple[Requirement, Version]]:
    """Exact pins of people that the resolution does not hold to, or that stand in a conflict."""
    candidates: list[Requirement] = [item for conflict in examination.conflicts for item in conflict.core]
    candidates += [
        item for repair in examination.repairs for override in repair.overrides for item in override.sets_aside
    ]
    if examination.resolution:
        candidates += [item for package in examination.resolution.packages for item in package.set_aside]
    for requirement in dict.fromkeys(candidates):
        version = _pinned(requirement)
        package = examination.resolution.get(requirement.name) if examination.resolution else None
        if version is not None and (package is None or package.version != version):
            yield requirement, version


def _source_only(index: Index, wanted: ParsedRequirement, target: Target) -> DistributionFile | None:
    """Return the newest sdist that meets ``wanted``, None where a wheel does or nothing is known."""
    page = index.page(canonicalize_name(wanted.name))
    newest: DistributionFile | None = None
    # The newest first: it mostly has a wheel, and a large page is then not looked through.
    for version in filter(wanted.specifier.contains, reversed(page.versions)):
        files = [item for item in page.of_version(version) if can_use(item, target)]
        if any(item.kind is FileKind.WHEEL for item in files):
            return None
        newest = newest or next(iter(files), None)
    return newest


def _in_force(texts: Iterable[str], target: Target) -> Iterator[ParsedRequirement]:
    environment = target.marker_environment()
    for text in texts:
        with suppress(InvalidRequirement):
            wanted = ParsedRequirement(text)
            if wanted.specifier and may_hold(wanted.marker, environment):
                yield wanted


def _demands(index: Index, pin: Requirement, version: Version, target: Target) -> Iterator[SourceOnlyDemand]:
    files = index.page(pin.name).of_version(version)
    wheels = [item for item in files if item.kind is FileKind.WHEEL]
    if not files:
        return
    metadata = index.metadata((wheels or files)[0])
    demanded = list(_in_force(metadata.requires_dist, target))
    index.prefetch_pages([canonicalize_name(item.name) for item in demanded])
    for wanted in demanded:
        try:
            sdist = _source_only(index, wanted, target)
        except _UNANSWERED:
            continue
        if sdist is not None:
            origin = DistributionOrigin(pin.name, str(version))
            demand = Requirement(canonicalize_name(wanted.name), origin, wanted.specifier)
            yield SourceOnlyDemand(demand.name, sdist.version, sdist.filename, pin, demand)


def demands_of_moved_pins(examination: Examination) -> Iterator[SourceOnlyDemand]:
    """Yield what the moved pins demand and the target could only build, from pages and metadata of the index."""
    index, target = examination.index, examination.target
    if index is None or target is None:
        return
    for pin, version in _moved_pins(examination):
        with suppress(*_UNANSWERED):
            yield from _demands(index, pin, version, target)


_NAMES = {"rocm": "ROCm", "rocm on linux": "ROCm on Linux", "xpu": "XPU"}
_OFF_MACOS = "keep it off this target with the marker `; sys_platform != 'darwin'`"


def _way_without_cuda(need: BuildNeed, target: Target | None) -> str:
    if target is not None and target.os is OperatingSystem.MACOS:
        return _OFF_MACOS
    others = [_NAMES.get(name, name) for name in need.elsewhere]  # `rocm`, or `rocm on linux`
    return f"leave it out on this target: it has kernels for {in_words(['CUDA', *others])} alone"


def _words(risk: BuildRisk | None, need: BuildNeed | None, target: Target | None) -> tuple[Severity, str]:
    if need is not None and need.fails:
        return Severity.ERROR, f"cannot be installed: {need.fails}"
    if need is not None and need.lacks:
        return Severity.INFO, f"is built from source without {need.lacks}"
    nothing = need is not None and not need.needs
    if risk is BuildRisk.ANYWHERE or (nothing and risk is not BuildRisk.FETCHES):
        return Severity.INFO, "is built from source, which works anywhere"
    if need is not None and target is not None and need.is_in_vain(target):
        mac = target.os is OperatingSystem.MACOS
        lacks = "which macOS does not have" if mac else f"and the target's backend is {target.backend.value}"
        return Severity.WARNING, f"is built from source: its kernels need the CUDA toolkit, {lacks}"
    needs = f"needs {', '.join(needs_in_words(need.on(target)))}" if need is not None and need.needs else ""
    if risk is BuildRisk.FETCHES:
        fetches = "its build fetches more by itself, which is not looked at here"
        return Severity.WARNING, ", and ".join(filter(None, (needs, fetches)))
    if needs:
        return Severity.WARNING, needs
    if risk is BuildRisk.COMPILER:
        return Severity.WARNING, "needs a compiler"
    return Severity.WARNING, "is built from source and may need a compiler"


def _way_around(need: BuildNeed | None, examination: Examination) -> str:
    """Return what to do instead of the build: another distribution only where the index has a wheel of it."""
    index, target = examination.index, examination.target
    if need is None or not need.substitute or index is None or target is None:
        return need.way_around if need is not None else ""
    same = f"`{need.substitute}` is the same module"
    try:
        files = index.page(canonicalize_name(need.substitute)).files
    except IndexUnavailable:
        way = f"a profile that names it takes it, and so does `envdoctor lock --substitute {need.package}`"
        return f"{same}, of which the index in use does not tell: where one does, {way}"
    except ProjectNotFound:
        files = ()
    if any(item.kind is FileKind.WHEEL and can_use(item, target) for item in files):
        return need.way_around
    return f"{same}, and has no wheel for this target either"


def _finding(
    name: str,
    version: str,
    risk: BuildRisk | None,
    need: BuildNeed | None,
    chain: str,
    files: str,
    location: FileOrigin | None,
    wheels: str,
    examination: Examination,
    told: str = "",
) -> Finding:
    severity, words = _words(risk, need, examination.target)
    why = f"is not taken as a wheel, as {told} says," if told else "has no wheel for this target"
    nothing = severity is Severity.INFO and not (need and need.lacks)
    way = "; ".join(item for item in (_way_around(need, examination), wheels) if item)
    return RULE.finding(
        subject=name,
        message=f"`{name}` {version} {why} and {words}; wanted by {chain}",
        severity=severity,
        evidence=(Evidence(files, "index"),),
        remedy=Remedy("nothing to do; the build takes a moment" if nothing else way),
        location=location,
    )


def _usable(page: ProjectPage, version: Version, target: Target) -> bool:
    wheels = (item for item in page.of_version(version) if item.kind is FileKind.WHEEL)
    return not version.is_prerelease and any(can_use(item, target) for item in wheels)


def _wheels(
    examination: Examination,
    name: NormalizedName,
    version: Version,
    asked: Iterable[Requirement] = (),
    *,
    helps: bool = True,
) -> str:
    """Say which Pythons have a wheel of that version, and which version has one; and whether building ``helps``.

    ``asked``: what holds the version. A line that a person wrote can be changed, what a distribution asks cannot.
    """
    generic = f"take a version of `{name}` that has a wheel, or install what it needs"
    index, target = examination.index, examination.target
    try:
        page = index.page(name) if index else None
    except (IndexUnavailable, ProjectNotFound):
        return generic
    if target is None or page is None or not page.versions:
        return generic
    reach = reach_of([item for item in page.of_version(version) if item.kind is FileKind.WHEEL], target)
    newer = [item for item in page.versions if item > version]
    older = [item for item in reversed(page.versions) if item <= version]
    stated = [item for item in asked if isinstance(item.origin, DistributionOrigin)]
    near, against = None, None
    for item in [*newer, *older]:
        against_it = next((one for one in stated if not one.admits(item)), None)
        if (near is None or against_it is None) and _usable(page, item, target):
            near, against = item, against_it
            if against_it is None:
                break
    ways = [f"{pythons_in_words(reach.pythons)} has a wheel of `{name}` {version}"] if reach.pythons else []
    if reach.level is not None and not reach.with_level:
        option, level = target.level_option, dotted(reach.level)
        there = f"there is a wheel for {target.level_name} {level} or later"
        ways = [f"{there}: where the machine has that, say `--{option} {level}`"]
    if near is not None:
        ways += [f"`{name}` {near} has a wheel for this target{_ruled_out(against)}"]
    if not ways:
        none = f"no version of `{name}` has a wheel for this target"
        return f"{none}: install what the build needs first" if helps else none
    return "; ".join([*ways, "or install what the build needs"] if helps else ways)


def _ruled_out(against: Requirement | None) -> str:
    if against is None or not isinstance(against.origin, DistributionOrigin):
        return ""
    who = f"`{against.origin.name}` {against.origin.version}"
    return f", but {who} asks for `{against.pep508}` and would have to move with it"


def _told(examination: Examination, name: NormalizedName, version: Version) -> str:
    """Return the option because of which a wheel is not taken; empty where there is none for the target anyway."""
    index, target, project = examination.index, examination.target, examination.project
    options = [item for item in project.options if item.name == "no-binary"] if project is not None else []
    named = [one for one in options if not {":all:", name}.isdisjoint(map(_project_of, one.value.split(",")))]
    try:
        page = index.page(name) if index and named else None
    except (IndexUnavailable, ProjectNotFound):
        return ""
    there = page is not None and target is not None and _usable(page, version, target)
    return f"`--no-binary {named[-1].value}` ({named[-1].origin})" if there else ""


def _project_of(text: str) -> str:
    return text if text.startswith(":") else canonicalize_name(text.strip())


def _without_compiler(examination: Examination) -> str:
    """Return PyTorch's image that the project starts from, where it is one to run in and not to build in."""
    brought = examination.project.brought if examination.project is not None else ()
    return next((one.image for one in brought if one.label and one.image.endswith("-runtime")), "")


def _planned(examination: Examination) -> Iterator[Finding]:
    resolution, facts = examination.resolution, shipped_wheel_facts()
    for package in resolution.packages if resolution else ():
        if resolution is None or package.file.kind is not FileKind.SDIST:
            continue
        pure = package.build_risk is BuildRisk.ANYWHERE
        need = facts.build_need(package.name, package.version, examination.target)
        if pure and not (need and (need.fails or need.lacks)):
            need = None
        chain = chain_to(resolution, package.name)
        files = f"files: {len(package.files)} sdist, 0 wheels ({package.file.filename}, index {package.file.index})"
        wheels = ""
        if not (need.fails if need else pure):
            lacks = bool(need and need.lacks)
            wheels = _wheels(examination, package.name, package.version, package.wanted_by, helps=not lacks)
            if need and need.is_in_vain(examination.target):
                wheels = _way_without_cuda(need, examination.target)
            elif package.build_risk is BuildRisk.FETCHES and need is None:
                wheels = "name the index that it fetches from, and ask for what it fetches: then that is looked at, too"
            elif examination.target and need and need.wheels_are_for_cuda(examination.target):
                first = "install what the build needs first"
                there = "" if wheels.endswith(first) else f": wheels of `{package.name}` are for CUDA"
                wheels = "; ".join(filter(None, (f"{first}{there}", need.told_of(examination.target))))
            image = _without_compiler(examination)
            if need and image and "cuda-toolkit" in need.on(examination.target):
                wheels = f"`{image}` has neither nvcc nor a compiler: take `{image.removesuffix('runtime')}devel`"
        told = "" if pure else _told(examination, package.name, package.version)
        if told:
            files = f"{package.file.filename} (index {package.file.index}), which has a wheel for this target, too"
            wheels = f"take `{package.name}` out of {told}, or install what the build needs"
        version, risk = str(package.version), package.build_risk
        yield _finding(package.name, version, risk, need, str(chain), files, chain.location, wheels, examination, told)


def _moved(examination: Examination) -> Iterator[Finding]:
    facts = shipped_wheel_facts()
    for demand in demands_of_moved_pins(examination):
        need = facts.build_need(demand.name, demand.version, examination.target)
        chain = f"`{demand.pin}` ({demand.pin.origin}), which demands `{demand.demand.pep508}`"
        files = f"files: {demand.filename}, 0 wheels for the target"
        location = demand.pin.origin if isinstance(demand.pin.origin, FileOrigin) else None
        wheels = _wheels(examination, demand.name, demand.version, [demand.demand])
        found = _finding(demand.name, str(demand.version), None, need, chain, files, location, wheels, examination)
        # The resolution in use has none of it, so a lock settles it.
        yield replace(found, look=Look.AS_THEY_STAND)


def _find(examination: Examination) -> Iterator[Finding]:
    planned = list(_planned(examination))
    yield from planned
    said = {item.subject for item in planned}
    yield from (item for item in _moved(examination) if item.subject not in said)


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find, ranks=Severity.ERROR)
