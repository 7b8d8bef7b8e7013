"""The indexes of uv's own configuration and ``UV_*`` variables, which hold for whatever project."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from envdoctor.adapters.index.pip_settings import PipSettings
from envdoctor.adapters.user_folders import home
from envdoctor.model.index_url import with_user
from envdoctor.toml_tables import TomlError, read_toml

__all__ = ["read_uv_configuration"]

_YES = frozenset({"1", "true", "yes", "on"})
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

    def read(self, path: Path) -> None:
        """Take a file, where it is there; what is wrong with it is kept."""
        try:
            self.take_file(read_toml(path.read_text(encoding="utf-8-sig")), str(path))
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

    def take_variables(self, variables: Mapping[str, str]) -> None:
        """Take what the environment says; ``NAME=URL`` names an index."""
        for variable, option in _VARIABLES.items():
            separators = " ," if option == "find-links" else " "
            for text in re.split(f"[{separators}\\s]+", variables.get(variable, "").strip()):
                name, _, url = text.partition("=") if _NAMED.match(text) else ("", "", text)
                if url:
                    self._take(option, with_user(url, "UV_INDEX_", name, variables) if name else url, variable)
        if variables.get("UV_NO_INDEX", "").strip().lower() in _YES:
            self.no_index, self.places["no-index"] = True, "UV_NO_INDEX"

    def _take(self, option: str, url: str, place: str) -> None:
        if option == "index-url":
            self.default, self.places[option] = url, place
            return
        (self.links if option == "find-links" else self.extra)[url] = None
        self.places[url] = place


def _files() -> Iterator[Path]:
    """Yield uv's configuration files, the weakest first."""
    explicit = os.environ.get("UV_CONFIG_FILE")
    if explicit:
        yield Path(explicit)
    elif os.environ.get("UV_NO_CONFIG", "").strip().lower() in _YES:
        return
    elif sys.platform == "win32":
        yield Path(os.environ.get("PROGRAMDATA", r"C:\ProgramData")) / "uv" / "uv.toml"
        yield Path(os.environ.get("APPDATA") or f"{home()}/AppData/Roaming") / "uv" / "uv.toml"
    else:
        folders = [Path(place, "uv") for place in (os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")]
        system = [folder / "uv.toml" for folder in (*folders, Path("/etc/uv"))]
        yield from system
        yield Path(os.environ.get("XDG_CONFIG_HOME") or f"{home()}/.config") / "uv" / "uv.toml"
