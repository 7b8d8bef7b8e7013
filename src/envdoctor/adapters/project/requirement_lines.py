"""A requirements file's physical lines into the lines that pip sees.

The rules are those of pip's documentation, "Requirements File Format": a backslash at the end joins lines, a comment
starts with ``#`` at the line's start or after white space, and ``${NAME}`` stands for an environment variable.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from optparse import OptionParser, Values
from typing import NoReturn

from envdoctor.model.dataclass import dataclass

__all__ = [
    "InvalidOptions",
    "LineOptions",
    "LogicalLine",
    "expand",
    "logical_lines",
    "parse_options",
    "split_options",
    "without_comment",
]

_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """A joined line without its comment; ``number`` is that of its first physical line, from 1."""

    number: int
    text: str


def logical_lines(text: str) -> Iterator[LogicalLine]:
    """Yield the lines that say something."""
    start = 0
    parts: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        comment_only = line.lstrip().startswith("#")
        start = start or number
        if line.endswith("\\") and not comment_only:
            parts.append(line.strip("\\"))
            continue
        # A comment that ends a continuation must stay apart from what it follows.
        parts.append(f" {line}" if comment_only else line)
        yield from _finished(start, parts)
        start, parts = 0, []
    if parts:
        yield from _finished(start, parts)


def _finished(number: int, parts: list[str]) -> Iterator[LogicalLine]:
    text = without_comment("".join(parts)).strip()
    if text:
        yield LogicalLine(number, text)


def without_comment(line: str) -> str:
    """Cut a comment off: ``#`` at the start or after white space, so that ``#egg=`` of a URL stays."""
    at = line.find("#")
    while at >= 0:
        if at == 0 or line[at - 1].isspace():
            return line[:at].rstrip()
        at = line.find("#", at + 1)
    return line


def expand(line: str, variables: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Replace ``${NAME}``; return the line and the names that are not set, which stay as they are, as with pip."""
    missing: list[str] = []

    def value(match: re.Match[str]) -> str:
        found = variables.get(match.group(1))
        if found:
            return found
        missing.append(match.group(1))
        return match.group(0)

    return _VARIABLE.sub(value, line), tuple(missing)


class InvalidOptions(Exception):
    """An option that pip does not know here, or one without its value."""


class _Parser(OptionParser):
    def error(self, msg: str) -> NoReturn:
        raise InvalidOptions(msg)

    def exit(self, status: int = 0, msg: str | None = None) -> NoReturn:  # noqa: ARG002
        raise InvalidOptions(msg or "invalid option")


def _parser() -> _Parser:
    parser = _Parser(usage="", prog="pip", add_help_option=False)
    values = {
        ("-i", "--index-url", "--pypi-url"): "index_url",
        ("--extra-index-url",): "extra_index_urls",
        ("-f", "--find-links"): "find_links",
        ("-r", "--requirement"): "requirements",
        ("-c", "--constraint"): "constraints",
        ("-e", "--editable"): "editables",
        ("--no-binary",): "no_binary",
        ("--only-binary",): "only_binary",
        ("--all-releases",): "all_releases",
        ("--only-final",): "only_final",
        ("--trusted-host",): "trusted_hosts",
        ("--use-feature",): "features",
        ("--hash",): "hashes",
        ("-C", "--config-settings", "--config-setting"): "config_settings",
        ("--global-option",): "global_options",
        ("--build-option",): "build_options",
        ("--install-option",): "install_options",
    }
    for flags, destination in values.items():
        parser.add_option(*flags, dest=destination, action="append", type="string", default=[])
    for flag in ("--no-index", "--pre", "--prefer-binary", "--require-hashes"):
        parser.add_option(flag, action="store_true", default=False)
    return parser


_PARSER = _parser()
_OF_FILE = (
    "index_url", "extra_index_urls", "find_links", "requirements", "constraints", "editables", "no_binary",
    "only_binary", "all_releases", "only_final", "trusted_hosts", "features", "no_index", "pre", "prefer_binary",
    "require_hashes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LineOptions:
    """The options of one line, and words that pip would ignore."""

    values: Values
    ignored: tuple[str, ...]

    def several(self, name: str) -> tuple[str, ...]:
        """Return an option's values in order."""
        return tuple(getattr(self.values, name))

    def switch(self, name: str) -> bool:
        """Return whether a switch is set."""
        return bool(getattr(self.values, name))

    @property
    def of_file(self) -> tuple[str, ...]:
        """Names of the options that count for the whole file and not for a requirement."""
        return tuple(name for name in _OF_FILE if getattr(self.values, name))


def split_options(line: str) -> tuple[str, str]:
    """Split a line where its first option starts: the requirement, which is never unquoted, and the options."""
    words = line.split(" ")
    for at, word in enumerate(words):
        if word.startswith("-"):
            return " ".join(words[:at]).strip(), " ".join(words[at:])
    return line.strip(), ""


def parse_options(text: str) -> LineOptions:
    """Parse options; quotes and backslashes as POSIX shells have them. Raises InvalidOptions."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InvalidOptions(f"unbalanced quotes ({error})") from error
    defaults = _PARSER.get_default_values()
    # The defaults of "append" options are shared lists.
    for name, value in vars(defaults).items():
        if isinstance(value, list):
            setattr(defaults, name, list(value))
    values, rest = _PARSER.parse_args(words, defaults)
    return LineOptions(values, tuple(rest))
