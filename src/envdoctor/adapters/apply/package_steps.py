"""The steps that installers carry out, between a snapshot and the end."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Collection
from pathlib import Path

from envdoctor.adapters.apply.downloads import Fetch, WrongFile, download_all
from envdoctor.adapters.apply.holding import Held
from envdoctor.adapters.apply.installer_child import ChildFailed, installer_environment, run_child
from envdoctor.adapters.apply.installers import Installer
from envdoctor.adapters.apply.interpreters import PythonFacts, ask_python, python_of
from envdoctor.adapters.apply.journal import Journal
from envdoctor.adapters.apply.snapshot import LeadsOut, save_listing, take_listing, touched_files
from envdoctor.model.step import BuildSdist, CreateEnvironment, DownloadFiles, InstallFromLock, RemoveDistribution
from envdoctor.ports import Progress

__all__ = ["PackageSteps"]


class PackageSteps:
    """Downloads, environment, builds, removals, installs."""

    def __init__(
        self, held: Held, journal: Journal, installer: Installer, fetch: Fetch, progress: Progress, *, created: bool
    ) -> None:
        self.held = held
        self.environment = held.environment
        self.journal = journal
        self.installer = installer
        self.fetch = fetch
        self.progress = progress
        self.created = created
        self.touched = created
        """Whether the environment's own files may have changed."""
        self._written: list[tuple[str, str]] = []
        self._built: dict[str, Path] = {}
        self._facts: PythonFacts | None = None

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return python_of(self.environment)

    def facts(self) -> PythonFacts:
        """Return what the environment's interpreter says. Raises OSError where it does not run."""
        if self._facts is None:
            self._facts = ask_python(self.python)
        if self._facts is None:
            raise OSError(f"`{self.python}` does not run")
        return self._facts

    def site(self) -> Path:
        """Return the environment's site-packages."""
        return Path(self.facts().purelib)

    def download(self, step: DownloadFiles) -> str:
        """Fetch and check all files."""
        activity = "downloading MB"
        self.progress.start(activity, max(1, step.total // 1_000_000))
        done = told = 0

        def advance(count: int, note: str) -> None:
            nonlocal done, told
            done += count
            if done // 1_000_000 > told:
                self.progress.advance(activity, done // 1_000_000 - told, note)
                told = done // 1_000_000

        try:
            written = download_all(step.files, self.journal.folder / "files", self.fetch, advance)
        finally:
            self.progress.finish(activity)
        self._written = [target for targets in written.values() for target in targets]
        return ""

    def create(self, step: CreateEnvironment) -> str:
        """Make the environment."""
        output = self._run(self.installer.create(self.environment, step.interpreter), "making the environment")
        self._facts = None
        self.facts()
        return output

    def build(self, step: BuildSdist) -> str:
        """Build one wheel."""
        folder = self.journal.folder / "built" / step.file.name
        folder.mkdir(parents=True, exist_ok=True)
        sdist = self.journal.folder / "files" / step.file.filename
        argv = self.installer.build(self.python, sdist, folder, self.journal.folder / "cache")
        output = self._run(argv, f"building `{step.file.name}`", dict(step.variables))
        wheels = list(folder.glob("*.whl"))
        if len(wheels) != 1:
            raise WrongFile(f"building `{step.file.name}` gave {len(wheels)} wheels")
        self._built[step.file.filename] = wheels[0]
        return output

    def remove(self, step: RemoveDistribution, leaving: Collection[str]) -> str:
        """Take a distribution away."""
        self._snapshot(leaving)
        return self._run(self.installer.remove(self.python, [step.name]), f"removing `{step.name}`")

    def install(self, step: InstallFromLock, leaving: Collection[str]) -> str:
        """Install the plan's files, hashes checked once more by the installer."""
        self._snapshot(leaving)
        folders = [self.journal.folder / "files", *{path.parent for path in self._built.values()}]
        lines = []
        for file in step.files:
            built = self._built.get(file.filename)
            if built is not None:
                algorithm, digest = "sha256", hashlib.sha256(built.read_bytes()).hexdigest()
            else:
                algorithm, digest = file.best_hash or ("", "")
            lines.append(f"{file.name}=={file.version} --hash={algorithm}:{digest}\n")
        requirements = self.journal.folder / "requirements.txt"
        requirements.write_text("".join(lines), encoding="utf-8")
        argv = self.installer.install(self.python, requirements, folders, self.journal.folder / "cache")
        return self._run(argv, "the install")

    def clean_up(self) -> None:
        """Remove downloads and caches; the installed files stay."""
        for name in ("files", "cache", "built"):
            shutil.rmtree(self.journal.folder / name, ignore_errors=True)

    def _snapshot(self, leaving: Collection[str]) -> None:
        """Before the first change of packages: note all that is there, and copy what may change."""
        if self.touched:
            return
        listing = take_listing(self.environment)
        written = [*self._written]
        for path in self._built.values():
            from envdoctor.adapters.apply.downloads import wheel_targets

            written += wheel_targets(path)
        try:
            names = touched_files(self.environment, self.facts(), listing, leaving, written)
        except LeadsOut as error:
            raise WrongFile(f"{error}; nothing was changed") from None
        activity = "keeping copies"
        self.progress.start(activity, len(names))
        copies = {}
        for name in sorted(names):
            copies[name] = self.journal.backups.keep(self.environment / name)
            self.progress.advance(activity)
        self.progress.finish(activity)
        save_listing(self.journal.folder / "before.json", listing, copies)
        self.journal.write("packages-begin", files=len(listing), copies=len(copies))
        self.touched = True

    def _run(self, argv: list[str], what: str, variables: dict[str, str] | None = None) -> str:
        def line(text: str) -> None:
            self.progress.advance(what, 1, text)

        self.progress.start(what)
        try:
            result = run_child(argv, environment=installer_environment(variables), on_line=line, hold=self.held.lock)
        finally:
            self.progress.finish(what)
        if result.code != 0:
            raise ChildFailed(what, result)
        return result.output
