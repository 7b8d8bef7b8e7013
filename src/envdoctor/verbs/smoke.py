"""The verb ``smoke``: kernels on the device, and what follows from them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envdoctor.diagnose.advisories.log_reading import known_causes
from envdoctor.model.finding import Applicability, Evidence, Finding, Remedy, Severity
from envdoctor.model.kernel import KernelResult, KernelStatus, Placement, SmokeOutcome, SmokeRequest
from envdoctor.model.profile import PlacementRule, Profile
from envdoctor.model.report import Report
from envdoctor.model.target import Target
from envdoctor.model.unknown import SubjectKind
from envdoctor.planning.placement import describe_failure, how_it_ended, place
from envdoctor.toml_tables import Document, Fault, did_you_mean

if TYPE_CHECKING:
    from envdoctor.adapters.smoke.runner import ChildRunner

__all__ = ["CODES", "UnknownKernel", "chosen_kernels", "smoke", "unknown_names"]

_RULES = {
    KernelStatus.WRONG_ANSWER: ("GPU001", "kernel-wrong-answer"),
    KernelStatus.CRASHED: ("GPU002", "kernel-crashed"),
    KernelStatus.TIMED_OUT: ("GPU003", "kernel-timed-out"),
    KernelStatus.OUT_OF_MEMORY: ("GPU004", "kernel-out-of-memory"),
    KernelStatus.UNSUPPORTED: ("GPU005", "kernel-unsupported"),
}
_STAGES = {"import-torch": ("GPU006", "torch-does-not-import"), "device-context": ("GPU007", "device-unavailable")}
_SLOWER = ("GPU008", "slower-than-cpu")
CODES: Mapping[str, str] = dict([*_RULES.values(), *_STAGES.values(), _SLOWER])
"""Every code that is reported here, with its rule's name."""


class UnknownKernel(Exception):
    """A kernel was asked for that does not exist."""

    def __init__(self, names: Sequence[str]) -> None:
        listed = ", ".join(f"`{name}`" for name in names)
        super().__init__(f"there is no kernel called {listed}")
        self.names = tuple(names)


def smoke(
    runner: ChildRunner,
    *,
    profile: Profile | None = None,
    target: Target | None = None,
    backend: str | None = None,
    kernels: Sequence[str] = (),
    device: int | None = None,
    all_devices: bool = False,
    environment: Mapping[str, str] | None = None,
    settings: Sequence[str] | None = None,
    bisect: bool = True,
    timeout_scale: float = 1.0,
    time_limit_s: float = 600.0,
) -> Report:
    """Run kernels and say what they mean.

    ``backend`` None takes the profile's, else what torch offers. Without ``kernels``, those that the profile names and
    its placements need; without a profile, all. ``settings`` None: the profile's; others where the environment sets
    them by itself, which is then proved. Raises UnknownKernel, or OSError without an interpreter.
    """
    begin = time.perf_counter()
    request = SmokeRequest(
        kernels=chosen_kernels(runner.known(), profile, kernels),
        backend=backend or (profile.target.backend.value if profile is not None else "auto"),
        forced=frozenset(kernels),
        settings=tuple(settings) if settings is not None else (profile.smoke.settings if profile is not None else ()),
        environment={**(profile.environment if profile is not None else {}), **(environment or {})},
        device=device,
        all_devices=all_devices,
        bisect=bisect,
        timeout_scale=timeout_scale,
        time_limit_s=time_limit_s,
    )
    return _report(runner.run(request), profile, target, begin)


def _report(outcome: SmokeOutcome, profile: Profile | None, target: Target | None, begin: float) -> Report:
    rules = profile.placements if profile is not None else ()
    placement = place(rules, outcome.results) if rules else ()
    findings = (*_findings(outcome.results, rules, placement), *known_causes(outcome.results, profile, target))
    return Report(
        command="smoke",
        target=target,
        profile=profile.name if profile is not None else None,
        complete=not any(_unasked(result) for result in outcome.results),
        findings=findings,
        facts=outcome.facts,
        kernels=outcome.results,
        placement=placement,
        timings={**outcome.timings, "total_s": round(time.perf_counter() - begin, 3)},
    )


def chosen_kernels(known: Sequence[str], profile: Profile | None, asked: Sequence[str]) -> tuple[str, ...]:
    """Return the names to run. Raises UnknownKernel."""
    if asked:
        wanted = list(asked)
    elif profile is not None:
        needs = [name for rule in profile.placements if not rule.always for name in rule.needs]
        wanted = [*profile.smoke.kernels, *profile.smoke.workloads, *needs] or list(known)
    else:
        wanted = list(known)
    wrong = [name for name in dict.fromkeys(wanted) if name not in known]
    if wrong:
        raise UnknownKernel(wrong)
    return tuple(dict.fromkeys(wanted))


def _unasked(result: KernelResult) -> bool:
    """Tell whether a kernel was skipped because the device was given up."""
    return result.unknown is not None and result.unknown.subject.kind is SubjectKind.DEVICE


def _findings(
    results: Sequence[KernelResult], rules: Sequence[PlacementRule], placement: Sequence[Placement]
) -> Iterable[Finding]:
    for result in results:
        if result.failed:
            yield _finding(result, rules, placement)
    slower = [result for result in results if result.slower and result.status is KernelStatus.PASSED]
    if slower:
        yield _slower_finding(slower)


def _finding(result: KernelResult, rules: Sequence[PlacementRule], placement: Sequence[Placement]) -> Finding:
    code, name = _STAGES.get(result.kernel) or _RULES[result.status]
    # What a backend lacks is a fact about it; it is an error only where a component needs it and has no other place.
    needed = result.kernel in _STAGES or any(result.kernel in rule.needs for rule in rules)
    lacking = result.status is KernelStatus.UNSUPPORTED and not needed
    mild = lacking or _covered(result, rules, placement)
    # What is not there has nothing to show beyond the message.
    absent = result.kernel in _STAGES and result.status is KernelStatus.UNSUPPORTED
    evidence = [] if absent else [Evidence(describe_failure(result), result.device)]
    if result.error_relative is not None:
        limit = f"tolerance {result.tolerance:.0e}" if result.tolerance else "it must be exact"
        evidence.append(Evidence(f"relative error {result.error_relative:.2e}, {limit}", result.device))
    return Finding(
        rule=code,
        name=name,
        severity=Severity.WARNING if mild else Severity.ERROR,
        subject=result.kernel,
        subject_kind=SubjectKind.KERNEL,
        message=_message(result),
        evidence=tuple(evidence),
        remedy=_remedy(result, rules, placement),
    )


def _message(result: KernelResult) -> str:
    if result.kernel in _STAGES and result.status is KernelStatus.UNSUPPORTED:
        what = "torch is not in the environment" if result.kernel == "import-torch" else "the device does not open"
        return f"{what}: {result.detail}" if result.detail else what
    where = "" if result.device == "none" else f" on `{result.device}`"
    return f"`{result.kernel}`{where} {how_it_ended(result)}"


def _covered(result: KernelResult, rules: Sequence[PlacementRule], placement: Sequence[Placement]) -> bool:
    """Tell whether every component that needs the kernel is placed where it works, so that nothing is broken."""
    if result.kernel == "import-torch":
        return False
    needing = {rule.component for rule in rules if result.kernel in rule.needs or result.kernel == "device-context"}
    placed = {item.component for item in placement}
    if needing:
        return needing <= placed
    return result.setting is not None


def _remedy(result: KernelResult, rules: Sequence[PlacementRule], placement: Sequence[Placement]) -> Remedy | None:
    if result.setting is not None:
        return Remedy(f"it passes with `{result.setting}`: {_HOW.get(result.setting, 'set it before the model runs')}")
    affected = [rule for rule in rules if result.kernel in rule.needs]
    if affected:
        places = {item.component: item.device for item in placement}
        listed = ", ".join(f"`{rule.component}` on `{places.get(rule.component, rule.otherwise)}`" for rule in affected)
        return Remedy(f"run {listed}; `envdoctor fix` sets this", Applicability.SAFE)
    if result.kernel == "import-torch":
        if result.status is KernelStatus.UNSUPPORTED:
            return Remedy(
                "name the environment that the program runs in with `--env`, or install torch into this one: `python "
                "-m pip install torch`, for a card with the `--index-url` that PyTorch names for its build"
            )
        return Remedy("`envdoctor check --env DIR` looks for what keeps torch from importing")
    return None


_HOW = {
    "cudnn-off": "`torch.backends.cudnn.enabled = False`",
    "tf32-off": "`torch.backends.cuda.matmul.allow_tf32 = False` and the same for cuDNN",
    "mkldnn-off": "run it inside `torch.backends.mkldnn.flags(enabled=False)`",
    "flash-off": "`torch.backends.cuda.enable_flash_sdp(False)`",
    "efficient-off": "`torch.backends.cuda.enable_mem_efficient_sdp(False)`",
    "math-only": "switch the flash and memory-efficient kernels of attention off",
    "cublaslt-off": "set `DISABLE_ADDMM_CUDA_LT=1` before torch is imported",
    "blocking": "set `CUDA_LAUNCH_BLOCKING=1`; it hides a race rather than mending it",
    "autocast-off": "run without autocast",
    "dtype-float32": "run this part in float32",
}


def _slower_finding(slower: Sequence[KernelResult]) -> Finding:
    code, name = _SLOWER
    listed = ", ".join(f"`{result.kernel}`" for result in slower[:8]) + (", ..." if len(slower) > 8 else "")
    plural = "kernels are" if len(slower) > 1 else "kernel is"
    return Finding(
        rule=code,
        name=name,
        severity=Severity.INFO,
        subject=slower[0].device,
        subject_kind=SubjectKind.DEVICE,
        message=f"{len(slower)} {plural} slower than the CPU at these small shapes: {listed}",
        evidence=tuple(Evidence(f"{result.kernel}: {result.detail}", result.device) for result in slower),
    )


def faults_of(files: Sequence[str]) -> dict[str, list[Fault]]:
    """Return every fault of each profile file by its path, kernels and workloads that do not exist among them."""
    from envdoctor.profile.load import validate

    return {
        path: sorted((*faults, *unknown_names(Path(path))), key=lambda fault: fault.line or 0)
        for path, faults in validate(files).items()
    }


def unknown_names(path: Path) -> tuple[Fault, ...]:
    """Return a fault for each name that is none; nothing for what is wrong with the file otherwise."""
    from envdoctor.profile.load import LARGEST_BYTES

    try:
        with path.open("rb") as stream:
            # What is longer has been refused as a profile.
            text = stream.read(LARGEST_BYTES).decode("utf-8-sig")
        document = Document(text, str(path))
    except (OSError, ValueError):
        return ()
    return tuple(fault.placed(document.lines) for fault in _faults(document.data))


def _faults(document: dict[str, Any]) -> Iterator[Fault]:
    from envdoctor.adapters.smoke import kernel_catalogue

    kernels = tuple(entry.name for entry in kernel_catalogue.KERNELS)
    workloads = tuple(entry.name for entry in kernel_catalogue.WORKLOADS)
    smoke = document.get("smoke")
    if isinstance(smoke, dict):
        for key, kind, known in (
            ("kernels", "kernel", kernels),
            ("workloads", "workload", workloads),
            ("settings", "setting", kernel_catalogue.SETTINGS),
        ):
            yield from _unknown(smoke.get(key), f"smoke.{key}", kind, known)
    placements = document.get("placement")
    for number, rule in enumerate(placements if isinstance(placements, list) else ()):
        if isinstance(rule, dict):
            yield from _unknown(rule.get("needs"), f"placement[{number}].needs", "kernel", (*kernels, *workloads))


def _unknown(names: Any, key_path: str, kind: str, known: tuple[str, ...]) -> Iterator[Fault]:
    for number, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str) and name not in known:
            hint = did_you_mean(name, known) or "; `envdoctor smoke --list` names the kernels and workloads"
            yield Fault(f"{key_path}[{number}]", f"there is no {kind} `{name}`{hint}")
