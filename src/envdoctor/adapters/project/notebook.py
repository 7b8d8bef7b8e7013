"""Jupyter notebooks: ``%pip install`` and ``!pip install`` lines of their cells. Nothing is executed."""

from __future__ import annotations

import json
import re
from pathlib import Path

from envdoctor.adapters.project.decoding import json_of
from envdoctor.adapters.project.draft import Draft, ProjectFileError, TextFile
from envdoctor.adapters.project.install_script import read_commands

__all__ = ["python_of", "read_notebook"]

_CALL = re.compile(r"^\s*(?:%|!|%%(?:bash|sh|capture)\s*$)")
_CHANGED = re.compile(r"^\s*os\.chdir\(\s*([\"'])([^\"']+)\1\s*\)\s*(?:[;#].*)?$")
_INSERTED = re.compile(r"(?<!\$)\{(\w+)\}")
_SHELL_CELL = re.compile(r"^\s*%%(?:bash|sh|shell)\b")


def read_notebook(draft: Draft, path: Path, *, required: bool) -> None:
    """Read a notebook's install commands into the draft.

    Raises ProjectFileError for what is no notebook, or has no such command and must have one.
    """
    file = draft.load(path, json_refused=False)
    before = len(draft.commands)
    text, starts = _commands(file)
    read_commands(draft, TextFile(file.path, file.shown, text), starts)
    if required and len(draft.commands) == before:
        raise ProjectFileError(file.shown, None, "no `%pip install` or `!pip install` line was found in this notebook")


def python_of(text: str) -> str | None:
    """Return the Python of a notebook's cells without what only IPython understands, None where it is no notebook."""
    try:
        cells = json.loads(text)["cells"]
        sources = [_source(cell) for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return "\n".join(
        _plain(line) for source in sources if not _SHELL_CELL.match(source) for line in source.splitlines()
    )


def _plain(line: str) -> str:
    return "" if line.lstrip().startswith(("%", "!", "?")) else line


def _commands(file: TextFile) -> tuple[str, list[int]]:
    """Return the shell commands of the cells, each in the file's line that it stands in, where that can be found.

    With the lines on which shells begin: each ``!`` has one of its own, ``%cd`` and ``os.chdir`` count for all.
    """
    try:
        cells = json_of(file.text, file.shown)["cells"]
        sources = [_source(cell) for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    except (KeyError, TypeError) as error:
        raise ProjectFileError(file.shown, None, "not a Jupyter notebook: it has no list of cells") from error
    lines = file.text.splitlines()
    placed: dict[int, str] = {}
    starts: list[int] = []
    at = 0
    for source in sources:
        whole = bool(_SHELL_CELL.match(source.partition("\n")[0]))
        for count, command in enumerate(_of_cell(source)):
            at = _line_of(command, lines, at)
            text = _CHANGED.sub(r"%cd \2", command).strip()
            if not text.startswith("%cd"):
                text = text.lstrip("%!").strip()
            # IPython's `{name}` is a variable of Python, which nobody runs here.
            placed[at] = _INSERTED.sub(r"${\1}", text)
            at += 1
            starts += [at] if not whole or not count else []
    return "\n".join(placed.get(number, "") for number in range(max(placed, default=-1) + 1)), starts


def _source(cell: dict[str, object]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _of_cell(source: str) -> list[str]:
    lines = source.replace("\\\n", " ").splitlines()
    whole = bool(lines) and bool(_SHELL_CELL.match(lines[0]))
    called = (line for line in lines if _CALL.match(line) or _CHANGED.match(line))
    return lines[1:] if whole else [line for line in called if not line.lstrip().startswith("%%")]


def _line_of(command: str, lines: list[str], start: int) -> int:
    """Return the line of the file, from 0, that has a command, not before ``start``."""
    written = json.dumps(command.split("  ")[0].strip(), ensure_ascii=False)[1:-1]
    return next((number for number in range(start, len(lines)) if written in lines[number]), start)
