"""What ``compare`` found, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdoctor.model.report import Change, Deviation, Outlier

__all__ = ["change_lines", "outlier_lines"]


def change_lines(changes: Sequence[Change], *, verbose: bool) -> Iterator[str]:
    """Yield what differs between two, what matters first."""
    if not changes:
        yield "no difference"
        return
    matter = [change for change in changes if change.matters]
    rest = [change for change in changes if not change.matters]
    if matter:
        yield "what matters"
        yield from (f"  {_change(change)}" for change in matter)
    if rest and verbose:
        yield "the rest"
        yield from (f"  {_change(change)}" for change in rest)
    elif rest:
        yield _left_out(len(rest))


def _left_out(count: int) -> str:
    if count == 1:
        return "1 further difference that hardly matters; --verbose shows it"
    return f"{count} further differences that hardly matter; --verbose shows them"


def _change(change: Change) -> str:
    because = f" ({change.because})" if change.because else ""
    what = change.about if change.about == change.name else f"{change.about} {change.name}"
    return f"{what}: {change.before or 'absent'} -> {change.after or 'absent'}{because}"


def outlier_lines(outliers: Sequence[Outlier], *, verbose: bool) -> Iterator[str]:
    """Yield which of many reports differ from most of them, and where."""
    told = [item for item in outliers if item.weight or (verbose and item.deviations)]
    alike = len(outliers) - len(told)
    yield (
        f"{len(outliers)} reports: {alike} alike, {len(told)} not like the others"
        if told
        else (f"{len(outliers)} reports: all alike in what matters")
    )
    for item in told:
        where = f" (rank {item.rank} on {item.host})" if item.rank is not None else ""
        yield f"{item.report}{where}: {item.verdict}"
        yield from (f"  {_deviation(one)}" for one in item.deviations if one.matters or verbose)
    left = sum(len(item.deviations) - item.weight for item in outliers)
    if left and not verbose:
        yield _left_out(left)


def _deviation(one: Deviation) -> str:
    what = one.about if one.about == one.name else f"{one.about} {one.name}"
    if one.about == "rate":
        return f"{what}: {one.value}; the median of {one.share} is {one.usual}"
    return f"{what}: {one.value or 'absent'}; {one.share} have {one.usual or 'nothing'}"
