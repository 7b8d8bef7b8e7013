"""A Dockerfile's instructions that install, or bring files: as commands of a shell, on the lines where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["instructions", "run_lines", "stage_lines"]

_HEREDOC = re.compile(r"^<<-?\s*[\"']?([A-Za-z_]\w*)[\"']?\s*$")
_INSTRUCTION = re.compile(r"^\s*(RUN|ARG|ENV|WORKDIR|COPY|ADD)\s+(?:--\S+\s+)*(.*)$", re.I)
_OF_STAGES = re.compile(r"^\s*(FROM|ARG)\s+(.*)$", re.I)
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
