"""Environment variables that replace facts: envdoctor's own, and those of tools that people set already.

``ENVDOCTOR_FACT_<NAME>`` replaces any fact: the name in capitals, everything but letters and digits as ``_``. An empty
value means absent. Other tools' variables count for the facts that they are about, envdoctor's own before them.

A variable of ours that names no fact, or gives it a value that it cannot have, is refused: whoever sets one means
another machine than the one that would be judged without it. What another tool makes of its variable is its own affair;
a value that says nothing here is passed over with a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace

from envdoctor.adapters.probe.gpu_nvidia import cuda_of_driver
from envdoctor.adapters.probe.host_values import (
    ALWAYS_THERE,
    CARD_FACTS,
    UnfitValue,
    closest,
    single_names,
    value_of_text,
)
from envdoctor.model.dataclass import dataclass
from envdoctor.model.fact import Fact, FactState

__all__ = ["FOREIGN", "OverrideError", "Overrides", "overridden", "override_variable", "read_overrides"]

_PREFIX = "ENVDOCTOR_FACT_"
_CARD = re.compile(r"GPU_(\d{1,3})_([A-Z0-9_]+)")
_CUDA = r"\d{1,2}(\.\d+){0,2}"
_VERSION = r"\d+(\.\d+)*"


class OverrideError(Exception):
    """Variables of ours that name no fact or give it no value; each message names variable, value and what is right."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the variables that replace facts say."""

    facts: Mapping[str, Fact] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    """What is wrong with variables of ours, one message each."""
    notes: tuple[str, ...] = ()
    """Variables of other tools that say nothing that is understood here."""


def override_variable(name: str) -> str:
    """Return the variable that replaces a fact: ``ENVDOCTOR_FACT_GPU_0_COMPUTE_CAPABILITY``."""
    return _PREFIX + re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")


def _driver(value: str) -> list[tuple[str, str]]:
    """Tell a driver's version, of three digits and more (``550.54``), from a CUDA version, of two at most."""
    if re.fullmatch(_CUDA, value):
        return [("driver.cuda", value)]
    return [("driver.version", value)] if re.fullmatch(r"\d{3,}(\.\d+)*", value) else []


def _capability(value: str) -> list[tuple[str, str]]:
    match = re.fullmatch(r"(?:sm_)?(\d{1,2})\.?(\d)", value)
    if match is None:
        return []
    return [
        ("gpu[0].vendor", "nvidia"),
        ("gpu[0].compute_capability", f"{match[1]}.{match[2]}"),
        ("gpu[0].architecture", f"sm_{match[1]}{match[2]}"),
    ]


def _gfx(value: str) -> list[tuple[str, str]]:
    first = re.split(r"[,;\s]+", value.strip())[0]
    if not re.fullmatch(r"gfx[0-9a-f]{3,5}(:[\w+:-]+)?", first):
        return []
    return [("gpu[0].vendor", "amd"), ("gpu[0].architecture", first)]


def _fact_of(name: str, form: str) -> Callable[[str], list[tuple[str, str]]]:
    return lambda value: [(name, value)] if re.fullmatch(form, value) else []


FOREIGN: dict[str, Callable[[str], list[tuple[str, str]]]] = {
    "CONDA_OVERRIDE_CUDA": _fact_of("driver.cuda", _CUDA),
    "CONDA_OVERRIDE_GLIBC": _fact_of("host.glibc", _VERSION),
    "CONDA_OVERRIDE_OSX": _fact_of("host.macos", _VERSION),
    "UV_CUDA_DRIVER_VERSION": _driver,
    "UV_AMD_GPU_ARCHITECTURE": _gfx,
    "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": _driver,
    "NV_VARIANT_PROVIDER_FORCE_SM_ARCH": _capability,
    "ROCM_BOOTSTRAP_FORCE_GFX_ARCH": _gfx,
}
"""Variables of conda, uv, NVIDIA's and AMD's installers, with the facts that each one sets; none for an odd value."""
_WHERE_EMPTY = {
    "CONDA_OVERRIDE_CUDA": "driver.cuda",
    "CONDA_OVERRIDE_GLIBC": "host.glibc",
    "CONDA_OVERRIDE_OSX": "host.macos",
    "UV_CUDA_DRIVER_VERSION": "driver.cuda",
    "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": "driver.cuda",
}
"""What is absent where a variable is set to nothing, as conda has it; the others are then as if they were not set."""
_EXPECTED: dict[Callable[[str], list[tuple[str, str]]], str] = {
    _driver: "a version of a driver or of CUDA such as `550.54` or `12.4`",
    _capability: "a capability such as `9.0` or `90`",
    _gfx: "an architecture such as `gfx1100`",
}


def read_overrides(environ: Mapping[str, str]) -> Overrides:
    """Read all variables that replace facts, envdoctor's own before those of others."""
    theirs, notes = _of_others(environ)
    ours, faults = _of_ours(environ)
    facts = {**_implied(theirs), **theirs, **_implied(ours), **ours}
    return Overrides(facts, tuple(faults), tuple(notes))


def _of_others(environ: Mapping[str, str]) -> tuple[dict[str, Fact], list[str]]:
    facts: dict[str, Fact] = {}
    notes: list[str] = []
    for variable, translate in FOREIGN.items():
        value = environ.get(variable)
        if value is None:
            continue
        told = translate(value.strip())
        if value.strip() and not told:
            expected = _EXPECTED.get(translate, "a version such as `12.4`")
            notes.append(f"`{variable}`: `{value}` is not {expected}; it is passed over")
        elif not value.strip() and variable in _WHERE_EMPTY:
            name = _WHERE_EMPTY[variable]
            facts[name] = Fact(name, FactState.ABSENT, source=variable, overridden_by=variable)
        for name, text in told:
            facts[name] = Fact(name, FactState.KNOWN, text, variable, overridden_by=variable)
    return facts, notes


def _of_ours(environ: Mapping[str, str]) -> tuple[dict[str, Fact], list[str]]:
    by_variable = {override_variable(name): name for name in single_names()}
    facts: dict[str, Fact] = {}
    faults: list[str] = []
    for variable in sorted(item for item in environ if item.startswith(_PREFIX)):
        name = by_variable.get(variable) or _card_fact(variable)
        if name is None:
            known = [item.removeprefix(_PREFIX) for item in (*by_variable, *_card_variables(variable))]
            meant = closest(variable.removeprefix(_PREFIX), known)
            hint = f"did you mean `{_PREFIX}{meant}`?" if meant else "docs/facts.md lists those that there are"
            faults.append(f"`{variable}` names no fact; {hint}")
            continue
        try:
            facts[name] = _fact(name, environ[variable].strip(), variable)
        except UnfitValue as error:
            faults.append(f"`{variable}`: {error}")
    return facts, faults


def _card_fact(variable: str) -> str | None:
    match = _CARD.fullmatch(variable.removeprefix(_PREFIX))
    if match is None or match[2].lower() not in CARD_FACTS:
        return None
    return f"gpu[{int(match[1])}].{match[2].lower()}"


def _card_variables(variable: str) -> list[str]:
    number = re.search(r"(?<!\d)\d{1,3}(?!\d)", variable)
    return [f"{_PREFIX}GPU_{number[0] if number else 0}_{key.upper()}" for key in CARD_FACTS]


def _fact(name: str, text: str, variable: str) -> Fact:
    if text:
        return Fact(name, FactState.KNOWN, value_of_text(name, text), variable, overridden_by=variable)
    if name in ALWAYS_THERE:
        raise UnfitValue(f"an empty value means absent, and no machine is without `{name}`; unset it or give one")
    return Fact(name, FactState.ABSENT, source=variable, overridden_by=variable)


def _implied(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return what replaced facts say of others: what was measured of those is then of another card or driver."""
    implied: dict[str, Fact] = {}
    for name, fact in facts.items():
        text = str(fact.value)
        prefix = name.rpartition(".")[0]
        if fact.state is not FactState.KNOWN:
            continue
        if name.endswith("].compute_capability"):
            implied[f"{prefix}.architecture"] = _like(fact, f"{prefix}.architecture", f"sm_{text.replace('.', '')}")
        elif match := re.fullmatch(r"sm_(\d+)(\d)[af]?", text) if name.endswith("].architecture") else None:
            name = f"{prefix}.compute_capability"
            implied[name] = _like(fact, name, f"{match[1]}.{match[2]}")
        elif name == "driver.version" and (cuda := cuda_of_driver(text)):
            implied["driver.cuda"] = _like(fact, "driver.cuda", cuda)
    return implied


def _like(fact: Fact, name: str, value: str) -> Fact:
    return replace(fact, name=name, value=value)


def overridden(facts: Iterable[Fact], environ: Mapping[str, str]) -> Iterator[Fact]:
    """Yield the facts with what variables replace or add. Raises OverrideError."""
    overrides = read_overrides(environ)
    if overrides.faults:
        raise OverrideError(overrides.faults)
    measured = {fact.name: fact for fact in facts}
    replaced = {name: _beside(fact, measured.get(name)) for name, fact in overrides.facts.items()}
    added = _count_with(replaced, measured)
    yield from {**measured, **added, **replaced}.values()


def _beside(fact: Fact, measured: Fact | None) -> Fact:
    """Return the replacement with the source that it stands in place of, none where nothing was measured."""
    return replace(fact, source=measured.source if measured else "")


def _count_with(replaced: Mapping[str, Fact], measured: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return ``gpu.count`` with the cards that variables add to those that were measured."""
    count = measured.get("gpu.count")
    mine = {name: fact for name, fact in replaced.items() if name.startswith("gpu[") and fact.state is FactState.KNOWN}
    there = {name.partition(".")[0] for name in measured if name.startswith("gpu[")}
    new = {name.partition(".")[0]: fact for name, fact in mine.items() if name.partition(".")[0] not in there}
    if count is None or not new:
        return {}
    by = next(iter(new.values())).overridden_by
    return {
        "gpu.count": replace(count, state=FactState.KNOWN, value=len(there) + len(new), overridden_by=by, reason=None)
    }
