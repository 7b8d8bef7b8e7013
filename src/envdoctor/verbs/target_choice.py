"""The target as the user typed it, else the profile's, else the running machine."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from envdoctor.model.build_label import read_label
from envdoctor.model.compatibility import admits, admitted_minors, nearest_beyond, nearest_known, read_python
from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import EnvironmentKind, InstalledEnvironment
from envdoctor.model.fact import Facts, FactState
from envdoctor.model.target import (
    Arch,
    Backend,
    OperatingSystem,
    Target,
    TargetArch,
    TargetBackend,
    TargetProperty,
)
from envdoctor.ports import UsageError
from envdoctor.verbs.card_choice import card_facts

if TYPE_CHECKING:
    from collections.abc import Callable

    from packaging.specifiers import SpecifierSet

    from envdoctor.model.profile import Profile
    from envdoctor.verbs.patient import Patient
    from envdoctor.verbs.settings import Settings

__all__ = [
    "TargetChoice",
    "assumed_of",
    "fitted",
    "fitted_of_profile",
    "for_environment_python",
    "host_target",
    "on_python",
    "pick_target",
    "python_of_patient",
    "system_of",
    "torch_of_facts",
]


@dataclass(frozen=True, slots=True)
class TargetChoice:
    """Target options as typed."""

    os: OperatingSystem | None = None
    arch: TargetArch | None = None
    python: str | None = None
    backend: TargetBackend | None = None
    gpu: str | None = None
    """A card by its name, or an architecture: ``RTX 5080``, ``sm_120``, ``12.0``, ``gfx1201``."""
    glibc: str | None = None
    macos: str | None = None

    @property
    def automatic(self) -> bool:
        """Whether the card is to choose the backend."""
        return self.backend is TargetBackend.AUTO

    @property
    def named_backend(self) -> TargetBackend | None:
        """The backend that was typed; None where the card is to choose it, too."""
        return None if self.automatic else self.backend

    def __post_init__(self) -> None:
        """Refuse what nobody can judge for, before anything is read. Raises UsageError."""
        _typed("--target-python", self.python, read_python)
        _release("--glibc", self.glibc)
        _release("--macos", self.macos)
        _typed("--gpu", self.gpu, card_facts)


def _typed(option: str, text: str | None, read: Callable[[str | None], object]) -> None:
    try:
        read(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def pick_target(
    choice: TargetChoice, profile: Profile | None, settings: Settings | None
) -> tuple[Target, tuple[tuple[int, int], ...]]:
    """Return the target, and the interpreters to try where neither the user nor the project names one."""
    named = choice.python or (settings.target_python if settings else None)
    python = read_python(named)
    if profile is None:
        target = host_target()
        choices: tuple[tuple[int, int], ...] = ()
    else:
        from envdoctor.profile.profile_target import python_choices, target_for

        target = replace(target_for(profile), backend_named=True)
        choices = () if python else tuple(python_choices(profile))
    if choice.os is not None:
        target = target.on_system(choice.os)
    target = replace(target, arch=_arch(choice, target))
    if choice.named_backend is not None:
        target = replace(target, backend=Backend(choice.named_backend.value), backend_named=True)
    if choice.os is not None or choice.arch is not None:
        target = replace(target, python_full=None)  # Another machine's, whose patch release nobody tells.
    if python is not None and named is not None:
        target = replace(target, python=python, python_full=named.strip() if named.count(".") > 1 else None)
    elif choices:
        target = target.for_python(choices[0])
    return _with_details(target, choice), choices


def _with_details(target: Target, choice: TargetChoice) -> Target:
    """Return the target with the glibc, macOS and card that were typed. Raises UsageError."""
    glibc, macos = _release("--glibc", choice.glibc), _release("--macos", choice.macos)
    for option, value, system in (("glibc", glibc, OperatingSystem.LINUX), ("macos", macos, OperatingSystem.MACOS)):
        if value is not None and target.os is not system:
            raise UsageError(f"--{option}: the target is {target.os.value}, which has none; `--target-os` chooses it")
    if (level := glibc or macos) is not None:
        target = replace(target.at_level(level), level_assumed=False)
    facts = card_facts(choice.gpu)
    if not facts:
        return target
    card = {fact.name.rpartition(".")[2]: str(fact.value) for fact in facts}
    if target.os is OperatingSystem.MACOS and card.get("vendor") == "nvidia":
        raise UsageError(
            f"--gpu: `{choice.gpu}` is an NVIDIA card, and no macOS that Python packages are made for drives one; "
            "`--target-os` chooses linux or windows"
        )
    if target.os is not OperatingSystem.MACOS and card.get("vendor") == "apple":
        raise UsageError(f"--gpu: `{choice.gpu}` is Apple's, which macOS alone drives; `--target-os` chooses macos")
    if target.backend is Backend.UNKNOWN:
        target = replace(target, backend=_backend(Facts(facts), target))
    return replace(target, gpu_architecture=card.get("architecture"))


def _release(option: str, text: str | None) -> tuple[int, int] | None:
    """Read ``2.28`` or ``14``. Raises UsageError."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,3})(?:\.(\d{1,3}))?", text.strip())
    if found is None or (option == "--glibc" and found[2] is None):
        raise UsageError(
            f"{option}: `{text[:40]}` is no release; write it as {'2.28' if option == '--glibc' else '14.0'}"
        )
    return int(found[1]), int(found[2] or 0)


def for_environment_python(
    target: Target, choices: tuple[tuple[int, int], ...], wanted: SpecifierSet
) -> tuple[Target, tuple[tuple[int, int], ...]]:
    """Return target and interpreters for the Python that a conda environment file installs (``wanted``).

    ``choices`` are the profile's: those that the file admits remain. Without a profile this machine's Python stays
    where the file admits it, as it does with ``python>=3.9``; else all that it admits are tried, the newest first.
    Where nothing is judged for what it admits, that is the nearest that is known, as an assumption. Where none is left
    of a profile's nothing changes: a finding then says that the two do not agree.
    """
    if not choices and (nearest := nearest_beyond(wanted)) is not None:
        return replace(target, python=nearest, python_full=None, python_assumed=True), ()
    possible = choices or ((target.python,) if admits(wanted, target.python) else admitted_minors(wanted)[::-1])
    admitted = tuple(python for python in possible if admits(wanted, python))
    if not admitted or admitted == (choices or (target.python,)):
        return target, choices
    return replace(target, python=admitted[0], python_full=None), admitted if len(admitted) > 1 else ()


def _arch(choice: TargetChoice, target: Target) -> Arch:
    """Return the architecture by the name that the target's operating system uses for it."""
    if choice.arch is not None:
        x86 = choice.arch in (TargetArch.X86_64, TargetArch.AMD64)
    elif choice.os is OperatingSystem.MACOS or (choice.gpu and _OF_ARM.search(choice.gpu)):
        x86 = False  # The Macs of this decade, and the chips beside which ARM processors sit.
    else:
        x86 = target.arch is Arch.X86_64
    if x86:
        return Arch.X86_64
    return Arch.AARCH64 if target.os is OperatingSystem.LINUX else Arch.ARM64


def host_target() -> Target:
    """Return the running machine as a target: the default where no profile and no option says otherwise."""
    found = OperatingSystem(_SYSTEMS.get(sys.platform, "linux"))
    if sys.platform == "win32":
        # As pip has it from sysconfig: what Python is built for. `platform` imports socket there, for the host's name.
        x86 = "(arm64)" not in sys.version.lower()
    else:
        import platform

        x86 = platform.machine().lower() in ("x86_64", "amd64", "")
    arm = Arch.AARCH64 if found is OperatingSystem.LINUX else Arch.ARM64
    here = sys.version_info
    python = nearest_known((here.major, here.minor))
    is_known = python == here[:2] and here.releaselevel == "final"
    full = f"{here.major}.{here.minor}.{here.micro}" if is_known else None
    machine = Arch.X86_64 if x86 else arm
    return Target(found, machine, python, python_full=full, level_assumed=True)


_OF_ARM = re.compile(r"\b(GB10|GH200|GB200|GB300|Thor|Orin|Xavier|Tegra)\b")
_OF_X86 = re.compile(r"\+(?:cu1(?:1\d|2[0-4])$|rocm\d|xpu$)")
"""PyTorch's builds that ARM processors hardly have."""
_SYSTEMS = {"win32": "windows", "linux": "linux", "darwin": "macos"}


def fitted(target: Target, patient: Patient, choice: TargetChoice) -> Target:
    """Return the target with what environment and facts say of it, wherever the user has typed nothing else."""
    environment = patient.environment
    python = python_of_patient(patient)
    if python is not None and choice.python is None:
        target = on_python(target, python, environment)
        target = replace(target, probed=environment is not None and environment.executable is not None)
    system = system_of(patient)
    if system is not None and choice.os is None and system in {item.value for item in OperatingSystem}:
        target = target.on_system(OperatingSystem(system))
    if choice.arch is None:
        arm = Arch.AARCH64 if target.os is OperatingSystem.LINUX else Arch.ARM64
        # macOS and Windows have their own word for the same machine.
        default = target.arch if target.arch is Arch.X86_64 else arm
        known = {"x86_64": Arch.X86_64, "amd64": Arch.X86_64, "aarch64": arm, "arm64": arm}
        target = replace(target, arch=known.get(_machine(patient), default))
    if choice.named_backend is None and target.backend is Backend.UNKNOWN:
        target = replace(target, backend=_backend(patient.facts, target, patient.environment))
    return _with_measured_level(target, patient, choice)


def on_python(target: Target, python: tuple[int, int], environment: InstalledEnvironment | None) -> Target:
    """Return the target with the Python that is there, or with the nearest that is known, as an assumption."""
    known = nearest_known(python)
    if known != python:
        return replace(target, python=known, python_full=None, python_assumed=True)
    full = environment.python_full if environment is not None and environment.python is not None else None
    return replace(target, python=python, python_full=full)


def fitted_of_profile(
    target: Target, choices: tuple[tuple[int, int], ...], patient: Patient, choice: TargetChoice
) -> tuple[Target, tuple[tuple[int, int], ...]]:
    """Return a profile's target and interpreters with what environment and facts say, as far as the profile allows.

    Of several Pythons the one that is there counts, and not the first; its glibc or macOS counts for more than the
    promised one.
    """
    python = python_of_patient(patient)
    if python is not None and choice.python is None and python in (choices or (target.python,)):
        target, choices = on_python(target, python, patient.environment), ()
    here = system_of(patient) == target.os.value
    return _with_measured_level(target, patient, choice) if here else target, choices


def assumed_of(patient: Patient, choice: TargetChoice) -> frozenset[TargetProperty]:
    """Return what of the target nothing and nobody tells."""
    told = {
        TargetProperty.PYTHON: choice.python or python_of_patient(patient),
        TargetProperty.OS: choice.os or system_of(patient),
        TargetProperty.ARCH: choice.arch or _machine(patient),
        TargetProperty.BACKEND: choice.named_backend,
        TargetProperty.WSL: patient.facts.get("host.wsl").state is FactState.KNOWN or _is_real(patient.environment),
    }
    return frozenset(kind for kind, value in told.items() if not value)


def _is_real(environment: InstalledEnvironment | None) -> bool:
    return environment is not None and environment.kind is not EnvironmentKind.LISTING


def torch_of_facts(facts: Facts) -> InstalledEnvironment | None:
    """Return an environment of the one distribution that facts speak of, None where they do not."""
    version = str(facts.value("torch.version") or "")
    if not version[:1].isdigit():
        return None
    from packaging.utils import canonicalize_name

    from envdoctor.model.environment import EnvironmentKind, InstalledDistribution, InstalledEnvironment

    torch = InstalledDistribution(canonicalize_name("torch"), version)
    return InstalledEnvironment((torch,), source="facts", kind=EnvironmentKind.LISTING, partial=True)


def python_of_patient(patient: Patient) -> tuple[int, int] | None:
    """Return the interpreter's version: the environment's own, else as facts tell it."""
    if patient.environment is not None and patient.environment.python is not None:
        return patient.environment.python
    told = re.match(
        r"(\d{1,2})\.(\d{1,3})", str(patient.facts.value("python.version") or patient.facts.value("python") or "")
    )
    return (int(told[1]), int(told[2])) if told else None


def system_of(patient: Patient) -> str | None:
    """Return the operating system of an environment or of facts, as targets call it; None where neither tells."""
    fact, environment = patient.facts.value("os"), patient.environment
    if isinstance(fact, str) or environment is None:
        return fact if isinstance(fact, str) else None
    return _SYSTEMS.get(environment.told.platform or environment.built_for.system)


def _with_measured_level(target: Target, patient: Patient, choice: TargetChoice) -> Target:
    """Return the target with its glibc or macOS as facts or the environment's interpreter tell it, unless typed."""
    option = target.level_option
    if not option or getattr(choice, option) is not None:
        return target
    told = patient.environment.told.glibc if option == "glibc" and patient.environment is not None else ""
    level = _version_of(patient.facts.value(f"host.{option}") or told)
    return replace(target.at_level(level), level_assumed=False) if level is not None else target


def _version_of(text: object) -> tuple[int, int] | None:
    found = re.search(r"(\d{1,3})(?:\.(\d{1,3}))?", str(text or ""))
    return (int(found[1]), int(found[2] or 0)) if found else None


def _machine(patient: Patient) -> str:
    """Return the processor's architecture as facts, environment or the cards tell it; empty where nothing does."""
    environment = patient.environment
    installed = environment.told.machine or environment.built_for.machine if environment is not None else ""
    told = patient.facts.value("arch") or installed
    names = [str(fact.value) for fact in patient.facts.of_cards("name")]
    if not told and (torch := environment.get("torch") if environment is not None else None) is not None:
        told = "x86_64" if _OF_X86.search(torch.version) else told
    if told or not names:
        return str(told or "").lower()
    # These chips sit beside ARM processors only, and hardly any other card does.
    own = any(fact.value == "apple" for fact in patient.facts.of_cards("vendor"))
    return "aarch64" if own or any(_OF_ARM.search(name) for name in names) else "x86_64"


def _backend(facts: Facts, target: Target, there: InstalledEnvironment | None = None) -> Backend:
    """Return what the machine's cards are programmed through, where they, or a listing's torch, leave no choice."""
    if facts.value("zluda.libraries"):
        return Backend.ZLUDA
    vendors = {fact.value for fact in facts.of_cards("vendor")}
    if "nvidia" in vendors:
        return Backend.CUDA
    if len(vendors) == 1 and any(fact.source == "--gpu" for fact in facts.of_cards()):
        typed = {"intel": Backend.XPU, "apple": Backend.MPS}.get(str(*vendors))
        if typed is not None:
            return typed
    if "amd" in vendors and target.os is OperatingSystem.LINUX:
        return Backend.ROCM
    listed = there.get("torch") if there is not None and not vendors and not _is_real(there) else None
    label = read_label(listed.version.partition("+")[2]) if listed is not None else None
    return label.backend if label is not None and label.backend is not Backend.CPU else Backend.UNKNOWN
