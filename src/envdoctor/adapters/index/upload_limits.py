"""Until when files may have been uploaded, as the project's files and the configuration of uv and pip say it.

The project's own word goes before that of this machine's pip, and that before that of its uv, as with indexes. Within
uv, a variable goes before the project's file, and what is said of one package or index adds up. Of a tool that does
not count, what it says is named and left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.adapters.index.index_settings import IndexSettingsError
from envdoctor.adapters.index.pip_settings import PipSettings
from envdoctor.adapters.index.project_indexes import ProjectIndexes
from envdoctor.model.index_url import bare_url
from envdoctor.model.project import FileOption, Project
from envdoctor.model.requirement import RequirementKind
from envdoctor.model.upload_limit import (
    PIPS_LIMIT,
    UVS_LIMIT,
    UVS_LIMIT_OF_INDEX,
    UVS_LIMIT_OF_PACKAGE,
    UVS_LIMIT_UNREAD,
    UploadLimit,
    UploadLimits,
    pips_first_too_new,
    uvs_first_too_new,
)

__all__ = ["configured_limits"]

_INSTALLERS = frozenset({"pip", "uv", "setuptools", "wheel"})
"""What a script installs first of all, with whatever version there is."""
_UVS = (UVS_LIMIT, UVS_LIMIT_OF_PACKAGE, UVS_LIMIT_OF_INDEX, UVS_LIMIT_UNREAD)


def configured_limits(
    project: Project | None, named: ProjectIndexes, pip: PipSettings, uv: PipSettings
) -> tuple[UploadLimits, tuple[str, ...]]:
    """Return the limits that count, and what a person should know of them.

    Raises IndexSettingsError for a value of this machine's configuration that cannot be read.
    """
    notes: list[str] = []
    own = [option for option in project.options if option.name in (*_UVS, PIPS_LIMIT)] if project else []
    typed = list(_of_all_commands(project, own, notes)) if project else []
    own = [option for option in own if option.step is None]
    variables = [option for option in uv.options if option.origin.path.startswith("UV_")]
    files = [option for option in uv.options if option not in variables]
    uvs = [*(one for one in typed if one.name in _UVS), *variables, *own, *files]
    uvs = [option for option in uvs if option.name in _UVS]
    pips = [*(one for one in typed if one.name == PIPS_LIMIT), *(one for one in pip.options if one.name == PIPS_LIMIT)]
    by_uv = typed[0].name in _UVS if typed else bool(own) or not pips
    limits = _limits(uvs if by_uv else pips, _names(named), notes)
    left = next(iter(pips if by_uv else uvs), None)
    if limits and left is not None:
        notes.append(f"`{left.name}` ({left.origin}) is left aside: what {'uv' if by_uv else 'pip'} is told counts")
    return limits, (*_said(limits), *notes)


def _of_all_commands(project: Project, options: Iterable[FileOption], notes: list[str]) -> Iterator[FileOption]:
    """Yield the options of commands that hold for all that is installed."""
    asked = [item for item in project.requirements if item.kind is RequirementKind.REQUIRE]
    steps = {item.step for item in asked if item.name not in _INSTALLERS}
    typed = [option for option in options if option.step is not None]
    for option in typed:
        same = {one.step for one in typed if (one.name, one.value) == (option.name, option.value)}
        if option.name == UVS_LIMIT_OF_PACKAGE or steps <= same:
            yield option
        else:
            notes.append(f"`{option.name}` ({option.origin}) holds for one command of several, and is not read")


def _names(named: ProjectIndexes) -> dict[str, str]:
    """Return what an index is called in the files that come from it, by its URL without a user."""
    default = (named.default,) if named.default is not None else ()
    return {bare_url(entry.url): entry.name for entry in (*named.bound, *named.extra, *default)}


def _limits(options: Sequence[FileOption], names: Mapping[str, str], notes: list[str]) -> UploadLimits:
    # Whole minutes: a duration gives the same date wherever one run asks for it.
    now = datetime.now(timezone.utc).replace(second=0)
    everywhere: UploadLimit | None = None
    packages: dict[NormalizedName, UploadLimit] = {}
    indexes: dict[str, UploadLimit] = {}
    for option in options:
        if option.name == UVS_LIMIT_UNREAD:
            notes.append(f"`{option.name}` ({option.origin}) is not read")
        elif option.name == UVS_LIMIT_OF_PACKAGE:
            of, _, text = option.value.partition(" ")
            packages.setdefault(canonicalize_name(of), _limit(option, text, now))
        elif option.name == UVS_LIMIT_OF_INDEX:
            of, _, text = option.value.partition(" ")
            if bare_url(of) in names:  # else nothing is asked there
                indexes.setdefault(names[bare_url(of)], _limit(option, text, now))
        elif everywhere is None:
            everywhere = _limit(option, option.value, now)
    return UploadLimits(everywhere, packages, indexes)


def _limit(option: FileOption, text: str, now: datetime) -> UploadLimit:
    place = str(option.origin)
    first_too_new = pips_first_too_new if option.name == PIPS_LIMIT else uvs_first_too_new
    try:
        return UploadLimit(first_too_new(text, now), option.name, place)
    except ValueError as error:
        raise IndexSettingsError(f"`{option.name}` ({place}) is `{text}`: {error}") from None


def _said(limits: UploadLimits) -> Iterator[str]:
    every = limits.everywhere
    if every is not None and every.first_too_new:
        yield f"files that were uploaded at {every.first_too_new}Z or later are left out: {every}"
    if limits.packages or limits.indexes:
        which = [f"package `{name}`" for name in limits.packages] + [f"index `{name}`" for name in limits.indexes]
        more = f" and {len(which) - 3} more" if len(which) > 3 else ""
        yield f"of {', '.join(which[:3])}{more} another date counts, or none ({UVS_LIMIT} of its own)"
