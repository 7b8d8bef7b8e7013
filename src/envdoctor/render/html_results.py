"""The part of the HTML page with tables and plots: kernels, placement, packages and facts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from envdoctor.model.fact import Fact, FactState
from envdoctor.model.kernel import KernelResult, KernelStatus
from envdoctor.model.report import Report
from envdoctor.model.resolution import ResolvedPackage
from envdoctor.render import RenderOptions
from envdoctor.render.html_parts import FOLD_AT, code, code_of_paths, listing, section, table, text_of
from envdoctor.render.wording import (
    count,
    error_text,
    fact_text,
    judged,
    milliseconds,
    python_text,
    rate_text,
    resolution_text,
    size,
    speed_up,
    status_text,
)

__all__ = ["facts_section", "kernels_section", "packages_section", "placement_section"]

_LARGEST = 12
_DECADES_OF_ERROR = (-6, 2)


def kernel_plots(kernels: Sequence[KernelResult]) -> str:
    """Return what was measured of kernels: times, rates, and errors beside what is allowed."""
    return "".join(filter(None, (_times(kernels), _rates(kernels), _errors(kernels))))


def _times(kernels: Sequence[KernelResult]) -> str:
    timed = [item for item in kernels if item.status is KernelStatus.PASSED and item.steady_ms]
    both = [value for item in timed for value in (item.steady_ms, item.reference_ms) if value and math.isfinite(value)]
    if len(timed) < 2:
        return ""
    low, high = math.floor(math.log10(min(both))), math.ceil(math.log10(max(both)))
    high = max(high, low + 1)
    rows = []
    for item in timed:
        device, cpu = (_place(value, low, high) for value in (item.steady_ms, item.reference_ms))
        ratio = speed_up(item)
        marks = "" if cpu is None or device is None else _span(device, cpu)
        marks += _dot(cpu, "cpu") + _dot(device)
        told = f"{milliseconds(item.steady_ms or 0)}{f', {ratio:.1f}x' if ratio else ''}"
        rows.append(_row(_named(item), marks, told))
    ticks = [(power, _power_of_ten(power)) for power in range(low, high + 1)]
    key = '<p class="key">filled: on the device; hollow: the same on the CPU; further left is faster</p>'
    return _figure("Time of a call", rows, _axis(ticks, low, high), key)


def _rates(kernels: Sequence[KernelResult]) -> str:
    rows = []
    for item in kernels:
        if item.rate and item.rate_limit and math.isfinite(item.rate):
            share = min(100.0, 100 * item.rate / item.rate_limit)
            rows.append(_row(_named(item), _bar(share), rate_text(item)))
    return _figure("Rate, of what the card can do at most", rows)


def _errors(kernels: Sequence[KernelResult]) -> str:
    low, high = _DECADES_OF_ERROR
    rows = []
    for item in kernels:
        if not item.tolerance or item.error_relative is None or not math.isfinite(item.error_relative):
            continue
        ratio = max(item.error_relative / item.tolerance, 10.0**low)
        marks = f'<i class="limit" style="inset-inline-start: {_place(1.0, low, high):.1f}%"></i>'
        marks += _dot(_place(ratio, low, high), "over" if ratio > 1 else "")
        rows.append(_row(_named(item), marks, error_text(item)))
    ticks = [(low, "a millionth"), (-3, "a thousandth"), (0, "tolerance")]
    return _figure("Error, beside the error that it may have", rows, _axis(ticks, low, high))


def size_plot(packages: Sequence[ResolvedPackage]) -> str:
    """Return the largest files of a resolution, wheels and source distributions told apart by colour."""
    known = [(item.file.size, item) for item in packages if item.file.size]
    known.sort(key=lambda pair: -pair[0])
    if len(known) < 2:
        return ""
    most = known[0][0]
    rows = []
    for number, item in known[:_LARGEST]:
        kind = item.file.kind.value
        rows.append(_row(code(item.name), _bar(100 * number / most, kind), f"{size(number)}, {kind}"))
    title = f"The {len(rows)} largest files" if len(known) > len(rows) else "Files by size"
    return _figure(title, rows)


def _named(item: KernelResult) -> str:
    return code(item.kernel) if item.device in ("", "cuda:0", "cpu") else f"{code(item.kernel)} {text_of(item.device)}"


def _place(value: float | None, low: int, high: int) -> float | None:
    """Return where on a track a value lies, in percent, by its logarithm."""
    if not value or not math.isfinite(value):
        return None
    return min(100.0, max(0.0, 100 * (math.log10(value) - low) / (high - low)))


def _dot(place: float | None, kind: str = "") -> str:
    return "" if place is None else f'<i class="dot {kind}" style="inset-inline-start: {place:.1f}%"></i>'


def _span(one: float, other: float) -> str:
    start, end = sorted((one, other))
    return f'<i class="span" style="inset-inline: {start:.1f}% {100 - end:.1f}%"></i>'


def _bar(share: float, kind: str = "") -> str:
    return f'<i class="{kind}" style="inset-inline: 0 {100 - max(share, 0.5):.1f}%"></i>'


def _row(name: str, marks: str, value: str) -> str:
    track = f'<div class="track" aria-hidden="true">{marks}</div>'
    return f'<div class="row"><div>{name}</div>{track}<div class="value">{text_of(value)}</div></div>'


def _axis(ticks: Iterable[tuple[int, str]], low: int, high: int) -> str:
    return "".join(_ticks(ticks, low, high))


def _ticks(ticks: Iterable[tuple[int, str]], low: int, high: int) -> Iterator[str]:
    for number, (power, text) in enumerate(ticks):
        # On a phone there is room for every other one.
        minor = ' class="minor"' if number % 2 else ""
        place = 100 * (power - low) / (high - low)
        yield f'<span{minor} style="inset-inline-start: {place:.1f}%">{text_of(text)}</span>'


def _power_of_ten(power: int) -> str:
    """Return 10 to a power, in milliseconds, as a word of an axis."""
    return f"{10.0**power:g} ms" if power < 3 else f"{10.0 ** (power - 3):g} s"


def _figure(title: str, rows: Sequence[str], axis: str = "", key: str = "") -> str:
    if not rows:
        return ""
    below = (
        f'<div class="row"><div></div><div class="axis" aria-hidden="true">{axis}</div><div></div></div>'
        if axis
        else ""
    )
    return (
        f'<figure><figcaption>{text_of(title)}</figcaption><div class="plot">{"".join(rows)}{below}</div>{key}</figure>'
    )


def kernels_section(kernels: Sequence[KernelResult]) -> str:
    """Return which kernels passed, and their figures."""
    if not kernels:
        return ""
    header = (
        "kernel",
        "device",
        "status",
        "error",
        "first call",
        "time",
        "on the CPU",
        "speed-up",
        "rate",
        "memory",
        "detail",
    )
    figures = table("Every kernel against its reference answer", header, [_kernel_row(item) for item in kernels])
    plots = kernel_plots(kernels)
    failed = [item for item in kernels if item.failed]
    lines = listing(
        f'<span class="bad">{text_of(status_text(item))}</span> {code(item.kernel)} {text_of(item.device)}'
        + (f": {text_of(item.detail)}" if item.detail else "")
        for item in failed
    )
    passed = sum(item.status is KernelStatus.PASSED for item in kernels)
    told = f"<p>{passed} of {count(len(kernels), 'kernel')} passed</p>{lines}"
    unfolded = "" if plots else " open"
    folded = f"<details{unfolded}><summary>All figures</summary>{figures}</details>"
    return section("Kernels", f"{told}{plots}{folded}")


def _kernel_row(result: KernelResult) -> list[str]:
    fine = not result.failed
    ratio = speed_up(result)
    known = result.error_relative is not None and result.tolerance is not None
    return [
        code(result.kernel),
        text_of(result.device),
        f'<span class="{"good" if fine else "bad"}">{text_of(status_text(result))}</span>',
        text_of(error_text(result)) if known else "",
        *(milliseconds(item) if item is not None else "" for item in (result.first_ms, result.steady_ms)),
        milliseconds(result.reference_ms) if result.reference_ms is not None else "",
        f"{ratio:.1f}x" if ratio is not None else "",
        text_of(rate_text(result)),
        size(result.peak_bytes) if result.peak_bytes else "",
        text_of(result.detail or ""),
    ]


def placement_section(report: Report) -> str:
    """Return where each component runs."""
    rows = [
        [text_of(item.component), text_of(item.device), text_of("; ".join(item.because))] for item in report.placement
    ]
    if not rows:
        return ""
    return section("Placement", table("Where each component runs", ("component", "device", "because"), rows))


def facts_section(report: Report, options: RenderOptions) -> str:
    """Return what was measured and what is not known."""
    known = [fact for fact in report.facts if fact.state is FactState.KNOWN]
    others = [fact for fact in report.facts if fact.state is not FactState.KNOWN]
    folded = len(known) > FOLD_AT and judged(report) and not options.verbose
    body = _fact_table("What was measured, and what told it", known)
    if folded:
        body = f"<details><summary>{count(len(known), 'fact')}</summary>\n{body}\n</details>"
    if others:
        table_of_others = _fact_table("What is not there, or not known", others)
        unfolded = " open" if options.verbose or len(others) <= FOLD_AT else ""
        told = f"{len(others)} more: absent or unknown"
        body += f"\n<details{unfolded}><summary>{told}</summary>\n{table_of_others}\n</details>"
    return section("Facts", body)


def _fact_table(title: str, facts: Sequence[Fact]) -> str:
    rows = [
        [code_of_paths(fact.name), text_of(fact_text(fact)), text_of(fact.source), text_of(fact.overridden_by or "")]
        for fact in facts
    ]
    header = ["fact", "value", "source", "set by"]
    if not any(row[-1] for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    return table(title, header, rows, find="fact") if rows else ""


def packages_section(report: Report, options: RenderOptions) -> str:
    """Return the packages that were chosen for the target, of each environment."""
    if report.parts:
        return "\n".join(filter(None, (packages_section(part, options) for part in report.parts)))
    resolution = report.resolution
    if resolution is None:
        return ""
    using = f"With repair {resolution.repair}" if resolution.repair else "As the requirements stand"
    header = ("package", "version", "from", "size", "index", "file")
    rows = [_package_row(item) for item in resolution.packages]
    packages = table("Packages for the target", header, rows) if rows else ""
    folded = packages if options.verbose else f"<details><summary>All packages</summary>\n{packages}\n</details>"
    where = f" of {report.environment} on Python {python_text(report)}" if report.environment else ""
    told = f"<p>{text_of(f'{using}: {resolution_text(resolution)}')}</p>"
    return section(f"Packages{where}", f"{told}\n{size_plot(resolution.packages)}{folded}")


def _package_row(item: ResolvedPackage) -> list[str]:
    kind = item.file.kind.value
    risk = f" ({item.build_risk.value})" if item.build_risk else ""
    return [
        code(item.name),
        text_of(str(item.version)),
        text_of(kind) if kind == "wheel" else f'<span class="bad">{text_of(kind + risk)}</span>',
        size(item.file.size) if item.file.size is not None else "unknown",
        text_of(item.file.index),
        code_of_paths(item.file.filename),
    ]
