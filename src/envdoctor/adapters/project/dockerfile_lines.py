"""A Dockerfile's instructions that install, or bring files: as commands of a shell, on the lines where they stand."""

from __future__ import annotations

import re

__all__ = ["instructions", "run_lines"]

_HEREDOC = re.compile(r"^<<-?\s*[\"']?([A-Za-z_]\w*)[\"']?\s*$")
_INSTRUCTION = re.compile(r"^\s*(RUN|ARG|ENV|WORKDIR|COPY|ADD)\s+(?:--\S+\s+)*(.*)$", re.I)


def instructions(text: str) -> list[int]:
    """Return the lines on which instructions begin."""
    return [number for number, line in enumerate(text.splitlines(), start=1) if _INSTRUCTION.match(line)]


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
