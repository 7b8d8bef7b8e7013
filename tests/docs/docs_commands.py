"""Commands in Markdown: those shown with their output, and those that are only mentioned."""

from __future__ import annotations

import importlib
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from envdoctor.cli.verb_list import VERBS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "advisories" / "README.md", *(ROOT / "docs").rglob("*.md")]
)
_COMMENT = re.compile(r"<!--\s*(needs|exit):\s*(.*?)\s*-->\s*\Z")
_FENCE = re.compile(r"```(\w*)")
_INLINE = re.compile(r"`(envdoctor [^`]+)`")
_INDENTED = re.compile(r"(?: {4,}|\s*- )(?:\S*/)?(envdoctor .+)")
_REST = re.compile(r"\s+(?:#|\||>|&&|\\$).*")


@dataclass
class Command:
    """A command with what the page shows below it."""

    page: Path
    line: int
    text: str
    expected: list[str] = field(default_factory=list)
    needs: str | None = None
    """Why it is not run, None where it is."""
    exits: int | None = None
    """The exit code that the page promises; None: 0 or 1."""

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"


def shown(page: Path) -> list[Command]:
    """Return the commands of a page's ``console`` blocks, in order."""
    found: list[Command] = []
    inside = ""
    comments: dict[str, str] = {}
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if fence:
            inside = "" if inside else fence[1] or "text"
            comments = {} if not inside else comments
        elif inside == "console" and line.startswith("$ "):
            exits = int(comments["exit"]) if "exit" in comments else None
            found.append(Command(page, number, line[2:], needs=comments.get("needs"), exits=exits))
        elif inside == "console" and found:
            found[-1].expected.append(line)
        elif not inside:
            comment = _COMMENT.match(line)
            comments = {comment[1]: comment[2]} if comment else {}
    return found


def mentioned(page: Path) -> Iterator[Command]:
    """Yield every envdoctor command of a page: in backticks, in indented blocks, in blocks of other languages."""
    inside = ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if fence:
            inside = "" if inside else fence[1] or "text"
            continue
        indented = _INDENTED.match(line)
        if indented and inside in ("", "yaml", "sh"):
            yield Command(page, number, _REST.sub("", indented[1]))
        elif not inside:
            yield from (Command(page, number, _REST.sub("", text)) for text in _INLINE.findall(line))


def loose(page: Path) -> Iterator[str]:
    """Yield the lines that nothing runs though a command may stand there: code that does not say of what it is."""
    inside = ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if fence:
            inside = "" if inside else fence[1] or "nothing"
        wrong = inside in ("nothing", "sh", "bash", "shell") if fence else not inside and re.match(r" {4,}\S|\t", line)
        if wrong:
            yield f"{number}: {line.strip()}"


def faults(command: str) -> list[str]:
    """Return what is wrong with a command line, without running it: verbs and options that do not exist."""
    words = shlex.split(command)[1:]
    if not words or words[0].startswith("-"):
        return [f"no option {word}" for word in words if word not in ("--version", "--help", "-h")]
    verb, *rest = words
    if verb not in VERBS:
        return [] if verb.isupper() or verb == "..." else [f"no verb {verb}"]
    known: Any = typer.main.get_command(importlib.import_module(f"envdoctor.cli.{verb}_command").app)
    below = getattr(known, "commands", None)
    if below and rest and not rest[0].startswith("-"):
        names = rest[0].split("|")
        if set(names) - set(below):
            return [f"no verb {verb} {rest[0]}"]
        known, rest = below[names[0]], rest[1:]
    options = {option for item in known.params for option in (*item.opts, *item.secondary_opts)} | {"--help", "-h"}
    given = rest[: rest.index("--")] if "--" in rest else rest
    wanted = [word.partition("=")[0] for word in given if re.match(r"--?[a-z]", word)]
    return [f"{verb} has no option {word}" for word in wanted if word not in options]
