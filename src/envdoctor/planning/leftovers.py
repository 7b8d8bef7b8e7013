"""What a former fix brought and the new lock has no use for; only what nobody else wants goes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import InstalledDistribution
from envdoctor.model.step import PlannedFile

__all__ = ["TOOLS", "Leftover", "brought", "leftovers"]

TOOLS = frozenset({"pip", "setuptools", "wheel", "uv"})
"""What installs and builds; an environment keeps it whether a lock names it or not."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A distribution that is no longer in the lock, and was in the lock of the fix before."""

    distribution: InstalledDistribution
    kept: str = ""
    """Why it stays all the same; empty where it goes."""


def leftovers(
    installed: Iterable[InstalledDistribution],
    ours: Mapping[str, str],
    locked: Collection[str],
    leaving: Collection[str] = (),
) -> tuple[Leftover, ...]:
    """Return what earlier fixes put there and the lock does not name any more.

    ``ours``: version by name of what they put where nothing was. ``leaving``: names that go for another reason. What
    has another version by now, or is wanted by something that no fix brought, is a person's own and stays.
    """
    here = [item for item in installed if item.name not in leaving]
    stale = {item.name: item for item in here if item.name in ours and item.name not in (*locked, *TOOLS)}
    kept = {
        item.name: f"it is {item.version} by now, and the fix had brought {ours[item.name]}"
        for item in stale.values()
        if ours[item.name] != item.version or item.editable or item.direct_url
    }
    wanted = {item.name: tuple(_wants(item)) for item in here}
    # What stays keeps what it wants: round after round, until nothing is added.
    pending = [item.name for item in here if item.name not in stale and item.name not in locked] + list(kept)
    while pending:
        consumer = pending.pop()
        for name in wanted.get(consumer, ()):
            if name in stale and name not in kept:
                kept[name] = f"`{consumer}` asks for it"
                pending.append(name)
    return tuple(Leftover(item, kept.get(item.name, "")) for _, item in sorted(stale.items()))


def brought(
    ours: Mapping[str, str], files: Iterable[PlannedFile], here: Collection[str], gone: Collection[str] = ()
) -> dict[str, str]:
    """Return version by name of all that fixes have put where nothing was, once ``files`` are there.

    ``here``: names that are installed before this fix; ``gone``: names that it takes away.
    """
    versions = {str(file.name): file.version for file in files}
    known = {name: versions.get(name, version) for name, version in ours.items() if name in here and name not in gone}
    new = {name: version for name, version in versions.items() if name not in here}
    return dict(sorted({**known, **new}.items()))


def _wants(item: InstalledDistribution) -> Iterator[NormalizedName]:
    """Yield what it may ask for: with any extra and on any machine, since a package too many harms nobody."""
    for text in item.requires_dist:
        with suppress(InvalidRequirement):
            yield canonicalize_name(Requirement(text).name)
