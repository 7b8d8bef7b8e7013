"""The second look: all rules and advisories over one examination."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from envdoctor.diagnose.advisories.selection import advisories_for
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.rulebook import rules_for
from envdoctor.model.finding import Evidence, Finding, Look, Severity
from envdoctor.model.unknown import SubjectKind

if TYPE_CHECKING:
    from envdoctor.diagnose.advisories.advisory import Advisory
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.profile import Patch, Profile

__all__ = ["breakages", "examine", "is_understood"]

INTERNAL = "internal"
"""The name of a finding about a rule that broke."""


def _internal(code: str, error: Exception) -> Finding:
    return Finding(
        rule=code,
        name=INTERNAL,
        severity=Severity.WARNING,
        subject=code,
        subject_kind=SubjectKind.RULE,
        message=f"rule {code} could not finish and says nothing: {type(error).__name__}",
        evidence=(Evidence(str(error)[:300]),),
    )


def _guarded(rule: Rule, examination: Examination) -> Iterator[Finding]:
    """One rule's findings; a rule that fails must not take the diagnosis with it."""
    try:
        yield from rule.find(examination)
    except Exception as error:  # noqa: BLE001
        yield _internal(rule.code, error)


def _advised(
    examination: Examination, further: Sequence[Advisory], told: Collection[tuple[str, str]] = ()
) -> Iterator[Finding]:
    try:
        advisories = (*advisories_for(examination), *further)
        if not advisories and not examination.log:
            return
        from envdoctor.diagnose.advisories.advising import advise, once

        shown: list[Finding] = []
        if examination.log:
            from envdoctor.diagnose.advisories.log_reading import read_log

            shown = list(read_log(examination, further))
        yield from once(advise(examination, advisories=advisories, told=told), shown)
        if examination.log:
            from envdoctor.diagnose.logs.log_findings import findings_of_log

            yield from findings_of_log(examination, shown)
    except Exception as error:  # noqa: BLE001
        yield _internal("ADV", error)


def _told_better(finding: Finding, advised: Iterable[Finding]) -> bool:
    """Return whether an advisory tells the same unmet demand between two installed packages, with its own remedy.

    The metadata would move either of them; an advisory knows which.
    """
    if finding.rule != "ENV001" or not finding.packages or finding.waived is not None:
        return False
    return any(
        one.rule.startswith("ADV")
        and one.subject == finding.subject
        and one.severity.rank <= finding.severity.rank
        and set(finding.packages) <= set(one.packages)
        and one.look is Look.INSTALLED
        for one in advised
    )


def _order(finding: Finding) -> tuple[int, str, int, str, str]:
    place = finding.location
    return (
        finding.severity.rank,
        place.path if place else "~",
        (place.line or 0) if place else 0,
        finding.rule,
        finding.subject,
    )


def _patching(finding: Finding, profile: Profile) -> Patch | None:
    """Return the profile's patch of the source file, or of the installed package, that a finding is about."""
    if not finding.rule.startswith(("SRC", "ADV")):
        return None
    from packaging.utils import canonicalize_name

    from envdoctor.model.profile import PatchKind

    place = finding.location
    for patch in profile.patches:
        name = (patch.function or "").rpartition(".")[2]
        if name and patch.kind is PatchKind.STUB_FUNCTION and name in finding.symbols:
            return patch
        if patch.root == "project" and place is not None:
            globs = [name for glob in patch.files for name in (glob, glob.replace("**/", ""))]
            if any(fnmatch(place.path, glob) for glob in globs):
                return patch
        elif patch.root != "project" and finding.subject in {
            canonicalize_name(glob.split("/")[0]) for glob in patch.files
        }:
            return patch
    return None


def _patched(finding: Finding, profile: Profile | None, misfits: Collection[str]) -> Finding:
    """Make a finding mild where `fix` will patch the file that it is about; ``misfits``: patches that cannot."""
    patch = _patching(finding, profile) if profile else None
    if profile is None or patch is None or patch.name in misfits or finding.severity is Severity.INFO:
        return finding
    seen = Evidence(f"profile {profile.name} patches this: {patch.because}", "profile")
    return replace(finding, severity=Severity.INFO, evidence=(*finding.evidence, seen))


def examine(
    examination: Examination,
    further: Sequence[Advisory] = (),
    *,
    families: tuple[str, ...] = ("",),
    said: Iterable[Finding] = (),
) -> tuple[Finding, ...]:
    """Run every rule whose needs are met and every advisory; the worst findings first, each once.

    ``further``: advisories of others' files. ``families``: beginnings of the codes of the rules to run, such as
    ``RES2``; advisories always are. ``said``: what another look has found; an advisory that tells the same as a rule's
    finding, here or there, is left out.

    A rule that raises becomes an ``internal`` finding. Never raises.
    """
    if examination.sources is not None:
        from envdoctor.diagnose.source_scan import scan_of

        examination = replace(examination, sources=scan_of(examination.sources))
    if examination.environment is not None:
        from envdoctor.diagnose.installed_demands import with_demands

        examination = with_demands(examination)
    rules = [rule for rule in rules_for(examination) if rule.code.startswith(families)]
    found = [item for rule in rules for item in _guarded(rule, examination)]
    misfits = {state.name for state in examination.patches if state.state in ("misfit", "absent")}
    advised = list(_advised(examination, further, {(item.rule, item.subject) for item in (*found, *said)}))
    found = [*(item for item in found if not _told_better(item, advised)), *advised]
    found = [_patched(item, examination.profile, misfits) for item in found]
    unique = {(item.rule, item.subject, item.message, item.unknowns): item for item in found}
    return tuple(sorted(unique.values(), key=_order))


def breakages(examination: Examination, further: Sequence[Advisory] = ()) -> tuple[Finding, ...]:
    """Return the known breakages of a resolution.

    These are the findings by which rules rank, and those of advisories at warning or above.

    Looks at the resolution, the target and the profile alone: no index, no source, and no archive but where a rule says
    that it opens few, or reads lines.
    """
    bare = replace(
        examination, sources=None, archives=None, index=None, environment=None, log=None, conflicts=(), project=None
    )
    opened = replace(bare, archives=examination.archives)
    asked = replace(bare, project=examination.project, index=examination.index)
    found: list[Finding] = []
    for rule in rules_for(asked):
        if rule.ranks is not None:
            least = rule.ranks.rank
            seen = asked if rule.reads_lines else opened if rule.opens_few else bare
            found += [item for item in _guarded(rule, seen) if item.severity.rank <= least]
    found += _advised(bare, further)
    told = [item for item in found if item.severity is not Severity.INFO and item.name != INTERNAL]
    return tuple({(item.rule, item.subject, item.message): item for item in told}.values())


def is_understood(findings: Iterable[Finding]) -> bool:
    """Return whether every rule came to its end, every paste was understood, and so was what failed in the log."""
    return not any(
        item.name == INTERNAL or (item.rule.startswith("LOG") and item.severity is not Severity.INFO)
        for item in findings
    )
