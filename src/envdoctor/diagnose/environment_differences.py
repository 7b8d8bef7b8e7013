"""What differs between two environments, and what of it matters."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from typing import NamedTuple

from packaging.version import Version

from envdoctor.model.environment import InstalledDistribution, InstalledEnvironment
from envdoctor.model.report import Change
from envdoctor.model.target import dotted

__all__ = ["compare_environments"]


class _Kind(enum.IntEnum):
    """How two environments differ in one point, in the order in which it is told."""

    PYTHON = enum.auto()
    ADDED = enum.auto()
    REMOVED = enum.auto()
    VERSION = enum.auto()
    BUILD = enum.auto()
    """The same version with another local label or conda build: ``2.7.1+cu118`` against ``2.7.1+cu128``."""
    SOURCE = enum.auto()
    """The same version from somewhere else: an editable install, or a direct URL."""


class _Weight(enum.IntEnum):
    """How likely a difference explains that one works and the other does not."""

    BINARY = enum.auto()
    """GPU stacks, ABI providers, the interpreter: decisive."""
    MAJOR = enum.auto()
    """Another major version of anything, or something missing."""
    MINOR = enum.auto()


class _Ranked(NamedTuple):
    """A difference after what it is sorted by."""

    rank: tuple[int, int, int, str]
    change: Change


_FAMILIES: tuple[tuple[str, re.Pattern[str], str], ...] = (
    (
        "torch",
        re.compile(
            r"torch|pytorch(-cuda)?|torchaudio|torchvision|torchcodec|torchtext|torch-directml|torchao|triton(-windows|-rocm)?"
            r"|pytorch-triton(-rocm|-xpu)?|intel-extension-for-pytorch|xformers|flash-attn|bitsandbytes|deepspeed"
        ),
        "torch and its companions are built for each other",
    ),
    (
        "cuda",
        re.compile(r"nvidia-.+|cuda-.+|cupy(-.+)?|cudatoolkit|cudnn|rocm(-.+)?"),
        "GPU libraries of another release",
    ),
    ("onnxruntime", re.compile(r"onnxruntime(-.+)?|ort-nightly(-.+)?"), "each build brings its own providers"),
    ("tensorflow", re.compile(r"tensorflow(-.+)?|jax|jaxlib|jax-cuda.+"), "built for one CUDA release"),
    ("ctranslate2", re.compile(r"ctranslate2|llama-cpp-python|faiss-(cpu|gpu).*"), "built for one CUDA release"),
    ("numpy", re.compile(r"numpy"), "extension modules are built against NumPy 1 or 2"),
)
_FAMILY_ORDER = {"python": -1, **{family: number for number, (family, _, _) in enumerate(_FAMILIES)}}


def compare_environments(before: InstalledEnvironment, after: InstalledEnvironment) -> tuple[Change, ...]:
    """Return how ``after`` differs from ``before``, what matters most first; nothing where they are the same."""
    found = [*_python(before, after), *_distributions(before, after), *_conda(before, after)]
    return tuple(item.change for item in sorted(found, key=lambda item: item.rank))


def _difference(
    kind: _Kind,
    name: str,
    before: str | None,
    after: str | None,
    weight: _Weight,
    family: str = "",
    because: str = "",
) -> _Ranked:
    about = "python" if name == "python" else "package"
    change = Change(about, name, before, after, matters=weight is not _Weight.MINOR, because=because)
    return _Ranked((weight, _FAMILY_ORDER.get(family, len(_FAMILIES)), kind, name), change)


def _python(before: InstalledEnvironment, after: InstalledEnvironment) -> Iterator[_Ranked]:
    if before.python is None or after.python is None:
        return
    one = before.python_full or dotted(before.python)
    other = after.python_full or dotted(after.python)
    if before.python != after.python:
        reason = "compiled packages are for one Python version"
        yield _difference(_Kind.PYTHON, "python", one, other, _Weight.BINARY, "python", reason)
    elif before.python_full and after.python_full and one != other:
        yield _difference(_Kind.PYTHON, "python", one, other, _Weight.MINOR, "python")


def _distributions(before: InstalledEnvironment, after: InstalledEnvironment) -> Iterator[_Ranked]:
    one: dict[str, InstalledDistribution] = {item.name: item for item in reversed(before.distributions)}
    other: dict[str, InstalledDistribution] = {item.name: item for item in reversed(after.distributions)}
    for name in sorted({*one, *other}):
        left, right = one.get(name), other.get(name)
        family, because = _family(name)
        if left is None or right is None:
            kind = _Kind.ADDED if left is None else _Kind.REMOVED
            weight = _Weight.BINARY if family else _Weight.MAJOR if right is None else _Weight.MINOR
            yield _difference(
                kind, name, left.version if left else None, right.version if right else None, weight, family, because
            )
        elif left.version != right.version:
            yield _changed(name, left.version, right.version, family, because)
        elif left.editable != right.editable or (left.direct_url is None) != (right.direct_url is None):
            yield _difference(_Kind.SOURCE, name, _source(left), _source(right), _Weight.MINOR)


_Build = tuple[str, str]


def _conda(before: InstalledEnvironment, after: InstalledEnvironment) -> Iterator[_Ranked]:
    """Yield what only conda's records tell: builds of the same version, and packages that are not Python's."""
    one, other = _conda_builds(before), _conda_builds(after)
    if not one or not other:
        return
    python = {item.name for environment in (before, after) for item in environment.distributions}
    for name in sorted({*one, *other}):
        left, right = one.get(name), other.get(name)
        family, because = _family(name)
        weight = _Weight.BINARY if family else _Weight.MINOR
        if left and right and left[0] == right[0] and left[1] != right[1]:
            reason = f"another build of the same version: {because}" if because else ""
            yield _difference(_Kind.BUILD, name, " ".join(left), " ".join(right), weight, family, reason)
        elif name not in python and (left is None or right is None or left[0] != right[0]):
            kind = _Kind.ADDED if left is None else _Kind.REMOVED if right is None else _Kind.VERSION
            yield _difference(kind, name, left and left[0], right and right[0], weight, family, because)


def _conda_builds(environment: InstalledEnvironment) -> dict[str, _Build]:
    return {item.name: (item.version, item.build) for item in environment.conda_packages if item.name != "python"}


def _changed(name: str, before: str, after: str, family: str, because: str) -> _Ranked:
    try:
        one, other = Version(before), Version(after)
    except ValueError:
        return _difference(
            _Kind.VERSION, name, before, after, _Weight.BINARY if family else _Weight.MINOR, family, because
        )
    kind = _Kind.BUILD if one.public == other.public else _Kind.VERSION
    if family == "numpy":
        # Within one major version the ABI holds.
        weight = _Weight.BINARY if one.major != other.major else _Weight.MINOR
        because = because if one.major != other.major else ""
    elif family:
        weight = _Weight.BINARY
        because = f"another build of the same version: {because}" if kind is _Kind.BUILD else because
    else:
        # Before 1.0, the second number is the one that says "incompatible".
        significant = 2 if one.major == other.major == 0 else 1
        same = one.release[:significant] == other.release[:significant]
        weight = _Weight.MINOR if same else _Weight.MAJOR
    return _difference(kind, name, before, after, weight, family, because)


def _source(item: InstalledDistribution) -> str:
    return f"{item.version} ({'editable' if item.editable else 'direct URL' if item.direct_url else 'index'})"


def _family(name: str) -> tuple[str, str]:
    for family, pattern, because in _FAMILIES:
        if pattern.fullmatch(name):
            return family, because
    return "", ""
