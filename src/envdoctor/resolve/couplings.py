"""Binary couplings: which builds belong together, whether or not metadata says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.dataclass import dataclass
from envdoctor.model.profile import Coupling, CouplingRule
from envdoctor.model.version_table import VersionTable
from envdoctor.shipped import couplings

__all__ = ["Couplings"]


@dataclass(frozen=True, slots=True)
class _Pair:
    name: NormalizedName
    requires: NormalizedName
    demand: Callable[[Version], SpecifierSet | None]
    """Returns what a version was built for, None where nobody knows."""


class Couplings:
    """The shipped couplings and a profile's own."""

    def __init__(self, extra: Iterable[Coupling] = ()) -> None:
        shipped = [_of_table(table) for table in couplings()]
        self._take((*shipped, *_of_profile(extra, {(pair.name, pair.requires) for pair in shipped})))

    @classmethod
    def none(cls) -> Couplings:
        """Return no coupling at all: what metadata says is all that counts, as for an installer."""
        found = cls.__new__(cls)
        found._take(())
        return found

    def _take(self, pairs: Iterable[_Pair]) -> None:
        self._pairs: dict[NormalizedName, list[_Pair]] = {}
        for pair in pairs:
            self._pairs.setdefault(pair.name, []).append(pair)
        self._binary = frozenset((pair.name, pair.requires) for pairs in self._pairs.values() for pair in pairs)

    def is_binary(self, owner: str, dependency: str) -> bool:
        """Return whether a demand of ``owner`` on ``dependency`` follows from its binaries and must hold."""
        return (owner, dependency) in self._binary

    def demands(
        self, name: NormalizedName, version: Version, stated: frozenset[str]
    ) -> tuple[tuple[NormalizedName, SpecifierSet], ...]:
        """Return the couplings of a version on projects about which its metadata is silent (not ``stated``)."""
        found: dict[NormalizedName, SpecifierSet] = {}
        for pair in self._pairs.get(name, ()):
            demand = pair.demand(version) if pair.requires not in stated and pair.requires not in found else None
            if demand is not None:
                found[pair.requires] = demand
        return tuple(found.items())


def _of_table(table: VersionTable) -> _Pair:
    def demand(version: Version) -> SpecifierSet | None:
        wanted = table.wanted(version)
        return SpecifierSet(wanted) if wanted is not None else None

    return _Pair(canonicalize_name(table.subject), canonicalize_name(table.object), demand)


def _same_minor(version: Version) -> SpecifierSet:
    return SpecifierSet(f"=={version.major}.{version.minor}.*")


def _same_version(version: Version) -> SpecifierSet:
    return SpecifierSet(f"=={version.public}")


def _of_profile(extra: Iterable[Coupling], known: set[tuple[NormalizedName, NormalizedName]]) -> Iterable[_Pair]:
    for coupling in extra:
        first, *others = coupling.names
        same = _same_minor if coupling.rule is CouplingRule.SAME_MINOR else _same_version
        for other in others:
            # torchvision counts in its own series: where the shipped table knows the pair, it knows better.
            if coupling.rule is not CouplingRule.TABLE and (other, first) not in known:
                yield _Pair(other, first, same)
