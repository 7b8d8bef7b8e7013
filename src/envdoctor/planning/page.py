"""A plan in words, for the person who is asked whether to go on."""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.model.plan import DownloadFiles, InstallFromLock, PatchFile, Plan

__all__ = ["plan_text"]

_PACKAGES_SHOWN = 12


def plan_text(plan: Plan, *, diffs: bool = True, verbose: bool = False) -> str:
    """Return the plan as lines of text; readable without colour."""
    return "\n".join(_lines(plan, diffs=diffs, verbose=verbose)) + "\n"


def _lines(plan: Plan, *, diffs: bool, verbose: bool) -> Iterator[str]:
    label = f" ({plan.label})" if plan.label else ""
    yield f"plan for `{plan.environment}`{label}" + (f", profile {plan.profile}" if plan.profile else "")
    if not plan.steps:
        yield "  nothing to do"
    for number, step in enumerate(plan.steps, 1):
        yield f"  {number}. {step.sentence}"
        if isinstance(step, InstallFromLock):
            yield from _packages(step, verbose=verbose)
        if isinstance(step, PatchFile) and diffs:
            yield from (f"     {line}" for line in step.diff.splitlines())
    if any(isinstance(step, DownloadFiles) for step in plan.steps):
        free = f" of {_size(plan.disk_free)} free" if plan.disk_free is not None else ""
        yield f"download {_size(plan.download_bytes)}; disk about {_size(plan.disk_bytes)}{free}"
    yield from (f"left out: {text}" for text in plan.skipped)
    yield from (f"note: {text}" for text in plan.notes)
    for refusal in plan.refusals:
        yield f"refused ({refusal.kind.value}): {refusal.message}"
        if refusal.remedy:
            yield f"  try: {refusal.remedy}"
    if plan.refusals:
        yield "nothing was changed"


def _packages(step: InstallFromLock, *, verbose: bool) -> Iterator[str]:
    before = dict(step.replaces)
    entries = [
        f"{file.name} {before[file.name]} -> {file.version}" if file.name in before else f"{file.name} {file.version}"
        for file in step.files
    ]
    shown = entries if verbose else entries[:_PACKAGES_SHOWN]
    for start in range(0, len(shown), 4):
        yield "     " + ", ".join(shown[start : start + 4])
    if len(shown) < len(entries):
        yield f"     and {len(entries) - len(shown)} more (--verbose lists them)"


def _size(number: int) -> str:
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.1f} MB"
