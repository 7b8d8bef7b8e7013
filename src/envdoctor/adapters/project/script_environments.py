"""Into which environment a script installs, and with which Python: that of a path, of an option, or the active one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from envdoctor.adapters.project.pip_command import CONDA, SPEAKERS
from envdoctor.adapters.project.script_folders import ScriptFolders
from envdoctor.adapters.project.shell_words import program
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin

__all__ = ["Environments", "python_named"]

_PROGRAM = re.compile(r"(.+)[\\/](?:bin|scripts)[\\/](?:pip|python|uv|activate|_?conda|mamba)[\w.]*$", re.I)
_OWN_FOLDER = re.compile(r"^(?:%~dp0[\\/]?|\$PSScriptRoot[\\/])", re.I)
_WHERE_IT_IS = re.compile(r"^(?:%cd%[\\/]|\$\(pwd\)/|\$PWD/|\$\{PWD\}/)", re.I)
_COMPUTED = re.compile(r"[$%`!]")
_OF_MACHINE = re.compile(r"/usr(?:/local)?$|/opt/conda$|/root/\w*conda\d?$|conda\d?$")
_ACTIVATE = re.compile(r"(?:^|[\\/])activate(?:\.\w+)?$")
_NAMED = frozenset({"-n", "--name", "-p", "--prefix"})
_ACTIVATES = frozenset({"conda", "mamba", "micromamba", "source", "activate", "call"})
_NEAR = 6
_PYTHON, _ITS_PIP = re.compile(r"python(3\.[0-9]{1,2})"), re.compile(r"pip(3\.[0-9]{1,2})")
_OF_LAUNCHER = re.compile(r"-(3\.[0-9]{1,2})(?:-\d\d)?")
"""``py -3.10``."""
_MODULES = frozenset({"venv", "virtualenv", "pip"})
_VERSION = re.compile(r"(?:c?python[-@]?)?(3\.[0-9]{1,2})(?:\.\d{1,2})?")
_ARCHIVE = re.compile(r"/(?:c?python-)(3\.[0-9]{1,2})\.\d{1,2}[+-](?:embed|amd64|x86_64|macos|\d{8})", re.I)
"""A Python that a script fetches for itself: an embeddable one, an installer, or a build that stands alone."""


def python_named(texts: Sequence[str]) -> str:
    """Return with which Python a command makes an environment or installs, or which one it fetches; empty without."""
    names = [program(text) for text in texts[:_NEAR]]
    if not (SPEAKERS - {"export"}).isdisjoint(names):
        return ""
    for at, name in enumerate(names):
        rest = texts[at + 1 :]
        own = _PYTHON.fullmatch(name) or (_OF_LAUNCHER.fullmatch(rest[0]) if name == "py" and rest else None)
        module = rest[name == "py" :][:2]
        if own is not None and module[:1] == ["-m"] and not _MODULES.isdisjoint(module):
            return own[1]
        if (its := _ITS_PIP.fullmatch(name)) is not None and rest[:1] == ["install"]:
            return its[1]
        if name in ("virtualenv", "uv"):
            options = [two for one, two in pairwise(rest) if one in ("-p", "--python")]
            told = [text.removeprefix("--python=") for text in rest if text.startswith("--python=")]
            versions = rest[2:3] if name == "uv" and rest[:2] in (["python", "install"], ["python", "pin"]) else []
            match = next(filter(None, (_VERSION.fullmatch(program(one)) for one in (*options, *told, *versions))), None)
            return match[1] if match is not None else ""
    set_ = (text.partition("=")[2] for text in texts if text.startswith("UV_PYTHON="))
    if (match := next(filter(None, map(_VERSION.fullmatch, set_)), None)) is not None:
        return match[1]
    fetched = (match for text in texts if (match := _ARCHIVE.search(text)))
    return next((match[1] for match in fetched), "")


@dataclass(slots=True)
class Environments:
    """Which one is active, and which one is judged; None where that is not known, or the machine's own."""

    active: str | None = None
    judged: str | None = None
    python: tuple[str, FileOrigin] | None = None
    """The Python that a command names first, and where."""

    def follow(self, texts: Sequence[str], folders: ScriptFolders) -> None:
        """Take note of what a command activates or leaves."""
        words = [text.lower() for text in texts[:_NEAR]]
        if "deactivate" in words:
            self.active = None
            return
        at = next((at for at, word in enumerate(words) if _ACTIVATE.search(word)), None)
        if at is not None:
            told = self._of_program(texts[at], folders)
            if told is None and words[at] == "activate" and at + 1 < len(texts) and _ACTIVATES & set(words[: at + 1]):
                told = _named(texts[at + 1], folders)
            self.active = told

    def another(self, texts: Sequence[str], folders: ScriptFolders) -> str:
        """Return into which environment a command installs, where that is known and is not the judged one."""
        name = self._of(texts, folders) or self.active
        if name is None or self.judged in (None, name):
            self.judged = self.judged or name
            return ""
        return name

    def _of(self, texts: Sequence[str], folders: ScriptFolders) -> str | None:
        """Return the environment that a command itself names."""
        if not CONDA.isdisjoint(map(program, texts[:_NEAR])):
            value = next((texts[at + 1] for at, text in enumerate(texts[:-1]) if text in _NAMED), None)
            if value is not None:
                return _named(value, folders)
        if "--python" in texts[:-1]:
            return self._of_program(texts[list(texts).index("--python") + 1], folders)
        return next(filter(None, (self._of_program(text, folders) for text in texts[:_NEAR])), None)

    def _of_program(self, text: str, folders: ScriptFolders) -> str | None:
        match = _PROGRAM.match(text)
        return _at(match[1], folders) if match is not None and not _OF_MACHINE.search(match[1]) else None


def _at(path: str, folders: ScriptFolders) -> str | None:
    """Return an environment by its folder; one of conda's by its name."""
    within = _OWN_FOLDER.sub("", _WHERE_IT_IS.sub("", path))
    place = None if _COMPUTED.search(within) else folders.place_of(within)
    if place is not None and _OWN_FOLDER.match(path):
        place = folders.place_of(f"{folders.beside}/{within}")
    return place.name if place is not None and place.parent.name == "envs" else str(place) if place else None


def _named(text: str, folders: ScriptFolders) -> str | None:
    """Return an environment of conda's by its name or path."""
    if re.search(r"[\\/]", text):
        return _at(text, folders)
    return None if _COMPUTED.search(text) or text == "base" else text
