"""The options of a script's ``pip`` commands that bear on what may be chosen, and the variables that stand for them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timezone
from itertools import islice, zip_longest

from envdoctor.adapters.project.dockerfile_lines import DockerScopes
from envdoctor.adapters.project.draft import Draft
from envdoctor.adapters.project.pip_command import PipCommand
from envdoctor.adapters.project.script_branches import Branch
from envdoctor.adapters.project.script_variables import ScriptVariables
from envdoctor.adapters.project.shell_words import Command, Dialect, Word, program
from envdoctor.model.dataclass import dataclass
from envdoctor.model.index_url import bare_url
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import (
    BUILD_ISOLATION,
    NO_BUILD_ISOLATION,
    FileOption,
    IndexOption,
    IndexOptionKind,
    ReadingProblemKind,
    pips_isolation,
    says_yes,
)
from envdoctor.model.upload_limit import (
    PIPS_LIMIT,
    UVS_LIMIT,
    UVS_LIMIT_OF_PACKAGE,
    is_of_one,
    pips_first_too_new,
    uvs_first_too_new,
)

__all__ = ["Exports", "keep_options", "not_told", "with_variables"]

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
    "PIP_CONSTRAINT": ("pip", "constraint"),
    "UV_CONSTRAINT": ("uv", "constraint"),
    "UV_OVERRIDE": ("uv", "override"),
    "UV_PRERELEASE": ("uv", "prerelease"),
    "UV_REQUIRE_HASHES": ("uv", "require-hashes"),
    "PIP_ONLY_BINARY": ("pip", "only-binary"),
    "PIP_NO_BINARY": ("pip", "no-binary"),
    "PIP_PREFER_BINARY": ("pip", "prefer-binary"),
    "PIP_PRE": ("pip", "pre"),
    "PIP_NO_DEPS": ("pip", "no-deps"),
    "PIP_NO_INDEX": ("pip", "no-index"),
    "PIP_REQUIRE_HASHES": ("pip", "require-hashes"),
    "PIP_UPLOADED_PRIOR_TO": ("pip", PIPS_LIMIT),
    "UV_EXCLUDE_NEWER": ("uv", UVS_LIMIT),
}
_OF_VALUES = (*_INDEX_KINDS, "constraint", "override", "only-binary", "no-binary")
_OF_TRUTH = frozenset({"prefer-binary", "pre", "no-deps", "no-index", "require-hashes"})
_URLS = re.compile(r"(?:[\w.-]+=(?=\w+:))?([^\s,]+)")
"""Addresses of a variable; uv takes a name before one."""
_RUN = re.compile(r"[`(]")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=")
_SET_BY_POWERSHELL = re.compile(r"\$env:(\w+)(?:=|$)", re.I)
_ASKS = frozenset({"[", "[[", "test", "command", "which", "type", "grep"})
_PIP = re.compile(r"pip[\d.]*")
_NEAR = 8
"""Words at the start of a command among which its program stands."""
_MOST = 100
"""Commands that set a variable, of which it is asked whether they reach another command."""
_BEFORE = frozenset({"env", "sudo", "then", "else", "do", "if", "!", "time"})
_WITHIN = frozenset({"then", "else", "do", "{"})
_LIMITS = (UVS_LIMIT, UVS_LIMIT_OF_PACKAGE, PIPS_LIMIT)
_TOLD = (*_INDEX_KINDS, "constraint", *_LIMITS)
"""Of these it is said that they are not known."""
_PART_OF_INDEX, _PART_OF_PATH = re.compile("://"), re.compile(r"[./\\]")


@dataclass(slots=True)
class Exports:
    """Which variables of pip and uv a script hands to the commands that it starts."""

    dialect: Dialect
    scopes: DockerScopes | None = None
    """Of a Dockerfile: what its ``ENV`` and ``ARG`` assign is handed on, too."""
    _kept: dict[str, list[tuple[int, Word]]] = field(default_factory=dict)
    """What is handed on by variable: from which command on, and the value, empty where none is known."""
    _stays: set[int] = field(default_factory=set)
    """Commands that write to pip's file, which outlasts their shell."""
    _once: list[dict[str, Word]] = field(default_factory=list)
    """By command: what it alone gets."""

    def follow(self, words: Sequence[Word], variables: ScriptVariables) -> None:
        """Take note of what a command gets alone, and of what it hands to those behind it."""
        texts, line = [word.text for word in words], words[0].line
        sets = self.scopes is not None and self.scopes.of(line)[-1] >= 0
        once, kept = _of_posix(texts, sets=sets) if self.dialect is Dialect.POSIX else ({}, self._windows(texts))
        for name, text in kept.items():
            told = variables.value(name) if text is None else _known(name, text, variables)
            if name in _VARIABLES:
                self._kept.setdefault(name, []).append((len(self._once), Word(told or "", line)))
        for name, text in _configured(texts):
            self._stays.add(len(self._once))
            told = _known(name, text, variables)
            self._kept.setdefault(name, []).append((len(self._once), Word(told, line)))
        own = {name: text for name, text in once.items() if name in _VARIABLES}
        self._once.append({name: Word(_known(name, text, variables), line) for name, text in own.items()})

    def of(self, at: int, listed: Sequence[Command], places: Sequence[tuple[Branch, ...]]) -> dict[str, Word]:
        """Return the values that a command gets, as far as they are known; ``places``: of each command its branches."""
        values = dict(self._once[at])
        for name, kept in self._kept.items():
            before = kept[: bisect_left(kept, at, key=lambda one: one[0])]
            for since, word in islice(reversed(before), _MOST if name not in values else 0):
                reaches = self._reaches(since, at, listed, places)
                if reaches is not False:
                    values |= {name: word} if reaches else {}
                    break
        return {name: values[name] for name in _VARIABLES if name in values and values[name].text}

    def _reaches(
        self, since: int, at: int, listed: Sequence[Command], places: Sequence[tuple[Branch, ...]]
    ) -> bool | None:
        """Return whether what one command hands on gets to another, None where that is not known."""
        one, two = listed[since], listed[at]
        if self.scopes is not None:
            within = self.scopes.of(one.words[0].line)
            within = tuple(each for each in within if each >= 0) if since in self._stays else within
            if self.scopes.of(two.words[0].line)[: len(within)] != within:
                return False
        if two.shells[: len(one.shells)] != one.shells and since not in self._stays:
            return False
        for here, there in zip_longest(places[since], places[at]):
            if here is not None and here != there:
                return False if there is not None and there.block == here.block else None
        if self.dialect is not Dialect.POSIX:
            return None if one.depth > two.depth else True
        before = listed[since - 1] if since else one
        asked = before.joined == "||" or (before.joined == "&&" and before.words[0].text in _ASKS)
        return None if asked and any(listed[each].joined != "&&" for each in range(since, at)) else True

    def _windows(self, texts: Sequence[str]) -> Mapping[str, str | None]:
        if self.dialect is Dialect.POWERSHELL:
            match = _SET_BY_POWERSHELL.match(texts[0])
            return {match[1].upper(): None} if match is not None else {}
        name, sign, value = " ".join(texts[1:]).partition("=")
        return {name.upper(): value} if sign and texts[0].lower().lstrip("@") == "set" else {}


def _configured(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what ``pip config set`` writes to pip's file, by the variable that says the same."""
    if "config" not in texts[:_NEAR] or not any(_PIP.fullmatch(program(text)) for text in texts[:_NEAR]):
        return
    rest = [text for text in texts[texts.index("config") + 1 :] if not text.startswith("--")]
    if rest[:1] == ["set"] and len(rest) == 3:
        section, _, key = rest[1].partition(".")
        name = f"PIP_{key.upper().replace('-', '_')}"
        if section in ("global", "install") and name in _VARIABLES:
            yield name, rest[2]


def _of_posix(texts: Sequence[str], *, sets: bool) -> tuple[dict[str, str], dict[str, str | None]]:
    """Return what is handed to this command alone, and what to all that follow; None for what a variable has by now.

    ``sets``: it is an ``ENV`` or ``ARG`` of a Dockerfile, which hands on what it assigns.
    """
    while texts[1:] and texts[0] in _WITHIN:
        texts = texts[1:]
    if texts[0] == "unset" or (texts[0] == "export" and "-n" in texts):
        return {}, dict.fromkeys(texts[1:], "")
    if texts[0] == "export" or (texts[0] in ("declare", "typeset") and "-x" in texts):
        pairs = (text.partition("=") for text in texts[1:])
        return {}, {name.removesuffix("+"): text if sign and name[-1:] != "+" else None for name, sign, text in pairs}
    if sets and len(texts) == 1 and "=" not in texts[0]:
        return {}, {texts[0]: None}  # An ARG that has its value above the first FROM.
    assigned: dict[str, str] = {}
    for text in texts:
        match = _ASSIGNED.match(text)
        if match is not None:
            assigned[match[1]] = text[match.end() :]
        elif text not in _BEFORE and not text.startswith("-"):
            return assigned, {}
    return {}, dict(assigned) if sets else {}


def _known(name: str, text: str, variables: ScriptVariables) -> str:
    """Return a value with its variables replaced, empty where it is one that nobody need set.

    An index, a list or a date that a shell computes, or of which a part alone is not known, is set all the same.
    """
    plain = " ".join(word.text for word in variables.expanded([Word(text, 0)]))
    kind = _VARIABLES.get(name, ("", ""))[1]
    of_part = _PART_OF_PATH if kind == "constraint" else _PART_OF_INDEX if kind in _INDEX_KINDS else _RUN
    is_set = kind in _TOLD and (of_part.search(plain) or _RUN.search(plain)) is not None
    return plain if is_set or variables.unknown(plain) is None else ""


def with_variables(call: PipCommand, exported: Mapping[str, Word]) -> None:
    """Give a command what the variables say that it gets: an option goes before one, or beside it with pip."""
    typed = {name for name, _ in call.options}
    for variable, word in exported.items():
        tool, name = _VARIABLES[variable]
        beside = tool == "pip" and name != "index-url"
        if (tool, name, word.text) == (call.tool, "prerelease", "allow") and name not in typed:
            call.flags |= {"pre"}
        if tool == call.tool and name in _OF_TRUTH:
            call.flags |= {name} if says_yes(word.text) else set()
        elif tool == call.tool and name in _OF_VALUES and (beside or name not in typed):
            typed |= {name} if name == "index-url" else set()  # Of uv's two the first goes before.
            parted = _URLS.findall(word.text) if name in _INDEX_KINDS else word.text.split()
            texts = [word.text] if _RUN.search(word.text) else parted
            call.options += [(name, Word(text, word.line)) for text in texts]


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
            message = f"the {what} {not_told(word.text, unknown, variables)}"
            draft.problem(ReadingProblemKind.MISSING_VARIABLE, origin, message, word.text)
            address = bare_url(word.text)
            if name in _INDEX_KINDS and variables.unknown(address) is None:
                draft.add_index(_INDEX_KINDS[name], address, origin, step)  # It is there; who may ask it, is not known.
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
        if tool == call.tool and name not in typed:
            _keep_variable(draft, variables, variable, word, FileOrigin(command.path, word.line), step)


def _keep_variable(
    draft: Draft, variables: ScriptVariables, variable: str, word: Word, origin: FileOrigin, step: int
) -> None:
    """Keep what a variable says of dates and isolation."""
    tool, name = _VARIABLES[variable]
    unknown = variables.unknown(word.text)
    if name in _LIMITS and unknown is not None:
        message = f"the date {not_told(word.text, unknown, variables)}"
        draft.problem(ReadingProblemKind.MISSING_VARIABLE, origin, message, word.text)
    elif name in _LIMITS:
        _keep_limit(draft, name, word, origin, step)
    elif name == NO_BUILD_ISOLATION:
        _keep_isolation(draft, tool, word, origin, step)


def _keep_isolation(draft: Draft, tool: str, word: Word, origin: FileOrigin, step: int) -> None:
    isolated = pips_isolation(word.text) if tool == "pip" else not says_yes(word.text)
    if isolated is False:
        draft.keep_option(FileOption(NO_BUILD_ISOLATION, "", origin, step))
    elif isolated and tool == "pip":
        draft.keep_option(FileOption(BUILD_ISOLATION, word.text, origin, step))


def _keep_limit(draft: Draft, name: str, word: Word, origin: FileOrigin, step: int) -> None:
    """Keep until when files may have been uploaded."""
    package, _, text = word.text.rpartition("=") if name == UVS_LIMIT_OF_PACKAGE else ("", "", word.text)
    if name == UVS_LIMIT_OF_PACKAGE and not is_of_one(name, package):
        message = f"`--{name} {word.text}` is not read: it takes a package and its date, such as `torch=2026-01-31`"
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, word.text)
        return
    try:
        (pips_first_too_new if name == PIPS_LIMIT else uvs_first_too_new)(text, datetime.now(timezone.utc))
    except ValueError as error:
        message = f"`--{name} {word.text}` is not read: {error}"
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, word.text)
        return
    draft.keep_option(FileOption(name, f"{package} {text}" if package else text, origin, step))


def not_told(text: str, name: str, variables: ScriptVariables) -> str:
    """Say that a word cannot be read for a variable, or for what only a shell computes."""
    bare = name.strip("${}").partition(":")[0]
    if variables.not_here is not None and variables.not_here.value(bare) is not None:
        return f"`{text}` depends on `{name}`, which its stage does not declare: no ARG above FROM counts in it"
    if name == text:
        why = (
            "only running the script tells it" if _RUN.search(text) else "the script does not set it to one plain value"
        )
        return f"`{text}` is not known: {why}"
    return f"`{text}` depends on `{name}`, which the script does not set to one plain value"
