"""Distributions that own the same import package, so that one stands in for another and two of them clash.

Metadata has no word for this. Sources: the file lists of the wheels, and the READMEs that say "install only one".
"""

from __future__ import annotations

__all__ = ["SAME_PACKAGE", "rivals", "stand_ins"]

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
