"""The environment lacks what the project asks for, or has another version of it.

## What it does
Holds every requirement line of the project, and every requirement that the profile adds, against what is installed:
the markers are those of the environment's own interpreter. Constraints count only for what is installed. A line that
the profile, the lock or `[tool.uv]` sets aside on purpose is kept, but waived.

## Why it is bad
The project was never installed here, or somebody changed the environment afterwards: it fails at its first import, or
runs with versions that nobody tried.

## Example
`requirements.txt` says `torch==2.7.0`, and torch 2.4.1 is installed.

## What to do
Install what is missing, or let `envdoctor fix` bring the environment to what the project needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packaging.version import Version

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.installed_demands import demands_of, marker_environment
from envdoctor.diagnose.module_owners import stand_ins
from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import InstalledDistribution, InstalledEnvironment
from envdoctor.model.finding import Command, Evidence, Finding, Remedy, Severity, Waiver
from envdoctor.model.origin import FileOrigin
from envdoctor.model.override import PROJECT
from envdoctor.model.requirement import Requirement, RequirementKind, may_hold


def find(examination: Examination, environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each line that is not met."""
    if examination.project is None and examination.profile is None:
        return
    demands = demands_of(examination)
    markers = marker_environment(environment, examination.target)
    seen: set[str] = set()
    for requirement in _wanted(examination):
        have = demands.installed.get(requirement.name)
        bound = requirement.kind is RequirementKind.CONSTRAINT
        if not _holds(requirement, markers) or (have is None and (bound or demands.may_be_there(requirement.name))):
            continue
        other = next(
            (demands.installed[name] for name in stand_ins(requirement.name) if name in demands.installed), None
        )
        if _met(requirement, have) or (have is None and other is not None and _met(requirement, other)):
            continue
        if requirement.pep508 not in seen:
            seen.add(requirement.pep508)
            finding = _finding(requirement, have)
            waiver = _accepted(examination, requirement, have, markers)
            yield finding.waive(waiver) if waiver else finding


def _wanted(examination: Examination) -> Iterator[Requirement]:
    if examination.project is not None:
        yield from examination.project.requirements
    if examination.profile is not None:
        yield from (item.requirement for item in examination.profile.requires)


def _holds(requirement: Requirement, markers: Mapping[str, str]) -> bool:
    return may_hold(requirement.marker, markers)


def _met(requirement: Requirement, have: InstalledDistribution | None) -> bool:
    if have is None:
        return False
    try:
        return requirement.admits(Version(have.version))
    except ValueError:
        return True


def _accepted(
    examination: Examination, requirement: Requirement, have: InstalledDistribution | None, markers: Mapping[str, str]
) -> Waiver | None:
    """Return who sets the line aside on purpose, None where nobody does."""
    profile, project, environment = examination.profile, examination.project, examination.environment
    if profile is not None:
        for exclusion in profile.excludes:
            if exclusion.name == requirement.name and have is None:
                return Waiver(exclusion.because, f"profile {profile.name}")
        for item in profile.overrides:
            mine = item.name == requirement.name
            if mine and item.replaces_demand_of(PROJECT) and _met(item.requirement, have):
                return Waiver(item.because, f"profile {profile.name}")
    for override in project.overrides if project is not None else ():
        left_out = not _holds(override, markers) and have is None
        if override.name == requirement.name and (left_out or _met(override, have)):
            return Waiver("the project overrides it", str(override.origin))
    lock = environment.lock if environment is not None else None
    for settled in lock.overrides if lock is not None else ():
        # A line that came after the lock was accepted by nobody, although lock and environment agree.
        aside = settled.name == requirement.name and str(requirement) in map(str, settled.sets_aside)
        left_out = settled.leaves_out and have is None
        if lock is not None and aside and (left_out or _met(settled.requirement, have)):
            return Waiver("the lock settles it so", lock.path)
    return None


def _finding(requirement: Requirement, have: InstalledDistribution | None) -> Finding:
    state = f"{have.version} is installed" if have is not None else "it is not installed"
    evidence = [Evidence(str(requirement), str(requirement.origin))]
    if have is not None:
        evidence.append(Evidence(f"installed: {have.name} {have.version}", have.metadata_path))
    who = "the profile" if requirement.origin.kind == "profile" else "the project"
    return RULE.finding(
        subject=requirement.name,
        message=f"{who} asks for `{requirement}`, but {state}",
        evidence=tuple(evidence),
        remedy=Remedy("Install what the project asks for, or let `envdoctor fix` do it", commands=(Command("fix"),)),
        location=requirement.origin if isinstance(requirement.origin, FileOrigin) else None,
    )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find)
