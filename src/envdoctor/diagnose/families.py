"""Distributions that own the same import package, so that one stands in for another and two of them clash.

Metadata has no word for this. Sources: the file lists of the wheels, and the READMEs that say "install only one".
"""

from __future__ import annotations

from collections.abc import Sequence

from envdoctor.diagnose.wheel_facts import Family, shipped_wheel_facts

__all__ = ["SAME_PACKAGE", "family_of", "one_to_keep", "rivals", "stand_ins", "what_to_keep"]

SAME_PACKAGE: dict[str, tuple[str, ...]] = {
    "onnxruntime": (
        "onnxruntime",
        "onnxruntime-gpu",
        "onnxruntime-directml",
        "onnxruntime-rocm",
        "onnxruntime-migraphx",
        "onnxruntime-openvino",
        "onnxruntime-qnn",
        "onnxruntime-silicon",
        "onnxruntime-training",
        "ort-nightly",
        "ort-nightly-gpu",
        "ort-nightly-directml",
    ),
    "cv2": (
        "opencv-python",
        "opencv-python-headless",
        "opencv-contrib-python",
        "opencv-contrib-python-headless",
    ),
    "nvidia.cudnn": ("nvidia-cudnn-cu11", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"),
    "nvidia.nccl": ("nvidia-nccl-cu11", "nvidia-nccl-cu12", "nvidia-nccl-cu13"),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tensorflow-rocm"),
    "faiss": ("faiss", "faiss-cpu", "faiss-gpu", "faiss-gpu-cu11", "faiss-gpu-cu12"),
    "PIL": ("pillow", "pillow-simd"),
}
"""Import package to the distributions that own it. ``tensorflow-intel`` is a part of ``tensorflow`` on Windows."""

_PARTS = frozenset({"tensorflow-intel"})
_STAND_INS = {
    name: tuple(other for other in names if other != name and other not in _PARTS)
    for names in SAME_PACKAGE.values()
    for name in names
    if name not in _PARTS
}


def rivals(import_package: str) -> tuple[str, ...]:
    """Return the distributions of which only one may be installed, since each owns ``import_package``."""
    return tuple(name for name in SAME_PACKAGE[import_package] if name not in _PARTS)


def stand_ins(name: str) -> tuple[str, ...]:
    """Return the other distributions that give the same import package as ``name``."""
    return _STAND_INS.get(name, ())


def family_of(names: Sequence[str]) -> Family | None:
    """Return the family that all of ``names`` belong to, None where the table has none."""
    return next((family for family in shipped_wheel_facts().families if set(names) <= set(family.names)), None)


def one_to_keep(family: Family, backend: str) -> str | None:
    """Return the distribution that is for ``backend``, None where the table does not say."""
    return family.by_backend.get(backend)


def what_to_keep(family: Family, names: Sequence[str], backend: str) -> str:
    """Return a piece of advice: ``keep `onnxruntime-gpu`, which is the one for cuda, and drop `onnxruntime```."""
    name = one_to_keep(family, backend)
    if name is None:
        return f"keep {family.keep}"
    others = [item for item in names if item != name]
    away = " and ".join(f"`{item}`" for item in others)
    if len(others) < len(names):
        return f"keep `{name}`, which is the one for {backend}, and drop {away}"
    return f"take `{name}`, which is the one for {backend}, in place of {away}"
