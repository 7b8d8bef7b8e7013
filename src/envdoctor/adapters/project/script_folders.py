"""Where a script is while it runs, as far as that can be told, and which files it brings there itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from envdoctor.model.dataclass import dataclass

__all__ = ["ScriptFolders", "below"]

_CLONE_WITH_VALUE = frozenset(
    {"-b", "--branch", "--depth", "-o", "--origin", "-c", "--config", "-j", "--jobs", "--filter", "--reference",
     "-u", "--upload-pack", "--shallow-since", "--template", "--separate-git-dir"}
)  # fmt: skip
_DOWNLOADERS = frozenset({"wget", "curl", "aria2c", "invoke-webrequest", "iwr", "gdown", "bitsadmin", "certutil"})
_UNPACKERS = frozenset({"unzip", "tar", "7z", "7za", "bsdtar", "expand-archive"})
_WITHIN = frozenset({"sudo", "then", "else", "do", "&", "call", "!", "{"})


_PATTERN = re.compile(r"[*?\[]")


@dataclass(slots=True)
class ScriptFolders:
    """The folder that a script is in; what it fetches is in none that is here."""

    boundary: Path
    beside: Path
    """The script's own folder."""
    directory: Path
    _away: Path | None = None
    """The folder that comes into being only when the script runs, while it is in one."""
    _fetched: dict[str, int] = field(default_factory=dict)
    """Folders and files that were fetched by now, by name; the line of each."""
    _unpacked: int | None = None
    """The line of what puts folders there whose names are not known."""
    _copied: list[Path] = field(default_factory=list)
    """Folders of the checkout that a Dockerfile copies to somewhere."""

    def follow(self, words: Sequence[str], line: int) -> None:
        """Take note of a change of directory, and of what fetches or unpacks."""
        while words[1:] and words[0].lower() in _WITHIN:
            words = words[1:]
        first, rest = re.split(r"[\\/]", words[0].lower().lstrip("@"))[-1].removesuffix(".exe"), words[1:]
        if first in {"cd", "pushd", "set-location", "chdir"}:
            self._enter(next((word for word in rest if word.lower() not in {"/d", "-path"}), ""))
        elif first == "workdir":
            self._enter(" ".join(rest), made=True)
        elif first == "popd":
            self._away = None
        elif first in {"git", "gh"} and "clone" in rest[:5]:
            self._clone([*rest[rest.index("clone") + 1 :]], line)
        elif first in _DOWNLOADERS:
            self._fetched |= {_last(word): line for word in rest if _last(word)}
        elif first in _UNPACKERS:
            self._unpacked = line
        elif first in {"copy", "add"}:
            self._copy(rest, line)

    def fetched(self, text: str) -> int | None:
        """Return the line that brings a file which is not here, None where the script brings none of that name."""
        parts = [part for part in text.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        if self._away is not None:
            return self._source([*self._parts(self._away), *parts]) or self._unpacked
        return self._source(parts) or (self._unpacked if len(parts) > 1 else None)

    def _source(self, parts: Sequence[str]) -> int | None:
        return next((self._fetched[part] for part in reversed(parts) if part in self._fetched), None)

    def _parts(self, path: Path) -> Sequence[str]:
        return path.relative_to(self.beside).parts if path.is_relative_to(self.beside) else path.parts

    def located(self, text: str) -> Path | None:
        """Find a file that a command names: where it says, or by its name beside the script, as in a container."""
        written = text.replace("\\", "/")
        name = written.rpartition("/")[2].rpartition("~dp0")[2]
        candidates = [self.directory / written, below(self.beside, text), self.beside / name]
        candidates += [folder / each for folder in self._copied for each in (written, name)]
        return next((path for path in candidates if self._readable(path)), None)

    def _readable(self, path: Path) -> bool:
        try:
            found = path.resolve()
            return found.is_relative_to(self.boundary) and found.is_file()
        except (OSError, RuntimeError, ValueError):
            return False

    def _enter(self, target: str, *, made: bool = False) -> None:
        """Go into a folder; ``made``: of a container, where none of the checkout's is of that name."""
        if target == "-":
            self._away = None
            return
        try:
            directory = ((self._away or self.directory) / target.replace("\\", "/")).resolve()
            if not made and directory.is_dir() and directory.is_relative_to(self.boundary):
                self.directory, self._away = directory, None
            elif self._unpacked or self._source(self._parts(directory)):
                self._away = directory
            elif made:
                self._away = None
        except (OSError, RuntimeError, ValueError):
            return

    def _clone(self, rest: list[str], line: int) -> None:
        named = [
            word
            for at, word in enumerate(rest)
            if not word.startswith("-") and not (at and rest[at - 1] in _CLONE_WITH_VALUE)
        ]
        folder = _last(named[min(len(named), 2) - 1]).removesuffix(".git") if named else ""
        if folder in ("", ".", "..") or "$" in folder or "%" in folder:
            self._unpacked = line
            self._away = self._away or (self.directory if folder == "." else None)
        else:
            self._fetched[folder] = line

    def _copy(self, rest: Sequence[str], line: int) -> None:
        """Take note of a Dockerfile's COPY of folders: those of the checkout, and those that come from elsewhere."""
        *sources, target = [word for word in rest if not word.startswith("--")] or [""]
        named = [(source, self.beside / source.strip("/")) for source in sources]
        self._copied += [path for _, path in named if path.is_dir() and path.resolve().is_relative_to(self.boundary)]
        unknown = any(not path.exists() and not path.suffix and not _PATTERN.search(source) for source, path in named)
        if unknown or any(word.startswith("--from") or "://" in word for word in rest):
            name = _last(target)
            if name in ("", ".", ".."):
                self._unpacked = line
            else:
                self._fetched[name] = line


def _last(word: str) -> str:
    """Return the name of a file or folder, of a URL too."""
    return re.split(r"[\\/:=]", re.split(r"[?#]", word)[0].rstrip("/"))[-1]


def below(directory: Path, text: str) -> Path:
    """Return the file that a script names, with variables (``%~dp0``, ``$PSScriptRoot``) taken for its own folder."""
    plain = re.sub(r"%~dp0|%\w+%", "", text).replace("\\", "/")
    return directory.joinpath(*(part for part in plain.split("/") if part not in ("", ".") and "$" not in part))
