"""What is measured besides the files of an environment: this host, its libraries, and modules imported in a child."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from envdoctor.adapters.probe.cards import may_have_a_card
from envdoctor.model.binary import BinaryInventory
from envdoctor.model.environment import EnvironmentKind, InstalledEnvironment
from envdoctor.model.fact import Facts, FactState
from envdoctor.ports import UsageError

__all__ = [
    "here",
    "host_facts",
    "libraries",
    "machine_and_libraries",
    "notes_on",
    "uses_a_card",
    "variables_passed_over",
]

# Distributions that run on a card when there is one; a bare library of NVIDIA's or AMD's counts, too.
_USERS = frozenset(
    {
        "torch",
        "torchaudio",
        "torchvision",
        "torch-directml",
        "intel-extension-for-pytorch",
        "tensorflow",
        "jax",
        "jaxlib",
        "ctranslate2",
        "cupy",
        "bitsandbytes",
        "flash-attn",
        "xformers",
        "triton",
        "vllm",
        "llama-cpp-python",
        "paddlepaddle-gpu",
        "mlx",
    }
)
_BEGINNINGS = (
    "nvidia-",
    "cupy-",
    "jax-cuda",
    "jax-rocm",
    "faiss-gpu",
    "tensorflow-",
    "rocm",
    "tensorrt",
    "onnxruntime-",
)
_OVERRIDE = "ENVDOCTOR_FACT_"


def uses_a_card(environment: InstalledEnvironment) -> bool:
    """Return whether something is installed that would run on a GPU."""
    return any(item.name in _USERS or item.name.startswith(_BEGINNINGS) for item in environment.distributions)


def here(environment: InstalledEnvironment) -> bool:
    """Return whether an environment belongs to this machine; a bare folder may have been carried here."""
    return environment.isolation is not None


def host_facts(environment: InstalledEnvironment, *, wanted: bool = False) -> Facts:
    """Measure this host where it matters to the environment: it uses a card, ``wanted``, or a variable sets facts."""
    told = any(name.startswith(_OVERRIDE) for name in os.environ)
    if not here(environment) or not (wanted or told or uses_a_card(environment)):
        return Facts()
    from envdoctor.adapters.probe.host_facts import probe_host

    variables_passed_over()
    torch = [str(Path(folder, "torch", "lib")) for folder in environment.site_packages]
    return probe_host(disk_at=environment.root or ".", zluda_folders=torch)


def variables_passed_over() -> list[str]:
    """Return notes on variables of other tools that say nothing of this host. Raises UsageError for ours."""
    from envdoctor.adapters.probe.host_overrides import read_overrides

    overrides = read_overrides(os.environ)
    if overrides.faults:
        raise UsageError(*overrides.faults)
    return list(overrides.notes)


def notes_on(facts: Facts) -> list[str]:
    """Return what is to be said of a host that was measured: variables passed over, cards that nobody knows."""
    open_ones = (facts.get(name) for name in ("gpu.count", "driver.version"))
    reasons = {fact.reason: fact.name for fact in open_ones if fact.state is FactState.UNKNOWN}
    return [*variables_passed_over(), *(f"`{name}` is not known: {reason}" for reason, name in reasons.items())]


def libraries(environment: InstalledEnvironment, facts: Facts, *, gpu: bool) -> BinaryInventory | None:
    """Read the libraries of an environment, their GPU code where a card is known or ``gpu`` says that it matters.

    None for a listing, and where nothing compiled is installed.
    """
    if environment.kind is EnvironmentKind.LISTING or not _has_binaries(environment):
        return None
    from envdoctor.adapters.probe.binary_environment import scan_environment

    card = bool(facts.of_cards("architecture", "compute_capability"))
    return scan_environment(environment, gpu=gpu or card)


def machine_and_libraries(environment: InstalledEnvironment, *, wanted: bool) -> tuple[Facts, BinaryInventory | None]:
    """Measure this host and read the libraries at the same time; each waits for what the other does not need.

    Where no distribution is known to use a card and a library carries code for one, the host is measured after all.
    """
    card = here(environment) and may_have_a_card()
    with ThreadPoolExecutor(max_workers=1) as pool:
        measuring = pool.submit(host_facts, environment, wanted=wanted)
        binaries = libraries(environment, Facts(), gpu=wanted or card)
        facts = measuring.result()
    if not len(facts) and card and any(item.gpu for item in binaries or ()):
        facts = host_facts(environment, wanted=True)
    return facts, binaries


def _has_binaries(environment: InstalledEnvironment) -> bool:
    """Return whether anything is not a wheel for every platform: those alone say of themselves what they hold."""
    tagged = (item.wheel_tags for item in environment.distributions if item.metadata_path)
    return any(not tags or not all(tag.endswith("-any") for tag in tags) for tags in tagged)
