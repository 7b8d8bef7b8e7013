"""What the value of a fact may be, whoever gives it: a file of facts or an override variable.

A file gives numbers, booleans and lists; a variable gives text, which is read as what its fact is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache

from envdoctor.adapters.probe.host_system import VARIABLES
from envdoctor.adapters.probe.host_tools import TOOLS
from envdoctor.model.dataclass import dataclass

__all__ = [
    "ALWAYS_THERE",
    "CARD_FACTS",
    "FACT_NAMES",
    "UnfitValue",
    "closest",
    "is_known_name",
    "single_names",
    "value_of",
    "value_of_text",
]

Value = str | int | float | bool | list[str]

ALWAYS_THERE = frozenset({"os", "arch", "host.wsl", "host.kernel", "host.memory_bytes", "host.memory_available_bytes",
                          "host.disk_free_bytes"})  # fmt: skip
"""Facts that no machine is without: they may be unknown, and are never absent."""
_LARGEST = 2**63 - 1
_LONGEST = 100
"""Characters of a version or a name of a kind; Python refuses to read numbers of thousands of digits."""
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


class UnfitValue(ValueError):
    """A value that its fact cannot have; the message goes on after the value or the name: ``is not a version``."""


@dataclass(frozen=True, slots=True)
class _Text:
    """Text of a form; ``numbers``: it may be written as a number, too; ``point``: a whole number means ``.0``."""

    form: str
    expected: str
    numbers: bool = True
    point: bool = False


_CARD = r"gpu\[\d+\]\."
_GFX = r"gfx[0-9a-f]{3,5}(:[\w+:-]+)?"
_VERSION = r"\d+(\.\d+)*\S*"
_CUDA = _Text(r"\d{1,2}(\.\d+){0,2}", "a version of CUDA such as `12.4`", point=True)
_FORMS = (
    (rf"{_CARD}compute_capability", _Text(r"\d{1,2}\.\d", "a capability such as `9.0`", point=True)),
    (rf"{_CARD}architecture", _Text(rf"\d{{1,2}}\.\d|sm_\d{{2,3}}[af]?|{_GFX}", "such as `sm_90` or `gfx1030`")),
    (
        rf"{_CARD}vendor",
        _Text(r"nvidia|amd|intel|apple|microsoft|qualcomm|other", "`nvidia`, `amd`, `intel` or `apple`"),
    ),
    (r"driver\.cuda|torch\.cuda", _CUDA),
    (r"os", _Text(r"windows|linux|macos", "`windows`, `linux` or `macos`")),
    (
        r"arch",
        _Text(
            r"(?i:x86_64|amd64|x86|i[3-6]86|arm\w*|aarch64|ppc\w*|s390x|riscv\w*|loongarch\w*|mips\w*)",
            "`x86_64`, `aarch64` or `arm64`",
        ),
    ),
    (r"host\.tegra", _Text(r"tegra\d+", "a chip such as `tegra264`")),
    (r"host\.jetpack", _Text(r"\d+(\.\d+)*( \w+)?", "a version", point=True)),
    (r"python\.version", _Text(r"\d+\.\d+\S*", "a version such as `3.11`")),
    # A build of ffmpeg from its sources is named after the commit; AMD's driver in the kernel has the kernel's version.
    (r"tool\.ffmpeg\.version", _Text(r"[\w.+~:-]+", "a version")),
    (r"amdgpu\.version", _Text(r"\S(.*\S)?", "a version")),
    (rf".+\.version|host\.(glibc|macos|l4t)|{_CARD}driver_version", _Text(_VERSION, "a version")),
    (r"environment\..+", _Text(r"(?s:.*)", "text")),
)
_PLAIN = _Text(r"(?s:.*\S.*)", "text", numbers=False)
_LISTS = {
    "torch.arch_list": _Text(r"(sm|compute)_\d{2,3}[a-z]?|gfx[\w-]+(:[\w+:-]+)?", "such as `sm_90` or `gfx1030`"),
    "cuda.toolkits": _Text(r"\d+(\.\d+)*", "a version such as `12.4`"),
    "zluda.libraries": _PLAIN,
}


def value_of(name: str, value: object) -> Value:
    """Return the value that a file gives to a fact of a known name. Raises UnfitValue.

    A number with a point comes as a Decimal, so that ``550.90`` and ``3.10`` stay what was written.
    """
    if not isinstance(value, str | int | Decimal | list):
        raise UnfitValue("is not a plain value")
    if name in _LISTS:
        return _listed(_LISTS[name], value)
    if name.endswith("_bytes") or name == "gpu.count":
        return _whole(value, "a number of cards" if name == "gpu.count" else "a whole number of bytes")
    if name in ("host.wsl", "torch.is_available") or name.endswith("].mig"):
        if not isinstance(value, bool):
            raise UnfitValue(f"{_shown(value)} is not `true` or `false`")
        return value
    text = _text(next((kind for pattern, kind in _FORMS if re.fullmatch(pattern, name)), _PLAIN), value)
    if name == "arch":
        return text.lower().replace("amd64", "x86_64")
    return _numbered_by_nvidia(text) if name == "driver.version" or name.endswith("].driver_version") else text


def value_of_text(name: str, text: str) -> Value:
    """Return the value that a variable gives to a fact; not for an empty one. Raises UnfitValue."""
    if name in _LISTS:
        items = [item for item in re.split(r"[\s,;]+", text) if item]
        if not items:
            raise UnfitValue(f"{_shown(text)} is not a list of text")
        return value_of(name, items)
    if name in ("host.wsl", "torch.is_available") or name.endswith("].mig"):
        word = text.lower()
        return value_of(name, word in _TRUE if word in (*_TRUE, *_FALSE) else text)
    is_number = (name.endswith("_bytes") or name == "gpu.count") and re.fullmatch(r"-?[0-9]{1,20}", text)
    return value_of(name, int(text) if is_number else text)


def _listed(kind: _Text, value: object) -> list[str]:
    items = value.split() if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise UnfitValue("is not a list of text")
    return [str(_text(kind, item)) for item in items]


def _whole(value: object, expected: str) -> int:
    if (
        isinstance(value, Decimal)
        and value.is_finite()
        and value.adjusted() < 20
        and value == value.to_integral_value()
    ):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
        raise UnfitValue(f"{_shown(value)} is not {expected}")
    return value


def _text(kind: _Text, value: object) -> str:
    text = value
    if kind.numbers and isinstance(value, int | Decimal) and not isinstance(value, bool):
        text = f"{value}.0" if kind.point and isinstance(value, int) else str(value)
    free = kind.expected == "text"
    if not isinstance(text, str) or not (free or len(text) <= _LONGEST) or not re.fullmatch(kind.form, text):
        raise UnfitValue(f"{_shown(value)} is not {kind.expected}")
    return text


def _numbered_by_nvidia(text: str) -> str:
    """Return NVIDIA's own number of a driver where Windows' is given: ``32.0.15.8097`` is 580.97."""
    match = re.fullmatch(r"\d+\.\d+\.1(\d)\.(\d{2})(\d{2})", text)
    return f"{match[1]}{match[2]}.{match[3]}" if match else text


def _shown(value: object) -> str:
    if value == "":
        return "an empty value"
    if isinstance(value, list):
        return "a list"
    text = str(value)
    return f"`{text[:60]}...`" if len(text) > 60 else f"`{text}`"


_ALIKE = 0.75
"""How alike two names must be, as difflib rates it: one letter in four may be wrong, missing or doubled."""
_OWN = ("probe.", "smoke.")
"""Facts about the asking itself, and of the child that runs kernels, which are in reports and decide nothing."""

CARD_FACTS = (
    "vendor",
    "name",
    "architecture",
    "compute_capability",
    "memory_bytes",
    "memory_free_bytes",
    "mig",
    "driver",
    "driver_version",
)
"""Facts of each card, as ``gpu[0].vendor``."""

FACT_NAMES = (
    "os",
    "arch",
    "host.wsl",
    "host.kernel",
    "host.distribution",
    "host.glibc",
    "host.macos",
    "host.memory_bytes",
    "host.memory_available_bytes",
    "host.disk_free_bytes",
    "host.jetson",
    "host.tegra",
    "host.l4t",
    "host.jetpack",
    "gpu.count",
    "driver.version",
    "driver.cuda",
    "amdgpu.version",
    "rocm.version",
    "rocm.wsl_runtime",
    "hip_sdk.path",
    "system.libhsa-runtime64-1",
    "zluda.libraries",
    "zluda.hip_library",
    "cuda.toolkits",
    "library.amdhip64_7",
    "library.libavutil",
    "library.libespeak-ng",
    "library.libsndfile",
    "device./dev/dxg",
    "device./dev/kfd",
    "device./dev/nvidiactl",
    "device./dev/accel",
    "device./dev/dri",
    "torch.version",
    "torch.cuda",
    "torch.is_available",
    "torch.arch_list",
    "python.version",
)
"""Facts with one value; besides them ``tool.<program>.version``, ``.path`` and ``environment.<VARIABLE>``."""


@lru_cache(maxsize=1)
def single_names() -> tuple[str, ...]:
    """Return every fact that a machine has one of, without those of its cards."""
    tools = (f"tool.{name}.{part}" for name in TOOLS for part in ("version", "path"))
    return (*FACT_NAMES, *tools, *(f"environment.{name}" for name in VARIABLES))


def is_known_name(name: str) -> bool:
    """Return whether a fact of that name is one that is measured, or that a rule may ask for."""
    card = re.fullmatch(r"gpu\[\d+\]\.(\w+)", name)
    return card[1] in CARD_FACTS if card else name in single_names() or name.startswith(_OWN)


def closest(name: str, known: Iterable[str] = ()) -> str | None:
    """Return the name that was most likely meant, of ``known`` or by default of the facts; None where none is alike."""
    import difflib

    index = re.search(r"\[\d+\]", name)
    cards = (f"gpu{index[0] if index else '[0]'}.{key}" for key in CARD_FACTS)
    choices = list(known) or [*single_names(), *cards]
    by_lower = {choice.lower(): choice for choice in choices}
    alike = difflib.get_close_matches(name.lower(), by_lower, 1, _ALIKE)
    return by_lower[alike[0]] if alike else None
