"""The diagnosis of a locked project that a hook has judged before: nothing is resolved where nothing has changed.

What is kept is what the resolver found. The project, its settings, the lock and the environment are read anew each
time, and every rule, advisory and waiver is asked anew. A digest of all that the resolver is given decides whether what
it found still counts: requirements with the lines that they stand on, target, Pythons, profile, lock, facts, indexes,
the state of the cache, the day, our own code and data. Where any of it differs, the search is made again.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from envdoctor import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from envdoctor.model.conflict import GroupOutcome
    from envdoctor.resolve.diagnosis import Diagnosis
    from envdoctor.resolve.manifest import Manifest
    from envdoctor.verbs.check_request import CheckRequest

__all__ = ["Found", "found_before"]

_ASKED_BY_NAME = ("ENVDOCTOR_", "PIP_", "UV_", "NETRC", "XDG_CONFIG", "HOME", "APPDATA", "USERPROFILE")
"""Beginnings of the variables that say which index is asked."""
_MOST_FILES = 2000
"""Of the cache and of indexes that are folders; with more, all is worked out anew."""
_SETTLED_S = 2.0
"""A cache that was written a moment ago may be written again without a later date."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the resolver found."""

    manifest: Manifest
    """With the Python that was chosen."""
    diagnosis: Diagnosis
    groups: tuple[GroupOutcome, ...] = ()


def found_before(request: CheckRequest, manifest: Manifest, find: Callable[[], Found]) -> Found:
    """Return what was found for the very same before, else what ``find`` finds now, which is kept where it may be."""
    place = _place(request)
    if place is None:
        return find()
    from envdoctor.adapters.kept_values import NoDigest, digest, keep, kept

    before = _state(request)
    if before is None:
        return find()
    try:
        key = digest((_given(request, manifest), before))
    except NoDigest:
        return find()
    known = kept(place, key)
    if isinstance(known, tuple) and len(known) == 3:
        python, diagnosis, groups = known
        return Found(replace(manifest, target=replace(manifest.target, python=python)), diagnosis, groups)
    found = find()
    if before == _state(request) and _is_whole(request, found):
        keep(place, key, (found.manifest.target.python, replace(found.diagnosis, graph=None), found.groups))
    return found


def _place(request: CheckRequest) -> Path | None:
    """Return the folder to keep in; None where nobody asked for speed, or where more than the cache is asked."""
    lines = request.project.requirements if request.project is not None else ()
    typed = request.index_choice
    if not request.offline or request.locked is None or request.upgrade or typed is None or typed.recorded is not None:
        return None
    if any(line.url for line in lines) or os.environ.get("ENVDOCTOR_INDEX_RECORDED"):
        return None
    from envdoctor.adapters.user_folders import cache_folder

    return (typed.cache_dir or Path(cache_folder())) / "kept"


def _given(request: CheckRequest, manifest: Manifest) -> object:
    """Return all that the resolver, the order of repairs and the judging of other lists are given."""
    from envdoctor.adapters.index.pip_settings import read_pip_settings
    from envdoctor.adapters.index.uv_configuration import read_uv_configuration

    variables = sorted((name, value) for name, value in os.environ.items() if name.startswith(_ASKED_BY_NAME))
    return (
        _ourselves(),
        manifest,
        request.python_choices,
        request.project,
        request.profile,
        tuple(request.facts),
        request.groups,
        request.part,
        request.index_choice,
        request.scope.index_settings,
        read_pip_settings(),
        read_uv_configuration(),
        # Some dates are told from today on.
        request.today,
        variables,
    )


@lru_cache(maxsize=1)
def _ourselves() -> tuple[object, ...]:
    """Return what tells this program from another version of it: of a checkout, the files' own dates and sizes."""
    from envdoctor.shipped import advisories_folder

    package = Path(__file__).resolve().parents[1]
    folders = (package, advisories_folder(), advisories_folder().parent / "profiles")
    files = sorted(
        (str(path), status.st_size, status.st_mtime_ns)
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in (".py", ".toml")
        for status in (path.stat(),)
    )
    return (__version__, sys.version, tuple(map(_dated, ("packaging", "nab_resolver", "resolvelib"))), tuple(files))


def _dated(library: str) -> tuple[str, int, int]:
    """Return a library's place with date and size, without importing it."""
    spec = find_spec(library)
    if spec is None or spec.origin is None:
        return (library, 0, 0)
    status = Path(spec.origin).stat()
    return (spec.origin, status.st_size, status.st_mtime_ns)


def _state(request: CheckRequest) -> tuple[tuple[str, int, int, int], ...] | None:
    """Return dates and sizes of the cache and of folders that are an index; None where they do not tell of a change."""
    place = _place(request)
    if place is None:
        return None
    files = [path for path in sorted(place.parent.glob("index-*")) if not path.name.endswith("-shm")]
    for setting in request.scope.index_settings:
        if setting.value.startswith("file:") or "://" not in setting.value:
            files += islice(_below(setting.value), _MOST_FILES + 1)
    found = []
    for path in files if len(files) <= _MOST_FILES else ():
        try:
            status = path.stat()
        except OSError:
            return None
        if path.name.endswith("-wal") and not status.st_size:
            continue
        if time.time() - status.st_mtime < _SETTLED_S:
            return None
        found.append((str(path), status.st_size, status.st_mtime_ns, status.st_ino))
    return tuple(found) or None


def _below(place: str) -> Iterator[Path]:
    """Yield an index that is a folder of this machine, with all that is in it."""
    folder = Path(url2pathname(urlsplit(place).path)) if place.startswith("file:") else Path(place)
    yield folder
    yield from sorted(folder.rglob("*"))


def _is_whole(request: CheckRequest, found: Found) -> bool:
    """Return whether nothing was left open: what was not known may be known the next time, by other ways."""
    diagnosis = found.diagnosis
    return not (diagnosis.unknowns or diagnosis.missing or diagnosis.rejections or request.unreachable())
