"""A requirement asks for an extra that the distribution does not have.

## What it does

Compares the extras that the project's and the profile's requirements name with those that the version in use has:
`Provides-Extra`, and the markers of its requirements.

## Why is this bad

Installers warn and go on, so what the extra was meant to bring is not installed, and an import fails later. The extra
is misspelt, or came with another version, or is gone. A repair that loses it so gives way to one that keeps it.

## Example

`diffusers[torchh]`, or `gradio[oauth]` with a version that has no such extra.

## References

- PyPA, Core metadata, Provides-Extra: https://packaging.python.org/specifications/core-metadata/
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.candidate import CoreMetadata
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.requirement import Requirement, may_hold
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.ports import Index, IndexUnavailable, MetadataUnavailable, ProjectNotFound

_IN_MARKER = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]|['"]([^'"]+)['"]\s*==\s*extra""")


def _find(examination: Examination, resolution: Resolution, index: Index) -> Iterator[Finding]:
    for requirement in _written(examination):
        package = resolution.get(requirement.name)
        # What stands in for an index that could not be reached may lack what that index has (AMD's kernels are extras).
        if package is None or not requirement.extras or package.file.stand_in:
            continue
        try:
            known = _extras(index.metadata(package.file))
        except (IndexUnavailable, MetadataUnavailable):
            continue
        gone = requirement.extras - known
        before = _extras_asked(requirement, package, index) if gone else frozenset()
        for extra in sorted(gone):
            yield _finding(requirement, package, extra, known, lost=extra in before)


def _written(examination: Examination) -> Iterator[Requirement]:
    written = list(examination.project.requirements if examination.project else ())
    written += [item.requirement for item in (examination.profile.requires if examination.profile else ())]
    environment = examination.target.marker_environment() if examination.target else None
    for item in written:
        if environment is None or may_hold(item.marker, environment):
            yield item


def _extras_asked(requirement: Requirement, package: ResolvedPackage, index: Index) -> frozenset[str]:
    """Return the extras of the newest version that a line admits, where another one comes in its place."""
    if requirement.admits(package.version):
        return frozenset()
    try:
        files = [file for file in index.page(requirement.name).files if requirement.admits(file.version)]
        return _extras(index.metadata(max(files, key=lambda file: file.version))) if files else frozenset()
    except (IndexUnavailable, MetadataUnavailable, ProjectNotFound):
        return frozenset()


def _extras(metadata: CoreMetadata) -> frozenset[str]:
    """Return the extras of a distribution; old metadata names some in its markers alone."""
    in_markers = (match[1] or match[2] for text in metadata.requires_dist for match in _IN_MARKER.finditer(text))
    return frozenset(str(canonicalize_name(name)) for name in (*metadata.provides_extra, *in_markers))


def _finding(
    requirement: Requirement, package: ResolvedPackage, extra: str, known: frozenset[str], *, lost: bool
) -> Finding:
    close = difflib.get_close_matches(extra, sorted(known), n=1)
    there = ", ".join(f"`{name}`" for name in sorted(known)) or "none"
    summary = f"did you mean `{close[0]}`? " if close else ""
    return RULE.finding(
        subject=package.name,
        message=f"`{package.name}` {package.version} has no extra `{extra}`; what it should bring is not installed",
        evidence=(Evidence(str(requirement), str(requirement.origin)),),
        remedy=Remedy(f"{summary}its extras: {there}"),
        location=requirement.origin if isinstance(requirement.origin, FileOrigin) else None,
        # A repair is at fault where the version that was asked for has the extra.
        packages=(package.name,) if lost else (),
    )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find, ranks=Severity.WARNING, reads_lines=True)
