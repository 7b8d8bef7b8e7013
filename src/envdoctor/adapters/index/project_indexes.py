"""The indexes that a project's own files name, as pip makes them count, and those of uv's own configuration."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from envdoctor.adapters.index.index_settings import ExtraIndex, NamedDefault
from envdoctor.adapters.index.pip_settings import LARGEST_SETTINGS, PipSettings
from envdoctor.adapters.read_files import read_file
from envdoctor.adapters.user_folders import home
from envdoctor.model.dataclass import dataclass
from envdoctor.model.index_url import index_name, label_of, with_user
from envdoctor.model.origin import FileOrigin
from envdoctor.model.profile import BoundIndex
from envdoctor.model.project import (
    NO_BUILD_ISOLATION,
    FileOption,
    IndexOption,
    IndexOptionKind,
    Project,
    says_yes,
)
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.model.upload_limit import UVS_LIMIT, limit_text, limits_of_table, without_quotes
from envdoctor.toml_tables import TomlError, read_toml

__all__ = ["ProjectIndexes", "indexes_of", "read_uv_configuration", "with_machines"]

_VARIABLES = {
    "UV_INDEX_URL": "index-url",
    "UV_DEFAULT_INDEX": "index-url",
    "UV_EXTRA_INDEX_URL": "extra-index-url",
    "UV_INDEX": "extra-index-url",
    "UV_FIND_LINKS": "find-links",
}
_NAMED = re.compile(r"[A-Za-z0-9._-]+=")


def read_uv_configuration() -> PipSettings:
    """Read uv's files, the system's before the user's, and its variables. Never raises.

    A variable goes before a file; what can be there several times adds up.
    """
    found = _Found()
    for path in _files():
        found.read(path)
    found.take_variables(os.environ)
    return PipSettings(
        index_url=found.default,
        extra_index_urls=tuple(found.extra),
        find_links=tuple(found.links),
        no_index=found.no_index,
        unreadable=tuple(found.unreadable),
        places=found.places,
        options=tuple(reversed(found.options)),
    )


class _Found:
    """What was found so far; the place that is read last speaks for the default index, the others add up."""

    def __init__(self) -> None:
        self.default: str | None = None
        self.extra: dict[str, None] = {}
        self.links: dict[str, None] = {}
        self.no_index = False
        self.unreadable: list[str] = []
        self.places: dict[str, str] = {}
        self.options: list[FileOption] = []

    def read(self, path: Path) -> None:
        """Take a file, where it is there; what is wrong with it is kept."""
        try:
            self.take_file(read_toml(read_file(path, LARGEST_SETTINGS).decode("utf-8-sig")), str(path))
        except FileNotFoundError:
            return
        except TomlError as error:
            self.unreadable.append(f"{path}, line {error.line}: {error.reason}")
        except (OSError, UnicodeDecodeError) as error:
            self.unreadable.append(f"{path}: {str(error).splitlines()[0]}")

    def take_file(self, table: Mapping[str, Any], place: str) -> None:
        """Take a file's options; an ``explicit`` index serves only projects that name it."""
        entries = table.get("index")
        for entry in entries if isinstance(entries, list) else []:
            url = entry.get("url") if isinstance(entry, dict) else None
            if isinstance(url, str) and not entry.get("explicit"):
                option = "index-url" if entry.get("default") else "extra-index-url"
                option = "find-links" if entry.get("format") == "flat" else option
                self._take(option, with_user(url, "UV_INDEX_", str(entry.get("name") or ""), os.environ), place)
        for option in ("index-url", "extra-index-url", "find-links"):
            value = table.get(option)
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str):
                    self._take(option, text, place)
        if table.get("no-index") is True:
            self.no_index, self.places["no-index"] = True, place
        # The weakest first, as the files are: `[pip]` counts where the rest of the file says nothing.
        for part in (table.get("pip"), table):
            for _, name, of, value in limits_of_table(part) if isinstance(part, dict) else ():
                text = limit_text(value) or f"{value}{without_quotes(value)}"
                self.options.append(FileOption(name, f"{of} {text}" if of else text, FileOrigin(place)))
            self.options += _shared_builds(part, place)

    def take_variables(self, variables: Mapping[str, str]) -> None:
        """Take what the environment says; ``NAME=URL`` names an index."""
        for variable, option in _VARIABLES.items():
            separators = " ," if option == "find-links" else " "
            for text in re.split(f"[{separators}\\s]+", variables.get(variable, "").strip()):
                name, _, url = text.partition("=") if _NAMED.match(text) else ("", "", text)
                if url:
                    self._take(option, with_user(url, "UV_INDEX_", name, variables) if name else url, variable)
        if says_yes(variables.get("UV_NO_INDEX", "")):
            self.no_index, self.places["no-index"] = True, "UV_NO_INDEX"
        if limit := variables.get("UV_EXCLUDE_NEWER"):
            self.options.append(FileOption(UVS_LIMIT, limit, FileOrigin("UV_EXCLUDE_NEWER")))
        if says_yes(variables.get("UV_NO_BUILD_ISOLATION", "")):
            self.options.append(FileOption(NO_BUILD_ISOLATION, "", FileOrigin("UV_NO_BUILD_ISOLATION")))

    def _take(self, option: str, url: str, place: str) -> None:
        if option == "index-url":
            self.default, self.places[option] = url, place
            return
        (self.links if option == "find-links" else self.extra)[url] = None
        self.places[url] = place


def _shared_builds(table: Any, place: str) -> Iterator[FileOption]:
    """Yield what a table has built without isolation, a package or, without a value, all."""
    packages = table.get(f"{NO_BUILD_ISOLATION}-package") if isinstance(table, dict) else None
    for name in ([""] if isinstance(table, dict) and table.get(NO_BUILD_ISOLATION) is True else []) + (
        [name for name in packages if isinstance(name, str)] if isinstance(packages, list) else []
    ):
        yield FileOption(NO_BUILD_ISOLATION, name, FileOrigin(place))


def _files() -> Iterator[Path]:
    """Yield uv's configuration files, the weakest first."""
    explicit = os.environ.get("UV_CONFIG_FILE")
    if explicit:
        yield Path(explicit)
    elif says_yes(os.environ.get("UV_NO_CONFIG", "")):
        return
    elif sys.platform == "win32":
        yield Path(os.environ.get("PROGRAMDATA", r"C:\ProgramData")) / "uv" / "uv.toml"
        yield Path(os.environ.get("APPDATA") or f"{home()}/AppData/Roaming") / "uv" / "uv.toml"
    else:
        folders = [Path(place, "uv") for place in (os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")]
        system = [folder / "uv.toml" for folder in (*folders, Path("/etc/uv"))]
        yield from system
        yield Path(os.environ.get("XDG_CONFIG_HOME") or f"{home()}/.config") / "uv" / "uv.toml"


@dataclass(frozen=True, slots=True)
class ProjectIndexes:
    """What a project's files say of indexes."""

    default: NamedDefault | None = None
    no_index: bool = False
    bound: tuple[BoundIndex, ...] = ()
    extra: tuple[ExtraIndex, ...] = ()
    private: frozenset[NormalizedName] = frozenset()
    """Projects that a manager's own table gives to an index that is no copy of a public one with builds for cards."""
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What the indexes are called in the files that come from them."""
        default = (self.default.name,) if self.default is not None else ()
        return (*default, *(each.name for each in self.extra), *(each.name for each in self.bound))


def indexes_of(project: Project) -> ProjectIndexes:
    """Return the indexes that a project names.

    A requirements file's options hold for everything, in the order of its lines: an ``--index-url`` takes the place
    of what the file named before it, ``--no-index`` of all indexes for good. A step's own ``--index-url`` holds for
    what that step names; the rest of a step's options is taken to hold for every step.
    """
    everywhere = _Everywhere(project)
    steps: dict[str, list[NormalizedName]] = {}
    origins: dict[str, str] = {}
    for option in project.index_options:
        if option.kind is IndexOptionKind.INDEX_URL and not _covers_all(project, option):
            origins.setdefault(option.url, str(option.origin))
            named = [item.name for item in _asked(project) if item.step == option.step and item.index_url is None]
            steps.setdefault(option.url, []).extend(named if _in_included_file(project, option) else ())
        else:
            everywhere.add(option)
    for item in _asked(project):
        if item.index_url is not None and (everywhere.default is None or item.index_url != everywhere.default.url):
            origins.setdefault(item.index_url, str(item.origin))
            steps.setdefault(item.index_url, []).append(item.name)
    taken: set[NormalizedName] = set()
    bound = []
    for url, names in steps.items():
        new = tuple(name for name in dict.fromkeys(names) if name not in taken)
        taken.update(new)
        if new:
            place = origins[url]
            name = index_name(url, place, project.index_names)
            bound.append(BoundIndex(name, _located(project, url, place), new, place=place))
    return ProjectIndexes(
        everywhere.default,
        everywhere.no_index,
        tuple(bound),
        tuple(everywhere.extra.values()),
        frozenset(item.name for item in _asked(project) if item.index_url and _is_private(item)),
        tuple(everywhere.notes),
    )


def with_machines(named: ProjectIndexes, project: Project | None, pip: PipSettings, uv: PipSettings) -> ProjectIndexes:
    """Return the indexes of a project with those that pip and uv are told to ask for whatever project.

    A path there is relative to where one stands. uv's default index counts where neither project nor pip names one.
    """
    labels = tuple(sorted(_labels(project.requirements))) if project is not None else ()
    no_index = named.no_index or pip.no_index or uv.no_index
    extra = {item.url: item for item in named.extra if item.flat or not no_index}
    for tool in (pip, uv):
        for option, urls in (("find-links", tool.find_links), ("extra-index-url", tool.extra_index_urls)):
            for url in urls if option == "find-links" or not no_index else ():
                place = tool.places.get(url) or tool.places.get(option, "")
                located = str(Path(url).absolute()) if "://" not in url else url
                name = index_name(url, place)
                extra.setdefault(url, ExtraIndex(name, located, labels, option == "find-links", place))
    default = named.default
    if default is None and uv.index_url and not pip.index_url:
        place = uv.places["index-url"]
        default = NamedDefault(index_name(uv.index_url, place), uv.index_url, place, alone=True)
    notes = (*named.notes, *(f"uv's configuration {text}" for text in uv.unreadable))
    return replace(named, default=default, extra=tuple(extra.values()), no_index=no_index, notes=notes)


class _Everywhere:
    """Options that hold for every project, taken one after another as pip takes the lines of a file."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._labels = tuple(sorted(_labels(project.requirements)))
        self._origins: dict[str, str] = {}
        self.default: NamedDefault | None = None
        self.no_index = False
        self.extra: dict[str, ExtraIndex] = {}
        self.notes: list[str] = []

    def add(self, option: IndexOption) -> None:
        """Take the next option."""
        if option.kind is IndexOptionKind.NO_INDEX:
            self.no_index, self.default = True, None
            self.extra = {url: item for url, item in self.extra.items() if item.flat}
        elif option.kind is IndexOptionKind.FIND_LINKS:
            self._extra(option, flat=True)
        elif self.no_index:
            return
        elif option.kind is IndexOptionKind.INDEX_URL and not self._beside(option):
            self._default(option)
        else:
            self._extra(option, flat=False)

    def _beside(self, option: IndexOption) -> bool:
        """Return whether a manager's own table names an index that can only be meant beside the default one."""
        return _of_manager(option.origin.path) and (self.default is not None or label_of(option.url) is not None)

    def _default(self, option: IndexOption) -> None:
        place = str(option.origin)
        name = index_name(option.url, place, self._project.index_names)
        if self.default is not None and self.default.url != option.url:
            self.notes.append(f"index {name} takes the place of {self.default.name}")
        for url in [url for url, path in self._origins.items() if path == option.origin.path]:
            if not self.extra[url].flat:
                self.notes.append(f"index {name} takes the place of {self.extra[url].name}, named before it")
                del self.extra[url], self._origins[url]
        self.default = NamedDefault(name, _located(self._project, option.url, place), place)

    def _extra(self, option: IndexOption, *, flat: bool) -> None:
        if option.url in self.extra:
            return
        place = str(option.origin)
        url = _located(self._project, option.url, place)
        name = index_name(option.url, place, self._project.index_names)
        self.extra[option.url] = ExtraIndex(name, url, self._labels, flat, place)
        if PurePosixPath(option.origin.path).suffix != ".toml":
            self._origins[option.url] = option.origin.path


def _asked(project: Project) -> Iterable[Requirement]:
    return (item for item in project.requirements if item.kind is RequirementKind.REQUIRE)


def _is_private(item: Requirement) -> bool:
    """Return whether a table of uv, PDM, Poetry or Pipenv places a line on an index whose names are nobody else's."""
    path = item.origin.path if isinstance(item.origin, FileOrigin) else ""
    return _of_manager(path) and label_of(item.index_url or "") is None


def _of_manager(path: str) -> bool:
    return PurePosixPath(path).suffix == ".toml" or path.endswith("Pipfile")


def _covers_all(project: Project, option: IndexOption) -> bool:
    """Return whether an option holds for everything: it stands in a file, and no other step asks for anything."""
    if option.step is None:
        return True
    return _in_included_file(project, option) and all(item.step == option.step for item in _asked(project))


def _in_included_file(project: Project, option: IndexOption) -> bool:
    """Return whether an option stands in a file that a step names, not in the command."""
    command = next((item for item in project.commands if item.step == option.step), None)
    return command is not None and command.origin.path != option.origin.path


def _located(project: Project, url: str, place: str) -> str:
    """Return a URL, or a path made absolute: it is relative to the file that names it, else to the project."""
    if "://" in url or url.startswith("file:") or Path(url).is_absolute():
        return url
    path = place.rpartition(":")[0] if place.rpartition(":")[2].isdigit() else place
    beside = Path(project.root, path).parent / url
    return str(beside if os.path.exists(beside) else Path(project.root, url))


def _labels(requirements: Iterable[Requirement]) -> set[tuple[NormalizedName, str]]:
    """Return ``(torch, cu118)`` for ``torch==2.1.1+cu118``."""
    return {(item.name, label) for item in requirements for label in (_local_label(item.specifier),) if label}


def _local_label(specifier: SpecifierSet) -> str | None:
    for clause in specifier:
        _, plus, local = clause.version.partition("+")
        if plus:
            return local
    return None
