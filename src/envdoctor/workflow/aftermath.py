"""What is to be said of an environment once it was treated: where pip itself sees something else, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from packaging.version import InvalidVersion, Version

from envdoctor.model.finding import Evidence, Finding, Remedy, Severity, Waiver
from envdoctor.model.plan import PlannedFile

__all__ = ["disagreements"]


def disagreements(
    files: Sequence[PlannedFile],
    versions: Mapping[str, str] | None,
    complaints: Sequence[tuple[str, str, str]],
    accepted: Sequence[tuple[str, tuple[str, ...]]],
    *,
    source: str,
) -> tuple[Finding, ...]:
    """Return a finding for each difference between the plan and what installers see.

    ``complaints`` are of ``pip check`` or ``uv pip check``: consumer, name, line. Those that an accepted override or
    an exclusion explains are waived, with that reason; none is hidden.
    """
    return (*_missing(files, versions, source), *_complaints(complaints, accepted, source))


def _missing(files: Sequence[PlannedFile], versions: Mapping[str, str] | None, source: str) -> Iterator[Finding]:
    if versions is None:
        return
    for file in files:
        seen = versions.get(file.name)
        if seen is not None and _same(seen, file.version):
            continue
        what = f"sees {seen}" if seen is not None else "does not see it"
        yield Finding(
            rule="ENV030",
            name="installer-disagrees",
            severity=Severity.ERROR,
            subject=file.name,
            message=f"`{file.name}` {file.version} was installed, and {source} {what}",
            evidence=(Evidence(seen or "not listed", source),),
            remedy=Remedy("take the fix back and try the other installer", commands=("envdoctor undo",)),
        )


def _same(one: str, other: str) -> bool:
    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return one == other


def _complaints(
    complaints: Sequence[tuple[str, str, str]], accepted: Sequence[tuple[str, tuple[str, ...]]], source: str
) -> Iterator[Finding]:
    reasons = dict(accepted)
    for consumer, name, line in complaints:
        replaces = reasons.get(name)
        finding = Finding(
            rule="ENV031",
            name="installer-check-complains",
            severity=Severity.WARNING,
            subject=consumer,
            message=f"the installer's own check says: {line.rstrip('.')}",
            evidence=(Evidence(line, source),),
        )
        if replaces is not None and (not replaces or consumer in replaces):
            reason = f"the lock sets this demand of `{consumer}` on `{name}` aside on purpose"
            finding = finding.waive(Waiver(reason, ".envdoctor/pylock.toml"))
        yield finding
