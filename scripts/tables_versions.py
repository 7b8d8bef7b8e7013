"""Ends of version ranges in the shipped tables and advisories, against the index: `tables.py` runs this.

A range that ends before a release says that something is mended there: that release or a later one must exist, or be
the very next (a range that holds for a whole line). A range that begins or ends with a release must name one that
exists. A `[[table]]` of an advisory file must speak of the newest release, or say in `beyond` why it is silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import Specifier, SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import InvalidVersion, Version

from envdoctor.model.version_table import contains
from envdoctor.ports import Index, ProjectNotFound
from envdoctor.shipped import advisories_folder
from envdoctor.toml_tables import read_toml

_NOT_PROJECTS = frozenset({"python", "cuda"})
_ELSEWHERE = frozenset({"paddlepaddle-gpu"})
"""Newer releases of these are on their maker's index alone."""
_INSTALL = re.compile(r"pip install\s+(.*)")
_QUOTED = re.compile(r'"([^"]+)"')
_SEEN = re.compile(r"([A-Za-z0-9][\w.-]*) (\d\S*(?:, \d\S*)*)")


@dataclass(frozen=True, slots=True)
class Stated:
    """Versions of a project that a table or advisory names."""

    place: str
    projects: tuple[NormalizedName, ...]
    """One of them has the versions, where a question is about several."""
    versions: SpecifierSet


def stated_versions() -> Iterator[Stated]:
    """Yield every range of versions in `advisories/` that belongs to a project."""
    for path in sorted(advisories_folder().rglob("*.toml")):
        document = read_toml(path.read_text(encoding="utf-8"))
        for key, rows in document.items():
            for at, row in enumerate(rows if isinstance(rows, list) else ()):
                if isinstance(row, dict):
                    name = row.get("code") or row.get("name") or row.get("package") or f"{key}[{at}]"
                    yield from _in_row(f"{path.name}: {name}", row)


def _in_row(place: str, row: dict[str, object]) -> Iterator[Stated]:
    if isinstance(row.get("rows"), list):
        subject, object_ = (str(row.get(a, row.get(b))) for a, b in (("subject", "name"), ("object", "requires")))
        for of, needs in row["rows"]:  # type: ignore[attr-defined]
            yield from _stated(place, [subject], of)
            yield from _stated(place, [object_], needs)
    yield from _questions(place, row)
    known = {name for item in _questions(place, row) for name in item.projects}
    for text in _texts(row.get("seen")):
        for name, versions in _SEEN.findall(text):
            for version in versions.split(", ") if canonicalize_name(name) in known else ():
                if (exact := _release(version)) is not None:
                    yield from _stated(place, [name], f"=={exact}")


def _questions(place: str, value: object) -> Iterator[Stated]:
    """Yield what questions (`package` with `version`), remedies and examples name, at any depth."""
    if isinstance(value, list):
        for item in value:
            yield from _questions(place, item)
    if not isinstance(value, dict):
        return
    names = value.get("package", ())
    if isinstance(value.get("version"), str) and names:
        yield from _stated(place, [names] if isinstance(names, str) else names, value["version"])
    for key in ("last", "first"):
        if isinstance(value.get(key), str) and isinstance(names, str) and names:
            yield from _stated(place, [names], f"=={value[key]}")
    commands = [line for text in _texts(value.get("commands")) for line in _INSTALL.findall(text)]
    for text in (*_texts(value.get("asks")), *(item for line in commands for item in _QUOTED.findall(line))):
        try:
            asked = Requirement(text)
        except InvalidRequirement:
            continue
        yield from _stated(place, [asked.name], str(asked.specifier))
    for key, item in value.items():
        if key not in ("fires", "silent"):
            yield from _questions(place, item)


def _release(text: str) -> str | None:
    """Return the release that a text names, None where it is none of an index (`1.x`)."""
    try:
        return Version(text.rstrip(".,;")).public
    except InvalidVersion:
        return None


def _texts(value: object) -> Iterable[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else ()


def _stated(place: str, names: list[str], versions: str) -> Iterator[Stated]:
    if not _NOT_PROJECTS & set(names):
        yield Stated(place, tuple(map(canonicalize_name, names)), SpecifierSet(versions))


def version_differences(index: Index) -> Iterator[str]:
    """Yield a line for each end of a range that no release of the index answers to."""
    stated = list(dict.fromkeys(stated_versions()))
    index.prefetch_pages({name for item in stated for name in item.projects})
    for item in stated:
        versions = [found for name in item.projects if (found := _versions(index, name))]
        for clause in item.versions:
            if _ELSEWHERE.issuperset(item.projects) and _beyond(clause, versions):
                continue
            if versions and not any(_answered(clause, each) for each in versions):
                yield f"{item.place}: `{item.projects[0]}{clause}`, and the index ends at {versions[0][-1]}"
    yield from _silent_tables(index)


def _beyond(clause: Specifier, versions: Iterable[Iterable[Version]]) -> bool:
    return all(Version(clause.version.removesuffix(".*")) > max(each) for each in versions)


def _versions(index: Index, name: NormalizedName) -> tuple[Version, ...]:
    """Return the versions of a project, none where the index does not have it: `names` speaks of that."""
    try:
        return tuple(index.page(name).versions)
    except ProjectNotFound:
        return ()


def _silent_tables(index: Index) -> Iterator[str]:
    """Yield the tables of advisory files that do not speak of the newest release, and do not say why."""
    for path in sorted(advisories_folder().glob("*.toml")):
        for row in read_toml(path.read_text(encoding="utf-8")).get("table", ()):
            versions = _versions(index, canonicalize_name(row["subject"]))
            newest = max((version for version in versions if not version.is_prerelease), default=None)
            spoken_of = newest is None or any(contains(of, newest) for of, _ in row["rows"])
            if not spoken_of and "beyond" not in row:
                yield f"{path.name}: {row['name']} does not speak of {row['subject']} {newest}, the newest"


def _answered(clause: Specifier, versions: Iterable[Version]) -> bool:
    """Return whether a release stands at, or for ranges without an end beyond, the number that a clause names."""
    public = [Version(version.public) for version in versions]
    if clause.operator in ("==", "~=", "!=", "<=", "==="):
        exact = "==" if clause.operator in ("<=", "!=") and not clause.version.endswith(".*") else clause.operator
        return any(Specifier(f"{exact}{clause.version}").contains(version, prereleases=True) for version in public)
    try:
        bound = Version(clause.version)
    except InvalidVersion:
        return False
    last = max(public)
    following = (Version(f"{last.major}.{last.minor + 1}"), Version(f"{last.major + 1}"))
    return any(Version(version.base_version) >= Version(bound.base_version) for version in public) or (
        clause.operator == "<" and bound in following
    )
