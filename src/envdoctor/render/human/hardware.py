"""Facts, kernels and placement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from envdoctor.model.fact import Fact, FactState
from envdoctor.model.kernel import KernelResult, KernelStatus, Placement
from envdoctor.render.human.console import Page, Span
from envdoctor.render.wording import fact_text, milliseconds, rate_text, size, speed_up

__all__ = ["write_facts", "write_kernels", "write_placement"]

_BAR_CELLS = 6
_FOLD_AT = 4
_NARROW = 64
"""Below this width columns leave no room for words."""
_DROPPED = ("peak memory", "device", "rate", "first")
"""Columns that a narrow terminal does without, first to last; the other formats have them all."""


def write_kernels(page: Page, kernels: Sequence[KernelResult]) -> None:
    """Write each kernel with its status, error and figures, and its speed-up over the CPU as a bar."""
    if not kernels:
        return
    page.blank()
    page.line(("kernels", "strong"), " (speed-up: over the same operation on the CPU)")
    fastest = max((speed_up(result) or 0.0 for result in kernels), default=0.0)
    several = len({result.device for result in kernels} - {"cpu", "none"}) > 1
    dropped = [name for name in _DROPPED if not (several and name == "device")]
    shown, folded = _folded(kernels, verbose=page.verbose)
    page.table(*_columns(page, [_cells(page, result, fastest) for result in shown], dropped), 2)
    for result in shown:
        told = [f"passed only with {result.setting}" if result.setting else "", result.detail or ""]
        if any(told):
            page.line(f"{result.kernel} on {result.device}: {'; '.join(filter(None, told))}", first="  - ")
    for reason, number in folded.items():
        page.line(f"{number} more skipped: {reason}", first="  - ")


def _folded(kernels: Sequence[KernelResult], *, verbose: bool) -> tuple[list[KernelResult], dict[str, int]]:
    """Return the kernels to show, and how many others were skipped for each reason that many share."""
    reasons = Counter(item.detail or "" for item in kernels if item.status is KernelStatus.SKIPPED)
    folded = {} if verbose else {reason: number for reason, number in reasons.items() if number >= _FOLD_AT}
    shown = [item for item in kernels if item.status is not KernelStatus.SKIPPED or (item.detail or "") not in folded]
    return (shown, folded) if shown else (list(kernels), {})


def _columns(
    page: Page, cells: Sequence[dict[str, Span]], droppable: Sequence[str]
) -> tuple[list[str], list[list[Span]]]:
    """Return the table with as many columns as fit; a column without a value is left out."""
    names = [name for name in cells[0] if any(row[name] for row in cells)]
    for dropped in (None, *droppable):
        names = [name for name in names if name != dropped]
        rows = [[row[name] for name in names] for row in cells]
        if page.fits(names, rows, 2):
            break
    return names, rows


def _cells(page: Page, result: KernelResult, fastest: float) -> dict[str, Span]:
    style = "good" if result.status is KernelStatus.PASSED else "error" if result.failed else "dim"
    ratio = speed_up(result)
    return {
        "kernel": (result.kernel, "strong"),
        "device": result.device,
        "status": (result.status.value, style),
        "error": f"{result.error_relative:.1e}" if result.error_relative is not None else "",
        "first": milliseconds(result.first_ms) if result.first_ms is not None else "",
        "time": milliseconds(result.steady_ms) if result.steady_ms is not None else "",
        "speed-up": f"{ratio:.1f}x {page.bar(ratio / fastest, _BAR_CELLS)}" if ratio is not None else "",
        "rate": rate_text(result),
        "peak memory": size(result.peak_bytes) if result.peak_bytes else "",
    }


def write_placement(page: Page, placement: Sequence[Placement]) -> None:
    """Write where each component should run, and why."""
    if not placement:
        return
    page.blank()
    page.line(("placement", "strong"))
    for item in placement:
        because = f", because {'; '.join(item.because)}" if item.because else ""
        page.line((item.component, "strong"), f" runs on {item.device}{because}", first="  ", rest="    ")


def write_facts(page: Page, facts: Sequence[Fact]) -> None:
    """Write each fact with its value and what answered; what was looked for in vain is said too."""
    if not facts:
        return
    page.blank()
    page.line(("facts", "strong"))
    names = min(max(len(fact.name) for fact in facts), page.width // 2 - 4)
    for fact in facts:
        told: tuple[Span, ...] = (
            (fact_text(fact), "" if fact.state is FactState.KNOWN else "dim"),
            (_answered(fact), "dim"),
        )
        if page.width < _NARROW or len(fact.name) > names:
            page.line((fact.name, "strong"), first="  ", rest="    ")
            page.line(*told, first="    ", rest="      ")
        else:
            page.line(*told, first=f"  {fact.name:<{names}}  ", rest=" " * (names + 4))


def _answered(fact: Fact) -> str:
    if fact.overridden_by:
        measured = f", in place of {fact.source}" if fact.source else ""
        return f" [set by {fact.overridden_by}{measured}]"
    return f" [{fact.source}]" if fact.source else ""
