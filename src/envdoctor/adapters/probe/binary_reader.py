"""Read one binary of any of the three formats, on any host, without loading it.

The headers are read by `struct`: pyelftools took some fifteen times as long on the same files, which an environment of
a thousand extension modules would feel; it, pefile and macholib are what the tests compare with.
"""

from __future__ import annotations

import re
from pathlib import Path

from envdoctor.adapters.probe.binary_stream import BinaryUnreadable, Stream
from envdoctor.adapters.probe.elf import ELF_MAGIC, read_elf
from envdoctor.adapters.probe.fatbin import CUDA_SECTIONS, HIP_SECTIONS, read_fatbins, read_hip_bundles
from envdoctor.adapters.probe.macho import MACHO_MAGICS, read_macho
from envdoctor.adapters.probe.pe import PE_MAGIC, read_pe
from envdoctor.adapters.read_files import at_once
from envdoctor.model.binary import Binary, BinaryFormat, GpuCode

__all__ = ["BinaryUnreadable", "extension_tag", "read_binary"]

_CPYTHON = re.compile(r"\.(?:cpython-|cp)(\d)(\d+)(t?)d?[-.]")
_PYPY = re.compile(r"\.pypy(\d)(\d+)-")
_SUFFIXES = (".so", ".pyd")
_NUMPY_CHECK = b"module compiled against ABI version 0x%x"
_NUMPY_2 = b"numpy._core._multiarray_umath"
_NUMPY_LIMIT = 8 << 20
"""Bytes of read-only data that are searched for NumPy's import code."""
_CONSTANTS = (".rodata", ".rdata", "__cstring", "__const")


def read_binary(path: str | Path, *, numpy: bool = False, gpu: bool = True, owner: str | None = None) -> Binary:
    """Read the headers of a binary. ``numpy``: look for NumPy's C API; ``gpu``: list GPU code; ``owner``: whose it is.

    Raises BinaryUnreadable where the file is not ELF, PE or Mach-O, is cut short or cannot be opened.
    """
    shown = str(path).replace("\\", "/")
    try:
        with open(path, "rb", buffering=0, opener=at_once) as file:
            return _read(Stream(file, shown), shown, owner, numpy=numpy, gpu=gpu)
    except OSError as error:
        raise BinaryUnreadable(shown, error.strerror or str(error)) from None


def extension_tag(name: str) -> str | None:
    """Return the interpreter that an extension module's file name speaks of: ``cp311``, ``abi3``, ``pypy310``."""
    if not name.endswith(_SUFFIXES):
        return None
    if match := _CPYTHON.search(name):
        return f"cp{match[1]}{match[2]}{match[3]}"
    if match := _PYPY.search(name):
        return f"pypy{match[1]}{match[2]}"
    return "abi3" if ".abi3." in name else None


def _read(stream: Stream, path: str, owner: str | None, *, numpy: bool, gpu: bool) -> Binary:
    magic = stream.some(0, 4)
    name = path.rsplit("/", 1)[-1]
    tag = extension_tag(name)
    if magic == ELF_MAGIC:
        elf = read_elf(stream)
        return Binary(
            path,
            BinaryFormat.ELF,
            (elf.machine,),
            needed=tuple(elf.needed),
            soname=elf.soname,
            search=tuple(elf.search),
            glibc=elf.glibc,
            python=tag,
            extension=tag is not None,
            numpy=_numpy(stream, elf.sections) if numpy else None,
            gpu=_gpu(stream, elf.sections) if gpu else GpuCode(),
            size=stream.size,
            distribution=owner,
        )
    if magic[:2] == PE_MAGIC:
        pe = read_pe(stream)
        return Binary(
            path,
            BinaryFormat.PE,
            (pe.machine,),
            needed=tuple(pe.needed),
            optional=tuple(pe.delayed),
            soname=pe.name,
            python=tag or _python_dll(pe.needed, name),
            extension=name.endswith(".pyd"),
            numpy=_numpy(stream, pe.sections) if numpy else None,
            gpu=_gpu(stream, pe.sections) if gpu else GpuCode(),
            size=stream.size,
            distribution=owner,
        )
    if magic in MACHO_MAGICS:
        macho = read_macho(stream)
        return Binary(
            path,
            BinaryFormat.MACHO,
            tuple(macho.machines),
            needed=tuple(macho.needed),
            optional=tuple(macho.optional),
            soname=macho.name,
            search=tuple(macho.search),
            macos=macho.macos,
            python=tag,
            extension=tag is not None,
            numpy=_numpy(stream, macho.sections) if numpy else None,
            size=stream.size,
            distribution=owner,
        )
    raise stream.fault("is neither ELF nor PE nor Mach-O")


def _python_dll(needed: list[str], name: str) -> str | None:
    """Return the interpreter whose DLL a ``.pyd`` links: ``python311.dll``; ``python3.dll`` is the stable ABI."""
    if not name.endswith(".pyd"):
        return None
    for item in needed:
        if match := re.fullmatch(r"python(\d)(\d*)(t?)(?:_d)?\.dll", item.lower()):
            return f"cp{match[1]}{match[2]}{match[3]}" if match[2] else "abi3"
    return None


def _gpu(stream: Stream, sections: dict[str, tuple[int, int]]) -> GpuCode:
    cuda = [sections[name] for name in CUDA_SECTIONS if name in sections]
    hip = [sections[name] for name in HIP_SECTIONS if name in sections]
    if hip:
        return read_hip_bundles(stream, hip)
    return read_fatbins(stream, cuda) if cuda else GpuCode()


def _numpy(stream: Stream, sections: dict[str, tuple[int, int]]) -> str | None:
    """Return the NumPy whose headers a module was compiled with, by the strings of its ``import_array``."""
    for name in _CONSTANTS:
        if name in sections:
            offset, size = sections[name]
            data = stream.some(offset, min(size, _NUMPY_LIMIT))
            if _NUMPY_CHECK in data:
                return "2" if _NUMPY_2 in data else "1"
    return None
