"""An extra, a dependency group or a list beside the main one cannot hold.

## What it does

Judges each extra, group and requirements file that nobody asked for: extras, groups and lists for tests together with
what is always required, lists for another machine and conda's file alone. A warning is what holds for no target that
was tried; a note, what holds for another one.

## Why is this bad

Whoever asks for it cannot install it. What nobody asked for decides nothing: `--extra` and `--group` make it count.

## Example

```
dependencies = ["click>=8"]
[project.optional-dependencies]
cli = ["click<8"]
```

## References

- PyPA, Dependency groups: https://packaging.python.org/specifications/dependency-groups/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from envdoctor.diagnose.chains import line_of
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.requirement import GroupKind
from envdoctor.model.unknown import SubjectKind

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.conflict import ClashSide, Conflict, GroupOutcome


def _find(examination: Examination) -> Iterator[Finding]:
    for outcome in examination.groups:
        for conflict in outcome.conflicts:
            yield _finding(examination, outcome, conflict)


def _finding(examination: Examination, outcome: GroupOutcome, conflict: Conflict) -> Finding:
    lines = [f"`{item}` ({item.origin})" for item in conflict.core]
    package = conflict.clash.package
    if len(lines) == 1:
        why = f"{lines[0]} cannot be installed on {examination.target or 'this target'}"
        if conflict.clash.available:
            why += f"; `{package}` could be {', '.join(conflict.clash.available[:5])}"
    else:
        why = f"{', '.join(lines[:-1])} and {lines[-1]} need different versions of `{package}`"
    own = [item for item in conflict.core if item.group == outcome.name]
    other = f"; it holds on {outcome.elsewhere}" if outcome.elsewhere else ""
    return Finding(
        rule=RULE.code,
        name=RULE.name,
        severity=Severity.INFO if outcome.elsewhere else RULE.severity,
        subject=outcome.name.name,
        message=f"the {outcome.name} cannot be installed here: {why}{other}",
        evidence=tuple(map(_side, conflict.clash.sides)),
        remedy=Remedy("leave it as it is where it is meant for another machine") if other else Remedy(_remedy(outcome)),
        location=next((line for item in (own or conflict.core) if (line := line_of(item))), None),
    )


def _side(side: ClashSide) -> Evidence:
    way = " -> ".join(side.via)
    if isinstance(side.requirement.origin, DistributionOrigin):
        return Evidence(f"{side.requirement.origin} needs `{side.requirement.pep508}`", way)
    return Evidence(f"asks for `{side.requirement}`", str(side.requirement.origin))


def _remedy(outcome: GroupOutcome) -> str:
    name = outcome.name
    if name.kind is GroupKind.FILE:
        return f"`envdoctor check {name.name}` judges it by itself, with repairs"
    return f"`--{name.kind.value} {name.name}` judges it with the main list, with repairs"


RULE = Rule(
    code="RES016",
    name="group-cannot-hold",
    severity=Severity.WARNING,
    about=SubjectKind.PROJECT,
    summary="An extra, a dependency group or a list beside the main one cannot be installed",
    find=_find,
    documentation=__doc__ or "",
    needs=frozenset({"groups"}),
)
