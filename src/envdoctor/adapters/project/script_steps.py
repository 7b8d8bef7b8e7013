"""What one command of a script installs, with its options; and what by other means than pip or conda."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from envdoctor.adapters.project.conda_environment import read_conda_environment, read_conda_specification
from envdoctor.adapters.project.draft import Circumstances, Draft, LocalProject, ProjectFileError, TextFile
from envdoctor.adapters.project.other_installers import OtherInstall, ReadFrom, script_run_by
from envdoctor.adapters.project.pip_command import PipCommand, options_of
from envdoctor.adapters.project.requirement_lines import logical_lines
from envdoctor.adapters.project.requirements_file import add_requirement, include_requirements, is_project
from envdoctor.adapters.project.script_environments import Environments
from envdoctor.adapters.project.script_folders import ScriptFolders
from envdoctor.adapters.project.script_functions import OWN_ARGUMENTS
from envdoctor.adapters.project.script_options import keep_options, not_told, with_variables
from envdoctor.adapters.project.script_paths import ByScript, last_name
from envdoctor.adapters.project.script_variables import ScriptVariables
from envdoctor.adapters.project.shell_words import Command, Dialect, Word
from envdoctor.adapters.project.specification import local_path, parse_line, split_extras
from envdoctor.adapters.project.toml_document import glance
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import InstallCommand, ReadingProblem, ReadingProblemKind
from envdoctor.model.requirement import RequirementKind

_ANEW = frozenset({"upgrade", "force-reinstall", "ignore-installed", "I", "reinstall"})
"""Of what such a command names the newest is taken, whatever is there."""

__all__ = ["Script", "not_read", "run_install", "run_other"]


@dataclass(slots=True)
class Script:
    """A script that is read, and where it is."""

    file: TextFile
    dialect: Dialect
    folders: ScriptFolders
    variables: ScriptVariables
    dockerfile: bool = False
    stops_on_error: bool = False
    inherited: Mapping[str, Word] = field(default_factory=dict)
    """Variables of pip and uv that it gets from the script that runs it."""
    called: tuple[FileOrigin, ...] = ()
    """Where it is run from, the first script first."""
    environments: Environments = field(default_factory=Environments)
    wheels: dict[str, PipCommand] = field(default_factory=dict)
    """Folders, by their names, into which it has put wheels, and the command that made these."""
    running: tuple[Path, ...] = ()
    """It and those that run it."""


def run_install(
    draft: Draft, script: Script, call: PipCommand, command: Command, exported: Mapping[str, Word], *, checked: bool
) -> None:
    """Take a command of pip, uv or conda as the next step; one that makes wheels is one when these are installed."""
    if call.verb == "wheel":
        folder = next((word.text for word in call.values("wheel-dir")), ".")
        script.wheels[last_name(folder)] = call
        return
    _with_wheels(script, call)
    step = _next_step(draft)
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
            checked=checked,
            no_deps=no_deps,
            upgrade=not _ANEW.isdisjoint(call.flags),
            tool=call.program or call.tool,
            called=script.called[:1],
        )
    )
    keep_options(draft, script.variables, call, origin, step, exported)
    circumstances = Circumstances(step=step, no_deps=no_deps, index_url=index)
    if call.verb == "uninstall":
        _uninstall(draft, script, call, step)
        return
    _take_files(draft, script, call, circumstances)
    fed = any(word.text == "xargs" for word in command.words)
    if fed or _asks_elsewhere(call):
        message = "the requirements of this command are not known: no line names them"
        draft.problem(ReadingProblemKind.UNREAD, origin, message, " ".join(word.text for word in command.words))
    for word in call.words:
        if fed and "{}" in word.text:
            continue  # What xargs puts in.
        if word.text.lower() in OWN_ARGUMENTS and len(draft.commands[-1].requirement_files) + len(call.words) > 1:
            continue  # Beside what the command installs anyway; a script that is run as it stands has none.
        if call.tool == "conda":
            _conda(draft, script, word, circumstances)
        else:
            _requirement(draft, script, word, circumstances)


def _with_wheels(script: Script, call: PipCommand) -> None:
    """Put what wheels were made of in their place, and the index that they come from in that of their folder."""
    for word in tuple(call.words):
        folder, _, name = word.text.replace("\\", "/").rpartition("/")
        made = script.wheels.get(last_name(folder)) if "*" in name else None
        if made is not None:
            call.words.remove(word)
            call.words += made.words
            call.options += [(option, value) for option, value in made.options if option != "wheel-dir"]
    known = [value for value in call.values("find-links") if last_name(value.text) in script.wheels]
    if known:
        call.options = [(option, value) for option, value in call.options if value not in known]
        call.flags -= {"no-index"} if not call.values("find-links") else set()


def _take_files(draft: Draft, script: Script, call: PipCommand, circumstances: Circumstances) -> None:
    """Read the lists and projects that options of a command name; conda's files that are here are options no more."""
    for name, kind in (("requirement", RequirementKind.REQUIRE), ("constraint", RequirementKind.CONSTRAINT)):
        for word in call.values(name):
            if call.tool != "uv" or not _included_by_uv(draft, script, call, word, circumstances):
                _include(draft, script, word, replace(circumstances, kind=kind))
    for word in call.values("group"):
        message = f"the group `{word.text}` of this command is not read; its requirements are not known"
        draft.problem(ReadingProblemKind.UNREAD, FileOrigin(script.file.shown, word.line), message, word.text)
    for word in call.values("editable"):
        _requirement(draft, script, word, circumstances, editable=True)
    for word in call.values("override"):
        _take_overrides(draft, script, word)
    files = call.values("file") if call.tool == "conda" else []
    read = [word for word in files if _conda_file(draft, script, word, circumstances)]
    call.options = [(name, word) for name, word in call.options if name != "file" or word not in read]


def _take_overrides(draft: Draft, script: Script, word: Word) -> None:
    """Read a file of what uv takes in the place of what anybody asks for."""
    origin, path = FileOrigin(script.file.shown, word.line), script.folders.located(word.text)
    if path is None:
        message = f"the overrides `{word.text}` are not here; what they set aside is not known"
        draft.problem(ReadingProblemKind.UNREAD, origin, message, word.text)
        return
    file = draft.load(path)
    for line in logical_lines(file.text):
        read = parse_line(line.text, FileOrigin(file.shown, line.number))
        if isinstance(read, ReadingProblem):
            draft.keep_problem(read)
        else:
            draft.overrides.append(read)


def run_other(
    draft: Draft,
    script: Script,
    other: OtherInstall,
    command: Command,
    exported: Mapping[str, Word],
    *,
    checked: bool,
) -> None:
    """Take a command that installs what a project or a file of conda's asks for as the next step."""
    step = _next_step(draft)
    origin = FileOrigin(script.file.shown, command.words[0].line)
    arguments = tuple(other.arguments)
    draft.commands.append(
        InstallCommand(step, "install", arguments, origin, checked=checked, tool=other.tool, called=script.called[:1])
    )
    if other.tool.startswith("uv "):
        call = options_of("uv", command.words)
        with_variables(call, exported)
        keep_options(draft, script.variables, call, origin, step, exported)
    circumstances = Circumstances(step=step)
    if other.file is not None and _conda_file(draft, script, other.file, circumstances):
        return
    if other.reads is ReadFrom.PROJECT:
        for name in (one for one in other.groups if one != "main"):
            message = f"the group `{name}` of this command is not read; its requirements are not known"
            draft.problem(ReadingProblemKind.UNREAD, origin, message, name)
        place = other.folder
        base, path = script.folders.project_of(place)
        folder = (base / path).resolve()
        if is_project(folder) and folder.is_relative_to(draft.boundary) and script.folders.by_script(place) is None:
            text = " ".join(word.text for word in command.words)[:80]
            extras = _offered(folder) if "--all-extras" in other.arguments else other.extras
            draft.local_projects.append(LocalProject(folder, extras, origin, circumstances, text))
            return
    message = "what this command installs is not known: it is not read"
    if other.reads is not ReadFrom.NOTHING:
        message = "what this command installs is not known: the file that tells it is not here"
    draft.problem(ReadingProblemKind.UNREAD, origin, message, " ".join(word.text for word in command.words))


def _offered(folder: Path) -> tuple[str, ...]:
    """Return the extras that a project has."""
    data = glance(folder / "pyproject.toml")
    tool = data.get("tool")
    poetry = tool.get("poetry") if isinstance(tool, dict) else None
    tables = [
        table.get(key)
        for table, key in ((data.get("project"), "optional-dependencies"), (poetry, "extras"))
        if isinstance(table, dict)
    ]
    return tuple(name for table in tables if isinstance(table, dict) for name in table)


def _conda_file(draft: Draft, script: Script, word: Word, circumstances: Circumstances) -> bool:
    """Read a file of conda's that a command names, and return whether it is one that is here."""
    path = script.folders.located(word.text)
    if path is None or path.suffix.lower() not in (".yml", ".yaml"):
        return False
    try:
        read_conda_environment(draft, path, circumstances)
    except ProjectFileError as error:
        draft.problem(ReadingProblemKind.UNREAD, FileOrigin(script.file.shown, word.line), error.message, word.text)
    return True


def _next_step(draft: Draft) -> int:
    return draft.commands[-1].step + 1 if draft.commands else 1


def _asks_elsewhere(call: PipCommand) -> bool:
    """Return whether a command has its requirements from what is not read, such as ``-r <(...)``."""
    if call.tool == "conda":
        return bool(call.values("file"))
    return not (call.words or any(call.values(name) for name in ("requirement", "editable", "group")))


def _uninstall(draft: Draft, script: Script, call: PipCommand, step: int) -> None:
    draft.removals += [(step, canonicalize_name(re.split(r"[\[<>=!~;@ ]", word.text)[0])) for word in call.words]
    for word in call.values("requirement"):
        path = script.folders.located(word.text)
        file = draft.load(path) if path is not None else None
        for line in logical_lines(file.text) if file else ():
            read = parse_line(line.text, FileOrigin(script.file.shown, word.line))
            if not isinstance(read, ReadingProblem):
                draft.removals.append((step, read.name))


def _included_by_uv(draft: Draft, script: Script, call: PipCommand, word: Word, circumstances: Circumstances) -> bool:
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
    every = path.suffix == ".toml" and "all-extras" in call.flags
    extras = _offered(path.parent) if every else tuple(each.text for each in call.values("extra"))
    origin = FileOrigin(script.file.shown, word.line)
    draft.local_projects.append(LocalProject(path.parent.resolve(), extras, origin, circumstances, word.text))
    return True


def _include(draft: Draft, script: Script, word: Word, circumstances: Circumstances) -> None:
    origin = FileOrigin(script.file.shown, word.line)
    path = script.folders.located(word.text)
    name, later = script.variables.unknown(word.text), script.folders.by_script(word.text)
    message = _not_here(script, word, later) if later is not None else ""
    if "*" in word.text:
        path, message = None, f"`{word.text}` is what lies there when the script runs; its requirements are not known"
    message = not_told(word.text, name, script.variables) if name is not None else message
    if path is None and message:
        draft.problem(ReadingProblemKind.UNREAD, origin, message, word.text)
        return
    reference = str(path) if path is not None else word.text
    include_requirements(draft, reference, script.folders.directory, origin, circumstances)


def not_read(draft: Draft, script: Script, word: Word, command: Command) -> None:
    """Say that a script which a command runs, or has piped to it, is not here."""
    later = script.folders.by_script(word.text)
    message = _not_here(script, word, later) if later is not None else f"`{word.text}` is not here"
    message = message if script_run_by(command.words) else "the script that this command fetches is not read"
    text = " ".join(each.text for each in command.words)
    origin = FileOrigin(script.file.shown, word.line)
    draft.problem(ReadingProblemKind.UNREAD, origin, f"{message}; what it installs is not known", text)


def _not_here(script: Script, word: Word, later: ByScript) -> str:
    if later.here:
        return f"`{word.text}` is not what lies here: line {later.line} of `{script.file.shown}` changes it"
    way_on = "writes it" if later.made else "fetches it; clone or download it, and run `envdoctor check` there"
    return f"`{word.text}` is not here: line {later.line} of `{script.file.shown}` {way_on}"


def _conda(draft: Draft, script: Script, word: Word, circumstances: Circumstances) -> None:
    origin, text = FileOrigin(script.file.shown, word.line), word.text + word.redirected
    name = script.variables.unknown(text)
    if name is not None:
        draft.problem(ReadingProblemKind.UNREAD, origin, not_told(text, name, script.variables), text)
        return
    read_conda_specification(draft, text, origin, circumstances)


def _requirement(
    draft: Draft, script: Script, word: Word, circumstances: Circumstances, *, editable: bool = False
) -> None:
    origin = FileOrigin(script.file.shown, word.line)
    if word.redirected:
        whole = word.text + word.redirected
        message = f"the shell takes `{word.redirected}` for a redirection into a file; `{whole}` needs quotes"
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, whole, (f'"{whole}"',))
    name = script.variables.unknown(word.text)
    if name is not None:
        draft.problem(ReadingProblemKind.UNREAD, origin, not_told(word.text, name, script.variables), word.text)
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
    base, there = script.folders.project_of(path)
    text = word.text.replace(path, there, 1) if path is not None else word.text
    add_requirement(draft, text, base, origin, circumstances, written=word.text, editable=editable)
