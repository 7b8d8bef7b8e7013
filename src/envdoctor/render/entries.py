"""What a format for machines reports one by one: conflicts, findings and kernels that failed."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from envdoctor.model.conflict import Conflict
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Finding, Severity, Waiver, in_words
from envdoctor.model.kernel import KernelResult
from envdoctor.model.origin import FileOrigin
from envdoctor.model.report import Report
from envdoctor.model.requirement import Requirement
from envdoctor.model.unknown import SubjectKind
from envdoctor.render.conflict_wording import bystanders, chain, placed, rejection_lines, remedy_text
from envdoctor.render.untrusted import one_line
from envdoctor.render.wording import count, other_findings, restated, versions

__all__ = ["Entry", "entries", "repository_path"]


_SHOWN_WAYS = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to report."""

    family: str
    """``conflicts``, a family of rules (``RES``), or ``kernels``."""
    rule: str
    """The finding's rule; ``conflict`` or ``kernel-failed`` where no finding speaks for it."""
    name: str
    severity: Severity
    subject: str
    message: str
    """One line."""
    details: tuple[str, ...] = ()
    remedy: str = ""
    location: FileOrigin | None = None
    conflict: str = ""
    """Its id, where it is one."""
    related: tuple[Requirement, ...] = ()
    """The other members of a conflict."""
    identity: str = ""
    """Text that stays the same when lines move and conflicts are numbered anew."""
    waived: Waiver | None = None

    @property
    def title(self) -> str:
        """``RES102 source-only``."""
        return self.rule if self.rule == self.name else f"{self.rule} {self.name}"


def entries(report: Report) -> list[Entry]:
    """Return conflicts, then findings worst first, then failed kernels that no finding names."""
    return [
        *(_of_conflict(report, item) for item in report.conflicts),
        *map(_of_finding, other_findings(report, waived=True)),
        *_failed_kernels(report),
    ]


def _of_conflict(report: Report, conflict: Conflict) -> Entry:
    finding = restated(report, conflict)
    members = in_words([placed(item) for item in conflict.core])
    clash = conflict.clash
    several = f"cannot be installed together: they need different versions of {clash.package}"
    verb = several if len(conflict.core) > 1 else "cannot be installed on the target"
    where = f"environment `{conflict.environment}`: " if conflict.environment else ""
    chains = [" > ".join(chain(conflict, side)) for side in clash.sides]
    others = bystanders(conflict) if len(conflict.core) > 1 else []
    chains += [f"{in_words(others)} leaves no other version"] if others else []
    available = f"this target can have {clash.package} {versions(clash.available[::-1])}" if clash.available else ""
    in_files = [item for item in conflict.core if isinstance(item.origin, FileOrigin)]
    location = in_files[0].origin if in_files else None
    return Entry(
        family="conflicts",
        rule=finding.rule if finding else "conflict",
        name=finding.name if finding else "conflict",
        severity=finding.severity if finding else Severity.ERROR,
        subject=clash.package,
        message=f"{where}{members} {verb}",
        details=tuple(filter(None, (*chains, *rejection_lines(clash), available))),
        remedy=_repairs(report, conflict),
        location=_here(location),
        conflict=conflict.id,
        related=tuple(item for item in conflict.core if item is not (in_files[0] if in_files else None)),
        identity=where + " + ".join(sorted(str(item) for item in conflict.core)),
        waived=finding.waived if finding else None,
    )


def _here(location: object) -> FileOrigin | None:
    """Return a place of the project itself: what stands in another repository has no line to be marked here."""
    return location if isinstance(location, FileOrigin) and not location.elsewhere else None


def _repairs(report: Report, conflict: Conflict) -> str:
    offered = [item for item in report.repairs if conflict.id in item.resolves]
    if not offered:
        return remedy_text(report, conflict)
    ways = [in_words(list(dict.fromkeys(str(override.requirement) for override in item.overrides))) for item in offered]
    more = f"; or {count(len(ways) - _SHOWN_WAYS, 'other repair')}" if len(ways) > _SHOWN_WAYS else ""
    return f"replace by {'; or by '.join(ways[:_SHOWN_WAYS])}{more}"


def _of_finding(finding: Finding) -> Entry:
    remedy = finding.remedy
    parts = [remedy.summary, *map(str, remedy.commands)] if remedy else []
    return Entry(
        family=finding.rule.rstrip("0123456789") or finding.rule,
        rule=finding.rule,
        name=finding.name,
        severity=finding.severity,
        subject=one_line(finding.subject),
        message=one_line(finding.message),
        details=tuple(one_line(f"{item.where}: {item.what}" if item.where else item.what) for item in finding.evidence),
        remedy=": ".join(one_line(part) for part in parts if part),
        location=_here(finding.location),
        identity=one_line(finding.message),
        waived=finding.waived,
    )


def _failed_kernels(report: Report) -> Iterator[Entry]:
    told = {item.subject for item in report.findings if item.subject_kind is SubjectKind.KERNEL}
    for result in report.kernels:
        if result.failed and result.kernel not in told:
            yield _of_kernel(result)


def _of_kernel(result: KernelResult) -> Entry:
    detail = f": {one_line(result.detail)}" if result.detail else ""
    said = f"{result.kernel} on {result.device}: {result.status.value}{detail}"
    return Entry(
        "kernels", "kernel-failed", "kernel-failed", Severity.ERROR, result.kernel, said, identity=result.device
    )


def repository_path(path: str, project_root: str | None) -> str | None:
    """Return ``path`` relative to the repository, None where it points outside or is absolute."""
    if path.startswith(("/", "\\")) or path[1:2] == ":":
        return None
    joined_path = posixpath.normpath(posixpath.join(project_root or "", path.replace("\\", "/")))
    return None if joined_path in (".", "..") or joined_path.startswith(("../", "/")) else joined_path
