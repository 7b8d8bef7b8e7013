"""Environment variables that replace facts: envdoctor's own, and those of tools that people set already.

``ENVDOCTOR_FACT_<NAME>`` replaces any fact: the name in capitals, everything but letters and digits as ``_``. An empty
value means absent. Other tools' variables count for the facts that they are about, envdoctor's own before them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from envdoctor.model.fact import Fact, FactState

__all__ = ["FOREIGN", "overridden", "override_variable"]

_PREFIX = "ENVDOCTOR_FACT_"
_CARD = re.compile(r"GPU_(\d+)_([A-Z0-9_]+)")
_LISTS = ("torch.arch_list", "cuda.toolkits", "zluda.libraries")


def override_variable(name: str) -> str:
    """Return the variable that replaces a fact: ``ENVDOCTOR_FACT_GPU_0_COMPUTE_CAPABILITY``."""
    return _PREFIX + re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")


def _driver(value: str) -> list[tuple[str, str]]:
    """Tell a driver's version, of three digits and more (``550.54``), from a CUDA version, of two at most."""
    major = value.partition(".")[0]
    return [("driver.version" if major.isdigit() and int(major) >= 100 else "driver.cuda", value)]


def _capability(value: str) -> list[tuple[str, str]]:
    digits = re.sub(r"^sm_|\.", "", value)
    if not digits.isdigit() or len(digits) < 2:
        return []
    capability = f"{digits[:-1]}.{digits[-1]}"
    return [
        ("gpu[0].vendor", "nvidia"),
        ("gpu[0].compute_capability", capability),
        ("gpu[0].architecture", f"sm_{digits}"),
    ]


def _gfx(value: str) -> list[tuple[str, str]]:
    first = re.split(r"[,;\s]+", value.strip())[0]
    return [("gpu[0].vendor", "amd"), ("gpu[0].architecture", first)] if first.startswith("gfx") else []


FOREIGN: dict[str, Callable[[str], list[tuple[str, str]]]] = {
    "CONDA_OVERRIDE_CUDA": lambda value: [("driver.cuda", value)],
    "CONDA_OVERRIDE_GLIBC": lambda value: [("host.glibc", value)],
    "CONDA_OVERRIDE_OSX": lambda value: [("host.macos", value)],
    "UV_CUDA_DRIVER_VERSION": _driver,
    "UV_AMD_GPU_ARCHITECTURE": _gfx,
    "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": _driver,
    "NV_VARIANT_PROVIDER_FORCE_SM_ARCH": _capability,
    "ROCM_BOOTSTRAP_FORCE_GFX_ARCH": _gfx,
}
"""Variables of conda, uv, NVIDIA's and AMD's installers, with the facts that each one sets."""


def overridden(facts: Iterable[Fact], environ: Mapping[str, str], templates: Iterable[str]) -> Iterator[Fact]:
    """Yield the facts with what variables replace or add; ``templates`` are the names that facts may have."""
    measured = {fact.name: fact for fact in facts}
    by_variable = {override_variable(name): name for name in (*templates, *measured) if "[" not in name}
    replaced: dict[str, Fact] = {}
    for variable, translate in FOREIGN.items():
        if variable in environ:
            value = environ[variable]
            for name, text in translate(value) or ([("driver.cuda", "")] if not value and "CUDA" in variable else []):
                replaced[name] = _fact(name, text, variable)
    for variable, value in environ.items():
        if not variable.startswith(_PREFIX):
            continue
        called = by_variable.get(variable) or _card_fact(variable)
        if called is not None:
            replaced[called] = _fact(called, value, variable)
    yield from {**measured, **{name: _beside(fact, measured.get(name)) for name, fact in replaced.items()}}.values()


def _beside(fact: Fact, measured: Fact | None) -> Fact:
    """Return the replacement with the source that it stands in place of, none where nothing was measured."""
    return replace(fact, source=measured.source if measured else "")


def _card_fact(variable: str) -> str | None:
    match = _CARD.fullmatch(variable.removeprefix(_PREFIX))
    return f"gpu[{match[1]}].{match[2].lower()}" if match else None


def _fact(name: str, value: str, variable: str) -> Fact:
    text = value.strip()
    if not text:
        return Fact(name, FactState.ABSENT, source=variable, overridden_by=variable)
    return Fact(name, FactState.KNOWN, _typed(name, text), variable, overridden_by=variable)


def _typed(name: str, text: str) -> object:
    if name in _LISTS:
        return [item for item in re.split(r"[\s,;]+", text) if item]
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if name.endswith("_bytes") and text.isdigit() else text
