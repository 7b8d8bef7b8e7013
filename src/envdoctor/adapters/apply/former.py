"""What earlier fixes have patched, and what those files were before: new patches start from there, and old ones go."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from envdoctor.adapters.apply.backups import Backups
from envdoctor.adapters.apply.journal import list_journals
from envdoctor.adapters.apply.paths import PathEscape, resolve_inside
from envdoctor.adapters.apply.records import PatchRecord, read_record
from envdoctor.adapters.apply.trees import Tree, matches
from envdoctor.model.dataclass import dataclass

__all__ = ["Former", "UnpatchedTree", "former_patches"]


@dataclass(frozen=True, slots=True)
class Former:
    """A file as fixes have left it."""

    original: bytes
    """What it was before the first of them."""
    current: bytes | None
    """What it is; None where a patch has taken it away."""


def former_patches(
    environment: Path, roots: Mapping[str, Path], leaving: Collection[str] = ()
) -> tuple[dict[tuple[str, str], Former], tuple[PatchRecord, ...]]:
    """Return the patched files by root and path, and those that somebody has changed since.

    ``leaving``: distributions that are replaced or go; their patched files go with them.
    """
    record = read_record(environment)
    found: dict[tuple[str, str], Former] = {}
    changed: list[PatchRecord] = []
    for row in record.patched if record is not None else ():
        if row.distribution in leaving or row.root not in roots or not _is_at(row, roots[row.root]):
            continue
        original = next(_copies(environment, row.before), None)
        if row.state != "patched" or original is None:
            changed.append(row)
            continue
        current = Path(row.real).read_bytes() if row.after is not None else None
        found[row.root, row.path] = Former(original, current)
    return found, tuple(changed)


def _is_at(row: PatchRecord, root: Path) -> bool:
    """Tell whether a record speaks of a file of this very project or environment; anything may stand in it."""
    try:
        return str(resolve_inside(root, row.path)) == row.real
    except PathEscape:
        return False


def _copies(environment: Path, digest: str) -> Iterator[bytes]:
    for record in list_journals(environment):
        data = Backups(record.folder / "backups").read(digest) if record.state == "done" else None
        if data is not None and hashlib.sha256(data).hexdigest() == digest:
            yield data


class UnpatchedTree:
    """A folder with its patched files as they were before."""

    def __init__(self, tree: Tree, originals: Mapping[str, bytes]) -> None:
        self.tree = tree
        self.originals = originals

    def match(self, pattern: str) -> list[str]:
        """Return the files that a glob names, those that a patch has taken away among them."""
        gone = [path for path in self.originals if matches(pattern, path)]
        return sorted({*self.tree.match(pattern), *gone})

    def read(self, path: str) -> bytes:
        """Return a file's bytes."""
        return self.originals[path] if path in self.originals else self.tree.read(path)

    def owner(self, path: str) -> str:
        """Return the distribution that lists the file."""
        return self.tree.owner(path)
