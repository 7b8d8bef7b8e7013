"""``init``: a project's own settings, and the hook that looks at its requirements on each commit."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from envdoctor.ports import Tell, UsageError
from envdoctor.shell_line import shell_line
from envdoctor.toml_tables import TomlError, read_toml
from envdoctor.verbs.next_command import Typed

__all__ = ["HOOK_FILES", "files_of_init", "next_of_init", "profile_for"]

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
_HOOK = """  - repo: local
    hooks:
      - id: envdoctor-check
        name: envdoctor check
        # Asks no index: it judges by what `envdoctor check` and the lock have seen.
        entry: {entry}
        language: system
        pass_filenames: false
        require_serial: true
        files: |-
{files}
"""


def files_of_init(project: Path, profile: str | None, *, hook: bool) -> Mapping[Path, str]:
    """Return the files to write with their texts; those that have what is needed are left out. Raises UsageError."""
    found = {project / "pyproject.toml": _with_settings(project / "pyproject.toml", profile)}
    if hook:
        root = _repository(project)
        found[root / ".pre-commit-config.yaml"] = _with_hook(root / ".pre-commit-config.yaml", project, root)
    return {_shown(path, project): text for path, text in found.items() if text is not None}


def next_of_init(project: Path) -> str:
    """Return the command to type once the files are written."""
    return Typed(_shown(project, project)).command("check")


def _shown(path: Path, project: Path) -> Path:
    """Return a path without detours: from the current folder, or whole where the project was typed so."""
    if project.is_absolute():
        return path.resolve() if ".." in path.parts else path
    try:
        return Path(os.path.relpath(path.resolve()))
    except ValueError:  # On another drive.
        return path.resolve()


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


def _with_hook(path: Path, project: Path, root: Path) -> str | None:
    import yaml

    before = _text(path)
    where = os.path.relpath(project, root).replace(os.sep, "/")
    entry = shell_line(["envdoctor", "check", *([] if where == "." else [where]), "--offline", "--quiet"])
    files = "\n".join(f"{' ' * 10}{line}" for line in HOOK_FILES.splitlines())
    block = _HOOK.format(entry=entry, files=files)
    try:
        old, after = yaml.safe_load(before) or {}, _added(before, block if before.strip() else f"repos:\n{block}")
        if any(_checks(hook, where) for hook in _hooks(old)):
            return None
        new = yaml.safe_load(after)
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"`{path}`: the hook cannot be added to it; add it by hand:\n{block}") from error
    repos = old.get("repos", []) if isinstance(old, dict) else None
    if not isinstance(new, dict) or repos is None or new.get("repos", [])[:-1] != repos or {**old, **new} != new:
        raise UsageError(f"`{path}`: its list of repositories is not its last entry; add the hook by hand:\n{block}")
    return after


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


def _repository(project: Path) -> Path:
    """Return the folder of the repository that a project lies in, else the project's own."""
    here = project.resolve()  # `..` is no parent of what lies behind it.
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{path}` cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _added(before: str, block: str) -> str:
    """Return a text with a block after it, in the line endings that the text has."""
    end = "\r\n" if "\r\n" in before else "\n"
    kept = before.replace("\r\n", "\n")
    gap = "" if not kept.strip() or kept.endswith("\n\n") or block.startswith("  ") else "\n"
    first = kept if not kept or kept.endswith("\n") else f"{kept}\n"
    return f"{first}{gap}{block}".replace("\n", end)
