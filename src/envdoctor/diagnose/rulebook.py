"""All rules: found by their modules' names, imported where an examination has what they look at."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from itertools import chain
from pathlib import Path

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule

__all__ = ["all_rules", "documented", "rule", "rules_for"]

# What must be there, one of it at least, for any rule whose module's name begins so; others are always looked at.
# Importing a rule costs more than many a rule's work, so that those without a chance are left alone.
_GATES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("env", ("environment",)),
    ("iso", ("environment",)),
    ("abi005", ("environment",)),
    ("abi008", ("environment",)),
    ("abi", ("binaries",)),
    ("host001", ("binaries",)),
    ("host", ("facts",)),
    ("src", ("sources",)),
    ("res0", ("project", "conflicts")),
    ("res1", ("project", "conflicts", "resolution", "rejections", "unknowns", "by_lock")),
    ("res202", ("resolution", "environment")),
    ("res208", ("resolution", "facts", "profile")),
    ("res211", ("profile",)),
    ("res212", ("profile",)),
    ("res2", ("resolution",)),
    ("log002", ("not_read",)),
    ("log", ("log",)),
    ("gpu0", ()),
    ("gpu101", ("facts", "profile", "binaries")),
    ("gpu10", ("facts",)),
)


@lru_cache(maxsize=1)
def _names() -> tuple[str, ...]:
    from envdoctor.diagnose import rules

    return tuple(sorted(info.name for info in pkgutil.iter_modules(rules.__path__)))


@lru_cache(maxsize=1)
def _by_gate() -> dict[tuple[str, ...] | None, list[str]]:
    """Return the names of the modules with one gate together; None: always looked at."""
    found: dict[tuple[str, ...] | None, list[str]] = {}
    for name in _names():
        gate = next((fields for prefix, fields in _GATES if name.startswith(prefix)), None)
        found.setdefault(gate, []).append(name)
    return found


@lru_cache(maxsize=256)
def _load(name: str) -> Rule:
    found = importlib.import_module(f"envdoctor.diagnose.rules.{name}").RULE
    assert isinstance(found, Rule)  # noqa: S101 - what a rule module must hold; a test looks at each
    return found


def is_there(examination: Examination, field: str) -> bool:
    """Return whether an examination has something in a field; a collection with nothing in it is nothing."""
    value = getattr(examination, field)
    if field == "facts":
        return bool(len(value))
    return value not in (None, (), "")


def rules_for(examination: Examination) -> list[Rule]:
    """Return the rules whose needs an examination meets, by code; the modules of the others are mostly not imported."""
    names = chain.from_iterable(
        names
        for gate, names in _by_gate().items()
        if gate is None or any(is_there(examination, field) for field in gate)
    )
    rules = map(_load, sorted(names))
    return [rule for rule in rules if all(is_there(examination, field) for field in rule.needs)]


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Return every rule, by code; each module ``diagnose/rules/<code>_<name>.py`` gives one."""
    return tuple(sorted(map(_load, _names()), key=lambda item: item.code))


def documented() -> tuple[Rule, ...]:
    """Return every rule and what is found elsewhere, by code: all that a finding may be called, advisories apart."""
    return tuple(sorted((*all_rules(), *_found_elsewhere()), key=lambda item: item.code))


@lru_cache(maxsize=1)
def _found_elsewhere() -> tuple[Rule, ...]:
    from envdoctor.toml_tables import read_toml  # for their texts alone, which a check never shows

    text = Path(__file__).with_name("found_elsewhere.toml").read_text(encoding="utf-8")
    return tuple(map(Rule.of_row, read_toml(text)["rule"]))


def rule(code: str) -> Rule | None:
    """Return the rule with that code or name, or None."""
    wanted = code.casefold()
    exact = next((name for name in _names() if name.partition("_")[0] == wanted), None)
    if exact is not None:
        return _load(exact)
    return next(
        (
            item
            for item in chain(_found_elsewhere(), map(_load, _names()))
            if wanted in (item.code.casefold(), item.name)
        ),
        None,
    )
