"""A script installs what a later step removes or replaces.

## What it does

Reports an install script in which an early step installs what a later step removes or replaces. Where a later command
names another version itself, which is asked for no more in any other way, it is a note.

## Why is this bad

The first download is wasted (a CUDA build of torch is gigabytes), and everything that was resolved beside it was
resolved against another version.

## Example

```
pip install -r requirements.txt        # brings the newest torch
pip uninstall torch torchvision -y
pip install torch==2.3.0 --index-url https://download.pytorch.org/whl/cu118
```

## References

- pip, User guide: https://pip.pypa.io/en/stable/user_guide/
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as ParsedRequirement
from packaging.utils import canonicalize_name

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import InstallCommand, Project

_NAME = re.compile(r"^[ \t]*([A-Za-z0-9][\w.-]*)", re.MULTILINE)


def _argument_names(command: InstallCommand) -> set[str]:
    names: set[str] = set()
    for argument in command.arguments:
        if argument.startswith("-"):
            continue
        try:
            names.add(canonicalize_name(ParsedRequirement(argument).name))
        except InvalidRequirement:
            continue
    files = {canonicalize_name(item) for item in command.requirement_files}
    return names - files - {"pip", "install", "uninstall"}


def _finding(first: InstallCommand, later: InstallCommand, names: list[str]) -> Finding:
    what = "removes" if later.verb == "uninstall" else "installs again from elsewhere"
    listed = ", ".join(f"`{name}`" for name in names)
    return RULE.finding(
        subject=names[0],
        message=(
            f"step order: {first.origin} installs {listed}, which {later.origin} {what}; "
            "the first download is wasted, and what was resolved beside it was resolved against another version"
        ),
        evidence=(
            Evidence(first.said, str(first.origin)),
            Evidence(later.said, str(later.origin)),
        ),
        remedy=Remedy("install the version that stays first, or everything in one command"),
        location=first.origin,
    )


class _Scripts:
    """What the commands of scripts bring and take away; each is looked at once, however many there are."""

    def __init__(self, examination: Examination, project: Project) -> None:
        self._sources = examination.sources
        self._asked: dict[tuple[str, int | None], set[str]] = {}
        self._of_file: dict[str, set[str]] = {}
        for line in project.requirements:
            if isinstance(line.origin, FileOrigin):
                self._asked.setdefault((line.origin.path, line.step), set()).add(line.name)
                self._of_file.setdefault(line.origin.path, set()).add(line.name)
        self._ends: dict[str, list[str]] = {}
        for path in self._of_file:
            parts = path.split("/")
            for at in range(len(parts)):
                self._ends.setdefault("/".join(parts[at:]), []).append(path)
        self._last = {
            name: each.step for each in project.commands if each.verb == "install" for name in _argument_names(each)
        }
        self.commands: dict[str, list[InstallCommand]] = {}
        for each in project.commands:
            self.commands.setdefault(each.origin.path, []).append(each)

    def undone(self, path: str, reported: Collection[str]) -> Iterator[Finding]:
        """Yield what a command of a script brings and a later one takes away, or installs from another index."""
        commands, done = self.commands[path], set(reported)
        taken, removed, again = self._takers(commands)
        files: dict[str, set[str]] = {}
        """The names in each requirements file, as far as it can be read."""
        for at, first in enumerate(commands):
            if first.verb != "install":
                continue
            new = [name for name in first.requirement_files if name not in files]
            found: dict[int, list[str]] = {}
            files |= {name: self._named_in(path, name) for name in new}
            blind = bool(first.requirement_files) and not any(files[name] for name in first.requirement_files)
            # What no command behind this one takes away, none behind a later one does.
            for names, takers in (
                (self._brought(first, new), taken),
                (set[str]().union(*(files[name] for name in new)), removed),
                (set(again) if blind else set[str](), again),
            ):
                for name in names:
                    later = next((each for each in takers.pop(name, ()) if each > at), None)
                    if later is not None and name not in done:
                        done.add(name)
                        found.setdefault(later, []).append(name)
            for behind, brought in sorted(found.items()):
                yield _finding(first, commands[behind], sorted(brought))

    def _takers(self, commands: Sequence[InstallCommand]) -> tuple[dict[str, list[int]], ...]:
        """Return by name the commands that take it away: all; that remove it; and where it is installed again later."""
        found: tuple[dict[str, list[int]], ...] = ({}, {}, {})
        for at, command in enumerate(commands):
            removes = command.verb == "uninstall"
            for name in _argument_names(command) if removes or _names_index(command) else ():
                kinds = 1 + removes * (1 + (self._last.get(name, 0) > command.step))
                for takers in found[:kinds]:
                    takers.setdefault(name, []).append(at)
        return found

    def _brought(self, command: InstallCommand, files: Iterable[str]) -> set[str]:
        asked = self._asked.get((command.origin.path, command.step), set())
        paths = {path for file in files for path in self._ends.get(file, ())}
        return _argument_names(command).union(asked, *(self._of_file[path] for path in paths))

    def _named_in(self, script: str, file: str) -> set[str]:
        """Return the names at the starts of the lines of a requirements file.

        What a later step removes no longer counts as a requirement of the project, so the file itself is looked at.
        """
        folder = script.rpartition("/")[0]
        text = self._sources.read(f"{folder}/{file}".lstrip("/")) if self._sources else None
        return {canonicalize_name(name) for name in _NAME.findall(text.text)} if text else set()


def _replaced(project: Project) -> Iterator[Finding]:
    """Yield what a later command asks for in another version: installers put that in its place."""
    commands = {command.step: command for command in project.commands}
    removed = {name for each in project.commands if each.verb == "uninstall" for name in _argument_names(each)}
    last = {line.name: line for line in project.requirements if line.step is not None}
    for line in project.superseded:
        later = last.get(line.name)
        command = commands.get((later and later.step) or 0)
        first = commands.get(line.step or 0)
        if later is None or command is None or first is None or first.step >= command.step or line.name in removed:
            continue
        itself = isinstance(later.origin, FileOrigin) and later.origin.path == command.origin.path
        what = f"`{later}`" if later.is_pin or not command.upgrade else f"the newest `{later}`"
        yield RULE.finding(
            subject=line.name,
            message=f"step order: {first.origin} asks for `{line}`, and {command.origin} puts {what} in its place",
            severity=Severity.INFO if itself and not _names_index(command) else RULE.severity,
            evidence=(Evidence(first.said, str(first.origin)), Evidence(command.said, str(command.origin))),
            remedy=Remedy("ask for the version that is meant in one place"),
            location=command.origin,
            packages=(line.name,),
        )


def _names_index(command: InstallCommand) -> bool:
    return any(item.startswith(("--index-url", "-i")) for item in command.arguments)


def _find(examination: Examination, project: Project) -> Iterator[Finding]:
    replaced = list(_replaced(project))
    yield from replaced
    reported = {(one.location.path, one.subject) for one in replaced if isinstance(one.location, FileOrigin)}
    scripts = _Scripts(examination, project)
    for path in scripts.commands:
        yield from scripts.undone(path, {name for where, name in reported if where == path})


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find)
