"""Something could not be looked at, so the report is not complete.

## What it does

Names what was not read: a project whose page did not come, a version whose metadata only a build would tell, a search
that met its limit. And what only a newer glibc or macOS than the assumed one has a file for: nothing and nobody tells
the target's, so that this is neither right nor wrong. And what the image of a Dockerfile has already, in a build
of its own: an installer leaves it there, and nothing here knows it.

## Why it is bad

The rest of the report may be right by luck alone: what was not read can hold another conflict. The report says
`complete: false`, and the exit code is 3 where nothing worse was found.

## Example

    warning RES107 not-checked: torch
      could not be checked: `torch`: index default did not answer

## References

- The contract of the report: `complete` and exit code 3
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule, name_rows
from envdoctor.model.compatibility import KNOWN_SPAN
from envdoctor.model.finding import Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind, Unknown, UnknownKind

_MOST_APART = 2


def _find(examination: Examination) -> Iterator[Finding]:
    by_cause: dict[tuple[object, ...], list[Unknown]] = {}
    for unknown in examination.unknowns:
        by_cause.setdefault(_cause(unknown), []).append(unknown)
    for told in by_cause.values():
        if len(told) > _MOST_APART:
            # An empty cache or a dead index says the same of every project: once is enough.
            yield _finding("index", *told)
            continue
        for unknown in told:
            yield _finding(unknown.about(), unknown)


def _cause(unknown: Unknown) -> tuple[object, ...]:
    """Return what is the same for all that one reason keeps away: the URL that was asked differs for each version."""
    file = "" if unknown.url else unknown.file
    return unknown.kind, unknown.index, file, unknown.status, unknown.cause


def _way_on(unknown: Unknown) -> str:
    """Return what would tell it, or what to do where nothing will: some things no index says, however often asked."""
    name, version = unknown.subject.name, unknown.subject.version
    if unknown.is_of_an_index:
        return "run the same again where the index can be reached, without `--offline` if it was given"
    if unknown.kind is UnknownKind.ONLY_A_BUILD:
        wheel = f"pip wheel --no-deps {name}=={version}" if version else f"pip wheel --no-deps {name}"
        return f"build it once, `{wheel}`, and read what the wheel asks for; or write beside it what it needs"
    if unknown.kind in (UnknownKind.NO_METADATA, UnknownKind.BAD_METADATA):
        another = f"ask for another version (`{name}!={version}` leaves this one out)" if version else "ask for another"
        return f"{another}, or tell whoever keeps the index: its file is at fault, and asking again seldom mends it"
    if unknown.kind is UnknownKind.DIRECT_REFERENCE:
        again = "install it, and let `envdoctor check --env DIR` look again"
        if unknown.cause:
            return f"correct it where it is wrong; else {again}"
        return f"a direct reference is not fetched here: {again}"
    if unknown.kind is UnknownKind.NEWER_LEVEL:
        name, _, level = unknown.cause.partition(" ")
        way = f"`--{name.lower()} {level}` where it is {level} or later, else the one that it has"
        return f"say which {name} the target has: {way}"
    if unknown.kind is UnknownKind.PYTHON_NOT_JUDGED:
        return f"ask the installer on that Python, or take one from {KNOWN_SPAN} where the project can"
    if unknown.kind is UnknownKind.MARKER and unknown.cause:
        return f"say which {unknown.cause} the target has: `--{unknown.cause.lower()} X.Y`"
    if unknown.kind is UnknownKind.MARKER and unknown.origin is not None:
        return "correct the marker where it is written: until then the line counts as if it held"
    return _WAYS[unknown.kind]


_WAYS = {
    UnknownKind.MARKER: "take another version of the package that asks for it, which is the one to correct its marker: "
    "until then it counts as if the marker held",
    UnknownKind.NO_REQUIREMENT: "the line is in a package's metadata and was left out: write what it means beside the "
    "package, or take another version of that",
    UnknownKind.SEARCH_GIVEN_UP: "pin what you know, or bound it below: the search then has less to try",
    UnknownKind.UNSOUND: "do not install this resolution, and report it as a fault of envdoctor with the files that "
    "were read",
    UnknownKind.MAIN_LIST: "name the list by `--extra`, which judges it together with the main list",
    UnknownKind.OTHER_INDEX: "name the list by `--extra` or `--group`: its own index is asked then",
    UnknownKind.NOT_UNDERSTOOD: "give the text whole, as the program printed it",
    UnknownKind.IN_IMAGE: "build the image, keep what `pip freeze` prints in it, and judge that: "
    "`envdoctor check --installed FILE`",
    UnknownKind.NOT_RUN: "mend first what failed before it",
}
"""What to do about that of which no index says more."""


def _finding(subject: str, *unknowns: Unknown) -> Finding:
    return RULE.finding(
        subject=subject,
        subject_kind=unknowns[0].subject.kind if len(unknowns) == 1 else SubjectKind.INDEX,
        message="",
        evidence=name_rows([item.about() for item in unknowns]) if len(unknowns) > 1 else (),
        remedy=Remedy(_way_on(unknowns[0])),
        unknowns=unknowns,
    )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find, needs={"unknowns"})
