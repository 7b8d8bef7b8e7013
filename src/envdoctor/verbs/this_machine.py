"""What ``fix`` must know of this machine, put together from the adapters."""

from __future__ import annotations

import os
import platform
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.adapters.apply.build_needs import disk_free, missing_needs
from envdoctor.adapters.apply.holding import is_blank
from envdoctor.adapters.apply.installers import Installer, NoInstaller, choose_installer, legacy_metadata_refused
from envdoctor.adapters.apply.interpreters import PythonFacts, ask_python, find_python, python_of
from envdoctor.adapters.apply.journal import fault_of_own
from envdoctor.adapters.apply.records import read_record
from envdoctor.model.environment import (
    EnvironmentProblem,
    EnvironmentProblemKind,
    InstalledDistribution,
    InstalledFile,
    is_code,
    of_the_system,
)
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.step import PatchFile, RemoveFile, WriteStub
from envdoctor.model.target import Arch, OperatingSystem, Target
from envdoctor.planning.fix_refusals import EnvironmentState

if TYPE_CHECKING:
    from envdoctor.model.candidate import DistributionFile
    from envdoctor.model.plan import PatchPreview
    from envdoctor.model.profile import Patch
    from envdoctor.ports import ArchiveReader

__all__ = ["ThisMachine"]

_SYSTEMS = {"win32": OperatingSystem.WINDOWS, "linux": OperatingSystem.LINUX, "darwin": OperatingSystem.MACOS}


class ThisMachine:
    """What planning a treatment must know of this machine; nothing in here changes anything."""

    def __init__(
        self,
        project: Path,
        archives: ArchiveReader | None,
        *,
        choice: str = "auto",
        python: Path | None = None,
        default_index: str | None = None,
    ) -> None:
        self.project = project
        self.archives = archives
        self.choice = choice
        self.python = python
        self.default_index = default_index
        self._found: dict[tuple[int, int], PythonFacts | None] = {}

    def look(self, environment: str) -> EnvironmentState:
        """Return what is at a place."""
        from envdoctor.adapters.probe.environment_files import with_files
        from envdoctor.adapters.probe.environment_layout import plain_path
        from envdoctor.adapters.probe.installed_environment import EnvironmentNotFound, read_environment

        path = Path(environment)
        fault = fault_of_own(path)
        if fault is not None:
            return EnvironmentState(environment, exists=True, fault=fault)
        if path.is_symlink() and not path.exists():
            return EnvironmentState(environment, exists=True, fault=f"`{environment}` is a link that leads nowhere")
        if is_blank(path):
            return EnvironmentState(environment, exists=False)
        try:
            read = read_environment(path)
        except EnvironmentNotFound as error:
            return EnvironmentState(environment, exists=True, fault=str(error))
        facts = ask_python(python_of(path))
        if facts is None:
            fault = f"`{environment}` has no Python that runs; remove it, or name another place"
        elif facts.managed:
            fault = (
                f"`{environment}` belongs to the operating system, which does not want packages put into it (PEP 668)"
            )
        elif any(item.kind is EnvironmentProblemKind.FOREIGN_INTERPRETER for item in read.problems):
            fault = f"the Python in `{environment}` is another environment's; remove it, or name another place"
        own = [item for item in read.distributions if Path(item.location).is_relative_to(plain_path(environment))]
        record = read_record(path)
        # A patch may have taken a file away on purpose.
        removed = {item.path for item in record.patched if item.state == "patched"} if record is not None else set()
        patched = {item.path for item in record.patched} if record is not None else set()
        own = list(with_files(own))
        return EnvironmentState(
            environment,
            exists=True,
            python=facts.python if facts else read.python,
            python_full=facts.full if facts else None,
            distributions=tuple(own),
            brought=record.brought if record is not None else {},
            lost=frozenset(item.subject for item in read.problems if item.loses_code and item.path not in removed),
            edited=_edited(read.problems, own, patched),
            site_packages=facts.purelib if facts else "",
            fault=fault,
        )

    def damaged(self, state: EnvironmentState, names: Collection[str]) -> frozenset[str]:
        """Return those of the installed distributions of which a library has another content than recorded.

        A module with another one may have been edited on purpose.
        """
        from envdoctor.adapters.probe.environment_contents import verify_contents

        owners = Counter(file.path for item in state.distributions for file in item.files or ())
        libraries = [
            replace(item, files=tuple(file for file in item.files or () if _is_library(file, owners)))
            for item in state.distributions
            if item.name in names
        ]
        found = verify_contents(libraries, ()).problems
        return frozenset(item.subject for item in found if item.kind is not EnvironmentProblemKind.UNREADABLE_FILE)

    def find_python(self, wanted: Sequence[tuple[int, int]]) -> tuple[str, tuple[int, int]] | None:
        """Return an interpreter of the first wanted version that there is."""
        for python in wanted:
            if python not in self._found:
                self._found[python] = find_python((python,), self.python)
            facts = self._found[python]
            if facts is not None:
                return facts.executable, python
        return None

    def full_version(self, python: tuple[int, int]) -> str | None:
        """Return the version with its patch release of an interpreter that was found."""
        facts = self._found.get(python)
        return facts.full if facts is not None else None

    def installer(self, state: EnvironmentState) -> tuple[str, bool]:
        """Return the installer's name, and whether it refuses invalid metadata. Raises RuntimeError."""
        try:
            installer = self.chosen_installer(state)
        except NoInstaller as error:
            raise RuntimeError(str(error)) from None
        facts = ask_python(python_of(Path(state.path))) if state.exists else None
        versions = [facts.pip] if facts is not None else [item.bundled_pip for item in self._found.values() if item]
        strict = installer.name == "pip" and any(legacy_metadata_refused(version) for version in versions)
        return installer.name, strict

    def chosen_installer(self, state: EnvironmentState) -> Installer:
        """Return the installer itself. Raises NoInstaller."""
        facts = ask_python(python_of(Path(state.path))) if state.exists else None
        return choose_installer(self.choice, facts, self.default_index)

    def preview(
        self,
        patches: Sequence[Patch],
        arriving: Sequence[DistributionFile],
        state: EnvironmentState,
        *,
        builds: bool,
        leaving: Collection[str] = (),
    ) -> PatchPreview:
        """Apply patches in memory, to the project and to what site-packages will hold."""
        from envdoctor.adapters.apply.former import former_patches
        from envdoctor.adapters.apply.preview import name_of, preview_patches
        from envdoctor.adapters.apply.trees import FolderTree, LayeredTree, Tree, WheelTree

        site: list[Tree] = []
        if self.archives is not None and arriving:
            site.append(WheelTree(arriving, self.archives))
        facts = ask_python(python_of(Path(state.path))) if state.exists else None
        if facts is not None:
            site.append(FolderTree(Path(facts.purelib)))
        trees: dict[str, Tree] = {"project": FolderTree(self.project), "site-packages": LayeredTree(site)}
        roots = {"project": self.project, **({"site-packages": Path(facts.purelib)} if facts is not None else {})}
        former, changed = former_patches(Path(state.path), roots, leaving)
        made = preview_patches(patches, trees, built_later=builds, former=former)
        wanted = {name_of(patch) for patch in patches}
        left = tuple(
            f"`{row.path}` was changed after a fix had patched it ({', '.join(row.patches)}), and is left as it is"
            for row in changed
            if not wanted & set(row.patches)
        )
        refused = (*made.refusals, *_unwritable(made, self.project))
        return replace(made, refusals=refused, skipped=(*made.skipped, *left))

    def stubs(
        self,
        wanted: Sequence[WriteStub],
        arriving: Sequence[DistributionFile],
        state: EnvironmentState,
        leaving: Collection[str],
    ) -> tuple[tuple[WriteStub, ...], tuple[Refusal, ...]]:
        """Return the stand-ins to write, and why others must not be."""
        from envdoctor.adapters.apply.preview import preview_stubs
        from envdoctor.adapters.apply.trees import FolderTree, LayeredTree, WheelTree

        if not wanted:
            return (), ()
        wheels = [WheelTree(arriving, self.archives)] if self.archives is not None and arriving else []
        facts = ask_python(python_of(Path(state.path))) if state.exists else None
        here = FolderTree(Path(facts.purelib)) if facts is not None else None
        owners = {file.path: str(item.name) for item in state.distributions for file in item.files or ()}
        return preview_stubs(wanted, LayeredTree(wheels), here, owners=owners, leaving=leaving)

    def missing_needs(self, needs: Sequence[str]) -> tuple[str, ...]:
        """Return what of a build's needs is not here."""
        return missing_needs(needs)

    def disk_free(self, environment: str) -> int | None:
        """Return the free bytes."""
        return disk_free(Path(environment))

    def other_machine(self, target: Target) -> str | None:
        """Return how this machine differs from the target, None where it is one."""
        system = _SYSTEMS.get(sys.platform)
        x86 = platform.machine().lower() in ("x86_64", "amd64")
        if target.os is system and (target.arch is Arch.X86_64) == x86:
            return None
        here = f"{system.value if system else sys.platform} {platform.machine()}"
        return f"the target is {target.os.value} {target.arch.value}, and this machine is {here}"


def _unwritable(made: PatchPreview, project: Path) -> Iterator[Refusal]:
    """Yield a refusal for each file of the project that would be patched and cannot be written."""
    for step in made.steps:
        if isinstance(step, PatchFile | RemoveFile) and step.root == "project":
            folder = (project / step.path).parent
            if folder.is_dir() and not os.access(folder, os.W_OK):
                message = f"`{step.path}` would be patched, and `{folder}` cannot be written to"
                yield Refusal(RefusalKind.PATH, step.path, message, "make it writable, or copy the project")


def _edited(
    problems: Iterable[EnvironmentProblem], distributions: Sequence[InstalledDistribution], patched: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return the modules of another size than recorded that no fix has patched, by distribution."""
    owners = Counter(file.path for item in distributions for file in item.files or ())
    # conda rewrites files, and so do Linux distributions.
    whole = {item.name for item in distributions if item.installer != "conda" and not of_the_system(item)}
    found: dict[str, tuple[str, ...]] = {}
    for item in problems:
        changed = item.kind is EnvironmentProblemKind.CHANGED_FILE and item.path.endswith(".py")
        if changed and item.subject in whole and owners[item.path] == 1 and item.path not in patched:
            found[item.subject] = (*found.get(item.subject, ()), item.path)
    return found


def _is_library(file: InstalledFile, owners: Mapping[str, int]) -> bool:
    """Return whether a file is a library of one distribution; of two, one has the other's content."""
    return is_code(file.path) and not file.path.endswith(".py") and owners[file.path] == 1
