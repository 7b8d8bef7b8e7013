"""Where a script is while it runs, as far as that can be told, and which files it brings there itself."""

from __future__ import annotations

import os
import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from fnmatch import filter as named_like
from pathlib import Path

from envdoctor.adapters.project.decoding import ProjectFileError, file_bytes
from envdoctor.adapters.project.requirements_file import PROJECT_FILES, is_project
from envdoctor.adapters.project.script_paths import ByScript, below, cloned, last_name, outputs, repository_name
from envdoctor.adapters.project.shell_words import Command, program
from envdoctor.model.dataclass import dataclass

__all__ = ["ScriptFolders"]

_DOWNLOADERS = frozenset({"wget", "curl", "aria2c", "invoke-webrequest", "iwr", "gdown", "bitsadmin", "certutil"})
_UNPACKERS = frozenset({"unzip", "tar", "7z", "7za", "bsdtar", "expand-archive"})
_COPIERS = frozenset({"cp", "mv", "ln", "rsync", "copy", "move", "copy-item", "move-item"})
_WRITERS = frozenset({"tee", "out-file", "set-content", "add-content"})
_EDITORS, _IN_PLACE = frozenset({"sed", "gsed", "perl"}), re.compile(r"-[a-zA-Z]*i|--in-place")
_LINE_ENDS = re.compile(r"s(.)(?:\\r|\\x0D|\^M)\$?\1\1g?", re.I)
_LISTS = re.compile(r"(?:pyproject\.toml|setup\.(?:py|cfg)|requirements[\w.-]*\.txt)$", re.I)
"""What may tell what a project asks for."""
_WITHIN = frozenset({"sudo", "then", "else", "do", "&", "call", "!", "{"})
_PATTERN = re.compile(r"[*?\[]")
_COMPUTED = re.compile(r"[$`%]")
_FLAG = re.compile(r"/d$|-", re.I)
_ELSEWHERE = re.compile(r"^(?:[/~\\]|\.\.|[A-Za-z]:)")
"""A folder of the machine, or above the checkout: which one that is, a script does not tell."""
_REMOTE = re.compile(r"^[ \t]*url[ \t]*=(.*)", re.M)
_NO_NAMES = frozenset({"", ".", "..", "null", "1", "2"})
_DEEPEST = 100
"""Parts of a path; a script that goes on and on into what it clones takes the square of its length."""
_MOST_LEADS = 200
"""Things that a script copies or clones, of which it is remembered where they went."""


@dataclass(slots=True)
class ScriptFolders:
    """The folder that a script is in; what it fetches is in none that is here.

    Of a Dockerfile paths are a container's: COPY tells what of the checkout is there.
    """

    boundary: Path
    beside: Path
    """The script's own folder."""
    container: bool = False
    starts: Sequence[int] = ()
    """The lines on which shells of their own begin: a Dockerfile's instructions, a notebook's ``!``."""
    _here: Path = field(default_factory=Path)
    """As the script sees it."""
    _before: Path | None = None
    """Where ``cd -`` leads."""
    _pushed: list[Path] = field(default_factory=list)
    """Where ``popd`` leads, the next one last."""
    _shells: list[tuple[int, Path]] = field(default_factory=list)
    """The subshells that are open, each with where it began."""
    _leads: list[tuple[str, Path]] = field(default_factory=list)
    """Paths as the script sees them, with a slash behind each, and what of the checkout is there."""
    _by_script: dict[str, ByScript] = field(default_factory=dict)
    """Folders and files that it has fetched or written by now, by name."""
    _changed: dict[Path, ByScript] = field(default_factory=dict)
    """Files of the checkout that it has written to by now."""
    _unpacked: ByScript | None = None
    """What puts folders there whose names are not known."""
    _names: set[str] = field(default_factory=set)
    """What the checkout is called, once somebody asks."""

    def __post_init__(self) -> None:
        self._here = Path("/") if self.container else self.beside

    def copy(self, script: Path | None = None) -> ScriptFolders:
        """Return where another reader, or another script that is run here, begins; both see what either brings."""
        other = replace(self, beside=self.beside if script is None else script.parent, _pushed=[*self._pushed])
        other._here, other._before, other._shells = self._here, self._before, [*self._shells]
        other.starts = self.starts if script is None else ()
        return other

    def come_from(self, other: ScriptFolders) -> None:
        """Go where a script has gone that runs in the same shell."""
        self._before, self._here = other._before, other._here

    @property
    def directory(self) -> Path:
        """Where it is in the checkout; a folder that is not there while it is in one that is not."""
        found = [path for path in self._candidates(self._here) if os.path.isdir(path)]
        if found:
            return next(filter(is_project, found), found[0])
        return self.beside if self.container and not self._source(self._here) else self._here

    def project_of(self, path: str | None) -> tuple[Path, str]:
        """Return the folder from which the path of a project leads, and what it is from there.

        A script may be run from the checkout's folder; a container has the checkout's where it was copied to.
        """
        seen = self.place_of(path) if path and self.container else None
        files = [seen / name for name in PROJECT_FILES] if seen is not None else []
        found = next((file.parent for place in files for file in self._candidates(place)), None)
        if found is not None:
            return found, "."
        run_from = [self.boundary] if self._here == self.beside and self._before is None else []
        folders = [self.directory, *run_from]
        base = next((folder for folder in folders if path and is_project(folder / path)), folders[0])
        return base, path or "."

    def follow(self, command: Command) -> None:
        """Take note of a change of directory, and of what fetches, unpacks or writes."""
        words, line = [word.text for word in command.words], command.words[0].line
        while words[1:] and words[0].lower() in _WITHIN:
            words = words[1:]
        first, rest = program(words[0]), words[1:]
        own = (-bisect_right(self.starts, line),) if self.starts else ()
        self._stand_in(() if first in {"workdir", "%cd"} else (*own, *command.shells))
        if first in {"cd", "%cd", "pushd", "set-location", "push-location", "chdir"}:
            self._pushed += [self._here] if first.startswith("push") else []
            self._enter(next((word for word in rest if word == "-" or not _FLAG.match(word)), ""))
        elif self.container and first == "workdir":
            self._here = self.place_of(" ".join(rest)) or self._here
        elif first in {"popd", "pop-location"} and self._pushed:
            self._before, self._here = self._here, self._pushed.pop()
        elif first in {"git", "gh"} and "clone" in rest[:5]:
            self._clone(rest[rest.index("clone") + 1 :], line)
        elif first == "git" and "submodule" in rest[:3]:
            self._unpacked = ByScript(line)
        elif first in _DOWNLOADERS:
            self._note(rest, ByScript(line, url=next((word for word in rest if "://" in word), "")))
        elif first in _UNPACKERS:
            self._unpacked = ByScript(line)
        elif self.container and first in {"copy", "add"}:
            self._copy(rest, line)
        elif first in _COPIERS:
            self._take_along([word for word in rest if not word.startswith("-")] or [""], line)
        else:
            self._edit(first, rest, line)
        self._write([word.text for word in command.into], line)

    def located(self, text: str) -> Path | None:
        """Find a file that a command names: where it says, or by its name beside the script, as in a container."""
        seen, written = self.place_of(text), text.replace("\\", "/")
        found = self._unchanged(seen) if seen is not None else None
        if found is not None and os.path.isfile(found):
            return found
        if seen is None:
            return None
        if (self._changed.get(seen) or self._source(seen)) if self.container else self.by_script(text):
            return None  # A file of that name in the checkout is another one.
        name = written.rpartition("/")[2].rpartition("~dp0")[2]
        guesses = [below(self.beside, text), self.beside / name, below(self.boundary, text)]
        guesses += [source / each for _, source in self._leads for each in (written, name)]
        return next((path for path in guesses if os.path.isfile(path) and self._is_within(path)), None)

    def by_script(self, text: str) -> ByScript | None:
        """Return what brings a file or folder which is not here, None where the script brings none of that name."""
        seen = self.place_of(text)
        changed = self._changes_of(seen) if seen is not None else None
        beside = text.lstrip("${").upper().startswith("SCRIPT") and os.path.isfile(below(self.beside, text))
        if seen is None or changed is not None or self._found(seen) is not None or beside:  # `$SCRIPT_DIR/x.sh`
            return changed
        away = self._found(self._here) is None and self._here != Path("/")
        deep = away or "/" in text.replace("\\", "/").strip("./")
        return self._source(seen) or (self._unpacked if deep else None)

    def is_of_checkout(self, seen: Path) -> bool:
        """Return whether a path as the script sees it is one of the checkout, whatever lies there."""
        within = not self.container and seen.is_relative_to(self.boundary)
        return within or any(_slashed(seen).startswith(place) for place, _ in self._leads)

    def _changes_of(self, seen: Path) -> ByScript | None:
        """Return what changes a file, or what tells what the project in a folder asks for."""
        inside = (what for path, what in self._changed.items() if path.parent == seen and _LISTS.match(path.name))
        return self._changed.get(seen) or next(inside, None)

    def _source(self, seen: Path) -> ByScript | None:
        above = self.beside.parent
        parts = seen.relative_to(above).parts if seen.is_relative_to(above) else seen.parts
        return next((self._by_script[part] for part in reversed(parts) if part in self._by_script), None)

    def place_of(self, text: str) -> Path | None:
        """Return a path as the script sees it from where it is, None for what can be none."""
        written = self._here / text.replace("\\", "/")
        if len(written.parts) > _DEEPEST:
            return None
        if self.container:
            return Path(posixpath.normpath(written.as_posix()))
        try:
            return written.resolve()
        except (OSError, RuntimeError, ValueError):
            return None

    def _found(self, seen: Path) -> Path | None:
        """Return what of the checkout is at a path as the script sees it."""
        return next(self._candidates(seen), None)

    def _unchanged(self, seen: Path) -> Path | None:
        """Return what of the checkout is there as it lies in the checkout."""
        return self._found(seen) if seen not in self._changed else None

    def _candidates(self, seen: Path) -> Iterator[Path]:
        """Yield what may be there, first what was put there last."""
        text = _slashed(seen)
        paths = [source / text[len(place) :] for place, source in self._leads[::-1] if text.startswith(place)]
        paths += [seen] if not self.container else []
        yield from (path for path in paths if os.path.exists(path) and self._is_within(path))

    def _is_within(self, path: Path) -> bool:
        try:
            return path.resolve().is_relative_to(self.boundary)
        except (OSError, RuntimeError, ValueError):
            return False

    def _stand_in(self, shells: Sequence[int]) -> None:
        """Go back to where the subshells began that ended by now, and note where those begin that begin."""
        while self._shells and self._shells[-1][0] not in shells[len(self._shells) - 1 : len(self._shells)]:
            _, self._here = self._shells.pop()
        self._shells += [(shell, self._here) for shell in shells[len(self._shells) :]]

    def _enter(self, target: str) -> None:
        place = self._before if target == "-" else self._place(target.replace("\\", "/"))
        self._before, self._here = self._here, place or self._here

    def _place(self, target: str) -> Path | None:
        """Return the folder that a script goes into; None where nobody knows which one that is."""
        seen = self.place_of(target)
        if seen is None or not target:
            return None
        if _COMPUTED.search(target) is not None and not self.container:
            # What `..` would take away is not the name of a folder.
            own = self.boundary if "--show-toplevel" in target else below(self.beside, target)
            if os.path.isdir(own) and self._is_within(own):
                return own.resolve()
            return seen if self._source(seen) is not None else None
        if self._found(seen) is not None or self._source(seen) is not None:
            return seen
        if self.container:
            beside = self.beside / target
            self._lead(*([(seen, beside)] if os.path.isdir(beside) and self._is_within(beside) else []))
            return seen
        if self._is_own(seen.name):
            return self.beside if seen.name == self.beside.name else self.boundary
        return seen if self._unpacked or not _ELSEWHERE.match(target) else None

    def _is_own(self, name: str) -> bool:
        """Return whether a folder or repository is called like the checkout."""
        if not self._names:
            try:
                config = file_bytes(self.boundary / ".git" / "config", "").decode("utf-8", "replace")
            except ProjectFileError:
                config = ""
            names = [self.boundary.name, self.beside.name, *(repository_name(url) for url in _REMOTE.findall(config))]
            self._names = {each.lower() for each in names}
        return name != "" and name.lower() in self._names

    def _note(self, words: Iterable[str], what: ByScript) -> None:
        self._by_script |= {name: what for word in words if (name := last_name(word)) not in _NO_NAMES}

    def _write(self, words: Sequence[str], line: int) -> None:
        self._note(words, ByScript(line, made=True))
        self._change(words, line)

    def _edit(self, program: str, rest: Sequence[str], line: int) -> None:
        """Take note of what a program writes."""
        if program in _WRITERS:
            self._write(rest, line)
        elif program in _EDITORS and any(_IN_PLACE.match(word) for word in rest):
            self._change([] if any(_LINE_ENDS.fullmatch(word) for word in rest) else rest, line)
        else:
            self._note(outputs(rest), ByScript(line, made=True))

    def _take_along(self, words: Sequence[str], line: int) -> None:
        """Take note of what is copied or moved."""
        *sources, target = words
        found = [self._unchanged(seen) for word in sources if (seen := self.place_of(word))]
        self._change([] if any(found) else [target], line)
        self._put(found, target, whole=True)
        self._note(words, ByScript(line, made=True))

    def _change(self, words: Sequence[str], line: int) -> None:
        """Take note of files of the checkout that are not any more what lies there."""
        for word in words:
            seen = self.place_of(word) if "." in word else None
            if seen is not None and seen not in self._changed and self.located(word) is not None:
                self._changed[seen] = ByScript(line, made=True, here=True)

    def _clone(self, rest: Sequence[str], line: int) -> None:
        url, folder = cloned(rest)
        seen = self.place_of(folder)
        if seen is None or not folder or _COMPUTED.search(folder):
            self._unpacked = ByScript(line)
        elif self._is_own(repository_name(url)):
            self._lead((seen, self.boundary))
        else:
            self._by_script[seen.name] = ByScript(line)

    def _copy(self, rest: Sequence[str], line: int) -> None:
        """Take note of a Dockerfile's COPY: of what is in the checkout, and of what comes from elsewhere."""
        *sources, target = [word for word in rest if not word.startswith("--")] or [""]
        elsewhere = any(word.startswith("--from") for word in rest)
        for source in sources:
            if "://" in source:
                self._note([source], ByScript(line, url=source))
                continue
            found = [self._found(Path(source))] if elsewhere else list(self._of_context(source))
            self._put(found, target)
            if any(found) or (not elsewhere and (_PATTERN.search(source) or posixpath.splitext(source)[1])):
                continue
            place = self.place_of(target)
            if elsewhere and posixpath.splitext(source)[1]:
                self._note([source, target], ByScript(line))
            elif place is not None and place.name:
                self._by_script[place.name] = ByScript(line)
            else:
                self._unpacked = ByScript(line)

    def _put(self, sources: Sequence[Path | None], target: str, *, whole: bool = False) -> None:
        """Note that what is in the checkout is also at another path, or in the folder of it; folders if ``whole``."""
        place = self.place_of(target)
        for source in sources:
            if source is not None and place is not None:
                within = whole or not os.path.isdir(source)
                places = [place, place / source.name] if within else [place]
                self._lead(*((each, source) for each in places))
                for each in places:
                    self._changed.pop(each, None)

    def _lead(self, *pairs: tuple[Path, Path]) -> None:
        """Note which paths lead to what of the checkout."""
        self._leads[:] = [*self._leads, *((_slashed(seen), source) for seen, source in pairs)][-_MOST_LEADS:]

    def _of_context(self, source: str) -> Iterator[Path]:
        """Yield what a source of COPY is; a Dockerfile in a folder of its own is mostly built from the checkout's."""
        folder, name = posixpath.split(source.strip("/"))
        for base in (self.boundary, self.beside):
            above = base / folder
            try:
                there = [each.name for each in above.iterdir()] if _PATTERN.search(name) else []
            except OSError:
                there = []
            names = sorted(named_like(there, name)) or [name]
            yield from (above / each for each in names if os.path.exists(above / each) and self._is_within(above))


def _slashed(path: Path) -> str:
    return path.as_posix().rstrip("/") + "/"
