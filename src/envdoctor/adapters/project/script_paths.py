"""Files and folders as the commands of a script name them, and what brings them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from envdoctor.model.dataclass import dataclass

__all__ = ["ByScript", "below", "cloned", "last_name", "outputs", "repository_name"]

_OUTPUT = re.compile(r"^(?:-o|-O|--output(?:-file)?)(?:=(.*))?$")

_CLONE_WITH_VALUE = frozenset(
    {"-b", "--branch", "--depth", "-o", "--origin", "-c", "--config", "-j", "--jobs", "--filter", "--reference",
     "-u", "--upload-pack", "--shallow-since", "--template", "--separate-git-dir"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ByScript:
    """What is in a folder only when the script runs."""

    line: int
    made: bool = False
    """The script writes it, and fetches it from nowhere."""
    here: bool = False
    """It lies in the checkout, and the script changes what it says."""
    url: str = ""


def outputs(words: Sequence[str]) -> Iterator[str]:
    """Yield the files that a command is told to write."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if (match := _OUTPUT.match(word)) is not None:
            yield match[1] or following


def last_name(word: str) -> str:
    """Return the name of a file or folder, of a URL too, as who fetches it calls the file."""
    return unquote(re.split(r"[\\/:=]", re.split(r"[?#]", word)[0].rstrip("/"))[-1])


def repository_name(url: str) -> str:
    """Return what a clone of a repository is called."""
    return last_name(url.strip()).removesuffix(".git")


def cloned(words: Sequence[str]) -> tuple[str, str]:
    """Return which repository ``git clone`` takes, and into which folder; empty where it names none."""
    befores = ("", *words)
    named = [
        word
        for before, word in zip(befores, words, strict=False)
        if not word.startswith("-") and before not in _CLONE_WITH_VALUE
    ]
    url, folder = (*named, "", "")[:2]
    return url, folder or repository_name(url)


def below(directory: Path, text: str) -> Path:
    """Return the file that a script names, with variables (``%~dp0``, ``$PSScriptRoot``) taken for its own folder."""
    plain = re.sub(r"%~dp0|%\w+%", "", text).replace("\\", "/")
    return directory.joinpath(*(part for part in plain.split("/") if part not in ("", ".") and "$" not in part))
