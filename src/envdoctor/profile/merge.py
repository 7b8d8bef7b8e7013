"""A profile over its base: tables override key by key, arrays of tables append, `[remove]` takes away."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envdoctor.model.dataclass import dataclass
from envdoctor.profile.grammar import SectionKind
from envdoctor.profile.sections import SECTIONS
from envdoctor.toml_tables import Fault, did_you_mean

__all__ = ["Entry", "Merged", "identity", "merge", "single"]

# These say what one file is and are never inherited.
_OWN = ("name", "summary", "extends", "abstract", "documentation")
_PACKAGES = ("requirement", "name")


@dataclass(frozen=True, slots=True)
class Entry:
    """One table of an array, and where it was written."""

    profile: str
    key_path: str
    table: dict[str, Any]
    inherited: bool = False


@dataclass(slots=True)
class Merged:
    """A profile with all its bases folded in."""

    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    arrays: dict[str, list[Entry]] = field(default_factory=dict)

    def table(self, name: str) -> dict[str, Any]:
        """Return a table of the profile; an absent one is empty."""
        return self.tables.get(name, {})

    def entries(self, name: str) -> list[Entry]:
        """Return the entries of an array of tables; an absent one is empty."""
        return self.arrays.get(name, [])


def identity(section: str, table: dict[str, Any]) -> str | None:
    """Return what an entry is called: a project's normalised name, or its own name; None where it has none."""
    key = SECTIONS[section].identity
    value = table.get(key) if key else None
    if value is None:
        return None
    if key == "requirement":
        try:
            return canonicalize_name(Requirement(value).name)
        except InvalidRequirement:
            return None
    return canonicalize_name(value) if section == "exclude" else str(value)


def single(clean: dict[str, Any]) -> Merged:
    """Return one file's content alone."""
    name = str(clean.get("profile", {}).get("name", ""))
    merged = Merged()
    for section, content in clean.items():
        if SECTIONS[section].kind is SectionKind.ARRAY:
            merged.arrays[section] = [
                Entry(name, f"{section}[{number}]", table) for number, table in enumerate(content)
            ]
        elif section != "remove":
            merged.tables[section] = dict(content)
    return merged


def merge(base: Merged, clean: dict[str, Any]) -> tuple[Merged, list[Fault]]:
    """Return a child's content laid over its base, and the faults of its `[remove]` table."""
    child = single(clean)
    kept, faults = _without(base, clean.get("remove", {}))
    merged = Merged()
    for section, description in SECTIONS.items():
        if description.kind is SectionKind.ARRAY:
            inherited = [Entry(e.profile, e.key_path, e.table, inherited=True) for e in kept.entries(section)]
            merged.arrays[section] = [*inherited, *child.entries(section)]
        else:
            merged.tables[section] = {**kept.table(section), **child.table(section)}
    own = {key: value for key, value in merged.tables["profile"].items() if key not in _OWN}
    merged.tables["profile"] = {**own, **child.table("profile")}
    return merged, faults


def _without(base: Merged, remove: dict[str, list[str]]) -> tuple[Merged, list[Fault]]:
    kept = Merged(dict(base.tables), dict(base.arrays))
    faults = []
    for section, names in remove.items():
        for number, name in enumerate(names):
            known = _known(kept, section)
            wanted = canonicalize_name(name) if SECTIONS[section].identity in _PACKAGES and name not in known else name
            if wanted not in known:
                message = f"the base has no `{name}` in `{section}`{did_you_mean(name, known)}"
                faults.append(Fault(f"remove.{section}[{number}]", message))
            elif section == "environment":
                kept.tables[section] = {k: v for k, v in kept.table(section).items() if k != wanted}
            else:
                kept.arrays[section] = [e for e in kept.entries(section) if identity(section, e.table) != wanted]
    return kept, faults


def _known(base: Merged, section: str) -> set[str]:
    if section == "environment":
        return set(base.table(section))
    return {name for entry in base.entries(section) if (name := identity(section, entry.table)) is not None}
