"""``compare`` over a folder of reports: which of many machines or ranks is not like the others."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from envdoctor.model.comparison import Deviation, Outlier
from envdoctor.ports import UsageError
from envdoctor.verbs.compare import kernel_name, points_of, read_report, rows_of

__all__ = ["find_outliers", "read_reports"]

SLOWER = 0.8
"""A rate below this part of the median of all is told; runs of one card differ by a few hundredths."""
SHORTEST_MS = 0.5
"""Calls shorter than this are the launch, not the work: their rates differ from run to run."""
_FEWEST_REPORTS = 2
_RARE = frozenset({"finding", "conflict"})
"""Sections that a report without any has looked at all the same; where another is missing, nothing of it was."""
_ASKED = frozenset({"kernel"})
"""Sections in which what is missing was not asked for."""

Report = Mapping[str, Any]


def read_reports(folder: Path) -> dict[str, Report]:
    """Return the reports below a folder by their path in it. Raises UsageError where there are fewer than two."""
    if not folder.exists():
        raise UsageError(f"`{folder}`: there is no such file or directory")
    if not folder.is_dir():
        raise UsageError(f"what is `{folder}` compared with? give another, or a folder of reports in its place")
    read = {path.relative_to(folder).as_posix(): read_report(path) for path in sorted(folder.rglob("*.json"))}
    found = {name: report for name, report in read.items() if report is not None}
    if len(found) < _FEWEST_REPORTS:
        have = "one report" if found else "no report"
        raise UsageError(f"`{folder}` has {have} of `--format json`; two or more can be compared")
    return found


def find_outliers(reports: Mapping[str, Report]) -> tuple[Outlier, ...]:
    """Return every report with its deviations from the majority, those with most of them first."""
    points = {name: dict(points_of(report)) for name, report in reports.items()}
    every = dict.fromkeys(point for of_one in points.values() for point in of_one)
    usual = {point: Counter(of_one.get(point) for of_one in points.values()).most_common(1)[0] for point in every}
    medians = _median_rates(reports.values())
    found = []
    for name, report in reports.items():
        sections = {point.about for point in points[name]}
        deviations = [
            Deviation(point.about, point.name, points[name].get(point), value, share, point.matters)
            for point, (value, share) in usual.items()
            if points[name].get(point) != value and (point in points[name] or point.about in sections - _ASKED | _RARE)
        ]
        deviations += _slow(report, medians)
        rank = report.get("rank") or {}
        ordered = tuple(sorted(deviations, key=lambda item: not item.matters))
        found.append(Outlier(name, rank.get("host"), rank.get("rank"), str(report.get("verdict")), ordered))
    return tuple(sorted(found, key=lambda item: (-item.weight, -len(item.deviations), item.report)))


def _rates(report: Report) -> Iterator[tuple[str, float, str]]:
    for item in rows_of(report, "kernels"):
        rate = item.get("rate")
        steady = item.get("steady_ms")
        long_enough = not isinstance(steady, int | float) or steady >= SHORTEST_MS
        if isinstance(rate, int | float) and item["status"] == "passed" and long_enough:
            yield kernel_name(item), float(rate), str(item.get("rate_unit") or "")


def _median_rates(reports: Iterable[Report]) -> dict[str, tuple[float, int]]:
    found: dict[str, list[float]] = {}
    for report in reports:
        for name, rate, _ in _rates(report):
            found.setdefault(name, []).append(rate)
    return {name: (statistics.median(rates), len(rates)) for name, rates in found.items() if len(rates) > 1}


def _slow(report: Report, medians: Mapping[str, tuple[float, int]]) -> Iterator[Deviation]:
    for name, rate, unit in _rates(report):
        median, count = medians.get(name, (0.0, 0))
        if rate < SLOWER * median:
            yield Deviation("rate", name, f"{rate:.3g} {unit}", f"{median:.3g} {unit}", count, matters=True)
