"""Local labels of builds, read as what they are: ``cu128``, ``rocm6.4.2.git76481f7c``, ``cpu``, ``xpu``, ``nv24.8``.

They are no versions: ``rocm10.1.0`` sorts below ``rocm7.15.0``, and the hash behind an AMD build differs between torch
and its companions although they belong together.
"""

from __future__ import annotations

import re

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.model.dataclass import dataclass
from envdoctor.model.target import Backend

__all__ = ["BuildLabel", "LabelLife", "label_in_source", "read_label", "torch_of_label"]

_OWN_VERSION = re.compile(r"__version__\s*=\s*['\"][^'\"+]*(?:\+([\w.]*))?['\"]")
_OWN_CUDA = re.compile(r"^cuda\s*(?::[^=]*)?=\s*(?:['\"]([\d.]+)['\"]|None)", re.MULTILINE)
_OWN_OTHER = re.compile(r"^(hip|xpu)\s*(?::[^=]*)?=\s*['\"]([\d.]+)", re.MULTILINE)

_CUDA = re.compile(r"cu(\d{2,3})(?![\w])")
_ROCM = re.compile(r"rocm(?:[-_.]?)(\d+)(?:\.(\d+))?(?:\.(\d+))?")
_ROCM_OF_A_DAY = re.compile(r"rocmsdk\d{8}")
"""AMD's builds for Windows from ROCm 7.1 on: the day, and not the release."""
_NVIDIA = re.compile(r"(?:^|\.)nv\d{2}\.\d+")


@dataclass(frozen=True, slots=True)
class BuildLabel:
    """What a build was made for."""

    backend: Backend
    """CUDA, ROCM, XPU or CPU."""
    release: tuple[int, ...] = ()
    """Of CUDA or ROCm: ``(12, 8)`` of ``cu128``; empty where the label does not say."""

    def same_release(self, other: BuildLabel, parts: int = 3) -> bool:
        """Return whether both are of one release, as far as both say, looking at the first ``parts`` numbers."""
        return all(one == two for one, two in zip(self.release[:parts], other.release[:parts], strict=False))

    def __str__(self) -> str:
        """``CUDA 12.8``, ``ROCm 6.4.2``, ``the CPU``."""
        words = {Backend.CUDA: "CUDA", Backend.ROCM: "ROCm", Backend.XPU: "XPU"}.get(self.backend, "the CPU")
        return f"{words} {'.'.join(map(str, self.release))}".strip()


def label_in_source(text: str) -> str | None:
    """Return the label that torch/version.py, or a companion's, says of its own build; None where it says nothing.

    The metadata of a wheel from the default index has no label, and this file has it all the same.
    """
    if other := _OWN_OTHER.search(text):
        return f"rocm{other.group(2)}" if other.group(1) == "hip" else "xpu"
    cuda = _OWN_CUDA.search(text)
    if cuda is not None and cuda.group(1):
        return "cu" + "".join(cuda.group(1).split(".")[:2])
    label = _OWN_VERSION.search(text)
    if label is not None and label.group(1):
        return label.group(1)
    return "cpu" if cuda is not None else None


def read_label(label: str | None) -> BuildLabel | None:
    """Return what a local label says; None where it says nothing of a device: a hash, a builder's own word."""
    text = (label or "").lower()
    if text == "cpu" or text.startswith("cpu."):
        return BuildLabel(Backend.CPU)
    if text == "xpu" or text.startswith("xpu."):
        return BuildLabel(Backend.XPU)
    if _ROCM_OF_A_DAY.match(text):
        return BuildLabel(Backend.ROCM)
    if found := _ROCM.search(text):
        return BuildLabel(Backend.ROCM, tuple(int(part) for part in found.groups() if part is not None))
    if found := _CUDA.match(text):
        digits = found[1]
        # NVIDIA's minor release has one digit; `cu12` and `cu13` name the major alone.
        minor = (int(digits[-1]),) if len(digits) > 2 or int(digits) > 49 else ()
        return BuildLabel(Backend.CUDA, (int(digits[:-1]) if minor else int(digits), *minor))
    return BuildLabel(Backend.CUDA) if _NVIDIA.search(text) else None


_TORCH = re.compile(
    r"torch(\d)\.(\d{1,2})(?!\d)[\d.]{0,8}(andhigher)?|(?:torch|(?:^|\.)pt)(\d)(\d)(?=cu|cpu|rocm|cxx|\.|$)"
)


def torch_of_label(label: str | None) -> str | None:
    """Return the releases of torch that a builder's label says it is for, ``==2.6.*``; None where it names none.

    ``cu12torch2.6cxx11abifalse`` and ``pt25cu124`` do, and ``cu128torch2.9.0andhigher`` names the oldest.
    """
    found = _TORCH.search((label or "").lower())
    if found is None:
        return None
    major, minor = found[1] or found[4], found[2] or found[5]
    return f">={major}.{minor}.dev0" if found[3] else f"=={major}.{minor}.*"


@dataclass(frozen=True, slots=True)
class LabelLife:
    """The minor releases of torch that have builds of a label, as far as is known."""

    name: str
    first: Version
    last: Version | None
    """None where such builds are still made."""
    unsure: tuple[SpecifierSet, ...]
    """Releases of which nobody knows."""
    newest: Version
    """The newest torch that was looked at."""

    def has(self, release: Version) -> bool | None:
        """Return whether a minor release of torch has builds of this label; None where that is not known."""
        if any(item.contains(release) for item in self.unsure):
            return None
        if release < self.first:
            return False
        if self.last is not None:
            return release <= self.last
        return True if release <= self.newest else None
