"""What Hatch adds to the standard tables: environments, which are groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from envdoctor.adapters.project.draft import Circumstances, Draft
from envdoctor.adapters.project.group_choice import Wanted, groups_of
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import TomlDocument
from envdoctor.model.requirement import GroupKind

__all__ = ["read_hatch"]


def read_hatch(draft: Draft, document: TomlDocument, circumstances: Circumstances, wanted: Wanted) -> None:
    """Read the environments of Hatch as groups."""
    base = ("tool", "hatch", "envs")
    names = [name for name, value in document.table(draft, *base).items() if any(_lists(value))]
    for group in groups_of(draft, GroupKind.GROUP, names, wanted):
        for key in _lists(document.get(*base, group.name)):
            for at, text in document.strings(draft, *base, group.name, key):
                if "{" not in text:  # A value of a matrix or a context: not one requirement.
                    origin = document.origin(*base, group.name, key, at)
                    draft.add(parse_pep508(text, origin), replace(circumstances, group=group))


def _lists(value: Any) -> Iterator[str]:
    for key in ("dependencies", "extra-dependencies"):
        if isinstance(value, dict) and isinstance(value.get(key), list):
            yield key
