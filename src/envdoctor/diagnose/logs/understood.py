"""Whether what was pasted could be read; apart from the readers, which most runs do not need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envdoctor.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from envdoctor.model.finding import Finding

__all__ = ["is_understood"]


def is_understood(findings: Iterable[Finding]) -> bool:
    """Return whether every paste was understood, and every failure of the log or at least another one beside it."""
    return not any(item.rule.startswith("LOG") and item.severity is not Severity.INFO for item in findings)
