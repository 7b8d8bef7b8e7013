"""Which library gives what another one asks for, in an environment and on the systems it may run on."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache

from envdoctor.model.binary import Binary, BinaryFormat, BinaryInventory
from envdoctor.model.dataclass import dataclass

__all__ = ["Links", "cuda_library", "is_torch_library", "links_of", "owner", "short_path", "users_of"]

# glibc's own, the compiler's runtime and what PEP 600's manylinux policies let a wheel take from the system.
_LINUX = re.compile(
    r"(ld-linux.*|ld64|libc|libm|libdl|librt|libpthread|libutil|libresolv|libnsl|libanl|libcrypt|libmvec|libBrokenLocale"
    r"|libgcc_s|libstdc\+\+|libatomic|libz|libexpat|libgomp|linux-vdso|libpython3?\.\d+t?d?|libpython3)\.so[.\d]*"
    r"|ld-musl-.*|libc\.musl-.*"
)
_LINUX_DESKTOP = re.compile(r"lib(X11|Xext|Xrender|ICE|SM|GL|glib-2\.0|gobject-2\.0|gthread-2\.0)\.so[.\d]*")
_DRIVER = re.compile(
    r"(libcuda|libnvidia-.*|libnvcuvid|libvulkan|libdxcore|libd3d12|libze_loader|libOpenCL)\.so[.\d]*"
    r"|(nvcuda|nvml|nvcuvid|nvapi64|vulkan-1|opencl|dxcore|d3d12|directml)\.dll",
    re.IGNORECASE,
)
"""A driver's: whether it is there is a question about the host."""

_FAMILY = "(cudart|cublasLt|cublas|cufft|curand|cusolver|cusparseLt|cusparse|cudnn|nvrtc|nvJitLink|nccl|cupti|nvinfer)"
_CUDA_ELF = re.compile(rf"lib{_FAMILY}(?:[_-]\w+)?\.so\.(\d+)")
_CUDA_PE = re.compile(rf"{_FAMILY}(?:_[a-z_]+)?(?:64)?_(\d+)(?:_\d+)?\.dll", re.IGNORECASE)
_TORCH = re.compile(
    r"(lib)?(torch|torch_cpu|torch_cuda\w*|torch_hip|torch_xpu|torch_python|c10|c10_cuda|c10_hip)\.(so|dll|dylib)"
)


@lru_cache(maxsize=4096)
def cuda_library(name: str) -> tuple[str, int] | None:
    """Return the family and the number of a CUDA library's name: ``("cudart", 12)``, ``("cudnn", 9)``.

    The number is the one in the name: CUDA's major for cudart, cuBLAS and nvrtc; the library's own for the rest.
    """
    match = _CUDA_ELF.match(name) or _CUDA_PE.match(name)
    if match is None:
        return None
    number = match[2]
    # Old DLLs wrote major and minor together: cudart64_110.dll, nvrtc64_112_0.dll.
    return match[1].lower(), int(number[:-1]) if len(number) == 3 else int(number)


def is_torch_library(name: str) -> bool:
    """Return whether a library is one of torch's own."""
    return _TORCH.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Links:
    """An index of an inventory by the names under which the loader knows libraries."""

    inventory: BinaryInventory
    by_name: dict[str, list[Binary]]

    def providers(self, binary: Binary, wanted: str) -> list[Binary]:
        """Return the binaries of the environment that give ``wanted`` to ``binary``."""
        key = _key(wanted, binary.format)
        found = [
            item
            for item in self.by_name.get(key, ())
            if item.format is binary.format and set(item.architectures) & set(binary.architectures)
        ]
        own = [item for item in found if item.distribution == binary.distribution]
        return own or found

    def missing(self, binary: Binary) -> Iterator[str]:
        """Yield the libraries that ``binary`` asks for and nothing gives, as far as that can be known.

        A library of the environment counts wherever it lies, since packages load each other's libraries in advance
        (``torch/lib``, ``nvidia/*/lib``). Without the loader of the machine, only libraries that come with Python
        packages are spoken of.
        """
        for wanted in binary.needed:
            if self._is_given(binary, wanted):
                continue
            known = cuda_library(_base(wanted)) is not None or is_torch_library(_base(wanted))
            if known or (binary.format is BinaryFormat.ELF and self.inventory.libraries is not None):
                yield wanted

    def loads(self, binary: Binary) -> bool:
        """Return whether nothing is missing of what a binary asks for, of its own distribution's libraries in turn."""
        seen, queue = {binary.path}, [binary]
        while queue:
            item = queue.pop()
            if any(self.missing(item)):
                return False
            for wanted in item.needed:
                for other in self.providers(item, wanted)[:1]:
                    if other.path not in seen and other.distribution == binary.distribution:
                        seen.add(other.path)
                        queue.append(other)
        return True

    def _is_given(self, binary: Binary, wanted: str) -> bool:
        base = _base(wanted)
        if _DRIVER.fullmatch(base) or base.lower() in self._extra() or self.providers(binary, wanted):
            return True
        if binary.format is not BinaryFormat.ELF:
            return wanted.startswith(("/usr/lib/", "/System/"))
        if posixpath.isabs(wanted):
            return True  # a path on the machine that it was built for; what is there is not known from here
        if self.inventory.libraries is None:
            return bool(_LINUX.fullmatch(base) or _LINUX_DESKTOP.fullmatch(base))
        if base.startswith("libpython"):
            return base in self.inventory.libraries  # of the system's Pythons, some have it in a package of its own
        return base in self.inventory.libraries or bool(_LINUX.fullmatch(base))

    def _extra(self) -> frozenset[str]:
        return _lower(self.inventory.extra_names)

    def importable(self) -> list[Binary]:
        """Return the extension modules of this environment and the libraries that they cannot load without."""
        found: dict[str, Binary] = {item.path: item for item in self.inventory if item.extension}
        queue = list(found.values())
        while queue:
            binary = queue.pop()
            for wanted in binary.needed:
                for item in self.providers(binary, wanted)[:1]:
                    if item.path not in found:
                        found[item.path] = item
                        queue.append(item)
        return list(found.values())


@lru_cache(maxsize=8)
def _lower(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _base(wanted: str) -> str:
    """Return the file name of a needed library; Mach-O writes paths (``@rpath/libc10.dylib``)."""
    return wanted.rsplit("/", 1)[-1]


def _key(name: str, of: BinaryFormat) -> str:
    base = _base(name)
    return base.lower() if of is BinaryFormat.PE else base


@lru_cache(maxsize=4)
def links_of(inventory: BinaryInventory) -> Links:
    """Return the index of an inventory; asked for again, it is the same one."""
    by_name: dict[str, list[Binary]] = {}
    for item in inventory:
        for name in {_key(item.name, item.format), _key(item.soname or item.name, item.format)}:
            by_name.setdefault(name, []).append(item)
    return Links(inventory, by_name)


def short_path(path: str) -> str:
    """Return a path from its site-packages folder on."""
    for mark in ("/site-packages/", "/dist-packages/"):
        if mark in path:
            return path.rpartition(mark)[2]
    return path


def owner(binary: Binary) -> str:
    """Return the distribution that a finding about ``binary`` is about, or the file where nobody owns it."""
    return binary.distribution or binary.name


def users_of(inventory: BinaryInventory, family: str) -> dict[int, dict[str, Binary]]:
    """Return number of the library to the distributions whose importable parts need it, each with one binary.

    NVIDIA's own packages need each other's libraries; they are not users. A distribution that brings builds for several
    numbers loads one of them, nobody can tell from here which, and is left out.
    """
    found: dict[int, dict[str, Binary]] = {}
    for binary in links_of(inventory).importable():
        name = owner(binary)
        if name.startswith(("nvidia-", "cuda-toolkit")):
            continue
        for wanted in binary.needed:
            known = cuda_library(wanted)
            if known is not None and known[0] == family:
                found.setdefault(known[1], {}).setdefault(name, binary)
    several = {name for names in found.values() for name in names if sum(name in item for item in found.values()) > 1}
    return {
        number: kept
        for number, names in sorted(found.items())
        if (kept := {name: binary for name, binary in names.items() if name not in several})
    }
