"""Overrides with which the requirements still cannot be installed together.

## What it does

Solves the requirements with the overrides of the profile, and with those that a lock recorded, and reports where no
version is left all the same.

## Why is this bad

What the profile prescribes cannot be installed. Another repair, or the requirements as they stand, are shown in its
place, and they are not what its author tried.

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
from envdoctor.model.compatibility import can_use
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.ports import IndexUnavailable, ProjectNotFound

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
    yield RULE.finding(
        subject=lines[0].name,
        message=f"with {whose}, {named}{more} still cannot be installed{' together' if many else ''}",
        evidence=tuple(Evidence(str(line), str(line.origin)) for line in lines),
        remedy=Remedy(_without_file(examination) or _TIED),
        location=places[0] if places else None,
    )


def _without_file(examination: Examination) -> str:
    """Return which override no file of the index can meet on the target, and where one can; empty where all can."""
    profile, index, target = examination.profile, examination.index, examination.target
    if profile is None or index is None or target is None:
        return ""
    asked = {line.name for line in examination.override_failure}
    for override in (item for item in profile.overrides if item.name in asked):
        wanted = override.requirement
        try:
            page = index.page(wanted.name)
        except (IndexUnavailable, ProjectNotFound):
            continue
        files = [file for file in page.files if wanted.specifier.contains(file.version, prereleases=True)]
        if files and not any(can_use(file, target) for file in files):
            pythons = reach_of(files, target).pythons
            other = f": make the environment with {pythons_in_words(pythons[-1:])}" if pythons else ""
            return f"the override `{wanted}` has no file for {target}{other}"
    return ""


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, needs={"override_failure"})
