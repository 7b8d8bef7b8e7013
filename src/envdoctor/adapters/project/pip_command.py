"""The words of a ``pip``, ``uv pip`` or ``conda`` command into what it installs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field

from envdoctor.adapters.project.shell_words import Word, program
from envdoctor.model.dataclass import dataclass
from envdoctor.model.upload_limit import PIPS_LIMIT, UVS_LIMIT, UVS_LIMIT_OF_PACKAGE

__all__ = ["CONDA", "INTO", "SPEAKERS", "PipCommand", "options_of", "read_pip_command"]

_PIP = re.compile(r"^pip(?:\d+(?:\.\d+)?)?$")
CONDA = frozenset({"conda", "_conda", "mamba", "micromamba"})
"""Conda's names; ``_conda.exe`` is what its installers for Windows bring."""
SPEAKERS = frozenset(
    {"echo", "rem", "apt", "apt-get", "yum", "dnf", "apk", "brew", "printf", "which", "command", "where", "type",
     "write-host", "write-output", "grep", "title", "pacman", "zypper", "choco", "winget", "export", "alias",
     "docker", "docker-compose", "podman", "kubectl", "wsl", "ssh", "vagrant", "singularity", "apptainer"}
)  # fmt: skip
"""Words behind which ``pip`` is an argument, or a command of another machine."""
INTO = re.compile(r"--(?:target|prefix|root)(?:=|$)|-t$")
"""Options with which pip installs into a folder that the environment does not know."""
_NEAR = 12
_NOTHING = frozenset({"dry-run", "help"})
"""Options with which nothing is installed."""
_LONG_WITH_VALUE = {
    "--requirement": "requirement", "--requirements": "requirement", "--constraint": "constraint",
    "--constraints": "constraint", "--editable": "editable", "--index-url": "index-url", "--default-index": "index-url",
    "--extra-index-url": "extra-index-url", "--index": "extra-index-url", "--find-links": "find-links",
    "--no-binary": "no-binary", "--only-binary": "only-binary", "--trusted-host": "trusted-host", "--file": "file",
    "--no-build-isolation-package": "no-build-isolation", "--channel": "ignored", "--extra": "extra",
    "--group": "group",
    "--wheel-dir": "wheel-dir", "--override": "override", "--overrides": "override", "--prerelease": "prerelease",
    "--exclude-newer": UVS_LIMIT, "--exclude-newer-package": UVS_LIMIT_OF_PACKAGE, "--uploaded-prior-to": PIPS_LIMIT,
}  # fmt: skip
_IGNORED_WITH_VALUE = frozenset(
    {"--target", "--prefix", "--root", "--src", "--platform", "--python-version", "--implementation", "--abi", "--name",
     "--progress-bar", "--upgrade-strategy", "--cache-dir", "--timeout", "--retries", "--proxy", "--cert",
     "--client-cert", "--log", "--exists-action", "--report", "--root-user-action", "--use-feature", "--use-deprecated",
     "--config-settings", "--global-option", "--python", "--torch-backend",
     "--index-strategy", "--resolution",
     "--hash", "--link-mode", "--install-option",
     "--default-timeout", "--keyring-provider", "--python-platform", "--reinstall-package", "--refresh-package",
     "--all-releases", "--only-final", "--build-constraint", "--build-constraints", "--requirements-from-script",
     "--resume-retries", "--allow-insecure-host", "--color", "--config-file", "--config-setting",
     "--config-settings-package", "--directory", "--excludes", "--fork-strategy", "--no-editable-package",
     "--no-sources-package", "--output-format", "--prerelease-package", "--project", "--upgrade-group",
     "--upgrade-package", "--solver", "--subdir", "--repodata-fn", "--root-prefix"}
)  # fmt: skip
_SHORT_WITH_VALUE = {
    "r": "requirement", "c": "constraint", "e": "editable", "i": "index-url", "f": "find-links", "t": "ignored",
    "C": "ignored", "p": "ignored", "b": "ignored", "P": "ignored", "w": "wheel-dir",
}  # fmt: skip
_CONDA_SHORT_WITH_VALUE = {"c": "ignored", "n": "ignored", "p": "ignored", "r": "ignored", "f": "file"}


@dataclass(slots=True)
class PipCommand:
    """What one command does; ``options`` are name and value in order."""

    tool: str
    verb: str
    arguments: tuple[str, ...]
    words: list[Word] = field(default_factory=list)
    """Requirements as they were given."""
    options: list[tuple[str, Word]] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    program: str = ""
    """Its name where that is another than the tool's: ``mamba``."""

    def values(self, name: str) -> list[Word]:
        """Return the values of an option."""
        return [word for option, word in self.options if option == name]


def read_pip_command(words: Sequence[Word]) -> PipCommand | None:
    """Return the command, None where the words are no ``install``, ``uninstall`` or ``wheel``."""
    found = _tool(words)
    if found is None:
        return None
    program, rest = found
    tool = "conda" if program in CONDA else program
    command = PipCommand(tool, "", (), program=program)
    _read_arguments(command, rest)
    verbs = {"install": "install", "uninstall": "uninstall", "remove": "uninstall", "wheel": "wheel"}
    verb = command.words.pop(0).text if command.words else ""
    if tool == "uv" and verb == "sync":
        verb = "install"
        command.options += [("requirement", word) for word in command.words]
        command.words.clear()
    if tool == "conda" and verb == "create":
        verb = "install"
    if verb not in verbs or not _NOTHING.isdisjoint(command.flags):
        return None
    command.verb = verbs[verb]
    command.flags |= {"pre"} if any(word.text == "allow" for word in command.values("prerelease")) else set()
    command.arguments = tuple(word.text + word.redirected for word in rest)
    return command


def options_of(tool: str, words: Sequence[Word]) -> PipCommand:
    """Return the options that pip or uv would read among words, whatever the command."""
    command = PipCommand(tool, "install", ())
    _read_arguments(command, words)
    return command


def _tool(words: Sequence[Word]) -> tuple[str, Sequence[Word]] | None:
    for at, word in enumerate(words[:_NEAR]):
        name = program(word.text)
        if name in SPEAKERS:
            return None
        if _PIP.match(name):
            before = [program(each.text) for each in words[:at]]
            by_uv = "uv" in before and before[before.index("uv") + 1 :][:1] not in (["run"], ["tool"])
            return ("uv" if by_uv else "pip"), words[at + 1 :]
        if name in CONDA and at + 1 < len(words) and words[at + 1].text != "run":
            return name, words[at + 1 :]
    return None


def _read_arguments(command: PipCommand, words: Sequence[Word]) -> None:
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        text = word.text
        if text.startswith("--") and len(text) > 2:
            at += _long(command, word, words[at] if at < len(words) else None)
        elif text.startswith("-") and len(text) > 1:
            at += _short(command, word, words[at] if at < len(words) else None)
        elif text:
            command.words.append(word)


def _long(command: PipCommand, word: Word, following: Word | None) -> int:
    name, equals, value = word.text.partition("=")
    option = _LONG_WITH_VALUE.get(name) or ("ignored" if name in _IGNORED_WITH_VALUE else None)
    if option is None:
        command.flags.add(name.removeprefix("--"))
        return 0
    if equals:
        command.options.append((option, Word(value, word.line, word.redirected)))
        return 0
    if following is not None:
        command.options.append((option, following))
    return 1


def _short(command: PipCommand, word: Word, following: Word | None) -> int:
    table = _CONDA_SHORT_WITH_VALUE if command.tool == "conda" else _SHORT_WITH_VALUE
    for at, letter in enumerate(word.text[1:], start=1):
        option = table.get(letter)
        if option is None:
            command.flags.add({"U": "upgrade", "q": "quiet", "y": "yes"}.get(letter, letter))
            continue
        rest = word.text[at + 1 :].removeprefix("=")
        if rest:
            command.options.append((option, Word(rest, word.line)))
            return 0
        if following is not None:
            command.options.append((option, following))
        return 1
    return 0
