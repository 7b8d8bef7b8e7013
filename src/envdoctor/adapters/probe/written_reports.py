"""What people write of their environment by hand: `torch: 2.6.0`, `- PyTorch version 2.6.0+cu124`, `OS: Windows 11`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envdoctor.adapters.probe.cards import vendor_of_name
from envdoctor.shipped import data_file

__all__ = ["rows_of_person"]

_BETWEEN = r"\s{0,20}(?::|==?(?!=)|\s)\s{0,20}"
_NAME = r"[A-Za-z][A-Za-z0-9_-]{0,40}"
_VERSION = r"v?(?P<version>\d{1,4}(?:\.\d{1,8}){1,4}[\w.+]{0,60})"
_VERSIONED = re.compile(rf"(?P<name>{_NAME})(?:\[[\w,-]{{1,40}}\])?(?: versions?)?{_BETWEEN}{_VERSION}", re.IGNORECASE)
_HEADED = re.compile(r"(?P<name>[A-Za-z][\w /.()-]{0,40}?)\s{0,20}[:=](?!=)\s{0,20}(?P<said>\S.{0,200})")
_SYSTEM = re.compile(
    r"\b(Windows|WSL|Ubuntu|Debian|Fedora|Arch Linux|CentOS|Linux|macOS|Darwin)(?=[\s\d(]|$)", re.IGNORECASE
)
_CARD = re.compile(r"GPUs?(?: \d| model| name)?|Graphics(?: card)?|Video ?card|Cards?|Device", re.IGNORECASE)
_MARKS = "-*•>+ \t#"
_SIGNS = re.compile(r"[*`]{1,3}|(?<!\w)__(?=\w)|(?<=\w)__(?!\w)")
_SPELT = {
    "pytorch": "torch",
    "opencv": "opencv-python",
    "flash-attention": "flash-attn",
    "flashattention": "flash-attn",
    "sklearn": "scikit-learn",
}
_FURTHER = frozenset(
    {"auto-gptq", "autoawq", "detectron2", "gptqmodel", "intel-extension-for-pytorch", "mlx", "mmcv", "mmdet",
     "mmengine", "paddleocr", "paddlepaddle", "paddlepaddle-gpu", "sageattention", "sglang", "tensorflow-gpu",
     "torchao", "torchtext", "unsloth"}
)  # fmt: skip
_PROGRAMS = frozenset({"cmake", "ninja"})


def rows_of_person(text: str) -> Iterator[str]:
    """Yield what a text says of versions, system and cards in the words of torch's collect_env.

    Nothing comes of a text that is mostly something else (what a tool lists, say), nor of a single version.
    """
    said, others, all_ = list[str](), 0, 0
    for line in text.splitlines():
        plain = _SIGNS.sub("", line.strip(_MARKS)).strip()
        if not re.search(r"\w", plain):
            continue
        all_ += 1
        parts = re.split(r"[,;|]\s", plain) if len(plain) < 400 else [plain]
        rows = [row for part in parts for row in _row(part.strip())]
        others += not any(rows)
        said += filter(None, rows)
    named = sum(row.startswith(("[pip3]", "PyTorch version: ")) for row in said)
    if named and len(said) > 1 and others * 2 <= all_ and others < _MOST_OTHERS:
        yield from dict.fromkeys(said)


_MOST_OTHERS = 12
"""What nobody writes by hand; a tool's list has hundreds of names that say nothing here."""


def _row(text: str) -> Iterator[str]:
    """Yield what one part of a line says; nothing where that is something else."""
    versioned = _VERSIONED.match(text)
    name = re.sub(r"[_-]+", "-", versioned["name"].lower()) if versioned else ""
    name = _SPELT.get(name, name)
    headed = _HEADED.match(text)
    if versioned and name == "torch":
        yield f"PyTorch version: {versioned['version']}"
    elif versioned and name == "python":
        yield f"Python version: {versioned['version']}"
    elif versioned and ("==" in versioned[0] or _is_known(name)):
        yield f"[pip3] {name}=={versioned['version']}"
    elif headed and _CARD.fullmatch(headed["name"].strip()):
        yield from _of_card(re.split(r"[(,]|\bwith\b", headed["said"])[0].strip())
    elif headed and re.fullmatch(r"(?:Operating )?System|OS|Platform", headed["name"].strip(), re.IGNORECASE):
        system = _SYSTEM.search(headed["said"])
        yield from _of_system(system[1]) if system else ()
    elif not headed and (system := _SYSTEM.match(text)):
        yield from _of_system(system[1])
    elif not headed and not versioned and len(text) < 60:
        yield from _of_card(text)


def _is_known(name: str) -> bool:
    """Return whether a name is a distribution's: beside them stand `CUDA: 12.4`, `ComfyUI: 0.3.10`, `Driver: 551`."""
    known: list[str] = data_file("known-names")["names"]["known"]
    return (name in known and name not in _PROGRAMS) or name in _FURTHER


def _of_card(text: str) -> Iterator[str]:
    if vendor_of_name(text) in ("nvidia", "amd"):
        yield f"GPU 0: {text}"


def _of_system(word: str) -> Iterator[str]:
    names = {"windows": "Windows", "macos": "macOS", "darwin": "macOS"}
    yield f"Python platform: {names.get(word.lower(), 'Linux')}"
