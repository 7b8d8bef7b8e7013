"""What a rule is, and where all of them are."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.finding import Finding, Severity

__all__ = ["Rule", "all_rules", "documented", "rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One check with a stable code. A rule module holds one, called ``RULE``; its docstring is its documentation."""

    code: str
    """Family and number: ``RES102``."""
    name: str
    """The problem in kebab case."""
    severity: Severity
    """The severity it usually has; a finding may be milder with a reason."""
    summary: str
    find: Callable[[Examination], Iterable[Finding]]
    documentation: str = ""
    """What it does, why it is bad, an example, references; Markdown."""
    needs: frozenset[str] = frozenset()
    """Fields of the Examination that must be there; otherwise the rule does not run."""
    ranks: bool = False
    """Its findings tell a broken resolution from a working one, and it looks at nothing but the resolution."""


def _modules() -> Iterable[ModuleType]:
    from envdoctor.diagnose import rules

    for info in sorted(pkgutil.iter_modules(rules.__path__), key=lambda item: item.name):
        yield importlib.import_module(f"{rules.__name__}.{info.name}")


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Return every rule, by code; each module ``diagnose/rules/<code>_<name>.py`` gives one."""
    found = [module.RULE for module in _modules()]
    return tuple(sorted(found, key=lambda item: item.code))


def documented() -> tuple[Rule, ...]:
    """Return every rule and what is found elsewhere, by code: all that a finding may be called, advisories apart."""
    from envdoctor.diagnose.elsewhere import FOUND_ELSEWHERE

    return tuple(sorted((*all_rules(), *FOUND_ELSEWHERE), key=lambda item: item.code))


def rule(code: str) -> Rule | None:
    """Return the rule with that code or name, or None."""
    wanted = code.casefold()
    return next((item for item in documented() if wanted in (item.code.casefold(), item.name)), None)
