"""Facts, kernels and placement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from envdoctor.model.fact import Fact, FactState
from envdoctor.model.kernel import KernelResult, KernelStatus, Placement
from envdoctor.render.human.canvas import Canvas, Span, cell_width
from envdoctor.render.wording import fact_text, milliseconds, rate_text, size, speed_up

__all__ = ["write_facts", "write_kernels", "write_placement"]

_BAR_CELLS = 6
_FOLD_AT = 4
_DROPPED = ("peak memory", "device", "rate", "first")
"""Columns that a narrow terminal does without, first to last; the other formats have them all."""


def write_kernels(canvas: Canvas, kernels: Sequence[KernelResult]) -> None:
    """Write each kernel with its status, error and figures, and its speed-up over the CPU as a bar."""
    if not kernels:
        return
    canvas.blank()
    canvas.line(("kernels", "strong"), " (speed-up: over the same operation on the CPU)")
    fastest = max((speed_up(result) or 0.0 for result in kernels), default=0.0)
    several = len({result.device for result in kernels} - {"cpu", "none"}) > 1
    dropped = [name for name in _DROPPED if not (several and name == "device")]
    shown, folded = _folded(kernels, verbose=canvas.verbose)
    canvas.columns("  ", _rows(canvas, [_cells(canvas, result, fastest) for result in shown], dropped))
    for result in shown:
        told = [f"passed only with {result.setting}" if result.setting else "", result.detail or ""]
        if any(told):
            canvas.line(f"{result.kernel} on {result.device}: {'; '.join(filter(None, told))}", first="  - ")
    for reason, number in folded.items():
        canvas.line(f"{number} more skipped: {reason}", first="  - ")


def _folded(kernels: Sequence[KernelResult], *, verbose: bool) -> tuple[list[KernelResult], dict[str, int]]:
    """Return the kernels to show, and how many others were skipped for each reason that many share."""
    reasons = Counter(item.detail or "" for item in kernels if item.status is KernelStatus.SKIPPED)
    folded = {} if verbose else {reason: number for reason, number in reasons.items() if number >= _FOLD_AT}
    shown = [item for item in kernels if item.status is not KernelStatus.SKIPPED or (item.detail or "") not in folded]
    return (shown, folded) if shown else (list(kernels), {})


def _rows(canvas: Canvas, cells: Sequence[dict[str, Span]], droppable: Sequence[str]) -> list[list[Span]]:
    """Return the table with as many columns as fit; a column without a value is left out."""
    names = [name for name in cells[0] if any(row[name] for row in cells)]
    for dropped in (None, *droppable):
        names = [name for name in names if name != dropped]
        header: list[Span] = [(name, "dim") for name in names]
        rows = [header, *([row[name] for name in names] for row in cells)]
        if canvas.fits("  ", rows):
            break
    return rows


def _cells(canvas: Canvas, result: KernelResult, fastest: float) -> dict[str, Span]:
    style = {KernelStatus.PASSED: "good", KernelStatus.SKIPPED: "dim"}.get(result.status, "error")
    ratio = speed_up(result)
    return {
        "kernel": (result.kernel, "strong"),
        "device": result.device,
        "status": (result.status.value, style),
        "error": f"{result.error_relative:.1e}" if result.error_relative is not None else "",
        "first": milliseconds(result.first_ms) if result.first_ms is not None else "",
        "time": milliseconds(result.steady_ms) if result.steady_ms is not None else "",
        "speed-up": f"{ratio:.1f}x {canvas.bar(ratio / fastest, _BAR_CELLS)}" if ratio is not None else "",
        "rate": rate_text(result),
        "peak memory": size(result.peak_bytes) if result.peak_bytes else "",
    }


def write_placement(canvas: Canvas, placement: Sequence[Placement]) -> None:
    """Write where each component should run, and why."""
    if not placement:
        return
    canvas.blank()
    canvas.line(("placement", "strong"))
    for item in placement:
        because = f", because {'; '.join(item.because)}" if item.because else ""
        canvas.line((item.component, "strong"), f" runs on {item.device}{because}", first="  ", rest="    ")


def write_facts(canvas: Canvas, facts: Sequence[Fact]) -> None:
    """Write each fact with its value and what answered; what was looked for in vain is said too."""
    if not facts:
        return
    canvas.blank()
    canvas.line(("facts", "strong"))
    names = min(max(cell_width(fact.name) for fact in facts), canvas.width // 2 - 4)
    for fact in facts:
        style = "" if fact.state is FactState.KNOWN else "dim"
        spans: list[Span] = [(fact_text(fact), style), (_answered(fact), "dim")]
        if canvas.narrow or cell_width(fact.name) > names:
            canvas.line((fact.name, "strong"), first="  ", rest="    ")
            canvas.line(*spans, first="    ", rest="      ")
        else:
            canvas.line(
                *spans, first="  " + fact.name + " " * (names - cell_width(fact.name) + 2), rest=" " * (names + 4)
            )


def _answered(fact: Fact) -> str:
    if fact.overridden_by:
        measured = f", in place of {fact.source}" if fact.source else ""
        return f"  [set by {fact.overridden_by}{measured}]"
    return f"  [{fact.source}]" if fact.source else ""
