"""Into which environment a script installs: that of a path, of an option, or the one that it has activated."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envdoctor.adapters.project.pip_command import CONDA
from envdoctor.adapters.project.script_folders import ScriptFolders
from envdoctor.adapters.project.shell_words import program
from envdoctor.model.dataclass import dataclass

__all__ = ["Environments"]

_PROGRAM = re.compile(r"(.+)[\\/](?:bin|scripts)[\\/](?:pip|python|uv|activate|_?conda|mamba)[\w.]*$", re.I)
_OWN_FOLDER = re.compile(r"^(?:%~dp0|\$PSScriptRoot[\\/]|%cd%[\\/]|\$\(pwd\)/|\$PWD/|\$\{PWD\}/)", re.I)
_COMPUTED = re.compile(r"[$%`!]")
_OF_MACHINE = re.compile(r"/usr(?:/local)?$|/opt/conda$|/root/\w*conda\d?$|conda\d?$")
_ACTIVATE = re.compile(r"(?:^|[\\/])activate(?:\.\w+)?$")
_NAMED = frozenset({"-n", "--name", "-p", "--prefix"})
_ACTIVATES = frozenset({"conda", "mamba", "micromamba", "source", "activate", "call"})
_NEAR = 6


@dataclass(slots=True)
class Environments:
    """Which one is active, and which one is judged; None where that is not known, or the machine's own."""

    active: str | None = None
    judged: str | None = None

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
                told = _name(texts[at + 1])
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
                return _name(value)
        if "--python" in texts[:-1]:
            return self._of_program(texts[list(texts).index("--python") + 1], folders)
        return next(filter(None, (self._of_program(text, folders) for text in texts[:_NEAR])), None)

    def _of_program(self, text: str, folders: ScriptFolders) -> str | None:
        match = _PROGRAM.match(_OWN_FOLDER.sub("", text))
        if match is None or _COMPUTED.search(match[1]) or _OF_MACHINE.search(match[1]):
            return None
        place = folders.place_of(match[1])
        return place.name if place is not None and place.parent.name == "envs" else str(place) if place else None


def _name(text: str) -> str | None:
    """Return an environment of conda's by its name or path."""
    if _COMPUTED.search(text) or text == "base":
        return None
    return re.split(r"[\\/]", text.rstrip("\\/"))[-1]
