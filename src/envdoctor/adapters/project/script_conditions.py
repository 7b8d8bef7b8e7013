"""What the conditions and labels of a script say of the target that is judged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from envdoctor.model.dataclass import dataclass

__all__ = ["JudgedFor", "compared"]

_SYSTEMS = (
    ("darwin", re.compile(r"darwin|macos|\bosx\b", re.I)),
    ("win32", re.compile(r"msys|mingw|cygwin|windows|win32|\bnt\b", re.I)),
    ("linux", re.compile(r"linux|ubuntu|debian", re.I)),
)
_BACKENDS = (
    ("cuda", re.compile(r"cuda[\d.]*|nvidia|cu\d{2,3}|geforce", re.I)),
    ("rocm", re.compile(r"rocm[\d.]*|hip|amd|radeon", re.I)),
    ("xpu", re.compile(r"xpu|ipex", re.I)),
    ("mps", re.compile(r"mps|metal", re.I)),
    ("cpu", re.compile(r"cpu", re.I)),
)
_OF_PYTORCH = re.compile(r"/whl/(?:nightly/|test/)?(cu\d{2,3}|rocm[\d.]*|xpu|cpu)\b")
_ALONE = frozenset({"cuda", "rocm", "xpu", "cpu"})
"""Backends whose builds are no other's: ZLUDA takes those for CUDA, and a Mac has one build for all."""
_EQUALS = re.compile(r"(?:(?<![=!<>~])={1,2}|\s-i?eq\s)\s*[\"']?([\w.+-]+)[\"']?(?=[\s\])}]|$)", re.I)
_NOT, _MORE = re.compile(r"!|\bnot\b|-i?ne\b|\bneq\b", re.I), re.compile(r"\|\||&&|\s-(?:o|a|or|and)\s", re.I)
_OTHERWISE = re.compile(r"!|\|\||\bnot\b|-i?ne\b|-z\b", re.I)


@dataclass(frozen=True, slots=True)
class JudgedFor:
    """What the conditions of a script are held against; empty where it is not known."""

    platform: str = ""
    """``sys_platform`` of the target."""
    backend: str = ""
    """What runs the tensors there."""

    def may_have(self, condition: str) -> bool:
        """Return whether a condition speaks of no other system, and of no other maker's cards, than the target's."""
        systems = {system for system, words in _SYSTEMS if words.search(condition)}
        if self.platform and systems and _NOT.search(condition):
            # Of several comparisons this does not tell which one is turned round.
            return bool(_MORE.search(condition)) or self.platform not in systems
        if self.platform and systems and self.platform not in systems:
            return False
        backends = _backends(compared(condition))
        return self.backend not in _ALONE or not backends or self.backend in backends

    def is_served(self, commands: str) -> bool:
        """Return whether commands install of no index with builds for other makers' cards alone."""
        backends = _backends(_OF_PYTORCH.findall(commands))
        return self.backend not in _ALONE or not backends or self.backend in backends

    def is_named(self, label: str) -> bool | None:
        """Return whether the words of a label name the target's backend, None where they name none."""
        backends = _backends(re.split(r"[_\W]+", label))
        return self.backend in backends if backends and self.backend in _ALONE else None


def _backends(words: Iterable[str]) -> set[str]:
    return {name for said in words for name, pattern in _BACKENDS if pattern.fullmatch(said.strip("-"))}


def compared(condition: str) -> Sequence[str]:
    """Return what a condition asks a value to be: the patterns of a `case`, or what `=` is followed by."""
    if _OTHERWISE.search(condition):
        return ()
    first, _, last = condition.strip().rpartition(" in ")
    if first.startswith("$") or not re.search(r"[\s=]", last):
        return [pattern.strip("*") for pattern in last.split("|")]
    return _EQUALS.findall(condition)
