"""``python -m fuzz.patterns``: every regular expression of the package against long lines; slow is what grows faster.

For each expression, texts are made of it that match nearly: a beginning, one part again and again, and an end that does
not fit. A text three times as long may take three times the time, and somewhat more where the clock is inexact.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import random
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import envdoctor
from envdoctor.toml_tables import read_toml
from fuzz.places import ROOT

if sys.version_info >= (3, 11):
    from re import _constants as opcodes  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
else:  # pragma: no cover - one of both runs
    import sre_constants as opcodes
    import sre_parse as parser

__all__ = ["BOUNDED", "Place", "expressions", "hostile_text"]

BOUNDED = {
    "envdoctor.adapters.probe.binary_environment:_BINARY": "names of files, which have 255 characters at most",
    "envdoctor.adapters.project.shell_lines:_IN_QUOTES": "asked at the beginning of a line alone",
    "envdoctor.diagnose.logs.conda_output:_PIXI_LEAF": "forty lines of a log, of which 4,000 characters are looked at",
    "envdoctor.diagnose.logs.solver_output:_PDM_ROW": "lines of a log, of which 4,000 characters are looked at",
    "envdoctor.diagnose.logs.unmet_output:_ROWS": "asked at the beginning of a line alone",
    "envdoctor.render.human.console:_TRAILING": "lines as wide as a terminal",
    "envdoctor.toml_lines:_REST": "asked behind the quotes of a string alone",
}
"""Expressions that are slow, with what keeps their texts short."""
_OF_WHOLE_TEXTS = {"source", "log", "beside", "pattern"}
"""Keys of advisories and their tables whose expressions are; symptoms are asked of lines, which are cut."""
_LENGTH = 4000
_SHORT = (20, 100, 200, 400)
_NOTICED = 0.003
"""Seconds of processor time for such a text from which its growth is measured."""
_MOST_GROWTH = 5.5
"""How much longer three times the text may take: nine times is what grows with the square."""
_CHARACTERS = " a0A._-'\"\\/()[]{}<>=,;:\t\n\r#*$%@+~!|x&"
_ASKING = {"search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split"}
_FIRST_ALONE = {"match", "fullmatch"}


class Place(NamedTuple):
    """Where an expression stands, and whether it is asked at the beginning of a text alone."""

    name: str
    expression: re.Pattern[Any]
    anchored: bool


def expressions() -> Iterator[Place]:
    """Yield them all: those that modules keep, those that are written where they are asked, and those in data."""
    for path in sorted((ROOT / "advisories").rglob("*.toml")):
        for text in sorted({*_in_data(read_toml(path.read_text(encoding="utf-8")))}):
            yield Place(f"{path.name} {text}", re.compile(text, re.MULTILINE), False)
    found: list[tuple[Place, bool]] = []
    for module in pkgutil.walk_packages(envdoctor.__path__, "envdoctor."):
        # The child's scripts import torch, and read nothing of strangers.
        if ".smoke.child" in module.name or module.name.endswith("__main__"):
            continue
        loaded = importlib.import_module(module.name)
        text = Path(str(loaded.__file__)).read_text(encoding="utf-8")
        if "re." in text:
            found += _of_module(module.name, vars(loaded), ast.parse(text))
    asked = {place.expression for place, is_asked in found if is_asked}
    # A module that keeps an expression for others does not tell how it is asked; they do.
    yield from (place for place, is_asked in found if is_asked or place.expression not in asked)


def _in_data(value: Any, key: str = "") -> Iterator[str]:
    """Yield the expressions in a table that are asked of whole files and logs."""
    if isinstance(value, str) and key in _OF_WHOLE_TEXTS:
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _in_data(item, key)
    elif isinstance(value, dict):
        for name in value.keys() - {"fires", "silent"}:
            yield from _in_data(value[name], name)


def _of_module(module: str, values: dict[str, Any], tree: ast.Module) -> Iterator[tuple[Place, bool]]:
    """Yield the expressions that a module knows, each with whether it is asked there."""
    asked: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _ASKING and isinstance(node.value, ast.Name):
            asked.setdefault(node.value.id, set()).add(node.attr)
        if isinstance(node, ast.Call) and (inline := _inline(node)) is not None:
            yield Place(f"{module}:{node.lineno}", *inline), True
    for name, value in values.items():
        for expression in _held(value):
            ways = asked.get(name, set())
            yield Place(f"{module}:{name}", expression, bool(ways) and ways <= _FIRST_ALONE), bool(ways)


def _inline(call: ast.Call) -> tuple[re.Pattern[Any], bool] | None:
    """Return the expression of ``re.search("...", text)``."""
    function = call.func
    if not (isinstance(function, ast.Attribute) and function.attr in _ASKING and isinstance(function.value, ast.Name)):
        return None
    if function.value.id != "re" or not call.args or not isinstance(call.args[0], ast.Constant):
        return None
    flags = re.RegexFlag(0)
    for written in (*call.args[1:], *(item.value for item in call.keywords if item.arg == "flags")):
        if "re." in (shown := ast.unparse(written)) and re.fullmatch(r"re\.[A-Z]+(?: \| re\.[A-Z]+)*", shown):
            for name in shown.split(" | "):
                flags |= getattr(re, name.removeprefix("re."))
    return re.compile(call.args[0].value, flags), function.attr in _FIRST_ALONE


def _held(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, (dict, list, tuple, set, frozenset)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _held(item, depth + 1)


def hostile_text(place: Place) -> str | None:
    """Return the beginning of a text for which the expression takes too long, None where none is found."""
    ask = place.expression.match if place.anchored else place.expression.search
    binary = isinstance(place.expression.pattern, bytes)
    for make in _texts(place.expression):
        # Shorter ones first: what doubles with each character would not end.
        for n in _SHORT:
            if _seconds(ask, make(n), binary) > _NOTICED < _seconds(ask, make(n), binary):
                return make(20)
        if _seconds(ask, make(_LENGTH), binary) > _NOTICED:
            short, long = (min(_seconds(ask, make(_LENGTH * n), binary) for _ in range(2)) for n in (1, 3))
            if short > _NOTICED and long > _MOST_GROWTH * short:
                return make(20)
    return None


def _seconds(ask: Callable[[Any], object], text: str, binary: bool) -> float:
    given = text.encode() if binary else text
    begun = time.process_time()
    at = 0
    while at < 3:  # What matches at once may be slow behind that.
        found: Any = ask(given)
        if not found or not found.end():
            break
        given, at = given[found.end() :], at + 1
    return time.process_time() - begun


def _texts(expression: re.Pattern[Any]) -> Iterator[Callable[[int], str]]:
    """Yield makers of texts of about a length."""
    pattern = expression.pattern if isinstance(expression.pattern, str) else expression.pattern.decode("latin-1")
    tree = parser.parse(pattern, expression.flags & ~re.UNICODE)
    chance = random.Random(1)
    lines = expression.flags & (re.MULTILINE | re.DOTALL) or "\\n" in pattern
    ends = ("\0", "\n!") if lines else ("\0",)
    parts = [repeat[1][2] for repeat in _repeats(tree)]
    pumps = dict.fromkeys([" ", "a", "0", ".", *(_made(part, chance) for part in parts for _ in range(3))])
    pumps.update(dict.fromkeys(character for part in parts for character in _samples(part)))
    pumps.update(dict.fromkeys(_made(tree, chance) for _ in range(3)))
    pumps.update(dict.fromkeys(list(dict.fromkeys(_literals(tree)))[:12]))
    begins = dict.fromkeys([""])
    for _ in range(4):
        whole = _made(tree, chance)
        begun = (whole, whole[: len(whole) // 2], whole[:-1])
        begins.update(dict.fromkeys(begun))
        pumps.update(dict.fromkeys(begun))  # What begins a match again and again, and ends none.
    for pump in pumps:
        if 0 < len(pump) < 80:
            for begin in begins:
                for end in ends:
                    yield lambda n, b=begin, p=pump, e=end: b + p * (n // len(p)) + e  # type: ignore[misc]


def _repeats(tree: Any) -> Iterator[Any]:
    for item in tree:
        if item[0] in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT) and item[1][1] is opcodes.MAXREPEAT:
            yield item
        for inner in _inner(item):
            yield from _repeats(inner)


def _literals(tree: Any) -> Iterator[str]:
    for item in tree:
        if item[0] is opcodes.LITERAL:
            yield chr(item[1])
        for inner in _inner(item):
            yield from _literals(inner)


def _inner(item: Any) -> list[Any]:
    kind, value = item
    if kind in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT):
        return [value[2]]
    if kind is opcodes.SUBPATTERN:
        return [value[3]]
    if kind is opcodes.BRANCH:
        return list(value[1])
    return [value[1]] if kind in (opcodes.ASSERT, opcodes.ASSERT_NOT) else []


def _made(tree: Any, chance: random.Random) -> str:
    """Return a text that the expression matches, about."""
    made = ""
    for item in tree:
        kind, value = item
        if kind in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT):
            made += "".join(_made(value[2], chance) for _ in range(min(max(value[0], chance.randint(0, 1)), value[1])))
        elif kind is opcodes.SUBPATTERN:
            made += _made(value[3], chance)
        elif kind is opcodes.BRANCH:
            made += _made(chance.choice(value[1]), chance)
        else:
            made += chance.choice(_samples([item]) or [""])
    return made


def _samples(tree: Any) -> list[str]:
    """Return characters that single parts of an expression match."""
    found = []
    for kind, value in tree:
        if kind is opcodes.LITERAL:
            found.append(chr(value))
        elif kind in (opcodes.ANY, opcodes.NOT_LITERAL):
            found += ["a", " "]
        elif kind is opcodes.IN:
            found += [character for character in _CHARACTERS if _is_in(value, character)]
    return found


def _is_in(members: Any, character: str) -> bool:
    words = {
        opcodes.CATEGORY_DIGIT: r"\d", opcodes.CATEGORY_NOT_DIGIT: r"\D", opcodes.CATEGORY_SPACE: r"\s",
        opcodes.CATEGORY_NOT_SPACE: r"\S", opcodes.CATEGORY_WORD: r"\w", opcodes.CATEGORY_NOT_WORD: r"\W",
    }  # fmt: skip
    hit = negated = False
    for kind, value in members:
        if kind is opcodes.NEGATE:
            negated = True
        elif kind is opcodes.LITERAL:
            hit |= ord(character) == value
        elif kind is opcodes.RANGE:
            hit |= value[0] <= ord(character) <= value[1]
        elif kind is opcodes.CATEGORY:
            hit |= re.match(words[value], character) is not None
    return hit != negated


def main() -> int:
    warnings.simplefilter("ignore")
    slow = tried = 0
    for place in expressions():
        tried += 1
        if place.name not in BOUNDED and (text := hostile_text(place)) is not None:
            slow += 1
            print(f"SLOW {place.name} {place.expression.pattern!r}: {text!r}", flush=True)
    print(f"{tried} expressions, {slow} slow")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
