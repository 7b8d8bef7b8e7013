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
from envdoctor.adapters.inputs import Inputs, watch, watched
from envdoctor.cli.answer_file import Answer, digest, lines_of, read_answer, still_holds, write_answer

__all__ = ["FRESH", "Remembering", "recall"]

FRESH = "--fresh"
_MOST_INPUTS = 60_000
_PASSES_AFTER_S = 600.0
_TIMINGS = '"timings": {'
_SPOILT = (OSError, ValueError, OverflowError, MemoryError)
"""What a file that is not what it should be may lead to."""
# They differ from one shell or commit to the next and say nothing of an environment. Whatever is not named here counts.
_OF_NO_MATTER = frozenset(
    {
        "_",
        "DBUS_SESSION_BUS_ADDRESS",
        "INVOCATION_ID",
        "JOURNAL_STREAM",
        "LINES",
        "OLDPWD",
        "PWD",
        "SHLVL",
        "WINDOWID",
        "XDG_SESSION_ID",
    }
)
_FAMILIES_OF_NO_MATTER = ("GIT_", "ITERM_", "KITTY_", "PRE_COMMIT_", "SSH_", "TERM_SESSION_", "TMUX", "VSCODE_", "WT_")
_question: str | None = None
_named_fresh = False


def recall(argv: list[str]) -> int | None:
    """Write the answer that is remembered and return its exit code; None where there is none that still holds."""
    global _question, _named_fresh
    _question, _named_fresh = None, FRESH in argv
    if os.name != "posix" or argv[:1] != ["check"] or not _about_an_environment(argv):
        return None
    try:
        _question = digest(_told_apart(argv))
        answer = None if _named_fresh else read_answer(_question)
        if answer is None or not 0 <= time.time() - answer.made < answer.passes_after_s:
            return None
        if not still_holds(answer.states):
            return None
    except _SPOILT:
        return None
    return _say(answer)


def _say(answer: Answer) -> int:
    from envdoctor.cli.streams import StreamFault, silence_stdout, write_out

    text, cut = answer.text, answer.cut
    if cut:
        text = f'{text[:cut]}\n    "remembered_s": {time.time() - answer.made:.3f},{text[cut:]}'
    try:
        write_out(text)
    except StreamFault as fault:
        from envdoctor.cli.messages import error

        silence_stdout()
        error(str(fault))
        return 2
    return answer.code


def _about_an_environment(argv: list[str]) -> bool:
    named = any(item.startswith(("--env", "--python")) for item in argv)
    return named and not any(item.startswith("--cache-dir") for item in argv)


class Remembering:
    """Notes what a verb looks at until ``close``, and keeps its answer where it can be given again."""

    def __init__(self, *, possible: bool, fresh: bool) -> None:
        # A folder may have the option's name; what was asked of it is another question.
        possible = possible and fresh == _named_fresh
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
        answer = Answer(
            text,
            code,
            inputs.began,
            passes_after_s=_PASSES_AFTER_S if inputs.passing else float("inf"),
            # How long it took is told of the run that found the answer; how long ago that was, beside it.
            cut=text.rfind(_TIMINGS) + len(_TIMINGS) if is_json else 0,
            states=[],
        )
        try:
            here = os.getcwd()  # noqa: PTH109
            answer.states = lines_of({os.path.join(here, path): status for path, status in inputs.statuses.items()})  # noqa: PTH118
            write_answer(self.question, answer)
        except _SPOILT:
            return


def _told_apart(argv: list[str]) -> bytes:
    """Return what tells this question from any other: all that may decide the answer besides files and folders."""
    variables = sorted(
        (name, value)
        for name, value in os.environ.items()
        if name not in _OF_NO_MATTER and not name.startswith(_FAMILIES_OF_NO_MATTER)
    )
    asked = list(argv)
    if FRESH in asked:
        asked.remove(FRESH)
    parts = (
        __version__,
        sys.version,
        sys.executable,
        asked,
        os.getcwd(),  # noqa: PTH109
        (os.geteuid(), os.getegid(), sorted(os.getgroups()), _capabilities()),
        tuple(os.uname()),
        sys.stdout.encoding,
        _terminal(),
        variables,
    )
    return repr(parts).encode("utf-8", "backslashreplace")


def _capabilities() -> str:
    """Return what the process may do beyond its user's rights, as Linux lists it."""
    try:
        with open("/proc/self/status", encoding="utf-8") as stream:  # noqa: PTH123
            return "".join(line for line in stream if line.startswith("CapEff"))
    except OSError:
        return ""


def _terminal() -> tuple[int, int] | None:
    """Return columns and lines of the terminal that is written to, None where it is none."""
    if not sys.stdout.isatty():
        return None
    try:
        return tuple(os.get_terminal_size(sys.stdout.fileno()))  # type: ignore[return-value]
    except OSError:
        return (0, 0)
