"""Carrying out a plan, or writing a project's files: in the journal before it happens, taken back where it fails."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from envdoctor.adapters.apply.downloads import Fetch, WrongFile
from envdoctor.adapters.apply.durable import deferred, shielded
from envdoctor.adapters.apply.file_steps import FileSteps, NotAsExpected
from envdoctor.adapters.apply.holding import Held, hold_environment
from envdoctor.adapters.apply.installer_child import ChildFailed
from envdoctor.adapters.apply.installers import Installer
from envdoctor.adapters.apply.journal import Journal, own_folder, read_journal
from envdoctor.adapters.apply.package_steps import PackageSteps
from envdoctor.adapters.apply.paths import resolve_inside
from envdoctor.adapters.apply.restore import Restored, roll_back
from envdoctor.adapters.apply.snapshot import save_listing, take_listing
from envdoctor.model.dataclass import dataclass
from envdoctor.model.plan import Plan, StepOutcome
from envdoctor.model.step import (
    BuildSdist,
    CreateEnvironment,
    DownloadFiles,
    InstallFromLock,
    PatchFile,
    PatchLater,
    RemoveDistribution,
    RemoveFile,
    Step,
    WriteRecord,
    WriteStartup,
    WriteStub,
    WriteVariables,
)
from envdoctor.ports import DownloadFailed, Progress

__all__ = ["Applied", "apply_plan", "write_project_files"]


@dataclass(frozen=True, slots=True)
class Applied:
    """How the carrying out of a plan went."""

    outcomes: tuple[StepOutcome, ...]
    journal: str
    restored: Restored | None = None
    """What taking back did, where a step failed."""
    failure: str | None = None
    refused: bool = False
    """It failed because a file or an archive was not what the plan says; nothing was at fault on this machine."""
    network: bool = False
    """It failed because files could not be fetched."""


def apply_plan(plan: Plan, held: Held, installer: Installer, fetch: Fetch, progress: Progress) -> Applied:
    """Carry out a plan. Whatever goes wrong, Ctrl-C included, the environment is left as it was before.

    Raises KeyboardInterrupt (after taking back), and OSError only where taking back fails too.
    """
    environment = held.environment
    created = any(isinstance(step, CreateEnvironment) for step in plan.steps)
    journal: Journal | None = None
    failure: BaseException
    try:
        try:
            with deferred():
                journal = Journal.create(environment, _begin(plan, held, created=created))
            treatment = _Treatment(plan, held, journal, installer, fetch, progress, created=created)
            for step in plan.steps:
                treatment.take(step)
            treatment.finish()
        finally:
            if journal is not None:
                journal.close()
        return Applied(tuple(treatment.outcomes), journal.id)
    except (ChildFailed, DownloadFailed, WrongFile, NotAsExpected, OSError) as error:
        if journal is None:
            return Applied((), "", Restored(), _reason(error))
        failure = error
    except BaseException:
        if journal is None:
            raise
        with shielded():
            roll_back(environment, read_journal(journal.folder), Path(plan.project))
        raise
    with shielded():
        restored = roll_back(environment, read_journal(journal.folder), Path(plan.project))
    return Applied(
        outcomes=tuple(treatment.outcomes),
        journal=journal.id,
        restored=restored,
        failure=_reason(failure),
        refused=isinstance(failure, WrongFile | NotAsExpected),
        network=isinstance(failure, DownloadFailed),
    )


def _begin(plan: Plan, held: Held, *, created: bool) -> dict[str, object]:
    return {
        "environment": plan.environment,
        "project": plan.project,
        "profile": plan.profile,
        "lock": plan.lock_digest,
        "created": created,
        "folder_made": held.folder_made,
        "follows": plan.follows,
        "group": plan.group,
        "summary": [step.sentence for step in plan.steps],
    }


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError):
        place = f" (`{error.filename}`)" if error.filename else ""
        return f"{error.strerror or error}{place}"
    return str(error)


class _Treatment:
    """One plan on its way."""

    def __init__(
        self,
        plan: Plan,
        held: Held,
        journal: Journal,
        installer: Installer,
        fetch: Fetch,
        progress: Progress,
        *,
        created: bool,
    ) -> None:
        self.plan = plan
        self.journal = journal
        self.progress = progress
        self.outcomes: list[StepOutcome] = []
        self.packages = PackageSteps(held, journal, installer, fetch, progress, created=created)
        self.files = FileSteps(held.environment, Path(plan.project), journal, self.packages.site)

    def take(self, step: Step) -> None:
        """Carry out one step."""
        started = time.perf_counter()
        self.journal.write("step-begin", step=step.id, kind=step.kind, sentence=step.sentence)
        self.progress.start(step.kind)
        try:
            output = self._do(step)
        except BaseException as error:
            output = error.result.output if isinstance(error, ChildFailed) else ""
            with suppress(OSError):
                # A full disk is no reason to lose what went wrong.
                self.journal.write("step-failed", step=step.id, reason=str(error), output=output)
            self.outcomes.append(StepOutcome(step.id, "failed", time.perf_counter() - started, str(error), output))
            raise
        finally:
            self.progress.finish(step.kind)
        self.journal.write("step-end", step=step.id, output=output)
        self.outcomes.append(StepOutcome(step.id, "done", time.perf_counter() - started, output=output))

    def finish(self) -> None:
        """Close the journal: from here on the fix is done."""
        if self.packages.touched:
            environment = Path(self.plan.environment)
            save_listing(self.journal.folder / "after.json", take_listing(environment))
        if hasattr(os, "sync"):
            # What installers wrote must be on disk before the journal says that it is.
            os.sync()
        self.journal.write("end")
        self.packages.clean_up()

    def _do(self, step: Step) -> str:
        """Return an installer's output, empty for other steps."""
        if isinstance(step, DownloadFiles):
            return self.packages.download(step)
        if isinstance(step, CreateEnvironment):
            return self.packages.create(step)
        if isinstance(step, BuildSdist):
            return self.packages.build(step)
        if isinstance(step, RemoveDistribution):
            return self.packages.remove(step, self._leaving())
        if isinstance(step, InstallFromLock):
            return self.packages.install(step, self._leaving())
        return self._write(step)

    def _write(
        self, step: PatchFile | RemoveFile | PatchLater | WriteStub | WriteStartup | WriteVariables | WriteRecord
    ) -> str:
        actions: dict[type, Callable[..., None]] = {
            PatchFile: self.files.patch,
            RemoveFile: self.files.remove,
            PatchLater: self.files.patch_later,
            WriteStub: self.files.stub,
            WriteStartup: self.files.startup,
            WriteVariables: self.files.variables,
            WriteRecord: self.files.record,
        }
        actions[type(step)](step)
        return ""

    def _leaving(self) -> set[str]:
        """Return the distributions that any step of the plan takes away or replaces."""
        names: set[str] = set()
        for step in self.plan.steps:
            if isinstance(step, RemoveDistribution):
                names.add(step.name)
            if isinstance(step, InstallFromLock):
                names.update(file.name for file in step.files)
        return names


def write_project_files(
    project: Path,
    files: Mapping[str, bytes],
    summary: tuple[str, ...],
    *,
    say: Callable[[str], None],
    holds: Callable[[], bool],
) -> bool:
    """Write files of a project, relative to it; return whether they are written and ``holds`` says so.

    Where it does not, or anything is raised on the way, every file is as before. Raises OSError, Busy, PathEscape.
    """
    paths = {name: resolve_inside(project, name) for name in files}
    with hold_environment(project, wait_s=0, say=say):
        # What is kept here is for this machine: no repository takes it up.
        ignored = own_folder(project) / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n", encoding="utf-8")
        journal = Journal.create(project, {"profile": None, "created": False, "summary": list(summary)})
        done = False
        try:
            for name, data in files.items():
                journal.write_file("repair", "project", name, paths[name], data, hashlib.sha256(data).hexdigest())
            done = holds()
            if done:
                journal.write("end")
        finally:
            journal.close()
            if not done:
                with shielded():
                    roll_back(project, read_journal(journal.folder), project)
    return done
