"""A package had to go far back in time.

## What it does

Says which packages the resolver had to take far back in time, and whose requirement forced it.

## Why is this bad

The resolution is consistent but nobody asked for it: an unpinned name may end at a release years old, with other
files, another API and no wheel for a current Python.

## Example

`fairseq` beside a newer hydra-core ends at 0.10.2 in place of 0.12.2.

## References

- pip, Dependency resolution: https://pip.pypa.io/en/stable/topics/dependency-resolution/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.chains import chain_to
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.candidate import FileKind
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import DistributionOrigin


def _find(examination: Examination) -> Iterator[Finding]:
    resolution = examination.resolution
    for item in resolution.walked_back if resolution else ():
        package = resolution.get(item.name) if resolution else None
        if resolution is None or package is None:
            continue
        asked = any(not isinstance(wanted.origin, DistributionOrigin) for wanted in package.wanted_by)
        by_people = any(not isinstance(wanted.origin, DistributionOrigin) for wanted in item.forced_by)
        source_only = package.file.kind is FileKind.SDIST
        forced = ", ".join(f"`{wanted.pep508}` of {wanted.origin}" for wanted in item.forced_by) or "other requirements"
        chain = chain_to(resolution, item.name)
        yield Finding(
            rule=RULE.code,
            name=RULE.name,
            severity=Severity.WARNING if (asked and not by_people) or source_only else Severity.INFO,
            subject=item.name,
            message=f"`{item.name}` had to go back to {item.version} from {item.newest}; forced by {forced}",
            evidence=(Evidence(f"newest for the target: {item.newest}", str(chain)),),
            remedy=Remedy(f"say which `{item.name}` is meant, or let go of what holds it back"),
            location=chain.location,
        )


RULE = Rule(
    code="RES104",
    name="walked-back",
    severity=Severity.WARNING,
    summary="A package had to go far back in time",
    find=_find,
    documentation=__doc__ or "",
    needs=frozenset({"resolution"}),
)
