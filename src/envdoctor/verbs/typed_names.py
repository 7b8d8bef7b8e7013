"""Package names in options that neither the project nor its lock has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.toml_tables import did_you_mean

if TYPE_CHECKING:
    from envdoctor.verbs.check_request import CheckRequest

__all__ = ["names_not_there"]

_ALL = "*"


def names_not_there(
    requests: Sequence[CheckRequest], upgrade: Collection[str], substitute: Collection[str]
) -> Iterator[str]:
    """Yield a sentence for each name that was typed and that no requirement and no lock has.

    Nothing is said where an environment has no lock yet: what its requirements lead to is not known before they are
    resolved.
    """
    typed = [("--upgrade", name) for name in upgrade if name != _ALL]
    typed += [("--substitute", name) for name in substitute]
    if not typed or any(request.locked is None for request in requests):
        return
    known = {name for request in requests for name in _names(request)}
    for option, name in typed:
        if canonicalize_name(name) not in known:
            close = did_you_mean(canonicalize_name(name), known)
            yield f"`{option} {name}`: neither the requirements nor the lock have `{name}`{close}"


def _names(request: CheckRequest) -> Iterator[NormalizedName]:
    if request.locked is not None:
        yield from request.locked.versions
        yield from (override.name for override in request.locked.overrides)
    if request.project is not None:
        yield from (requirement.name for requirement in request.project.requirements)
