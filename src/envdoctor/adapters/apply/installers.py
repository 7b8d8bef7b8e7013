"""Which installer there is."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Protocol

from envdoctor.adapters.apply.installer_pip import OLDEST_PIP, Pip, pip_is_new_enough
from envdoctor.adapters.apply.installer_uv import Uv
from envdoctor.adapters.apply.interpreters import PythonFacts, ask_python

__all__ = ["Installer", "NoInstaller", "choose_installer", "find_uv"]


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


def choose_installer(choice: str, target: PythonFacts | None, default_index: str | None) -> tuple[Installer, str]:
    """Return the installer and a word on which it is. ``target`` None: the environment is yet to be made.

    Raises NoInstaller.
    """
    uv = find_uv() if choice in ("auto", "uv") else None
    if uv is not None:
        return Uv(uv, default_index), f"uv ({uv})"
    if choice == "uv":
        raise NoInstaller("`--installer uv`: there is no uv on the PATH; install it, or take `--installer pip`")
    if target is None:
        return Pip(), "pip of the new environment"
    if pip_is_new_enough(target.pip):
        return Pip(), f"pip {target.pip} of the environment"
    own = ask_python(sys.executable)
    if own is not None and Pip.can_turn(own.pip):
        why = "which has none" if target.pip is None else f"whose own {target.pip} is older than {OLDEST_PIP}"
        return Pip(sys.executable), f"pip {own.pip} of this tool's Python, for the environment, {why}"
    state = "no pip" if target.pip is None else f"pip {target.pip}, which is older than {OLDEST_PIP}"
    raise NoInstaller(
        f"the environment has {state}, and there is no uv on the PATH; install uv, or run "
        f"`{target.executable} -m ensurepip --upgrade`"
    )
