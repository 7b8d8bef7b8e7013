"""Files of a repository that a VCS URL names, at its ref: from well-known forges over HTTP, from a local one by git.

Nothing is cloned, built or run. Files of a commit are kept for ever, those of a branch as long as an index's page.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit

from envdoctor.adapters.index.cache import Cache, CachedPage
from envdoctor.adapters.index.credentials import origin_of
from envdoctor.adapters.index.transport import Transport, TransportError
from envdoctor.model.dataclass import dataclass
from envdoctor.model.index_url import file_path

__all__ = ["FORGES", "RepositoryPlace", "RepositoryReader", "RepositoryUnread", "local_files", "place_of"]

FORGES: dict[str, str] = {
    "github.com": "https://raw.githubusercontent.com/{project}/{ref}/{path}",
    "gitlab.com": "https://gitlab.com/{project}/-/raw/{ref}/{path}",
    "bitbucket.org": "https://bitbucket.org/{project}/raw/{ref}/{path}",
}
"""Where a forge serves one file of a repository as it is."""
_ARCHIVE = re.compile(r"(?P<project>/[^/]+/[^/]+)/archive/(?:refs/(?:heads|tags)/)?(?P<ref>.+)\.(?:zip|tar\.gz)")
_PROJECT = re.compile(r"[\w.-]+(?:/[\w.-]+)+")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"(?!-)[\w./+-]+")
_TEXT_LIMIT = 2 * 1024 * 1024
_GIT_SECONDS = 20
_DEAD_FOR = 60.0
"""Seconds for which a forge that was out of reach is not asked again."""
_QUIET = ("-c", "core.fsmonitor=false", "--no-optional-locks", "--no-replace-objects")


class RepositoryUnread(Exception):
    """The files cannot be had; the text says why."""


@dataclass(frozen=True, slots=True)
class RepositoryPlace:
    """One folder of a repository at one ref."""

    host: str
    """Empty for a folder of this machine."""
    project: str
    """``owner/name`` of a forge, or the path of the folder."""
    ref: str
    folder: str = ""
    """``subdirectory=`` of the URL, with a slash behind it."""


def place_of(reference: str) -> RepositoryPlace | None:
    """Return what a VCS URL, or a forge's URL of an archive, names; None where files cannot be asked for one by one."""
    try:
        parts = urlsplit(reference.removeprefix("git+"))
        host = parts.hostname or ""
        if parts.port and parts.scheme in ("http", "https"):
            host = f"{host}:{parts.port}"
        folder = parse_qs(parts.fragment).get("subdirectory", [""])[0].strip("/")
    except ValueError:
        return None
    if not reference.startswith(("git+", "git:")):
        match = _ARCHIVE.fullmatch(unquote(parts.path))
        return _checked(host, match["project"], match["ref"], folder) if match and host in FORGES else None
    path, _, ref = parts.path.rpartition("@") if "@" in parts.path else (parts.path, "", "HEAD")
    if parts.scheme == "file":
        return _checked("", file_path(f"file://{parts.netloc}{path}") or "", unquote(ref), folder)
    return _checked(host, unquote(path).removesuffix("/").removesuffix(".git"), unquote(ref), folder)


def _checked(host: str, path: str, ref: str, folder: str) -> RepositoryPlace | None:
    project = path if not host else path.strip("/")
    climbs = ".." in (*project.split("/"), *folder.split("/"), *ref.split("/"))
    if climbs or not _REF.fullmatch(ref) or (host and not (host in FORGES and _PROJECT.fullmatch(project))):
        return None
    return RepositoryPlace(host, project, ref, f"{folder}/" if folder else "")


@dataclass(slots=True)
class RepositoryReader:
    """Reads files of repositories through one transport and one cache."""

    transport: Transport
    cache: Cache
    offline: bool = False
    freshness: float = 600.0

    def files(self, reference: str, names: Iterable[str]) -> dict[str, bytes]:
        """Return those of the files that are there. Raises RepositoryUnread."""
        place = place_of(reference)
        if place is None or not place.host:
            return local_files(reference, names)
        found = {name: self._file(place, place.folder + name) for name in names}
        return {name: content for name, content in found.items() if content is not None}

    def _file(self, place: RepositoryPlace, path: str) -> bytes | None:
        values = {"project": quote(place.project), "ref": quote(place.ref), "path": quote(path)}
        return self._fetched(FORGES[place.host].format(**values), settled=bool(_COMMIT.fullmatch(place.ref)))

    def _fetched(self, url: str, *, settled: bool) -> bytes | None:
        cached = self.cache.pages((url,)).get(url)
        fresh = cached is not None and (settled or self.offline or 0 <= time.time() - cached.fetched < self.freshness)
        if cached is not None and fresh:
            return cached.body if cached.status == 200 else None
        if self.offline:
            raise RepositoryUnread("offline and not in the cache")
        status, content = self._asked(url)
        self.cache.put_page(url, CachedPage(time.time(), status, None, None, None, content))
        return content if status == 200 else None

    def _asked(self, url: str) -> tuple[int, bytes]:
        mark = f"unreachable {origin_of(url)}"
        if reason := self.cache.mark(mark, _DEAD_FOR):
            raise RepositoryUnread(reason)
        try:
            reply = self.transport.get(url, {"Accept": "text/plain"}, _TEXT_LIMIT, patient=False)
        except TransportError as error:
            self.cache.put_mark(mark, str(error))
            raise RepositoryUnread(str(error)) from None
        if reply.cut:
            raise RepositoryUnread(f"a file of it is larger than {_TEXT_LIMIT // 1024**2} MiB")
        if reply.status not in (200, 404):
            raise RepositoryUnread(f"its server answered {reply.status}")
        return reply.status, reply.content if reply.status == 200 else b""


def local_files(reference: str, names: Iterable[str]) -> dict[str, bytes]:
    """Return the files of a repository of this machine. Raises RepositoryUnread, for one elsewhere as well."""
    place = place_of(reference)
    if place is None or place.host:
        raise RepositoryUnread("no file of it can be asked for by itself" if place is None else "not in the recording")
    found = {name: _from_git(Path(place.project), place.ref, place.folder + name) for name in names}
    return {name: content for name, content in found.items() if content is not None}


def _from_git(folder: Path, ref: str, path: str) -> bytes | None:
    """Return a file of a local repository, None where the ref has none. Raises RepositoryUnread."""
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if commit is None:
        raise RepositoryUnread(f"there is no repository with a commit `{ref}`")
    return _git(folder, "cat-file", "blob", f"{commit.decode().strip()}:{path}")


def _git(folder: Path, *words: str) -> bytes | None:
    """Return what git prints, None where it refuses; it looks up objects alone, and runs nothing of the repository."""
    quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        quiet.pop(name, None)
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program, words checked, no shell
            ["git", *_QUIET, "-C", str(folder), *words],  # noqa: S607 - whichever git the user has
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=quiet,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise RepositoryUnread("there is no git to read it with") from None
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise RepositoryUnread(f"git could not read it ({error})") from None
    if len(done.stdout) > _TEXT_LIMIT:
        raise RepositoryUnread(f"a file of it is larger than {_TEXT_LIMIT // 1024**2} MiB")
    return done.stdout if done.returncode == 0 else None
