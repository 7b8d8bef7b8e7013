"""Finds the cheapest setting under which a failed kernel passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from envdoctor.adapters.smoke import kernel_catalogue
from envdoctor.adapters.smoke.startup_hook import VARIABLES as ENVIRONMENT
from envdoctor.adapters.smoke.supervisor import Item, Supervisor
from envdoctor.model.unknown import SubjectKind, Unknown

__all__ = ["bisect"]

GPU_ONLY = frozenset({"cudnn-off", "tf32-off", *ENVIRONMENT})
MOST_KERNELS = 12
"""So many are traced; on those after them only what has helped one of these is tried."""
_RETRIED = ("wrong-answer", "crashed", "timed-out", "unsupported")


def bisect(
    supervisor: Supervisor,
    outcomes: Mapping[str, Mapping[str, Any]],
    *,
    base: tuple[str, ...],
    own: Sequence[str],
    backend: str,
) -> tuple[dict[str, str], int]:
    """Return the setting for each kernel that has one, and how many children it took.

    ``base`` are the settings of the run, to which each trial adds one; ``own`` those that the environment's
    start-up hook has set. Switches are tried in one child for all kernels; variables need a child each, and only for
    kernels that no switch helps, or a dearer one.
    """
    open_ones = [name for name, outcome in outcomes.items() if _worth_trying(name, outcome)]
    failed, rest = open_ones[:MOST_KERNELS], open_ones[MOST_KERNELS:]
    rest += [name for name, outcome in outcomes.items() if _given_up(outcome)]
    wanted = {name: _remedies(name, (*base, *own), backend) for name in failed}
    switches = [
        Item(name, (*base, s), group=name, force=True) for name in failed for s in wanted[name] if s not in ENVIRONMENT
    ]
    passed: dict[str, list[str]] = {name: [] for name in failed}
    children = _try(supervisor, switches, {}, passed)
    for setting, variables in ENVIRONMENT.items():
        open_names = [
            name for name in failed if setting in wanted[name] and not _cheaper(wanted[name], passed[name], setting)
        ]
        children += _try(
            supervisor, [Item(name, (*base, setting), force=True) for name in open_names], variables, passed
        )
    cures = list(dict.fromkeys(min(found, key=wanted[name].index) for name, found in passed.items() if found))
    children += _cure(supervisor, rest, cures, base, own, backend, passed, wanted)
    best = {name: min(found, key=wanted[name].index) for name, found in passed.items() if found}
    return best, children


def _cure(
    supervisor: Supervisor,
    names: Sequence[str],
    cures: Sequence[str],
    base: tuple[str, ...],
    own: Sequence[str],
    backend: str,
    passed: dict[str, list[str]],
    wanted: dict[str, tuple[str, ...]],
) -> int:
    """Try on further kernels what has helped others, and nothing else; return how many children it took."""
    for name in names:
        wanted[name], passed[name] = _remedies(name, (*base, *own), backend), []
    switches = [
        Item(name, (*base, cure), group=name, force=True)
        for name in names
        for cure in cures
        if cure in wanted[name] and cure not in ENVIRONMENT
    ]
    children = _try(supervisor, switches, {}, passed)
    for cure in (cure for cure in cures if cure in ENVIRONMENT):
        open_names = [name for name in names if cure in wanted[name] and not passed[name]]
        items = [Item(name, (*base, cure), force=True) for name in open_names]
        children += _try(supervisor, items, ENVIRONMENT[cure], passed)
    return children


def _worth_trying(name: str, outcome: Mapping[str, Any]) -> bool:
    return (
        outcome.get("status") in _RETRIED and not outcome.get("lacking") and bool(kernel_catalogue.find(name).remedies)
    )


def _given_up(outcome: Mapping[str, Any]) -> bool:
    """Whether a kernel was not run since too many others had taken the device down before it."""
    unknown = outcome.get("unknown")
    return isinstance(unknown, Unknown) and unknown.subject is not None and unknown.subject.kind is SubjectKind.DEVICE


def _remedies(name: str, applied: Iterable[str], backend: str) -> tuple[str, ...]:
    spent = set(applied)
    return tuple(
        setting
        for setting in kernel_catalogue.find(name).remedies
        if setting not in spent
        and not (backend == "cpu" and setting in GPU_ONLY)
        and not (setting == "mkldnn-off" and backend != "cpu")
    )


def _cheaper(order: Sequence[str], passed: Sequence[str], setting: str) -> bool:
    return any(order.index(found) < order.index(setting) for found in passed)


def _try(
    supervisor: Supervisor, items: Sequence[Item], variables: Mapping[str, str], passed: dict[str, list[str]]
) -> int:
    if not items:
        return 0
    run = supervisor.run(items, variables)
    for item in items:
        if run.outcomes.get(item.key, {}).get("status") == "passed":
            passed[item.kernel].append(item.settings[-1])
    return run.children
