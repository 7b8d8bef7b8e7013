"""The remedy of an advisory for one situation: the first case that fits, with versions for its placeholders."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.advisories.predicate import Predicate, Situation
from envdoctor.diagnose.examination import card_architectures
from envdoctor.diagnose.remedies import is_on_an_index, listed, moved_with, with_indexes
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Remedy
from envdoctor.model.target import TargetProperty
from envdoctor.model.version_table import VersionTable

__all__ = ["PLACEHOLDER", "RemedyCase", "addressed", "choose_remedy", "worded"]

PLACEHOLDER = re.compile(r"\{([\w-]+)(?:\.(subject|object|public|index))?\}")
"""``{torch}``, ``{torch.public}``, ``{torch.index}`` (its index at PyTorch), ``{python}``, ``{cuda}``, or a side of a
table: ``{transformers-torch.subject}``."""

_LABELS = r"(?:cu\d{3}|xpu|rocm\d[\d.]{0,9})"
_INDEX = re.compile(rf"\b{_LABELS}(?:(?:,| or| and)(?: the)? {_LABELS}){{0,9}} index\b")


class Unworded(Exception):
    """A placeholder has nothing to stand for."""


def worded(
    text: str,
    situation: Situation,
    tables: Mapping[str, VersionTable],
    *,
    strict: bool = False,
    found: str | None = None,
) -> str:
    """Fill the placeholders of a text; ``{found}`` is what the predicate found.

    Raises Unworded where it is strict and one has nothing to stand for.
    """

    def fill(match: re.Match[str]) -> str:
        name, side = match.group(1, 2)
        if side:
            value = _side(name, side, situation, tables)
        else:
            value = found if found and name == "found" else _value(name, situation)
        if value is None and strict:
            raise Unworded(match.group(0))
        return "(absent)" if value is None else value

    return PLACEHOLDER.sub(fill, text)


def _value(name: str, situation: Situation) -> str | None:
    """Return what stands for a package, or a fact of the target; None where there is nothing of the kind."""
    view = situation.scene.get(name)
    return str(view.version) if view is not None else _of_target(situation).get(name)


def _of_target(situation: Situation) -> dict[str, str]:
    target = situation.scene.examination.target
    assumed = situation.scene.examination.assumed
    told = {
        TargetProperty.PYTHON: target.python_version if target else "?",
        TargetProperty.OS: target.os.value if target else "?",
        TargetProperty.ARCH: target.arch.value if target else "?",
    }
    values = {kind.value: text for kind, text in told.items() if kind not in assumed}
    values["backend"] = target.backend.value if target else "?"
    torch = situation.scene.get("torch")
    if torch is not None and torch.cuda_major is not None:
        values["cuda"] = str(torch.cuda_major)
    cards = card_architectures(situation.scene.examination)
    if cards:
        values["gpu"] = " and ".join(cards)
    return values


def _side(name: str, side: str, situation: Situation, tables: Mapping[str, VersionTable]) -> str | None:
    if side == "public":
        view = situation.scene.get(name)
        return view.version.public if view else None
    if side == "index":
        view = situation.scene.get(name)
        return view.version.local if view and is_on_an_index(view.version.local) else None
    return _of_table(tables.get(name), side, situation)


def _of_table(table: VersionTable | None, side: str, situation: Situation) -> str | None:
    """Return which versions of one side go with what is there of the other; None where both are there and fit."""
    subject = situation.scene.get(table.subject) if table else None
    if table is None or subject is None:
        return None
    there, beside = _value(table.object, situation), situation.scene.get(table.object)
    known = Version(there) if there and there != "?" else None
    wanted = table.wanted(subject.version, known, series=subject.goes_by_series(beside))
    if wanted is not None and known is not None and table.fits(wanted, known):
        return None
    if side == "object":
        return wanted
    return table.going_with(known, subject.version) if known is not None else None


@dataclass(frozen=True, slots=True)
class RemedyCase:
    """A remedy for some of the situations in which an advisory fires."""

    remedy: Remedy
    """Placeholders as in messages; where one has nothing to stand for, the case does not fit."""
    when: Predicate | None = None
    asks: tuple[Requirement, ...] = ()
    """What it asks to be installed; where all of it is, it is no remedy."""


def choose_remedy(cases: Sequence[RemedyCase], situation: Situation, tables: Mapping[str, VersionTable]) -> Remedy:
    """Return the first remedy that fits and is not installed already; the last case is the one for all situations."""
    there: tuple[Requirement, ...] = ()
    for case in cases:
        if case.when is not None and not case.when.ask(situation).value:
            continue
        if case.asks and all(_is_met(item, situation) for item in case.asks):
            there = there or case.asks
            continue
        try:
            commands = tuple(worded(str(item), situation, tables, strict=True) for item in case.remedy.commands)
            summary = worded(case.remedy.summary, situation, tables, strict=True)
        except Unworded:
            continue
        said = addressed(_with_companions(summary, case.asks, situation), *commands)
        return Remedy(said, case.remedy.applicability, commands)
    return _already(there) if there else cases[-1].remedy


def addressed(text: str, *commands: str) -> str:
    """Return an advisory's words with where the indexes are that they speak of, unless they or a command say it."""
    if any("download.pytorch.org" in each for each in (text, *commands)):
        return text
    labels = dict.fromkeys(each for found in _INDEX.finditer(text) for each in re.findall(_LABELS, found[0]))
    return with_indexes(text, *labels)


def _with_companions(summary: str, asks: tuple[Requirement, ...], situation: Situation) -> str:
    """Return the words of a remedy with what has to move with the packages that it asks for."""
    there = {name: view.version for name, view in situation.scene.packages.items()}
    moved: dict[str, str] = {}
    for item in asks:
        if not _is_met(item, situation):
            moved |= moved_with(canonicalize_name(item.name), item.specifier, there)
    texts = [f"{name}{versions}" for name, versions in moved.items() if name not in {item.name for item in asks}]
    return f"{summary.rstrip('.')}. {listed(texts)} must move with it." if texts else summary


def _is_met(wanted: Requirement, situation: Situation) -> bool:
    view = situation.scene.get(canonicalize_name(wanted.name))
    return view is not None and wanted.specifier.contains(view.version, prereleases=True)


def _already(asked: tuple[Requirement, ...]) -> Remedy:
    named = " and ".join(f"`{item}`" for item in asked)
    return Remedy(f"What usually helps is installed already ({named}): see whether another environment was at work.")
