"""``init``'s hook in a pre-commit file: added to the list that is there, as that list is indented."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.model.dataclass import dataclass
from envdoctor.ports import UsageError
from envdoctor.shell_line import shell_line

if TYPE_CHECKING:
    from yaml import Node

__all__ = ["HOOK_FILES", "with_hook"]

HOOK_FILES = r"""(?x)(^|/)(
  requirements[^/]*\.(txt|in)|
  requirements/[^/]+\.(txt|in)|
  (constraints|overrides)[^/]*\.txt|
  pyproject\.toml|
  setup\.(cfg|py)|
  environment[^/]*\.ya?ml|
  pylock\.([^/]+\.)?toml|
  [^/]+\.envdoctor\.toml
)$"""
"""The files whose change makes the hook run, as pre-commit reads them."""


class _NotExtendedError(Exception):
    """A file that the hook cannot be added to, and why."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the hook goes, and how the list there is indented."""

    before: str
    after: str
    column: int = 2
    """Of the dash of an item."""
    step: int = 2
    """From a dash to what stands behind it."""
    deeper: int = 2
    """From `hooks:` to the dashes below it."""
    headed: bool = True
    """Whether `repos:` is there."""


def with_hook(path: Path, text: str, where: str) -> str | None:
    """Return the file's text with the hook for a project; None where it has one. Raises UsageError."""
    import yaml

    try:
        old = yaml.safe_load(text)
        if any(_checks(hook, where) for hook in _hooks(old)):
            return None
        place = _place(text)
        after = _joined(place, _block(place, where))
        if not _is_added(old, yaml.safe_load(after), where):
            by_hand = f"add it to the list under `repos:` by hand:\n{_block(place, where)}"
            raise UsageError(f"`{path}`: the hook cannot be added without a change to the rest; {by_hand}")
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date that is none.
        raise UsageError(f"`{path}`: invalid YAML: {error}") from error
    except _NotExtendedError as error:
        raise UsageError(f"`{path}`: {error}; change that by hand, then type the command again") from error
    return after


def _is_added(old: object, new: object, where: str) -> bool:
    """Return whether a file says what it said, and has the hook as the last of its list."""
    before = old if isinstance(old, dict) else {}
    if not isinstance(new, dict) or not any(_checks(hook, where) for hook in _hooks(new)):
        return False
    return bool(new["repos"][:-1] == (before.get("repos") or []) and {**new, "repos": 0} == {**before, "repos": 0})


def _block(place: _Place, where: str) -> str:
    # pre-commit takes it apart as a POSIX shell does, on Windows as well.
    words = ["envdoctor", "check", *([] if where == "." else [where]), "--offline", "--quiet"]
    entry = shell_line(words, windows=False)
    if ": " in entry or " #" in entry:  # YAML would read a key or a comment.
        entry = "'" + entry.replace("'", "''") + "'"
    dash = "-".ljust(place.step)
    item, key = place.column + place.step, place.column + 2 * place.step + place.deeper
    lines = [
        (place.column, f"{dash}repo: local"),
        (item, "hooks:"),
        (item + place.deeper, f"{dash}id: envdoctor-check"),
        (key, "name: envdoctor check"),
        (key, "# Asks no index: it judges by what `envdoctor check` and the lock have seen."),
        (key, f"entry: {entry}"),
        (key, "language: system"),
        (key, "pass_filenames: false"),
        (key, "require_serial: true"),
        (key, "files: |-"),
        *((key + place.step, line) for line in HOOK_FILES.splitlines()),
    ]
    return "".join(f"{' ' * column}{line}\n" for column, line in lines)


def _joined(place: _Place, block: str) -> str:
    """Return the text with the block in it: in its line endings, without one at its end where it had none."""
    end = "\r\n" if "\r\n" in place.before else "\n"
    added = (block if place.headed else f"{' ' * (place.column - 2)}repos:\n{block}").replace("\n", end)
    if place.before and not place.before.endswith("\n"):
        return f"{place.before}{end}{added.removesuffix(end)}"
    return f"{place.before}{added}{place.after}"


def _place(text: str) -> _Place:
    """Return where the hook goes. Raises _NotExtendedError."""
    import yaml

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is None:
        return _Place(text, "", headed=False)
    if not isinstance(root, yaml.MappingNode):
        raise _NotExtendedError("it has no keys, where pre-commit reads `repos:`")
    if root.flow_style:
        raise _NotExtendedError("it is written in braces, which nothing is added to")
    margin = root.start_mark.column
    repos = next((value for key, value in root.value if key.value == "repos"), None)
    if repos is None:
        return _Place(*_cut(text, _end(text, root), margin), column=margin + 2, headed=False)
    if repos.value in ([], "", "~", "null") and not isinstance(repos, yaml.MappingNode):
        start, end = repos.start_mark.index, repos.end_mark.index
        if "#" in text[start:end]:
            raise _NotExtendedError("a comment stands in the brackets of its empty list")
        head = text[:start].rstrip(" ")
        return _Place(*_cut(head + text[end:], len(head), margin), column=margin + 2)
    if not isinstance(repos, yaml.SequenceNode):
        raise _NotExtendedError("its `repos` is no list")
    if repos.flow_style:
        raise _NotExtendedError("its list of repositories is written in brackets, which nothing is added to")
    column = repos.start_mark.column
    step, deeper = _steps(repos.value, column)
    if deeper is None:
        deeper = 0 if column == margin else 2
    return _Place(*_cut(text, _end(text, repos), column), column=column, step=step, deeper=deeper)


def _steps(items: list[Node], column: int) -> tuple[int, int | None]:
    """Return how far an item's keys stand from its dash, and the dashes of its hooks from its keys."""
    import yaml

    step = 2
    for item in items:
        if not isinstance(item, yaml.MappingNode) or item.flow_style or item.start_mark.column <= column:
            continue
        step = item.start_mark.column - column
        for key, value in item.value:
            if key.value == "hooks" and isinstance(value, yaml.SequenceNode) and not value.flow_style:
                return step, max(0, value.start_mark.column - item.start_mark.column)
    return step, None


def _end(text: str, node: Node) -> int:
    """Return where the last that a node holds ends; the node itself ends before what comes next, comments between."""
    import yaml

    ends = [node.start_mark.index]
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if event.start_mark is None or event.end_mark is None:
            continue
        start, end = event.start_mark.index, event.end_mark.index
        closes = isinstance(event, yaml.CollectionEndEvent) and end > start  # A bracket; a block ends with nothing.
        if closes or isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent)):
            ends += [end] if node.start_mark.index <= start and end <= node.end_mark.index else []
    return max(ends)


def _cut(text: str, end: int, column: int) -> tuple[str, str]:
    """Return a text up to the line's end and after it; comments below that are indented deeper belong to the first."""
    if not text[:end].endswith("\n"):  # That is the end of a text in lines of its own (`|`).
        end = text.find("\n", end) + 1 or len(text)
    while found := re.compile(rf" {{{column + 1},}}#[^\n]*(\n|\Z)").match(text, end):
        end = found.end()
    return text[:end], text[end:]


def _hooks(config: object) -> Iterator[Mapping[str, object]]:
    """Yield the hooks of pre-commit's file, whatever else stands in it."""
    repos = config.get("repos") if isinstance(config, Mapping) else None
    for repo in repos if isinstance(repos, list) else ():
        hooks = repo.get("hooks") if isinstance(repo, Mapping) else None
        yield from (hook for hook in (hooks if isinstance(hooks, list) else ()) if isinstance(hook, Mapping))


def _checks(hook: Mapping[str, object], where: str) -> bool:
    """Return whether a hook checks the project: the shipped one, or a command that says the same."""
    usual = "envdoctor check" if hook.get("id") == "envdoctor-check" else ""
    arguments = hook.get("args")
    try:
        words = [
            *shlex.split(str(hook.get("entry") or usual)),
            *map(str, arguments if isinstance(arguments, list) else ()),
        ]
    except ValueError:
        return False  # A quote without its end: pre-commit starts nothing for it, either.
    for at, (program, verb) in enumerate(pairwise(words)):
        if re.fullmatch(r"(.*[/\\])?envdoctor(\.exe)?", program) and verb == "check":
            given = [posixpath.normpath(word) for word in words[at + 2 :]]
            # A `check` without a path is for the project in its own folder; a path stands first, or among the rest.
            named = given[:1] if given and not given[0].startswith("-") else ["."]
            return where in given or [where] == named
    return False
