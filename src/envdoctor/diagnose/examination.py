"""What the rules look at, as one value, and questions about it that several of them ask.

Such are: who wants a package, which cards there are, what the index said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.model.candidate import CoreMetadata, DistributionFile
from envdoctor.model.dataclass import dataclass
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.index_url import index_name
from envdoctor.model.origin import DistributionOrigin, FileOrigin
from envdoctor.model.unknown import Unknown
from envdoctor.ports import ArchiveReader, Index

if TYPE_CHECKING:
    from envdoctor.diagnose.demand import Demands
    from envdoctor.diagnose.torch_ways import TorchChoice
    from envdoctor.model.binary import BinaryInventory
    from envdoctor.model.candidate import Rejection
    from envdoctor.model.conflict import Conflict, GroupOutcome
    from envdoctor.model.environment import InstalledEnvironment
    from envdoctor.model.plan import PatchState
    from envdoctor.model.profile import Profile
    from envdoctor.model.project import IndexOption, Project, SourceFile
    from envdoctor.model.repair import Repair
    from envdoctor.model.requirement import Requirement
    from envdoctor.model.resolution import Resolution
    from envdoctor.model.target import Target, TargetProperty

__all__ = [
    "Examination",
    "Sources",
    "card_architectures",
    "chain_to",
    "facts_like",
    "line_of",
    "option_of",
    "outbid",
    "silent",
    "stated",
]


class Sources(Protocol):
    """The text files of a project checkout, read on demand."""

    def python_files(self) -> Iterator[SourceFile]:
        """Yield the project's Python files; environments, caches and vendored site-packages are left out."""
        ...

    def read(self, path: str) -> SourceFile | None:
        """Return one file by its path relative to the root, None where it is not there or not text."""
        ...

    def glob(self, pattern: str) -> Iterator[str]:
        """Yield relative paths of files that match; nothing outside the root."""
        ...


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything that may be known when rules run; a rule says what it needs and stays silent without it."""

    target: Target | None = None
    profile: Profile | None = None
    project: Project | None = None
    sources: Sources | None = None
    conflicts: tuple[Conflict, ...] = ()
    repairs: tuple[Repair, ...] = ()
    resolution: Resolution | None = None
    rejections: tuple[Rejection, ...] = ()
    unknowns: tuple[Unknown, ...] = ()
    """What the resolver could not look at."""
    by_lock: tuple[str, ...] = ()
    """Projects that could not be looked at, where the lock alone shows that the requirements hold."""
    strict_core: tuple[str, ...] = ()
    """Requirement lines that cannot hold together for a tool that refuses versions with invalid metadata (pip 24.1)."""
    override_failure: tuple[Requirement, ...] = ()
    """Requirements that cannot be installed together even with the overrides of the profile and the lock."""
    groups: tuple[GroupOutcome, ...] = ()
    """What came out for extras, groups and files that nobody asked for."""
    environment: InstalledEnvironment | None = None
    demands: Callable[[], Demands] | None = None
    """Reads what the installed distributions ask of each other; None: each rule does so itself."""
    binaries: BinaryInventory | None = None
    """The libraries of the environment, read and not loaded."""
    facts: Facts = field(default_factory=Facts)
    index: Index | None = None
    archives: ArchiveReader | None = None
    torch: TorchChoice | None = None
    """The ways to a torch for the card, where the card chose the backend."""
    log: str | None = None
    """Text of an install log or traceback."""
    assumed: frozenset[TargetProperty] = frozenset()
    """What of the target was neither typed nor measured, so that this machine's own stands for it; it proves nothing.
    """
    not_read: tuple[Unknown, ...] = ()
    """What is wrong with pastes that were not understood, where others were."""
    patches: tuple[PatchState, ...] = ()
    """How the profile's patches of the project stand to its files."""
    accepted: bool = False
    """A lock was written with the profile: what is told before one takes it is not repeated."""
    scenes: list[Any] = field(default_factory=list, init=False, compare=False, repr=False)
    """What ``package_view.scenes`` made of it, which knows the type."""


def facts_like(examination: Examination, pattern: str) -> Iterator[Fact]:
    """Yield the facts whose names match; a star stands for an index in brackets."""
    if "*" not in pattern:
        yield examination.facts.get(pattern)
        return
    # A pattern's star stands for an index in brackets, which fnmatch would read as a set of characters.
    escaped = pattern.replace("[", "\x00").replace("]", "\x01")
    for fact in examination.facts:
        if fnmatch(fact.name.replace("[", "\x00").replace("]", "\x01"), escaped):
            yield fact


def card_architectures(examination: Examination) -> list[str]:
    """Return the cards' architectures as ``sm_110`` or ``gfx1030``: measured, else the target's, else the profile's."""
    found: list[str] = []
    for name in ("gpu[*].architecture", "gpu[*].compute_capability"):
        for fact in facts_like(examination, name):
            if fact.state is FactState.KNOWN:
                text = str(fact.value)
                is_number = text.replace(".", "").isdigit() and "." in text
                found.append(f"sm_{text.replace('.', '')}" if is_number else text)
    found = _as_told_to_hip(examination, found)
    if not found and examination.target and examination.target.gpu_architecture:
        found.append(examination.target.gpu_architecture)
    if not found and examination.profile:
        found += examination.profile.target.gpu_architectures
    return list(dict.fromkeys(found))


def _as_told_to_hip(examination: Examination, cards: list[str]) -> list[str]:
    """Return the cards as ROCm takes them: HSA_OVERRIDE_GFX_VERSION lets an AMD card pass for another one."""
    told = str(examination.facts.value("environment.HSA_OVERRIDE_GFX_VERSION") or "").split(".")
    if len(told) != 3 or not all(part.isdecimal() for part in told) or examination.facts.value("host.wsl"):
        return cards
    passes_for = f"gfx{int(told[0])}{int(told[1])}{int(told[2]):x}"
    return [passes_for if card.startswith("gfx") else card for card in cards]


class Outbid(NamedTuple):
    """A project that the default index has, and an extra one in a higher version."""

    project: str
    index_name: str
    version: Version
    default_version: Version


def silent(examination: Examination) -> tuple[Unknown, ...]:
    """Return the indexes that could not be asked."""
    return tuple(getattr(examination.index, "unreachable", ()))


def option_of(examination: Examination, index: str) -> IndexOption | None:
    """Return the option of the project's files that names an index, None where none does."""
    project = examination.project
    if project is None:
        return None
    named = ((item, index_name(item.url, str(item.origin), project.index_names)) for item in project.index_options)
    return next((item for item, name in named if name == index), None)


def outbid(examination: Examination) -> tuple[Outbid, ...]:
    """Return the projects for which an extra index offers more than the default one."""
    return tuple(Outbid(*item) for item in getattr(examination.index, "confused", ()))


def stated(index: Index, file: DistributionFile) -> CoreMetadata:
    """Return a file's metadata as it stands, with what the project's settings set aside. Raises as ``Index`` does."""
    found: CoreMetadata = getattr(index, "stated", index.metadata)(file)
    return found


class Chain:
    """The shortest way from a person's requirement down to a package."""

    def __init__(self, root: Requirement | None, names: tuple[str, ...]) -> None:
        self.root = root
        self.names = names

    @property
    def location(self) -> FileOrigin | None:
        """The file line at the top, where there is one."""
        origin = self.root.origin if self.root else None
        return origin if isinstance(origin, FileOrigin) else None

    def __str__(self) -> str:
        if not self.root:
            return " -> ".join(self.names)
        return f"`{self.root}` ({self.root.origin})" + "".join(f" -> {name}" for name in self.names[1:])


def chain_to(resolution: Resolution, name: str) -> Chain:
    """Return the shortest chain to ``name``; its root is None where no person's line leads there.

    A person's line that an override set aside counts too: it still says who asked for the package, and where.
    """
    packages = {item.name: item for item in resolution.packages}
    queue: list[tuple[str, ...]] = [(name,)]
    seen = {name}
    while queue:
        path = queue.pop(0)
        package = packages.get(canonicalize_name(path[0]))
        for wanted in (*package.wanted_by, *package.set_aside) if package else ():
            if not isinstance(wanted.origin, DistributionOrigin):
                return Chain(wanted, path)
            above = canonicalize_name(wanted.origin.name)
            if above not in seen:
                seen.add(above)
                queue.append((above, *path))
    return Chain(None, (name,))


def line_of(requirement: Requirement) -> FileOrigin | None:
    """Return the file line of a requirement, None where it was not written in a file."""
    return requirement.origin if isinstance(requirement.origin, FileOrigin) else None
