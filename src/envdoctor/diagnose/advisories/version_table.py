"""Tables that say which version of one thing goes with which version of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from envdoctor.diagnose.advisories.toml_row import Row
from envdoctor.diagnose.wheel_facts import contains

if TYPE_CHECKING:
    from packaging.version import Version

__all__ = ["VersionTable", "read_table"]


@dataclass(frozen=True, slots=True)
class VersionTable:
    """Rows of (versions of ``subject``, versions of ``object`` that go with them); the first that fits counts."""

    name: str
    subject: str
    object: str
    """A project name, ``python``, or ``cuda``: the CUDA major version that torch was built for."""
    rows: tuple[tuple[str, str], ...]
    evidence: str

    def wanted(self, version: Version) -> str | None:
        """Return the specifier for ``object`` beside that version of ``subject``; None where no row speaks of it."""
        return next((needs for of, needs in self.rows if contains(of, version)), None)

    def going_with(self, object_: Version, near: Version) -> str | None:
        """Return versions of ``subject`` that go with that version of ``object``: of the row nearest to ``near``."""
        here = next((at for at, (of, _) in enumerate(self.rows) if contains(of, near)), 0)
        fitting = [at for at, (_, needs) in enumerate(self.rows) if contains(needs, object_)]
        return self.rows[min(fitting, key=lambda at: abs(at - here))][0] if fitting else None


def read_table(row: Row) -> VersionTable | None:
    """Read one ``[[table]]``; faults go to the row's collection."""
    name = row.text("name", required=True)
    subject = row.text("subject", required=True)
    object_ = row.text("object", required=True)
    evidence = row.text("evidence", required=True)
    raw = row.take("rows")
    rows: list[tuple[str, str]] = []
    if not isinstance(raw, list) or not raw:
        row.fault("rows", "must be a list of pairs of specifiers")
        return None
    for position, pair in enumerate(raw):
        if not isinstance(pair, list) or len(pair) != 2:
            row.fault(f"rows[{position}]", "must be a pair of specifiers")
            continue
        fields = Row({"of": pair[0], "needs": pair[1]}, f"{row.path}.rows[{position}]", row.faults)
        rows.append((fields.specifier("of"), fields.specifier("needs")))
    row.done()
    return VersionTable(name, subject, object_, tuple(rows), evidence)
