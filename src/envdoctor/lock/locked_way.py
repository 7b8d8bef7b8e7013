"""The index of the torch that a card got (`--target-backend auto`), as a lock keeps it for those who lock again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Pep508
from packaging.utils import canonicalize_name

from envdoctor.model.dataclass import dataclass
from envdoctor.model.index_url import url_without_secrets
from envdoctor.model.profile import BoundIndex
from envdoctor.model.requirement import endless_number

__all__ = ["LockedWay", "way_of_row", "way_row"]


@dataclass(frozen=True, slots=True)
class LockedWay:
    """Where torch and what belongs to it come from, and what is asked for beside the project's own lines."""

    index: BoundIndex | None = None
    """None: the default index."""
    requires: tuple[str, ...] = ()
    """PEP 508."""


def way_row(way: LockedWay) -> dict[str, Any]:
    """Return it as the lock's own table has it."""
    row: dict[str, Any] = {"requires": list(way.requires)} if way.requires else {}
    if way.index is not None:
        row |= {"name": way.index.name, "url": url_without_secrets(way.index.url), "packages": list(way.index.packages)}
        row |= {"label": way.index.local_label} if way.index.local_label else {}
        row |= {"flat": True} if way.index.flat else {}
    return row


def way_of_row(row: object, path: str) -> LockedWay | None:
    """Return what ``way_row`` wrote into a lock; None for what cannot be read: the table is disposable."""
    if not isinstance(row, Mapping):
        return None
    texts, url, name = row.get("requires", []), row.get("url"), row.get("name")
    if not isinstance(texts, list) or not all(map(_is_requirement, texts)):
        return None
    if url is None and name is None:
        return LockedWay(None, tuple(texts)) if texts else None
    packages, label = row.get("packages"), row.get("label")
    if not (isinstance(url, str) and url.startswith(("https://", "http://")) and isinstance(name, str)):
        return None
    if not isinstance(packages, list) or not isinstance(label, str | None):
        return None
    names = tuple(canonicalize_name(each) for each in packages if isinstance(each, str))
    index = BoundIndex(name, url, names, local_label=label, flat=row.get("flat") is True, place=path)
    return LockedWay(index, tuple(texts))


def _is_requirement(text: object) -> bool:
    if not isinstance(text, str) or endless_number(text):
        return False
    try:
        Pep508(text)
    except InvalidRequirement:
        return False
    return True
