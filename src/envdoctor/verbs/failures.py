"""What the rules and advisories know against a resolution, in the form in which the search for repairs takes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.model.finding import Finding
from envdoctor.model.resolution import Resolution
from envdoctor.resolve.failure import Failure

__all__ = ["failures_of", "packages_in"]

_CODE = re.compile(r"`([A-Za-z0-9._-]+)`")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SEEN_THERE = "in the resolution"
"""Where the evidence of an advisory was seen whose atoms speak of packages of the resolution."""


def failures_of(findings: Iterable[Finding], resolution: Resolution) -> tuple[Failure, ...]:
    """Return the findings as failures, each with the packages that have a part in it."""
    return tuple(
        Failure(item.rule, item.subject, item.message, frozenset(packages_in(item, resolution))) for item in findings
    )


def packages_in(finding: Finding, resolution: Resolution) -> Iterator[NormalizedName]:
    """Yield the packages of a resolution that a finding names: its subject first."""
    words = [finding.subject, *_CODE.findall(finding.message)]
    for seen in finding.evidence:
        if seen.where == _SEEN_THERE:
            words.extend(_WORD.findall(seen.what))
    for name in dict.fromkeys(map(canonicalize_name, words)):
        if resolution.get(name) is not None:
            yield name
