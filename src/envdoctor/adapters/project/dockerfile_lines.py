"""A Dockerfile's instructions that install, or bring files: as commands of a shell, on the lines where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from envdoctor.adapters.project.script_variables import ScriptVariables
from envdoctor.adapters.project.shell_lines import HERE_DOCUMENT, SHELL
from envdoctor.adapters.project.shell_words import Dialect, Word

__all__ = ["DockerScopes", "StageVariables", "instructions", "run_lines", "stage_lines"]

_SCRIPT = re.compile(rf"^(?:{SHELL}\s+)?{HERE_DOCUMENT.pattern}(?:\s+{SHELL})?\s*$")
"""A here-document that a shell runs."""
_INSTRUCTION = re.compile(r"^\s*(RUN|CMD|ENTRYPOINT|ARG|ENV|WORKDIR|COPY|ADD)\s+(?:--\S+\s+)*(.*)$", re.I)
_RUNS, _STARTS = frozenset({"RUN", "CMD", "ENTRYPOINT"}), frozenset({"CMD", "ENTRYPOINT"})
_OF_STAGES = re.compile(r"^\s*(FROM|ARG)\s+(.*)$", re.I)
_FLAGS = re.compile(r"\s*(?:--\S+\s+)+")
_MOUNT = re.compile(r"--mount=(\S+)")
_DEEPEST = 100
"""Stages that are made from one another; what is deeper counts to the last of them."""


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the lines with their numbers, and whether each is of a here-document's text, its end too."""
    lines = text.splitlines()
    closing = {line.strip() for line in lines}
    ends: list[str] = []
    for number, line in enumerate(lines, start=1):
        yield number, line, bool(ends)
        if ends:
            ends = ends[line.strip() == ends[0] :]
        elif not line.lstrip().startswith("#"):
            ends = [word for word in HERE_DOCUMENT.findall(line) if word in closing]


def instructions(text: str) -> list[int]:
    """Return the lines on which instructions begin."""
    return [number for number, line, data in _lines(text) if not data and _INSTRUCTION.match(line)]


def stage_lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each ``FROM`` and ``ARG``: its line, its name, and what follows, with the lines in which it goes on.

    Lines that go on from another instruction, and the text of a here-document, are none.
    """
    within = False
    kept: tuple[int, str, str] | None = None
    for number, line, data in _lines(text):
        if data or (within and (not line.strip() or line.lstrip().startswith("#"))):
            continue
        match = None if within else _OF_STAGES.match(line)
        if match is not None:
            kept = number, match[1].upper(), match[2].rstrip().removesuffix("\\")
        elif within and kept is not None:
            kept = *kept[:2], f"{kept[2]} {line.strip().removesuffix(chr(92))}"
        within = line.rstrip().endswith("\\")
        if kept is not None and not within:
            yield kept
            kept = None
    if kept is not None:
        yield kept


class DockerScopes:
    """How far a variable reaches that a Dockerfile sets: its ``RUN``, or the stage and what is made from it."""

    def __init__(self, text: str) -> None:
        """Read the stages and the instructions, by their names alone."""
        begins: dict[int, tuple[int, ...]] = {}
        named: dict[str, tuple[int, ...]] = {}
        stage: tuple[int, ...] = (0,)
        froms = {number: rest for number, name, rest in stage_lines(text) if name == "FROM"}
        for number, line, data in _lines(text):
            match = None if data else _INSTRUCTION.match(line)
            if number in froms:
                words = [word for word in froms[number].lower().split() if not word.startswith("--")]
                stage = (*named.get(words[0] if words else "", ())[:_DEEPEST], number)
                named |= {words[2]: stage} if len(words) == 3 else {}
                begins[number] = stage
            elif match is not None:
                begins[number] = (*stage, -number) if match[1].upper() in _RUNS else stage
        self._lines, self._scopes = list(begins), list(begins.values())

    def of(self, line: int) -> tuple[int, ...]:
        """Return the stages up to that of a line, each made from the one before, and its ``RUN``, below zero."""
        at = bisect_right(self._lines, line) - 1
        return self._scopes[at] if at >= 0 else (0,)


class StageVariables:
    """The variables of each stage: what stands above the first ``FROM`` counts where an ``ARG`` names it again."""

    def __init__(self, scopes: DockerScopes) -> None:
        """Begin above the first stage."""
        self._scopes, self._above = scopes, ScriptVariables(Dialect.POSIX)
        self._known: dict[tuple[int, ...], ScriptVariables] = {(0,): self._above}

    def at(self, words: Sequence[Word]) -> ScriptVariables:
        """Return the variables that a command finds, with those that it declares again."""
        scope = self._scopes.of(words[0].line)
        stage = tuple(line for line in scope if line >= 0)
        known = self._known.get(stage)
        if known is None:
            base = self._known.get(stage[:-1])
            known = self._known[stage] = base.copy() if base is not None else ScriptVariables(Dialect.POSIX)
            known.not_here = self._above
        for word in words if scope[-1] > 0 else ():
            value = self._above.value(word.text)
            if value is not None:
                known.learn([Word(f"{word.text}={value}", word.line)])
        return known


def run_lines(text: str) -> str:
    """Keep a Dockerfile's ``RUN`` and ``COPY``, their lines in place; ``ARG`` and ``ENV`` become assignments.

    Of ``CMD`` and ``ENTRYPOINT`` the last one of each runs, where a container starts.

    A bind mount becomes a ``COPY`` before its command, and a file that ``COPY`` has the text of one that is written.
    """
    kept: list[str] = []
    continued, flags = False, False
    script = ""
    starting = _starting(text)
    for number, line, data in _lines(text):
        if data:
            # Docker runs a here-document of RUN as a script; that of a program in it is data.
            kept.append(line if script and line.strip() != script else "")
            continue
        script = ""
        plain = HERE_DOCUMENT.sub("", line)
        instruction = _INSTRUCTION.match(line)
        name, rest = (instruction[1].upper(), instruction[2]) if instruction is not None else ("", "")
        if name in _STARTS and number not in starting and not continued:
            instruction = None
        if continued and not line.strip():
            kept.append("\\")  # Docker goes on behind an empty line.
            continue
        if continued:
            leading = _FLAGS.match(line) if flags else None
            kept.append(_mounts(leading[0]) + line[leading.end() :] if leading is not None else plain)
            rest = line[leading.end() :] if leading is not None else line
            flags = flags and (rest.strip() == "\\" or rest.lstrip().startswith("#"))
        elif instruction is not None and name in _RUNS:
            opened = _SCRIPT.match(rest)
            script = opened[1] if opened is not None else ""
            command = "" if opened is not None else _exec_form(HERE_DOCUMENT.sub("", rest))
            kept.append(_mounts(line[: instruction.start(2)]) + command)
            flags = rest.strip() == "\\"
        elif instruction is not None and name in {"ARG", "ENV"}:
            kept.append(re.sub(r"^(\w+)\s+(?!=)", r"\1=", rest))
        elif instruction is not None and plain != line:
            kept.append(f"cat > {HERE_DOCUMENT.sub('', rest).strip()}")
        elif instruction is not None:
            # The folders are followed as in a script, and flags tell where COPY takes from.
            kept.append(line.strip().replace(rest, _exec_form(rest)))
        else:
            kept.append("")
            continue
        comment = line.lstrip().startswith("#")
        continued = line.rstrip().endswith("\\") or (continued and comment)
        kept[-1] = kept[-1].rstrip()
    return "\n".join(kept)


def _starting(text: str) -> set[int]:
    """Return the lines of the last ``CMD`` and ``ENTRYPOINT``."""
    last: dict[str, int] = {}
    continued = False
    for number, line, data in _lines(text):
        match = None if data or continued else _INSTRUCTION.match(line)
        if match is not None and match[1].upper() in _STARTS:
            last[match[1].upper()] = number
        continued = line.rstrip().endswith("\\") or (continued and line.lstrip().startswith("#"))
    return set(last.values())


def _mounts(flags: str) -> str:
    """Return what the flags of a RUN bind from the checkout, or from a stage, as commands."""
    commands: list[str] = []
    for options in _MOUNT.findall(flags):
        told = dict(part.partition("=")[::2] for part in options.split(","))
        target = told.get("target") or told.get("dst") or told.get("destination")
        if target and told.get("type", "bind") == "bind":
            stage = f"--from={told['from']} " if "from" in told else ""
            commands.append(f"COPY {stage}{told.get('source') or told.get('src') or '.'} {target}; ")
    return "".join(commands)


def _exec_form(text: str) -> str:
    if text.startswith("[") and text.rstrip().endswith("]"):
        return " ".join(re.findall(r'"(?:[^"\\]|\\.)*(?:"|\Z)', text, re.S))
    return text
