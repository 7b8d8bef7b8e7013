"""One lock for several targets, put together from the lock of each.

A package that not every target has carries a marker that names its targets, as PEP 751 has it; so do two versions of
one package. Nothing is resolved here: each part is the lock that was judged for its target, and can be had back of it.
What a part accepts stands in the row of its target and counts there alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any

from packaging.markers import Marker
from packaging.pylock import Package, PackageWheel, Pylock
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.lock.pylock_reader import LockError, locked_project
from envdoctor.model.requirement import may_hold
from envdoctor.model.target import Target

__all__ = ["join_locks", "part_of"]

_FEWEST = 2


def join_locks(locks: Mapping[str, Pylock]) -> Pylock:
    """Return the lock of all targets; ``locks`` by the path of each.

    Raises LockError where one of them is not of one target that `envdoctor lock` names, or where two are of one target.
    """
    if len(locks) < _FEWEST:
        raise LockError("two or more locks are joined, each of a target of its own")
    targets = {path: _target(path, lock) for path, lock in locks.items()}
    _refuse_equal(targets, locks)
    markers = {path: lock.environments[0] for path, lock in locks.items() if lock.environments}
    document = Pylock(
        lock_version=Version("1.0"),
        environments=list(markers.values()),
        requires_python=_requires_python(targets.values()),
        created_by=next(iter(locks.values())).created_by,
        packages=list(_packages(locks, markers)),
        tool={"envdoctor": {"targets": [_row(target, locks[path]) for path, target in targets.items()]}},
    )
    document.validate()
    return document


def part_of(document: Pylock, target: Target, choices: Iterable[tuple[int, int]] = ()) -> Pylock:
    """Return of a joined lock the lock of the target, or of one of its other interpreters (``choices``).

    A lock that is not joined is returned as it is, and so is one without a part for the target.
    """
    table = (document.tool or {}).get("envdoctor")
    rows = table.get("targets") if isinstance(table, Mapping) else None
    if not isinstance(rows, list) or len(rows) != len(document.environments or ()):
        return document
    targets = [target.for_python(python) for python in (target.python, *choices)]
    pairs = list(zip(rows, document.environments or (), strict=True))
    for each in targets:
        for row, marker in pairs:
            own = {key: row[key] for key in _ACCEPTED if key in row} if isinstance(row, Mapping) else {}
            part = replace(document, environments=[marker], packages=[], tool={"envdoctor": {"target": row, **own}})
            read = locked_project(part, "")
            if read.targets and read.is_for(each):
                environment = each.marker_environment()
                kept = [item for item in document.packages if may_hold(item.marker, environment)]
                return replace(part, packages=kept)
    return document


_ACCEPTED = ("profile", "chosen", "way", "overrides")
"""What a lock says of itself beside its target."""


def _row(target: Mapping[str, Any], lock: Pylock) -> dict[str, Any]:
    table = (lock.tool or {})["envdoctor"]
    return {**target, **{key: table[key] for key in _ACCEPTED if key in table}}


def _target(path: str, lock: Pylock) -> Mapping[str, Any]:
    table = (lock.tool or {}).get("envdoctor")
    target = table.get("target") if isinstance(table, Mapping) else None
    if not isinstance(target, Mapping) or len(lock.environments or ()) != 1:
        raise LockError(f"{path}: not a lock that `envdoctor lock` wrote for one target")
    return target


def _refuse_equal(targets: Mapping[str, Mapping[str, Any]], locks: Mapping[str, Pylock]) -> None:
    """Raise LockError for two locks that one machine would match: a backend is no part of a marker."""
    seen: dict[str, str] = {}
    for path, lock in locks.items():
        marker = str(next(iter(lock.environments or ()), ""))
        if marker in seen:
            one, other = (targets[each].get("backend") for each in (seen[marker], path))
            backends = f" (`{one}` and `{other}`: no marker tells backends apart)" if one != other else ""
            raise LockError(f"{seen[marker]} and {path}: both are for the same machines{backends}")
        seen[marker] = path


def _requires_python(targets: Any) -> SpecifierSet:
    pythons = sorted({tuple(map(int, str(target["python"]).split("."))) for target in targets})
    if len(pythons) == 1:
        return SpecifierSet(f"=={pythons[0][0]}.{pythons[0][1]}.*")
    return SpecifierSet(f">={pythons[0][0]}.{pythons[0][1]},<{pythons[-1][0]}.{pythons[-1][1] + 1}")


def _packages(locks: Mapping[str, Pylock], markers: Mapping[str, Marker]) -> Iterator[Package]:
    found: dict[tuple[str, str, str | None], dict[str, Package]] = {}
    for path, lock in locks.items():
        for package in lock.packages:
            found.setdefault((package.name, str(package.version), package.index), {})[path] = package
    several = {name for name, _, _ in found if sum(name == other for other, _, _ in found) > 1}
    for _, of_one in sorted(found.items(), key=lambda item: item[0][0]):
        everywhere = len(of_one) == len(locks)
        marker = None if everywhere else reduce(or_, (markers[path] for path in of_one))
        yield _joined(list(of_one.values()), marker, several)


def _joined(parts: Sequence[Package], marker: Marker | None, several: set[str]) -> Package:
    """Return one entry for the same version of several targets, with the files of all of them."""
    wheels: dict[str, PackageWheel] = {}
    for part in parts:
        wheels |= {wheel.filename: wheel for wheel in part.wheels or () if wheel.filename not in wheels}
    names = {str(each["name"]) for part in parts for each in part.dependencies or ()}
    # An entry that several versions could be meant by names none of them.
    dependencies = [{"name": name} for name in sorted(names - several)]
    return replace(
        parts[0],
        marker=marker,
        dependencies=dependencies or None,
        wheels=list(wheels.values()) or None,
        sdist=next((part.sdist for part in parts if part.sdist is not None), None),
        tool=_demands(parts),
    )


def _demands(parts: Sequence[Package]) -> dict[str, Any] | None:
    """Return who asks for a version, and what it sets aside: the same wherever it is the version, if it applies."""
    tables = [table for part in parts if isinstance(table := (part.tool or {}).get("envdoctor"), Mapping)]
    found = {key: sorted({text for table in tables for text in _texts(table.get(key))}) for key in _OF_A_PACKAGE}
    told = {key: texts for key, texts in found.items() if texts}
    return {"envdoctor": told} if told else None


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


_OF_A_PACKAGE = ("wanted-by", "sets-aside")
