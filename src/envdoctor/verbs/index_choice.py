"""The package index as the user, the profile and the project's own files name it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.model.project import Project
from envdoctor.ports import UsageError

if TYPE_CHECKING:
    from envdoctor.adapters.index.opening import AnyIndex
    from envdoctor.model.profile import Profile
    from envdoctor.ports import Progress

__all__ = ["IndexChoice", "index_urls", "open_ports"]


@dataclass(frozen=True, slots=True)
class IndexChoice:
    """Index options as typed."""

    offline: bool = False
    index_url: str | None = None
    recorded: Path | None = None
    cache_dir: Path | None = None
    exclude_newer: str | None = None


def open_ports(
    choice: IndexChoice, profile: Profile | None, project: Project | None, progress: Progress | None = None
) -> AnyIndex:
    """Return the index for a profile and a project; no request is made yet."""
    from envdoctor.adapters.index.index_settings import IndexSettings, IndexSettingsError
    from envdoctor.adapters.index.opening import open_index
    from envdoctor.adapters.index.pip_settings import read_pip_settings
    from envdoctor.adapters.index.project_indexes import ProjectIndexes, indexes_of, with_pips
    from envdoctor.ports import IndexUnavailable

    if choice.recorded is not None and not choice.recorded.is_dir():
        raise UsageError(f"--recorded-index: `{choice.recorded}` is not a directory")
    named = with_pips(indexes_of(project) if project else ProjectIndexes(), read_pip_settings(), project)
    settings = IndexSettings(
        default_url=choice.index_url,
        bound=profile.indexes if profile else (),
        named_default=named.default,
        no_index=named.no_index,
        named_bound=named.bound,
        extra=named.extra,
        offline=choice.offline,
        cache_dir=choice.cache_dir,
        exclude_newer=choice.exclude_newer,
        recorded=choice.recorded,
    )
    try:
        index = open_index(settings, progress)
    except IndexUnavailable as error:
        raise UsageError(error.unknown) from error
    except IndexSettingsError as error:
        raise UsageError(str(error)) from error
    for text in named.notes:
        index.note(text)
    return index


def index_urls(choice: IndexChoice, profile: Profile | None, project: Project | None = None) -> dict[str, str]:
    """Return the URL of each index by its name, without credentials, for a lock to name.

    ``default`` is the index that serves what is bound to no other: the project's own where it names one.
    """
    from envdoctor.adapters.index.credentials import split_credentials
    from envdoctor.adapters.index.index_settings import IndexSettings, IndexSettingsError
    from envdoctor.adapters.index.opening import default_index_url
    from envdoctor.adapters.index.pip_settings import read_pip_settings
    from envdoctor.adapters.index.project_indexes import ProjectIndexes, indexes_of, with_pips
    from envdoctor.ports import IndexUnavailable

    named = with_pips(indexes_of(project) if project else ProjectIndexes(), read_pip_settings(), project)
    pairs = [(entry.name, entry.url) for entry in named.extra if not entry.flat]
    pairs += [(entry.name, entry.url) for entry in named.bound]
    pairs += [(entry.name, entry.url) for entry in (profile.indexes if profile else ())]
    pairs += [(named.default.name, named.default.url)] if named.default else []
    urls = {name: split_credentials(url)[0] for name, url in pairs}
    if choice.recorded is None:
        try:
            urls["default"] = default_index_url(IndexSettings(choice.index_url, named_default=named.default))
        except IndexUnavailable as error:
            raise UsageError(error.unknown) from error
        except IndexSettingsError as error:
            raise UsageError(str(error)) from error
    return urls
