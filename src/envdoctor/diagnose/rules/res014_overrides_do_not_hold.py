"""Overrides with which the requirements still cannot be installed together.

## What it does

Solves the requirements with the overrides of the profile, and with those that a lock recorded, and reports where no
version is left all the same.

## Why is this bad

What the profile prescribes cannot be installed. A repair that keeps the overrides and changes these lines, another one,
or the requirements as they stand, are shown in its place, and they are not what its author tried. Where the conflict
has nothing to do with the overrides, they hold, and it is told as a conflict alone.

## Example

`torch==2.4.1` overrides `torch`, and the project pins `torchaudio==2.7.0`, which is linked against torch 2.7: an
override of torch needs its companions beside it.

## References

- `docs/profiles/README.md`: how a profile overrides
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.file_reach import pythons_in_words, reach_of
from envdoctor.diagnose.rule import Rule
from envdoctor.model.candidate import DistributionFile
from envdoctor.model.compatibility import can_use
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.requirement import Requirement
from envdoctor.ports import IndexUnavailable, ProjectNotFound

_AGAIN = "run the same again where that index can be reached, or name a mirror of it"
_TIED = "override what these lines are tied to as well: binaries that belong together move together"


def _find(examination: Examination) -> Iterator[Finding]:
    lines = examination.override_failure
    if not lines:
        return
    whose = f"the overrides of profile `{examination.profile.name}`" if examination.profile else "the lock's overrides"
    many = len(lines) > 1
    named = " and ".join(f"`{line}`" for line in lines[:3])
    more = f" and {len(lines) - 3} more" if len(lines) > 3 else ""
    places = [line.origin for line in lines if isinstance(line.origin, FileOrigin)]
    told = f"with {whose}, {named}{more} still cannot be installed{' together' if many else ''}"
    if closed := _out_of_reach(examination):
        told = f"whether {whose} hold is not known: {closed}"
    yield RULE.finding(
        subject=lines[0].name,
        message=told,
        evidence=tuple(Evidence(str(line), str(line.origin)) for line in lines),
        remedy=Remedy(_AGAIN if closed else _without_file(examination) or _beside(examination) or _TIED),
        severity=Severity.WARNING if closed else None,
        location=places[0] if places else None,
    )


def _beside(examination: Examination) -> str:
    """Return which repair keeps the overrides and changes what stands against them; empty where none does."""
    kept = next((repair.id for repair in examination.repairs if repair.from_profile), "")
    return f"take repair {kept}, which keeps the overrides and changes what stands against them" if kept else ""


def _overriding(examination: Examination) -> Iterator[tuple[Requirement, list[DistributionFile], bool]]:
    """Yield the profile's overrides of what fails: the files that meet each, and whether any only stands in."""
    asked = {line.name for line in examination.override_failure}
    overrides = examination.profile.overrides if examination.profile is not None else ()
    for wanted in (item.requirement for item in overrides if item.name in asked):
        try:
            files = examination.index.page(wanted.name).files if examination.index is not None else ()
        except (IndexUnavailable, ProjectNotFound):
            continue
        fitting = [file for file in files if wanted.admits(file.version)]
        yield wanted, fitting, any(file.stand_in for file in files)


def _out_of_reach(examination: Examination) -> str:
    """Return which index gave no answer that may have what an override asks for; empty where all did."""
    indexes = examination.profile.indexes if examination.profile is not None else ()
    bound = {name: index.name for index in indexes for name in index.packages}
    for wanted, fitting, stands_in in _overriding(examination):
        if stands_in and not fitting and wanted.name in bound:
            return f"index `{bound[wanted.name]}` could not be reached, and no other has `{wanted}`"
    return ""


def _without_file(examination: Examination) -> str:
    """Return which override no file of the index can meet on the target, and where one can; empty where all can."""
    target = examination.target
    for wanted, files, _ in _overriding(examination) if target is not None else ():
        if target is not None and files and not any(can_use(file, target) for file in files):
            pythons = reach_of(files, target).pythons
            other = f": make the environment with {pythons_in_words(pythons[-1:])}" if pythons else ""
            return f"the override `{wanted}` has no file for {target}{other}"
    return ""


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, needs={"override_failure"})
