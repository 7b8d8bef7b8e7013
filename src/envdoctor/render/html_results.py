"""The part of the HTML page with tables: kernels, placement, packages and facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envdoctor.model.fact import FactState
from envdoctor.model.kernel import KernelResult, KernelStatus
from envdoctor.render.html_parts import FOLD_AT, code, code_of_paths, listing, section, table, text_of
from envdoctor.render.html_plots import kernel_plots, size_plot
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

if TYPE_CHECKING:
    from envdoctor.model.fact import Fact
    from envdoctor.model.report import Report
    from envdoctor.model.resolution import ResolvedPackage
    from envdoctor.render import RenderOptions

__all__ = ["facts_section", "kernels_section", "packages_section", "placement_section"]


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
