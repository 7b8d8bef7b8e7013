"""What is said aloud of a lock that is written: it is not silently something else than was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.model.finding import Severity
from envdoctor.model.repair import Override, Repair
from envdoctor.model.report import Report
from envdoctor.model.resolution import Resolution

__all__ = ["lock_notes"]

_MOST = 12
_NOWHERE = "python_version < '0'"


def lock_notes(report: Report, resolution: Resolution, repair: Repair | None) -> tuple[str, ...]:
    """Return the repair that is locked with what it sets aside, errors that stay open, and metadata that pip refuses.

    ``report`` already counts as accepted what the lock settles.
    """
    return (*_repair(repair), *_errors(report), *_mended(resolution))


def _repair(repair: Repair | None) -> Iterator[str]:
    if repair is None:
        return
    source = " (the profile's)" if repair.from_profile else ""
    yield f"locked with repair {repair.id}{source}, which sets aside what was asked for:"
    lines = [line for override in repair.overrides for line in _aside(override)]
    yield from (f"  {line}" for line in lines[:_MOST])
    if len(lines) > _MOST:
        yield f"  and {len(lines) - _MOST} more; `envdoctor check --verbose` lists them"


def _aside(override: Override) -> Iterator[str]:
    marker = str(override.requirement.marker or "").replace('"', "'")
    instead = "left out" if marker == _NOWHERE else f"replaced by `{override.requirement}`"
    yield from (f"`{aside}` ({aside.origin}): {instead}" for aside in override.sets_aside)


def _errors(report: Report) -> Iterator[str]:
    errors = [item for item in report.open_findings if item.severity is Severity.ERROR]
    if errors:
        number = f"{len(errors)} error{'s' if len(errors) > 1 else ''}"
        yield f"{number} {'are' if len(errors) > 1 else 'is'} known of what is locked; `envdoctor check` lists them"


def _mended(resolution: Resolution) -> Iterator[str]:
    named = [f"`{package.name}` {package.version}" for package in resolution.packages if package.mended]
    if named:
        yield (
            f"pip 24.1 and later refuse {', '.join(named)}, for the metadata is not valid; uv installs "
            f"{'it' if len(named) == 1 else 'them'}"
        )
