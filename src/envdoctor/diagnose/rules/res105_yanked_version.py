"""A yanked release is part of the resolution.

## What it does

Reports packages of the resolution whose files have been yanked.

## Why is this bad

A release is yanked because it is broken or was published by mistake; an exact pin still installs it.

## Example

whisperx 3.1.1 to 3.1.6 are yanked: unofficial releases by a third party.

## References

- PEP 592, Adding "Yank" Support to the Simple API: https://peps.python.org/pep-0592/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import chain_to
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.resolution import Resolution


def _find(resolution: Resolution) -> Iterator[Finding]:
    for package in resolution.packages:
        if package.file.yanked is None:
            continue
        reason = f": {package.file.yanked.strip().rstrip('.')}" if package.file.yanked.strip() else ""
        chain = chain_to(resolution, package.name)
        yield RULE.finding(
            subject=package.name,
            message=f"`{package.name}` {package.version} has been yanked{reason}",
            evidence=(Evidence(package.file.filename, f"wanted by {chain}"),),
            remedy=Remedy(f"take a version of `{package.name}` that has not been yanked"),
            location=chain.location,
        )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find)
