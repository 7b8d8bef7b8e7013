"""Finds a setting under which a failed kernel passes: one that has helped another kernel, else the cheapest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    hasty: Callable[[bool], Supervisor] | None = None,
) -> tuple[dict[str, str], int]:
    """Return the setting for each kernel that has one, and how many children it took.

    ``base`` are the settings of the run, to which each trial adds one; ``own`` those that the device applies itself.
    What helps one kernel is tried first on the others. Kernels that hung come last, and wait in vain for a shorter
    time: ``hasty`` gives their supervisor, with True one whose time for all of them is bounded.
    """
    failed = [name for name, outcome in outcomes.items() if _worth_trying(name, outcome)]
    given_up = [name for name, outcome in outcomes.items() if _given_up(outcome)]
    hung = [name for name in failed if outcomes[name].get("status") == "timed-out"]
    others = [name for name in failed if name not in hung]
    trials = _Trials(base, {name: _remedies(name, (*base, *own), backend) for name in (*failed, *given_up)})
    # Of kernels with the same remedies the first speaks for all.
    heads = list({trials.wanted[name]: name for name in reversed(others)}.values())[::-1][:MOST_KERNELS]
    trials.trace(supervisor, heads)
    trials.cure(supervisor, others)
    trials.trace(supervisor, trials.uncured(others)[: MOST_KERNELS - len(heads)])
    trials.cure(supervisor, [*others, *given_up])
    short = hasty(False) if hasty is not None else supervisor
    bounded = hasty(True) if hasty is not None else supervisor
    trials.cure(short, hung)
    for name in hung:
        if trials.uncured([name]):
            trials.trace(bounded, [name])
            trials.cure(short, hung)
    trials.cure(supervisor, [*others, *given_up])
    return trials.best(), trials.children


class _Trials:
    """Which settings have been tried on which kernels, and what passed."""

    def __init__(self, base: tuple[str, ...], wanted: Mapping[str, tuple[str, ...]]) -> None:
        self.wanted = wanted
        self.children = 0
        self._base = base
        self._passed: dict[str, list[str]] = {name: [] for name in wanted}
        self._tried: set[tuple[str, str]] = set()

    def best(self) -> dict[str, str]:
        """Return the cheapest setting that passed, of each kernel that has one."""
        return {name: min(found, key=self.wanted[name].index) for name, found in self._passed.items() if found}

    def uncured(self, names: Iterable[str]) -> list[str]:
        """Return those for which nothing has been found."""
        return [name for name in names if not self._passed[name]]

    def trace(self, supervisor: Supervisor, names: Sequence[str]) -> None:
        """Try every remedy: switches in one child for all kernels; variables, which need a child each, after them."""
        self._try(supervisor, [(name, one) for name in names for one in self.wanted[name] if one not in ENVIRONMENT])
        for setting in ENVIRONMENT:
            self._try(supervisor, [(name, setting) for name in names if self._is_cheaper(name, setting)], setting)

    def cure(self, supervisor: Supervisor, names: Sequence[str]) -> None:
        """Try on further kernels what has helped others, and nothing else."""
        cures = set(self.best().values())
        names = self.uncured(names)
        pairs = [(name, one) for name in names for one in self.wanted[name] if one in cures]
        self._try(supervisor, [pair for pair in pairs if pair[1] not in ENVIRONMENT])
        for setting in (one for one in ENVIRONMENT if one in cures):
            self._try(
                supervisor, [(name, one) for name, one in pairs if one == setting and self.uncured([name])], setting
            )

    def _is_cheaper(self, name: str, setting: str) -> bool:
        order = self.wanted[name]
        return setting in order and all(order.index(setting) < order.index(found) for found in self._passed[name])

    def _try(self, supervisor: Supervisor, pairs: Sequence[tuple[str, str]], variables: str = "") -> None:
        pairs = [pair for pair in pairs if pair not in self._tried]
        if not pairs:
            return
        items = [
            Item(name, (*self._base, setting), group=None if variables else name, force=True) for name, setting in pairs
        ]
        run = supervisor.run(items, ENVIRONMENT.get(variables, {}))
        self.children += run.children
        for item, pair in zip(items, pairs, strict=True):
            status = run.outcomes.get(item.key, {}).get("status")
            if status == "passed":
                self._passed[item.kernel].append(pair[1])
            if status not in (None, "skipped"):
                self._tried.add(pair)


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
