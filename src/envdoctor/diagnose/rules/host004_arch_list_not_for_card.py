"""The list of GPU architectures that builds compile for leaves the card out.

## What it does
Compares `TORCH_CUDA_ARCH_LIST` (`PYTORCH_ROCM_ARCH` for AMD), as it is set on the machine or by the profile, with the
card: an extension that is built there has code for what the list names, and for nothing else.

## Why it is bad
The build succeeds, and the first kernel of the extension fails: "no kernel image is available for execution on the
device". On boards such as Jetson Thor (11.0), Orin (8.7) and GB10 (12.1) the lists of other people's recipes are wrong.

## Example
`TORCH_CUDA_ARCH_LIST=9.0` on Jetson Thor, whose capability is 11.0, and torch-scatter, which has only an sdist.

Where nothing of the plan is built from source, it is a note.

## What to do
Set the variable to the card's capability, or do not set it: torch then asks the card.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination, card_architectures
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import code_of
from envdoctor.model.candidate import BuildRisk, FileKind
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

_NAMES = {
    "kepler": ("3.5",), "maxwell": ("5.0", "5.2"), "pascal": ("6.0", "6.1"), "volta": ("7.0",), "turing": ("7.5",),
    "ampere": ("8.0", "8.6"), "ada": ("8.9",), "hopper": ("9.0",), "blackwell": ("10.0", "12.0"),
}  # fmt: skip
_NUMBER = re.compile(r"(\d{1,2})\.(\d)([af]?)")
# CUDA 12 called Thor 10.1.
_ALSO = {"sm_101": "sm_110"}


def find(examination: Examination) -> Iterator[Finding]:
    """Yield one finding for each variable whose list leaves out every card of its kind."""
    cards = card_architectures(examination)
    for variable, start in (("TORCH_CUDA_ARCH_LIST", "sm_"), ("PYTORCH_ROCM_ARCH", "gfx")):
        ours = [card for card in cards if card.startswith(start)]
        for text, source, set_by in _values(examination, variable):
            listed = _listed(text)
            code = code_of(tuple(listed))
            if listed and ours and all(code.runs_on(card) is False for card in ours):
                yield _finding(examination, variable, text, source, ours, set_by)


def _finding(examination: Examination, variable: str, text: str, source: str, ours: list[str], set_by: str) -> Finding:
    built = _built(examination)
    what = f"what is built {'outside of `fix` and `run`' if set_by else 'here'}"
    told = f" ({', '.join(built)})" if built and not set_by else ""
    sets, card = f"; {set_by}" if set_by else "", " and ".join(map(_card, ours))
    return RULE.finding(
        variable,
        f"{variable} is `{text}`, and the card is {card}: {what}{told} has no code for it{sets}",
        (Evidence(f"{variable}={text}", source),),
        Remedy(f"set {variable} to {';'.join(map(_number, ours))}, or leave it unset: torch then asks the card"),
        severity=RULE.severity if (built is None or built) and not set_by else Severity.INFO,
    )


def _values(examination: Examination, variable: str) -> Iterator[tuple[str, str, str]]:
    """Yield what the profile sets and what is set on the machine, with where; and of this, that the profile counts."""
    profile, fact = examination.profile, examination.facts.get(f"environment.{variable}")
    own = profile.environment.get(variable, "") if profile is not None else ""
    there = str(examination.facts.value(fact.name) or "")
    set_by = ""
    if profile is not None and own:
        yield own, f"profile {profile.name}", ""
        set_by = f"profile `{profile.name}` sets `{own}` there"
    if there != own:
        yield there, fact.source or "environment", set_by


def _listed(text: str) -> list[str]:
    """Return the architectures of ``9.0``, ``8.0;8.6+PTX``, ``Ampere`` or ``gfx1100``; none where a part is unknown."""
    found: list[str] = []
    for item in re.split(r"[;,\s]+", text.strip().lower()):
        name, _, ptx = item.partition("+")
        numbers = _NAMES.get(name, (name,))
        for number in numbers:
            match = _NUMBER.fullmatch(number)
            if match is None and not re.fullmatch(r"gfx[0-9a-f]+", number):
                return []
            code = number if match is None else f"sm_{match[1]}{match[2]}{match[3]}"
            found.append(_ALSO.get(code, code))
            if ptx == "ptx" and match is not None:
                found.append(f"compute_{match[1]}{match[2]}")
    return found


def _built(examination: Examination) -> list[str] | None:
    """Return the packages of the plan that a compiler builds, None where there is no plan."""
    if examination.resolution is None:
        return None
    return [
        f"`{item.name}`"
        for item in examination.resolution.packages
        if item.file.kind is FileKind.SDIST and item.build_risk is not BuildRisk.ANYWHERE
    ]


def _number(card: str) -> str:
    digits = card.removeprefix("sm_").rstrip("af")
    return card if card.startswith("gfx") else f"{digits[:-1]}.{digits[-1]}"


def _card(card: str) -> str:
    return card if card.startswith("gfx") else f"{card} (capability {_number(card)})"


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find)
