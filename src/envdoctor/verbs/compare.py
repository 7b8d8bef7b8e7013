"""``compare``: what differs between two reports or environments, and which of many reports is not like the others."""

from __future__ import annotations

import json
import os
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from envdoctor.adapters.read_files import read_file
from envdoctor.diagnose.environment_differences import compare_environments
from envdoctor.model.environment import InstalledEnvironment
from envdoctor.model.report import SCHEMA, Change, Deviation, Outlier
from envdoctor.ports import UsageError

__all__ = [
    "Point",
    "between_environments",
    "between_reports",
    "find_outliers",
    "read_report",
    "read_reports",
    "rows_of",
]

SLOWER = 0.8
"""A rate below this part of the median of all is told; runs of one card differ by a few hundredths."""
SHORTEST_MS = 0.5
"""Calls shorter than this are the launch, not the work: their rates differ from run to run."""
_FEWEST_REPORTS = 2
_LARGEST = 256 * 1024 * 1024
"""Bytes of a report."""
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
    # Not by `rglob`, which ends where a folder goes away meanwhile.
    paths = sorted(Path(root, name) for root, _, names in os.walk(folder) for name in names if name.endswith(".json"))
    read = {path.relative_to(folder).as_posix(): read_report(path) for path in paths if os.path.lexists(path)}
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


_FAMILY = SCHEMA.partition("/")[0] + "/"
_ROWS = {
    "facts": ("name", "state"),
    "kernels": ("kernel", "device", "status"),
    "findings": ("rule", "name", "subject", "severity"),
    "conflicts": (),
}
"""The lists that are compared, with the strings that each of their rows has."""


def read_report(path: Path) -> Mapping[str, Any] | None:
    """Return a report's document, None where the path is something else. Raises UsageError."""
    if not path.exists():
        raise UsageError(f"`{path}`: there is no such file or directory")
    if not path.is_file():
        return None
    try:
        content = read_file(path, _LARGEST)
    except OSError as error:
        raise UsageError(f"`{path}`: it cannot be read: {error.strerror or error}") from error
    if path.suffix != ".json" and not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return None
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise UsageError(f"`{path}` is not JSON: {reason}") from error
    if not _is_report(document):
        return None
    fault = _shape_fault(document)
    if fault is not None:
        raise UsageError(f"`{path}`: {fault}")
    report: Mapping[str, Any] = document
    return report


def _environment(path: Path) -> InstalledEnvironment:
    """Return an environment, or the listing of one. Raises UsageError."""
    from envdoctor.verbs.patient import PatientChoice, open_patient

    listing = path.is_file() and path.suffix.lower() in (".txt", ".json", ".log", ".lst", "")
    program = path.is_file() and path.name.lower().startswith("python")
    choice = PatientChoice(installed=path) if listing and not program else PatientChoice(env=path)
    environment = open_patient(replace(choice, imports=False, machine=False)).environment
    if environment is None:
        raise UsageError(f"`{path}` is neither an environment nor a listing of one")
    return environment


def _is_report(document: object) -> bool:
    """Return whether a document says that it is a report, of whatever schema number."""
    return isinstance(document, Mapping) and str(document.get("schema", "")).startswith(_FAMILY)


def _shape_fault(document: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a report, by key path; None where it can be compared."""
    if document["schema"] != SCHEMA:
        return f"schema: `{document['schema']}` is not the schema that this envdoctor reads, `{SCHEMA}`"
    return next(_faults(document), None)


def _faults(document: Mapping[str, Any]) -> Iterator[str]:
    for key in ("target", "resolution"):
        if not isinstance(document.get(key), Mapping | None):
            yield f"{key}: must be an object or null"
            return
    rows = {key: (document.get(key, []), names) for key, names in _ROWS.items()}
    resolution = document.get("resolution")
    if resolution is not None:
        rows["resolution.packages"] = (resolution.get("packages"), ("name", "version"))
    for key, (entries, names) in rows.items():
        yield from _row_faults(key, entries, names)
    for number, entry in enumerate(document.get("conflicts", [])):
        yield from _row_faults(f"conflicts[{number}].core", entry.get("core"), ("requirement",))


def _row_faults(key: str, entries: object, names: tuple[str, ...]) -> Iterator[str]:
    if not isinstance(entries, list):
        yield f"{key}: must be an array"
        return
    for number, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            yield f"{key}[{number}]: must be an object"
            return
        missing = [name for name in names if not isinstance(entry.get(name), str)]
        if missing:
            yield f"{key}[{number}].{missing[0]}: must be a string"


_GPU_FACTS = ("gpu", "driver", "torch", "cuda", "rocm", "os", "arch", "python", "zluda")
_DEVICE_FACTS = ("smoke.device", "smoke.backend", "smoke.torch", "smoke.capability", "smoke.memory_bytes")
_BINARY_PACKAGES = ("torch", "nvidia-", "onnxruntime", "ctranslate2", "numpy", "triton", "cuda-", "tensorflow", "jax")


class Point(NamedTuple):
    """Something in which reports can differ."""

    about: str
    name: str
    matters: bool


def between_environments(before: Path, after: Path) -> tuple[Change, ...]:
    """Return the differences of two environments or listings, what matters most first. Raises UsageError."""
    return compare_environments(_environment(before), _environment(after))


def between_reports(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return the differences of two reports (JSON documents of the shape of ``report_shape``), what matters first."""
    found = [*_plain(before, after), *_packages(before, after), *_facts(before, after), *_kernels(before, after)]
    found += [*_findings(before, after), *_conflicts(before, after)]
    return tuple(sorted(found, key=lambda change: not change.matters))


def points_of(report: Mapping[str, Any]) -> Iterator[tuple[Point, str]]:
    """Yield every point of a report in which it can differ from others of the same work, with its value.

    Which of its cards a rank had is no such point.
    """
    for key in ("verdict", "complete", "profile"):
        yield Point(key, key, True), _text(report.get(key)) or "none"
    for key, value in (report.get("target") or {}).items():
        if key != "probed":
            yield Point("target", key, True), _text(value) or "none"
    for name, version in _versions(report.get("resolution") or {"packages": ()}).items():
        yield Point("package", name, name.startswith(_BINARY_PACKAGES)), version
    for item in rows_of(report, "facts"):
        if item["name"] != "smoke.index":
            yield Point("fact", item["name"], _tells(item["name"])), _fact(item)
    for item in rows_of(report, "kernels"):
        # What was not run says nothing: the first rank of a host runs the all-reduce for all of them.
        if item["status"] != "skipped":
            yield Point("kernel", kernel_name(item), True), item["status"]
    for item in rows_of(report, "findings"):
        matters = item["severity"] in ("error", "warning")
        yield Point("finding", f"{item['rule']} {item['name']}: {item['subject']}", matters), item["severity"]
    for item in rows_of(report, "conflicts"):
        yield Point("conflict", " with ".join(each["requirement"] for each in item["core"]), True), "cannot hold"


def kernel_name(row: Mapping[str, Any]) -> str:
    """Return a kernel and its kind of device, without the number of the card."""
    return f"{row['kernel']} on {row['device'].partition(':')[0]}"


def _plain(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for key in ("verdict", "complete", "profile"):
        if before.get(key) != after.get(key):
            yield Change(key, key, _text(before.get(key)), _text(after.get(key)), matters=True)
    one, other = before.get("target"), after.get("target")
    if one is None or other is None:
        return  # One of them judged no target: that is no difference of targets.
    for key in sorted({*one, *other} - {"probed"}):
        if one.get(key) != other.get(key):
            yield Change("target", key, _text(one.get(key)), _text(other.get(key)), matters=True)


def _packages(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    one, other = before.get("resolution"), after.get("resolution")
    if one is None or other is None:
        if one is not other and before.get("command") == after.get("command"):
            yield Change("resolution", "resolution", _size(one), _size(other), matters=True)
        return
    for name, left, right in _pairs(_versions(one), _versions(other)):
        matters = name.startswith(_BINARY_PACKAGES)
        yield Change("package", name, left, right, matters, "binaries are built for each other" if matters else "")


def _facts(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    if not rows_of(before, "facts") or not rows_of(after, "facts"):
        return  # Where nothing was measured, nothing is absent.
    one = {item["name"]: _fact(item) for item in rows_of(before, "facts")}
    other = {item["name"]: _fact(item) for item in rows_of(after, "facts")}
    for name, left, right in _pairs(one, other):
        yield Change("fact", name, left, right, matters=_tells(name))


def _tells(fact: str) -> bool:
    """Return whether a fact bears on what runs on the card."""
    return fact.startswith((*_GPU_FACTS, *_DEVICE_FACTS))


def _kernels(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    one = {f"{item['kernel']} on {item['device']}": item["status"] for item in rows_of(before, "kernels")}
    other = {f"{item['kernel']} on {item['device']}": item["status"] for item in rows_of(after, "kernels")}
    for name, left, right in _pairs(one, other):
        yield Change("kernel", name, left, right, matters=left is not None and right is not None)


def _findings(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    one, other = (
        {f"{item['rule']} {item['name']}: {item['subject']}": item["severity"] for item in rows_of(report, "findings")}
        for report in (before, after)
    )
    for name, left, right in _pairs(one, other):
        yield Change("finding", name, left, right, matters="error" in (left, right) or "warning" in (left, right))


def _conflicts(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    one, other = (
        {" with ".join(member["requirement"] for member in item["core"]): "cannot hold" for item in rows}
        for rows in (rows_of(before, "conflicts"), rows_of(after, "conflicts"))
    )
    for name, left, right in _pairs(one, other):
        yield Change("conflict", name, left, right, matters=True)


def _pairs(one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[tuple[str, str | None, str | None]]:
    for name in sorted({*one, *other}):
        if one.get(name) != other.get(name):
            yield name, one.get(name), other.get(name)


def _versions(resolution: Mapping[str, Any]) -> dict[str, str]:
    return {item["name"]: item["version"] for item in resolution["packages"]}


def _size(resolution: Mapping[str, Any] | None) -> str | None:
    return None if resolution is None else f"{len(resolution['packages'])} packages"


def rows_of(report: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """Return a list of a report, empty where it has none."""
    rows = report.get(key)
    return rows if isinstance(rows, list) else ()


def _fact(item: Mapping[str, Any]) -> str:
    return _text(item.get("value")) or "" if item.get("state") == "known" else str(item.get("state"))


def _text(value: Any) -> str | None:
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)
