"""What a resolver's output says, in its own words of requirements: which of them, and who asks for what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import combinations, product

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Parsed
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.model.conflict import Clash, ClashSide, Conflict
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import CommandLineOrigin, DistributionOrigin, FileOrigin, Origin, written_by_a_person
from envdoctor.model.requirement import Requirement, endless_number

__all__ = [
    "ResolverFailure",
    "conflicts_in",
    "demand_of",
    "folded",
    "in_log",
    "is_disputed",
    "of_conda",
    "of_poetry",
    "requirement_of",
]

_LINE = re.compile(r"-[rc] (\S+) \(line (\d{1,9})\)")
_POETRY = re.compile(r"([A-Za-z0-9][\w.-]*)(\[[\w, -]*\])? ?(?:\(([^()]*)\))?$")
_CONDA = re.compile(r"(?:[\w-]+::)?([A-Za-z0-9_][\w.-]*)(?:\[version='([^']*)'.*\]|[ =]+([^\s\[]*).*)?$")


def in_log(number: int, place: str = "") -> Origin:
    """Return where a requirement stands that a log tells of: the file and line that it names, else its own line."""
    found = _LINE.search(place)
    relative = found is not None and not re.match(r"/|\\|[A-Za-z]:|\.\.", found[1])
    if found is not None and relative:
        return FileOrigin(found[1].removeprefix("./").removeprefix(".\\").replace("\\", "/"), int(found[2]))
    return CommandLineOrigin(f"--log line {number}")


def requirement_of(text: str, origin: Origin) -> Requirement | None:
    """Return a requirement in PEP 508's form, None where it is none."""
    if endless_number(text):
        return None
    try:
        parsed = Parsed(text.strip().rstrip(".,;"))
    except InvalidRequirement:
        return None
    extras = frozenset(map(canonicalize_name, parsed.extras))
    return Requirement(canonicalize_name(parsed.name), origin, parsed.specifier, extras, url=parsed.url)


def demand_of(consumer: str, version: str, text: str) -> Requirement | None:
    """Return what a version of a distribution needs."""
    return requirement_of(text, DistributionOrigin(canonicalize_name(consumer), version))


def of_poetry(text: str, origin: Origin) -> Requirement | None:
    """Return a requirement of ``torch (>=2.4,<3.0)``: a version alone means just that one, ``^2.4`` up to 3."""
    found = _POETRY.match(text.strip())
    if found is None or endless_number(text):
        return None
    wanted = _specifier_of_poetry(found[3] or "")
    name = f"{found[1]}{found[2] or ''}"
    return requirement_of(f"{name}{wanted}", origin) if wanted is not None else None


def _specifier_of_poetry(text: str) -> SpecifierSet | None:
    parts = []
    for part in filter(None, (item.strip() for item in text.split(","))):
        if part == "*":
            continue
        caret = re.fullmatch(r"\^\s*(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?!\d).*", part)
        if caret:
            numbers = [int(item) for item in caret.groups() if item is not None]
            at = next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
            above = [*numbers[:at], numbers[at] + 1]
            parts.append(f">={part[1:].strip()},<{'.'.join(map(str, above))}")
        else:
            parts.append(part if part[0] in "<>=!~" else f"=={part}")
    try:
        return SpecifierSet(",".join(parts))
    except InvalidSpecifier:
        return None


def of_conda(text: str, origin: Origin) -> Requirement | None:
    """Return a requirement of conda's ``pytorch 2.4.1**``, ``numpy >=1.23,<2.0a0`` or ``cudatoolkit=11.3``."""
    found = _CONDA.match(text.strip())
    if found is None:
        return None
    wanted = (found[2] or found[3] or "").strip("= ")
    if not wanted or wanted == "*":
        return requirement_of(found[1], origin)
    if "|" in wanted:
        # Any of several: no specifier says that.
        return requirement_of(found[1], origin)
    parts = []
    for part in filter(None, wanted.split(",")):
        star = part.endswith("*")
        bare = part.rstrip("*").rstrip(".")
        if part[0] in "<>!~":
            parts.append(bare)
        elif bare:
            parts.append(f"=={bare.lstrip('=')}{'.*' if star else ''}")
    return requirement_of(f"{found[1]}{','.join(parts)}", origin) or requirement_of(found[1], origin)


@dataclass(frozen=True, slots=True)
class ResolverFailure:
    """One refusal of a resolver, between two lines of a log."""

    begin: int
    end: int
    words: str
    """What it said, in one line."""
    core: tuple[Requirement, ...] = ()
    """What people wrote, as the output names it."""
    demands: tuple[Requirement, ...] = ()
    """What distributions need, each with its distribution as origin."""
    why: str = ""
    """Why one requirement alone cannot be met; goes on after the requirement. Empty for a conflict."""
    remedy: str = ""
    versions: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """Of distributions that were tried in several versions: name to those."""

    def is_past(self, put_in: Mapping[NormalizedName, tuple[int, str]]) -> bool:
        """Return whether all that could not be put in together was put in later, in other versions then.

        ``put_in``: the line in which each package was put in last, and the version.
        """
        names = {item.name for item in self.core} if not self.why else set()
        return bool(names) and all(put_in.get(name, (0, ""))[0] > self.end for name in names)


def folded(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """Return each requirement once; of one name those with a version count for the one without."""
    found: dict[str, Requirement] = {}
    for item in requirements:
        found.setdefault(item.pep508, item)
    bounded = {item.name for item in found.values() if item.specifier or item.url}
    return tuple(item for item in found.values() if item.specifier or item.url or item.name not in bounded)


def conflicts_in(failure: ResolverFailure) -> tuple[Conflict, ...]:
    """Return the conflicts of a refusal, numbered from one: one for each package that chains disagree about, and pair.

    Where the output does not tell who of the core is behind each demand, it is one conflict of them all. None for a
    refusal of one requirement alone.
    """
    if len(failure.core) < 2 or failure.why:
        return ()
    found: list[Conflict] = []
    for package in _disputed(failure):
        demands = [item for item in (*failure.core, *failure.demands) if item.name == package]
        for asked in _pairs(demands) or [_least(demands)]:
            behind = {_asker(item) for item in asked}
            core = tuple(item for item in failure.core if item.name in behind)
            if len(core) == len(behind) and len(core) > 1:
                found.append(Conflict(f"C{1 + len(found)}", core, Clash(package, _sides(asked, failure))))
    return tuple(found) or (_whole(failure, "C1"),)


def is_disputed(failure: ResolverFailure) -> bool:
    """Return whether the demands that it names cannot be installed together."""
    return bool(_disputed(failure))


def _pairs(asked: Sequence[Requirement]) -> list[list[Requirement]]:
    """Return the demands of each two askers of whom no version of one suits any of the other."""
    by_asker: dict[str, list[Requirement]] = {}
    for item in asked:
        by_asker.setdefault(_asker(item), []).append(item)
    return [
        [*ours, *theirs]
        for ours, theirs in combinations(by_asker.values(), 2)
        if all(_together(pair).is_unsatisfiable() for pair in product(ours, theirs))
    ]


def _least(asked: Sequence[Requirement]) -> list[Requirement]:
    """Return demands that cannot hold together, as few as the last ones allow; of pip's list most are met by any."""
    kept = list(asked)
    for item in asked:
        others = [other for other in kept if other is not item]
        if len(others) > 1 and _together(others).is_unsatisfiable():
            kept = others
    return kept


def _asker(demand: Requirement) -> str:
    """Return the name under which the core has who asks for it."""
    return demand.origin.name if isinstance(demand.origin, DistributionOrigin) else demand.name


def _disputed(failure: ResolverFailure) -> list[NormalizedName]:
    by_name: dict[NormalizedName, list[Requirement]] = {}
    for item in (*failure.demands, *failure.core):
        by_name.setdefault(item.name, []).append(item)
    return [name for name, asked in by_name.items() if len(asked) > 1 and _together(asked).is_unsatisfiable()]


def _together(asked: Sequence[Requirement]) -> SpecifierSet:
    return SpecifierSet(",".join(sorted({str(item.specifier) for item in asked} - {""})))


def _whole(failure: ResolverFailure, id: str) -> Conflict:  # noqa: A002 - as Conflict calls it
    names = [item.name for item in (*failure.demands, *failure.core)]
    package = next(iter(_disputed(failure)), None) or max(names, key=names.count)
    asked = [item for item in (*failure.core, *failure.demands) if item.name == package]
    # Where the chains meet may not be said; the requirements themselves are.
    return Conflict(id, failure.core, Clash(package, _sides(asked if len(asked) > 1 else failure.core, failure)))


def _sides(asked: Sequence[Requirement], failure: ResolverFailure) -> tuple[ClashSide, ...]:
    return tuple(ClashSide(item, _way(item), _tried(failure, item)) for item in _newest_of_each(asked, failure))


def _way(demand: Requirement) -> tuple[str, ...]:
    return () if written_by_a_person(demand.origin) else (str(getattr(demand.origin, "name", "")),)


def _tried(failure: ResolverFailure, demand: Requirement) -> tuple[str, ...]:
    return failure.versions.get(demand.origin.name, ()) if isinstance(demand.origin, DistributionOrigin) else ()


def _newest_of_each(asked: Sequence[Requirement], failure: ResolverFailure) -> list[Requirement]:
    """Return one demand of each distribution: pip repeats itself for each version that it tried."""
    kept: dict[str, Requirement] = {}
    for item in asked:
        origin = item.origin
        key = origin.name if isinstance(origin, DistributionOrigin) and origin.name in failure.versions else str(item)
        kept.setdefault(f"{key}>{item.name}", item)
    return list(kept.values())
