"""pip and uv as installers: which one there is, its command lines, and what it sees in an environment afterwards."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.adapters.apply.installer_child import installer_environment, run_child
from envdoctor.adapters.apply.interpreters import PythonFacts, ask_python
from envdoctor.model.dataclass import dataclass

__all__ = ["Installer", "NoInstaller", "Pip", "Uv", "ask_installers", "choose_installer", "legacy_metadata_refused"]

_TIMEOUT_S = 120.0
# pip-api asks the pip of the interpreter that this variable names, and starts it when it is imported: so in a child.
_LIST = """
import json, pip_api
print(json.dumps({name: str(item.version) for name, item in pip_api.installed_distributions().items()}))
"""
_COMPLAINTS = (
    re.compile(r"^(?P<consumer>\S+) \S+ has requirement (?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)"),
    re.compile(r"^(?P<consumer>\S+) \S+ requires (?P<name>[A-Za-z0-9][A-Za-z0-9._-]*), which is not installed"),
    re.compile(r"`(?P<consumer>[^`]+)` requires `(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)"),
)


@dataclass(frozen=True, slots=True)
class InstallersWord:
    """The answers of pip and of the installer that was used."""

    source: str
    """``pip 23.2.1`` or ``uv``."""
    versions: dict[str, str] | None
    """Normalised name to version; None where nobody could be asked."""
    complaints: tuple[tuple[str, str, str], ...] = ()
    """Consumer, what it asks for, and the line as it was written; names normalised."""


def ask_installers(environment_python: Path, installer: Installer) -> InstallersWord:
    """Ask pip (through pip-api) what it sees, where the environment has a pip; and the installer what does not fit."""
    facts = ask_python(environment_python)
    complaints = _complaints(environment_python, installer)
    if facts is None or facts.pip is None:
        listed = _json(installer.listing(environment_python), installer_environment())
        rows = listed if isinstance(listed, list) else None
        versions = {row["name"]: row["version"] for row in rows} if rows is not None else None
        return InstallersWord(installer.name, _normalised(versions), complaints)
    environment = {**installer_environment(), "PIPAPI_PYTHON_LOCATION": os.fspath(environment_python)}
    answer = _json([sys.executable, "-c", _LIST], environment)
    return InstallersWord(f"pip {facts.pip}", _normalised(answer if isinstance(answer, dict) else None), complaints)


def _json(argv: Sequence[str], environment: Mapping[str, str]) -> Any:
    try:
        done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
            list(argv),
            env=dict(environment),
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return json.loads(done.stdout)
    except (OSError, ValueError, RecursionError, subprocess.SubprocessError):
        return None


def _normalised(versions: Mapping[str, Any] | None) -> dict[str, str] | None:
    if versions is None:
        return None
    return {str(canonicalize_name(name)): str(version) for name, version in versions.items()}


def _complaints(python: Path, installer: Installer) -> tuple[tuple[str, str, str], ...]:
    try:
        result = run_child(installer.check(python), environment=installer_environment())
    except OSError:
        return ()
    found = []
    for line in result.output.splitlines():
        for pattern in _COMPLAINTS:
            match = pattern.search(line)
            if match is not None:
                consumer, name = canonicalize_name(match["consumer"]), canonicalize_name(match["name"])
                found.append((str(consumer), str(name), line.strip()))
                break
    return tuple(found)


class Installer(Protocol):
    """Gives command lines; what runs them keeps their output."""

    @property
    def name(self) -> str:
        """``uv`` or ``pip``."""
        ...

    def create(self, environment: Path, interpreter: str) -> list[str]:
        """Make an environment."""
        ...

    def install(self, python: Path, requirements: Path, folders: list[Path], cache: Path) -> list[str]:
        """Install what a requirements file with hashes names, from local folders alone."""
        ...

    def remove(self, python: Path, names: list[str]) -> list[str]:
        """Take distributions away."""
        ...

    def build(self, python: Path, sdist: Path, folder: Path, cache: Path) -> list[str]:
        """Build a wheel."""
        ...

    def check(self, python: Path) -> list[str]:
        """Ask for what does not fit together."""
        ...

    def listing(self, python: Path) -> list[str]:
        """Ask for what is installed, as JSON on stdout."""
        ...


class NoInstaller(Exception):
    """No installer can be used; the text says what to do."""


def find_uv() -> str | None:
    """Return uv: ``UV`` names it, else the PATH."""
    named = os.environ.get("UV")
    if named and Path(named).is_file():
        return named
    return shutil.which("uv")


def choose_installer(choice: str, target: PythonFacts | None, default_index: str | None) -> Installer:
    """Return the installer. ``target`` None: the environment is yet to be made. Raises NoInstaller."""
    uv = find_uv() if choice in ("auto", "uv") else None
    if uv is not None:
        return Uv(uv, default_index)
    if choice == "uv":
        raise NoInstaller("`--installer uv`: there is no uv on the PATH; install it, or take `--installer pip`")
    if target is None or pip_is_new_enough(target.pip):
        return Pip()
    own = ask_python(sys.executable)
    if own is not None and Pip.can_turn(own.pip):
        return Pip(sys.executable)
    state = "no pip" if target.pip is None else f"pip {target.pip}, which is older than {OLDEST_PIP}"
    raise NoInstaller(
        f"the environment has {state}, and there is no uv on the PATH; install uv, or run "
        f"`{target.executable} -m ensurepip --upgrade`"
    )


OLDEST_PIP = Version("21.0")
_TURNS = Version("22.3")
"""From here on ``pip --python`` works on another interpreter's environment."""
_STRICT = Version("24.1")


def pip_is_new_enough(version: str | None, oldest: Version = OLDEST_PIP) -> bool:
    """Return whether a pip of this version does what is needed."""
    try:
        return version is not None and Version(version) >= oldest
    except ValueError:
        return False


def legacy_metadata_refused(version: str | None) -> bool:
    """Return whether this pip refuses packages whose metadata is not valid (24.1 and later do)."""
    return pip_is_new_enough(version, _STRICT)


class Pip:
    """Command lines of pip; ``host`` is the interpreter whose pip is used where the target has none."""

    name = "pip"

    def __init__(self, host: str | None = None) -> None:
        self.host = host

    @staticmethod
    def can_turn(version: str | None) -> bool:
        """Return whether a pip of this version can work on another interpreter's environment."""
        return pip_is_new_enough(version, _TURNS)

    def create(self, environment: Path, interpreter: str) -> list[str]:
        """Make an environment with the standard library's venv; it brings a pip along."""
        return [interpreter, "-I", "-m", "venv", str(environment)]

    def install(self, python: Path, requirements: Path, folders: Sequence[Path], cache: Path) -> list[str]:  # noqa: ARG002
        """Install exactly what a requirements file with hashes names, from local folders."""
        links = [part for folder in folders for part in ("--find-links", str(folder))]
        return [
            *self._pip(python), "install", "--isolated", "--no-deps", "--no-index", *links, "--require-hashes",
            "--force-reinstall", "--only-binary", ":all:", "--ignore-requires-python", "--no-cache-dir",
            "--no-warn-script-location", "-r", str(requirements),
        ]  # fmt: skip

    def remove(self, python: Path, names: Sequence[str]) -> list[str]:
        """Take distributions away."""
        return [*self._pip(python), "uninstall", "--isolated", "--yes", *names]

    def build(self, python: Path, sdist: Path, folder: Path, cache: Path) -> list[str]:  # noqa: ARG002
        """Build a wheel of a source distribution into a folder; build requirements come from pip's own index."""
        return [*self._pip(python), "wheel", "--no-deps", "--no-cache-dir", "--wheel-dir", str(folder), str(sdist)]

    def check(self, python: Path) -> list[str]:
        """Ask for what does not fit together."""
        return [*self._pip(python), "check"]

    def listing(self, python: Path) -> list[str]:
        """Ask for what is installed, as JSON on stdout."""
        return [*self._pip(python), "list", "--format", "json"]

    def _pip(self, python: Path) -> list[str]:
        if self.host is not None:
            return [self.host, "-I", "-m", "pip", "--python", str(python)]
        return [str(python), "-I", "-m", "pip"]


class Uv:
    """Command lines for one uv executable; its own configuration files are not read."""

    name = "uv"

    def __init__(self, executable: str, default_index: str | None = None) -> None:
        self.executable = executable
        self.default_index = default_index

    def create(self, environment: Path, interpreter: str) -> list[str]:
        """Make an environment in a folder that holds at most this tool's own."""
        return [
            self.executable, "venv", "--no-config", "--no-project", "--allow-existing", "--python", interpreter,
            "--no-python-downloads", str(environment),
        ]  # fmt: skip

    def install(self, python: Path, requirements: Path, folders: Sequence[Path], cache: Path) -> list[str]:
        """Install exactly what a requirements file with hashes names, from local folders."""
        links = [part for folder in folders for part in ("--find-links", str(folder))]
        return [
            self.executable, "pip", "install", "--no-config", "--python", str(python), "--no-deps", "--no-index",
            "--offline", *links, "--require-hashes", "--reinstall", "--no-build", "--cache-dir", str(cache),
            "-r", str(requirements),
        ]  # fmt: skip

    def remove(self, python: Path, names: Sequence[str]) -> list[str]:
        """Take distributions away."""
        return [self.executable, "pip", "uninstall", "--no-config", "--python", str(python), *names]

    def build(self, python: Path, sdist: Path, folder: Path, cache: Path) -> list[str]:
        """Build a wheel of a source distribution into a folder."""
        index = ["--default-index", self.default_index] if self.default_index else []
        return [
            self.executable, "build", "--no-config", "--wheel", "--python", str(python), "--out-dir", str(folder),
            "--cache-dir", str(cache), *index, str(sdist),
        ]  # fmt: skip

    def check(self, python: Path) -> list[str]:
        """Ask for what does not fit together."""
        return [self.executable, "pip", "check", "--no-config", "--python", str(python)]

    def listing(self, python: Path) -> list[str]:
        """Ask for what is installed, as JSON on stdout."""
        return [self.executable, "pip", "list", "--no-config", "--format", "json", "--python", str(python)]
