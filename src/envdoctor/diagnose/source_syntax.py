"""What a file's syntax says of the circumstances in which its lines run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

__all__ = ["guarded_lines", "stand_in_lines"]

_MISSED_IMPORT = re.compile(r"\b(?:ImportError|ModuleNotFoundError)\b")
_MISSED_NAME = re.compile(rf"\bAttributeError\b|{_MISSED_IMPORT.pattern}")
_ANYTHING = re.compile(r"\b(?:Base)?Exception\b")
_LOOK = re.compile(r"\bhasattr\b|__version__|\bVersion\(|\bversion\.parse\(")


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield all statements, without a look at the expressions in them: those are nine tenths of a tree."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, part, []))
        for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _statements(inner.body)


def guarded_lines(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of both branches where sources ask for a name or a version, or try it, before they use it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            handlers = [handler for handler in node.handlers if _catches(handler, _MISSED_NAME, node)]
            yield from _lines(*(node.body if handlers else ()), *(item for each in handlers for item in each.body))
        elif isinstance(node, ast.If | ast.IfExp) and _LOOK.search(ast.unparse(node.test)):
            yield from _lines(node)


def stand_in_lines(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that run where an import failed."""
    for node in _statements(tree.body):
        if isinstance(node, ast.Try) and any(isinstance(item, ast.Import | ast.ImportFrom) for item in node.body):
            handlers = (handler for handler in node.handlers if _catches(handler, _MISSED_IMPORT, node))
            yield from _lines(*(item for handler in handlers for item in handler.body))


def _catches(handler: ast.ExceptHandler, what: re.Pattern[str], node: ast.Try) -> bool:
    """Whether it is there for that; one that catches anything is, where an import is what is tried."""
    caught = ast.unparse(handler.type) if handler.type is not None else "Exception"
    imports = isinstance(node.body[0], ast.Import | ast.ImportFrom)
    return what.search(caught) is not None or (imports and _ANYTHING.search(caught) is not None)


def _lines(*nodes: ast.stmt | ast.expr) -> Iterator[int]:
    for node in nodes:
        yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
