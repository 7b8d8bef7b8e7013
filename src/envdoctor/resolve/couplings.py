"""Binary couplings: which builds belong together, whether or not metadata says so."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.profile import Coupling, CouplingRule

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Couplings", "shipped_couplings"]


@dataclass(frozen=True, slots=True)
class _Row:
    name: NormalizedName
    requires: NormalizedName
    rule: str
    when: SpecifierSet
    table: Mapping[str, str]

    def demand(self, version: Version) -> SpecifierSet | None:
        """Return what ``version`` was built for, None where the row does not know."""
        if not self.when.contains(version, prereleases=True):
            return None
        series = f"{version.major}.{version.minor}"
        if self.rule == "same-minor":
            return SpecifierSet(f"=={series}.*")
        if self.rule == "same-version":
            return SpecifierSet(f"=={version.public}")
        text = self.table.get(series) or self._beyond(version)
        if text is None:
            return None
        return SpecifierSet(text if text[0] in "<>=!~" else f"=={text}")

    def _beyond(self, version: Version) -> str | None:
        """Return the ``otherwise`` entry for versions newer than the table."""
        known = [Version(series) for series in self.table if series != "otherwise"]
        return self.table.get("otherwise") if known and version > max(known) else None


class Couplings:
    """The shipped couplings and a profile's own."""

    def __init__(self, extra: Iterable[Coupling] = ()) -> None:
        self._take((*shipped_couplings(), *_profile_rows(extra)))

    @classmethod
    def none(cls) -> Couplings:
        """Return no coupling at all: what metadata says is all that counts, as for an installer."""
        found = cls.__new__(cls)
        found._take(())
        return found

    def _take(self, rows: Iterable[_Row]) -> None:
        self._rows: dict[NormalizedName, list[_Row]] = {}
        for row in rows:
            self._rows.setdefault(row.name, []).append(row)
        self._binary = frozenset((row.name, row.requires) for rows in self._rows.values() for row in rows)

    def is_binary(self, owner: str, dependency: str) -> bool:
        """Return whether a demand of ``owner`` on ``dependency`` follows from its binaries and must hold."""
        return (owner, dependency) in self._binary

    def demands(
        self, name: NormalizedName, version: Version, stated: frozenset[str]
    ) -> tuple[tuple[NormalizedName, SpecifierSet], ...]:
        """Return the couplings of a version on projects about which its metadata is silent (not ``stated``)."""
        rows = self._rows.get(name)
        if not rows:
            return ()
        found: dict[NormalizedName, SpecifierSet] = {}
        for row in rows:
            if row.requires not in stated and row.requires not in found:
                demand = row.demand(version)
                if demand is not None:
                    found[row.requires] = demand
        return tuple(found.items())


@lru_cache(maxsize=1)
def shipped_couplings() -> tuple[_Row, ...]:
    """Return the rows of the table that ships with the package."""
    text = resources.files("envdoctor.resolve").joinpath("couplings.toml").read_text(encoding="utf-8")
    return tuple(
        _Row(
            name=canonicalize_name(row["name"]),
            requires=canonicalize_name(row["requires"]),
            rule=row["rule"],
            when=SpecifierSet(row.get("when", "")),
            table=row.get("table", {}),
        )
        for row in tomllib.loads(text)["coupling"]
    )


def _profile_rows(couplings: Iterable[Coupling]) -> Iterable[_Row]:
    known = {(row.name, row.requires) for row in shipped_couplings()}
    for coupling in couplings:
        first, *others = coupling.names
        for other in others:
            # torchvision counts in its own series: where the shipped table knows the pair, it knows better.
            if coupling.rule is not CouplingRule.TABLE and (other, first) not in known:
                yield _Row(other, first, coupling.rule.value, SpecifierSet(), {})
