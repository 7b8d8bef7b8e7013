"""The disk has too little room for what would be installed, or the host too little memory.

## What it does
Compares the free space where the environment lies with the sizes of the files in the resolution: the downloads and,
about two and a half times as large, what they unpack to. Memory below 2 GiB is reported where torch is planned or
installed.

## Why it is bad
An installation that runs out of space leaves half an environment; an import of torch that runs out of memory is
killed without a word.

## Example
The CUDA build of torch with its libraries: 2.7 GB to download, 7 GB unpacked.

## What to do
Make room, or put the environment and the installer's cache (`PIP_CACHE_DIR`, `UV_CACHE_DIR`) on another disk.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.host_needs import speaks_of_target
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind

_UNPACKED = 2.5
_LEAST_MEMORY = 2 << 30


def find(examination: Examination) -> Iterator[Finding]:
    """Yield findings about disk and memory."""
    if speaks_of_target(examination):
        yield from _disk(examination)
        yield from _memory(examination)


def _disk(examination: Examination) -> Iterator[Finding]:
    free = examination.facts.value("host.disk_free_bytes")
    packages = examination.resolution.packages if examination.resolution else ()
    download = sum(item.file.size or 0 for item in packages)
    unpacked = round(download * _UNPACKED)
    if not isinstance(free, int) or download + unpacked <= free:
        return
    yield RULE.finding(
        "disk",
        f"{_gb(free)} are free; the resolution takes about {_gb(unpacked)}, {_gb(unpacked + download)} with downloads",
        (Evidence(f"{len(packages)} files, {_gb(download)}", examination.facts.get("host.disk_free_bytes").source),),
        Remedy("make room, or put the environment and the installer's cache on another disk"),
        severity=Severity.ERROR if unpacked > free else Severity.WARNING,
    )


def _memory(examination: Examination) -> Iterator[Finding]:
    memory = examination.facts.value("host.memory_bytes")
    planned = examination.resolution is not None and examination.resolution.get("torch")
    installed = examination.environment is not None and examination.environment.get("torch")
    if isinstance(memory, int) and memory < _LEAST_MEMORY and (planned or installed):
        yield RULE.finding(
            "memory",
            f"the host has {_gb(memory)} of memory, and importing torch alone takes a good part of it",
            (Evidence(_gb(memory), examination.facts.get("host.memory_bytes").source),),
            Remedy("run on a machine, or in a container, with at least 2 GiB"),
            severity=Severity.WARNING,
        )


def _gb(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find, about=SubjectKind.DEVICE)
