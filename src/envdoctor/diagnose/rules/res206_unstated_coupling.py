"""Two packages that must match, although their metadata does not say so.

## What it does

Says where a companion of torch was held back by a coupling that its metadata does not state, and where a repair moves
one of them whose metadata names no torch at all (torchcodec; torchaudio 2.11.0). A release without a wheel for the
target is none that an installer would take, and nothing is said of it.

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

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.advisories.vocabulary import shipped_tables
from envdoctor.diagnose.examination import Examination, chain_to
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import COMPANIONS
from envdoctor.model.candidate import FileKind
from envdoctor.model.compatibility import can_use
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.repair import repair_in_use
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.version_table import contains
from envdoctor.ports import IndexUnavailable, ProjectNotFound

# Releases whose metadata names no torch: the newest one that a resolver would take if nothing else spoke.
_SILENT = (
    ("torchaudio", "2.11.0", "torchaudio-torch"),
    ("torchcodec", "0.11.0", "torchcodec-torch"),
    ("dgl", "2.1.0", "dgl-torch"),
    ("intel-extension-for-pytorch", "2.8.0", "intel-extension-for-pytorch-torch"),
)
_TABLES = tuple((name, table) for name, _, table in _SILENT)


def _stated(package: ResolvedPackage) -> list[Requirement]:
    """Return the demands on a package that metadata, or a person, states and that its companions do not make."""
    return [item for item in package.wanted_by if item.asked_by not in COMPANIONS]


def _admits(package: ResolvedPackage, version: Version) -> bool:
    return all(item.admits(version) for item in _stated(package))


def _pinned(package: ResolvedPackage, examination: Examination, resolution: Resolution) -> bool:
    """Return whether a person, a profile or the repair in use pins a package to its version already."""
    used = repair_in_use(examination.repairs, resolution)
    overrides = [item.requirement for item in (used.overrides if used else ())]
    overrides += [item.requirement for item in (examination.profile.overrides if examination.profile else ())]
    pins = [item for item in overrides if item.name == package.name]
    pins += [item for item in package.wanted_by if item.asked_by is None]
    return any(
        clause.operator in ("==", "===") and not clause.version.endswith(".*")
        for item in pins
        for clause in item.specifier
    )


def _newest(package: ResolvedPackage, examination: Examination) -> Version | None:
    """Return the newest release with a wheel for the target that nothing stated excludes, if it is a newer one."""
    usable = _with_wheels(package, examination)
    newer = [item for item in usable if item > package.version and not item.is_prerelease and _admits(package, item)]
    return max(newer, default=None)


def _with_wheels(package: ResolvedPackage, examination: Examination) -> frozenset[Version]:
    """Return the releases that have a wheel for the target; none where the index cannot be asked."""
    target = examination.target
    if examination.index is None or target is None:
        return frozenset()
    try:
        files = examination.index.page(package.name).files
    except (IndexUnavailable, ProjectNotFound):
        return frozenset()
    return frozenset(item.version for item in files if item.kind is FileKind.WHEEL and can_use(item, target))


def _held_companion(resolution: Resolution, torch: ResolvedPackage, examination: Examination) -> Iterator[Finding]:
    """Yield companions that stayed behind because of torch."""
    for name, silent, table_name in _SILENT:
        package, version = resolution.get(name), Version(silent)
        table = shipped_tables()[table_name]
        wanted = table.wanted(version)
        if package is None or wanted is None or contains(wanted, torch.version) or not _admits(package, version):
            continue
        if _pinned(package, examination, resolution):
            continue
        if Version(package.version.public) < version and version in _with_wheels(package, examination):
            built = table.wanted(package.version) is not None
            why = "because they were built for each other" if built else "which no table binds to a torch"
            chosen = f"`{name}` {package.version} was chosen, {why}"
            yield _finding(resolution, package.name, silent, str(torch.version), chosen, wanted)


def _held_torch(resolution: Resolution, torch: ResolvedPackage, examination: Examination) -> Iterator[Finding]:
    """Yield the demands of companions that keep torch behind."""
    if _pinned(torch, examination, resolution):
        return
    for demand in torch.wanted_by:
        origin = demand.origin
        if isinstance(origin, DistributionOrigin) and origin.coupling:
            newest = _newest(torch, examination)
            if newest is not None and not demand.admits(newest):
                chosen = f"`torch` {torch.version} was chosen, because they were built for each other"
                wanted = str(demand.specifier)
                yield _finding(resolution, origin.name, origin.version, str(newest.public), chosen, wanted)


def _moved(examination: Examination, resolution: Resolution, torch: ResolvedPackage) -> Iterator[Finding]:
    """Yield companions that a repair moved and whose metadata names no torch: only a pin keeps the pair together."""
    used = repair_in_use(examination.repairs, resolution)
    names = {item.requirement.name for item in used.overrides} if used else set()
    for name, table_name in _TABLES:
        package = resolution.get(name)
        if package is None or not names & {name, "torch"} or _declares_torch(package):
            continue
        if all(_pinned(item, examination, resolution) for item in (package, torch)):
            continue
        wanted = shipped_tables()[table_name].wanted(package.version)
        if wanted is None:
            continue
        yield RULE.finding(
            subject=name,
            message=(
                f"repair {resolution.repair} moves `{name}` or torch, and `{name}` {package.version} declares no "
                f"torch: nothing but a pin keeps it beside `torch` {torch.version}"
            ),
            evidence=(Evidence(f"{name} {package.version} was built for torch{wanted}", "shipped table"),),
            remedy=Remedy(f"pin both: `{name}=={package.version.public}` and `torch=={torch.version.public}`"),
            location=chain_to(resolution, name).location,
            packages=(name, torch.name),
        )


def _declares_torch(package: ResolvedPackage) -> bool:
    return any(
        item.name == "torch" and not (isinstance(item.origin, DistributionOrigin) and item.origin.coupling)
        for item in package.dependencies
    )


def _find(examination: Examination) -> Iterator[Finding]:
    resolution = examination.resolution
    torch = resolution.get("torch") if resolution else None
    if resolution is not None and torch is not None:
        held = [*_held_companion(resolution, torch, examination), *_held_torch(resolution, torch, examination)]
        said = {canonicalize_name(item.subject) for item in held}
        yield from held
        yield from (item for item in _moved(examination, resolution, torch) if item.subject not in said)


def _finding(resolution: Resolution, name: str, version: str, torch: str, chosen: str, wanted: str) -> Finding:
    return RULE.finding(
        subject=name,
        message=(f"metadata alone lets `{name}` {version} stand beside `torch` {torch}, an ABI mismatch; {chosen}"),
        evidence=(Evidence(f"{name} {version} goes with torch{wanted} and declares no torch", "shipped table"),),
        remedy=Remedy(f"pin torch and `{name}` together"),
        location=chain_to(resolution, canonicalize_name(name)).location,
        packages=(canonicalize_name(name), "torch"),
    )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find, needs={"resolution"})
