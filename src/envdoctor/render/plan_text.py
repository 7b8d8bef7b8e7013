"""A plan in words, for the person who is asked whether to go on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdoctor.model.finding import Finding
from envdoctor.model.plan import Plan
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.step import DownloadFiles, InstallFromLock, PatchFile
from envdoctor.render.conflict_wording import set_aside
from envdoctor.render.reasons import message_of, refusal_text, refusals_text

__all__ = ["known_errors", "known_lines", "plan_of_refusals", "plan_text", "plans_text", "unasked_lines"]

_PACKAGES_SHOWN = 12
_ERRORS_SHOWN = 5


def known_errors(errors: Sequence[Finding], of_what: str, check: str) -> Iterator[str]:
    """Yield a line that says how many errors are known, then each with its remedy; nothing where there are none.

    ``check`` is the command that lists all of them.
    """
    if not errors:
        return
    number = f"{len(errors)} errors are" if len(errors) > 1 else "1 error is"
    yield f"{number} known of {of_what}:"
    for item in errors[:_ERRORS_SHOWN]:
        yield f"  {item.rule} {item.name}: {message_of(item)}"
        if item.remedy is not None:
            commands = [f"`{each}`" for each in item.remedy.commands]
            yield f"    try: {'; '.join((item.remedy.summary.removesuffix('.'), *commands))}"
    if len(errors) > _ERRORS_SHOWN:
        yield f"  and {len(errors) - _ERRORS_SHOWN} more; `{check}` lists them"


def known_lines(plans: Sequence[Plan], check: str) -> Iterator[str]:
    """Yield what is known to fail of what will be installed, for a person to read before the plans."""
    for plan in plans:
        where = f" into `{plan.environment}`" if len(plans) > 1 else ""
        yield from known_errors(plan.known_errors, f"what will be installed{where}", check)


def unasked_lines(plans: Sequence[Plan], check: str) -> Iterator[str]:
    """Yield what nobody is asked about and must be told of all the same: what is set aside, and what will fail."""
    for plan in plans:
        if plan.steps:
            yield from _repair(plan, f"`{plan.environment}` is made ")
    yield from known_lines(plans, check)


def plans_text(plans: Sequence[Plan], check: str, *, verbose: bool) -> str:
    """Return the plans as text, what is known to fail first."""
    known = "".join(f"{line}\n" for line in known_lines(plans, check))
    return "\n".join([*([known] if known else []), *(plan_text(plan, verbose=verbose) for plan in plans)])


def plan_of_refusals(environment: str, project: str, refusals: Sequence[Refusal]) -> Plan:
    """Return a plan that does nothing: where none could be made, the reasons take its place."""
    return Plan((), environment, project, refusals=(Refusal(RefusalKind.PLAN, environment, refusals_text(refusals)),))


def plan_text(plan: Plan, *, verbose: bool = False) -> str:
    """Return the plan as lines of text; readable without colour."""
    return "\n".join(_lines(plan, verbose=verbose)) + "\n"


def _lines(plan: Plan, *, verbose: bool) -> Iterator[str]:
    label = f" ({plan.label})" if plan.label else ""
    yield f"plan for `{plan.environment}`{label}" + (f", profile {plan.profile}" if plan.profile else "")
    yield from (f"  {line}" for line in _repair(plan))
    if not plan.steps and not plan.refusals:
        yield "  nothing to do"
    for number, step in enumerate(plan.steps, 1):
        yield f"  {number}. {step.sentence}"
        if isinstance(step, InstallFromLock):
            yield from _packages(step, verbose=verbose)
        if isinstance(step, PatchFile):
            yield from (f"     {line}" for line in step.diff.splitlines())
    if any(isinstance(step, DownloadFiles) for step in plan.steps):
        free = f" of {_size(plan.disk_free)} free" if plan.disk_free is not None else ""
        yield f"download {_size(plan.download_bytes)}; disk about {_size(plan.disk_bytes)}{free}"
    yield from (f"left out: {text}" for text in plan.skipped)
    yield from (f"note: {text}" for text in plan.notes)
    for refusal in plan.refusals:
        # What is not known is told with the package that it is not known of.
        why = refusal.message if refusal.message and refusal.wrong else refusal_text(refusal)
        yield f"refused ({refusal.kind.value}): {why}"
        if refusal.remedy:
            yield f"  try: {refusal.remedy}"
    if plan.refusals:
        yield "nothing was changed"


def _repair(plan: Plan, before: str = "") -> Iterator[str]:
    if plan.repair is not None:
        yield f"{before}with repair {plan.repair.id}, which sets aside what was asked for:"
        yield from set_aside(plan.repair)
        yield from (f"  caution: {caution}" for caution in plan.repair.cautions)


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
