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
from collections.abc import Iterator
from itertools import combinations

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as ParsedRequirement
from packaging.utils import canonicalize_name

from envdoctor.diagnose.examination import Examination, Sources
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


def _installed_names(command: InstallCommand, project: Project) -> set[str]:
    names = _argument_names(command)
    for requirement in project.requirements:
        origin = requirement.origin
        if not isinstance(origin, FileOrigin):
            continue
        own = requirement.step == command.step and origin.path == command.origin.path
        by_file = any(origin.path == item or origin.path.endswith("/" + item) for item in command.requirement_files)
        if own or by_file:
            names.add(requirement.name)
    return names


def _named_in_files(command: InstallCommand, sources: Sources | None) -> set[str]:
    """Return the names at the starts of the lines of a command's requirements files, as far as they can be read."""
    folder = command.origin.path.rpartition("/")[0]
    texts = [sources.read(f"{folder}/{name}".lstrip("/")) for name in command.requirement_files] if sources else []
    return {canonicalize_name(name) for text in texts if text for name in _NAME.findall(text.text)}


def _again(later: InstallCommand, commands: tuple[InstallCommand, ...]) -> set[str]:
    """Return the names that are installed again after a step."""
    return {
        name for item in commands if item.step > later.step and item.verb == "install" for name in _argument_names(item)
    }


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


def _undone(first: InstallCommand, later: InstallCommand, examination: Examination, project: Project) -> set[str]:
    """Return what ``first`` brings and ``later`` takes away, or installs from another index."""
    if later.verb == "install" and not _names_index(later):
        return set()
    mine, other = _installed_names(first, project), _argument_names(later)
    if later.verb == "uninstall" and first.requirement_files:
        # What a later step removes no longer counts as a requirement of the project, so the file itself is looked at.
        named = _named_in_files(first, examination.sources)
        mine |= named or (other & _again(later, project.commands))
    return mine & other


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
    for first, later in combinations(project.commands, 2):
        if first.origin.path != later.origin.path or first.verb != "install":
            continue
        undone = _undone(first, later, examination, project)
        names = [name for name in sorted(undone) if (first.origin.path, name) not in reported]
        if names:
            reported |= {(first.origin.path, name) for name in names}
            yield _finding(first, later, names)


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find)
