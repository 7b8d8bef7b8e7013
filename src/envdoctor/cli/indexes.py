"""The package index as the user, the profile and the project's own files name it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.cli.errors import UsageFault
from envdoctor.model.project import IndexOption, IndexOptionKind, Project

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

    from envdoctor.adapters.index.opening import AnyIndex
    from envdoctor.adapters.index.settings import ExtraIndex
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


def open_ports(choice: IndexChoice, profile: Profile | None, project: Project | None, progress: Progress) -> AnyIndex:
    """Return the index for a profile and a project; no request is made yet."""
    from envdoctor.adapters.index.opening import open_index
    from envdoctor.adapters.index.settings import IndexSettings
    from envdoctor.ports import IndexUnavailable

    if choice.recorded is not None and not choice.recorded.is_dir():
        raise UsageFault(f"--recorded-index: `{choice.recorded}` is not a directory")
    settings = IndexSettings(
        default_url=choice.index_url,
        bound=profile.indexes if profile else (),
        extra=_extra_indexes(project) if project else (),
        offline=choice.offline,
        cache_dir=choice.cache_dir,
        exclude_newer=choice.exclude_newer,
        recorded=choice.recorded,
    )
    try:
        return open_index(settings, progress)
    except IndexUnavailable as error:
        raise UsageFault(str(error)) from error
    except ValueError as error:
        raise UsageFault(f"--exclude-newer: {error}") from error


def index_urls(choice: IndexChoice, profile: Profile | None) -> dict[str, str]:
    """Return the URL of each index by its name, for a lock to name."""
    from envdoctor.adapters.index.opening import default_index_url
    from envdoctor.adapters.index.settings import IndexSettings
    from envdoctor.ports import IndexUnavailable

    urls = {entry.name: entry.url for entry in profile.indexes} if profile else {}
    if choice.recorded is None:
        try:
            urls["default"] = default_index_url(IndexSettings(default_url=choice.index_url))
        except IndexUnavailable as error:
            raise UsageFault(str(error)) from error
    return urls


def _extra_indexes(project: Project) -> tuple[ExtraIndex, ...]:
    """Return the indexes that the project's own files name, with the local versions that each may serve."""
    from envdoctor.adapters.index.settings import ExtraIndex, label_of

    labels = {
        (requirement.name, label)
        for requirement in project.requirements
        for label in (_local_label(requirement.specifier),)
        if label
    }
    found: dict[str, ExtraIndex] = {}
    for option in project.index_options:
        if option.kind is IndexOptionKind.NO_INDEX or option.url in found:
            continue
        flat = option.kind is IndexOptionKind.FIND_LINKS
        served = set(labels)
        label = label_of(option.url)
        if option.kind is IndexOptionKind.INDEX_URL and label:
            # A step that installs from this index alone takes its builds whether or not it names the label.
            served |= {(item.name, label) for item in project.requirements if item.index_url == option.url}
        found[option.url] = ExtraIndex(
            name=f"{label or 'extra'} of {option.origin}",
            url=_beside_its_file(project, option) if flat else option.url,
            labels=tuple(sorted(served)),
            flat=flat,
        )
    return tuple(found.values())


def _beside_its_file(project: Project, option: IndexOption) -> str:
    """Return a ``--find-links`` path made absolute: it is relative to the file that names it."""
    if "://" in option.url or Path(option.url).is_absolute():
        return option.url
    return str(Path(project.root, option.origin.path).parent / option.url)


def _local_label(specifier: SpecifierSet) -> str | None:
    """Return ``cu118`` for ``==2.1.1+cu118``, None where no clause names a local version."""
    for clause in specifier:
        _, plus, local = clause.version.partition("+")
        if plus:
            return local
    return None
