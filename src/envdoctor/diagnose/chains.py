"""Who wants a package, and where a person wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from envdoctor.model.origin import DistributionOrigin, FileOrigin

if TYPE_CHECKING:
    from envdoctor.model.requirement import Requirement
    from envdoctor.model.resolution import Resolution

__all__ = ["Chain", "chain_to", "line_of"]


class Chain:
    """The shortest way from a person's requirement down to a package."""

    def __init__(self, root: Requirement | None, names: tuple[str, ...]) -> None:
        self.root = root
        self.names = names

    @property
    def location(self) -> FileOrigin | None:
        """The file line at the top, where there is one."""
        origin = self.root.origin if self.root else None
        return origin if isinstance(origin, FileOrigin) else None

    def __str__(self) -> str:
        if not self.root:
            return " -> ".join(self.names)
        return f"`{self.root}` ({self.root.origin})" + "".join(f" -> {name}" for name in self.names[1:])


def chain_to(resolution: Resolution, name: str) -> Chain:
    """Return the shortest chain to ``name``; its root is None where no person's line leads there.

    A person's line that an override set aside counts too: it still says who asked for the package, and where.
    """
    packages = {item.name: item for item in resolution.packages}
    queue: list[tuple[str, ...]] = [(name,)]
    seen = {name}
    while queue:
        path = queue.pop(0)
        package = packages.get(canonicalize_name(path[0]))
        for wanted in (*package.wanted_by, *package.set_aside) if package else ():
            if not isinstance(wanted.origin, DistributionOrigin):
                return Chain(wanted, path)
            above = canonicalize_name(wanted.origin.name)
            if above not in seen:
                seen.add(above)
                queue.append((above, *path))
    return Chain(None, (name,))


def line_of(requirement: Requirement) -> FileOrigin | None:
    """Return the file line of a requirement, None where it was not written in a file."""
    return requirement.origin if isinstance(requirement.origin, FileOrigin) else None
