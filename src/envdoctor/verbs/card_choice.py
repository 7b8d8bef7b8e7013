"""The card to judge for as the user typed it."""

from __future__ import annotations

import re

from envdoctor.adapters.probe.cards import vendor_of_name
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.shipped import architecture_of_card, chips_of_card

__all__ = ["card_facts", "with_card"]

_ARCHITECTURE = re.compile(r"(?:sm_?(\d{2,3})[af]?|(\d{1,2}\.\d))|gfx[0-9a-f]{3,4}", re.IGNORECASE)
_RUN_TOGETHER = re.compile(r"\b(RX|RTX|GTX|Arc|Vega|Radeon)(?=\d)", re.IGNORECASE)
"""The family of a card that is typed without the space after it."""


def card_facts(text: str | None) -> tuple[Fact, ...]:
    """Return the facts of a card that was typed by its name or architecture, none for None. Raises ValueError."""
    if text is None:
        return ()
    told: dict[str, str] = {}
    text = _RUN_TOGETHER.sub(r"\1 ", text)
    direct = _ARCHITECTURE.fullmatch(text.strip())
    architecture = architecture_of_card(text) if direct is None else text.strip().lower()
    if direct is not None and (direct[1] or direct[2]):
        architecture = f"sm_{direct[1] or direct[2].replace('.', '')}"
    if direct is None:
        told["name"] = text.strip()
    if architecture is not None:
        told["architecture"] = architecture
        told["vendor"] = "amd" if architecture.startswith("gfx") else "nvidia"
        if architecture.startswith("sm_"):
            digits = architecture.removeprefix("sm_")
            told["compute_capability"] = f"{digits[:-1]}.{digits[-1]}"
    elif re.search(r"\bArc\b", text, re.IGNORECASE):
        told["vendor"] = "intel"
    elif vendor_of_name(text.strip()) == "apple":
        told["vendor"] = "apple"
    elif chips := chips_of_card(text):
        named = f"`{text[:60]}` is the name of several chips ({chips})"
        raise ValueError(f"{named}; write which of them it is in its place")
    else:
        raise ValueError(f"`{text[:60]}` is no card that is known by its name; write its architecture: sm_120, gfx1201")
    return tuple(Fact(f"gpu[0].{key}", FactState.KNOWN, value, "--gpu") for key, value in told.items())


def with_card(facts: Facts, gpu: str | None) -> Facts:
    """Return the facts with the card that was typed in the place of all cards that they speak of."""
    typed = card_facts(gpu)
    if not typed:
        return facts
    others = (fact for fact in facts if not fact.name.startswith("gpu"))
    return Facts([*others, *typed, Fact("gpu.count", FactState.KNOWN, 1, "--gpu")])
