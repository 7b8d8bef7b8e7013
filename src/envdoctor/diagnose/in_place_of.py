"""What to take in the place of a distribution whose builds are for another GPU; tried against the target first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from envdoctor.diagnose.examination import Examination, card_architectures
from envdoctor.diagnose.file_reach import pythons_in_words, reach_of
from envdoctor.diagnose.module_owners import family_of, one_to_keep, what_to_keep
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.candidate import FileKind
from envdoctor.model.compatibility import can_use
from envdoctor.model.finding import in_words
from envdoctor.model.target import Backend, OperatingSystem, Target, dotted
from envdoctor.model.version_table import contains
from envdoctor.ports import IndexUnavailable, ProjectNotFound
from envdoctor.shipped import data_file

if TYPE_CHECKING:
    from envdoctor.diagnose.wheel_facts import Devices, Family

__all__ = ["in_place_of", "no_wheel", "what_to_take"]


def in_place_of(examination: Examination, name: str, target: Target) -> str:
    """Return what to take in the place of ``name`` for the target's backend, with what it needs.

    What has no file for the target, or is not for its card, is named with the reason, and the next one taken.
    """
    family = family_of([name])
    backend, against = _best_for(examination, family, target, [name]) if family is not None else (None, "")
    if family is None or backend is None:
        return f"{_known_way(name, target)}{against}"
    other = one_to_keep(family, backend.value) or ""
    where = ", on the CPU" if backend is Backend.CPU else ""
    return f"take `{other}` in its place{where}{_condition(examination, other, target)}{against}"


def what_to_take(examination: Examination, family: Family, names: Sequence[str]) -> tuple[str, str | None]:
    """Return which of a family to keep or to take in the place of those that are there, in words and by name."""
    target = examination.target
    backend = target.backend.value if target is not None else ""
    if target is None or one_to_keep(family, backend) in (None, *names):
        return what_to_keep(family, names, backend), one_to_keep(family, backend)
    best, against = _best_for(examination, family, target)
    backend = best.value if best is not None else ""
    return f"{what_to_keep(family, names, backend)}{against}", one_to_keep(family, backend)


def _best_for(
    examination: Examination, family: Family, target: Target, without: Sequence[str] = ()
) -> tuple[Backend | None, str]:
    """Return the backend whose distribution of a family the target can use, None where it can none; and why no other.

    ``without``: those that are not to be taken.
    """
    against = ""
    for other, backend in _others(family, target):
        reason = _why_not(examination, other, target) if other not in without else ""
        if not reason and other not in without:
            return backend, against
        against += f"; `{other}` {reason}" if reason else ""
    return None, against


def _others(family: Family, target: Target) -> Iterator[tuple[str, Backend]]:
    """Yield the distributions with the same module that are for the target, best first, and for which backend each."""
    backends = [target.backend, *([Backend.DIRECTML] if target.os is OperatingSystem.WINDOWS else []), Backend.CPU]
    found = {one_to_keep(family, backend.value): backend for backend in reversed(backends)}
    for other, backend in reversed(found.items()):
        if other is not None:
            yield other, backend


def _why_not(examination: Examination, name: str, target: Target) -> str:
    """Return why a distribution is not for the target or its card; empty where it is, or where that is not known."""
    return no_wheel(examination, name, target) or _not_for_card(examination, name, target)


def no_wheel(examination: Examination, name: str, target: Target, versions: str = "") -> str:
    """Return why no wheel of a distribution is for the target; empty where one is, or where that is not known.

    ``versions``: of which alone, as a specifier.
    """
    if examination.index is None:
        return ""
    try:
        page = examination.index.page(canonicalize_name(name))
    except IndexUnavailable:
        return ""
    except ProjectNotFound:
        return "is not on the index"
    files = (file for file in page.files if file.kind is FileKind.WHEEL and not file.version.is_prerelease)
    wheels = [file for file in files if not versions or contains(versions, file.version)]
    if any(can_use(file, target) for file in wheels):
        return ""
    reach = reach_of(wheels, target)
    if reach.pythons:
        return f"has wheels for {pythons_in_words(reach.pythons)} here, and not for {target.python_version}"
    if target.level is not None and reach.level is not None:
        option, now, wanted = target.level_option, dotted(target.level), dotted(reach.level)
        also = f" and {pythons_in_words(reach.with_level)}" if reach.with_level else ""
        return (
            f"needs {option} {wanted} or later{also}, and the target is taken to have {now} (`--{option}` says another)"
        )
    return f"has wheels for {in_words(reach.platforms) or 'no platform'} alone"


def _row(name: str, target: Target) -> Devices | None:
    rows = [item for item in shipped_wheel_facts().devices if item.speaks_of(name, target)]
    return rows[-1] if rows else None


def _not_for_card(examination: Examination, name: str, target: Target) -> str:
    row, cards = _row(name, target), card_architectures(examination)
    if row is None or not row.cards or not cards:
        return ""
    if any(fnmatch(card, pattern) for card in cards for pattern in row.cards):
        return ""
    return f"is for {in_words(row.cards)}, and not for {in_words(cards)}"


def _condition(examination: Examination, name: str, target: Target) -> str:
    row = _row(name, target)
    if row is None:
        return ""
    cards = f"; it is for {in_words(row.cards)}" if row.cards and not card_architectures(examination) else ""
    return f"{f', which needs {row.needs}' if row.needs else ''}{cards}"


def _known_way(name: str, target: Target) -> str:
    """Return what the tables say of a distribution that has no other one in its place."""
    for row in data_file("wheels")["instead"]:
        fits = target.backend.value in row["backends"] and target.os.value in row.get("os", (target.os.value,))
        if row["package"] == name and fits:
            return str(row["words"])
    return f"leave it out: no build of it for {target.backend.value} is known here"
