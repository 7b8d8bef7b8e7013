"""The advisories that can speak of what is planned, installed or asked for, read alone.

Most projects have few of the packages that advisories are about, and reading all of the files takes longer than most
of what else there is to do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from envdoctor.shipped import advisories_folder

if TYPE_CHECKING:
    from envdoctor.diagnose.advisories.advisory import Advisory
    from envdoctor.diagnose.advisories.predicate import Predicate
    from envdoctor.diagnose.examination import Examination

__all__ = ["advisories_for", "index_row", "written_index"]

Row: TypeAlias = tuple[str, str, Sequence[Sequence[str]], Sequence[str]]
"""Code; file; sets of names of which one each must be there; for those without such sets, the names they mention."""


@lru_cache(maxsize=1)
def written_index() -> tuple[Row, ...]:
    """Return which advisories can speak of which packages, as `scripts/advisory_index.py` wrote it down."""
    rows = json.loads((advisories_folder() / "packages-index.json").read_text(encoding="utf-8"))
    return tuple((code, source, groups, mentioned) for code, source, groups, mentioned in rows)


def advisories_for(examination: Examination) -> tuple[Advisory, ...]:
    """Return the shipped advisories that may be true of an examination; all of them where a log is to be read.

    Those are left out that need a package which is neither planned, nor installed, nor asked for, and of an
    environment without facts, profile and project those that ask about nothing else.
    """
    names = _names(examination)
    if names is None or examination.log:
        from envdoctor.diagnose.advisories.book import shipped_advisories

        return shipped_advisories().advisories
    more = bool(
        len(examination.facts)
        or examination.profile is not None
        or examination.resolution is not None
        or examination.project is not None
        or examination.sources is not None
    )
    codes = frozenset(_possible(names, more=more))
    if not codes:
        return ()
    from envdoctor.diagnose.advisories.book import read_some

    return tuple(read_some(codes))


def _names(examination: Examination) -> frozenset[str] | None:
    """Return the packages of every place that advisories look at, None where no packages are known at all."""
    places: list[Iterable[str]] = []
    if examination.resolution is not None:
        places.append(item.name for item in examination.resolution.packages)
    if examination.environment is not None:
        places.append(item.name for item in examination.environment.distributions)
    if examination.project is not None:
        places.append(item.name for item in examination.project.requirements)
    return frozenset(chain.from_iterable(places)) if places else None


def _possible(names: frozenset[str], *, more: bool) -> Iterator[str]:
    for code, _, groups, mentioned in written_index():
        # Either one of each set is there, or one that is mentioned.
        if not any(map(names.isdisjoint, groups)) if groups else more or not names.isdisjoint(mentioned):
            yield code


def index_row(advisory: Advisory) -> Row:
    """Return an advisory's row of the index; one that only a log shows needs what no environment has."""
    if advisory.log_only:
        return (advisory.code, advisory.source, ((),), ())
    groups = tuple(tuple(sorted(group)) for group in advisory.needs)
    mentioned = () if groups else tuple(sorted(set(_mentioned(advisory.when))))
    return (advisory.code, advisory.source, groups, mentioned)


def _mentioned(predicate: Predicate) -> Iterator[str]:
    from envdoctor.diagnose.advisories.predicate import AllOf, AnyOf, Atom, NotOf

    if isinstance(predicate, Atom):
        yield from predicate.needs_package
    elif isinstance(predicate, NotOf):
        yield from _mentioned(predicate.part)
    elif isinstance(predicate, (AllOf, AnyOf)):
        for part in predicate.parts:
            yield from _mentioned(part)
