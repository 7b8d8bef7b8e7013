"""An index could not be reached, and another stands in for it.

## What it does

Says for which packages an index could not be reached, so that files of the default index stand in for its files.

## Why is this bad

Versions and requirements are usually the same, but it is not known that the index has them for the target: such a
resolution is good for a diagnosis and never for a lock.

## Example

torch is bound to the cu118 index of a profile, and that index does not answer.

## References

- PyPA, Simple repository API: https://packaging.python.org/specifications/simple-repository-api/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination, option_of, silent
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.index_url import mirror_variable
from envdoctor.model.project import IndexOption
from envdoctor.model.resolution import ResolvedPackage
from envdoctor.model.unknown import SubjectKind, Unknown

_USERINFO = re.compile(r"(?<=://)[^/@\s]+@")


def _url(examination: Examination, index: str, option: IndexOption | None) -> str:
    indexes = examination.profile.indexes if examination.profile else ()
    asked = next((missed.url for missed in silent(examination) if missed.index == index), "")
    url = option.url if option else next((item.url for item in indexes if item.name == index), asked)
    # No credentials: what a person reads may be shown to others.
    return f" ({_USERINFO.sub('', url)})" if url else ""


def _find(examination: Examination) -> Iterator[Finding]:
    by_index: dict[str, list[ResolvedPackage]] = {}
    for package in examination.resolution.packages if examination.resolution else ():
        if package.file.stand_in:
            by_index.setdefault(package.file.index, []).append(package)
    for index, packages in by_index.items():
        names = ", ".join(f"`{item.name}` {item.version}" for item in packages)
        were = "was" if len(packages) == 1 else "were"
        option = option_of(examination, index)
        yield RULE.finding(
            subject=index,
            message=(
                f"index `{index}`{_url(examination, index, option)} could not be reached; {names} {were} "
                "looked up on another index instead, so no lock can be written"
            ),
            evidence=tuple(Evidence(item.file.filename, f"stands in for index {index}") for item in packages),
            unknowns=tuple(missed for missed in silent(examination) if missed.index == index),
            remedy=Remedy(
                "run the same again where that index can be reached, or name a mirror of it: "
                f"`{mirror_variable(index)}=URL`"
            ),
            location=option.origin if option else None,
        )
    for missed in silent(examination):
        if missed.index not in by_index:
            yield _not_asked(examination, missed)


def _not_asked(examination: Examination, missed: Unknown) -> Finding:
    """Say that an index did not answer, and that nothing of the plan stands in for it."""
    option = option_of(examination, missed.index)
    return RULE.finding(
        subject=missed.index,
        message=(
            f"index `{missed.index}` ({missed.url}) could not be reached; what it would add to the other indexes is "
            "not known"
        ),
        unknowns=(missed,),
        remedy=Remedy(
            "run the same again where that index can be reached, or name a mirror of it: "
            f"`{mirror_variable(missed.index)}=URL`"
        ),
        location=option.origin if option else None,
    )


RULE = Rule.of(__name__, __doc__, Severity.INFO, _find, about=SubjectKind.INDEX)
