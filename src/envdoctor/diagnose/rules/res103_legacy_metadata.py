"""Metadata that newer pip ignores.

## What it does

Reports packages whose metadata is invalid by today's standard and was read as older tools used to.

## Why is this bad

`pip` from 24.1 on ignores such a version, so that it picks another or calls innocent packages conflicting; older
pip and uv accept it. Tools disagree about the same file.

## Example

omegaconf 2.0.6 says `PyYAML (>=5.1.*)`; fairseq 0.12.2 needs omegaconf below 2.1, which all have it.

## References

- PyPA, Version specifiers: https://packaging.python.org/specifications/version-specifiers/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from envdoctor.diagnose.chains import chain_to
from envdoctor.diagnose.rule import Rule
from envdoctor.model.candidate import Rejection, RejectionKind
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.origin import FileOrigin

_REMEDY = "let uv install it, or pip below 24.1, or override the requirement to a version with valid metadata"


def _finding(
    name: str, version: str, evidence: tuple[Evidence, ...], wanted: str, location: FileOrigin | None
) -> Finding:
    return Finding(
        rule=RULE.code,
        name=RULE.name,
        severity=RULE.severity,
        subject=name,
        message=f"`{name}` {version} has legacy metadata that pip 24.1 and later ignore{wanted}",
        evidence=evidence,
        remedy=Remedy(_REMEDY),
        location=location,
    )


def _rejected(examination: Examination) -> Iterator[Rejection]:
    yield from examination.rejections
    for conflict in examination.conflicts:
        yield from conflict.clash.rejections


def _find(examination: Examination) -> Iterator[Finding]:
    said: set[str] = set()
    for package in examination.resolution.packages if examination.resolution else ():
        if package.mended and examination.resolution:
            said.add(package.name)
            chain = chain_to(examination.resolution, package.name)
            lines = tuple(Evidence(f"Requires-Dist: {line}", package.file.filename) for line in package.mended)
            yield _finding(package.name, str(package.version), lines, f"; wanted by {chain}", chain.location)
    for rejection in _rejected(examination):
        invalid = rejection.kind is RejectionKind.NO_METADATA and "invalid" in rejection.detail.casefold()
        if invalid and rejection.project not in said:
            said.add(rejection.project)
            seen = (Evidence(rejection.detail, rejection.filename or ""),)
            yield _finding(rejection.project, str(rejection.version or ""), seen, "", None)


RULE = Rule(
    code="RES103",
    name="legacy-metadata",
    severity=Severity.WARNING,
    summary="Metadata that newer pip ignores",
    find=_find,
    documentation=__doc__ or "",
)
