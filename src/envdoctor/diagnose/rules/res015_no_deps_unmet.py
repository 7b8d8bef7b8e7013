"""A package that is installed without its dependencies asks for something else than is there.

## What it does

Looks at the packages that the project installs with `--no-deps`, and compares what they ask for with what the rest of
the requirements brings.

## Why is this bad

`--no-deps` leaves the demands of a package aside on purpose, and `pip check` complains of them ever after. Mostly that
is known to work; where it does not, the package fails at its first import or call.

## Example

`pip install --no-deps onnx==1.16.0`, which asks for `protobuf>=3.20.2`, beside one that keeps protobuf below 3.20.

## References

- pip install, `--no-deps`: https://pip.pypa.io/en/stable/cli/pip_install/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Pep508
from packaging.utils import canonicalize_name

from envdoctor.diagnose.examination import Examination, stated
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import Project
from envdoctor.model.requirement import Requirement, RequirementKind, may_hold
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.ports import IndexUnavailable, MetadataUnavailable


def _find(examination: Examination, project: Project, resolution: Resolution) -> Iterator[Finding]:
    target = examination.target
    if target is None:
        return
    environment = target.marker_environment()
    seen: set[str] = set()
    for line in project.requirements:
        package = resolution.get(line.name)
        bare = line.no_deps and line.kind is RequirementKind.REQUIRE and line.name not in seen
        if package is None or not bare or package.dependencies or not may_hold(line.marker, environment):
            continue
        seen.add(line.name)
        yield from _compared(examination, line, package)


def _compared(examination: Examination, line: Requirement, package: ResolvedPackage) -> Iterator[Finding]:
    assert examination.resolution is not None  # noqa: S101 - asked for before
    other: list[tuple[Pep508, ResolvedPackage]] = []
    missing: list[Pep508] = []
    for asked in _demands(examination, package):
        there = examination.resolution.get(canonicalize_name(asked.name))
        if there is None:
            missing.append(asked)
        elif not asked.specifier.contains(there.version, prereleases=True):
            other.append((asked, there))
    if other or missing:
        yield _finding(line, package, other, missing)


def _demands(examination: Examination, package: ResolvedPackage) -> Iterator[Pep508]:
    assert examination.index is not None  # noqa: S101 - the rule needs it
    environment = {**examination.target.marker_environment(), "extra": ""} if examination.target else None
    try:
        lines = stated(examination.index, package.file).requires_dist
    except (IndexUnavailable, MetadataUnavailable):
        return
    for text in lines:
        try:
            asked = Pep508(text)
        except InvalidRequirement:
            continue
        if may_hold(asked.marker, environment):
            yield asked


def _finding(
    line: Requirement,
    package: ResolvedPackage,
    other: Sequence[tuple[Pep508, ResolvedPackage]],
    missing: Sequence[Pep508],
) -> Finding:
    parts = []
    if other:
        met = (f"its `{asked}` is not met by {there.name} {there.version}" for asked, there in other)
        parts.append(", ".join(met))
    if missing:
        parts.append("nothing brings " + ", ".join(f"`{asked}`" for asked in missing))
    return RULE.finding(
        subject=package.name,
        message=f"`{package.name}` {package.version} is installed with `--no-deps`: {'; '.join(parts)}",
        severity=RULE.severity if other else Severity.INFO,
        evidence=(Evidence(f"{line} with --no-deps", str(line.origin)), *_asked(other, missing)),
        remedy=Remedy("try it out: no installer looks at what `--no-deps` leaves out"),
        location=line.origin if isinstance(line.origin, FileOrigin) else None,
    )


def _asked(other: Sequence[tuple[Pep508, ResolvedPackage]], missing: Sequence[Pep508]) -> Iterator[Evidence]:
    yield from (Evidence(f"asks for `{asked}`", f"{there.name} {there.version}") for asked, there in other)
    yield from (Evidence(f"asks for `{asked}`", "nothing brings it") for asked in missing)


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find, needs={"index"})
