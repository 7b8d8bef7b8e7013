"""Install scripts and Dockerfiles: their ``pip`` lines, step by step. Nothing is executed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from envdoctor.adapters.project.conda_environment import read_conda_specification
from envdoctor.adapters.project.decoding import NotText, decode, file_bytes
from envdoctor.adapters.project.docker_image import keep_image
from envdoctor.adapters.project.dockerfile_lines import DockerScopes, instructions, run_lines
from envdoctor.adapters.project.draft import Circumstances, Draft, LocalProject, ProjectFileError, TextFile
from envdoctor.adapters.project.pip_command import PipCommand, read_pip_command
from envdoctor.adapters.project.requirement_lines import logical_lines
from envdoctor.adapters.project.requirements_file import add_requirement, include_requirements
from envdoctor.adapters.project.script_branches import JudgedFor, branches_of, fallbacks, group_after, taken
from envdoctor.adapters.project.script_folders import ByScript, ScriptFolders, below
from envdoctor.adapters.project.script_options import Exports, keep_options, not_told, with_variables
from envdoctor.adapters.project.script_variables import ScriptVariables
from envdoctor.adapters.project.shell_words import Command, Dialect, Word, commands
from envdoctor.adapters.project.specification import local_path, parse_line, split_extras
from envdoctor.adapters.project.toml_document import glance
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import (
    FileLeftOut,
    InstallCommand,
    LeftOut,
    ReadingProblem,
    ReadingProblemKind,
)
from envdoctor.model.requirement import RequirementKind

__all__ = ["installs_more", "read_commands", "read_install_script"]

_DIALECTS = {".bat": Dialect.CMD, ".cmd": Dialect.CMD, ".ps1": Dialect.POWERSHELL}
_LOOKS_AT_STATUS = re.compile(r"errorlevel|\$\?|lastexitcode", re.I)
_TOOLS = frozenset({"pip", "setuptools", "wheel", "uv", "virtualenv"})
_ASKS_STATUS = frozenset({"if", "elif", "while", "until", "!"})
_OPENS, _CLOSES = ("if", "case", "for", "while", "until", "select"), ("fi", "esac", "done")
_WITHIN = ("then", "else", "do", "{")
_VERSIONS = re.compile(r"(?<![<>!~=])={1,3}(\d[\w.+]*)")
_OWN_ARGUMENTS = frozenset({"$@", "$*", "%*", "@args", "$args"})
_LEAVES = re.compile(r"^(?:exit|return|goto|throw|die|false|break)", re.I)


@dataclass(slots=True)
class _Script:
    file: TextFile
    dockerfile: bool
    folders: ScriptFolders
    variables: ScriptVariables
    steps: int = 0
    stops_on_error: bool = False
    waiting: list[InstallCommand] = field(default_factory=list)


def read_install_script(draft: Draft, path: Path, *, dockerfile: bool = False, required: bool = True) -> None:
    """Read a script's install commands into the draft. Raises ProjectFileError where it must have one and has none."""
    alone = not draft.files
    file = draft.load(path)
    dialect = Dialect.POSIX if dockerfile else _DIALECTS.get(path.suffix.lower(), Dialect.POSIX)
    folders = ScriptFolders(draft.boundary, path.parent, dockerfile, instructions(file.text) if dockerfile else ())
    script = _Script(file, dockerfile, folders, ScriptVariables(dialect))
    if not dockerfile:
        _note_other_system(draft, file, dialect)
    script.stops_on_error = dockerfile or file.text.startswith(("#!/bin/bash -e", "#!/bin/sh -e"))
    before = len(draft.commands)
    _read(draft, script, run_lines(file.text) if dockerfile else file.text, dialect)
    if dockerfile and alone:
        keep_image(draft, file, draft.commands[before:])
    if required and len(draft.commands) == before:
        raise ProjectFileError(file.shown, None, "no `pip install` or `conda install` command was found in this script")


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
    script = _Script(file, False, folders, ScriptVariables(Dialect.POSIX), stops_on_error=True)
    _read(draft, script, file.text, Dialect.POSIX)


def installs_more(draft: Draft, path: Path) -> str:
    """Return the first command of a script that installs what no file that was read asks for, empty without one.

    Installers themselves, the project itself and the lists that were read are nothing more.
    """
    shown = draft.shown(path)
    try:
        file = TextFile(path, shown, decode(file_bytes(path, shown)).text)
    except (ProjectFileError, NotText):
        return ""
    dialect = _DIALECTS.get(path.suffix.lower(), Dialect.POSIX)
    script = _Script(file, False, ScriptFolders(draft.boundary, path.parent), ScriptVariables(dialect))
    for command in _assigning(script, file.text, dialect):
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


def _read(draft: Draft, script: _Script, text: str, dialect: Dialect) -> None:
    exports, listed = Exports(dialect, DockerScopes(script.file.text) if script.dockerfile else None), []
    for one in _assigning(script, text, dialect):
        exports.follow(one.words, script.variables)
        words, into = script.variables.expanded(one.words), script.variables.expanded(one.into)
        listed.append(replace(one, words=words, into=into))
    calls = [read_pip_command(command.words) for command in listed]
    places, conditions = branches_of(text, listed, dialect)
    installing = [call is not None and call.verb == "install" for call in calls]
    target = JudgedFor((draft.environment or {}).get("sys_platform", ""), draft.backend)
    instead = fallbacks(listed, installing, target)
    first = [at for at, _ in enumerate(places) if installing[at] and at not in instead]
    versions = [_VERSIONS.findall(" ".join(word.text for word in listed[at].words)) for at in first]
    counting = taken([places[at] for at in first], conditions, target, versions)
    for at, (command, call, path) in enumerate(zip(listed, calls, places, strict=True)):
        _follow(script, command)
        if at in instead:
            _leave_out(draft, script, command, instead[at])
        elif call is not None and all(counting.get(branch.block, branch.number) == branch.number for branch in path):
            followed = group_after(listed, at) if command.joined == "||" else range(at + 1, min(at + 3, len(listed)))
            exported = exports.of(at, listed, places)
            _run(draft, script, call, command, [listed[each] for each in followed], exported)
        elif call is not None:
            _leave_out(draft, script, command, LeftOut.BRANCH)


def _leave_out(draft: Draft, script: _Script, command: Command, why: LeftOut) -> None:
    """Name a command that does not run where one runs which counts."""
    words = " ".join(word.text for word in command.words)
    place = f"{script.file.shown}:{command.words[0].line}"
    draft.left_out.append(FileLeftOut(place, why, words[:80]))


def _assigning(script: _Script, text: str, dialect: Dialect) -> Iterator[Command]:
    blocks, joined = 0, ""
    for command in commands(text, dialect):
        first = next((word.text for word in command.words if word.text not in _WITHIN), "")
        if dialect is Dialect.POSIX:
            blocks = max(0, blocks + (first in _OPENS) - (first in _CLOSES))
        certain = not blocks and not command.depth and joined not in ("&&", "||")
        script.variables.learn(command.words, certain=certain)
        joined = command.joined
        yield command


def _follow(script: _Script, command: Command) -> None:
    """Follow ``set -e`` and changes of directory."""
    first = command.words[0].text.lower().lstrip("@")
    rest = [word.text for word in command.words[1:]]
    if first == "set" and any(re.match(r"^-[a-z]*e", word) for word in rest):
        script.stops_on_error = True
    script.folders.follow(command)


def _run(
    draft: Draft,
    script: _Script,
    call: PipCommand,
    command: Command,
    following: list[Command],
    exported: Mapping[str, Word],
) -> None:
    script.steps += 1
    step = script.steps
    origin = FileOrigin(script.file.shown, command.words[0].line)
    with_variables(call, exported)
    index = next((word.text for word in call.values("index-url") if not script.variables.unknown(word.text)), None)
    no_deps = "no-deps" in call.flags
    draft.commands.append(
        InstallCommand(
            step=step,
            verb=call.verb,
            arguments=call.arguments,
            origin=origin,
            requirement_files=tuple(word.text for word in call.values("requirement")),
            quiet="quiet" in call.flags,
            checked=_checked(script, command, following),
            no_deps=no_deps,
            upgrade="upgrade" in call.flags,
            tool=call.tool,
        )
    )
    keep_options(draft, script.variables, call, origin, step, exported)
    circumstances = Circumstances(step=step, no_deps=no_deps, index_url=index)
    if call.verb == "uninstall":
        _uninstall(draft, script, call, step)
        return
    for name, kind in (("requirement", RequirementKind.REQUIRE), ("constraint", RequirementKind.CONSTRAINT)):
        for word in call.values(name):
            if call.tool != "uv" or not _included_by_uv(draft, script, call, word, circumstances):
                _include(draft, script, word, replace(circumstances, kind=kind))
    for word in call.values("group"):
        message = f"the group `{word.text}` of this command is not read; its requirements are not known"
        draft.problem(ReadingProblemKind.UNREAD, FileOrigin(script.file.shown, word.line), message, word.text)
    for word in call.values("editable"):
        _requirement(draft, script, word, circumstances, editable=True)
    fed = any(word.text == "xargs" for word in command.words)
    if fed or _asks_elsewhere(call):
        message = "the requirements of this command are not known: no line names them"
        draft.problem(ReadingProblemKind.UNREAD, origin, message, " ".join(word.text for word in command.words))
    for word in call.words:
        if fed and "{}" in word.text:
            continue  # What xargs puts in.
        if word.text in _OWN_ARGUMENTS and len(draft.commands[-1].requirement_files) + len(call.words) > 1:
            continue  # Beside what the command installs anyway; a script that is run as it stands has none.
        if call.tool == "conda":
            _conda(draft, script, word, circumstances)
        else:
            _requirement(draft, script, word, circumstances)


def _asks_elsewhere(call: PipCommand) -> bool:
    """Return whether a command has its requirements from what is not read, such as ``-r <(...)``."""
    if call.tool == "conda":
        return bool(call.values("file"))
    return not (call.words or any(call.values(name) for name in ("requirement", "editable", "group")))


def _checked(script: _Script, command: Command, following: list[Command]) -> bool:
    if command.joined == "&&" or command.words[0].text in _ASKS_STATUS:
        return True
    if command.joined == "||":
        saved = (_LEAVES.match(each.words[0].text) or read_pip_command(each.words) for each in following)
        return not following or any(saved)
    if command.ends in {"|", "|&", "&"} or (script.dockerfile and command.ends == ";"):
        return False
    if script.stops_on_error:
        return True
    return any(_LOOKS_AT_STATUS.search(word.text) for later in following for word in later.words)


def _uninstall(draft: Draft, script: _Script, call: PipCommand, step: int) -> None:
    draft.removals += [(step, canonicalize_name(re.split(r"[\[<>=!~;@ ]", word.text)[0])) for word in call.words]
    for word in call.values("requirement"):
        path = script.folders.located(word.text)
        file = draft.load(path) if path is not None else None
        for line in logical_lines(file.text) if file else ():
            read = parse_line(line.text, FileOrigin(script.file.shown, word.line))
            if not isinstance(read, ReadingProblem):
                draft.removals.append((step, read.name))


def _included_by_uv(draft: Draft, script: _Script, call: PipCommand, word: Word, circumstances: Circumstances) -> bool:
    """Read what uv takes in the place of a list: a project's metadata or a lock. False for a list."""
    path = script.folders.located(word.text)
    if path is None:
        return False
    if path.name.startswith("pylock.") and path.suffix == ".toml":
        from envdoctor.adapters.project.locks import read_lock_file

        read_lock_file(draft, path, circumstances)
        return True
    if path.name not in ("pyproject.toml", "setup.py", "setup.cfg"):
        return False
    offered = glance(path).get("project") if path.suffix == ".toml" and "all-extras" in call.flags else None
    offered = offered.get("optional-dependencies") if isinstance(offered, dict) else None
    extras = tuple(offered) if isinstance(offered, dict) else tuple(each.text for each in call.values("extra"))
    origin = FileOrigin(script.file.shown, word.line)
    draft.local_projects.append(LocalProject(path.parent.resolve(), extras, origin, circumstances, word.text))
    return True


def _include(draft: Draft, script: _Script, word: Word, circumstances: Circumstances) -> None:
    origin = FileOrigin(script.file.shown, word.line)
    path = script.folders.located(word.text)
    name, later = script.variables.unknown(word.text), script.folders.by_script(word.text)
    message = _not_here(script, word, later) if later is not None else ""
    message = not_told(word.text, name) if name is not None else message
    if path is None and message:
        draft.problem(ReadingProblemKind.UNREAD, origin, message, word.text)
        return
    reference = str(path) if path is not None else word.text
    include_requirements(draft, reference, script.folders.directory, origin, circumstances)


def _not_here(script: _Script, word: Word, later: ByScript) -> str:
    way_on = "writes it" if later.made else "fetches it; clone or download it, and run `envdoctor check` there"
    return f"`{word.text}` is not here: line {later.line} of `{script.file.shown}` {way_on}"


def _conda(draft: Draft, script: _Script, word: Word, circumstances: Circumstances) -> None:
    read_conda_specification(
        draft, word.text + word.redirected, FileOrigin(script.file.shown, word.line), circumstances
    )


def _requirement(
    draft: Draft, script: _Script, word: Word, circumstances: Circumstances, *, editable: bool = False
) -> None:
    origin = FileOrigin(script.file.shown, word.line)
    if word.redirected:
        whole = word.text + word.redirected
        message = f"the shell takes `{word.redirected}` for a redirection into a file; `{whole}` needs quotes"
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, whole, (f'"{whole}"',))
    name = script.variables.unknown(word.text)
    if name is not None:
        draft.problem(ReadingProblemKind.UNREAD, origin, not_told(word.text, name), word.text)
        return
    path = split_extras(word.text)[0] if editable else local_path(word.text)
    if path is not None and "*" in path:
        message = f"`{word.text}` is what lies there when the script runs; its requirements are not known"
        draft.problem(ReadingProblemKind.UNREAD, origin, message, word.text)
        return
    later = script.folders.by_script(path) if path is not None and "://" not in path else None
    if later is not None and path is not None:
        if path.lower().endswith(".whl") and unquote(later.url.rpartition("/")[2]) == path.rpartition("/")[2]:
            word = replace(word, text=word.text.replace(path, later.url))
        else:
            draft.problem(ReadingProblemKind.UNREAD, origin, _not_here(script, word, later), word.text)
            return
    add_requirement(draft, word.text, script.folders.base_of(path), origin, circumstances, editable=editable)
