"""The man page, written from the code by `scripts/reference.py`."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

EXIT_CODES = (
    ("0", "nothing that fails"),
    ("1", "findings at or above --fail-on, requirements that cannot be installed together, or a kernel that failed"),
    ("2", "the command, a file or the configuration is wrong"),
    ("3", "not everything could be looked at: the verdict is not known"),
    ("4", "a fault of envdoctor itself"),
)


def page() -> str:
    """Return the page as groff reads it."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    import typer

    from envdoctor import __version__
    from envdoctor.cli.verb_list import VERBS

    yield f'.TH ENVDOCTOR 1 "" "envdoctor {__version__}" "User Commands"'
    yield ".SH NAME"
    yield "envdoctor \\- finds what is wrong with requirements and environments, for the card that is there"
    yield ".SH SYNOPSIS"
    yield ".B envdoctor"
    yield "VERB [OPTIONS] [ARGUMENTS]"
    yield ".SH COMMANDS"
    for verb in VERBS:
        command = typer.main.get_command(importlib.import_module(f"envdoctor.cli.{verb}_command").app)
        yield from _command(f"envdoctor {verb}", command)
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES:
        yield from (".TP", f".B {code}", _text(meaning))


def _command(path: str, command: Any) -> Iterator[str]:
    children = getattr(command, "commands", None)
    if children:
        for name, child in children.items():
            yield from _command(f"{path} {name}", child)
        return
    yield f".SS {_text(path)}"
    yield _text(command.help or "")
    for item in command.params:
        if item.name != "help":
            yield from (".TP", f".B {_text(_name(item))}", _text(item.help or ""))


def _name(item: Any) -> str:
    if item.param_type_name == "argument":
        return item.metavar or item.name.upper()
    value = "" if item.is_flag or getattr(item, "count", False) else f" {item.metavar or item.type.name.upper()}"
    return ", ".join((*item.opts, *item.secondary_opts)) + value


def _text(words: str) -> str:
    """Return text in which groff finds no command: no leading dot or quote, backslashes and hyphens as they are."""
    line = " ".join(words.split()).replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return re.sub(r"^([.'])", r"\\&\1", line)
