"""Whose cards a backend drives."""

from __future__ import annotations

from envdoctor.model.fact import Facts
from envdoctor.model.target import Backend

__all__ = ["card_against"]

_VENDORS = {
    Backend.CUDA: ("nvidia",), Backend.ZLUDA: ("amd",), Backend.ROCM: ("amd",), Backend.XPU: ("intel",),
    Backend.DIRECTML: ("amd", "intel", "nvidia"),
}  # fmt: skip


def card_against(backend: Backend, facts: Facts) -> str:
    """Return why no card of a machine is one for a backend; empty where one is, or where none is known."""
    cards = [fact for fact in facts.of_cards("vendor") if fact.value]
    wanted = _VENDORS.get(backend)
    if wanted is None or not cards or any(fact.value in wanted for fact in cards):
        return ""
    named = (facts.value(fact.name.replace("].vendor", "].name")) or str(fact.value).upper() for fact in cards)
    return f"and the card is {' and '.join(dict.fromkeys(map(str, named)))}"
