"""Accepting findings on purpose: by the project's waivers, and by the lock's recorded overrides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from envdoctor.lock.pylock_reader import LockedProject
from envdoctor.lock.still_holds import meets
from envdoctor.model.conflict import Conflict
from envdoctor.model.finding import Finding, Look, Remedy, Severity, Waiver
from envdoctor.model.origin import FileOrigin
from envdoctor.model.unknown import SubjectKind
from envdoctor.verbs.settings import WaiverSetting

__all__ = ["accepted_by_lock", "expired_waivers", "waive"]

_SETTINGS_FILE = "pyproject.toml"


def waive(findings: Iterable[Finding], waivers: Sequence[WaiverSetting], today: date) -> tuple[Finding, ...]:
    """Return the findings, those that a waiver in force accepts marked so."""
    in_force = [waiver for waiver in waivers if waiver.expires is None or waiver.expires >= today]
    return tuple(_waived(finding, in_force) for finding in findings)


def expired_waivers(waivers: Sequence[WaiverSetting], today: date) -> tuple[Finding, ...]:
    """Return one finding for each waiver whose last day has gone."""
    return tuple(
        Finding(
            rule="RES091",
            name="expired-waiver",
            severity=Severity.WARNING,
            subject=waiver.rule,
            subject_kind=SubjectKind.RULE,
            message=f"the waiver of `{waiver.rule}` ended on {waiver.expires}: {waiver.reason}",
            remedy=Remedy("mend what it waived, or set a new date with a reason that still holds"),
            location=FileOrigin(_SETTINGS_FILE),
        )
        for waiver in waivers
        if waiver.expires is not None and waiver.expires < today
    )


def accepted_by_lock(
    findings: Iterable[Finding], conflicts: Sequence[Conflict], locked: LockedProject | None
) -> tuple[Finding, ...]:
    """Mark the conflicts that the overrides recorded in a lock settle; a new conflict stays open."""
    settled = {} if locked is None else _settled(conflicts, locked)
    marked = []
    for finding in findings:
        waiver = settled.get(finding.conflict)
        if waiver is None and locked is not None and finding.look is Look.AS_THEY_STAND:
            waiver = Waiver("the lock does not take what the project's own requirements would give", locked.path)
        marked.append(finding.waive(waiver) if waiver and finding.waived is None else finding)
    return tuple(marked)


def _waived(finding: Finding, waivers: Sequence[WaiverSetting]) -> Finding:
    for waiver in waivers:
        named = waiver.rule.casefold() in (finding.rule.casefold(), finding.name.casefold())
        if named and waiver.subject in (None, finding.subject):
            expires = waiver.expires.isoformat() if waiver.expires else None
            return finding.waive(Waiver(waiver.reason, f"{_SETTINGS_FILE}: {waiver.key}", expires))
    return finding


def _settled(conflicts: Sequence[Conflict], locked: LockedProject) -> dict[str, Waiver]:
    """Return a waiver by the id of each conflict that the lock settles.

    It does where it set a demand of it aside, and where it has everything that the conflict's lines ask for: then the
    demand that it set aside is one of a distribution further up. Requirements are compared by their text: a line that
    moves within its file is still the line that was accepted.
    """
    aside = {str(demand) for override in locked.overrides for demand in override.sets_aside}
    settled = {}
    for conflict in conflicts:
        demands = [*conflict.core, *(side.requirement for side in conflict.clash.sides)]
        if any(str(demand) in aside for demand in demands) or all(meets(line, locked) for line in conflict.core):
            settled[conflict.id] = Waiver("an override recorded in the lock settles it", locked.path)
    return settled
