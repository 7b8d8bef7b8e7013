"""The distributions of NVIDIA's libraries: which one brings a library, for which CUDA."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["cuda_major_of", "nvidia_package"]

_PARTS = {
    "cudart": "cuda-runtime", "nvrtc": "cuda-nvrtc", "cupti": "cuda-cupti", "cublas": "cublas", "cublaslt": "cublas",
    "cufft": "cufft", "curand": "curand", "cusolver": "cusolver", "cusparse": "cusparse", "cusparselt": "cusparselt",
    "cudnn": "cudnn", "nvjitlink": "nvjitlink", "nccl": "nccl",
}  # fmt: skip
_OF_CUDA = ("cudart", "nvrtc", "cublas", "cublaslt", "nvjitlink", "cupti")
"""Libraries whose number is CUDA's own major."""
_FFT = {10: 11, 11: 12, 12: 13}
"""The CUDA of a cuFFT, which has a number of its own."""
_FIRST_PLAIN = 13
_ALWAYS_SUFFIXED = ("cudnn", "nccl", "cusparselt")


def cuda_major_of(libraries: Iterable[tuple[str, int]]) -> int | None:
    """Return the CUDA that libraries belong to, by family and number as in their names; None where none tells."""
    named = dict(libraries)
    major = next((named[family] for family in _OF_CUDA if family in named), None)
    return major if major is not None else _FFT.get(named.get("cufft", 0))


def nvidia_package(family: str, number: int, cuda: int) -> str | None:
    """Return the requirement that brings a library for a CUDA major: ``nvidia-cublas-cu12``; None where none does.

    From CUDA 13 on most have no CUDA in their names, so that their versions say it.
    """
    if family == "nvinfer":
        return f"tensorrt-cu{cuda}=={number}.*"
    part = _PARTS.get(family)
    if part is None:
        return None
    suffixed = cuda < _FIRST_PLAIN or part in _ALWAYS_SUFFIXED
    exact = not suffixed or part == "cudnn"
    return f"nvidia-{part}{f'-cu{cuda}' if suffixed else ''}{f'=={number}.*' if exact else ''}"
