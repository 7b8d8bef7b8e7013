"""Other requirements pin a package to an old version.

## What it does

Names packages that end at an old version because of others, and the requirements that pin them.

## Why is this bad

The resolution is correct, but nobody asked for it: a name without a version may end at a release that is years old,
with other files, another API and no wheel for a current Python. A release that is younger than what pins it is the one
that belongs there, and a note.

## Example

`fairseq` beside a newer hydra-core ends at 0.10.2 in place of 0.12.2.

## References

- pip, Dependency resolution: https://pip.pypa.io/en/stable/topics/dependency-resolution/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.diagnose.examination import Examination, chain_to
from envdoctor.diagnose.rule import Rule
from envdoctor.model.candidate import BuildRisk, DistributionFile, FileKind
from envdoctor.model.compatibility import can_use
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import written_by_a_person
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage, WalkedBack
from envdoctor.ports import Index, IndexUnavailable, ProjectNotFound

_MOST = 3
_LONG_AGO = 1.5
"""Years."""
# These follow torch, which is what is meant to happen; the coupling rules speak of them.
_COUPLED = frozenset({"torch", "torchaudio", "torchvision", "torchcodec"})


def _years_behind(package: ResolvedPackage, newest: Version, index: Index | None) -> float:
    """Return how much older the chosen release is, in years; 0 where the dates are not known."""
    try:
        files = index.page(package.name).of_version(newest) if index else ()
    except (IndexUnavailable, ProjectNotFound):
        return 0
    after = min((date for item in files if (date := _date(item)) is not None), default=None)
    before = _date(package.file)
    return (after - before).days / 365 if after is not None and before is not None else 0


def _date(file: DistributionFile) -> datetime | None:
    return datetime.fromisoformat(file.upload_time.replace("Z", "+00:00")) if file.upload_time else None


def _is_of_its_time(package: ResolvedPackage, item: WalkedBack, resolution: Resolution) -> bool:
    """Return whether the release is younger than one of those that pin it: an old stack, and what belongs to it."""
    pinning = [resolution.get(_pinned_by(wanted)) for wanted in item.forced_by if not _is_its_own(wanted, item)]
    dates = [date for other in pinning if other is not None and (date := _date(other.file)) is not None]
    own = _date(package.file)
    return own is not None and bool(dates) and own >= min(dates)


def _pinned_by(wanted: Requirement) -> NormalizedName:
    """Return the distribution that asks for it; of a line of a person, the project that it names."""
    return wanted.asked_by or wanted.name


def _newest_is_built(name: NormalizedName, newest: Version, examination: Examination) -> bool:
    """Return whether the newest release has no wheel for the target either: then going back is not why it is built."""
    index, target = examination.index, examination.target
    try:
        files = index.page(name).of_version(newest) if index else ()
    except (IndexUnavailable, ProjectNotFound):
        return False
    wheels = (item for item in files if item.kind is FileKind.WHEEL)
    return bool(files) and target is not None and not any(can_use(item, target) for item in wheels)


def _severity(package: ResolvedPackage, years: float, *, as_new: bool) -> Severity | None:
    """Weigh a walk back; None where it is an everyday one that ``explain`` tells and no list needs.

    A package that a person asks for by name without a bound, and that ends at an old release because of others, is
    what nobody meant. What distributions bound among themselves matters only where it must be built, and the newest
    release need not be.
    """
    people = [item for item in package.wanted_by if written_by_a_person(item.origin)]
    built = package.file.kind is FileKind.SDIST and package.build_risk is not BuildRisk.ANYWHERE
    if built and not as_new:
        return Severity.WARNING
    if any(not item.specifier for item in people) and package.name not in _COUPLED and years > _LONG_AGO:
        return Severity.WARNING
    return Severity.INFO if people else None


def _forced(item: WalkedBack) -> str:
    """Say who pins it: what asks for another version of it, or stands against what the newest one needs."""
    own = [f"`{wanted.pep508}`" for wanted in item.forced_by if _is_its_own(wanted, item)]
    others = [f"`{wanted.pep508}` of {wanted.origin}" for wanted in item.forced_by if not _is_its_own(wanted, item)]
    needs = f"{item.newest} needs {_first(own)}" if own else ""
    pins = f"pinned by {_first(others)}" if others else "" if own else "pinned by other requirements"
    return "; ".join(text for text in (pins, needs) if text)


def _is_its_own(wanted: Requirement, item: WalkedBack) -> bool:
    return wanted.asked_by == item.name


def _first(texts: Sequence[str]) -> str:
    texts = list(dict.fromkeys(texts))
    return ", ".join(texts[:_MOST]) + (f" and {len(texts) - _MOST} more" if len(texts) > _MOST else "")


def _remedy(item: WalkedBack) -> str:
    """Return what to do: change the line of a person that pins it, else pin it."""
    lines = [f"`{wanted}` ({wanted.origin})" for wanted in item.forced_by if written_by_a_person(wanted.origin)]
    if lines:
        return f"a newer `{item.name}` needs another version in {' or '.join(lines[:_MOST])}"
    pin = f"{item.name}=={item.version}"
    return f"pin `{pin}` if that version is right; a newer one needs another version of what pins it"


def _find(examination: Examination, resolution: Resolution) -> Iterator[Finding]:
    for item in resolution.walked_back:
        package = resolution.get(item.name)
        if package is None:
            continue
        as_new = _newest_is_built(package.name, item.newest, examination)
        years = _years_behind(package, item.newest, examination.index)
        if _is_of_its_time(package, item, resolution):
            years = 0
        severity = _severity(package, years, as_new=as_new)
        if severity is None:
            continue
        chain = chain_to(resolution, item.name)
        yield RULE.finding(
            subject=item.name,
            message=f"`{item.name}` is {item.version} and not {item.newest}, the newest: {_forced(item)}",
            severity=severity,
            evidence=(Evidence(f"newest for the target: {item.newest}", str(chain)),),
            remedy=Remedy(_remedy(item)),
            location=chain.location,
        )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find)
