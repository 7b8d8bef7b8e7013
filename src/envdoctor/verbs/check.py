"""``check``: what a project is diagnosed with, and the report of that."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.diagnose.advisories.book import shipped_advisories
from envdoctor.diagnose.engine import breakages, examine, is_understood
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rulebook import rules_for
from envdoctor.lock.pylock_reader import holds, unmet
from envdoctor.model.conflict import GroupOutcome
from envdoctor.model.finding import Finding
from envdoctor.model.project import Project
from envdoctor.model.report import Report, Scope
from envdoctor.model.requirement import GroupKind, GroupName
from envdoctor.model.resolution import Resolution
from envdoctor.model.target import Target
from envdoctor.model.unknown import Unknown
from envdoctor.ports import Index
from envdoctor.resolve.diagnosis import Diagnosis, diagnose
from envdoctor.resolve.manifest import Manifest
from envdoctor.resolve.resolver import Resolver
from envdoctor.verbs import collector_paused
from envdoctor.verbs.check_environment import could_be_asked
from envdoctor.verbs.check_request import CheckRequest, Diagnosed
from envdoctor.verbs.group_judging import judge_groups
from envdoctor.verbs.host import cards_were_asked
from envdoctor.verbs.resolver_input import choose_python, manifest_of, with_newer_level, without_unjudged
from envdoctor.verbs.scope import with_groups, with_level, with_lock_of_another
from envdoctor.verbs.waivers import accepted_by_lock, expired_waivers, idle_waivers, waive
from envdoctor.verbs.without_profile import changes_anything, found_as_they_stand, found_without_bounds

__all__ = ["check", "diagnose_project", "report_of"]


@runtime_checkable
class _Waited(Protocol):
    """An index that knows how long it kept its callers waiting."""

    @property
    def seconds(self) -> float: ...


class Phases:
    """Wall-clock seconds by phase; those spent waiting for an index count for the index alone."""

    def __init__(self, *indexes: object) -> None:
        self._indexes = tuple({id(index): index for index in indexes if isinstance(index, _Waited)}.values())
        self._seconds = {"index_s": 0.0}
        self._at = time.perf_counter()
        self._waited = self._waiting()

    def end(self, phase: str) -> None:
        """Count what has passed since the last phase ended (or since the start) to ``phase``."""
        now, waited = time.perf_counter(), self._waiting()
        waiting = min(waited - self._waited, now - self._at)
        self._seconds["index_s"] += waiting
        self._seconds[phase] = self._seconds.get(phase, 0.0) + now - self._at - waiting
        self._at, self._waited = now, waited

    def timings(self) -> dict[str, float]:
        """Return the seconds of the index and of each phase, and ``total_s``, their sum."""
        return {
            name: round(value, 3) for name, value in {"total_s": sum(self._seconds.values()), **self._seconds}.items()
        }

    def _waiting(self) -> float:
        return sum(index.seconds for index in self._indexes)


def check(request: CheckRequest) -> Report:
    """Return the report of ``check``."""
    return report_of(request, diagnose_project(request, groups=True), command="check")


def report_of(request: CheckRequest, result: Diagnosed, *, command: str) -> Report:
    """Return the report of what was diagnosed, with what waivers and the lock accept marked."""
    diagnosis = result.diagnosis
    unknowns = () if result.by_lock else _unknowns(request, diagnosis)
    complete = (bool(result.by_lock) or _complete(request, unknowns)) and is_understood(result.findings)
    return Report(
        command=command,
        target=result.target,
        profile=request.profile.name if request.profile else None,
        complete=complete,
        unknowns=unknowns,
        conflicts=diagnosis.conflicts if diagnosis else (),
        conflicts_truncated=diagnosis.conflicts_truncated if diagnosis else False,
        repairs=diagnosis.repairs if diagnosis else (),
        resolution=diagnosis.resolution if diagnosis else None,
        findings=_accepted(request, result, complete=complete),
        facts=tuple(request.facts),
        timings=result.timings,
        environment=request.part,
        scope=_scope(request, result),
    )


def _scope(request: CheckRequest, result: Diagnosed) -> Scope:
    scope = with_lock_of_another(request.scope, request.locked, result.target)
    return with_groups(with_level(scope, result.target), result.groups)


def diagnose_project(request: CheckRequest, *, repair: int | None = None, groups: bool = False) -> Diagnosed:
    """Resolve, find conflicts and repairs, and run the rules over what came out.

    ``groups``: judge as well what stands beside the main list and nobody asked for.

    ``repair``: the number of the one to put in use, 1 for R1; where there is none of that number, and with None, the
    first is in use or the profile's.
    """
    with collector_paused():
        return _diagnose_and_judge(request, f"R{repair}", Phases(request.index, request.plain_index), groups=groups)


def _diagnose_and_judge(request: CheckRequest, repair: str, phases: Phases, *, groups: bool) -> Diagnosed:
    examination = _examination(request, request.target)
    manifest = None
    diagnosis = None
    if request.project is not None and request.index is not None:
        manifest, resolver = choose_python(_manifests(request, request.project), request.index)
        manifest, diagnosis = _diagnose(request, manifest, request.index, resolver, repair)
        examination = _examination(request, manifest.target)
    unread = _left_to_lock(request, manifest, diagnosis)
    outcomes: tuple[GroupOutcome, ...] = ()
    if groups and manifest is not None and diagnosis is not None and not unread:
        outcomes = _groups(request, manifest, diagnosis)
    if unread:
        diagnosis = Diagnosis()
        examination = replace(examination, by_lock=unread, project=_without_set_aside(request))
    phases.end("resolve_s")
    if diagnosis is not None:
        examination = replace(
            examination,
            conflicts=diagnosis.conflicts,
            repairs=diagnosis.repairs,
            resolution=diagnosis.resolution,
            rejections=diagnosis.rejections,
            unknowns=diagnosis.unknowns,
            strict_core=tuple(map(str, diagnosis.strict_core)),
            override_failure=diagnosis.profile_failure,
            groups=outcomes,
        )
    findings = examine(examination, request.further)
    if manifest is not None and diagnosis is not None and not unread and changes_anything(request.profile):
        if not diagnosis.conflicts:
            findings = (*findings, *_as_they_stand(request, manifest, examination, findings))
        findings = (*findings, *_without_bounds(request, manifest, examination, findings))
    phases.end("rules_s")
    target = manifest.target if manifest else request.target
    return Diagnosed(target, diagnosis, findings, phases.timings(), by_lock=unread, groups=outcomes)


def _groups(request: CheckRequest, manifest: Manifest, diagnosis: Diagnosis) -> tuple[GroupOutcome, ...]:
    """Return what came out for the extras, groups and files that nobody asked for, and for the lock where it is old."""
    if request.project is None or request.index is None:
        return ()
    outcomes = _old_lock(request, manifest)
    if not request.project.groups and not request.project.locked:
        return outcomes
    judged = judge_groups(
        request.project,
        manifest,
        diagnosis.conflicts,
        diagnosis.resolution,
        request.index,
        main=not request.groups.only,
    )
    return (*judged, *outcomes)


def _old_lock(request: CheckRequest, manifest: Manifest) -> tuple[GroupOutcome, ...]:
    """Return the lock beside the project where it is for this target and does not meet what is asked for now."""
    locked = request.locked
    if locked is None or Path(locked.path).is_absolute():
        return ()  # That of an environment says what was installed.
    lacks = unmet(manifest, locked, request.python_choices)
    return (GroupOutcome(GroupName(GroupKind.FILE, locked.path), lacks=lacks),) if lacks else ()


def _without_set_aside(request: CheckRequest) -> Project | None:
    """Return the project without the lines that the lock's overrides replace: nothing asks for those versions now."""
    if request.project is None or request.locked is None:
        return request.project
    kept = (item for item in request.project.requirements if str(item) not in request.locked.set_aside)
    return replace(request.project, requirements=tuple(kept))


def _left_to_lock(
    request: CheckRequest, manifest: Manifest | None, diagnosis: Diagnosis | None
) -> tuple[NormalizedName, ...]:
    """Return the projects that the cache does not know, where the lock shows that the requirements hold all the same.

    Empty where everything was known, where the lock does not tell, and where a conflict was found without them.
    """
    if not request.offline or request.locked is None or manifest is None or diagnosis is None:
        return ()
    if not diagnosis.unknowns or diagnosis.conflicts or request.upgrade:
        return ()
    if not holds(manifest, request.locked, request.python_choices):
        return ()
    return tuple(canonicalize_name(unknown.subject.name) for unknown in diagnosis.on_trust)


def _as_they_stand(
    request: CheckRequest, manifest: Manifest, examination: Examination, findings: tuple[Finding, ...]
) -> tuple[Finding, ...]:
    index = request.plain_index or request.index
    archives = request.plain_archives or request.archives
    if request.project is None or index is None:
        return ()
    return found_as_they_stand(
        manifest, len(request.project.requirements), examination, findings, index, archives, request.further
    )


def _without_bounds(
    request: CheckRequest, manifest: Manifest, examination: Examination, findings: tuple[Finding, ...]
) -> tuple[Finding, ...]:
    # With a lock the profile is accepted; a hook need not look once more.
    if request.profile is None or request.index is None or examination.resolution is None or examination.accepted:
        return ()
    return found_without_bounds(
        manifest, request.profile, examination, findings, request.index, request.archives, request.further
    )


def _manifests(request: CheckRequest, project: Project) -> list[Manifest]:
    """Return a manifest for each interpreter to try."""
    pythons = request.python_choices or (request.target.python,)
    return [
        manifest_of(
            project,
            request.target.for_python(python),
            profile=request.profile,
            locked=request.locked,
            upgrade=request.upgrade,
        )
        for python in pythons
    ]


def _examination(request: CheckRequest, target: Target) -> Examination:
    return Examination(
        target=target,
        profile=request.profile,
        project=request.project,
        sources=request.sources,
        environment=request.environment,
        binaries=request.binaries,
        facts=request.facts,
        index=request.index,
        archives=request.archives,
        log=request.log,
        torch=request.torch,
        not_read=request.not_read,
        patches=request.patches,
        accepted=request.lock_for(target) is not None,
    )


def _diagnose(
    request: CheckRequest,
    manifest: Manifest,
    index: Index,
    resolver: Resolver | None,
    repair: str,
) -> tuple[Manifest, Diagnosis]:
    def found(asked: Manifest, resolver: Resolver | None = None) -> Diagnosis:
        examination = _examination(request, asked.target)

        def known(resolution: Resolution) -> tuple[Finding, ...]:
            return breakages(replace(examination, resolution=resolution), request.further)

        return diagnose(
            asked,
            index,
            progress=request.progress,
            judge=known,
            build_risk=request.build_risk,
            resolver=resolver,
            repair=repair,
        )

    manifest, diagnosis = with_newer_level(manifest, found(manifest, resolver), found)
    return manifest, without_unjudged(diagnosis, request.project, manifest.target) if request.project else diagnosis


def _accepted(request: CheckRequest, result: Diagnosed, *, complete: bool) -> tuple[Finding, ...]:
    waivers, today = request.settings.waivers, request.today
    marked = waive(result.findings, waivers, today)
    conflicts = result.diagnosis.conflicts if result.diagnosis else ()
    marked = accepted_by_lock(marked, conflicts, request.lock_for(result.target))
    expired = expired_waivers(waivers, today)

    def looked_at() -> Collection[str]:
        return _looked_at(request, result) if complete and not result.by_lock else ()

    return (*marked, *expired, *idle_waivers(waivers, (*marked, *expired), request.further, looked_at, today))


def _looked_at(request: CheckRequest, result: Diagnosed) -> Collection[str]:
    """Return the codes of the rules that were asked, and of the advisories that tell of more than logs."""
    diagnosis = result.diagnosis or Diagnosis()
    examination = replace(
        _examination(request, result.target), conflicts=diagnosis.conflicts, resolution=diagnosis.resolution
    )
    codes = {rule.code for rule in rules_for(examination)}
    if diagnosis.resolution is None and request.environment is None:
        return codes
    return codes | {item.code for item in (*shipped_advisories().advisories, *request.further) if not item.log_only}


def _complete(request: CheckRequest, unknowns: Sequence[Unknown]) -> bool:
    asked = could_be_asked(request.environment) and cards_were_asked(request.facts)
    read = request.project is None or not (request.project.unread or request.project.unjudged_on(request.target))
    return asked and read and not unknowns


def _unknowns(request: CheckRequest, diagnosis: Diagnosis | None) -> tuple[Unknown, ...]:
    """Return what the search left open, and the indexes that did not answer."""
    found = diagnosis.unknowns if diagnosis else ()
    return tuple(dict.fromkeys((*found, *request.unreachable())))
