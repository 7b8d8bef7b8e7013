"""The advisories that can speak of an installed environment, read alone.

Most environments have few of the packages that advisories are about, and reading all of the files takes longer than
everything else that there is to do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.diagnose.advisories.advisory import Advisory
    from envdoctor.diagnose.advisories.packages_index import Row
    from envdoctor.diagnose.advisories.predicate import Predicate
    from envdoctor.diagnose.examination import Examination

__all__ = ["advisories_for", "index_row"]


def advisories_for(examination: Examination) -> tuple[Advisory, ...]:
    """Return the advisories that may be true of an examination: all of them but where an environment is all there is.

    For an environment those are left out that need a package which is not there, and without facts, profile and
    project those that ask about nothing else.
    """
    if examination.environment is None or any(
        (examination.resolution, examination.project, examination.sources, examination.log)
    ):
        from envdoctor.diagnose.advisories.book import shipped_advisories

        return shipped_advisories().advisories
    names = frozenset(item.name for item in examination.environment.distributions)
    more = bool(len(examination.facts)) or examination.profile is not None
    codes = frozenset(code for code, _ in _possible(names, more=more))
    if not codes:
        return ()
    return _read(codes, frozenset(file for _, file in _possible(names, more=more)))


def _possible(names: Collection[str], *, more: bool) -> Iterator[tuple[str, str]]:
    from envdoctor.diagnose.advisories.packages_index import INDEX

    for code, file, groups, mentioned in INDEX:
        if groups:
            possible = all(any(name in names for name in group) for group in groups)
        else:
            possible = more or any(name in names for name in mentioned)
        if possible:
            yield code, file


@lru_cache(maxsize=8)
def _read(codes: frozenset[str], files: frozenset[str]) -> tuple[Advisory, ...]:
    from envdoctor.diagnose.advisories.book import read_some

    return read_some(codes, files)


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
