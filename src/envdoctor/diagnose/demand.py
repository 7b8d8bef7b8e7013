"""What one installed distribution asks of another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import field

from packaging.requirements import Requirement
from packaging.version import Version

from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import InstalledDistribution

__all__ = ["Demands", "InstalledDemand"]


@dataclass(frozen=True, slots=True)
class InstalledDemand:
    """One requirement of one installed distribution that holds on its interpreter."""

    consumer: InstalledDistribution
    requirement: Requirement
    name: str
    """Normalised name of what is wanted."""
    extra: str = ""
    """The extra of the consumer that brings it in, because another distribution asks for that extra."""

    @property
    def text(self) -> str:
        """The requirement without its marker: ``transformers==4.29.2``."""
        extras = f"[{','.join(sorted(self.requirement.extras))}]" if self.requirement.extras else ""
        url = f" @ {self.requirement.url}" if self.requirement.url else ""
        return f"{self.requirement.name}{extras}{self.requirement.specifier}{url}"

    def accepts(self, version: str) -> bool:
        """Return whether an installed version will do; one that is no PEP 440 version is not held against anybody."""
        if not self.requirement.specifier:
            return True
        try:
            return self.requirement.specifier.contains(Version(version), prereleases=True)
        except ValueError:
            return True


@dataclass(slots=True)
class Demands:
    """All demands in an environment."""

    by_name: dict[str, list[InstalledDemand]] = field(default_factory=lambda: defaultdict(list))
    unreadable: list[tuple[InstalledDistribution, str]] = field(default_factory=list)
    """Requirements that are not PEP 508, even after mending what pip used to accept."""
    installed: dict[str, InstalledDistribution] = field(default_factory=dict)
    """The distribution that imports find, by name."""
    may_be_there: Callable[[str], bool] = lambda _: False
    """Whether something that is not in ``installed`` may be there all the same: a listing that leaves it out."""

    def unmet(self) -> Iterator[tuple[InstalledDemand, InstalledDistribution | None]]:
        """Yield each demand that nothing installed meets, with what is installed instead."""
        for name, demands in self.by_name.items():
            have = self.installed.get(name)
            if have is None and self.may_be_there(name):
                continue
            for demand in demands:
                if have is None or not demand.accepts(have.version):
                    yield demand, have
