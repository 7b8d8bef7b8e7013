"""One run of ``fix``: a plan for each environment of the profile, and carrying them out."""

from __future__ import annotations

import errno
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.model.dataclass import dataclass
from envdoctor.model.event import EventKind, TreatmentEvent
from envdoctor.model.finding import Finding
from envdoctor.model.plan import Plan
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.report import Report
from envdoctor.model.step import PatchFile, RemoveFile
from envdoctor.planning.plan_maker import environment_digest
from envdoctor.verbs.environment_places import EnvironmentPart, parts_of, write_launchers
from envdoctor.verbs.fix import prepare
from envdoctor.verbs.fix_elsewhere import Elsewhere, with_patches_alone
from envdoctor.verbs.fix_request import FixRequest, Prepared
from envdoctor.verbs.lock import LockChoice
from envdoctor.verbs.this_machine import ThisMachine
from envdoctor.verbs.treatment_result import (
    Treated,
    disagreements,
    failure_events,
    with_whole_errors,
    without_known,
)
from envdoctor.verbs.undo import (
    WAIT_S,
    Say,
    is_cut_short,
    recover_cut_short,
    refuse_damaged,
    undo_command,
    waiting,
)

if TYPE_CHECKING:
    from envdoctor.adapters.apply.executor import Applied
    from envdoctor.adapters.apply.installers import Installer
    from envdoctor.verbs.session import Session

__all__ = ["Treatment", "TreatmentOptions"]

_FAILED = 1
_USAGE = 2
_COULD_NOT_CHECK = 3


@dataclass(frozen=True, slots=True)
class TreatmentOptions:
    """Options of a treatment, as typed."""

    project: Path
    environment: Path | None = None
    repair: int | None = None
    installer: str = "auto"
    python: Path | None = None
    smoke: bool = True
    verbose: bool = False
    json: bool = False
    yes: bool = False
    """Nobody need be asked."""
    allowed_variables: frozenset[str] = frozenset()


class Treatment:
    """Plans, shows and carries out."""

    def __init__(self, session: Session, options: TreatmentOptions, *, say: Say) -> None:
        self.session = session
        self.options = options
        self.typed = replace(session.typed, env=options.environment)
        self.say = say
        self.refusals: tuple[Refusal, ...] = ()
        self.refused_code = _FAILED
        """The exit code where there are refusals and no plan."""
        self.patches: Plan | None = None
        """Those of the project, to be shown where nothing else can be planned."""
        self.machine = ThisMachine(
            options.project,
            session.request.archives,
            choice=options.installer,
            python=options.python,
            default_index=session.index_urls.get("default"),
        )
        self.parts: list[tuple[EnvironmentPart, Prepared]] = []
        self.group = secrets.token_hex(8)

    def plans(self, *, dry_run: bool = False) -> list[Plan]:
        """Return a plan for each environment. What was cut short before is brought back first, or said."""
        for part in parts_of(self.session.requests, self.options.project, self.options.environment):
            refuse_damaged(part.environment, self.options.project)
            if is_cut_short(part.environment):
                if dry_run:
                    message = (
                        f"a fix of `{part.environment}` was cut short; `{self._undo(part)}` puts it back "
                        "as it was, and so does the next `fix`"
                    )
                    self.refusals = (Refusal(RefusalKind.ENVIRONMENT, message=message),)
                    return []
                recover_cut_short(part.environment, self.options.project, self.say)
            prepared = prepare(self._request(part), self._seen_from_here(part, dry_run=dry_run))
            if prepared.plan is None:
                self.refusals, self.refused_code = prepared.refusals, _refused_code(prepared)
                if dry_run:
                    self.patches = with_patches_alone(self._request(part), prepared, self.machine).plan
                return []
            prepared = with_whole_errors(prepared, self.typed)
            self.parts.append((part, without_known(self._without_twice(prepared))))
        return [prepared.plan for _, prepared in self.parts if prepared.plan is not None]

    def _seen_from_here(self, part: EnvironmentPart, *, dry_run: bool) -> ThisMachine:
        """Return what a plan must know: of this machine, or for a plan that is only shown, of the one it is for."""
        different = self.machine.other_machine(part.request.target) if dry_run else None
        if different is None:
            return self.machine
        self.say(TreatmentEvent(EventKind.ELSEWHERE, detail=different))
        return Elsewhere(self.machine.project, self.machine.archives)

    def _without_twice(self, prepared: Prepared) -> Prepared:
        """Leave to the first of several environments what all of them would patch in the project."""
        if prepared.plan is None:
            return prepared
        earlier = {
            step.path
            for _, other in self.parts
            for step in (other.plan.steps if other.plan else ())
            if isinstance(step, PatchFile | RemoveFile) and step.root == "project"
        }
        steps = tuple(
            step
            for step in prepared.plan.steps
            if not (isinstance(step, PatchFile | RemoveFile) and step.root == "project" and step.path in earlier)
        )
        return replace(prepared, plan=replace(prepared.plan, steps=steps))

    def apply(self, plans: Sequence[Plan]) -> list[Treated]:
        """Carry the plans out, one after the other; the first that fails is the last."""
        results: list[Treated] = []
        for (part, prepared), plan in zip(self.parts, plans, strict=True):
            results.append(self._apply(part, prepared, plan) if plan.steps else self._as_it_is(part, prepared, plan))
            if results[-1].failed:
                break
            if self.options.yes and prepared.left:
                results.append(Treated(tuple(TreatmentEvent(EventKind.LEFT, detail=text) for text in prepared.left)))
        else:
            launchers = write_launchers([part for part, _ in self.parts])
            if launchers:
                results.append(Treated((TreatmentEvent(EventKind.LAUNCHERS, names=tuple(launchers)),)))
        return results

    def _request(self, part: EnvironmentPart) -> FixRequest:
        return FixRequest(
            check=part.request,
            environment=str(part.environment),
            index_urls=self.session.index_urls,
            choice=LockChoice(
                self.options.repair, where_needed=len(self.session.requests) > 1 and bool(self.options.repair)
            ),
            allowed_variables=self.options.allowed_variables,
            moved=self._moved(part),
            found_settings=self._found_settings(part),
        )

    @staticmethod
    def _moved(part: EnvironmentPart) -> dict[str, tuple[str, ...]]:
        """Return the components that an earlier fix has placed away from the GPU, as far as the profile knows them."""
        from envdoctor.adapters.apply.records import read_record

        record = read_record(part.environment)
        profile = part.request.profile
        known = {rule.component for rule in profile.placements if not rule.always} if profile is not None else set()
        return {name: reasons for name, reasons in (record.moved if record else {}).items() if name in known}

    @staticmethod
    def _found_settings(part: EnvironmentPart) -> tuple[str, ...]:
        """Return the settings that kernels called for in an earlier fix by the same profile."""
        from envdoctor.adapters.apply.records import read_record

        record, profile = read_record(part.environment), part.request.profile
        same = record is not None and profile is not None and record.profile == profile.name
        return record.found_settings if record is not None and same else ()

    def _apply(self, part: EnvironmentPart, prepared: Prepared, plan: Plan) -> Treated:
        outcome = self._carried_out(part, plan)
        if isinstance(outcome, Treated):
            return outcome
        installer, applied = outcome
        if applied.failure is not None:
            return Treated(tuple(failure_events(applied)), _COULD_NOT_CHECK if applied.network else _FAILED)
        return self._succeeded(part, prepared, plan, installer, applied.journal)

    def _carried_out(self, part: EnvironmentPart, plan: Plan) -> tuple[Installer, Applied] | Treated:
        """Carry a plan out under the environment's lock; return how that went, or why it could not begin."""
        from envdoctor.adapters.apply.executor import apply_plan
        from envdoctor.adapters.apply.holding import Busy, hold_environment
        from envdoctor.adapters.apply.installers import NoInstaller
        from envdoctor.adapters.index.download import IndexFetch

        state = self.machine.look(plan.environment)
        fetch = IndexFetch(list(self.session.index_urls.values()))
        try:
            installer = self.machine.chosen_installer(state)
            with hold_environment(part.environment, wait_s=WAIT_S, say=waiting(self.say)) as held:
                if self._changed(plan):
                    return Treated((TreatmentEvent(EventKind.CHANGED_SINCE, plan.environment),), _FAILED)
                return installer, apply_plan(
                    replace(plan, group=self.group), held, installer, fetch, self.session.progress
                )
        except (Busy, NoInstaller) as error:
            return Treated((TreatmentEvent(EventKind.REFUSED, detail=str(error)),), _FAILED)
        except OSError as error:
            return Treated((self._denied(part, error),), _FAILED)
        finally:
            fetch.close()

    def _undo(self, part: EnvironmentPart) -> str:
        return undo_command(part.environment, self.options.project)

    def left_behind(self) -> Iterator[TreatmentEvent]:
        """Yield what a run that did not come to its end has left, and what takes it back: fixes cut short and whole."""
        from envdoctor.adapters.apply.journal import list_journals

        for part, _ in self.parts:
            if is_cut_short(part.environment):
                yield TreatmentEvent(EventKind.CUT_SHORT, str(part.environment), commands=(self._undo(part),))
        standing = [
            part
            for part, _ in self.parts
            if any(
                record.state == "done" and record.begin.get("group") == self.group
                for record in list_journals(part.environment)
            )
        ]
        if standing:
            names = tuple(str(part.environment) for part in standing)
            commands = tuple(dict.fromkeys(self._undo(part) for part in standing))
            yield TreatmentEvent(EventKind.IN_FORCE, names=names, commands=commands)

    def _denied(self, part: EnvironmentPart, error: OSError) -> TreatmentEvent:
        """Return what the disk did not let us do, and what of it is left to be taken back."""
        place, why = str(error.filename or ""), error.strerror or str(error)
        if not is_cut_short(part.environment):
            return TreatmentEvent(EventKind.REFUSED, place, detail=why)
        kind = EventKind.HALF_DONE_FULL if error.errno == errno.ENOSPC else EventKind.HALF_DONE
        return TreatmentEvent(kind, place, detail=why, commands=(self._undo(part),))

    def _changed(self, plan: Plan) -> bool:
        """Return whether the environment is another one than the plan was made for."""
        state = self.machine.look(plan.environment)
        digest = environment_digest(state.distributions) if state.exists else None
        return digest != plan.before_digest

    def _succeeded(
        self, part: EnvironmentPart, prepared: Prepared, plan: Plan, installer: Installer, journal: str
    ) -> Treated:
        from envdoctor.adapters.apply.installers import ask_installers
        from envdoctor.adapters.apply.interpreters import python_of

        word = ask_installers(python_of(part.environment), installer)
        findings: tuple[Finding, ...] = disagreements(
            prepared.files, word.versions, word.complaints, prepared.overrides, source=word.source
        )
        fixed = TreatmentEvent(EventKind.FIXED, plan.environment, steps=len(plan.steps), commands=(self._undo(part),))
        accepted = (
            TreatmentEvent(EventKind.ACCEPTED, detail=item.message, because=(item.waived.reason,))
            for item in findings
            if item.waived is not None
        )
        events = [fixed, *accepted]
        report = prepared.report
        if report is not None:
            report = _as_treated(report, findings)
        if report is not None and self._provable(prepared):
            return self._proved(part, report, events, journal)
        return Treated(tuple(events), 0, report)

    def _provable(self, prepared: Prepared) -> bool:
        return self.options.smoke and any(file.name == "torch" for file in prepared.files)

    def _as_it_is(self, part: EnvironmentPart, prepared: Prepared, plan: Plan) -> Treated:
        """Leave an environment that is as it should be; where kernels decide what runs where, ask them again."""
        profile, report = part.request.profile, prepared.report
        kind = EventKind.AS_WANTED if profile is not None else EventKind.AS_LOCKED
        events = [TreatmentEvent(kind, plan.environment)]
        decides = profile is not None and any(not rule.always for rule in profile.placements)
        if not decides or report is None or not self._provable(prepared):
            return Treated(tuple(events))
        report = _as_treated(report)
        return self._proved(part, report, events, None, agreed=self.options.yes)

    def _proved(
        self,
        part: EnvironmentPart,
        report: Report,
        events: list[TreatmentEvent],
        journal: str | None,
        *,
        agreed: bool = True,
    ) -> Treated:
        """Run kernels; where they send components elsewhere than they are, patch for that in a second step."""
        from envdoctor.verbs import fix_smoke

        own = report.findings
        report, more = fix_smoke.proved(part, report, self.say)
        events += more
        moved, placed = fix_smoke.moved_components(part.request.profile, report), self._moved(part)
        called_for = fix_smoke.settings_called_for(part, report)
        if not report.placement or (set(moved) == set(placed) and not called_for):
            return Treated(tuple(events), 0, report)
        if not agreed:
            events.append(TreatmentEvent(EventKind.NOT_SET_ANEW))
            return Treated(tuple(events), 0, report)
        request = self._request(part)
        request = replace(request, moved=moved, found_settings=(*request.found_settings, *called_for))
        prepared = without_known(prepare(request, self.machine))
        if prepared.plan is None:
            return Treated(tuple(events), _FAILED, report, prepared.refusals)
        if prepared.plan.refusals:
            events += [TreatmentEvent(EventKind.NOT_PLACED, detail=item.message) for item in prepared.plan.refusals]
            return Treated(tuple(events), _FAILED, report)
        outcome = self._carried_out(part, replace(prepared.plan, follows=journal))
        if isinstance(outcome, Treated):
            return replace(outcome, events=(*events, *outcome.events), report=report)
        if outcome[1].failure is not None:
            return Treated((*events, *failure_events(outcome[1])), _FAILED, report)
        events += fix_smoke.second_step(moved, placed, called_for, len(prepared.plan.steps))
        if called_for:
            again, more = fix_smoke.proved(part, replace(report, kernels=(), placement=(), findings=own), self.say)
            report, events = again, [*events, *more]
        return Treated(tuple(events), 0, report)


def _refused_code(prepared: Prepared) -> int:
    if any(refusal.kind is RefusalKind.NO_REPAIR for refusal in prepared.refusals):
        return _USAGE
    return _FAILED if prepared.complete else _COULD_NOT_CHECK


def _as_treated(report: Report, findings: tuple[Finding, ...] = ()) -> Report:
    """Return what is left to say of an environment that was treated: the requirements' conflicts are settled in it."""
    settled = replace(report, conflicts=(), conflicts_truncated=False, repairs=())
    return replace(settled, command="fix", findings=findings, next_command=None)
