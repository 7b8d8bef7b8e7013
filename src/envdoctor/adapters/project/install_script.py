"""Install scripts and Dockerfiles: their ``pip`` lines, step by step. Nothing is executed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.adapters.project.decoding import NotText, decode, file_bytes
from envdoctor.adapters.project.docker_image import keep_image, left_over
from envdoctor.adapters.project.dockerfile_lines import DockerScopes, StageVariables, instructions, run_lines
from envdoctor.adapters.project.draft import Draft, ProjectFileError, TextFile
from envdoctor.adapters.project.other_installers import (
    OtherInstall,
    ReadFrom,
    builds_wheel,
    dialect_of,
    read_other_install,
    script_run_by,
)
from envdoctor.adapters.project.pip_command import PipCommand, read_pip_command
from envdoctor.adapters.project.script_branches import branches_of, taken
from envdoctor.adapters.project.script_commands import commands
from envdoctor.adapters.project.script_conditions import JudgedFor, of_other_choices, pythons_of
from envdoctor.adapters.project.script_environments import python_named
from envdoctor.adapters.project.script_fallbacks import fallbacks, is_checked
from envdoctor.adapters.project.script_folders import ScriptFolders
from envdoctor.adapters.project.script_functions import with_calls, with_calls_of_powershell
from envdoctor.adapters.project.script_jumps import jumped
from envdoctor.adapters.project.script_options import Exports
from envdoctor.adapters.project.script_paths import below
from envdoctor.adapters.project.script_steps import Script, not_read, run_install, run_other
from envdoctor.adapters.project.script_subroutines import with_calls_of_batch
from envdoctor.adapters.project.script_variables import ScriptVariables
from envdoctor.adapters.project.scripts_not_here import Guards, may_install_unread
from envdoctor.adapters.project.shell_words import Command, Dialect, Word
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import (
    FileLeftOut,
    LeftOut,
    ReadingProblem,
    ReadingProblemKind,
)

__all__ = ["installs_more", "read_commands", "read_install_script"]

_STOPS = re.compile(r"#!\s{0,9}/\S{0,200}(?:env\s+-S\s+)?(?:\s?\S{0,200}/?(?:ba|da|z)?sh)\s+-[a-z]*e")
_WITH_CALLS = {
    Dialect.POSIX: with_calls,
    Dialect.CMD: with_calls_of_batch,
    Dialect.POWERSHELL: with_calls_of_powershell,
}
_TOOLS = frozenset({"pip", "setuptools", "wheel", "uv", "virtualenv"})
_OPENS, _CLOSES = ("if", "case", "for", "while", "until", "select"), ("fi", "esac", "done")
_WITHIN = ("then", "else", "do", "{")
_DEEPEST, _MOST_SCRIPTS, _NEAR = 5, 100, 4
"""Scripts that run one another, and that a script runs in all; words at the start of a command."""


def read_install_script(draft: Draft, path: Path, *, dockerfile: bool = False, required: bool = True) -> None:
    """Read a script's install commands into the draft. Raises ProjectFileError where it must have one and has none."""
    alone = not draft.files
    file = draft.load(path)
    dialect = Dialect.POSIX if dockerfile else dialect_of(path)
    folders = ScriptFolders(draft.boundary, path.parent, dockerfile, instructions(file.text) if dockerfile else ())
    script = Script(file, dialect, folders, ScriptVariables(dialect), dockerfile, running=(path.resolve(),))
    if not dockerfile:
        _note_other_system(draft, file, dialect)
    before = len(draft.commands)
    _read(draft, script)
    if dockerfile and alone:
        keep_image(draft, file, draft.commands[before:])
    told = script.environments.python or _python_of_wheels(draft)
    if told is not None and draft.environment_python is None:
        version, origin = told
        draft.set_environment_python(SpecifierSet(f"=={version}.*"), origin, binds=False)
    if required and len(draft.commands) == before and not any(map(_is_unread, draft.problems)):
        raise ProjectFileError(file.shown, None, "no `pip install` or `conda install` command was found in this script")


def _is_unread(problem: ReadingProblem) -> bool:
    return problem.kind is ReadingProblemKind.UNREAD


def _python_of_wheels(draft: Draft) -> tuple[str, FileOrigin] | None:
    """Return the one Python for which the wheels are that commands install in any case, and where the first stands."""
    found = {
        version: line.origin
        for line in reversed(draft.requirements)
        for version in (pythons_of(line.url or "") if line.step is not None and line.marker is None else ())
    }
    return next(
        ((version, at) for version, at in found.items() if len(found) == 1 and isinstance(at, FileOrigin)), None
    )


def _note_other_system(draft: Draft, file: TextFile, dialect: Dialect) -> None:
    """Say that a script is for another system than the target: it is read in want of one for it."""
    platform = (draft.environment or {}).get("sys_platform", "")
    if not platform or (platform == "win32") == (dialect is not Dialect.POSIX):
        return
    target = {"win32": "windows", "darwin": "macos"}.get(platform, platform)
    system = "Linux and macOS" if dialect is Dialect.POSIX else "Windows"
    message = f"`{file.shown}` is a script for {system}, and the target is {target}: what it installs there is judged"
    draft.problem(ReadingProblemKind.UNSUPPORTED, FileOrigin(file.shown), f"{message}; `--target-os` names another")


def read_commands(draft: Draft, file: TextFile, starts: Sequence[int]) -> None:
    """Read commands of a shell that stand in a file of another form, such as a notebook; each stops what follows.

    ``starts``: the lines on which shells of their own begin.
    """
    folders = ScriptFolders(draft.boundary, file.path.parent, starts=starts)
    _read(draft, Script(file, Dialect.POSIX, folders, ScriptVariables(Dialect.POSIX), stops_on_error=True))


def installs_more(draft: Draft, path: Path) -> str:
    """Return the first command of a script that installs what no file that was read asks for, empty without one.

    Installers themselves, the project itself and the lists that were read are nothing more.
    """
    shown = draft.shown(path)
    try:
        file = TextFile(path, shown, decode(file_bytes(path, shown)).text)
    except (ProjectFileError, NotText):
        return ""
    dialect = dialect_of(path)
    script = Script(file, dialect, ScriptFolders(draft.boundary, path.parent), ScriptVariables(dialect))
    for command in _assigning(script, file.text):
        call = read_pip_command(script.variables.expanded(command.words))
        if call is not None and call.verb == "install" and _is_more(draft, path.parent, call):
            return f"line {command.words[0].line}: {' '.join(word.text for word in command.words)[:80]}"
    return ""


def _is_more(draft: Draft, directory: Path, call: PipCommand) -> bool:
    lists = [below(directory, word.text) for word in call.values("requirement")]
    named = [re.match(r"[A-Za-z0-9][\w.-]*", word.text) for word in call.words]
    return any(place not in draft.files_read() for place in lists) or any(
        match is not None and canonicalize_name(match.group()) not in _TOOLS for match in named
    )


def _read(draft: Draft, script: Script) -> None:
    dialect, text = script.dialect, script.file.text
    script.stops_on_error |= script.dockerfile or _STOPS.match(text) is not None
    exports, listed = Exports(dialect, DockerScopes(text) if script.dockerfile else None), []
    for one in _assigning(script, run_lines(text) if script.dockerfile else text):
        exports.follow(one.words, script.variables)
        words, into = script.variables.expanded(one.words), script.variables.expanded(one.into)
        listed.append(replace(one, words=words, into=into))
    calls = _calls(draft, script, listed)
    places, conditions = branches_of(text, listed, dialect)
    installing = [call is not None and (not isinstance(call, PipCommand) or call.verb == "install") for call in calls]
    target = JudgedFor.of(draft.environment, draft.backend)
    instead = fallbacks(listed, installing, target)
    if script.dockerfile:
        instead = {**instead, **_of_other_stages(text, listed, installing, target)}
    first = [at for at, _ in enumerate(places) if installing[at] and at not in instead]
    if not script.folders.starts:  # else each instruction or line is a script of its own
        removing = [at for at, call in enumerate(calls) if isinstance(call, PipCommand) and call.verb == "uninstall"]
        instead = {**instead, **jumped(listed, first, removing, places, conditions, target, dialect)}
        first = [at for at in first if at not in instead]
        before = [[conditions.get(each, "") for each in places[at]] + _asked_before(listed, at) for at in first]
        blocks = [[each.block for each in places[at]] for at in first]
        instead |= dict.fromkeys(of_other_choices(listed, first, before, blocks, target), LeftOut.BRANCH)
        first = [at for at in first if at not in instead]
    said = [" ".join(word.text for word in listed[at].words) for at in first]
    counting = taken([places[at] for at in first], conditions, target, said)
    for at, (command, call, path) in enumerate(zip(listed, calls, places, strict=True)):
        counts = at not in instead and all(counting.get(each.block, each.number) == each.number for each in path)
        _follow(script, command, counts=counts)
        if at in instead:
            if call is not None:
                _leave_out(draft, script, command, instead[at])
        elif call is not None and counts:
            checked = is_checked(listed, at, dockerfile=script.dockerfile, stops=script.stops_on_error)
            _run(draft, script, call, command, exports.of(at, listed, places), checked=checked)
        elif call is not None:
            _leave_out(draft, script, command, LeftOut.BRANCH)


def _asked_before(listed: Sequence[Command], at: int) -> list[str]:
    """Return what a command asks itself, and what is asked by the one that ``&&`` joins to it."""
    joined = at > 0 and listed[at - 1].joined == "&&"
    return [" ".join(word.text for word in one.words) for one in listed[at - joined : at + 1]]


def _of_other_stages(
    text: str, listed: Sequence[Command], installing: Sequence[bool], target: JudgedFor
) -> Mapping[int, LeftOut]:
    """Return the commands in stages of which the image takes nothing, where anything is installed in another one."""
    lines = {line for part in left_over(text, target) for line in part}
    other = {at for at, command in enumerate(listed) if command.words[0].line in lines}
    return (
        dict.fromkeys(other, LeftOut.STAGE) if any(one and at not in other for at, one in enumerate(installing)) else {}
    )


def _calls(draft: Draft, script: Script, listed: Sequence[Command]) -> list[PipCommand | OtherInstall | Path | None]:
    """Return of each command what it installs, or the script that it runs, where that one may install."""
    calls: list[PipCommand | OtherInstall | Path | None] = [
        read_pip_command(command.words) or read_other_install(command.words) for command in listed
    ]
    may_install: dict[Path, bool] = {}
    # Where the script is when it runs another one, and that one is; what it changes it has not changed yet.
    folders, guards = deepcopy(script.folders), Guards()
    for at, command in enumerate(listed):
        folders.follow(command)
        guards.follow(command.words)
        word = None if calls[at] else script_run_by(command.words)
        path = folders.located(word.text) if word is not None else None
        if path is None and not calls[at]:
            calls[at] = may_install_unread(listed, at, folders, guards)
        if path is None or path.resolve() in script.running:
            continue
        if path not in may_install:
            may_install[path] = _may_install(draft, path)
        calls[at] = path if may_install[path] else None
    return calls


def _may_install(draft: Draft, path: Path) -> bool:
    try:
        text = decode(file_bytes(path, draft.shown(path))).text
    except (ProjectFileError, NotText):
        return False
    return any(
        read_pip_command(each.words) or read_other_install(each.words) or script_run_by(each.words)
        for each in commands(text, dialect_of(path))
    )


def _run(
    draft: Draft,
    script: Script,
    call: PipCommand | OtherInstall | Path,
    command: Command,
    exported: Mapping[str, Word],
    *,
    checked: bool,
) -> None:
    other = script.environments.another([word.text for word in command.words], script.folders)
    if other and not isinstance(call, Path):
        origin = FileOrigin(script.file.shown, command.words[0].line)
        name = re.split(r"[\\/]", other)[-1]
        message = f"what is installed into another environment, `{name}`, is not judged here"
        draft.problem(ReadingProblemKind.UNREAD, origin, message, " ".join(word.text for word in command.words))
        return
    inherited = {name: replace(word, line=command.words[0].line) for name, word in script.inherited.items()}
    exported = {**inherited, **exported}
    if isinstance(call, PipCommand):
        run_install(draft, script, call, command, exported, checked=checked)
    elif isinstance(call, OtherInstall) and call.reads is ReadFrom.SCRIPT:
        not_read(draft, script, call.file or command.words[0], command)
    elif isinstance(call, OtherInstall):
        run_other(draft, script, call, command, exported, checked=checked)
    else:
        _run_script(draft, script, call, command, exported)


def _run_script(draft: Draft, script: Script, path: Path, command: Command, exported: Mapping[str, Word]) -> None:
    """Read a script that another one runs, where that one is; once for each folder."""
    folders = script.folders.copy(path)
    key = ("script", path, folders.directory)
    if key in draft.read_already:
        return
    origin = FileOrigin(script.file.shown, command.words[0].line)
    if len(script.called) >= _DEEPEST or sum(one[0] == "script" for one in draft.read_already) >= _MOST_SCRIPTS:
        message = f"`{draft.shown(path)}` is not read: too many scripts run one another; what it installs is not known"
        draft.problem(ReadingProblemKind.UNREAD, origin, message, " ".join(word.text for word in command.words))
        return
    draft.read_already.add(key)
    dialect = dialect_of(path)
    sourced = dialect is script.dialect and (
        dialect is not Dialect.POSIX or any(word.text in ("source", ".") for word in command.words[:_NEAR])
    )
    _read(
        draft,
        Script(
            draft.load(path),
            dialect,
            folders,
            script.variables.copy() if sourced else ScriptVariables(dialect),
            stops_on_error=sourced and script.stops_on_error,
            inherited=exported,
            called=(*script.called, origin),
            environments=script.environments,
            wheels=script.wheels,
            running=(*script.running, path.resolve()),
        ),
    )
    if sourced:
        script.folders.come_from(folders)


def _leave_out(draft: Draft, script: Script, command: Command, why: LeftOut) -> None:
    """Name a command that does not run where one runs which counts."""
    words = " ".join(word.text for word in command.words)
    place = f"{script.file.shown}:{command.words[0].line}"
    draft.left_out.append(FileLeftOut(place, why, words[:80]))


def _assigning(script: Script, text: str) -> Iterator[Command]:
    blocks, joined = 0, ""
    listed: Iterable[Command] = list(commands(text, script.dialect, over_lines=not script.folders.starts))
    listed = _WITH_CALLS[script.dialect](tuple(listed))
    stages = StageVariables(DockerScopes(script.file.text)) if script.dockerfile else None
    for command in listed:
        script.variables = stages.at(command.words) if stages is not None else script.variables
        first = next((word.text for word in command.words if word.text not in _WITHIN), "")
        if script.dialect is Dialect.POSIX:
            blocks = max(0, blocks + (first in _OPENS) - (first in _CLOSES))
        certain = not blocks and not command.depth and joined not in ("&&", "||")
        script.variables.learn(command.words, certain=certain)
        joined = command.joined
        yield command


def _follow(script: Script, command: Command, *, counts: bool) -> None:
    """Follow ``set -e``, changes of directory and, where it ``counts``, of the environment."""
    first = command.words[0].text.lower().lstrip("@")
    rest = [word.text for word in command.words[1:]]
    if first == "set" and any(word == "errexit" or re.match(r"^-[a-z]*e", word) for word in rest):
        script.stops_on_error = True
    if builds_wheel(command.words):
        script.wheels["dist"] = PipCommand("pip", "wheel", (), [Word(".", command.words[0].line)])
    texts = [word.text for word in command.words]
    if counts:
        script.environments.follow(texts, script.folders)
    if counts and script.environments.python is None and (version := python_named(texts)):
        script.environments.python = version, FileOrigin(script.file.shown, command.words[0].line)
    script.folders.follow(command)
