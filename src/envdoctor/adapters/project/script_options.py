"""The options of a script's ``pip`` commands that bear on what may be chosen, and the variables that stand for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timezone

from envdoctor.adapters.project.draft import Draft
from envdoctor.adapters.project.pip_command import PipCommand
from envdoctor.adapters.project.script_variables import ScriptVariables
from envdoctor.adapters.project.shell_words import Dialect, Word
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import (
    BUILD_ISOLATION,
    NO_BUILD_ISOLATION,
    FileOption,
    IndexOption,
    IndexOptionKind,
    ReadingProblemKind,
    pips_isolation,
    uvs_isolation,
)
from envdoctor.model.upload_limit import (
    PIPS_LIMIT,
    UVS_LIMIT,
    UVS_LIMIT_OF_PACKAGE,
    pips_first_too_new,
    uvs_first_too_new,
)

__all__ = ["Exports", "keep_options", "not_told", "with_indexes"]

_INDEX_KINDS = {
    "index-url": IndexOptionKind.INDEX_URL,
    "extra-index-url": IndexOptionKind.EXTRA_INDEX_URL,
    "find-links": IndexOptionKind.FIND_LINKS,
}
_SWITCHES = ("pre", "prefer-binary", "require-hashes", "no-build-isolation")
_VARIABLES = {
    "PIP_INDEX_URL": ("pip", "index-url"),
    "PIP_EXTRA_INDEX_URL": ("pip", "extra-index-url"),
    "PIP_FIND_LINKS": ("pip", "find-links"),
    "UV_DEFAULT_INDEX": ("uv", "index-url"),
    "UV_INDEX_URL": ("uv", "index-url"),
    "UV_INDEX": ("uv", "extra-index-url"),
    "UV_EXTRA_INDEX_URL": ("uv", "extra-index-url"),
    "UV_FIND_LINKS": ("uv", "find-links"),
    "PIP_NO_BUILD_ISOLATION": ("pip", NO_BUILD_ISOLATION),
    "UV_NO_BUILD_ISOLATION": ("uv", NO_BUILD_ISOLATION),
    "PIP_UPLOADED_PRIOR_TO": ("pip", PIPS_LIMIT),
    "UV_EXCLUDE_NEWER": ("uv", UVS_LIMIT),
}
_URLS = re.compile(r"(?:[\w.-]+=(?=\w+:))?([^\s,]+)")
"""Addresses of a variable; uv takes a name before one."""
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=")
_SET_BY_POWERSHELL = re.compile(r"\$env:(\w+)(?:=|$)", re.I)
_BEFORE = frozenset({"env", "sudo", "then", "else", "do", "if", "!", "time"})
_LIMITS = (UVS_LIMIT, UVS_LIMIT_OF_PACKAGE, PIPS_LIMIT)


@dataclass(slots=True)
class Exports:
    """Which variables of pip and uv a script hands to the commands that it starts."""

    dialect: Dialect
    everything: bool = False
    """Every assignment is handed on: that of a Dockerfile's ``ENV`` is."""
    _lines: dict[str, int] = field(default_factory=dict)
    """Of those that it exports: where."""

    def of(self, words: Sequence[Word], variables: ScriptVariables) -> dict[str, Word]:
        """Follow a command, and return the values that it gets, as far as they are plain and known."""
        texts = [word.text for word in words]
        once, kept = self._posix(texts) if self.dialect is Dialect.POSIX else ({}, self._windows(texts))
        self._lines.update(dict.fromkeys(kept, words[0].line))
        values = {name: Word(variables.value(name) or "", line) for name, line in self._lines.items()}
        values.update({name: Word(text, words[0].line) for name, text in once.items()})
        known = (name for name in _VARIABLES if name in values and variables.unknown(values[name].text) is None)
        return {name: values[name] for name in known if values[name].text}

    def _posix(self, texts: Sequence[str]) -> tuple[dict[str, str], Iterable[str]]:
        """Return what is handed to this command alone, and what to all that follow."""
        if texts[0] == "unset":
            for name in texts[1:]:
                self._lines.pop(name, None)
        if texts[0] == "export" or (texts[0] in ("declare", "typeset") and "-x" in texts):
            return {}, [re.split(r"\+?=", text)[0] for text in texts[1:]]
        assigned = {}
        for text in texts:
            match = _ASSIGNED.match(text)
            if match is not None:
                assigned[match[1]] = text[match.end() :]
            elif text not in _BEFORE and not text.startswith("-"):
                return assigned, ()
        return {}, assigned if self.everything else ()

    def _windows(self, texts: Sequence[str]) -> Sequence[str]:
        if self.dialect is Dialect.POWERSHELL:
            match = _SET_BY_POWERSHELL.match(texts[0])
            return [match[1].upper()] if match is not None else ()
        is_set = texts[0].lower().lstrip("@") == "set" and len(texts) > 1
        return [texts[1].partition("=")[0].upper()] if is_set else ()


def with_indexes(call: PipCommand, exported: Mapping[str, Word]) -> None:
    """Give a command the indexes of the variables that it gets: an option goes before one, or beside it with pip."""
    typed = {name for name, _ in call.options}
    for variable, word in exported.items():
        tool, name = _VARIABLES[variable]
        beside = tool == "pip" and name != "index-url"
        if tool == call.tool and name in _INDEX_KINDS and (beside or name not in typed):
            call.options += [(name, Word(url, word.line)) for url in _URLS.findall(word.text)]


def keep_options(
    draft: Draft,
    variables: ScriptVariables,
    call: PipCommand,
    command: FileOrigin,
    step: int,
    exported: Mapping[str, Word],
) -> None:
    """Keep a command's options, or what is wrong with them; ``exported``: variables that it gets."""
    for name, word in call.options:
        origin = FileOrigin(command.path, word.line)
        unknown = variables.unknown(word.text)
        if name in _INDEX_KINDS and unknown is None:
            draft.add_index(_INDEX_KINDS[name], word.text, origin, step)
        elif name in (*_INDEX_KINDS, *_LIMITS) and unknown is not None:
            what = "index" if name in _INDEX_KINDS else "date"
            message = f"the {what} {not_told(word.text, unknown)}"
            draft.problem(ReadingProblemKind.MISSING_VARIABLE, origin, message, word.text)
        elif name in _LIMITS:
            _keep_limit(draft, name, word, origin, step)
        elif name in {"no-binary", "only-binary", "trusted-host", "no-build-isolation"}:
            draft.keep_option(FileOption(name, word.text, origin, step))
    if "no-index" in call.flags:
        draft.index_options.append(IndexOption(IndexOptionKind.NO_INDEX, "", command, step))
    draft.options += [FileOption(switch, "", command, step) for switch in _SWITCHES if switch in call.flags]

    typed = {name for name, _ in call.options} | call.flags
    for variable, word in exported.items():
        tool, name = _VARIABLES[variable]
        if tool == call.tool and name not in typed and name not in _INDEX_KINDS:
            _keep_variable(draft, tool, name, word, FileOrigin(command.path, word.line), step)


def _keep_variable(draft: Draft, tool: str, name: str, word: Word, origin: FileOrigin, step: int) -> None:
    if name != NO_BUILD_ISOLATION:
        _keep_limit(draft, name, word, origin, step)
        return
    isolated = pips_isolation(word.text) if tool == "pip" else uvs_isolation(word.text)
    if isolated is False:
        draft.keep_option(FileOption(NO_BUILD_ISOLATION, "", origin, step))
    elif isolated and tool == "pip":
        draft.keep_option(FileOption(BUILD_ISOLATION, word.text, origin, step))


def _keep_limit(draft: Draft, name: str, word: Word, origin: FileOrigin, step: int) -> None:
    """Keep until when files may have been uploaded."""
    package, _, text = word.text.rpartition("=") if name == UVS_LIMIT_OF_PACKAGE else ("", "", word.text)
    try:
        (pips_first_too_new if name == PIPS_LIMIT else uvs_first_too_new)(text, datetime.now(timezone.utc))
    except ValueError as error:
        message = f"`--{name} {word.text}` is not read: {error}"
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, word.text)
        return
    draft.keep_option(FileOption(name, f"{package} {text}" if package else text, origin, step))


def not_told(text: str, name: str) -> str:
    """Say that a word cannot be read for a variable, or for what only a shell computes."""
    if name == text:
        return f"`{text}` is not known: the script does not set it to one plain value"
    return f"`{text}` depends on `{name}`, which the script does not set to one plain value"
