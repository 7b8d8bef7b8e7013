"""The package index as the user, the profile and the project's own files name it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.model.dataclass import dataclass
from envdoctor.model.index_url import bare_url
from envdoctor.model.project import BUILD_ISOLATION, NO_BUILD_ISOLATION, Project
from envdoctor.model.report import Setting
from envdoctor.ports import Progress, UsageError

if TYPE_CHECKING:
    from envdoctor.adapters.index.opening import AnyIndex
    from envdoctor.adapters.index.project_indexes import ProjectIndexes
    from envdoctor.model.profile import BoundIndex, Profile
    from envdoctor.model.target import Target
    from envdoctor.model.upload_limit import UploadLimits

__all__ = ["IndexChoice", "index_settings", "index_urls", "open_ports", "upload_settings", "with_machines_builds"]


@dataclass(frozen=True, slots=True)
class IndexChoice:
    """Index options as typed."""

    offline: bool = False
    index_url: str | None = None
    recorded: Path | None = None
    cache_dir: Path | None = None
    exclude_newer: str | None = None
    bound: tuple[BoundIndex, ...] = ()
    """Indexes that a card's torch comes from, where no profile binds any."""


def open_ports(
    choice: IndexChoice,
    profile: Profile | None,
    project: Project | None,
    progress: Progress | None = None,
    target: Target | None = None,
) -> AnyIndex:
    """Return the index for a profile and a project; no request is made yet.

    ``target``: for another system than the profile's, nothing stands in for an index of the profile out of reach.
    """
    from envdoctor.adapters.index.index_settings import IndexSettings, IndexSettingsError
    from envdoctor.adapters.index.opening import open_index
    from envdoctor.ports import IndexUnavailable

    if choice.recorded is not None and not choice.recorded.is_dir():
        raise UsageError(f"--recorded-index: `{choice.recorded}` is not a directory")
    named = _named(project)
    limits, said = _limits(choice, project, named)
    bound = profile.indexes if profile else choice.bound
    strange = profile is not None and target is not None and not profile.target.serves(target)
    settings = IndexSettings(
        default_url=choice.index_url,
        bound=bound,
        named_default=named.default,
        no_index=named.no_index,
        named_bound=named.bound,
        # What stands in for an index without labels would be another build; the label of another system's says nothing.
        private=named.private
        | {name for each in choice.bound if not each.local_label for name in each.packages}
        | {name for each in bound if strange for name in each.packages},
        extra=named.extra,
        offline=choice.offline,
        cache_dir=choice.cache_dir,
        exclude_newer=choice.exclude_newer,
        limits=limits,
        recorded=choice.recorded,
    )
    try:
        index = open_index(settings, progress)
    except IndexUnavailable as error:
        raise UsageError(error.unknown) from error
    except IndexSettingsError as error:
        raise UsageError(str(error)) from error
    for text in (*named.notes, *said):
        index.note(text)
    return index


def _named(project: Project | None) -> ProjectIndexes:
    """Return the indexes that the project's files and the machine's configuration name."""
    from envdoctor.adapters.index.pip_settings import read_pip_settings
    from envdoctor.adapters.index.project_indexes import (
        ProjectIndexes,
        indexes_of,
        read_uv_configuration,
        with_machines,
    )

    own = indexes_of(project) if project else ProjectIndexes()
    return with_machines(own, project, read_pip_settings(), read_uv_configuration())


def _limits(
    choice: IndexChoice, project: Project | None, named: ProjectIndexes
) -> tuple[UploadLimits, tuple[str, ...]]:
    """Return what uv's and pip's configuration says of upload times, and notes; none where a date was typed."""
    from envdoctor.adapters.index.index_settings import IndexSettingsError
    from envdoctor.adapters.index.pip_settings import read_pip_settings
    from envdoctor.adapters.index.project_indexes import read_uv_configuration
    from envdoctor.adapters.index.upload_limits import configured_limits
    from envdoctor.model.upload_limit import UploadLimits

    if choice.exclude_newer is not None:
        return UploadLimits(), ()
    try:
        return configured_limits(project, named, read_pip_settings(), read_uv_configuration())
    except IndexSettingsError as error:
        raise UsageError(str(error)) from error


def with_machines_builds(project: Project) -> Project:
    """Return the project with what this machine's pip and uv are told to build without isolation."""
    from envdoctor.adapters.index.pip_settings import read_pip_settings
    from envdoctor.adapters.index.project_indexes import read_uv_configuration

    told = (*read_pip_settings().options, *read_uv_configuration().options)
    shared = tuple(option for option in told if option.name in (NO_BUILD_ISOLATION, BUILD_ISOLATION))
    return replace(project, options=(*project.options, *shared)) if shared else project


def upload_settings(choice: IndexChoice, project: Project | None = None) -> tuple[Setting, ...]:
    """Return until when files may have been uploaded, each with who says so. Raises UsageError.

    The name is that of a package or an index, empty for everything; the value a time, empty where all are admitted.
    """
    from envdoctor.adapters.index.index_settings import IndexSettings, IndexSettingsError, limits_in

    limits, _ = _limits(choice, project, _named(project))
    try:
        limits = limits_in(IndexSettings(exclude_newer=choice.exclude_newer, limits=limits))
    except IndexSettingsError as error:
        raise UsageError(str(error)) from error
    rows = [("", limits.everywhere)] if limits.everywhere is not None else []
    rows += [(f"package {name}", limit) for name, limit in limits.packages.items()]
    rows += [(f"index {name}", limit) for name, limit in limits.indexes.items()]
    return tuple(
        Setting(name, f"{one.first_too_new}Z" if one.first_too_new else "", one.place or one.name) for name, one in rows
    )


def index_urls(choice: IndexChoice, profile: Profile | None, project: Project | None = None) -> dict[str, str]:
    """Return the URL of each index by its name, without credentials, for a lock to name.

    ``default`` is the index that serves what is bound to no other: the project's own where it names one.
    """
    from envdoctor.adapters.index.credentials import split_credentials

    named = _named(project)
    pairs = [(entry.name, entry.url) for entry in named.extra if not entry.flat]
    pairs += [(entry.name, entry.url) for entry in named.bound]
    pairs += [(entry.name, entry.url) for entry in (profile.indexes if profile else choice.bound)]
    pairs += [(named.default.name, named.default.url)] if named.default else []
    urls = {name: split_credentials(url)[0] for name, url in pairs}
    default = _default(choice, named)
    return urls if default is None else {**urls, "default": default.value}


def _default(choice: IndexChoice, named: ProjectIndexes) -> Setting | None:
    """Return the default index, without credentials; None where there is none, or a recording answers."""
    from envdoctor.adapters.index.index_settings import IndexSettings, IndexSettingsError
    from envdoctor.adapters.index.opening import default_index_place, default_index_url
    from envdoctor.ports import IndexUnavailable

    settings = IndexSettings(choice.index_url, named_default=named.default, no_index=named.no_index)
    place = default_index_place(settings)
    if choice.recorded is not None or not place:
        return None
    try:
        return Setting("default", default_index_url(settings), place)
    except IndexUnavailable as error:
        raise UsageError(error.unknown) from error
    except IndexSettingsError as error:
        raise UsageError(str(error)) from error


def index_settings(choice: IndexChoice, profile: Profile | None, project: Project | None = None) -> tuple[Setting, ...]:
    """Return the indexes and pages of files that may be asked, each with who names it, without credentials."""
    if choice.recorded is not None:
        return (Setting("recorded", str(choice.recorded), "--recorded-index"),)
    named = _named(project)
    default = _default(choice, named)
    rows = [] if default is None else [replace(default, value=bare_url(default.value))]
    rows += [Setting(entry.name, bare_url(entry.url), entry.place) for entry in named.extra]
    rows += [Setting(entry.name, bare_url(entry.url), entry.place) for entry in named.bound]
    if profile is not None:
        rows += [Setting(each.name, bare_url(each.url), f"profile {profile.name}") for each in profile.indexes]
    else:
        rows += [Setting(each.name, bare_url(each.url), each.place or "--target-backend auto") for each in choice.bound]
    return tuple(rows)
