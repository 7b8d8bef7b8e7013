"""Accepting findings on purpose: by the project's waivers, and by the lock's recorded overrides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date
from difflib import get_close_matches

from envdoctor.diagnose.advisories.advisory import Advisory
from envdoctor.diagnose.documentation import catalogue
from envdoctor.lock.pylock_reader import LockedProject, meets
from envdoctor.model.conflict import Conflict
from envdoctor.model.finding import Finding, Look, Remedy, Severity, Waiver
from envdoctor.model.origin import FileOrigin
from envdoctor.model.unknown import SubjectKind
from envdoctor.verbs.settings import WaiverSetting

__all__ = ["accepted_by_lock", "expired_waivers", "idle_waivers", "waive"]

_SETTINGS_FILE = "pyproject.toml"
_SHOWN = 4
_CORRECT = "name a code or name that `envdoctor rule` lists"
_BY_OVERRIDE = "an override recorded in the lock settles it"
_BY_ALL = "it has what each of these lines asks for"
_TAKE_AWAY = "take it away, unless another target or environment needs it"


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


def idle_waivers(
    waivers: Sequence[WaiverSetting],
    findings: Sequence[Finding],
    further: Sequence[Advisory],
    looked_at: Callable[[], Collection[str]],
    today: date,
) -> tuple[Finding, ...]:
    """Return one finding for each waiver in force that names no rule, or accepts nothing of what was found.

    ``looked_at`` returns the codes of what would have been found; it is asked only where a waiver accepts nothing.
    """
    in_force = [waiver for waiver in waivers if waiver.expires is None or waiver.expires >= today]
    idle = [waiver for waiver in in_force if not any(_accepts(waiver, finding) for finding in findings)]
    if not idle:
        return ()
    names = [row[:2] for row in catalogue()] + [(item.code, item.id) for item in further]
    codes = {word.casefold(): (word, code) for code, name in names for word in (code, name)}
    seen = looked_at()
    said = []
    for waiver in idle:
        wanted = waiver.rule.casefold()
        if wanted not in codes:
            close = get_close_matches(wanted, codes, n=1)
            hint = f"; did you mean `{codes[close[0]][0]}`?" if close else ""
            said.append(_said(waiver, "RES092", f"no rule or advisory is called `{waiver.rule}`{hint}"))
            continue
        code = codes[wanted][1]
        others = sorted({finding.subject for finding in findings if finding.rule == code})
        if others:
            about = " and ".join(f"`{subject}`" for subject in others[:_SHOWN])
            more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
            message = f"the waiver of `{waiver.rule}` is for `{waiver.subject}`, and was found of {about}{more}"
            said.append(_said(waiver, "RES093", message))
        elif code in seen:
            said.append(_said(waiver, "RES093", f"the waiver of `{waiver.rule}` accepts nothing of what was found"))
    return tuple(said)


def _said(waiver: WaiverSetting, code: str, message: str) -> Finding:
    unknown = code == "RES092"
    return Finding(
        rule=code,
        name="unknown-waiver" if unknown else "unused-waiver",
        severity=Severity.WARNING if unknown else Severity.INFO,
        subject=waiver.rule,
        subject_kind=SubjectKind.RULE,
        message=message,
        remedy=Remedy(_CORRECT if unknown else _TAKE_AWAY),
        location=FileOrigin(_SETTINGS_FILE),
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


def _accepts(waiver: WaiverSetting, finding: Finding) -> bool:
    named = waiver.rule.casefold() in (finding.rule.casefold(), finding.name.casefold())
    return named and waiver.subject in (None, finding.subject)


def _waived(finding: Finding, waivers: Sequence[WaiverSetting]) -> Finding:
    for waiver in waivers:
        if _accepts(waiver, finding):
            expires = waiver.expires.isoformat() if waiver.expires else None
            return finding.waive(Waiver(waiver.reason, f"{_SETTINGS_FILE}: {waiver.key}", expires))
    return finding


def _settled(conflicts: Sequence[Conflict], locked: LockedProject) -> dict[str, Waiver]:
    """Return a waiver by the id of each conflict that the lock settles.

    It does where it set a demand of it aside, and where it has everything that the conflict's lines ask for: what it
    set aside then is a demand of a distribution further up, if anything. Requirements are compared by their text: a
    line that moves within its file is still the line that was accepted.
    """
    aside = {str(demand) for override in locked.overrides for demand in override.sets_aside}
    settled = {}
    for conflict in conflicts:
        demands = [*conflict.core, *(side.requirement for side in conflict.clash.sides)]
        if any(str(demand) in aside for demand in demands):
            settled[conflict.id] = Waiver(_BY_OVERRIDE, locked.path)
        elif all(meets(line, locked) for line in conflict.core):
            settled[conflict.id] = Waiver(_BY_ALL, locked.path)
    return settled
