"""What a planned wheel says of its own build: the names of its libraries and small files in it, read by range."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from envdoctor.diagnose.wheel_facts import Devices
from envdoctor.model.build_label import label_in_source
from envdoctor.model.candidate import FileKind
from envdoctor.ports import ArchiveReader, IndexUnavailable, MetadataUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envdoctor.model.resolution import ResolvedPackage

__all__ = ["cuda_inside", "devices_inside", "devices_told", "label_inside"]

_LIBRARY = re.compile(r"\.(?:so(?:\.\d+)*|pyd|dll)$")
_WORDS = {
    "cuda": re.compile(r"cuda\d*|cu\d{2,3}|(?:lib)?(?:cudart|cublas|cublaslt)\d*"),
    "rocm": re.compile(r"rocm\d*|hip|migraphx|(?:lib)?amdhip64"),
    "xpu": re.compile(r"xpu\d*|sycl|openvino"),
}
"""Words of a library's name that say what it is for: ``libbitsandbytes_cuda121.so``, ``autogptq_cuda_64.pyd``."""
_OF_XFORMERS = "xformers/cpp_lib.json"
"""Where xformers keeps what its extension was built with."""
_NAMED = re.compile(r"(?!nvidia-|cuda-).*-(?:cuda-?\d{2}x?|cu\d{2,3})(?:-.*)?")
"""A distribution that has its CUDA in its name: ``cupy-cuda12x``, ``faiss-gpu-cu12``; not NVIDIA's own libraries."""
_OF_NVIDIA = re.compile(r"nvidia-(?!ml-py|nccl).*")
"""What asks for NVIDIA's libraries is for CUDA; these two are asked for by what runs on the CPU as well."""


def label_inside(archives: ArchiveReader | None, package: ResolvedPackage) -> str | None:
    """Return ``cpu``, ``cu126``, ``rocm6.3`` or ``xpu`` as torch/version.py says; None where nothing says it."""
    data = _read(archives, package, "torch/version.py")
    return label_in_source(data.decode("utf-8", "replace")) if data else None


def devices_inside(archives: ArchiveReader | None, package: ResolvedPackage, *, tabled: bool) -> Devices | None:
    """Return which GPU backends the libraries of a planned wheel are for; None where it cannot be read or tells none.

    ``tabled``: the tables speak of the distribution, so that a library for the CPU beside them says nothing.
    """
    told = _of_extension(archives, package) if package.name == "xformers" else None
    if told is not None:
        return told
    libraries = [name for name in _names(archives, package) if _LIBRARY.search(name)]
    seen = {backend: found[0] for backend in _WORDS if (found := list(_libraries_for(backend, libraries)))}
    if not seen or (any("cpu" in _words(name) for name in libraries) and not tabled):
        return None  # What brings a library for the CPU as well goes without the others.
    evidence = f"libraries of {package.file.filename}: {', '.join(seen.values())}"
    return Devices(package.name, f"=={package.version}", tuple(seen), evidence)


def devices_told(package: ResolvedPackage) -> Devices | None:
    """Return that a distribution is for CUDA, where its name or what it requires says so; None for NVIDIA's own."""
    told = "its name says so" if _NAMED.fullmatch(package.name) else ""
    if not told and not package.extras and not package.name.startswith(("nvidia-", "cuda-")):
        told = next((f"it requires {item.name}" for item in package.dependencies if _OF_NVIDIA.match(item.name)), "")
    return Devices(package.name, f"=={package.version}", ("cuda",), told) if told else None


def _libraries_for(backend: str, libraries: list[str]) -> Iterator[str]:
    for name in libraries:
        if any(_WORDS[backend].fullmatch(word) for word in _words(name)):
            yield name.rpartition("/")[2]


def _words(library: str) -> list[str]:
    return re.split(r"[^a-z0-9]+", library.rpartition("/")[2].lower())


def cuda_inside(archives: ArchiveReader | None, package: ResolvedPackage) -> int | None:
    """Return the CUDA major for which the extension of a planned xformers was built; None where it does not say."""
    release = _version(archives, package).get("cuda")
    return release // 100 if isinstance(release, int) else None


def _version(archives: ArchiveReader | None, package: ResolvedPackage) -> Mapping[str, object]:
    data = _read(archives, package, _OF_XFORMERS)
    try:
        version = json.loads(data or b"{}").get("version")
    except (ValueError, AttributeError, RecursionError):
        return {}
    return version if isinstance(version, dict) else {}


def _of_extension(archives: ArchiveReader | None, package: ResolvedPackage) -> Devices | None:
    version = _version(archives, package)
    release, hip, torch = version.get("cuda"), version.get("hip"), version.get("torch")
    if not release and not hip:
        return None
    evidence = f"{_OF_XFORMERS} in {package.file.filename}: built with torch {str(torch)[:40]}"
    return Devices(package.name, f"=={package.version}", ("rocm",) if hip else ("cuda",), evidence)


def _readable(package: ResolvedPackage) -> bool:
    return package.file.kind is FileKind.WHEEL and not package.file.stand_in


def _names(archives: ArchiveReader | None, package: ResolvedPackage) -> tuple[str, ...]:
    if archives is None or not _readable(package):
        return ()
    try:
        return archives.names(package.file)
    except (MetadataUnavailable, IndexUnavailable):
        return ()


def _read(archives: ArchiveReader | None, package: ResolvedPackage, member: str) -> bytes | None:
    if archives is None or not _readable(package):
        return None
    try:
        return archives.read(package.file, member)
    except (MetadataUnavailable, IndexUnavailable):
        return None
