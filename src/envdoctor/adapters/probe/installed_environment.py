"""Read an installed environment: a venv, a conda environment, a bare site-packages folder, or a Python executable.

The folder is read first and tells most; the interpreter, where there is one, is asked at the same time in a child.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from envdoctor.adapters.probe.environment_files import Overview, look_over, verify_files, with_files
from envdoctor.adapters.probe.environment_isolation import (
    foreign_scripts,
    path_modules,
    path_programs,
    pip_settings,
    relevant_variables,
)
from envdoctor.adapters.probe.environment_layout import (
    EnvironmentNotFound,
    Layout,
    base_problems,
    find_layout,
    may_be_python,
    of_another,
    plain_path,
    without_site,
)
from envdoctor.adapters.probe.environment_scan import (
    Scan,
    platform_of_tags,
    python_of_tags,
    read_conda_packages,
    scan_folder,
)
from envdoctor.adapters.probe.interpreter import InterpreterAnswer, Questioning
from envdoctor.model.compatibility import not_judged
from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import (
    EnvironmentKind,
    EnvironmentProblem,
    EnvironmentProblemKind,
    InstalledDistribution,
    InstalledEnvironment,
    Interpreter,
    Isolation,
    Platform,
)

__all__ = ["EnvironmentNotFound", "read_environment"]

_OWN_PYTHON = (EnvironmentKind.VENV, EnvironmentKind.CONDA)
_PLATFORM_SYSTEM = {"win32": "Windows", "linux": "Linux", "darwin": "Darwin"}


def read_environment(
    path: str | Path,
    *,
    files: bool = False,
    ask: bool = True,
    timeout_s: float = 5.0,
    environ: Mapping[str, str] | None = None,
) -> InstalledEnvironment:
    """Read the environment at ``path``: its folder, or the Python executable in it.

    Every RECORD is compared with the disk: existence and size, or in large environments the sizes of libraries alone.
    ``files``: keep the file list of each distribution;
    without it, only of those that share a folder with another one. ``ask``: run the
    interpreter, for at most about ``1.5 * timeout_s`` seconds; nothing in the environment is imported by this process.
    ``environ``: the variables that reach the interpreter; this process's own by default.
    Raises EnvironmentNotFound.
    """
    variables = os.environ if environ is None else environ
    layout = find_layout(Path(plain_path(str(Path(path).absolute()))))
    asking = _Asking(layout, ask, timeout_s, environ)
    scans = {str(folder): scan_folder(str(folder)) for folder in layout.site_packages}
    # Most often nothing else is on its path: the disk is looked at while the interpreter starts.
    own = _merge(scans.values()).distributions
    early = look_over(own) if not files else None
    answer = asking.wait()
    if answer.facts is None and os.path.isfile(path) and not may_be_python(Path(path)):
        raise EnvironmentNotFound(str(path), "is not a Python interpreter")
    if os.path.isdir(path) and "PYTHONHOME" not in variables:
        layout, answer = _of_its_own(layout, answer)
    layout = _behind_shim(layout, answer)
    folders = _folders(layout, answer)
    for folder, counts_pth in folders.items():
        if folder not in scans:
            scans[folder] = scan_folder(folder, pth=counts_pth)
    found = _merge(scans[folder] for folder in folders)
    distributions, problems = _with_file_lists(found, early if found.distributions == own else None, files=files)
    facts = answer.facts or {}
    told = _told(layout, facts)
    python, full = _python_version(layout, facts, distributions)
    return InstalledEnvironment(
        distributions=distributions,
        source="probe" if answer.facts and not answer.degraded else "folder",
        root=told.prefix or str(layout.root),
        python=python,
        python_full=full,
        executable=str(layout.executable) if layout.executable else None,
        site_packages=tuple(folders),
        search_path=() if answer.degraded else tuple(str(item) for item in facts.get("path", ())),
        kind=layout.kind,
        venv=layout.venv,
        told=told,
        built_for=Platform() if facts else platform_of_tags(found.distributions),
        isolation=_isolation(layout, told, variables),
        pth=tuple(found.pth),
        conda_packages=read_conda_packages(layout.root) if layout.kind is EnvironmentKind.CONDA else (),
        problems=(
            *answer.problems,
            *not_judged(str(layout.executable or layout.root), python),
            *base_problems(layout, facts),
            *(without_site(layout, facts) if layout.kind in _OWN_PYTHON else ()),
            *_script_problems(layout),
            *problems,
        ),
    )


class _Asking:
    """The interpreter's answer, on its way while the folder is read."""

    def __init__(self, layout: Layout, ask: bool, timeout_s: float, environ: Mapping[str, str] | None) -> None:
        self.given = InterpreterAnswer(None)
        self.questioning: Questioning | None = None
        if ask and layout.executable is not None and layout.runnable:
            self.questioning = Questioning(str(layout.executable), timeout_s=timeout_s, environment=environ)
        elif ask and layout.kind in _OWN_PYTHON:
            detail = "its Python is for Windows" if layout.executable else "there is no Python executable in it"
            problem = EnvironmentProblem(EnvironmentProblemKind.NO_INTERPRETER, str(layout.root), detail)
            self.given = InterpreterAnswer(None, (problem,))

    def wait(self) -> InterpreterAnswer:
        return self.questioning.answer() if self.questioning is not None else self.given


@dataclass(slots=True)
class _Found:
    distributions: list[InstalledDistribution] = field(default_factory=list)
    problems: list[EnvironmentProblem] = field(default_factory=list)
    pth: list[tuple[str, int, str]] = field(default_factory=list)


def _of_its_own(layout: Layout, answer: InterpreterAnswer) -> tuple[Layout, InterpreterAnswer]:
    """Return both without what another environment's Python says of that one, and the Python itself."""
    if answer.facts is None or answer.degraded or layout.kind is EnvironmentKind.FOLDER:
        return layout, answer
    foreign = tuple(of_another(layout, answer.facts))
    if not foreign:
        return layout, answer
    return replace(layout, executable=None), InterpreterAnswer(None, (*answer.problems, *foreign))


def _behind_shim(layout: Layout, answer: InterpreterAnswer) -> Layout:
    """Return the layout that the interpreter itself names, where the program stood for one somewhere else."""
    if layout.site_packages or answer.facts is None:
        return layout
    try:
        behind = find_layout(Path(str(answer.facts["prefix"])))
    except EnvironmentNotFound:
        return layout
    return replace(behind, executable=layout.executable)


def _folders(layout: Layout, answer: InterpreterAnswer) -> dict[str, bool]:
    """Return the folders to read, in the order in which imports see them, and whether their ``.pth`` files count."""
    own = [str(folder) for folder in layout.site_packages]
    if answer.facts is None or answer.degraded:
        return dict.fromkeys(own, True)
    facts = answer.facts
    sites = {os.path.normcase(str(item)) for item in (*(facts.get("site_packages") or ()), facts.get("user_site"))}
    stdlib = str(facts.get("stdlib") or "")
    folders: dict[str, bool] = {}
    seen: set[str] = set()
    for entry in (*map(str, facts["path"]), *own):
        # `lib64` is a link to `lib` in many a venv.
        real = os.path.realpath(entry)
        own_library = entry == stdlib or entry.endswith(("lib-dynload", "DLLs", ".zip"))
        if own_library or real in seen or not os.path.isdir(entry):
            continue
        seen.add(real)
        same = next((folder for folder in own if os.path.realpath(folder) == real), entry)
        folders[same] = same in own or os.path.normcase(entry) in sites
    return folders


def _merge(scans: Iterable[Scan]) -> _Found:
    found = _Found()
    for scan in scans:
        found.distributions += scan.distributions
        found.problems += scan.problems
        found.pth += scan.pth
    return found


def _with_file_lists(
    found: _Found, early: Overview | None, *, files: bool
) -> tuple[tuple[InstalledDistribution, ...], tuple[EnvironmentProblem, ...]]:
    if files:
        distributions = tuple(with_files(found.distributions))
        return distributions, (*found.problems, *verify_files(distributions))
    overview = early or look_over(found.distributions)
    distributions = tuple(with_files(found.distributions, overview.sharing))
    return distributions, (*found.problems, *overview.problems)


def _script_problems(layout: Layout) -> Iterator[EnvironmentProblem]:
    return foreign_scripts(layout.root) if layout.kind in _OWN_PYTHON else iter(())


def _python_version(
    layout: Layout, facts: Mapping[str, Any], distributions: tuple[InstalledDistribution, ...]
) -> tuple[tuple[int, int] | None, str | None]:
    if facts:
        version = facts["version"]
        return (version[0], version[1]), ".".join(str(part) for part in version[:3])
    return layout.python or python_of_tags(distributions), layout.python_full


def _told(layout: Layout, facts: Mapping[str, Any]) -> Interpreter:
    if not facts:
        return Interpreter(platform="win32" if any(item.parent.name == "Lib" for item in layout.site_packages) else "")
    return Interpreter(
        platform=str(facts["platform"]),
        machine=str(facts.get("machine") or ""),
        markers=_markers(facts),
        prefix=str(facts.get("prefix") or ""),
        user_site=str(facts.get("user_site") or "") if facts.get("user_site_enabled") is True else "",
        externally_managed=facts.get("externally_managed") is True,
        free_threaded=facts.get("free_threaded") is True,
        glibc=str(facts.get("glibc") or ""),
    )


def _isolation(layout: Layout, told: Interpreter, variables: Mapping[str, str]) -> Isolation | None:
    if layout.kind is EnvironmentKind.FOLDER or told.platform not in ("", sys.platform):
        # What may come from another machine is not judged by this one's variables.
        return None
    settings = pip_settings(variables, told.prefix or str(layout.root), told.platform or sys.platform)
    return Isolation(
        relevant_variables(variables),
        path_programs(variables),
        settings,
        path_modules(variables),
        doctor=sys.prefix,
    )


def _markers(facts: Mapping[str, Any]) -> dict[str, str]:
    version = [str(part) for part in facts["version"]]
    full = ".".join(version)
    release = facts.get("release") or ["final", 0]
    if release[0] != "final":
        # PEP 508: 3.15.0a2 is written with the first letter of the level.
        full += f"{str(release[0])[0]}{release[1]}"
    implementation = str(facts.get("implementation") or "cpython")
    own = ".".join(str(part) for part in facts.get("implementation_version") or ())
    platform = str(facts["platform"])
    return {
        "implementation_name": implementation,
        "implementation_version": own if implementation != "cpython" and own else full,
        "os_name": str(facts.get("os_name") or ""),
        "platform_machine": str(facts.get("machine") or ""),
        "platform_release": str(facts.get("system_release") or ""),
        "platform_system": _PLATFORM_SYSTEM.get(platform, platform),
        "platform_version": str(facts.get("system_version") or ""),
        "platform_python_implementation": {"cpython": "CPython", "pypy": "PyPy"}.get(implementation, implementation),
        "python_full_version": full,
        "python_version": ".".join(version[:2]),
        "sys_platform": platform,
    }
