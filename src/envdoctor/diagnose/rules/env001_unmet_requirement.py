"""An installed distribution needs something that is missing, or another version of it.

## What it does
Reads the `Requires-Dist` lines of every installed distribution, keeps those whose markers hold on the environment's
own interpreter (and those of an extra that another distribution asks for), and looks whether what is installed
meets them. Disagreements that a profile or a lock records as overrides are kept, but waived.

## Why it is bad
The distribution fails at import, or later with an error that names neither of the two. Installers make such
environments whenever packages are added one after the other, or with `--no-deps`.

## Example
`tortoise 2.5.0` requires `transformers==4.29.2`, and `transformers 4.31.0` is installed.

## What to do
Install a version that suits everyone who asks; where no version does, see `ENV002`. Where the disagreement is
known to be harmless, record it as an override with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.demand import Demands, InstalledDemand
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.installed_demands import demands_of, waiver_for
from envdoctor.diagnose.module_owners import stand_ins
from envdoctor.diagnose.remedies import installer_commands, remedy_of_move, remedy_of_one_for_all
from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import EnvironmentProblemKind, InstalledDistribution, of_the_system
from envdoctor.model.finding import Applicability, Evidence, Finding, Remedy, Severity


def find(examination: Examination) -> Iterator[Finding]:
    """Yield one finding for each demand that is not met."""
    demands = demands_of(examination)
    together = cache(lambda name: _together(demands.by_name[name]))
    for demand, have in demands.unmet():
        stand_in = _stand_in(demand, demands) if have is None else None
        if stand_in is not None:
            yield _stood_in_for(demand, stand_in)
            continue
        state = f"{have.version} is installed" if have is not None else _absent(examination, demand)
        through = f" (its extra `{demand.extra}`)" if demand.extra else ""
        finding = RULE.finding(
            subject=demand.consumer.name,
            message=f"{_who(demand)}{through} requires `{demand.text}`, but {state}",
            severity=_severity(demand),
            evidence=_evidence(demand, have),
            remedy=_remedy(examination, demands, demand, together(demand.name)),
            packages=(canonicalize_name(demand.consumer.name), demand.name) if have is not None else (),
        )
        waiver = waiver_for(examination, demand, have)
        yield finding.waive(waiver) if waiver else finding


def _absent(examination: Examination, demand: InstalledDemand) -> str:
    problems = examination.environment.problems if examination.environment is not None else ()
    for problem in problems:
        if problem.kind is EnvironmentProblemKind.NO_OWNER and canonicalize_name(problem.subject) == demand.name:
            return f"of it only the folder `{problem.detail}` is there, without metadata (no dist-info)"
    return "it is not installed"


def _severity(demand: InstalledDemand) -> Severity:
    # What only an extra brings in is often optional at run time, and Linux distributions split their packages.
    if of_the_system(demand.consumer):
        return Severity.INFO
    return Severity.WARNING if demand.extra else Severity.ERROR


def _who(demand: InstalledDemand) -> str:
    return f"`{demand.consumer.name}` {demand.consumer.version}"


def _stand_in(demand: InstalledDemand, demands: Demands) -> InstalledDistribution | None:
    for name in stand_ins(demand.name):
        candidate = demands.installed.get(name)
        if candidate is not None and demand.accepts(candidate.version):
            return candidate
    return None


def _stood_in_for(demand: InstalledDemand, stand_in: InstalledDistribution) -> Finding:
    return RULE.finding(
        subject=demand.consumer.name,
        message=f"{_who(demand)} requires `{demand.text}`; "
        f"`{stand_in.name}` {stand_in.version}, which gives the same modules, stands in for it",
        severity=Severity.INFO,
        evidence=_evidence(demand, None),
        remedy=Remedy(f"Leave it so: installing `{demand.name}` beside `{stand_in.name}` would overwrite its files"),
    )


def _evidence(demand: InstalledDemand, have: InstalledDistribution | None) -> tuple[Evidence, ...]:
    wanted = Evidence(f"Requires-Dist: {demand.requirement}", demand.consumer.metadata_path)
    if have is None:
        return (wanted,)
    return (wanted, Evidence(f"installed: {have.name} {have.version}", have.metadata_path))


def _together(everyone: Iterable[InstalledDemand]) -> tuple[SpecifierSet, bool]:
    """Return what all ask for, and whether a version of that can be."""
    together = SpecifierSet(",".join(sorted({str(item.requirement.specifier) for item in everyone} - {""})))
    possible = not together.is_unsatisfiable()
    return _narrowed(together) if possible else together, possible


def _narrowed(together: SpecifierSet) -> SpecifierSet:
    """Return the clauses that the others follow from: one pin, or of bounds the highest below and the lowest above."""
    exact = [item for item in together if item.operator == "==" and not item.version.endswith(".*")]
    below = [item for item in together if item.operator in (">", ">=")]
    above = [item for item in together if item.operator in ("<", "<=")]
    if exact:
        return SpecifierSet(str(exact[0]))
    kept = [item for item in together if item not in (*below, *above)]
    kept += sorted(below, key=lambda item: (Version(item.version), item.operator == ">"))[-1:]
    kept += sorted(above, key=lambda item: (Version(item.version), item.operator == "<="))[:1]
    return SpecifierSet(",".join(map(str, kept)))


def _remedy(
    examination: Examination, demands: Demands, demand: InstalledDemand, asked: tuple[SpecifierSet, bool]
) -> Remedy:
    everyone = demands.by_name[demand.name]
    together, possible = asked
    there = {name: item.version for name, item in demands.installed.items()}
    consumer = canonicalize_name(demand.consumer.name)
    if not possible:
        if one := remedy_of_one_for_all(examination.environment, consumer, demand.name, there):
            return one
        names = ", ".join(f"`{name}`" for name in sorted({item.consumer.name for item in everyone}))
        return Remedy(
            f"No version of `{demand.name}` suits all of {names}: give them separate environments, "
            f"or record an override and say which of them is not used"
        )
    moved = remedy_of_move(examination.environment, consumer, demand.name, together, there)
    if moved is not None:
        return moved
    wanted = f"{demand.requirement.url or f'{demand.name}{together}'}"
    return Remedy(
        f"Install a version of `{demand.name}` that suits all {len(everyone)} who ask for it"
        if len(everyone) > 1
        else f"Install `{wanted}`",
        Applicability.UNSAFE,
        installer_commands(examination.environment, ("install", wanted)),
    )


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.ERROR,
    find,
    summary="An installed distribution needs something that is missing or of another version",
    needs={"environment"},
)
