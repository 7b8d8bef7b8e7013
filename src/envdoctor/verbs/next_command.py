"""The commands that are printed to be copied: they carry what the user typed, quoted for the shell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.model.dataclass import dataclass
from envdoctor.model.fact import FactState
from envdoctor.model.finding import Command, Severity
from envdoctor.model.project import GroupChoice
from envdoctor.model.target import Backend, Target, TargetBackend
from envdoctor.shell_line import shell_line
from envdoctor.verbs.index_choice import IndexChoice
from envdoctor.verbs.target_choice import TargetChoice, host_target

if TYPE_CHECKING:
    from envdoctor.lock.pylock_reader import LockedProject
    from envdoctor.model.finding import Finding
    from envdoctor.model.refusal import Refusal
    from envdoctor.model.report import Report

__all__ = [
    "Typed",
    "after_check",
    "after_checks",
    "after_lock",
    "after_refusals",
    "elsewhere",
    "which_lock",
    "with_whole_commands",
]


_OTHER_DEVICE, _NO_KERNELS, _OF_CARD = "RES202", "RES208", "GPU102"
_MENDING = ("lock", "fix", "repair", "undo")


@dataclass(frozen=True, slots=True)
class Typed:
    """What a verb over a project was given, so that another command can be given the same."""

    project: Path = Path()
    profile: str | None = None
    """As typed, else the one that recognised the project; None where the project's own settings name it."""
    target: TargetChoice = TargetChoice()
    index: IndexChoice = IndexChoice()
    output_dir: Path | None = None
    env: Path | None = None
    groups: GroupChoice = GroupChoice()
    facts: Path | None = None
    """Of another machine, where its card chooses the backend."""

    def command(self, verb: str, *more: str, variables: Mapping[str, str] | None = None) -> str:
        """Return the command line of a verb for the same project, profile, target and index."""
        words = ["envdoctor", verb, _path(self.project), *more, *self._profile(), *self._groups(), *self._target(verb)]
        words += self._index()
        if verb == "check" and self.env is not None and self.env.exists():
            words += ["--env", str(self.env)]
        if self.facts is not None and self.target.automatic:
            words += ["--facts", str(self.facts)] if verb in ("check", "lock") else []
        return shell_line(words, variables)

    def judged_for(self, asked: Target, judged: Target | None) -> Typed:
        """Return the same with the backend that was taken from the lock on disk, where none was asked for."""
        if asked.backend is not Backend.UNKNOWN or judged is None or judged.backend is Backend.UNKNOWN:
            return self
        return replace(self, target=replace(self.target, backend=TargetBackend(judged.backend.value)))

    def online(self) -> Typed:
        """Return the same with the index asked: what the cache does not know, no command can say offline."""
        return replace(self, index=replace(self.index, offline=False))

    def repair(self, number: str) -> str:
        """Return the command line that shows a repair as a diff."""
        words = ["envdoctor", "repair", number.removeprefix("R"), _path(self.project)]
        return shell_line([*words, *self._profile(), *self._groups(), *self._target("repair"), *self._index()])

    @property
    def can_be_fixed(self) -> bool:
        """Whether ``fix`` would treat the same: it takes no extras and groups, and would leave them out."""
        return self.groups == GroupChoice()

    def treatment(self, verb: str) -> str:
        """Return the command line of ``fix``, or of ``undo``, which takes the environment alone."""
        words = ["envdoctor", verb]
        if verb == "fix":
            python = ["--target-python", self.target.python] if self.target.python else []
            words += [_path(self.project), *self._profile(), *python]
        words += ["--env", str(self.env)] if self.env is not None else []
        return shell_line(words)

    def _profile(self) -> list[str]:
        return ["--profile", self.profile] if self.profile else []

    def _groups(self) -> list[str]:
        groups = self.groups
        named = (("--extra", groups.extras), ("--group", groups.groups), ("--only-group", groups.only))
        words = [word for option, names in named for name in names for word in (option, name)]
        return [*words, *(["--all-groups"] if groups.all_groups else [])]

    def _target(self, verb: str) -> list[str]:
        target = self.target
        words: list[str] = []
        for option, value in (
            ("--target-os", target.os and target.os.value),
            ("--target-arch", target.arch and target.arch.value),
            ("--target-python", target.python),
            ("--target-backend", target.backend and target.backend.value),
            ("--gpu", target.gpu),
            ("--glibc", target.glibc),
            ("--macos", target.macos),
        ):
            words += [option, value] if value else []
        if verb == "lock" and self.output_dir is not None:
            words += ["--output-dir", str(self.output_dir)]
        return words

    def _index(self) -> list[str]:
        index = self.index
        words = ["--offline"] if index.offline else []
        for option, value, variable in (
            ("--index-url", index.index_url, "ENVDOCTOR_INDEX_URL"),
            ("--recorded-index", index.recorded, ""),
            ("--cache-dir", index.cache_dir, "ENVDOCTOR_CACHE_DIR"),
            ("--exclude-newer", index.exclude_newer, ""),
        ):
            # What came from a variable comes from there again.
            if value is not None and str(value) != os.environ.get(variable):
                words += [option, str(value)]
        return words


def after_check(
    report: Report, typed: Typed, refusals: Sequence[Refusal], locked: LockedProject | None = None
) -> str | None:
    """Return the command to type after ``check``: what fills the cache where that was missing, else a lock that works.

    Where the lock on disk has these versions, it is what treats this machine, if it is the target. Where the project
    wants another Python, it is the check for that one; where torch is for another device, the check in which the card
    chooses; where conflicts have no way out, what explains the first. None where nothing is to be done, or a person
    must first correct what no command can.
    """
    if typed.index.offline and not report.complete:
        return typed.online().command("check")
    proposed = _proposed(report)
    if typed.env is not None and "undo" in proposed:
        return typed.treatment("undo")
    if report.verdict.value == "healthy" or (report.resolution is not None and not report.resolution.packages):
        return None  # Nothing is to be done, or nothing was asked for.
    errors = [finding for finding in report.open_findings if finding.severity is Severity.ERROR]
    wrong = {finding.rule for finding in errors if finding.subject == "torch"} & {_OTHER_DEVICE, _NO_KERNELS}
    if wrong:
        # A lock would hold a build that cannot run on the card; the card, where it is known, chooses one that can.
        automatic = replace(typed.target, backend=TargetBackend.AUTO)
        known = _NO_KERNELS in wrong or _knows_a_card(report)
        chooses = known and report.profile is None and not typed.target.automatic
        return replace(typed, target=automatic).command("check") if chooses else None
    if typed.env is None and report.profile is None and typed.target.backend is None and _is_for_another_card(report):
        return replace(typed, target=replace(typed.target, backend=TargetBackend.AUTO)).command("check")
    if report.resolution is None or refusals:
        return _for_admitted_python(report, typed) or mirrored_lock(typed, refusals) or _explained(report, typed)
    if _is_locked(report, locked):
        # What a fix has treated is not treated again for what it does not change.
        treats = (typed.env is None or "fix" in proposed) and typed.can_be_fixed
        return typed.treatment("fix") if treats and _is_here(report.target) else None
    settles = typed.env is not None and typed.can_be_fixed and _is_settled_by_fix(errors, proposed)
    if settles and _is_here(report.target):
        return typed.treatment("fix")  # As the findings say; a lock alone would leave the environment as it is.
    # What only a person can correct would be in the lock as well.
    return typed.command("lock") if not errors or any(map(_is_mended, errors)) else None


def elsewhere(report: Report, typed: Typed, locked: LockedProject | None) -> str | None:
    """Return what treats a machine of the target, where the lock on disk has these versions and this is none."""
    is_done = _is_locked(report, locked) and report.verdict.value != "healthy" and typed.env is None
    return typed.treatment("fix") if is_done and typed.can_be_fixed and not _is_here(report.target) else None


def after_lock(report: Report, typed: Typed) -> Iterator[str]:
    """Yield the line with the command to type after ``lock``: what shows the errors that stay, else the treatment."""
    if any(finding.severity is Severity.ERROR for finding in report.open_findings):
        yield f"next: {typed.command('check')}"
    elif typed.output_dir is None and typed.can_be_fixed:  # A fix takes the lock that lies beside the project.
        where = "" if _is_here(report.target) else ", on a machine of the target"
        yield f"next{where}: {typed.treatment('fix')}"


def _is_locked(report: Report, locked: LockedProject | None) -> bool:
    packages = report.resolution.packages if report.resolution is not None else ()
    return locked is not None and locked.versions == {item.name: item.version for item in packages}


def _is_mended(finding: Finding) -> bool:
    """Return whether one of our own verbs does away with what was found: a lock settles conflicts."""
    remedy = finding.remedy
    commands = remedy.commands if remedy is not None else ()
    return bool(finding.conflict) or any(isinstance(one, Command) and one.verb in _MENDING for one in commands)


def _is_settled_by_fix(errors: Sequence[Finding], proposed: set[str]) -> bool:
    """Return whether ``fix`` is all that is proposed; a conflict's repair is first chosen in a lock."""
    alone = proposed & set(_MENDING) == {"fix"}
    return alone and all(_is_mended(finding) and not finding.conflict for finding in errors)


def _is_for_another_card(report: Report) -> bool:
    """Return whether the planned torch is a build for no card of the machine: a warning where no backend is named."""
    of_card = (finding for finding in report.open_findings if finding.rule == _OF_CARD and finding.subject == "torch")
    return any(finding.severity is not Severity.INFO for finding in of_card)


def _knows_a_card(report: Report) -> bool:
    return any(fact.name.startswith("gpu[") and fact.state is FactState.KNOWN for fact in report.facts)


def _proposed(report: Report) -> set[str]:
    """Return our own verbs that remedies of what is open propose."""
    remedies = [finding.remedy for finding in report.open_findings if finding.remedy is not None]
    return {one.verb for remedy in remedies for one in remedy.commands if isinstance(one, Command)}


def after_checks(reports: Sequence[Report], typed: Typed) -> str | None:
    """Return the command to type after the checks of several environments, each of which has its own.

    A lock is written for all or for none: what one of them needs first comes first, and there is nothing to type while
    nothing helps one of them. What is locked already waits for the others.
    """
    wanted = [report.next_command for report in reports if report.verdict.value != "healthy"]
    if not all(wanted):
        return None
    last = (typed.command("lock"), typed.treatment("fix"))
    return next((command for command in (*wanted, *last) if command not in last or command in wanted), None)


def _for_admitted_python(report: Report, typed: Typed) -> str | None:
    """Return the check for a Python that the project admits, where it does not admit the target's.

    Else for one that has what no file is for on the target's.
    """
    for rule in ("RES011", "RES101"):
        for finding in report.open_findings:
            if finding.rule == rule and finding.remedy is not None and finding.remedy.commands:
                return _completed(finding.remedy.commands[0], typed)
    return None


def _explained(report: Report, typed: Typed) -> str | None:
    """Return what says more of the first conflict, where none of the repairs does away with all of them.

    What a person must correct in a file is said beside it: the check that was just typed is never what comes next.
    """
    return typed.command("explain", report.conflicts[0].id) if report.conflicts else None


def _is_here(target: Target | None) -> bool:
    here = host_target()
    return target is not None and (target.os, target.arch) == (here.os, here.arch)


def mirrored_lock(typed: Typed, refusals: Iterable[Refusal]) -> str | None:
    """Return the lock command with the variables that name mirrors, where nothing but unreached indexes prevents it."""
    from envdoctor.model.index_url import mirror_variable

    found = list(refusals)
    if not found or not all(refusal.index for refusal in found) or typed.index.recorded is not None:
        return None
    return typed.command("lock", variables={mirror_variable(refusal.index): "URL" for refusal in found})


def after_refusals(typed: Typed, refusals: Sequence[Refusal]) -> Iterator[str]:
    """Yield which command helps where something could not be known, if one does."""
    if typed.index.offline:
        yield "where the index can be reached, the same without `--offline` fills the cache"
        yield f"next: {typed.online().command('lock')}"
        return
    command = mirrored_lock(typed, refusals)
    if command is not None:
        yield f"next: {command}"


def which_lock(repair: int | None, upgrade: Sequence[str], *, no_repair: bool) -> list[str]:
    """Return the options that say which resolution to lock, as typed."""
    words = ["--repair", str(repair)] if repair is not None else []
    words += ["--no-repair"] if no_repair else []
    return words + ["--upgrade" if name == "*" else f"--upgrade={name}" for name in upgrade]


def with_whole_commands(report: Report, typed: Typed) -> Report:
    """Return the report with the bare commands of its remedies completed: project, profile and environment as typed.

    Every repair gets the command that shows it as a diff, too.
    """
    findings = []
    for finding in report.findings:
        remedy = finding.remedy
        if remedy is not None and remedy.commands:
            commands = tuple(_completed(command, typed) for command in remedy.commands)
            finding = replace(finding, remedy=replace(remedy, commands=commands))
        findings.append(finding)
    # Where a profile makes several environments, a repair is of one of them.
    one = not any(":" in repair.id for repair in report.repairs)
    repairs = tuple(replace(item, command=typed.repair(item.id)) for item in report.repairs) if one else report.repairs
    return replace(report, findings=tuple(findings), repairs=repairs)


def _completed(command: str | Command, typed: Typed) -> str:
    """Return a command of a remedy as it can be typed here; another program's stays as it is."""
    if isinstance(command, str):
        return command
    if command.verb in ("fix", "undo"):
        return typed.treatment(command.verb)
    if command.file:
        folder = typed.project.parent if typed.project.is_file() else typed.project
        # By itself: what is said of the project does not hold for it.
        alone = replace(typed, project=folder / command.file, profile=None, env=None, groups=GroupChoice())
        return alone.command(command.verb)
    if command.python:
        typed = replace(typed, target=replace(typed.target, python=command.python))
    return typed.command(command.verb)


def _path(path: Path) -> str:
    """Return a path that no parser takes for an option."""
    return f".{os.sep}{path}" if str(path).startswith("-") else str(path)
