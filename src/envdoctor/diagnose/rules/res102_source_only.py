"""A package without a wheel for the target.

## What it does

Reports packages that have no wheel for the target and must be built from source, graded: builds anywhere, or needs
a compiler and which libraries. It also looks behind pins that a repair moves: what such a pin itself demands may be
source only, which is a reason not to go back to it.

## Why is this bad

The install stops in the middle with a compiler's error, most often on Windows and on aarch64.

## Example

`faster-whisper==1.0.1` demands `av==11.*`; av 11.0.0 has only an sdist and needs FFmpeg headers.

## References

- PyPA, Source distribution format: https://packaging.python.org/specifications/source-distribution-format/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from envdoctor.diagnose.chains import chain_to
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.source_only_demands import demands_of_moved_pins
from envdoctor.diagnose.wheel_facts import BuildNeed, shipped_wheel_facts
from envdoctor.model.candidate import BuildRisk, FileKind
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination


def _words(risk: BuildRisk | None, need: BuildNeed | None) -> tuple[Severity, str]:
    if risk is BuildRisk.ANYWHERE or (need is not None and not need.needs):
        return Severity.INFO, "is built from source, which works anywhere"
    if need is not None:
        return Severity.WARNING, f"needs {', '.join(need.needs)}"
    if risk is BuildRisk.COMPILER:
        return Severity.WARNING, "needs a compiler"
    return Severity.WARNING, "is built from source and may need a compiler"


def _finding(
    name: str,
    version: str,
    risk: BuildRisk | None,
    need: BuildNeed | None,
    chain: str,
    files: str,
    location: FileOrigin | None,
) -> Finding:
    severity, words = _words(risk, need)
    way = (
        need.instead
        if need and need.instead
        else f"take a version of `{name}` that has a wheel, or install what it needs"
    )
    return Finding(
        rule=RULE.code,
        name=RULE.name,
        severity=severity,
        subject=name,
        message=f"`{name}` {version} has no wheel for this target and {words}; wanted by {chain}",
        evidence=(Evidence(files, "index"),),
        remedy=Remedy(way if severity is Severity.WARNING else "nothing to do; the build takes a moment"),
        location=location,
    )


def _planned(examination: Examination) -> Iterator[Finding]:
    resolution, facts = examination.resolution, shipped_wheel_facts()
    for package in resolution.packages if resolution else ():
        if resolution is None or package.file.kind is not FileKind.SDIST:
            continue
        pure = package.build_risk is BuildRisk.ANYWHERE
        need = None if pure else facts.build_need(package.name, package.version)
        chain = chain_to(resolution, package.name)
        files = f"files: {len(package.files)} sdist, 0 wheels ({package.file.filename}, index {package.file.index})"
        yield _finding(package.name, str(package.version), package.build_risk, need, str(chain), files, chain.location)


def _moved(examination: Examination) -> Iterator[Finding]:
    facts = shipped_wheel_facts()
    for demand in demands_of_moved_pins(examination):
        need = facts.build_need(demand.name, demand.version)
        chain = f"`{demand.pin}` ({demand.pin.origin}), which demands `{demand.demand.pep508}`"
        files = f"files: {demand.filename}, 0 wheels for the target"
        location = demand.pin.origin if isinstance(demand.pin.origin, FileOrigin) else None
        yield _finding(demand.name, str(demand.version), None, need, chain, files, location)


def _find(examination: Examination) -> Iterator[Finding]:
    planned = list(_planned(examination))
    yield from planned
    said = {item.subject for item in planned}
    yield from (item for item in _moved(examination) if item.subject not in said)


RULE = Rule(
    code="RES102",
    name="source-only",
    severity=Severity.WARNING,
    summary="A package without a wheel for the target",
    find=_find,
    documentation=__doc__ or "",
)
