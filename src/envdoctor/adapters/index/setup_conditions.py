"""Requirements that a ``setup.py`` adds on some machines alone.

An sdist's ``requires.txt`` and ``PKG-INFO`` say what held on the machine that packed it. Where ``setup.py`` adds a
requirement under a condition on the platform or the Python, that condition belongs to it as a marker. It is read and
never run; a condition on the machine that no marker can say leaves the requirement unknown.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import field

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envdoctor.model.dataclass import dataclass
from envdoctor.setup_markers import all_of, asks_the_machine, called, marker_of, negated

__all__ = ["Unforeseeable", "with_conditions"]


class Unforeseeable(Exception):
    """A requirement hangs on something of the machine that no marker can say; the text is the requirement."""


@dataclass(slots=True)
class _Script:
    """What matters of a ``setup.py``: which names lead to ``install_requires``, and what is put into each."""

    names: dict[str, ast.expr] = field(default_factory=dict)
    """Assigned once, by name."""
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    changes: list[tuple[str, ast.expr, tuple[str | None, ...]]] = field(default_factory=list)
    """Name, what is assigned or added, and the conditions around it; None for one that no marker can say."""


def with_conditions(lines: Iterable[str], setup_py: str) -> tuple[str, ...]:
    """Return the lines with the conditions that ``setup.py`` puts on them. Raises Unforeseeable.

    What stands without a condition somewhere, and what has a marker already, stays as it is.
    """
    told = tuple(lines)
    if "if " not in setup_py:
        return told
    conditional = _conditional(setup_py)
    if not conditional:
        return told
    kept = [line for line in told if ";" in line or _name(line) not in conditional]
    bare = {_name(line): line for line in told if ";" not in line}
    named = {_name(line.partition(";")[0].strip()) for line in kept}
    for name, found in conditional.items():
        if name in named or (told and not name):
            continue
        if any(marker is None for _, marker in found):
            raise Unforeseeable(bare.get(name, found[0][0]))
        kept += [f"{text} ; {marker}" for text, marker in found]
    return tuple(kept)


def _conditional(setup_py: str) -> dict[str, list[tuple[str, str | None]]]:
    """Return, by project, the requirements that stand under a condition on the machine wherever they stand."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(setup_py)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    script = _Script()
    try:
        _collect(tree.body, script, ())
        wanted = _install_requires(tree)
        found = list(_requirements(wanted, script)) if wanted is not None else []
    except RecursionError:
        return {}
    free = {name for name, _, conditions in found if not conditions}
    conditional: dict[str, list[tuple[str, str | None]]] = {}
    for name, text, conditions in found:
        if name not in free:
            conditional.setdefault(name, []).append((text, all_of(*conditions)))
    return conditional


def _install_requires(tree: ast.Module) -> ast.expr | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) == "setup":
            return next((keyword.value for keyword in node.keywords if keyword.arg == "install_requires"), None)
    return None


def _collect(body: Iterable[ast.stmt], script: _Script, conditions: tuple[str | None, ...]) -> None:
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            script.functions[statement.name] = statement
            _collect(statement.body, script, conditions)
        elif isinstance(statement, ast.If):
            yes, no = _sides(statement.test, script)
            _collect(statement.body, script, (*conditions, *yes))
            _collect(statement.orelse, script, (*conditions, *no))
        elif isinstance(statement, ast.For | ast.While | ast.With | ast.Try):
            for part in ("body", "orelse", "finalbody"):
                _collect(getattr(statement, part, ()), script, conditions)
        elif (change := _change(statement)) is not None:
            name, value, fresh = change
            if fresh and not conditions:
                script.names[name] = value
            script.changes.append((name, value, conditions))


def _sides(test: ast.expr, script: _Script) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
    """Return the conditions of both branches; none where the test does not ask what machine it is."""
    if not asks_the_machine(test, script.names):
        return (), ()
    marker = marker_of(test, script.names)
    return (marker,), (negated(test, script.names) if marker else None,)


def _change(statement: ast.stmt) -> tuple[str, ast.expr, bool] | None:
    """Return the name that a statement assigns or adds to, the value, and whether it is a plain assignment."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id, statement.value, True
    if isinstance(statement, ast.AnnAssign | ast.AugAssign) and isinstance(statement.target, ast.Name):
        return (statement.target.id, statement.value, False) if statement.value is not None else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        adds = call.func.attr in ("append", "extend", "insert") and call.args
        return (call.func.value.id, call.args[-1], False) if adds else None
    return None


def _requirements(wanted: ast.expr, script: _Script) -> Iterator[tuple[str, str, tuple[str | None, ...]]]:
    """Yield project, requirement and conditions of every literal that may come into ``install_requires``."""
    yield from _literals(wanted, script, ())
    seen: set[str] = set()
    waiting = _names_in(wanted)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in script.functions:
            waiting |= _names_in(script.functions[name])
        for changed, value, conditions in script.changes:
            if changed == name:
                waiting |= _names_in(value)
                yield from _literals(value, script, conditions)


def _names_in(node: ast.AST) -> set[str]:
    """Return the names in an expression or a function; what is put into the text of a requirement is none."""
    if isinstance(node, ast.JoinedStr):
        return set()
    found = {node.id} if isinstance(node, ast.Name) else set()
    return found.union(*map(_names_in, ast.iter_child_nodes(node)))


def _literals(
    node: ast.expr, script: _Script, conditions: tuple[str | None, ...]
) -> Iterator[tuple[str, str, tuple[str | None, ...]]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        name = _name(node.value)
        if name:
            yield name, node.value.strip(), conditions
    elif isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.FormattedValue):
        # The very name is computed, as that of cupy-wheel's is: where the packer's list is empty, it is not known.
        yield "", ast.unparse(node), (*conditions, None)
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        for element in node.elts:
            yield from _literals(element.value if isinstance(element, ast.Starred) else element, script, conditions)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _literals(node.left, script, conditions)
        yield from _literals(node.right, script, conditions)
    elif isinstance(node, ast.IfExp):
        yes, no = _sides(node.test, script)
        yield from _literals(node.body, script, (*conditions, *yes))
        yield from _literals(node.orelse, script, (*conditions, *no))


def _name(text: str) -> str:
    """Return the project of a requirement without a marker, an empty text for all else."""
    if ";" in text or "\n" in text or not text[:1].isalnum():
        return ""
    try:
        return canonicalize_name(Requirement(text).name)
    except InvalidRequirement:
        return ""
