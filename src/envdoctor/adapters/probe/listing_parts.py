"""What every reader of listings needs: the result, its error, and the noise that surrounds a pasted text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace

from packaging.utils import canonicalize_name

from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import (
    CondaPackage,
    EnvironmentProblem,
    EnvironmentProblemKind,
    InstalledDistribution,
    Interpreter,
)

__all__ = [
    "Listing",
    "ListingError",
    "distribution",
    "lines_of",
    "plain_text",
    "platform_of_names",
    "platform_of_paths",
    "read_python",
    "unboxed",
]

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
# Prompts, fences, and what pip and conda say besides.
_NOISE = re.compile(
    r"^(```|~~~|WARNING\b|DEPRECATION\b|ERROR\b|\[notice\]|Using Python |Python \d|warning:|error:"
    r"|Note: you may need|You are using pip|You should consider"
    r"|PS [A-Z]:|[A-Z]:\\[^>]*>|\([\w.-]+\) (PS|[A-Z]:\\|\S+[@:$#%])"
    r"|[^\s@]+@\S+[:$#]|\[[^\s@\]]+@[^\]]+\][$#]|[$%>\u276f\u279c] |In \[\d+\]|[!%>](?:pip3?|conda|uv) )"
)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
"""ANSI sequences: a terminal's colours, and the titles that shells set."""
_VERSION = re.compile(r"(\d{1,2})\.(\d{1,3})(?:\.\d+\w*)?")


class ListingError(ValueError):
    """A text that is none of the listings that are understood, with the line that shows it."""

    def __init__(self, path: str, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        self.line = line
        self.message = message


@dataclass(slots=True)
class Listing:
    """What a listing tells."""

    source: str
    distributions: list[InstalledDistribution] = field(default_factory=list)
    conda_packages: list[CondaPackage] = field(default_factory=list)
    problems: list[EnvironmentProblem] = field(default_factory=list)
    told: Interpreter = field(default_factory=Interpreter)
    python: tuple[int, int] | None = None
    python_full: str | None = None
    root: str = ""
    has_requirements: bool = False
    partial: bool = False
    """True where the listing names a choice of distributions only."""
    _names: set[str] = field(default_factory=set)
    _named: int = 0

    def names(self) -> set[str]:
        """Return what its distributions are called; a listing of many asks it at each line."""
        self._names.update(item.name for item in self.distributions[self._named :])
        self._named = len(self.distributions)
        return self._names

    def set_python(self, text: str) -> None:
        """Take the interpreter's version from ``text``, where it begins with one."""
        self.python, self.python_full = read_python(text)

    def set_platform(self, platform: str, machine: str = "") -> None:
        """Take the system, as ``sys.platform`` says it, and the processor; an empty text changes nothing."""
        told = self.told
        self.told = replace(told, platform=platform or told.platform, machine=machine or told.machine)

    def skip(self, name: str, line: int, text: str) -> None:
        """Keep a line that could not be read as a problem."""
        self.problems.append(
            EnvironmentProblem(EnvironmentProblemKind.UNREADABLE_LINE, f"{name}:{line}", text.strip()[:200])
        )


def read_python(text: str) -> tuple[tuple[int, int] | None, str | None]:
    """Return ``(3, 10)`` and ``3.10.12`` of ``3.10.12 (main, ...)``; None for what is not there."""
    match = _VERSION.match(text.strip())
    if match is None:
        return None, None
    full = match[0] if match[0].count(".") == 2 else None
    return (int(match[1]), int(match[2])), full


def distribution(name: str, version: str, **more: str | bool | None) -> InstalledDistribution | None:
    """Return a distribution of a listing, None where ``name`` cannot be one."""
    if not _NAME.fullmatch(name):
        return None
    installer, direct_url = more.get("installer"), more.get("direct_url")
    return InstalledDistribution(
        name=canonicalize_name(name),
        version=version,
        installer=str(installer) if installer else None,
        direct_url=str(direct_url) if direct_url else None,
        editable=bool(more.get("editable")),
    )


_MARKS = re.compile(
    r"> ?|\([^()\n]{0,80}\bpid=\d+[^()\n]{0,80}\) "
    r"|(?:[-*•]|\d{1,3}[.)]) (?=[A-Za-z0-9][\w.-]{0,80}(?:\[[^\[\]\n]{0,80}\])?==)"
)
"""What stands before each line that somebody quotes or lists, or that Ray prints for a worker."""


_IN_CODE = re.compile(r"^([-*•\d.) \t]{0,8})`([A-Za-z0-9][^`\s]{0,200}==[^`\s]{1,200})`[ \t\r]*$", re.MULTILINE)
"""A pin that Markdown shows as code."""


def plain_text(text: str) -> str:
    """Return a text without a terminal's colours and a byte order mark, nor the marks before what is quoted."""
    plain = _IN_CODE.sub(r"\1\2", _COLOUR.sub("", text.removeprefix("\ufeff")))
    rows = [line for line in plain.split("\n") if line.strip()]
    if sum(_MARKS.match(row) is not None for row in rows) * 5 < len(rows) * 4:
        return plain
    return "\n".join(_MARKS.sub("", line, count=1) if _MARKS.match(line) else line for line in plain.split("\n"))


_EDGE = "│|┃"
_BORDER = re.compile(r"[\s╭╮╰╯├┤┌┐└┘┬┴┼┏┓┗┛┡┩╇─━═│|┃+:=-]+$")


def unboxed(text: str) -> str:
    """Return a table of a terminal or of Markdown as plain columns, anything else as it is."""
    rows = [line.strip() for line in text.splitlines() if line.strip()]
    boxed = [row for row in rows if row[0] in _EDGE and row[-1] in _EDGE and len(row) > 1]
    if len(boxed) < 2 or not re.match(r"\W*(?:name|package)\W+version\b", boxed[0], re.IGNORECASE):
        return text
    kept = (row for row in boxed[1:] if not _BORDER.match(row))
    body = "\n".join("  ".join(cell.strip() for cell in re.split(f"[{_EDGE}]", row[1:-1])) for row in kept)
    return f"Package Version\n{body}\n"


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that may say something, with their numbers; prompts and warnings are left out."""
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped and not _NOISE.match(stripped):
            yield number, stripped


_SIGNS = {
    "win32": frozenset(
        {"pywin32", "pywinpty", "pypiwin32", "pywin32-ctypes", "comtypes", "win32-setctime", "wmi", "triton-windows",
         "onnxruntime-directml"}
    ),
    "darwin": frozenset({"appnope", "pyobjc-core", "pyobjc", "mlx", "mlx-metal", "rumps"}),
    "linux": frozenset(
        {"triton", "pytorch-triton-rocm", "secretstorage", "jeepney", "nvidia-nccl-cu12", "nvidia-nccl-cu13",
         "nvidia-cufile", "nvidia-cufile-cu12", "vllm"}
    ),
}  # fmt: skip
"""Their wheels, or the markers on requirements that bring them, are for one system."""


def platform_of_names(listing: Listing) -> str | None:
    """Return the system as ``sys.platform`` says it, None where no name or names of several systems tell."""
    names = {item.name for item in listing.distributions}
    found = [platform for platform, signs in _SIGNS.items() if names & signs]
    return found[0] if len(found) == 1 else None


_PATHS = {
    "win32": re.compile(r"(?<![\w/])[A-Za-z]:\\|\bfile:///[A-Za-z]:/"),
    "darwin": re.compile(r"(?<![\w.:/\\])(?:file://)?/(?:Users|opt/homebrew)/"),
    "linux": re.compile(r"(?<![\w.:/\\])(?:file://)?/(?:home|root|mnt/[a-z])/"),
}
"""Folders that only one system has: in prompts, in conda's head line, in the places of editable installs."""
_BUILT_ON_LINUX = re.compile(r"file:///home/\S{1,300}_\d{10,13}/work(?![\w.-])")
"""Where conda's channels build for Linux, and what is for every system: a listing of Windows' has such, too."""


def platform_of_paths(text: str) -> str | None:
    """Return the system whose paths stand in ``text``, None where there are none or those of several systems."""
    for said in (_BUILT_ON_LINUX.sub("", text), text):
        if found := [platform for platform, pattern in _PATHS.items() if pattern.search(said)]:
            return found[0] if len(found) == 1 else None
    return None
