"""Commands as a person can type them, quoted for the system's shell: on Windows for ``cmd`` and PowerShell alike."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence

__all__ = ["shell_line"]

# Everything else means something to one of the two: blanks, `&|<>^%!` to cmd, `$;,@(){}'#` and backticks to PowerShell.
_PLAIN = re.compile(r"[\w\\/:.=+\[\]*?-][\w\\/:.=+~\[\]*?-]*\Z")


def shell_line(
    words: Sequence[str], variables: Mapping[str, str] | None = None, *, windows: bool = os.name == "nt"
) -> str:
    """Return a line that a shell takes apart into ``words`` again, with ``variables`` set for it alone."""
    if not windows:
        return "".join(f"{name}={value} " for name, value in (variables or {}).items()) + shlex.join(words)
    line = " ".join(map(_quoted, words))
    if variables:
        # The two shells set variables in different ways, and PowerShell can call the other one.
        return f'cmd /c "{"".join(f"set {name}={value}&& " for name, value in variables.items())}{line}"'
    return line


def _quoted(word: str) -> str:
    if _PLAIN.match(word):
        return word
    if "$" in word or "`" in word:
        # Double quotes would not keep PowerShell from reading these; cmd knows double quotes alone, and such a path is
        # rare enough to be for the shell that people have.
        return "'" + re.sub("(['\u2018-\u201b])", r"\1\1", word) + "'"
    # A program counts the backslashes before a quotation mark: doubled, they are themselves.
    backslashes = len(word) - len(word.rstrip("\\"))
    return f'"{word.replace(chr(34), chr(92) + chr(34))}{chr(92) * backslashes}"'
