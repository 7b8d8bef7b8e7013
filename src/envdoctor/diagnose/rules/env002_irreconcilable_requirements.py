"""Two installed distributions ask for versions of a third that no version can be.

## What it does
Takes the specifiers that installed distributions put on one project and looks, by arithmetic on version ranges,
whether any version could lie in all of them. Names the smallest sets that exclude each other.

## Why it is bad
Every reinstall that heals one of them breaks the other; people go round in circles. No choice of version helps.

## Example
`audiocraft 1.0.0` requires `hydra-core>=1.1`, `fairseq 0.12.2` requires `hydra-core<1.1`.

## What to do
Give the two separate environments, or set one demand aside on purpose: an override, written down with the reason
and with the name of the one that may break.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.diagnose.demand import Demands, InstalledDemand
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.installed_demands import demands_of, waiver_for
from envdoctor.diagnose.remedies import remedy_of_one_for_all
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity, Waiver


def find(examination: Examination) -> Iterator[Finding]:
    """Yield one finding for each smallest set of specifiers that exclude each other."""
    demands = demands_of(examination)
    for name, wanted in demands.by_name.items():
        have = demands.installed.get(name)
        if have is not None and all(demand.accepts(have.version) for demand in wanted):
            continue
        groups: dict[str, list[InstalledDemand]] = defaultdict(list)
        for demand in wanted:
            if demand.requirement.specifier:
                groups[str(demand.requirement.specifier)].append(demand)
        for core in _cores(tuple(groups)):
            yield _finding(examination, demands, name, [groups[specifier] for specifier in core])


def _cores(specifiers: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the pairs that exclude each other; where all pairs agree, one smallest set that does not."""
    if len(specifiers) < 2 or not _impossible(specifiers):
        return
    alone = [specifier for specifier in specifiers if _impossible((specifier,))]
    pairs = [pair for pair in combinations(specifiers, 2) if not set(pair) & set(alone) and _impossible(pair)]
    if pairs or alone:
        yield from pairs
        return
    core = list(specifiers)
    for specifier in specifiers:
        rest = [other for other in core if other != specifier]
        if _impossible(tuple(rest)):
            core = rest
    yield tuple(core)


def _impossible(specifiers: tuple[str, ...]) -> bool:
    return SpecifierSet(",".join(specifiers)).is_unsatisfiable()


def _finding(examination: Examination, demands: Demands, name: str, sides: list[list[InstalledDemand]]) -> Finding:
    have = demands.installed.get(name)
    first = [side[0] for side in sides]
    said = " and ".join(f"`{demand.consumer.name}` {demand.consumer.version} (`{demand.text}`)" for demand in first)
    others = sum(len(side) - 1 for side in sides)
    more = f", and {others} more like them" if others else ""
    state = f"{have.version} is installed" if have else "none is installed"
    waiver = _waiver(examination, demands, [demand for side in sides for demand in side])
    finding = RULE.finding(
        subject=name,
        message=f"No version of `{name}` suits both {said}{more}; {state}",
        evidence=tuple(
            Evidence(
                f"{demand.consumer.name} {demand.consumer.version}: {demand.requirement}", demand.consumer.metadata_path
            )
            for side in sides
            for demand in side
        ),
        remedy=_one_for_all(examination, demands, name, first)
        or Remedy(
            f"Give {' and '.join(f'`{demand.consumer.name}`' for demand in first)} separate environments, or record an "
            f"override of `{name}` with its reason; whatever version it names, {_who_breaks(demands, name, first)}"
        ),
    )
    return finding.waive(waiver) if waiver else finding


def _one_for_all(examination: Examination, demands: Demands, name: str, sides: list[InstalledDemand]) -> Remedy | None:
    """Return the way out where each side that is not met was built for one release: all of them for what is there."""
    have = demands.installed.get(name)
    there = {each: item.version for each, item in demands.installed.items()}
    unmet = [side.consumer.name for side in sides if have is not None and not side.accepts(have.version)]
    built = [remedy_of_one_for_all(examination.environment, canonicalize_name(each), name, there) for each in unmet]
    found = [remedy for remedy in built if remedy is not None]
    if not found or len(found) < len(built):
        return None
    commands = tuple(dict.fromkeys(line for remedy in found for line in remedy.commands))
    return replace(found[0], summary="; ".join(remedy.summary for remedy in found), commands=commands)


def _who_breaks(demands: Demands, name: str, sides: list[InstalledDemand]) -> str:
    have = demands.installed.get(name)
    broken = [side.consumer.name for side in sides if have is not None and not side.accepts(have.version)]
    if have is None or len(broken) != 1:
        return "one of them runs against a version that it rules out"
    return f"one of them runs against a version that it rules out (now, with {have.version}, it is `{broken[0]}`)"


def _waiver(examination: Examination, demands: Demands, core: list[InstalledDemand]) -> Waiver | None:
    """Return the override that settles the matter: it sets aside every side that is not met."""
    waiver = None
    for demand in core:
        have = demands.installed.get(demand.name)
        if have is not None and demand.accepts(have.version):
            continue
        waiver = waiver_for(examination, demand, have)
        if waiver is None:
            return None
    return waiver


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.ERROR,
    find,
    summary="Installed distributions ask for versions of a third that exclude each other",
    needs={"environment"},
)
