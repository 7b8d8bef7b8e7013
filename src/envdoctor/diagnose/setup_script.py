"""What a ``setup.py`` needs before it can say anything: read, never run."""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["SetupScript", "parse_setup_script"]

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
_NEWEST = re.compile(r"^max_python_version\s*=\s*['\"](\d+)\.(\d+)", re.MULTILINE)
_GUARD = re.compile(r"^_guard_py_ver\(\)", re.MULTILINE)


class SetupScript:
    """One ``setup.py``."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self._text = text
        self._tree = tree

    def imports(self) -> dict[str, int]:
        """Return the top-level modules that it imports whatever happens, each with its line: none in ``try``."""
        found: dict[str, int] = {}
        for statement in self._tree.body:
            if isinstance(statement, ast.Import):
                for name in statement.names:
                    found.setdefault(name.name.partition(".")[0], statement.lineno)
            elif isinstance(statement, ast.ImportFrom) and not statement.level and statement.module:
                found.setdefault(statement.module.partition(".")[0], statement.lineno)
        return found

    def refuses(self, python: tuple[int, int]) -> int | None:
        """Return the line at which it stops on a Python, None where it does not, as far as its text shows."""
        newest = _NEWEST.search(self._text)
        if newest is not None and _GUARD.search(self._text) and python >= (int(newest[1]), int(newest[2])):
            return self._text.count("\n", 0, newest.start()) + 1
        for statement in self._tree.body:
            if isinstance(statement, ast.If) and _stops(statement.body) and _holds(statement.test, python):
                return statement.lineno
        return None


def parse_setup_script(text: str) -> SetupScript | None:
    """Return a script to ask, None for one that does not parse: of Python 2, mostly."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return SetupScript(text, ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _stops(body: list[ast.stmt]) -> bool:
    return any(
        isinstance(item, ast.Raise)
        or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Call) and ast.unparse(item.value.func) in _EXITS)
        for item in body
    )


_EXITS = ("sys.exit", "exit", "quit")


def _holds(test: ast.expr, python: tuple[int, int]) -> bool:
    """Return whether a test of ``sys.version_info`` alone is known to hold on a Python."""
    if isinstance(test, ast.BoolOp):
        answers = [_holds(value, python) for value in test.values]
        return all(answers) if isinstance(test.op, ast.And) else any(answers)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    compare, left = _COMPARE.get(type(test.ops[0])), _version(test.left, python)
    right = tuple(_numbers(test.comparators[0]))
    if compare is None or left is None or not right:
        return False
    # The patch release is not known: two numbers are compared, and of a longer bound nothing is said.
    return len(right) <= len(left) and compare(left[: len(right)], right)


def _version(node: ast.expr, python: tuple[int, int]) -> tuple[int, ...] | None:
    said = ast.unparse(node)
    if said in ("sys.version_info", "sys.version_info[:2]"):
        return python
    if said in ("sys.version_info[0]", "sys.version_info.major"):
        return python[:1]
    return None


def _numbers(node: ast.expr) -> Iterator[int]:
    for item in node.elts if isinstance(node, ast.Tuple) else [node]:
        if isinstance(item, ast.Constant) and isinstance(item.value, int):
            yield item.value
