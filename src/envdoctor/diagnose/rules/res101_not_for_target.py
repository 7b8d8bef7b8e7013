"""A requirement that no file of the index can meet on the target.

## What it does

Reports a requirement that alone cannot be met on the target: no version that it admits has a file for it.

## Why is this bad

`pip` says "No matching distribution found" and lists versions that another Python or platform would see.

## Example

`torch==2.0.1` on Python 3.12: its wheels stop at 3.11.

## References

- PyPA, Platform compatibility tags: https://packaging.python.org/specifications/platform-compatibility-tags/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.chains import line_of
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.conflict import Conflict
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity


def _evidence(conflict: Conflict) -> Iterator[Evidence]:
    # The conflict's id is the place: by it an accepted override finds the finding.
    yield Evidence(f"`{conflict.core[0]}` ({conflict.core[0].origin})", conflict.id)
    for side in conflict.clash.sides:
        if side.via:
            yield Evidence(f"{side.requirement.origin} needs `{side.requirement.pep508}`", " -> ".join(side.via))
    for rejection in conflict.clash.rejections[:8]:
        yield Evidence(f"{rejection.filename or rejection.version}: {rejection.kind.value} {rejection.detail}".rstrip())


def _find(examination: Examination) -> Iterator[Finding]:
    for conflict in examination.conflicts:
        if len(conflict.core) != 1:
            continue
        line = conflict.core[0]
        available = conflict.clash.available[:5]
        have = f"; it could have {', '.join(available)}" if available else ""
        what = f"`{line}`" if conflict.clash.package == line.name else f"`{line}` (through `{conflict.clash.package}`)"
        yield Finding(
            rule=RULE.code,
            name=RULE.name,
            severity=RULE.severity,
            subject=conflict.clash.package,
            message=f"{what} cannot be met on {examination.target or 'this target'}{have}",
            evidence=tuple(_evidence(conflict)),
            remedy=Remedy("choose a version, or a Python, for which there is a file"),
            location=line_of(line),
        )


RULE = Rule(
    code="RES101",
    name="not-for-target",
    severity=Severity.ERROR,
    summary="A requirement that no file of the index can meet on the target",
    find=_find,
    documentation=__doc__ or "",
    needs=frozenset({"conflicts"}),
)
