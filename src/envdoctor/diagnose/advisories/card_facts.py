"""Facts by a pattern of their names, and the cards of a machine by them."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from envdoctor.model.fact import Fact, FactState

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination

__all__ = ["card_architectures", "facts_like"]


def facts_like(examination: Examination, pattern: str) -> Iterator[Fact]:
    """Yield the facts whose names match; a star stands for an index in brackets."""
    if "*" not in pattern:
        yield examination.facts.get(pattern)
        return
    # A pattern's star stands for an index in brackets, which fnmatch would read as a set of characters.
    escaped = pattern.replace("[", "\x00").replace("]", "\x01")
    for fact in examination.facts:
        if fnmatch(fact.name.replace("[", "\x00").replace("]", "\x01"), escaped):
            yield fact


def card_architectures(examination: Examination) -> list[str]:
    """Return the cards' architectures as ``sm_110`` or ``gfx1030``: measured, else the target's, else the profile's."""
    found: list[str] = []
    for name in ("gpu[*].architecture", "gpu[*].compute_capability"):
        for fact in facts_like(examination, name):
            if fact.state is FactState.KNOWN:
                text = str(fact.value)
                is_number = text.replace(".", "").isdigit() and "." in text
                found.append(f"sm_{text.replace('.', '')}" if is_number else text)
    found = _as_told_to_hip(examination, found)
    if not found and examination.target and examination.target.gpu_architecture:
        found.append(examination.target.gpu_architecture)
    if not found and examination.profile:
        found += examination.profile.target.gpu_architectures
    return list(dict.fromkeys(found))


def _as_told_to_hip(examination: Examination, cards: list[str]) -> list[str]:
    """Return the cards as ROCm takes them: HSA_OVERRIDE_GFX_VERSION lets an AMD card pass for another one."""
    told = str(examination.facts.value("environment.HSA_OVERRIDE_GFX_VERSION") or "").split(".")
    if len(told) != 3 or not all(part.isdecimal() for part in told) or examination.facts.value("host.wsl"):
        return cards
    passes_for = f"gfx{int(told[0])}{int(told[1])}{int(told[2]):x}"
    return [passes_for if card.startswith("gfx") else card for card in cards]
