"""What a careful person would be told before taking a repair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envdoctor.model.repair import Override
from envdoctor.model.resolution import Resolution
from envdoctor.resolve.universe import Universe

__all__ = ["left_out_unasked"]


def left_out_unasked(universe: Universe, overrides: Iterable[Override], resolution: Resolution) -> Iterator[str]:
    """Yield what a repair leaves out because it cannot be had: nobody decided that it is not needed."""
    for override in overrides:
        name = override.requirement.name
        if override.because or resolution.get(name) is not None or name in universe.unknown:
            continue
        if name in universe.missing:
            yield f"no index has `{name}`, and it is left out"
        else:
            yield f"`{name}` has no version for this target and is left out"
