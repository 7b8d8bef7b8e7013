"""``init``: a project's own settings, and the hook that looks at its requirements on each commit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from envdoctor.adapters.project.decoding import ProjectFileError, file_bytes
from envdoctor.ports import Tell, UsageError
from envdoctor.shell_line import path_from_here
from envdoctor.toml_tables import TomlError, read_toml
from envdoctor.verbs.hook_file import with_hook
from envdoctor.verbs.next_command import Typed

__all__ = ["files_of_init", "next_of_init", "profile_for"]

_HOOK_FILE = ".pre-commit-config.yaml"
_SETTINGS = """[tool.envdoctor]
# The stack, and the card that it is for; `envdoctor profiles list` names them.
{profile}
# The Python that the project runs on, where nothing else says it.
# target-python = "3.11"
# The files that say what is needed, where they are not found by themselves.
# requirements = ["requirements.txt"]
# Extras and dependency groups that decide with the main list.
# groups = ["gpu"]

# A finding that is accepted on purpose, with the reason and the last day:
# [[tool.envdoctor.waive]]
# rule = "RES102"
# subject = "pyopenjtalk"
# reason = "every machine here has a compiler"
# expires = 2027-01-31
"""


def files_of_init(project: Path, profile: str | None, *, hook: bool) -> Mapping[Path, str]:
    """Return the files to write with their texts; those that have what is needed are left out. Raises UsageError."""
    found = {project / "pyproject.toml": _with_settings(project / "pyproject.toml", profile)}
    if hook:
        root = _repository(project)
        path, where = root / _HOOK_FILE, project.resolve().relative_to(root).as_posix()
        found[path] = with_hook(path, _text(path), where)
    return {_shown(path, project): text for path, text in found.items() if text is not None}


def next_of_init(project: Path, files: Collection[Path]) -> Iterator[str]:
    """Yield what there is to do once the files are written."""
    if not files:
        yield "nothing to write: the settings and the hook are there"
        return
    if any(path.name == _HOOK_FILE for path in files):
        yield "the hook runs on commits once `pre-commit install` was typed in the repository, in each clone anew"
    yield f"next: {Typed(_shown(project, project)).command('check')}"


def _shown(path: Path, project: Path) -> Path:
    """Return a path without detours: from the current folder, or whole where the project was typed so."""
    if project.is_absolute():
        return path.resolve() if ".." in path.parts else path
    return path_from_here(path)


def profile_for(project: Path, name: str | None, tell: Tell) -> str | None:
    """Return the profile to write: as typed, else the one that recognises the project. Raises UsageError."""
    from envdoctor.verbs.project_inputs import TargetChoice, load_settings, pick_profile, read, recognised_profile

    settings = load_settings(project)
    if name is not None:
        found = pick_profile(name, settings, project)
    else:
        try:
            found = recognised_profile(project, read(project, None, settings), TargetChoice(), None, tell=tell)
        except UsageError:
            # `check` says what is wrong with the files; the settings can be written all the same.
            found = None
    return found.name if found is not None else None


def _with_settings(path: Path, profile: str | None) -> str | None:
    before = _text(path)
    if "envdoctor" in _tool(before, path):
        return None
    named = f'profile = "{profile}"' if profile else '# profile = "xtts-zluda"'
    after = _added(before, _SETTINGS.format(profile=named))
    try:
        read_toml(after)
    except TomlError as error:
        message = f"`{path}` keeps its tool table in a form that nothing can be added to; write the settings by hand"
        raise UsageError(message) from error
    return after


def _tool(text: str, path: Path) -> Mapping[str, object]:
    try:
        tool = read_toml(text).get("tool", {})
    except TomlError as error:
        raise UsageError(f"{path}: invalid TOML: {error}") from error
    return tool if isinstance(tool, Mapping) else {}


def _repository(project: Path) -> Path:
    """Return the folder of the repository that a project lies in, else the project's own."""
    here = project.resolve()  # `..` is no parent of what lies behind it.
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def _text(path: Path) -> str:
    try:
        return file_bytes(path, str(path)).decode("utf-8-sig") if path.exists() else ""
    except ProjectFileError as error:
        raise UsageError(f"`{path}` cannot be read: {error.message}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{path}` cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _added(before: str, block: str) -> str:
    """Return a text with a block after it, in the line endings that the text has."""
    end = "\r\n" if "\r\n" in before else "\n"
    kept = before.replace("\r\n", "\n")
    gap = "" if not kept.strip() or kept.endswith("\n\n") else "\n"
    first = kept if not kept or kept.endswith("\n") else f"{kept}\n"
    return f"{first}{gap}{block}".replace("\n", end)
