"""A log names another card, system or Python than was given.

## What it does

Compares the card of which a tool complains in a log (`sm_120`, `gfx1031`) or that a program names (`GPU: NVIDIA GeForce
GTX 1080`; words of ROCm are of a card of AMD's), and the system and the Python that its paths
and words show, with what was typed, measured or read from facts. Nothing is said of what was only assumed.

## Why it is bad

One of the two is not of the machine that is meant, and a remedy for the one does not help the other. What was given
counts for the card, so that a remedy may be for a card that the log does not speak of; for the system and the Python
the log counts, as far as its own failures are judged.

## Example

`--gpu sm_86`, and the log says "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current
PyTorch installation".

## What to do

See which of the two is meant: leave the option out, or give the log of the other machine. An AMD card that passes for
another one (`HSA_OVERRIDE_GFX_VERSION`) is named as that one in logs.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.advisories.log_reading import told_of_machine, words_of_amd
from envdoctor.diagnose.examination import Examination, card_architectures
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Finding, Remedy, Severity
from envdoctor.model.target import TargetProperty
from envdoctor.model.unknown import SubjectKind

_CALLED = {"gpu": "card", "os": "system", "python": "Python"}
_COUNTS = {
    "gpu": "what was given counts: leave it out to have the log judged by its own card, or give the log of the other",
    "os": "what the log shows is judged for the log's own system: see which of the two is meant",
    "python": "what the log shows is judged for the log's own Python: see which of the two is meant",
}


def _find(examination: Examination) -> Iterator[Finding]:
    given = _given(examination)
    of_log = told_of_machine(examination.log or "")
    nvidia = given["gpu"] and all(card.startswith("sm_") for card in given["gpu"])
    if nvidia and "gpu" not in of_log and (words := words_of_amd(examination.log or "")) is not None:
        of_log["gpu"] = ("one of AMD's, with ROCm", words)
    for name, (told, line) in of_log.items():
        if given.get(name) and told not in given[name]:
            known = " or ".join(given[name])
            yield RULE.finding(
                subject="log",
                message=f"the log is of another {_CALLED[name]} than was given: {told}, and not {known}",
                severity=Severity.WARNING if name == "gpu" and not _passes(told, given[name]) else Severity.INFO,
                evidence=(line,),
                remedy=Remedy(_COUNTS[name]),
            )


def _given(examination: Examination) -> dict[str, list[str]]:
    """Return what is known of the machine without the log; nothing of what was assumed."""
    given = {"gpu": card_architectures(examination)}
    if (target := examination.target) is None:
        return given
    if TargetProperty.OS not in examination.assumed:
        given["os"] = [target.os.value]
    if TargetProperty.PYTHON not in examination.assumed:
        given["python"] = [target.python_version]
    return given


def _passes(told: str, given: list[str]) -> bool:
    """Return whether an AMD card may pass for the one that the log names, of its own generation."""
    return told.startswith("gfx") and any(card[:-1] == told[:-1] for card in given)


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find, needs={"log"}, about=SubjectKind.LOG)
