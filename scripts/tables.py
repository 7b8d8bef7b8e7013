"""Read the shipped tables against the index and say where the world has moved: `python scripts/tables.py`.

The newest release of each package is opened, with ``--all`` every one. PyTorch's own indexes are asked, too, where they
answer. What cannot be read again, and why, is printed behind the differences. Exit 1 where there is a difference.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from packaging.requirements import Requirement
from packaging.specifiers import Specifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from tables_builds import build_differences, releases, wheels
from tables_names import name_differences, names_in_tables
from tables_versions import stated_versions, version_differences

from envdoctor.adapters.index import AnyIndex, IndexSettings, open_index
from envdoctor.diagnose.advisories.book import shipped_advisories
from envdoctor.model.version_table import VersionTable, contains
from envdoctor.ports import IndexUnavailable, MetadataUnavailable, ProjectNotFound
from envdoctor.shipped import couplings, vouched_demands

READ = {
    "advisory": "the versions of `when`, `asks`, `seen` and of commands",
    "build": "`version.py` of the newest wheels",
    "card": "each architecture that the newest torch has code for has a card",
    "coupling": "metadata of each release",
    "devices": "whether a row speaks of the newest release",
    "family": "whether the index has the names, with --all whether their wheels hold the folder",
    "kernels": "the flags in torch's library for Python of the newest wheels, with --all of each",
    "label": "PyTorch's own indexes, where they answer",
    "meant": "whether the index has the names",
    "modules": "whether the index has the names, with --all whether their wheels hold the module",
    "names": "whether the index has the names",
    "need": "whether the index has the names, and no wheel of what is said to fail",
    "newest": "the newest torch",
    "numpy1": "whether both releases are there",
    "refuses": "`setup.py` of the last release of each row, and of the newest",
    "removed": "whether the release that removed it is there",
    "vouched": "the versions, and whether the newest release is one that was read",
    "there": "whether the index has the names and the releases",
    "table": "the versions, the newest release, and metadata where it speaks of the other project",
}
"""What of each kind of table is read again."""
UNREADABLE = {
    "advisory": "that something fails, and how, shows in a run alone",
    "card": "which chip a card has stands on its maker's pages alone",
    "devices": "a wheel's libraries are named by each project as it likes; `evidence` says how it was seen",
    "host": "what a program brings stands in its own repository, which is on no index",
    "instead": "what to do without a build is advice; `evidence` says where it is from",
    "kernels": "builds of PyTorch's own indexes are not on the default index, and hold up to 3 GB each",
    "need": "what a build needs shows when it is built",
    "numpy1": "whether a binary loads shows when it is imported; `evidence` says how it was read",
    "project": "the marks of projects stand in their repositories",
    "pytorch": "what PyTorch's own indexes hold is seen on those alone",
    "refused": "what a converter makes of a model's source shows when it converts",
    "refuses": "a row with `why` says what only a build shows",
    "removed": "that a call is gone shows when both releases are imported",
    "several": "which chips a name stands for is on its maker's pages alone",
    "there": "that a name is there is read in files of two releases; Python's own names are on no index",
    "vouched": "that it works shows in files and runs; `evidence` says how it was read",
    "way": "makers' indexes and drivers are not on the default index; `evidence` says how each was read",
    "what": "names of programs and of system libraries are on no index",
}
"""What is not, and why."""


def differences(index: AnyIndex, *, every: bool = False) -> Iterator[str]:
    """Yield one line for each place where a table and the index differ."""
    index.prefetch_pages({*names_in_tables(), *(name for item in stated_versions() for name in item.projects)})
    for table in couplings():
        yield from _newer(index, table)
        yield from _against_metadata(index, table, index.page(canonicalize_name(table.subject)).versions)
    for table in vouched_demands().values():
        yield from _newer(index, table)
    tables = [table for table in shipped_advisories().tables.values() if table.known_to is None]
    for table in tables:
        yield from _table(index, table, every=every)
    yield from build_differences(index, every=every)
    yield from version_differences(index)
    yield from name_differences(index, every=every)


def _newer(index: AnyIndex, table: VersionTable) -> Iterator[str]:
    assert table.known_to is not None  # noqa: S101
    for version in index.page(canonicalize_name(table.subject)).versions:
        if version > table.known_to and (not version.is_prerelease or table.known_to.is_prerelease):
            yield f"{table.name}: {version} is newer than {table.known_to}, the last that was read"


def _table(index: AnyIndex, table: VersionTable, *, every: bool) -> Iterator[str]:
    """Compare a table of an advisory file with metadata: of the newest release that each row speaks of."""
    try:
        taken = releases(index, table.subject)
        index.page(canonicalize_name(table.object))
    except ProjectNotFound:
        return  # `python`, or `cuda`: no project
    last = [next((item for item in reversed(taken) if contains(of, item)), None) for of, _ in table.rows]
    yield from _against_metadata(index, table, taken if every else [item for item in last if item is not None])


def _against_metadata(index: AnyIndex, table: VersionTable, versions: Iterable[Version]) -> Iterator[str]:
    others, versions = releases(index, table.object), list(versions)
    index.prefetch_metadata(file for version in versions for file in wheels(index, table.subject, version)[-1:])
    for version in versions:
        wanted = table.wanted(version)
        stated = _stated(index, table, version) if wanted is not None else None
        if wanted is None or stated is None:
            continue
        if wanted.startswith("<") and not any(_names_later(clause, wanted) for clause in stated):
            continue  # `numpy>=1.21` was written before there was a NumPy 2, and says nothing of it.
        if any(stated.contains(other) and not table.fits(wanted, other) for other in others):
            yield f"{table.name}: metadata of {version} says `{stated}`, and the table {wanted}"


def _names_later(clause: Specifier, wanted: str) -> bool:
    return not contains(wanted, Version(clause.version.removesuffix(".*")))


def _stated(index: AnyIndex, table: VersionTable, version: Version) -> SpecifierSet | None:
    """Return what the metadata of a version says of the other project, None where it says nothing."""
    for file in wheels(index, table.subject, version)[-1:]:
        try:
            lines = [Requirement(line) for line in index.metadata(file).requires_dist]
        except (MetadataUnavailable, IndexUnavailable):
            return None
        said = [line.specifier for line in lines if _speaks_of(line, table.object)]
        return SpecifierSet(",".join(map(str, said))) if any(map(str, said)) else None
    return None


def _speaks_of(line: Requirement, project: str) -> bool:
    optional = line.marker is not None and "extra" in str(line.marker)
    return canonicalize_name(line.name) == project and not line.extras and not optional


def main() -> int:
    """Print the differences, and what cannot be read again."""
    with open_index(IndexSettings()) as index:
        found = list(differences(index, every="--all" in sys.argv[1:]))
    for line in found:
        sys.stdout.write(f"{line}\n")
    for table, reason in UNREADABLE.items():
        sys.stdout.write(f"cannot be re-read: {table}: {reason}\n")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
