"""A pair that metadata does not hold together.

## What it does

Says where a companion of torch was held back by a coupling that its metadata does not state.

## Why is this bad

The pair in this resolution is right, but `pip install` of the same requirements would not find it: metadata alone
lets a newer companion stand beside an older torch, and that pair does not load. Pin both.

## Example

`torch==2.1.0` with an unpinned `torchaudio`: metadata alone gives torchaudio 2.11.0, which declares no torch.

## References

- PyTorch, Previous versions: https://pytorch.org/get-started/previous-versions/
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from envdoctor.diagnose.advisory_reading import shipped_advisories
from envdoctor.diagnose.chains import chain_to
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import contains
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.resolution import Resolution, ResolvedPackage

# Releases whose metadata names no torch: the newest one that a resolver would take if nothing else spoke.
_SILENT = (("torchaudio", "2.11.0", "torchaudio-torch"), ("torchcodec", "0.11.0", "torchcodec-torch"))


def _admits(package: ResolvedPackage, version: Version) -> bool:
    stated = [
        item for item in package.wanted_by if not (isinstance(item.origin, DistributionOrigin) and item.origin.coupling)
    ]
    return all(item.specifier.contains(version, prereleases=True) for item in stated)


def _find(examination: Examination) -> Iterator[Finding]:
    resolution = examination.resolution
    torch = resolution.get("torch") if resolution else None
    if resolution is None or torch is None:
        return
    for name, silent, table_name in _SILENT:
        package, version = resolution.get(name), Version(silent)
        table = shipped_advisories().tables[table_name]
        wanted = table.wanted(version)
        if package is None or wanted is None or contains(wanted, torch.version) or not _admits(package, version):
            continue
        if Version(package.version.public) < version:
            yield _finding(resolution, torch, package, silent, wanted)


def _finding(
    resolution: Resolution, torch: ResolvedPackage, package: ResolvedPackage, silent: str, wanted: str
) -> Finding:
    return Finding(
        rule=RULE.code,
        name=RULE.name,
        severity=RULE.severity,
        subject=package.name,
        message=(
            f"metadata alone lets `{package.name}` {silent} stand beside `torch` {torch.version}, an ABI mismatch; "
            f"`{package.name}` {package.version} was chosen because it was built for it"
        ),
        evidence=(Evidence(f"{package.name} {silent} goes with torch{wanted} and declares no torch", "shipped table"),),
        remedy=Remedy(f"pin `{package.name}=={package.version.public}` beside torch"),
        location=chain_to(resolution, package.name).location,
    )


RULE = Rule(
    code="RES206",
    name="unstated-coupling",
    severity=Severity.WARNING,
    summary="A pair that metadata does not hold together",
    find=_find,
    documentation=__doc__ or "",
    needs=frozenset({"resolution"}),
)
