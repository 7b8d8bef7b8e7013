"""Phrases that the formats made for people share, and in which lines they say what a report speaks of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from envdoctor.model.fact import Fact, FactState
from envdoctor.model.finding import Evidence, Finding, Severity, Waiver, in_words
from envdoctor.model.project import FileLeftOut, LeftOut
from envdoctor.render.reasons import reason

if TYPE_CHECKING:
    from envdoctor.model.conflict import Conflict, GroupOutcome
    from envdoctor.model.kernel import KernelResult
    from envdoctor.model.report import Report, Scope, Setting
    from envdoctor.model.resolution import Resolution

__all__ = [
    "count",
    "error_text",
    "evidence_text",
    "fact_text",
    "headline",
    "holds",
    "judged",
    "milliseconds",
    "other_findings",
    "python_text",
    "rate_text",
    "resolution_text",
    "restated",
    "scope_lines",
    "size",
    "speed_up",
    "status_text",
    "subject_line",
    "versions",
    "why",
]

_MOST = 6
_TOLD = (LeftOut.DENIED, LeftOut.ANOTHER_TARGET)
"""Reasons that are always said."""


def scope_lines(report: Report, *, everything: bool = False) -> tuple[tuple[str, str], ...]:
    """Return what was looked at, as labels and texts; none where a report has no scope.

    Without ``everything`` long lists are cut, and what is usual is left out.
    """
    return tuple(_lines(report.scope, everything=everything))


def _lines(scope: Scope, *, everything: bool) -> Iterator[tuple[str, str]]:
    most = None if everything else _MOST
    read = [f"{one.path} ({one.form})" if everything else one.path for one in scope.read]
    if read:
        yield "read", _listed(read, most)
    if scope.asked:
        yield "asked for", _listed([str(name) for name in scope.asked], most)
    if scope.beside:
        yield "beside it, deciding nothing", _listed([_outcome(one) for one in scope.beside], most)
    if scope.not_read:
        left = [_left_out(one, everything=everything) for one in scope.not_read]
        yield "not read", _listed(left, most)
    if scope.environments:
        yield "environment", ", ".join(scope.environments)
    if everything and scope.index_settings:
        yield "index", ", ".join(f"{one.value} ({one.origin})" for one in scope.index_settings)
    if everything and scope.upload_settings:
        yield "uploaded before", ", ".join(map(_uploaded, scope.upload_settings))
    if everything and scope.target_facts:
        yield "target", ", ".join(f"{one.name} {one.value} ({one.origin})" for one in scope.target_facts)


def _uploaded(one: Setting) -> str:
    """Return until when files may have been uploaded, and who says so."""
    return f"{one.value or 'any time'} ({', '.join(filter(None, (one.name, one.origin)))})"


def _left_out(one: FileLeftOut, *, everything: bool) -> str:
    if not everything and one.reason not in _TOLD:
        return one.path
    return f"{one.path} ({one.reason.value}{f': {one.detail}' if one.detail else ''})"


def _listed(texts: Sequence[str], most: int | None) -> str:
    if most is None or len(texts) <= most:
        return ", ".join(texts)
    return f"{', '.join(texts[:most])} and {len(texts) - most} more"


def holds(outcome: GroupOutcome) -> bool | None:
    """Return whether a list beside the main one holds on the target; None where it was not judged."""
    return None if outcome.unknown is not None else not (outcome.conflicts or outcome.without_file or outcome.lacks)


def why(outcome: GroupOutcome) -> str:
    """Return why it was not judged or does not hold here, or where else; empty where that is all."""
    if outcome.unknown is not None:
        return reason(outcome.unknown)
    if outcome.lacks:
        more = f" and {len(outcome.lacks) - 1} more" if len(outcome.lacks) > 1 else ""
        return f"it does not have `{outcome.lacks[0]}`{more}"
    if outcome.conflicts or not outcome.without_file:
        return f"holds on {outcome.elsewhere}" if outcome.elsewhere else ""
    more = f" and {len(outcome.without_file) - 1} more" if len(outcome.without_file) > 1 else ""
    return f"none of the files that it names of {outcome.without_file[0]}{more} can be used"


def _outcome(outcome: GroupOutcome) -> str:
    said = why(outcome)
    if outcome.unknown is not None:
        return f"{outcome.name} (not judged: {said})"
    if holds(outcome):
        return f"{outcome.name} (holds)"
    if not outcome.conflicts:
        return f"{outcome.name} (does not hold here: {said})"
    return f"{outcome.name} ({said or 'cannot hold'})"


"""Rules that say each conflict again, as a finding."""


def count(number: int, singular: str, plural: str | None = None) -> str:
    """Return ``1 error`` or ``2 errors``."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def versions(items: Sequence[str]) -> str:
    """Return ``1.0``, ``1.0 and 1.1``, or ``1.0 to 1.9 (10 versions)``."""
    if len(items) > 2:
        return f"{items[0]} to {items[-1]} ({len(items)} versions)"
    return " and ".join(items)


def size(number: int) -> str:
    """Return a number of bytes in the largest decimal unit that leaves at least one: ``2.1 GB``."""
    value = float(number)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit in ("bytes", "kB") else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError("the last unit takes any number")


def headline(report: Report) -> str:
    """Return what was found, in one phrase: ``2 conflicts, 1 error, 3 warnings``."""
    accepted = [waiver for conflict in report.conflicts if (waiver := waiver_of(report, conflict)) is not None]
    open_ones = len(report.conflicts) - len(accepted)
    parts = [count(open_ones, "conflict")] if open_ones else []
    if accepted:
        by = in_words(list(dict.fromkeys(waiver.source for waiver in accepted)))
        parts.append(f"{count(len(accepted), 'conflict')} accepted by {by}")
    tally = dict.fromkeys(Severity, 0)
    for finding in other_findings(report):
        tally[finding.severity] += 1
    names = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
    parts += [count(number, names[severity]) for severity, number in tally.items() if number]
    failed = sum(result.failed for result in report.kernels)
    if failed:
        missing = any(_lacks_torch(result) for result in report.kernels)
        parts.append("torch is not there" if missing else f"{failed} of {count(len(report.kernels), 'kernel')} failed")
    if not judged(report):
        return _facts_headline(report.facts)
    where = "" if report.complete else " in what could be looked at"
    if accepted and len(parts) == 1:
        return f"nothing open{where}, {parts[0]}"
    return ", ".join(parts) or f"nothing found{where}"


def judged(report: Report) -> bool:
    """Return whether anything was judged: ``host`` only tells facts, about which no verdict is due."""
    told = report.conflicts or report.findings or report.kernels or report.resolution or not report.complete
    return bool(told) or report.command != "host" or not report.facts


def _facts_headline(facts: Sequence[Fact]) -> str:
    unknown = sum(fact.state is FactState.UNKNOWN for fact in facts)
    return count(len(facts), "fact") + (f", {unknown} unknown" if unknown else "")


def _lacks_torch(result: KernelResult) -> bool:
    from envdoctor.model.kernel import KernelStatus

    return result.kernel == "import-torch" and result.status is KernelStatus.UNSUPPORTED


def python_text(report: Report) -> str:
    """Return the Python of the report's target, empty where it has none."""
    return report.target.python_version if report.target else ""


def subject_line(report: Report) -> str:
    """Return the target and the profile in one phrase; empty where neither is known."""
    nobody_says = ["target not known"] if report.command == "check" else []
    parts = [str(report.target)] if report.target else nobody_says
    if report.profile:
        parts.append(f"profile {report.profile}")
    return "; ".join(parts)


def restated(report: Report, conflict: Conflict) -> Finding | None:
    """Return the finding that says ``conflict`` in one sentence: it fails the check, the block explains it."""
    return next((finding for finding in report.findings if finding.conflict == conflict.id), None)


def waiver_of(report: Report, conflict: Conflict) -> Waiver | None:
    """Return what accepts a conflict, None where it is open."""
    finding = restated(report, conflict)
    return finding.waived if finding is not None else None


def other_findings(report: Report, *, waived: bool = False) -> list[Finding]:
    """Return the open findings, with ``waived`` all, that do not merely restate a conflict, the worst first."""
    told = [restated(report, conflict) for conflict in report.conflicts]
    asked = report.findings if waived else report.open_findings
    found = [item for item in asked if not any(item is other for other in told)]
    return sorted(found, key=lambda finding: finding.severity.rank)


def resolution_text(resolution: Resolution) -> str:
    """Return the resolution in one phrase: packages, wheels, source distributions, bytes to download."""
    files = [package.file for package in resolution.packages]
    sdists = sum(file.kind.value == "sdist" for file in files)
    parts = [count(len(files), "package"), count(len(files) - sdists, "wheel")]
    if sdists:
        parts.append(count(sdists, "source distribution"))
    known = [file.size for file in files if file.size is not None]
    if known:
        unknown = len(files) - len(known)
        least = "at least " if unknown else ""
        parts.append(f"{least}{size(sum(known))} to download")
    stand_ins = sum(file.stand_in for file in files)
    if stand_ins:
        parts.append(f"{count(stand_ins, 'stand-in')} for an index that could not be reached")
    return ", ".join(parts)


def fact_text(fact: Fact) -> str:
    """Return a fact's value, or what is known of its absence."""
    if fact.state is FactState.ABSENT:
        return "absent"
    if fact.state is FactState.UNKNOWN:
        return f"unknown: {fact.reason}" if fact.reason else "unknown"
    return _value_text(fact.name, fact.value)


def _value_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name.endswith("_bytes"):
        return size(value)
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value) or "none"
    return str(value)


def speed_up(result: KernelResult) -> float | None:
    """Return how many times faster than the CPU a passed kernel ran, where both were timed."""
    if result.status.value != "passed" or not result.steady_ms or not result.reference_ms:
        return None
    ratio = result.reference_ms / result.steady_ms
    return ratio if math.isfinite(ratio) else None


def rate_text(result: KernelResult) -> str:
    """Return a kernel's rate beside what the card can do at most: ``3.3 of 66.9 TFLOP/s``; empty where unknown."""
    if result.rate is None or result.rate_unit is None or not math.isfinite(result.rate):
        return ""
    limit = result.rate_limit
    return f"{_figures(result.rate)}{f' of {_figures(limit)}' if limit else ''} {result.rate_unit}"


def _figures(value: float) -> str:
    """Return a number with three figures and no exponent: ``0.445``, ``66.9``, ``1071``."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def status_text(result: KernelResult) -> str:
    """Return a kernel's status with the setting that made it pass."""
    return f"{result.status.value} with {result.setting}" if result.setting else result.status.value


def milliseconds(value: float) -> str:
    """Return a time with three figures: ``0.74 ms``, ``12.3 ms``, ``1.27 s``."""
    if not math.isfinite(value):
        return "unknown time"
    if value >= 1000:
        return f"{value / 1000:.2f} s"
    return f"{value:.2f} ms" if value < 10 else f"{value:.1f} ms" if value < 100 else f"{value:.0f} ms"


def error_text(result: KernelResult) -> str:
    """Return a kernel's error beside the error it may have."""
    return f"{result.error_relative:.2g} of {result.tolerance:.2g}"


def evidence_text(item: Evidence) -> str:
    """Return one sign with the place it was seen."""
    return f"{item.where}: {item.what}" if item.where else item.what
