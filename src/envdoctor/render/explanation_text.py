"""What ``envdoctor explain`` prints of one package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.version import Version

from envdoctor.model.candidate import Rejection, RejectionKind
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.report import Explained
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Absence, AbsenceKind, Explanation, NewerVersion, ResolvedPackage, Unmet
from envdoctor.model.unknown import UnknownKind
from envdoctor.render.reasons import message_of, reason, rejection_detail

__all__ = ["explanation_lines", "newer_reason"]

_SHOWN = 5
_ABSENT = {
    AbsenceKind.PROFILE: "is left out by the profile",
    AbsenceKind.REPAIR: "is left out by the repair in use",
    AbsenceKind.NO_SUCH_PROJECT: "is left out by the repair in use: no index has it",
    AbsenceKind.NO_FILE: "is left out by the repair in use: no version of it has a file for this target",
    AbsenceKind.OTHER_TARGETS: "is asked for on other targets alone",
    AbsenceKind.UNKNOWN: "is asked for, and nothing is known of it",
}
_REJECTED = {
    RejectionKind.TAG: "it has no file for this target",
    RejectionKind.REQUIRES_PYTHON: "not for this Python",
    RejectionKind.YANKED: "yanked, and nobody pins it",
    RejectionKind.UNSURE: "it is not known whether the index has it, and nobody pins it",
    RejectionKind.SOURCE_ONLY: "it has only a source distribution",
    RejectionKind.NO_BINARY: "it has only wheels, which are not allowed for it",
    RejectionKind.TOO_NEW: "newer than the date allowed",
    RejectionKind.NO_METADATA: "its metadata could not be read",
}


def explanation_lines(explained: Explained, explanation: Explanation, *, verbose: bool) -> Iterator[str]:
    """Yield the lines about one package: in the resolution, or left out of it."""
    if explanation.package is not None:
        yield from _present(explained, explanation, explanation.package, verbose=verbose)
    elif explanation.absence is not None:
        yield from _absent(explanation.name, explanation.absence)
    for finding in explained.report.open_findings:
        yield f"{finding.severity.value} {finding.rule} {finding.name}: {message_of(finding)}"


def _absent(name: str, absence: Absence) -> Iterator[str]:
    unknown = absence.unknown
    unreached = unknown is not None and unknown.kind is not UnknownKind.DIRECT_REFERENCE
    because = reason(unknown) if unknown is not None and unreached else absence.because
    why = f", because {because}" if because else ""
    yield f"{name} {_ABSENT[absence.kind]}{why}"
    yield ""
    if not absence.asked_by:
        yield "nothing asks for it"
        return
    yield "who asks for it"
    yield from (f"  {_asked(requirement)}" for requirement in absence.asked_by)


def _present(
    explained: Explained, explanation: Explanation, package: ResolvedPackage, *, verbose: bool
) -> Iterator[str]:
    kind = package.file.kind.value
    yield f"{package.name} {package.version} ({kind} {package.file.filename}, index {package.file.index})"
    if package.file.stand_in:
        yield f"  index {package.file.index} could not be reached: a file of the default index stands in for its own"
    used = explained.report.resolution.repair if explained.report.resolution is not None else None
    wanted = [_asked(requirement) for requirement in package.wanted_by]
    if not wanted and used is not None:
        wanted = [f"repair {used}, in place of what is set aside"]
    if wanted:
        yield ""
        yield "wanted by"
        yield from (f"  {text}" for text in wanted)
    if package.set_aside or explained.others:
        yield ""
        yield "who wanted another"
        yield from (f"  {_asked(requirement)}, set aside" for requirement in package.set_aside)
        for other in explained.others:
            yield f"  {_asked(other.requirement)}, which came with {other.set_aside} ({other.set_aside.origin})"
        if explained.because:
            yield f"  because {explained.because}"
    if explanation.chains:
        yield ""
        yield "how it gets here"
        shown = explanation.chains if verbose else explanation.chains[:_SHOWN]
        yield from (f"  {' -> '.join(chain)}" for chain in shown)
        if len(shown) < len(explanation.chains):
            yield f"  and {len(explanation.chains) - len(shown)} more ways; --verbose shows them"
    yield ""
    yield from _newer(explained, explanation, package, verbose=verbose)


def _newer(explained: Explained, explanation: Explanation, package: ResolvedPackage, *, verbose: bool) -> Iterator[str]:
    beyond = tuple(_beyond(explained.not_of_its_index, package))
    if not explanation.newer and not beyond:
        yield "it is the newest version there is"
        return
    yield "why not a newer one"
    yield from beyond
    shown = explanation.newer if verbose else explanation.newer[:_SHOWN]
    yield from (f"  {entry.version}: {newer_reason(entry)}" for entry in shown)
    if len(shown) < len(explanation.newer):
        yield f"  and {len(explanation.newer) - len(shown)} more newer versions; --verbose shows them"


def _beyond(versions: Sequence[Version], package: ResolvedPackage) -> Iterator[str]:
    if versions:
        span = str(versions[0]) if len(versions) == 1 else f"{versions[-1]} to {versions[0]}"
        yield f"  {span}: on the default index; which versions index {package.file.index} has is not known"


def newer_reason(entry: NewerVersion) -> str:
    """Return why a newer version is not in use."""
    reasons = list(_rejected(entry.rejections))
    if entry.prerelease:
        reasons.append("a pre-release, and nobody asks for one")
    if entry.excluded_by:
        reasons.append("ruled out by " + "; ".join(_asked(item) for item in entry.excluded_by[:2]))
    if entry.unmet and not reasons:
        reasons.append("; ".join(_unmet(item) for item in entry.unmet[:2]))
    return "; ".join(reasons) or "the search did not need it: a lock, an image or a companion decided"


def _rejected(rejections: Sequence[Rejection]) -> Iterator[str]:
    for kind in dict.fromkeys(item.kind for item in rejections):
        # The details of one version's files: the same for all of them, or too many to tell.
        details = {rejection_detail(item) for item in rejections if item.kind is kind} - {""}
        told = kind is not RejectionKind.TAG and len(details) == 1
        yield f"{_REJECTED.get(kind, kind.value)}{f' ({details.pop()})' if told else ''}"


def _unmet(unmet: Unmet) -> str:
    if unmet.unread is not None:
        return f"needs {unmet.requirement}, of which no version could be read ({reason(unmet.unread)})"
    if unmet.there is None:
        return f"needs {unmet.requirement}, which cannot be had"
    held = f", for {_asked(unmet.held_by[0])}" if unmet.held_by else ""
    return f"needs {unmet.requirement}, and {unmet.there} is here{held}"


def _asked(requirement: Requirement) -> str:
    """Return who asks and for what: ``faster-whisper 1.1.0: av>=11`` or ``requirements.txt:4: av``."""
    origin = requirement.origin
    how = ""
    if isinstance(origin, DistributionOrigin):
        how = " (binary coupling)" if origin.coupling else ""
        how = f" (in place of {origin.instead_of})" if origin.instead_of else how
    return f"{origin}: {requirement}{how}"
