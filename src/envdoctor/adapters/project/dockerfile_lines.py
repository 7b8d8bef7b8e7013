"""A Dockerfile's instructions that install, or bring files: as commands of a shell, on the lines where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

__all__ = ["DockerScopes", "instructions", "run_lines", "stage_lines"]

_HEREDOC = re.compile(r"^<<-?\s*[\"']?([A-Za-z_]\w*)[\"']?\s*$")
_INSTRUCTION = re.compile(r"^\s*(RUN|ARG|ENV|WORKDIR|COPY|ADD)\s+(?:--\S+\s+)*(.*)$", re.I)
_OF_STAGES = re.compile(r"^\s*(FROM|ARG)\s+(.*)$", re.I)
_DEEPEST = 100
"""Stages that are made from one another; what is deeper counts to the last of them."""
_OPENING = re.compile(r"(?<!<)<<-?\s*[\"']?([A-Za-z_]\w*)[\"']?")


def instructions(text: str) -> list[int]:
    """Return the lines on which instructions begin."""
    return [number for number, line in enumerate(text.splitlines(), start=1) if _INSTRUCTION.match(line)]


def stage_lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each ``FROM`` and ``ARG``: its line, its name, and what follows, with the lines in which it goes on.

    Lines that go on from another instruction, and the text of a here-document, are none.
    """
    lines = text.splitlines()
    closing = {line.strip() for line in lines}
    terminator, within = "", False
    kept: tuple[int, str, str] | None = None
    for number, line in enumerate(lines, start=1):
        if terminator:
            terminator = "" if line.strip() == terminator else terminator
            continue
        if within and (not line.strip() or line.lstrip().startswith("#")):
            continue
        match = None if within else _OF_STAGES.match(line)
        if match is not None:
            kept = number, match[1].upper(), match[2].rstrip().removesuffix("\\")
        elif within and kept is not None:
            kept = *kept[:2], f"{kept[2]} {line.strip().removesuffix(chr(92))}"
        opening = _OPENING.search(line)
        terminator = opening[1] if opening is not None and opening[1] in closing else ""
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
        for number, line in enumerate(text.splitlines(), start=1):
            match = _INSTRUCTION.match(line)
            if number in froms:
                words = [word for word in froms[number].lower().split() if not word.startswith("--")]
                stage = (*named.get(words[0] if words else "", ())[:_DEEPEST], number)
                named |= {words[2]: stage} if len(words) == 3 else {}
                begins[number] = stage
            elif match is not None:
                begins[number] = (*stage, -number) if match[1].upper() == "RUN" else stage
        self._lines, self._scopes = list(begins), list(begins.values())

    def of(self, line: int) -> tuple[int, ...]:
        """Return the stages up to that of a line, each made from the one before, and its ``RUN``, below zero."""
        at = bisect_right(self._lines, line) - 1
        return self._scopes[at] if at >= 0 else (0,)


def run_lines(text: str) -> str:
    """Keep a Dockerfile's ``RUN`` and ``COPY``, their lines in place; ``ARG`` and ``ENV`` become assignments."""
    kept: list[str] = []
    continued = False
    terminator = ""
    for line in text.splitlines():
        if terminator:
            # Docker runs a here-document of RUN as a script.
            kept.append("" if line.strip() == terminator else line)
            terminator = "" if line.strip() == terminator else terminator
            continue
        instruction = _INSTRUCTION.match(line)
        if continued:
            kept.append(line)
        elif instruction is not None and (opening := _HEREDOC.match(instruction.group(2))):
            terminator = opening.group(1)
            kept.append("")
            continue
        elif instruction is not None and instruction.group(1).upper() == "RUN":
            kept.append(_exec_form(instruction.group(2)))
        elif instruction is not None and instruction.group(1).upper() in {"ARG", "ENV"}:
            kept.append(re.sub(r"^(\w+)\s+(?!=)", r"\1=", instruction.group(2)))
        elif instruction is not None and "<<" not in line:
            # The folders are followed as in a script, and flags tell where COPY takes from.
            kept.append(line.strip().replace(instruction.group(2), _exec_form(instruction.group(2))))
        else:
            kept.append("")
            continue
        comment = line.lstrip().startswith("#")
        continued = line.rstrip().endswith("\\") or (continued and comment)
        kept[-1] = kept[-1].rstrip()
    return "\n".join(kept)


def _exec_form(text: str) -> str:
    if text.startswith("[") and text.rstrip().endswith("]"):
        return " ".join(re.findall(r'"(?:[^"\\]|\\.)*(?:"|\Z)', text, re.S))
    return text
