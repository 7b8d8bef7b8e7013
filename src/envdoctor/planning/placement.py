"""Which device each component should run on, from what its kernels said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from envdoctor.model.kernel import KernelResult, KernelStatus, Placement
from envdoctor.model.profile import PlacementRule
from envdoctor.model.unknown import SubjectKind

__all__ = ["describe_failure", "how_it_ended", "moved", "place"]

_WORDS = {
    KernelStatus.WRONG_ANSWER: "gave a wrong answer",
    KernelStatus.UNSUPPORTED: "is not supported",
    KernelStatus.CRASHED: "crashed",
    KernelStatus.TIMED_OUT: "did not answer in time",
    KernelStatus.OUT_OF_MEMORY: "ran out of memory",
    KernelStatus.SKIPPED: "could not be tried",
    KernelStatus.PASSED: "passed",
    KernelStatus.CONVERTED: "was converted and not asked",
}


def describe_failure(result: KernelResult) -> str:
    """Return in words how a kernel ended: ``gemm-float32 crashed (SIGABRT)``."""
    return f"{result.kernel} {how_it_ended(result)}"


def how_it_ended(result: KernelResult) -> str:
    """Return in words how a kernel ended, without its name: ``crashed (SIGABRT)``."""
    words = _WORDS[result.status]
    if result.detail:
        return f"{words} ({result.detail})"
    if result.status is KernelStatus.WRONG_ANSWER and result.error_relative is not None:
        return f"{words} (error {result.error_relative:.1e}, at most {result.tolerance or 0:.0e})"
    return words


def place(rules: Sequence[PlacementRule], results: Iterable[KernelResult]) -> tuple[Placement, ...]:
    """Return a placement for each rule.

    A component moves where a kernel that it needs failed and no setting helps; a kernel that passes under a setting
    keeps it where it is, with that setting among the reasons. On several devices the first one is meant, unless a
    kernel fails there and all that are needed pass on another.
    """
    by_device = _by_device(results)
    return tuple(_placed(rule, by_device) for rule in rules)


def moved(placement: Placement, rule: PlacementRule) -> bool:
    """Tell whether the component was sent away from the GPU because of what its kernels said."""
    return placement.away and not rule.always


def _by_device(results: Iterable[KernelResult]) -> dict[str, dict[str, KernelResult]]:
    devices: dict[str, dict[str, KernelResult]] = {}
    for result in results:
        if result.kernel not in ("import-torch", "all-reduce"):
            devices.setdefault(result.device, {})[result.kernel] = result
    return devices


def _placed(rule: PlacementRule, by_device: Mapping[str, Mapping[str, KernelResult]]) -> Placement:
    if rule.always:
        return Placement(rule.component, rule.otherwise, (rule.because,) if rule.because else ())
    reasons: tuple[str, ...] = ("no device could be tried",)
    for number, (device, results) in enumerate(by_device.items()):
        blocking = _blocking(rule, results)
        if not blocking and device != "none":
            return Placement(rule.component, device, _conditions(rule, results))
        if number == 0:
            reasons = blocking or reasons
    return Placement(rule.component, rule.otherwise, reasons, away=True)


def _blocking(rule: PlacementRule, results: Mapping[str, KernelResult]) -> tuple[str, ...]:
    context = results.get("device-context")
    if context is not None and context.failed:
        return (describe_failure(context),)  # That no kernel could be tried there follows from it.
    found = []
    for name in rule.needs:
        result = results.get(name)
        if result is None:
            found.append(f"{name} was not run")
        elif result.status is KernelStatus.SKIPPED:
            # What could not be asked (an older torch, an extension that is not there) is no proof against the device,
            # unless the device itself is why.
            if result.unknown is not None and result.unknown.subject.kind is SubjectKind.KERNEL:
                found.append(describe_failure(result))
        elif result.failed and result.setting is None:
            found.append(describe_failure(result))
    return tuple(found)


def _conditions(rule: PlacementRule, results: Mapping[str, KernelResult]) -> tuple[str, ...]:
    needed = (results[name] for name in rule.needs if name in results)
    return tuple(
        f"{describe_failure(item)}; it passes with {item.setting}" for item in needed if item.failed and item.setting
    )
