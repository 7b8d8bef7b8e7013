"""Metadata that newer pip ignores.

## What it does

Reports packages whose metadata is invalid by today's standard and was read as older tools used to. Where no other
version is admitted, it says that pip 24.1 and later cannot install the requirements at all: an error, unless a profile
is in use, whose lock is installed without resolving again.

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

from envdoctor.diagnose.examination import Examination, chain_to
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin

_REMEDY = "let uv install it, or pip below 24.1, or override the requirement to a version with valid metadata"
# Versions with valid metadata that are known to work where older ones were asked for.
_LATER = {"omegaconf": "omegaconf>=2.3"}


def _finding(
    name: str, version: str, evidence: tuple[Evidence, ...], wanted: str, location: FileOrigin | None
) -> Finding:
    message = f"`{name}` {version} has legacy metadata that pip 24.1 and later ignore{wanted}"
    return _saying(name, message, evidence, _REMEDY, location)


def _saying(
    name: str,
    message: str,
    evidence: tuple[Evidence, ...],
    remedy: str,
    location: FileOrigin | None,
    severity: Severity = Severity.WARNING,
) -> Finding:
    return RULE.finding(
        subject=name,
        message=message,
        severity=severity,
        evidence=evidence,
        remedy=Remedy(remedy),
        location=location,
    )


def _strict(examination: Examination) -> Iterator[Finding]:
    """Yield one finding where a tool that refuses such versions has nothing left: it cannot install at all."""
    resolution, core = examination.resolution, examination.strict_core
    mended = [item for item in resolution.packages if item.mended] if resolution and core else []
    lines = " and ".join(f"`{line}`" for line in core)
    whose = "it admits" if len(core) == 1 else "they admit together"
    for package in mended:
        chain = chain_to(resolution, package.name) if resolution else None
        root = chain.root if chain else None
        if chain is None or root is None or not {str(root), root.pep508} & set(core):
            continue
        evidence = [Evidence(f"Requires-Dist: {line}", package.file.filename) for line in package.mended]
        later = _LATER.get(package.name)
        yield _saying(
            package.name,
            f"pip 24.1 and later cannot install {lines}: "
            f"every version of `{package.name}` that {whose} has invalid metadata; uv and pip<24.1 can",
            (*evidence, Evidence(f"{package.name} {package.version}", f"wanted by {chain}")),
            f"install with uv or with pip<24.1, or with `pip install --no-deps {package.name}=={package.version}` and "
            "the rest likewise, as `envdoctor fix` does from a lock; or override the requirement on "
            f"`{package.name}`{f': `{later}`' if later else ' with a version that has valid metadata'}",
            chain.location,
            Severity.ERROR if examination.profile is None else Severity.WARNING,
        )


def _find(examination: Examination) -> Iterator[Finding]:
    strict = list(_strict(examination))
    yield from strict
    said = {item.subject for item in strict}
    for package in examination.resolution.packages if examination.resolution else ():
        if package.mended and examination.resolution and package.name not in said:
            said.add(package.name)
            chain = chain_to(examination.resolution, package.name)
            lines = tuple(Evidence(f"Requires-Dist: {line}", package.file.filename) for line in package.mended)
            yield _finding(package.name, str(package.version), lines, f"; wanted by {chain}", chain.location)


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find)
