"""The options of a script's ``pip`` commands that bear on what may be chosen."""

from __future__ import annotations

from datetime import datetime, timezone

from envdoctor.adapters.project.draft import Draft
from envdoctor.adapters.project.pip_command import PipCommand
from envdoctor.adapters.project.script_variables import ScriptVariables
from envdoctor.adapters.project.shell_words import Word
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import FileOption, IndexOption, IndexOptionKind, ReadingProblemKind
from envdoctor.model.upload_limit import (
    PIPS_LIMIT,
    UVS_LIMIT,
    UVS_LIMIT_OF_PACKAGE,
    pips_first_too_new,
    uvs_first_too_new,
)

__all__ = ["keep_options", "not_told"]

_INDEX_KINDS = {
    "index-url": IndexOptionKind.INDEX_URL,
    "extra-index-url": IndexOptionKind.EXTRA_INDEX_URL,
    "find-links": IndexOptionKind.FIND_LINKS,
}
_SWITCHES = ("pre", "prefer-binary", "require-hashes", "no-build-isolation")
_LIMITS = (UVS_LIMIT, UVS_LIMIT_OF_PACKAGE, PIPS_LIMIT)


def keep_options(draft: Draft, variables: ScriptVariables, call: PipCommand, command: FileOrigin, step: int) -> None:
    """Keep a command's options, or what is wrong with them."""
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
