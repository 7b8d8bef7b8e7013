"""The names of a ``setup.py``'s top level, each with the expressions that it stands for and under which condition."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import field

from envdoctor.model.dataclass import dataclass
from envdoctor.setup_markers import all_of, called, marker_of, negated

__all__ = ["Change", "Item", "Module", "dict_items", "module_of"]

_NO_MODULE = re.compile(r"\b(?:ImportError|ModuleNotFoundError)\b")
_TAKE_AWAY = frozenset({"remove", "pop", "clear", "discard"})

Item = tuple[ast.expr, str]
"""An expression, and the marker under which it counts."""


@dataclass(frozen=True, slots=True)
class Change:
    """A statement that adds to a list, under a condition or in a loop that cannot be followed."""

    expression: str
    line: int


@dataclass(slots=True)
class Module:
    """The names of a file's top level."""

    names: dict[str, list[Item]] = field(default_factory=dict)
    entries: dict[str, dict[str, list[Item]]] = field(default_factory=dict)
    """Entries of dictionaries by name and key: ``extras["dev"] = [...]``."""
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    conditional: set[str] = field(default_factory=set)
    """Names that a condition changes which cannot be put as a marker."""
    added: dict[str, list[Change]] = field(default_factory=dict)
    """What such a condition, or a loop, adds to a name: what it held before stays certain."""
    followed: int = 0
    """Parts of expressions that were followed so far."""

    def single(self, name: str) -> ast.expr | None:
        """Return the one expression that a name stands for everywhere."""
        items = self.names.get(name, [])
        certain = name not in self.conditional and name not in self.added
        return items[0][0] if len(items) == 1 and not items[0][1] and certain else None

    def plain(self) -> dict[str, ast.expr]:
        """Return the names that stand for one expression, as tests of the machine are followed."""
        return {name: found for name in self.names if (found := self.single(name)) is not None}

    def inside(self, function: ast.FunctionDef) -> Module:
        """Return the names as a function of the file sees them at its end."""
        copied = Module(
            {name: [*items] for name, items in self.names.items()},
            {name: {**entries} for name, entries in self.entries.items()},
            {**self.functions},
            {*self.conditional},
            {name: [*changes] for name, changes in self.added.items()},
            self.followed + 1,
        )
        _collect(function.body, copied, "")
        return copied

    def items_of(self, name: str) -> dict[str, list[Item]]:
        """Return the entries of the dictionary that a name stands for."""
        found: dict[str, list[Item]] = {}
        for node, marker in self.names.get(name, []):
            for key, value in dict_items(node):
                found.setdefault(key, []).append((value, marker))
        return {**found, **self.entries.get(name, {})}


def dict_items(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the entries of a literal dictionary, or of ``dict(a=...)``."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value
    elif isinstance(node, ast.Call) and called(node) == "dict":
        yield from ((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg)


def module_of(tree: ast.Module) -> Module:
    """Return the names of a file's top level."""
    module = Module()
    _collect(tree.body, module, "")
    return module


def _collect(body: list[ast.stmt], module: Module, marker: str | None) -> None:
    """Take in statements; ``marker`` is that of the condition around them, None where no marker says the same."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            module.functions[statement.name] = statement
        elif isinstance(statement, ast.With):
            for item in statement.items:
                if isinstance(item.optional_vars, ast.Name):
                    module.names[item.optional_vars.id] = [(item.context_expr, "")]
            _collect(statement.body, module, marker)
        elif isinstance(statement, ast.If):
            _collect_if(statement, module, marker)
        elif isinstance(statement, (ast.For, ast.While, ast.Try)):
            for part in ("body", "orelse", "finalbody"):
                _collect(getattr(statement, part, []), module, None)
            for handler in getattr(statement, "handlers", []):
                # What is asked for where a module is not there; a file that is not is left to its reader.
                if handler.type is not None and _NO_MODULE.search(ast.unparse(handler.type)):
                    _collect(handler.body, module, None)
        else:
            _collect_change(statement, module, marker)


def _collect_if(statement: ast.If, module: Module, marker: str | None) -> None:
    if "__name__" in ast.unparse(statement.test):
        _collect(statement.body, module, marker)
        return
    names = module.plain()
    _collect(statement.body, module, all_of(marker, marker_of(statement.test, names)))
    _collect(statement.orelse, module, all_of(marker, negated(statement.test, names)))


def _collect_change(statement: ast.stmt, module: Module, marker: str | None) -> None:
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        target = statement.targets[0]
        if isinstance(target.value, ast.Name) and isinstance(target.slice, ast.Constant):
            if marker is None:
                module.conditional.add(target.value.id)
            entries = module.entries.setdefault(target.value.id, {})
            entries.setdefault(str(target.slice.value), []).append((statement.value, marker or ""))
        return
    name, value, adds = _change(statement)
    if name is None or value is None:
        module.conditional |= {one for one in _taken_from(statement) if one in module.names}
        return
    known = module.names.get(name, [])
    overwrites = not adds and any(not other for _, other in known)
    if known and marker is None and adds:
        module.added.setdefault(name, []).append(Change(ast.unparse(statement), statement.lineno))
    elif known and (marker is None or (marker and overwrites)):
        module.conditional.add(name)
    elif adds or (marker and known):
        module.names.setdefault(name, []).append((value, marker or ""))
    else:
        module.names[name] = [(value, marker or "")]


def _taken_from(statement: ast.stmt) -> Iterator[str]:
    """Yield the list that a statement takes something out of."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _TAKE_AWAY:
        yield from [call.func.value.id] if isinstance(call.func.value, ast.Name) else []
    for target in statement.targets if isinstance(statement, ast.Delete) else ():
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            yield target.value.id


def _change(statement: ast.stmt) -> tuple[str | None, ast.expr | None, bool]:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id, statement.value, False
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id, statement.value, False
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id, statement.value, True
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and len(call.args) == 1:
            name, argument = call.func.value.id, call.args[0]
            if call.func.attr == "append":
                return name, ast.copy_location(ast.List([argument], ast.Load()), argument), True
            if call.func.attr in {"extend", "update"}:
                return name, argument, True
    return None, None, False
