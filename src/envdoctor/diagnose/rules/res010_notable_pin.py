"""A compatible-release pin on a package on which others depend closely.

## What it does

Says what `~=` with three numbers means for numpy, torch and a few others: the last number may grow, nothing else.

## Why is this bad

`~=1.23.4` is often read as "1.23.4 or later below 2". It keeps NumPy below 1.24, and with it every package that needs
a newer one, and every Python for which 1.23 has no wheel.

## Example

`numpy~=1.23.4` means `numpy>=1.23.4,<1.24`.

## References

- PyPA, Version specifiers, Compatible release: https://packaging.python.org/specifications/version-specifiers/
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from envdoctor.diagnose.examination import line_of
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.project import Project

_CLOSE = frozenset({"numpy", "setuptools", "protobuf", "pydantic"})


def _meaning(name: str, version: str) -> str | None:
    release = Version(version).release
    if len(release) < 3:
        return None
    upper = ".".join(map(str, (*release[:-2], release[-2] + 1)))
    return f"{name}>={version},<{upper}"


def _find(project: Project) -> Iterator[Finding]:
    for requirement in project.requirements:
        pins = [item.version for item in requirement.specifier if item.operator == "~="]
        meaning = _meaning(requirement.name, pins[0]) if pins and requirement.name in _CLOSE else None
        if meaning is None:
            continue
        yield RULE.finding(
            subject=requirement.name,
            message=f"`{requirement}` means {meaning}, and other packages depend on which {requirement.name} it is",
            evidence=(Evidence(str(requirement), str(requirement.origin)),),
            remedy=Remedy("keep it if that is meant; otherwise name the upper bound"),
            location=line_of(requirement),
        )


RULE = Rule.of(__name__, __doc__, Severity.INFO, _find)
