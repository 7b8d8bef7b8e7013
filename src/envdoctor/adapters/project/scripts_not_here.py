"""Scripts that a script runs and that are not here, or that it fetches: which of them may well install."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from envdoctor.adapters.project.other_installers import OtherInstall, ReadFrom, script_run_by
from envdoctor.adapters.project.script_folders import ScriptFolders
from envdoctor.adapters.project.shell_words import Command, Word

__all__ = ["Guards", "may_install_unread"]

_OWN_FOLDER = re.compile(
    r"^(?:%~dp0|%cd%|\$\((?:pwd|dirname [^()]{0,80})\)|[$%]\{?\w*(?:script|here|repo|project|pwd)\w*[}%]?)[\\/]*", re.I
)
_COMPUTED, _OF_MACHINE = re.compile(r"[$%`!]"), re.compile(r"^(?:[/~\\]|[A-Za-z]:)")
_INSTALLS = re.compile(r"install|setup|deps?$|depend|reqs?$|require|prereq|(?:py)?torch$|pip$")
"""How a word of the path of a script begins that says so; recipes run dozens of others which do not."""
_OF_PROJECT = frozenset({"build", "bootstrap", "create_env", "create_venv"})
"""What else it may be called, where it is no other project's, which builds some library more often."""
_LOOKS = frozenset({"check", "verify", "test", "tests"})
_SETS = frozenset({"env", "vars", "environment", "path"})
_TOOL = re.compile(
    r"(?:mini|ana)conda|miniforge|mambaforge|micromamba|\bpixi\b|rustup|\bnvm\b|nodesource|nodejs|pyenv|homebrew|oh-my|"
    r"docker|llvm|cmake|bazel|vcpkg|emsdk|ollama|git-lfs|starship|\bhelm\b|golang|(?:\b|_)uv(?:\b|_)",
    re.I,
)
"""What puts a tool on the machine, and no package into an environment."""
_FORGE = re.compile(
    r"^https?://(?:raw\.githubusercontent\.com|gist\.github\w*\.com|github\.com|gitlab\.com|huggingface\.co"
    r"|bitbucket\.org|codeberg\.org|gitee\.com)/",
    re.I,
)
"""Where projects keep their scripts; what has a host of its own puts itself on the machine: rustup, uv, Node.js."""
_URL = re.compile(r"https?://[^\s'\"()|;]+")
_READ_BY_SHELL = re.compile(r"\$\((?:curl|wget)\s.*\)$", re.S)
_SHELL = re.compile(r"(?:\S*/)?(?:ba|da|z|a)?sh|source|\.|iex|invoke-expression", re.I)
_BEFORE = re.compile(r"sudo|exec|env|then|else|do|!|&|-\S+|\w+=\S*", re.I)
_BRACKETS, _FILE_TESTS = frozenset({"[", "[[", "test"}), frozenset({"-f", "-e", "-x", "-r", "-s"})
_NEAR = 4
"""Words at the start of a command among which the one that counts stands; commands of one pipe."""


class Guards:
    """Which files a script has asked for before it runs them: one that is not here does not run then."""

    def __init__(self) -> None:
        """Begin with none."""
        self._asked: set[str] = set()
        self._turned = False

    def follow(self, words: Sequence[Word]) -> None:
        """Take note of what a command asks to be there."""
        texts = [word.text for word in words]
        lower = [text.lower() for text in texts]
        turned = self._turned or not {"!", "not", "-not"}.isdisjoint(lower)
        for at, text in enumerate(lower[:-1]):
            asks = text in _FILE_TESTS and not _BRACKETS.isdisjoint(lower[:at])
            if not turned and (asks or text in ("exist", "test-path")):
                self._asked.add(_name(texts[at + 1]))
        self._turned = lower[-1] in ("!", "-not")  # PowerShell's bracket makes what follows a command of its own.

    def asked(self, text: str) -> bool:
        """Return whether it was asked that a script is there."""
        return _name(text) in self._asked


def may_install_unread(
    listed: Sequence[Command], at: int, folders: ScriptFolders, guards: Guards
) -> OtherInstall | None:
    """Return as an install what runs a script that is not here and may well install; None for any other command."""
    command = listed[at]
    word = script_run_by(command.words)
    if word is None:
        url = next(_piped(listed, at), "")
        fetched = bool(url) and _is_project_s(url)
        return OtherInstall("", (), ReadFrom.SCRIPT, command.words[0]) if fetched else None
    sourced = any(each.text in ("source", ".") for each in command.words[:_NEAR])
    rest = _OWN_FOLDER.sub("", word.text)
    brought, seen = folders.by_script(rest), folders.place_of(rest)
    if brought is None:
        own = folders.container and not _OF_MACHINE.match(rest)
        known = seen is not None and not _COMPUTED.search(rest) and (own or folders.is_of_checkout(seen))
    else:
        known = not brought.url or _is_project_s(brought.url)
    installs = known and _may_install(rest, sourced=sourced, own=brought is None)
    return OtherInstall("", (), ReadFrom.SCRIPT, word) if installs and not guards.asked(word.text) else None


def _may_install(text: str, *, sourced: bool, own: bool) -> bool:
    """Return whether the name of a script that is not here lets one think that it installs packages."""
    stem = re.sub(r"\.\w+$", "", text.lower())
    name = _name(stem)
    parts = re.split(r"[\W_\d]+", stem)
    says_so = any(_INSTALLS.match(part) for part in parts) or (own and name in _OF_PROJECT)
    if sourced:
        of_ros = name.endswith("setup") and ("install" in text or "devel" in text or text.endswith("bash"))
        says_so &= not of_ros and _SETS.isdisjoint(parts)
    return says_so and _LOOKS.isdisjoint(parts) and not _TOOL.search(text)


def _is_project_s(url: str) -> bool:
    return _FORGE.match(url) is not None and _TOOL.search(url) is None


def _piped(listed: Sequence[Command], at: int) -> Iterator[str]:
    """Yield the URLs of what a shell reads that a command starts."""
    command = listed[at]
    texts = [word.text for word in command.words]
    if _READ_BY_SHELL.match(texts[0]):
        yield from _URL.findall(texts[0])
    place = next((n for n, text in enumerate(texts[:_NEAR]) if not _BEFORE.fullmatch(text)), None)
    if place is None or not _SHELL.fullmatch(texts[place]):
        return
    parts, before, after = list[Command](), at - 1, at + 1
    while before >= max(0, at - _NEAR) and listed[before].ends == "|":
        parts.append(listed[before])
        before -= 1
    while after < min(len(listed), at + _NEAR) and listed[after].depth > command.depth:
        parts.append(listed[after])
        after += 1
    yield from (url for part in parts for word in part.words for url in _URL.findall(word.text))


def _name(text: str) -> str:
    return re.split(r"[\\/]", text)[-1]
