"""Finding a Python, and asking one where it puts things; the answer comes from a child with a time limit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from envdoctor.adapters.apply.installer_child import installer_environment
from envdoctor.model.dataclass import dataclass

__all__ = ["PythonFacts", "ask_python", "find_python", "python_of"]

_TIMEOUT_S = 60.0
"""Long: one that has not answered is said not to be there, and a busy machine, or a scanner, can take half a minute."""
_QUESTION = """
import json, sys, sysconfig
facts = {"version": list(sys.version_info[:3]), "prefix": sys.prefix, "base": getattr(sys, "base_prefix", sys.prefix)}
facts["paths"] = {k: sysconfig.get_paths()[k] for k in ("purelib", "platlib", "scripts", "data", "stdlib")}
facts["implementation"] = sys.implementation.name
try:
    from importlib.metadata import version
    facts["pip"] = version("pip")
except Exception:
    facts["pip"] = None
for name in ("venv", "ensurepip"):
    try:
        __import__(name)
        facts[name] = True
    except Exception:
        facts[name] = False
try:
    import ensurepip
    facts["bundled"] = ensurepip.version()
except Exception:
    facts["bundled"] = None
import os
facts["managed"] = os.path.exists(os.path.join(sysconfig.get_paths()["stdlib"], "EXTERNALLY-MANAGED"))
print(json.dumps(facts))
"""


@dataclass(frozen=True, slots=True)
class PythonFacts:
    """What an interpreter said about itself."""

    executable: str
    version: tuple[int, int, int]
    prefix: str
    base_prefix: str
    purelib: str
    platlib: str
    scripts: str
    data: str
    pip: str | None
    """Version of its pip, None where it has none."""
    makes_environments: bool
    """It has ``venv`` and ``ensurepip``; some distributions split them off."""
    bundled_pip: str | None
    """Version of the pip that it puts into new environments."""
    managed: bool
    """PEP 668: its distribution does not want packages installed into it."""

    @property
    def full(self) -> str:
        """``3.11.7``."""
        return ".".join(map(str, self.version))

    @property
    def python(self) -> tuple[int, int]:
        """Major and minor version."""
        return self.version[0], self.version[1]

    @property
    def in_environment(self) -> bool:
        """Whether it belongs to a virtual environment."""
        return self.prefix != self.base_prefix


def ask_python(executable: str | Path) -> PythonFacts | None:
    """Return what an interpreter says, None where it does not run or is no CPython."""
    try:
        done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
            [str(executable), "-I", "-c", _QUESTION],
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
            env=installer_environment(),
        )
        facts: dict[str, Any] = json.loads(done.stdout)
    except (OSError, ValueError, RecursionError, subprocess.SubprocessError):
        return None
    if facts.get("implementation") != "cpython":
        return None
    paths = facts["paths"]
    return PythonFacts(
        executable=str(executable),
        version=tuple(facts["version"]),
        prefix=facts["prefix"],
        base_prefix=facts["base"],
        purelib=paths["purelib"],
        platlib=paths["platlib"],
        scripts=paths["scripts"],
        data=paths["data"],
        pip=facts["pip"],
        makes_environments=bool(facts["venv"] and facts["ensurepip"]),
        bundled_pip=facts["bundled"],
        managed=bool(facts["managed"]) and facts["prefix"] == facts["base"],
    )


def python_of(environment: Path) -> Path:
    """Return where an environment has its interpreter."""
    for name in ("bin/python", "Scripts/python.exe", "python.exe", "bin/python3"):
        if os.path.lexists(environment / name):
            return environment / name
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def find_python(wanted: Sequence[tuple[int, int]], given: Path | None = None) -> PythonFacts | None:
    """Return an interpreter of the first wanted version that there is; ``given`` is the only one looked at."""
    if given is not None:
        facts = ask_python(given)
        return facts if facts is not None and facts.python in wanted else None
    for python in wanted:
        seen: set[str] = set()
        for candidate in _candidates(python):
            real = os.path.realpath(candidate)
            if real in seen:
                continue
            seen.add(real)
            facts = ask_python(candidate)
            if facts is not None and facts.python == python and facts.makes_environments and not facts.in_environment:
                return facts
    return None


def _candidates(python: tuple[int, int]) -> Iterator[str]:
    """Yield executables that may be the version: named ones first, then version managers', then the plain names."""
    major, minor = python
    if sys.version_info[:2] == python:
        yield str(Path(sys.base_prefix) / ("python.exe" if os.name == "nt" else f"bin/python{major}.{minor}"))
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        candidate = Path(folder, f"python{major}.{minor}{'.exe' if os.name == 'nt' else ''}")
        if folder and candidate.is_file():
            yield str(candidate)
    yield from _managed(f"{major}.{minor}")
    launcher = shutil.which("py")
    if launcher is not None:
        found = _launched(launcher, f"-{major}.{minor}")
        if found:
            yield found
    for name in ("python3", "python"):
        found = shutil.which(name)
        if found:
            yield found


def _managed(version: str) -> Iterator[str]:
    """Yield what pyenv and uv have installed."""
    home = Path.home()
    roots = [
        Path(os.environ.get("PYENV_ROOT") or home / ".pyenv") / "versions",
        Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local/share/uv/python"),
        home / "AppData/Roaming/uv/python",
    ]
    names = ("python.exe", "install/python.exe") if os.name == "nt" else (f"bin/python{version}",)
    for root in roots:
        for pattern in (f"{version}.*", f"cpython-{version}.*"):
            for folder in sorted(root.glob(pattern), reverse=True):
                for name in names:
                    if (folder / name).is_file():
                        yield str(folder / name)


def _launched(launcher: str, option: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
            [launcher, option, "-I", "-c", "import sys; print(sys.executable)"],
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            text=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
