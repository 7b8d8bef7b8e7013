"""Changing what a person wrote: one requirement of one line, and nothing else of the file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envdoctor.model.dataclass import dataclass

__all__ = ["Edit", "NotEditable", "edited"]


class NotEditable(Exception):
    """A line that is not changed; the text says why."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What becomes of one requirement of a file."""

    line: int
    """Counted from 1."""
    name: str
    """The project, normalised."""
    written: str
    """The requirement as the person wrote it."""
    wanted: str | None
    """The specifier that it gets, such as ``==2.5.1``; None where it is left out."""
    added: tuple[str, ...] = ()
    """Requirements that come after it, such as ``pydantic==2.10.6``."""


_CLAUSES = r"(?:\s*(?:[<>=!~]=?=?\s*[\w.*+!-]+|\*)(?:\s*,)?)*"
_KEY = r"""^(\s*)(["']?)(?P<name>%s)\2(\s*=\s*)(?P<value>["'{].*)$"""


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Return a file's text with the edits made; ends of lines and comments stay. Raises NotEditable."""
    lines = text.splitlines(keepends=True)
    for edit in sorted(edits, key=lambda edit: edit.line, reverse=True):
        if not 0 < edit.line <= len(lines):
            raise NotEditable(f"has no line {edit.line} any more")
        if "--hash" in _logical(lines, edit.line - 1):
            raise NotEditable(f"line {edit.line} has hashes, which are those of the version that goes")
        place = edit.line - 1
        added = [_like(lines[place], edit, pin) for pin in edit.added]
        if edit.wanted is not None:
            lines[place] = _with_specifier(lines[place], edit)
        elif _alone(lines[place], edit):
            lines[place] = ""
        else:
            lines[place] = _without(lines[place], edit)
        if added and lines[place]:
            lines[place] = _ended(lines[place], comma=added[0].rstrip().endswith(","))
        lines[place + 1 : place + 1] = added
    return "".join(lines)


def _logical(lines: Sequence[str], place: int) -> str:
    """Return a line with those that its backslashes join to it."""
    found = lines[place]
    while found.rstrip().endswith("\\") and place + 1 < len(lines):
        place += 1
        found += lines[place]
    return found


def _spelled(name: str) -> str:
    """Return a pattern for every way to write a project's name."""
    return r"[-_.]+".join(re.escape(part) for part in re.split(r"[-_.]+", name))


def _with_specifier(line: str, edit: Edit) -> str:
    wanted = edit.wanted or ""
    keyed = _keyed(line, edit)
    if keyed is not None:
        value = keyed["value"]
        pattern = r"""(["'])[^"']*\1""" if value[0] != "{" else r"""(?<=version)(\s*=\s*)(["'])[^"']*\2"""
        new = f'"{wanted}"' if value[0] != "{" else f' = "{wanted}"'
        changed, count = re.subn(pattern, lambda _: new, value, count=1)
        if not count:
            raise NotEditable(f"line {edit.line} names no version of `{edit.name}`")
        return line[: keyed.start("value")] + changed + line[keyed.end("value") :]
    start = line.find(edit.written)
    if start < 0 or line.find(edit.written, start + 1) >= 0:
        raise NotEditable(f"line {edit.line} does not say `{edit.written}` in one place")
    head = re.match(
        rf"(?P<head>{_spelled(edit.name)}(?:\s*\[[^\]]*\])?)(?P<open>\s*\(?){_CLAUSES}\)?", edit.written, re.I
    )
    if head is None:
        raise NotEditable(f"line {edit.line} names `{edit.name}` in a way of its own")
    rest = edit.written[head.end() :]
    gap = " " if rest and not rest.startswith((";", " ", ",")) else ""
    return f"{line[:start]}{head['head']}{wanted}{gap}{rest}{line[start + len(edit.written) :]}"


def _keyed(line: str, edit: Edit) -> re.Match[str] | None:
    """Return the match of ``name = "specifier"``, None where the line is no such entry."""
    return re.match(_KEY % _spelled(edit.name), line.rstrip("\r\n"), re.I)


def _alone(line: str, edit: Edit) -> bool:
    """Return whether a line says nothing but the requirement."""
    bare = re.sub(r"(?<!\s)\s+#.*$", "", line.rstrip("\r\n")).strip().removeprefix("- ").strip().rstrip(",").strip()
    return _keyed(line, edit) is not None or bare in (edit.written, f'"{edit.written}"', f"'{edit.written}'")


def _without(line: str, edit: Edit) -> str:
    """Return a line of several requirements without one."""
    word = re.escape(edit.written)
    for pattern in (rf"""(["']){word}\1\s*,\s*""", rf"""\s*,?\s*(["']){word}\1"""):
        changed, count = re.subn(pattern, "", line, count=1)
        if count:
            return changed
    raise NotEditable(f"line {edit.line} says more than `{edit.written}`")


def _like(line: str, edit: Edit, pin: str) -> str:
    """Return a line that says a pin in the form in which the line beside it says its requirement."""
    end = "\r\n" if line.endswith("\r\n") else "\n"
    keyed = _keyed(line, edit)
    if keyed is not None:
        name = re.split(r"[<>=!~ ]", pin, maxsplit=1)[0]
        return f'{keyed[1]}{name} = "{pin[len(name) :].strip() or "*"}"{end}'
    if not _alone(line, edit):
        raise NotEditable(f"line {edit.line} says more than `{edit.written}`: `{pin}` is to be added beside it")
    indent = line[: len(line) - len(line.lstrip())]
    quote = next((mark for mark in "\"'" if line.strip().removeprefix("- ").startswith(mark)), "")
    dash = "- " if line.lstrip().startswith("- ") else ""
    return f"{indent}{dash}{quote}{pin}{quote}{',' if quote and not dash else ''}{end}"


def _ended(line: str, *, comma: bool) -> str:
    """Return a line that another may follow: with an end, and in a list with its comma."""
    body = line.rstrip("\r\n")
    end = line[len(body) :] or "\n"
    if comma and not re.search(r",\s*(?:#.*)?$", body):
        body = re.sub(r"""(["'])(\s*(?:#.*)?)$""", r"\1,\2", body, count=1)
    return body + end
