"""Commands as a person can type them, quoted for the system's shell: on Windows for ``cmd`` and PowerShell alike."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["path_from_here", "shell_line", "with_upgrades"]

# Everything else means something to one of the two: blanks, `&|<>^%!` to cmd, `$;,@(){}'#` and backticks to PowerShell.
_PLAIN = re.compile(r"[\w\\/:.=+\[\]*?-][\w\\/:.=+~\[\]*?-]*\Z")

_NAME = re.compile(r"[A-Za-z0-9][\w-]*")
_UPGRADE_ALL = "--upgrade=*"
_READ_BY_POWERSHELL = re.compile("[$`\u201c-\u201e]")
"""What has a meaning between double quotes, typographic ones among them."""
_AFTER_BACKTICK = r"`\g<0>"


def shell_line(
    words: Sequence[str], variables: Mapping[str, str] | None = None, *, windows: bool = os.name == "nt"
) -> str:
    """Return a line that a shell takes apart into ``words`` again, with ``variables`` set for it alone."""
    if not windows:
        return "".join(f"{name}={value} " for name, value in (variables or {}).items()) + shlex.join(words)
    line = " ".join(map(_quoted, words))
    if not variables:
        return line
    # The two shells set variables in different ways, and each can call the other one.
    if line == " ".join(words):
        return f'cmd /c "{"".join(f"set {name}={value}&& " for name, value in variables.items())}{line}"'
    # Double quotes cannot stand in double quotes for both of them.
    inner = " ".join(word if _PLAIN.match(word) else _single_quoted(word) for word in words)
    settings = "".join(f"Set-Item Env:{name} {_single_quoted(value)}; " for name, value in variables.items())
    return f'powershell -c "{_READ_BY_POWERSHELL.sub(_AFTER_BACKTICK, settings + inner)}"'


def _quoted(word: str) -> str:
    if _PLAIN.match(word):
        return word
    if _READ_BY_POWERSHELL.search(word):
        # Double quotes would not keep PowerShell from reading these; cmd knows double quotes alone, and such a path is
        # rare enough to be for the shell that people have.
        return _single_quoted(word)
    # A program counts the backslashes before a quotation mark: doubled, they are themselves.
    backslashes = len(word) - len(word.rstrip("\\"))
    return f'"{word.replace(chr(34), chr(92) + chr(34))}{chr(92) * backslashes}"'


def _single_quoted(word: str) -> str:
    """Return a word in single quotes, in which PowerShell reads nothing; typographic ones are quotes to it as well."""
    return "'" + re.sub("(['\u2018-\u201b])", r"\1\1", word) + "'"


def path_from_here(path: Path) -> Path:
    """Return the shortest way to a path from the current folder: whole where no other leads there.

    On Windows a folder of the network can have a drive's letter, and its files are resolved to names without it.
    """
    whole = path.resolve()
    try:
        return Path(os.path.relpath(whole))
    except ValueError:
        here = Path.cwd().resolve()
        return whole.relative_to(here) if whole.is_relative_to(here) else whole


def with_upgrades(words: Sequence[str]) -> list[str]:
    """Return typed words with a value for each bare ``--upgrade``, which the parser cannot take without one.

    A name behind it that is no file or folder here is its package; else it is for all of them.
    """
    found: list[str] = []
    for word in words:
        named = _NAME.fullmatch(word) is not None and not os.path.exists(word)
        if named and found and found[-1] == _UPGRADE_ALL:
            found[-1] = f"--upgrade={word}"
        else:
            found.append(_UPGRADE_ALL if word == "--upgrade" else word)
    return found
