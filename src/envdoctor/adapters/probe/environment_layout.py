"""What kind of environment a folder or a Python executable is, and whether a venv still stands on its Python."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from envdoctor.adapters.probe.environment_metadata import read_text
from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import EnvironmentKind, EnvironmentProblem, EnvironmentProblemKind, Venv

__all__ = [
    "EnvironmentNotFound",
    "Layout",
    "base_problems",
    "find_layout",
    "of_another",
    "plain_path",
    "read_pyvenv",
    "without_site",
]

_PREFIX = re.compile(r"\\\\\?\\(?:(UNC)\\|(?=[A-Za-z]:))", re.IGNORECASE)
_NAMED = re.compile(r"(?:python|pypy)(\d)\.(\d+)t?(?:\.exe)?$")


def base_problems(layout: Layout, facts: Mapping[str, Any]) -> Iterator[EnvironmentProblem]:
    """Yield ``base-gone`` or ``base-changed`` for a venv; ``facts`` are its interpreter's answer, or empty."""
    if layout.kind is not EnvironmentKind.VENV:
        return
    made_for = layout.python
    if facts:
        runs = (facts["version"][0], facts["version"][1])
        if made_for is not None and runs != made_for:
            yield _changed(layout, made_for, runs)
        return
    executable = layout.executable
    if executable is not None and not layout.runnable:
        return
    if executable is not None and executable.is_symlink() and not os.path.exists(executable):
        yield EnvironmentProblem(
            EnvironmentProblemKind.BASE_GONE, str(layout.root), f"`{executable}` points to `{_target(executable)}`"
        )
        return
    home = layout.pyvenv.get("home", "")
    # A venv that was carried here from another system names a folder that cannot be here.
    if executable is not None and home and not os.path.isdir(home):
        yield EnvironmentProblem(EnvironmentProblemKind.BASE_GONE, str(layout.root), f"its base `{home}` is not there")
        return
    named = _NAMED.match(Path(os.path.realpath(executable)).name) if executable is not None else None
    if named and made_for is not None and (int(named[1]), int(named[2])) != made_for:
        yield _changed(layout, made_for, (int(named[1]), int(named[2])))


def of_another(layout: Layout, facts: Mapping[str, Any]) -> Iterator[EnvironmentProblem]:
    """Yield a problem where the Python in a folder has neither its prefix nor its packages there.

    A Python may have its prefix elsewhere and look for packages here all the same (Homebrew).
    """
    prefix = Path(str(facts["prefix"]))
    searched = {os.path.realpath(str(entry)) for entry in facts["path"]}
    if _same(prefix, layout.root) or any(os.path.realpath(site) in searched for site in layout.site_packages):
        return
    detail = f"it is that of `{prefix}`, whose packages it sees, and not those that are here"
    if os.path.isdir(prefix):
        yield EnvironmentProblem(EnvironmentProblemKind.FOREIGN_INTERPRETER, str(layout.root), detail)


def without_site(layout: Layout, facts: Mapping[str, Any]) -> Iterator[EnvironmentProblem]:
    """Yield a problem where the folder that an environment's Python has for packages is gone."""
    if layout.site_packages or (layout.kind is not EnvironmentKind.VENV and not facts):
        return
    named = [str(item) for item in facts.get("site_packages") or ()]
    own = [item for item in named if Path(item).is_relative_to(str(facts.get("prefix") or layout.root))]
    if not any(map(os.path.isdir, own)):
        place = f"`{own[0]}` is not there" if own else "no site-packages folder is in it"
        yield EnvironmentProblem(EnvironmentProblemKind.NO_SITE_PACKAGES, str(layout.root), place)


def _changed(layout: Layout, made_for: tuple[int, int], runs: tuple[int, int]) -> EnvironmentProblem:
    detail = f"made for Python {made_for[0]}.{made_for[1]}, its base is now Python {runs[0]}.{runs[1]}"
    return EnvironmentProblem(EnvironmentProblemKind.BASE_CHANGED, str(layout.root), detail)


def _target(link: Path) -> str:
    try:
        return os.readlink(link)  # noqa: PTH115 - the text of the link, not a Path of it
    except OSError:
        return "?"


_PYTHON_DIRECTORY = re.compile(r"(?:python|pypy)(\d)\.(\d+)t?$")
_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})")
_INTERPRETER = re.compile(r"(?:python|pypy|graalpy)[\d.]*(?:[a-z]*)(?:-\w+)*(?:\.exe)?$")
_MARKS = (".dist-info", ".egg-info", ".egg-link")
_EXECUTABLES = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe", "bin/pypy3")


class EnvironmentNotFound(ValueError):
    """A path that is neither an environment, nor a site-packages folder, nor a Python executable."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"`{path}` {reason}")
        self.path = path
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Layout:
    """What the folder of an environment tells."""

    root: Path
    kind: EnvironmentKind
    site_packages: tuple[Path, ...] = ()
    executable: Path | None = None
    python: tuple[int, int] | None = None
    python_full: str | None = None
    pyvenv: Mapping[str, str] = field(default_factory=dict)

    @property
    def runnable(self) -> bool:
        """Return whether its Python is one that this system can start at all."""
        return self.executable is not None and (self.executable.suffix != ".exe" or os.name == "nt")

    @property
    def venv(self) -> Venv | None:
        """Return what ``pyvenv.cfg`` says, None where there is none."""
        if self.kind is not EnvironmentKind.VENV:
            return None
        system_site = self.pyvenv.get("include-system-site-packages", "").lower() == "true"
        return Venv(self.pyvenv.get("home", ""), system_site)


def may_be_python(path: Path) -> bool:
    """Return whether a program, or what a link leads to, is called as interpreters are."""
    return any(_INTERPRETER.match(name.lower()) for name in (path.name, Path(os.path.realpath(path)).name))


def plain_path(path: str, *, windows: bool = os.name == "nt") -> str:
    r"""Return a path of Windows without the prefix ``\\?\``, behind which a forward slash is part of a name.

    What is found in an environment is joined with forward slashes.
    """
    found = _PREFIX.match(path) if windows else None
    return path if found is None else ("\\\\" if found[1] else "") + path[found.end() :]


def find_layout(path: Path) -> Layout:
    """Tell what ``path`` is. Raises EnvironmentNotFound with a reason that a user can act on."""
    if os.path.isdir(path):
        return _of_directory(path)
    if os.path.isfile(path) or os.path.islink(path):  # noqa: PTH114 - of what may not be looked at it says no
        return _of_executable(path)
    try:
        path.stat()
    except PermissionError as error:
        raise EnvironmentNotFound(str(path), "cannot be looked at: permission denied") from error
    except (OSError, ValueError):
        raise EnvironmentNotFound(str(path), "does not exist") from None
    raise EnvironmentNotFound(str(path), "is neither a folder nor a file")


def _of_executable(path: Path) -> Layout:
    # The link is not followed: a venv's python is one, and its target is the base.
    if path.suffix.lower() not in ("", ".exe") and not _PYTHON_DIRECTORY.search(path.name):
        raise EnvironmentNotFound(str(path), "is a file, but not a Python executable")
    for root in (path.absolute().parent.parent, path.absolute().parent):
        if os.path.isfile(root / "pyvenv.cfg") or os.path.isdir(root / "conda-meta") or _site_packages(root):
            layout = _of_directory(root)
            return Layout(
                root, layout.kind, layout.site_packages, path, layout.python, layout.python_full, layout.pyvenv
            )
    if not os.path.isfile(path):
        raise EnvironmentNotFound(str(path), "is a link that leads to no file")
    return Layout(path.absolute().parent.parent, EnvironmentKind.PREFIX, executable=path)


def _of_directory(path: Path) -> Layout:
    sites = _site_packages(path)
    executable = next((path / name for name in _EXECUTABLES if os.path.lexists(path / name)), None)
    pyvenv = read_pyvenv(path / "pyvenv.cfg")
    if pyvenv is not None:
        full = pyvenv.get("version_info") or pyvenv.get("version")
        # A venv whose base was replaced keeps one folder per version: the one it says it is for comes first.
        sites = tuple(sorted(sites, key=lambda site: _version_of((site,)) != _parse(full)))
        python = _version_of(sites) or _parse(full)
        return Layout(path, EnvironmentKind.VENV, sites, executable, python, _plain(full), pyvenv)
    if os.path.isdir(path / "conda-meta"):
        return Layout(path, EnvironmentKind.CONDA, sites, executable, _version_of(sites))
    if path.name in ("site-packages", "dist-packages") or _holds_distributions(path):
        return Layout(path, EnvironmentKind.FOLDER, (path,), None, _version_of((path,)))
    if sites:
        return Layout(path, EnvironmentKind.PREFIX, sites, executable, _version_of(sites))
    reason = "is not an environment: no `pyvenv.cfg`, `conda-meta` or site-packages, and no `.dist-info` in it"
    inner = next((name for name in (".venv", "venv", "env") if os.path.isfile(path / name / "pyvenv.cfg")), None)
    raise EnvironmentNotFound(str(path), f"{reason}; did you mean `{path / inner}`" if inner else reason)


def _site_packages(root: Path) -> tuple[Path, ...]:
    found = [root / "Lib" / "site-packages"] if os.path.isdir(root / "Lib" / "site-packages") else []
    for library in ("lib", "lib64"):
        try:
            children = sorted((root / library).iterdir(), key=_version_order, reverse=True)
        except OSError:
            continue
        for child in children:
            match = _PYTHON_DIRECTORY.match(child.name)
            if match is None:
                continue
            for name in ("site-packages", "dist-packages"):
                site = child / name
                if os.path.isdir(site) and not any(_same(site, other) for other in found):
                    found.append(site)
    return tuple(found)


def _version_order(child: Path) -> tuple[int, int]:
    match = _PYTHON_DIRECTORY.match(child.name)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _holds_distributions(path: Path) -> bool:
    try:
        with os.scandir(path) as entries:
            return any(entry.name.endswith(_MARKS) for entry in entries)
    except OSError:
        return False


def _version_of(sites: tuple[Path, ...]) -> tuple[int, int] | None:
    for site in sites:
        match = _PYTHON_DIRECTORY.match(site.parent.name)
        if match:
            return int(match[1]), int(match[2])
    return None


def _parse(text: str | None) -> tuple[int, int] | None:
    match = _VERSION.match(text or "")
    return (int(match[1]), int(match[2])) if match else None


def _plain(text: str | None) -> str | None:
    """``3.11.7`` of ``3.11.7.final.0``."""
    match = re.match(r"\d+\.\d+\.\d+", text or "")
    return match[0] if match else None


def read_pyvenv(path: Path) -> dict[str, str] | None:
    """Return the settings of a ``pyvenv.cfg``, keys in lower case; None where there is no such file."""
    data = read_text(str(path))
    if data is None:
        return None
    text = data.decode("utf-8", "replace")
    pairs = (line.partition("=") for line in text.splitlines())
    return {key.strip().lower(): value.strip() for key, separator, value in pairs if separator}
