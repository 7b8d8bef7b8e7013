"""The plan of a treatment, step by step: from a lock, a profile and an environment as it is.

What earlier fixes brought and the lock no longer names goes with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import InstalledDistribution
from envdoctor.model.finding import Finding
from envdoctor.model.plan import PatchPreview, Plan
from envdoctor.model.profile import Exclusion, Profile
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.repair import Repair
from envdoctor.model.step import (
    BuildSdist,
    CreateEnvironment,
    DownloadFiles,
    InstallFromLock,
    PlannedFile,
    RemoveDistribution,
    Step,
    WriteRecord,
    WriteStartup,
    WriteStub,
    WriteVariables,
)
from envdoctor.planning.fix_refusals import BuildState, EnvironmentState, refusals_of

__all__ = ["Leftover", "PlanInput", "brought", "environment_digest", "leftovers", "make_plan"]

TOOLS = frozenset({"pip", "setuptools", "wheel", "uv"})
"""What installs and builds; an environment keeps it whether a lock names it or not."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A distribution that is no longer in the lock, and was in the lock of the fix before."""

    distribution: InstalledDistribution
    kept: str = ""
    """Why it stays all the same; empty where it goes."""


def leftovers(
    installed: Iterable[InstalledDistribution],
    ours: Mapping[str, str],
    locked: Collection[str],
    leaving: Collection[str] = (),
) -> tuple[Leftover, ...]:
    """Return what earlier fixes put there and the lock does not name any more.

    ``ours``: version by name of what they put where nothing was. ``leaving``: names that go for another reason. What
    has another version by now, or is wanted by something that no fix brought, is a person's own and stays.
    """
    here = [item for item in installed if item.name not in leaving]
    stale = {item.name: item for item in here if item.name in ours and item.name not in (*locked, *TOOLS)}
    kept = {
        item.name: f"it is {item.version} by now, and the fix had brought {ours[item.name]}"
        for item in stale.values()
        if ours[item.name] != item.version or item.editable or item.direct_url
    }
    wanted = {item.name: tuple(_wants(item)) for item in here}
    # What stays keeps what it wants: round after round, until nothing is added.
    pending = [item.name for item in here if item.name not in stale and item.name not in locked] + list(kept)
    while pending:
        consumer = pending.pop()
        for name in wanted.get(consumer, ()):
            if name in stale and name not in kept:
                kept[name] = f"`{consumer}` asks for it"
                pending.append(name)
    return tuple(Leftover(item, kept.get(item.name, "")) for _, item in sorted(stale.items()))


def brought(
    ours: Mapping[str, str], files: Iterable[PlannedFile], here: Collection[str], gone: Collection[str] = ()
) -> dict[str, str]:
    """Return version by name of all that fixes have put where nothing was, once ``files`` are there.

    ``here``: names that are installed before this fix; ``gone``: names that it takes away.
    """
    versions = {str(file.name): file.version for file in files}
    known = {name: versions.get(name, version) for name, version in ours.items() if name in here and name not in gone}
    new = {name: version for name, version in versions.items() if name not in here}
    return dict(sorted({**known, **new}.items()))


def _wants(item: InstalledDistribution) -> Iterator[NormalizedName]:
    """Yield what it may ask for: with any extra and on any machine, since a package too many harms nobody."""
    for text in item.requires_dist:
        with suppress(InvalidRequirement):
            yield canonicalize_name(Requirement(text).name)


_UNPACKED = 2.6
"""Bytes on disk for each byte of a wheel: measured over torch, numpy, av and pure-Python wheels, rounded up."""
_SPARE = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class PlanInput:
    """All that a plan depends on."""

    environment: EnvironmentState
    project: str
    files: tuple[PlannedFile, ...]
    """What the lock names."""
    lock_text: str
    installer: str
    profile: Profile | None = None
    exclusions: tuple[Exclusion, ...] = ()
    """What must not be installed, beside the profile's: what another distribution stands in for."""
    interpreter: str | None = None
    """What a new environment is made with; None where none was found, empty where it is another machine's."""
    python: str = ""
    """``3.11``: what the lock is for."""
    builds: Mapping[str, BuildState] = field(default_factory=dict)
    """By name of each package that comes from source."""
    preview: PatchPreview = PatchPreview()
    stubs: tuple[WriteStub, ...] = ()
    leftovers: tuple[Leftover, ...] = ()
    startup: WriteStartup | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    records: tuple[tuple[str, str, str], ...] = ()
    """File name in ``.envdoctor``, content, and what it is."""
    disk_free: int | None = None
    refusals: tuple[Refusal, ...] = ()
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    repair: Repair | None = None
    known_errors: tuple[Finding, ...] = ()
    label: str = ""


def environment_digest(distributions: Iterable[InstalledDistribution]) -> str:
    """Return a digest of what is installed, to tell whether an environment is still the one that was looked at."""
    lines = sorted(f"{item.name}=={item.version} {item.location} {item.direct_url or ''}" for item in distributions)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def make_plan(given: PlanInput) -> Plan:
    """Return the plan; its refusals say why it must not be applied."""
    wanted = _wanted(given)
    steps = [*_package_steps(given, wanted), *given.preview.steps, *_written(given)]
    download = sum(file.size or 0 for file in wanted)
    disk = int(download * (1 + _UNPACKED)) + _replaced_bytes(given, wanted)
    plan = Plan(
        steps=tuple(_numbered(steps)),
        environment=given.environment.path,
        project=given.project,
        profile=given.profile.name if given.profile else None,
        lock_digest=hashlib.sha256(given.lock_text.encode()).hexdigest(),
        before_digest=environment_digest(given.environment.distributions) if given.environment.exists else None,
        download_bytes=download,
        disk_bytes=disk,
        disk_free=given.disk_free,
        skipped=(*given.skipped, *given.preview.skipped),
        notes=(*given.notes, *_notes(given)),
        repair=given.repair,
        known_errors=given.known_errors,
        label=given.label,
    )
    found = refusals_of(
        given.environment, given.files, given.profile, given.builds, python=given.python, interpreter=given.interpreter
    )
    if given.disk_free is not None and disk + _SPARE > given.disk_free:
        message = f"the treatment needs about {_megabytes(disk)} of disk, and {_megabytes(given.disk_free)} are free"
        found = (
            *found,
            Refusal(RefusalKind.DISK, given.environment.path, message, "make room, or choose another `--env`"),
        )
    return replace(plan, refusals=(*given.refusals, *found, *given.preview.refusals))


def _wanted(given: PlanInput) -> tuple[PlannedFile, ...]:
    """Return the files to install: what is missing, of another version or has lost files, and what a removal tears."""
    state = given.environment
    here = {item.name: item for item in state.distributions}
    wanted = [file for file in given.files if file.name in state.lost or not _is_there(here.get(file.name), file)]
    leaving = {item.name for item in _removed(given)} | {file.name for file in wanted}
    torn = {path for name in leaving for path in _paths(here.get(name))}
    kept = [file for file in given.files if file not in wanted]
    wanted += [file for file in kept if torn & _paths(here.get(file.name))]
    return tuple(sorted(wanted, key=lambda file: file.name))


def _is_there(installed: InstalledDistribution | None, file: PlannedFile) -> bool:
    if installed is None or installed.editable or installed.direct_url:
        return False
    try:
        return Version(installed.version) == Version(file.version)
    except ValueError:
        return installed.version == file.version


def _paths(item: InstalledDistribution | None) -> set[str]:
    files = item.files if item is not None and item.files is not None else ()
    return {file.path for file in files if "__pycache__" not in file.path and ".dist-info/" not in file.path}


def _removed(given: PlanInput) -> dict[InstalledDistribution, str]:
    """Return what goes, and why."""
    profile = given.profile.excludes if given.profile else ()
    excluded = {item.name: item.because for item in (*profile, *given.exclusions)}
    locked = {file.name for file in given.files}
    removed = {
        item: excluded[item.name]
        for item in given.environment.distributions
        if item.name in excluded and item.name not in locked
    }
    for leftover in given.leftovers:
        if not leftover.kept:
            removed.setdefault(leftover.distribution, "an earlier fix brought it, and the lock has no use for it now")
    return removed


def _package_steps(given: PlanInput, wanted: tuple[PlannedFile, ...]) -> Iterator[Step]:
    state = given.environment
    if wanted:
        yield DownloadFiles("", wanted)
    if not state.exists:
        tool = "uv" if given.installer == "uv" else "venv"
        yield CreateEnvironment("", state.path, given.python, given.interpreter or "", tool)
    for file in wanted:
        if file.sdist:
            build = given.builds.get(file.name)
            yield BuildSdist("", file, dict(given.variables), build.needs if build else ())
    for item, because in _removed(given).items():
        yield RemoveDistribution("", item.name, item.version, because)
    if wanted:
        here: dict[NormalizedName, str] = {item.name: item.version for item in state.distributions}
        replaced = tuple((file.name, here[file.name]) for file in wanted if file.name in here)
        yield InstallFromLock("", wanted, given.installer, replaced)


def _written(given: PlanInput) -> Iterator[Step]:
    yield from given.stubs
    if given.startup is not None:
        yield given.startup
    if given.variables:
        yield WriteVariables("", dict(given.variables))
    for path, content, what in given.records:
        yield WriteRecord("", path, content, what)


def _numbered(steps: Iterable[Step]) -> Iterator[Step]:
    """Give each step an id that stays the same for the same plan."""
    for number, step in enumerate(steps, 1):
        yield replace(step, id=f"s{number:02d}-{step.kind}")


def _replaced_bytes(given: PlanInput, wanted: tuple[PlannedFile, ...]) -> int:
    """Return the size of the copies that are made of what goes, as far as it is known."""
    leaving = {file.name for file in wanted} | {item.name for item in _removed(given)}
    return sum(
        file.size or 0 for item in given.environment.distributions if item.name in leaving for file in item.files or ()
    )


def _notes(given: PlanInput) -> Iterator[str]:
    locked = {file.name for file in given.files}
    removed = {item.name for item in _removed(given)}
    told = {item.distribution.name for item in given.leftovers}
    rest = sorted({item.name for item in given.environment.distributions} - locked - removed - told - TOOLS)
    if rest:
        shown = ", ".join(f"`{name}`" for name in rest[:8]) + (", ..." if len(rest) > 8 else "")
        are = "packages are" if len(rest) > 1 else "package is"
        yield f"{len(rest)} installed {are} not in the lock and stay{'' if len(rest) > 1 else 's'}: {shown}"
    for item in given.environment.distributions:
        if item.name in given.environment.lost and item.name not in removed:
            then = "it is installed again" if item.name in locked else "it is not in the lock, and stays so"
            yield f"files of `{item.name}` {item.version} are missing or damaged: {then}"
    for leftover in given.leftovers:
        if leftover.kept:
            item = leftover.distribution
            yield f"`{item.name}` {item.version} is not in the lock any more and stays: {leftover.kept}"
    for path in given.preview.unchanged:
        yield f"`{path}` is as its patches want it already"


def _megabytes(number: int) -> str:
    return f"{number / 1e6:.0f} MB"
