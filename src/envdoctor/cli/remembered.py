"""The answer of ``check`` to a question that was asked before, where nothing that it was made of has changed.

Ninja, mypy and ruff do the same: what was looked at is compared with how it was then (see ``adapters.inputs``), and
only where something differs is the work done again. That takes a tenth of the time, most of which is otherwise Python's
for loading modules; so this module loads next to nothing.

An answer is kept where it follows from files, folders, variables and options alone. Where this machine was measured, or
a module was imported in the environment's interpreter, it is believed for ten minutes, and only if nothing was found:
who repairs a driver wants to see it. Where an index was asked, none is kept.

Answers lie in the user's cache folder, readable by nobody else; variables are in them as part of a digest only. On
Windows, where the times of folders are not promised, none is kept.
"""

from __future__ import annotations

import os
import sys
import time

from envdoctor import __version__
from envdoctor.adapters.inputs import Inputs, signature, watch, watched
from envdoctor.adapters.user_folders import cache_folder

__all__ = ["FRESH", "Remembering", "recall"]

FRESH = "--fresh"
_FORM = "envdoctor-answer/1"
_MOST_INPUTS = 60_000
_MOST_ANSWERS = 64
_PASSES_AFTER_S = 600.0
_TIMINGS = '"timings": {'
# They differ from one shell or commit to the next and say nothing of an environment. Whatever is not named here counts.
_OF_NO_MATTER = frozenset(
    {"_", "DBUS_SESSION_BUS_ADDRESS", "LINES", "OLDPWD", "PWD", "SHLVL", "WINDOWID", "XDG_SESSION_ID"}
)
_FAMILIES_OF_NO_MATTER = ("GIT_", "SSH_", "TERM_SESSION_", "TMUX", "WT_")
_question: str | None = None


def recall(argv: list[str]) -> int | None:
    """Write the answer that is remembered and return its exit code; None where there is none that still holds."""
    global _question
    _question = None
    if os.name != "posix" or argv[:1] != ["check"] or not _about_an_environment(argv):
        return None
    try:
        _question = _digest(argv)
        found = None if FRESH in argv else _read(_question)
    except (OSError, ValueError):
        return None
    if found is None:
        return None
    from envdoctor.cli.streams import StreamFault, write_out

    code, text = found
    try:
        write_out(text)
    except StreamFault:
        # Whoever does the whole work will meet it again, and say so.
        return None
    return code


def _about_an_environment(argv: list[str]) -> bool:
    named = any(item.startswith(("--env", "--python")) for item in argv)
    return named and not any(item.startswith("--cache-dir") for item in argv)


class Remembering:
    """Notes what a verb looks at until ``close``, and keeps its answer where it can be given again."""

    def __init__(self, *, possible: bool) -> None:
        self.question = _question if possible else None
        self.inputs: Inputs | None = watch() if self.question is not None else None

    def close(self) -> None:
        """Note no more."""
        watched(end=True)

    def keep(self, text: str, code: int, *, is_json: bool, healthy: bool) -> None:
        """Keep an answer, if it can be. ``healthy``: nothing was found. Never raises."""
        inputs = watched(end=True)
        if self.question is None or inputs is None or inputs is not self.inputs or inputs.obstacle:
            return
        if inputs.passing and not healthy:
            return
        inputs.own_modules()
        if not inputs.settled or len(inputs.statuses) > _MOST_INPUTS:
            return
        try:
            _write(self.question, _told(inputs, text, code, is_json))
        except (OSError, ValueError):
            return


def _digest(argv: list[str]) -> str:
    """Return what tells this question from any other: all that may decide the answer besides files and folders."""
    try:
        from _blake2 import blake2b  # hashlib loads OpenSSL, for longer than all else here takes
    except ImportError:
        from hashlib import blake2b
    variables = sorted(
        (name, value)
        for name, value in os.environ.items()
        if name not in _OF_NO_MATTER and not name.startswith(_FAMILIES_OF_NO_MATTER)
    )
    parts = (
        _FORM,
        __version__,
        sys.version,
        sys.executable,
        [item for item in argv if item != FRESH],
        os.getcwd(),  # noqa: PTH109
        os.geteuid(),
        tuple(os.uname()),
        time.strftime("%Y-%m-%d"),
        sys.stdout.encoding,
        _terminal(),
        variables,
    )
    return blake2b(repr(parts).encode("utf-8", "backslashreplace"), digest_size=20).hexdigest()


def _terminal() -> tuple[int, int] | None:
    """Return columns and lines of the terminal that is written to, None where it is none."""
    if not sys.stdout.isatty():
        return None
    try:
        return tuple(os.get_terminal_size(sys.stdout.fileno()))  # type: ignore[return-value]
    except OSError:
        return (0, 0)


def _folder() -> str:
    return f"{cache_folder()}/answers"


def _read(question: str) -> tuple[int, str] | None:
    descriptor = os.open(f"{_folder()}/{question}", os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with open(descriptor, encoding="utf-8", errors="surrogateescape", newline="") as stream:  # noqa: PTH123
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid() or status.st_mode & 0o022:
            # In a folder that others write to it may be theirs.
            return None
        text = stream.read()
    form, made, passes, code, cut, count, rest = text.split("\n", 6)
    age = time.time() - float(made)
    lines = rest.split("\n", int(count))
    answer = lines.pop()
    if form != _FORM or not 0 <= age < float(passes):
        return None
    if len(lines) != int(count) or not all(map(_is_as_it_was, lines)):
        return None
    at = int(cut)
    if at:
        answer = f'{answer[:at]}\n    "remembered_s": {age:.3f},{answer[at:]}'
    return int(code), answer


def _is_as_it_was(line: str) -> bool:
    then, _, path = line.partition("\t")
    try:
        return signature(os.stat(path)) == then  # noqa: PTH116
    except (OSError, ValueError):
        return then == "-"


def _told(inputs: Inputs, text: str, code: int, is_json: bool) -> str:
    here = os.getcwd()  # noqa: PTH109
    lines = [f"{signature(status)}\t{os.path.join(here, path)}" for path, status in inputs.statuses.items()]  # noqa: PTH118
    if any("\n" in line for line in lines):
        raise ValueError("a path of two lines")
    # How long it took is told of the run that found the answer; how long ago that was, beside it.
    at = text.rfind(_TIMINGS) + len(_TIMINGS) if is_json else 0
    passes = _PASSES_AFTER_S if inputs.passing else float("inf")
    return "\n".join([_FORM, repr(inputs.began), str(passes), str(code), str(at), str(len(lines)), *lines, text])


def _write(question: str, text: str) -> None:
    folder = _folder()
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    partial = f"{folder}/.{question}.{os.getpid()}"
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="") as stream:  # noqa: PTH123
            stream.write(text)
        os.replace(partial, f"{folder}/{question}")  # noqa: PTH105
    except BaseException:
        os.unlink(partial)  # noqa: PTH108
        raise
    _forget_the_oldest(folder)


def _forget_the_oldest(folder: str) -> None:
    with os.scandir(folder) as entries:
        kept = sorted((entry.stat().st_mtime, entry.path) for entry in entries)
    for _, path in kept[:-_MOST_ANSWERS]:
        os.unlink(path)  # noqa: PTH108
