"""Environment markers, evaluated so that one which makes no sense is an answer and not an accident."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from packaging.markers import Marker

__all__ = ["holds", "may_hold"]


def holds(
    marker: Marker | None,
    environment: Mapping[str, str] | None,
    context: Literal["metadata", "lock_file", "requirement"] = "metadata",
) -> bool | None:
    """Return whether a marker (PEP 508) holds in an environment; None where it cannot be evaluated.

    ``os_name ~= 'posix'`` compares words as versions, ``'x' in extras`` belongs in locks: the grammar admits them and
    evaluation does not. No marker holds everywhere; no environment means that of this process.
    """
    if marker is None:
        return True
    try:
        return marker.evaluate(environment and dict(environment), context=context)
    except Exception:  # noqa: BLE001 - packaging raises what its comparisons raise, of several kinds
        return None


def may_hold(marker: Marker | None, environment: Mapping[str, str] | None) -> bool:
    """Return whether a marker holds, or cannot be evaluated: what is not known to be left out counts."""
    return holds(marker, environment) is not False
