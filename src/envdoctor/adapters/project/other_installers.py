"""Commands of a script that install and are none of pip's or conda's: a manager's, setup.py's, another script's."""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from envdoctor.adapters.project.pip_command import CONDA, SPEAKERS
from envdoctor.adapters.project.shell_words import Dialect, Word, program
from envdoctor.model.dataclass import dataclass

__all__ = ["OtherInstall", "ReadFrom", "builds_wheel", "dialect_of", "read_other_install", "script_run_by"]


class ReadFrom(enum.Enum):
    """What tells what a command installs."""

    PROJECT = enum.auto()
    """The project in the folder where it runs."""
    CONDA_FILE = enum.auto()
    SCRIPT = enum.auto()
    """A script that is not here."""
    NOTHING = enum.auto()
    """What is not read here."""


@dataclass(frozen=True, slots=True)
class OtherInstall:
    """One such command."""

    tool: str
    arguments: tuple[str, ...]
    reads: ReadFrom
    file: Word | None = None

    @property
    def extras(self) -> tuple[str, ...]:
        """The extras of the project that it asks for by name."""
        return tuple(_values(self.arguments, _EXTRAS))

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that it asks for by name."""
        return tuple(_values(self.arguments, _GROUPS))

    @property
    def folder(self) -> str:
        """The folder of the project, as it is written."""
        return next(iter(_values(self.arguments, _FOLDER)), ".")


_PYTHON = re.compile(r"^python\d*(?:\.\d+)?$")
_VERBS = {
    "poetry": {"install": ReadFrom.PROJECT, "sync": ReadFrom.PROJECT, "add": ReadFrom.NOTHING},
    "uv": {"sync": ReadFrom.PROJECT, "add": ReadFrom.NOTHING},
    "pdm": {"install": ReadFrom.PROJECT, "sync": ReadFrom.PROJECT, "add": ReadFrom.NOTHING},
    "pipenv": {"install": ReadFrom.NOTHING, "sync": ReadFrom.NOTHING},
    "pixi": {"install": ReadFrom.NOTHING, "add": ReadFrom.NOTHING},
}
_ALONE = frozenset({"pip-sync", "easy_install"})
_NEAR = 8
"""Words at the start of a command among which the one that installs stands."""
_EXTRAS = frozenset({"--extra", "--extras", "-E"})
_GROUPS = frozenset({"--group", "--with", "--only-group", "--only", "-G"})
_FOLDER = frozenset({"--project", "--directory", "-C"})
_FILE = frozenset({"-f", "--file"})
_DIALECTS = {".bat": Dialect.CMD, ".cmd": Dialect.CMD, ".ps1": Dialect.POWERSHELL}
_SCRIPTS = (".sh", ".bash", *_DIALECTS)
_RUNS_SCRIPT = re.compile(
    r"^(?:@?call|sudo|exec|then|else|do|\{|!|if|time|nohup|start|source|\.|&|cmd|powershell|pwsh"
    r"|(?:\S*/)?(?:ba|da|z)?sh|[-/][\w-]+|bypass|\w+=.*)$",
    re.I,
)
"""Words that may stand before the script that a command runs."""


def read_other_install(words: Sequence[Word]) -> OtherInstall | None:
    """Return what a command installs by other means than those of pip and conda, None where it is no such command."""
    for at, word in enumerate(words[:_NEAR]):
        name, rest = program(word.text), words[at + 1 :]
        if name in SPEAKERS:
            return None
        texts = [each.text for each in rest]
        if name in CONDA:
            return _of_conda(name, rest, texts)
        if _PYTHON.match(name) and texts[:1] != ["-m"] and "setup.py" in texts[:3]:
            installs = not {"install", "develop"}.isdisjoint(texts)
            return OtherInstall("python", tuple(texts), ReadFrom.PROJECT) if installs else None
        told = (two for one, two in pairwise(["", *texts[:_NEAR]]) if two[:1] != "-" and one not in _FOLDER)
        verb = next(told, "")
        reads = ReadFrom.NOTHING if name in _ALONE else _VERBS.get(name, {}).get(verb)
        if reads is not None:
            # `pipenv install NAME` and the like say what; their words for versions are their own.
            tool = f"uv {texts.pop(texts.index(verb))}" if name == "uv" else name
            return OtherInstall(tool, tuple(texts), reads)
        if name in _VERBS:
            return None
    return None


def _of_conda(name: str, rest: Sequence[Word], texts: Sequence[str]) -> OtherInstall | None:
    if texts[:1] != ["env"] or texts[1:2] not in (["create"], ["update"]):
        return None
    named = [word for before, word in zip(texts, rest[1:], strict=False) if before in _FILE]
    named += [Word(word.text.partition("=")[2], word.line) for word in rest if word.text.startswith("--file=")]
    file = named[0] if named else Word("environment.yml", rest[0].line)
    return OtherInstall(name, tuple(texts), ReadFrom.CONDA_FILE, file)


def _values(texts: Sequence[str], options: Collection[str]) -> Iterator[str]:
    """Yield what options are given, each of a list."""
    given = [text.partition("=")[2] for text in texts if text.partition("=")[0] in options and "=" in text]
    given += [text for before, text in pairwise(texts) if before in options]
    yield from (name for value in given for name in re.split(r"[\s,]+", value) if name)


def dialect_of(script: Path) -> Dialect:
    """Return whose shell runs a script, by its name."""
    return _DIALECTS.get(script.suffix.lower(), Dialect.POSIX)


def builds_wheel(words: Sequence[Word]) -> bool:
    """Return whether a command puts a wheel of the project in the folder where it runs into `dist`."""
    texts = [program(word.text) for word in words[:_NEAR]]
    if not SPEAKERS.isdisjoint(texts):
        return False
    pairs = {("-m", "build"), ("poetry", "build"), ("uv", "build"), ("pdm", "build"), ("hatch", "build")}
    return not pairs.isdisjoint(pairwise(texts)) or ("setup.py" in texts and "bdist_wheel" in texts)


def script_run_by(words: Sequence[Word]) -> Word | None:
    """Return the word of a command that is a script of a shell which it runs, None where it runs none."""
    texts = [word.text.lower() for word in words[:_NEAR]]
    start = texts.index("call") if "call" in texts else 0  # `if exist x.bat call x.bat`
    for word, text in zip(words[start:], texts[start:], strict=False):
        if text.endswith(_SCRIPTS):
            return word
        if not _RUNS_SCRIPT.match(text):
            return None
    return None
