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

from collections.abc import Iterator
from typing import TYPE_CHECKING

from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.resolution import ResolvedPackage


def _find(examination: Examination) -> Iterator[Finding]:
    by_index: dict[str, list[ResolvedPackage]] = {}
    for package in examination.resolution.packages if examination.resolution else ():
        if package.file.stand_in:
            by_index.setdefault(package.file.index, []).append(package)
    for index, packages in by_index.items():
        names = ", ".join(f"`{item.name}` {item.version}" for item in packages)
        yield Finding(
            rule=RULE.code,
            name=RULE.name,
            severity=RULE.severity,
            subject=index,
            message=f"index `{index}` could not be reached; {names} were looked up elsewhere, no lock can hold them",
            evidence=tuple(Evidence(item.file.filename, f"stands in for index {index}") for item in packages),
            remedy=Remedy(f"check again where index `{index}` can be reached"),
        )


RULE = Rule(
    code="RES106",
    name="stand-in-index",
    severity=Severity.INFO,
    summary="An index could not be reached, and another stands in for it",
    find=_find,
    documentation=__doc__ or "",
    needs=frozenset({"resolution"}),
)
