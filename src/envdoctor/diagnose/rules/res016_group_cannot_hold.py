"""An extra, a dependency group or a list beside the main one cannot hold.

## What it does

Judges each extra, group and requirements file that nobody asked for, those of a workspace's members among them: extras,
groups and lists for tests together with what is always required, lists for another machine and conda's file alone. A
warning is what holds for no target that was tried; a note, what holds for another one. More than three of one cause are
told in one finding.

A lock of uv, Poetry, PDM, Pipenv or `envdoctor lock` that does not have what is asked for now is told, too: whoever
installs from it gets something else.

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

from collections.abc import Iterator, Sequence

from envdoctor.diagnose.examination import Examination, line_of
from envdoctor.diagnose.rule import Rule
from envdoctor.model.conflict import ClashSide, Conflict, GroupOutcome
from envdoctor.model.finding import Command, Evidence, Finding, Remedy, Severity, in_words
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.requirement import GroupKind, GroupName, Requirement
from envdoctor.model.unknown import SubjectKind
from envdoctor.shell_line import shell_line

_MOST = 3
"""So many of one kind and cause are told one by one."""


_TOOLS = {"uv.lock": "uv lock", "poetry.lock": "poetry lock", "pdm.lock": "pdm lock", "pipfile.lock": "pipenv lock"}


def _find(examination: Examination) -> Iterator[Finding]:
    yield from (_old(outcome) for outcome in examination.groups if outcome.lacks)
    alike: dict[tuple[GroupKind, bool, bool, str], list[tuple[GroupOutcome, Conflict]]] = {}
    for outcome in examination.groups:
        for conflict in outcome.conflicts:
            cause = conflict.clash.package if len(conflict.core) > 1 else ""
            key = (outcome.name.kind, bool(outcome.elsewhere), conflict.clash.is_nowhere, cause)
            alike.setdefault(key, []).append((outcome, conflict))
    for (kind, _, _, cause), cases in alike.items():
        if len(cases) > _MOST:
            yield _together(examination, kind, cause, cases)
        else:
            yield from (_finding(examination, outcome, conflict) for outcome, conflict in cases)


def _old(outcome: GroupOutcome) -> Finding:
    lock, lacks = outcome.name.name, outcome.lacks
    more = f" and {len(lacks) - _MOST} more" if len(lacks) > _MOST else ""
    asked = ", ".join(f"`{line}` ({line.origin})" for line in lacks[:_MOST]) + more
    return RULE.finding(
        subject=lock,
        message=f"`{lock}` is older than what is asked for now, and does not have {asked}",
        evidence=tuple(Evidence(f"asks for `{line}`", str(line.origin)) for line in lacks[_MOST:]),
        remedy=_lock_again(lock),
        location=next((place for line in lacks if (place := line_of(line))), None),
    )


def _lock_again(lock: str) -> Remedy:
    return Remedy("lock again", commands=(_TOOLS.get(lock.lower(), Command("lock")),))


def _subject(name: GroupName) -> str:
    return f"{name.of}[{name.name}]" if name.of else name.name


def _together(
    examination: Examination, kind: GroupKind, cause: str, cases: list[tuple[GroupOutcome, Conflict]]
) -> Finding:
    """Return one finding for many of one cause: the old CUDA releases that a library once had extras for, say."""
    first = cases[0][0]
    names = in_words(list(dict.fromkeys(f"`{_subject(outcome.name)}`" for outcome, _ in cases)))
    why = f"each names something that cannot be installed on {examination.target or 'this target'}"
    if not cause and cases[0][1].clash.is_nowhere:
        why = "each names something that no index has"
    elif cause:
        others = dict.fromkeys(
            f"`{item}` ({item.origin})"
            for outcome, conflict in cases
            for item in conflict.core
            if item.group != outcome.name
        )
        against = in_words(list(others)) if 0 < len(others) <= _MOST else "what else is asked for"
        why = f"each needs versions of `{cause}` that do not go with {against}"
    lines = [_own(outcome, conflict)[0] for outcome, conflict in cases]
    name = "FILE" if kind is GroupKind.FILE else "NAME"
    return RULE.finding(
        subject=_subject(first.name),
        message=f"the {kind.value}s {names} cannot be installed here: {why}"
        + ("; each holds on another target" if first.elsewhere else ""),
        severity=Severity.INFO if first.elsewhere else RULE.severity,
        evidence=tuple(Evidence(f"asks for `{line}`", str(line.origin)) for line in lines),
        remedy=Remedy(
            "leave them as they are where they are meant for other machines"
            if first.elsewhere
            else _remedy(GroupOutcome(GroupName(kind, name)))
        ),
        location=next((place for line in lines if (place := line_of(line))), None),
    )


def _own(outcome: GroupOutcome, conflict: Conflict) -> Sequence[Requirement]:
    """Return the lines of the group's own that have a part in it, or all that have."""
    return [item for item in conflict.core if item.group == outcome.name] or conflict.core


def _finding(examination: Examination, outcome: GroupOutcome, conflict: Conflict) -> Finding:
    lines = [f"`{item}` ({item.origin})" for item in conflict.core]
    package = conflict.clash.package
    if len(lines) == 1 and conflict.clash.is_nowhere:
        own = package == conflict.core[0].name
        why = f"no index has {lines[0]}" if own else f"no index has `{package}`, which {lines[0]} asks for"
    elif len(lines) == 1:
        why = f"{lines[0]} cannot be installed on {examination.target or 'this target'}"
        if conflict.clash.available:
            why += f"; `{package}` could be {', '.join(conflict.clash.available[:5])}"
    else:
        why = f"{in_words(lines)} need different versions of `{package}`"
    other = f"; it holds on {outcome.elsewhere}" if outcome.elsewhere else ""
    return RULE.finding(
        subject=_subject(outcome.name),
        message=f"the {outcome.name} cannot be installed here: {why}{other}",
        severity=Severity.INFO if outcome.elsewhere else RULE.severity,
        evidence=tuple(map(_side, conflict.clash.sides)),
        remedy=_remedy_of(outcome, conflict),
        location=next((line for item in _own(outcome, conflict) if (line := line_of(item))), None),
    )


def _side(side: ClashSide) -> Evidence:
    way = " -> ".join(side.via)
    if isinstance(side.requirement.origin, DistributionOrigin):
        return Evidence(f"{side.requirement.origin} needs `{side.requirement.pep508}`", way)
    return Evidence(f"asks for `{side.requirement}`", str(side.requirement.origin))


def _remedy_of(outcome: GroupOutcome, conflict: Conflict) -> Remedy:
    if outcome.elsewhere:
        return Remedy("leave it as it is where it is meant for another machine")
    apart = any(item.group != outcome.name for item in conflict.core)
    return _lock_again(outcome.name.name) if apart and outcome.name.name.lower() in _TOOLS else Remedy(_remedy(outcome))


def _remedy(outcome: GroupOutcome) -> str:
    name = outcome.name
    if any(conflict.clash.is_nowhere for conflict in outcome.conflicts):
        return "mend the name, or name the index that has it (`--extra-index-url`)"
    if name.kind is GroupKind.FILE:
        return f"`envdoctor check {name.name}` judges it by itself, with repairs"
    if name.of:
        command = shell_line(["envdoctor", "check", name.of, f"--{name.kind.value}", name.name])
        return f"`{command}` judges it, with repairs"
    return f"`--{name.kind.value} {name.name}` judges it with the main list, with repairs"


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.WARNING,
    _find,
    summary="An extra, a dependency group or a list beside the main one cannot be installed",
    needs={"groups"},
    about=SubjectKind.PROJECT,
)
