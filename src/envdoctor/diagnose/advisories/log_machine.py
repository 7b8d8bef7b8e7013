"""What a log tells of the machine and of the packages that it comes from: more than any target, since it was there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.model.environment import EnvironmentKind, InstalledDistribution, InstalledEnvironment
from envdoctor.model.target import Backend, OperatingSystem, TargetProperty

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination

__all__ = ["with_what_log_tells"]

_SYSTEMS = {
    OperatingSystem.WINDOWS: re.compile(r"(?<![\w/])[A-Za-z]:\\+\w|\bWinError \d"),
    OperatingSystem.MACOS: re.compile(r"(?<![\w.:/\\])/(?:Users|opt/homebrew)/|\bmacOS-\d|\(mach-o file"),
    OperatingSystem.LINUX: re.compile(
        r"(?<![\w.:/\\])/(?:home|root|mnt/[a-z])/|\.so[\d.]*: cannot open shared object|-linux-gnu\b"
    ),
}
"""Paths and words that one system alone has."""
_WSL = re.compile(r"microsoft-standard-WSL|(?<![\w.:/\\])/mnt/[a-z]/|/dev/dxg|\blibrocdxg\b")
_PYTHON = re.compile(
    r"[/\\]python3\.(\d{1,2})[/\\]|[/\\]Python3(\d{1,2})[/\\]|\bcpython-3(\d{1,2})-|\bCPython 3\.(\d{1,2})\b"
    r"|\bPython[ -]3\.(\d{1,2})\.\d"
)
_BACKENDS = {
    Backend.ZLUDA: re.compile("zluda|amdhip64", re.IGNORECASE),
    Backend.DIRECTML: re.compile(
        r"torch_directml|PrivateUse1|privateuseone|\bDML backend|DmlExecutionProvider|Invalid or unsupported data type"
    ),
    Backend.COREML: re.compile(r"coreml", re.IGNORECASE),
    Backend.ROCM: re.compile(
        r"\bHIP error|\bhipError|\bNo HIP GPUs|\brocBLAS error|\bMIOpen(?:\(HIP\)| Error)|\bmiopenStatus|\bROCk module"
    ),
}
"""What runs the tensors, where words of it tell; CUDA's own words stand under ZLUDA and ROCm too."""

_CARD = re.compile(
    r"\bGPU arch ?: ?(gfx[0-9a-f]{3,5})\b|_lazy_(gfx[0-9a-f]{3,5})\.|\((gfx[0-9a-f]{3,5})\)"
    r"|\bCUDA capability sm_(\d{2,3}) is not|\bwhich is of cuda capability (\d{1,2}\.\d)"
    r"|'sm_(\d{2,3})[a-z]?' is not defined"
)
"""A card's architecture, where a tool complains of it or names it with the card."""

_INSTALLED = re.compile(r"\bSuccessfully installed (.{1,4000})")
_NAMED = re.compile(r"([A-Za-z][\w.]*(?:-[A-Za-z]\w*)*)-(\d[\w.+!]*)(?:\s|$)")
_STATED = (
    re.compile(r"(?m)^ *(?:\+ )?([A-Za-z][\w.-]*)==(\d[\w.+!]*)$"),
    re.compile(r"\bRequirement already satisfied: ([A-Za-z][\w.-]*)[^(\n]{0,300}\((\d[\w.+!]*)\)"),
    re.compile(r"(?i)\b(torch|pytorch) version:? \(?(\d[\w.+]*)"),
)
_CALLED = {"pytorch": "torch"}


def with_what_log_tells(examination: Examination, text: str) -> Examination:
    """Return the examination with target and packages as the log shows them, and what neither tells as assumed."""
    environment = examination.environment
    if environment is None or environment.source == "facts":
        environment = _environment(text) or environment
    target = examination.target
    if target is None:
        return replace(examination, environment=environment)
    assumed = set(examination.assumed)
    if (system := _system(text)) is not None:
        target = replace(target, os=system)
        assumed.discard(TargetProperty.OS)
    if (python := _python(text)) is not None:
        target = replace(target, python=python, python_full=None)
        assumed.discard(TargetProperty.PYTHON)
    if _WSL.search(text):
        target = replace(target, wsl=True)
    if target.backend is Backend.UNKNOWN:
        backends = (backend for backend, pattern in _BACKENDS.items() if pattern.search(text))
        target = replace(target, backend=next(backends, Backend.UNKNOWN))
    if target.gpu_architecture is None:
        target = replace(target, gpu_architecture=_card(text))
    return replace(examination, environment=environment, target=target, assumed=frozenset(assumed))


def _system(text: str) -> OperatingSystem | None:
    found = [system for system, pattern in _SYSTEMS.items() if pattern.search(text)]
    return found[0] if len(found) == 1 else None


def _python(text: str) -> tuple[int, int] | None:
    minors = {int(next(filter(None, match.groups()))) for match in _PYTHON.finditer(text)}
    return (3, minors.pop()) if len(minors) == 1 else None


def _card(text: str) -> str | None:
    found = {next(filter(None, match.groups())) for match in _CARD.finditer(text)}
    cards = {name if name.startswith("gfx") else f"sm_{name.replace('.', '')}" for name in found}
    return cards.pop() if len(cards) == 1 else None


def _environment(text: str) -> InstalledEnvironment | None:
    found: dict[str, InstalledDistribution] = {}
    for name, version in _packages(text):
        called = canonicalize_name(_CALLED.get(name.lower(), name))
        found[called] = InstalledDistribution(called, version)
    if not found:
        return None
    return InstalledEnvironment(tuple(found.values()), source="log", kind=EnvironmentKind.LISTING, partial=True)


def _packages(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and versions, those that a tool put in last."""
    stated = [match.groups() for pattern in _STATED for match in pattern.finditer(text)]
    put_in = [pair for match in _INSTALLED.finditer(text) for pair in _NAMED.findall(match[1])]
    for name, version in (*stated, *put_in):
        parsed = _version(version.rstrip("."))
        if parsed is not None:
            yield name, parsed


def _version(text: str) -> str | None:
    try:
        return str(Version(text))
    except ValueError:
        return None
