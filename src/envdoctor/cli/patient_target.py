"""The target that a patient is on: what its environment and the facts say, wherever the user has typed nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from envdoctor.model.target import Arch, Backend, OperatingSystem, Target

if TYPE_CHECKING:
    from envdoctor.cli.patient import Patient
    from envdoctor.cli.targets import TargetChoice
    from envdoctor.model.environment import InstalledEnvironment
    from envdoctor.model.fact import Facts

__all__ = ["fitted", "system_of", "torch_of_facts", "with_assumed"]

_OLDEST, _NEWEST = (3, 8), (3, 14)
_OF_ARM = re.compile(r"\b(GB10|GH200|GB200|GB300|Thor|Orin|Xavier|Tegra)\b")
_SYSTEMS = {"win32": "windows", "linux": "linux", "darwin": "macos"}


def fitted(target: Target, patient: Patient, choice: TargetChoice) -> Target:
    """Return the target with what environment and facts say of it, wherever the user has typed nothing else."""
    environment = patient.environment
    python = _python(patient)
    if python is not None and choice.python is None:
        if _OLDEST <= python <= _NEWEST:
            full = environment.python_full if environment is not None and environment.python is not None else None
            target = replace(target, python=python, python_full=full)
        target = replace(target, probed=environment is not None and environment.executable is not None)
    system = system_of(patient)
    if system is not None and choice.os is None and system in {item.value for item in OperatingSystem}:
        target = replace(target, os=OperatingSystem(system))
    if choice.arch is None:
        arm = Arch.AARCH64 if target.os is OperatingSystem.LINUX else Arch.ARM64
        # macOS and Windows have their own word for the same machine.
        default = target.arch if target.arch is Arch.X86_64 else arm
        known = {"x86_64": Arch.X86_64, "amd64": Arch.X86_64, "aarch64": arm, "arm64": arm}
        target = replace(target, arch=known.get(_machine(patient), default))
    if choice.backend is None and target.backend is Backend.UNKNOWN:
        target = replace(target, backend=_backend(patient.facts, target))
    return target


def with_assumed(environment: InstalledEnvironment, patient: Patient, choice: TargetChoice) -> InstalledEnvironment:
    """Return the environment with ``details["assumed"]``: what of the target nothing and nobody tells."""
    told = {
        "python": choice.python or _python(patient),
        "os": choice.os or system_of(patient),
        "arch": choice.arch or _machine(patient),
        "backend": choice.backend,
    }
    assumed = frozenset(kind for kind, value in told.items() if not value)
    return replace(environment, details={**environment.details, "assumed": assumed})


def torch_of_facts(facts: Facts) -> InstalledEnvironment | None:
    """Return an environment of the one distribution that facts speak of, None where they do not."""
    version = str(facts.value("torch.version") or "")
    if not version[:1].isdigit():
        return None
    from packaging.utils import canonicalize_name

    from envdoctor.model.environment import InstalledDistribution, InstalledEnvironment

    torch = InstalledDistribution(canonicalize_name("torch"), version)
    return InstalledEnvironment((torch,), source="facts", details={"kind": "listing"})


def _python(patient: Patient) -> tuple[int, int] | None:
    """Return the interpreter's version: the environment's own, else as facts tell it."""
    if patient.environment is not None and patient.environment.python is not None:
        return patient.environment.python
    told = re.match(r"(\d+)\.(\d+)", str(patient.facts.value("python.version") or patient.facts.value("python") or ""))
    return (int(told[1]), int(told[2])) if told else None


def system_of(patient: Patient) -> str | None:
    """Return the operating system of an environment or of facts, as targets call it; None where neither tells."""
    fact, environment = patient.facts.value("os"), patient.environment
    if isinstance(fact, str) or environment is None:
        return fact if isinstance(fact, str) else None
    details = environment.details
    return _SYSTEMS.get(str(details.get("platform") or details.get("wheel_platform") or ""))


def _machine(patient: Patient) -> str:
    """Return the processor's architecture as facts, environment or the cards tell it; empty where nothing does."""
    details = patient.environment.details if patient.environment is not None else {}
    told = patient.facts.value("arch") or details.get("machine") or details.get("wheel_machine")
    names = [str(fact.value) for fact in patient.facts.matching("gpu[") if fact.name.endswith("].name")]
    if told or not names:
        return str(told or "").lower()
    # These chips sit beside ARM processors only, and hardly any other card does.
    return "aarch64" if any(_OF_ARM.search(name) for name in names) else "x86_64"


def _backend(facts: Facts, target: Target) -> Backend:
    """Return what the machine's cards are programmed through, where they leave no choice."""
    if facts.value("zluda.libraries"):
        return Backend.ZLUDA
    vendors = {fact.value for fact in facts.matching("gpu[") if fact.name.endswith("].vendor")}
    if "nvidia" in vendors:
        return Backend.CUDA
    if "amd" in vendors and target.os is OperatingSystem.LINUX:
        return Backend.ROCM
    return Backend.UNKNOWN
