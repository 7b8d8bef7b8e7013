"""What the expressions of a ``setup.py`` stand for, as far as they can be followed without running anything."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import field
from functools import lru_cache

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Pep508
from packaging.utils import canonicalize_name

from envdoctor.adapters.project.setup_names import Change, Item, Module
from envdoctor.model.dataclass import dataclass
from envdoctor.setup_markers import all_of, called, marker_of, negated

__all__ = ["Dynamic", "Values", "evaluate"]

_READERS = frozenset({"open", "read_text", "parse_requirements", "readlines", "read", "read_file"})
_SAME = frozenset({"list", "sorted", "tuple", "set", "frozenset", "sum", "chain", "from_iterable", "fromkeys"})
"""Functions whose result holds what their first argument holds."""
_TEXT = frozenset({"strip", "rstrip", "lstrip", "split", "splitlines", "format"})
_A_NAME = re.compile(r"(?!git\+?|https?|file:|ssh|svn|hg\+|bzr|extra|python|sys_)[A-Za-z]")
"""How the name of a package begins, and no address or marker."""
_DEEPEST = 20
_MOST_PARTS = 20_000
"""Parts of expressions that are followed in one file: lists of lists that name each other have no end."""


class Dynamic(Exception):
    """Only running the file would tell."""

    def __init__(self, node: ast.AST) -> None:
        super().__init__()
        self.line: int | None = getattr(node, "lineno", None)
        self.expression = ast.unparse(node)


@dataclass(slots=True)
class Values:
    """Lines of requirements with the marker that their place puts on them, and files that hold more."""

    texts: list[tuple[str, int, str]] = field(default_factory=list)
    files: list[tuple[str, int]] = field(default_factory=list)
    left_open: list[Change] = field(default_factory=list)
    """What is added to them where only running the file would tell."""
    asked: ast.expr | None = None
    """The expression that they are the values of."""


def evaluate(node: ast.expr, module: Module, values: Values, marker: str = "", depth: int = 0) -> None:
    """Add what an expression stands for. Raises Dynamic where only running it would tell."""
    values.asked = values.asked or node
    if depth > _DEEPEST or module.followed > _MOST_PARTS:
        raise Dynamic(values.asked)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        values.texts += [(line, node.lineno + at, marker) for at, line in enumerate(node.value.split("\n"))]
        return
    if _is_put_together(node):
        text = _text_of(node, module)
        if text is None:
            raise Dynamic(node)
        values.texts += [(line, node.lineno, marker) for line in text.split("\n")]
        return
    if isinstance(node, ast.Name) and node.id not in module.conditional:
        values.left_open += [one for one in module.added.get(node.id, ()) if one not in values.left_open]
    if (function := _without_arguments(node, module)) is not None:
        inside = module.inside(function)
        evaluate(function.body[-1].value, inside, values, marker, depth + 1)  # type: ignore[attr-defined]
        module.followed = inside.followed
        return
    parts = _parts(node, module)
    module.followed += len(parts)
    for part, condition in parts:
        both = all_of(marker, condition)
        if both is None:
            raise Dynamic(node)
        if part is node:
            _from_file(node, module, values, both)
        else:
            evaluate(part, module, values, both, depth + 1)


def _without_arguments(node: ast.expr, module: Module) -> ast.FunctionDef | None:
    """Return the function of the file that an expression calls, where what it gives is told by its last line alone."""
    function = module.functions.get(called(node)) if isinstance(node, ast.Call) else None
    if function is None or not isinstance(node, ast.Call) or node.args or node.keywords or function.decorator_list:
        return None
    takes = function.args
    if takes.args or takes.posonlyargs or takes.kwonlyargs or takes.vararg or takes.kwarg:
        return None
    gives = [part for part in ast.walk(function) if isinstance(part, (ast.Return, ast.Yield, ast.YieldFrom))]
    last = function.body[-1]
    return function if gives == [last] and isinstance(last, ast.Return) and last.value is not None else None


def _is_put_together(node: ast.expr) -> bool:
    """Return whether an expression is one text made of several: ``"torch==" + VERSION``, an f-string, ``format``."""
    if isinstance(node, ast.BinOp):
        return any(_is_text(side) for side in (node.left, node.right))
    is_format = isinstance(node, ast.Call) and called(node) == "format" and isinstance(node.func, ast.Attribute)
    return isinstance(node, ast.JoinedStr) or (is_format and _is_text(node.func.value))  # type: ignore[attr-defined]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _text_of(node: ast.expr | None, module: Module, depth: int = 0) -> str | None:
    """Return the one text that an expression stands for everywhere, None where only running it would tell."""
    if depth > _DEEPEST or node is None:
        return None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return _text_of(module.single(node.id), module, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _together(_text_of(side, module, depth + 1) for side in (node.left, node.right))
    if isinstance(node, ast.JoinedStr):
        return _together(_text_of(part, module, depth + 1) for part in node.values)
    if isinstance(node, ast.FormattedValue) and node.conversion == -1 and node.format_spec is None:
        return _text_of(node.value, module, depth + 1)
    if isinstance(node, ast.Call) and called(node) == "format" and isinstance(node.func, ast.Attribute):
        pattern = _text_of(node.func.value, module, depth + 1)
        values = [_text_of(value, module, depth + 1) for value in node.args]
        if pattern is not None and not node.keywords and pattern.count("{}") == len(values) == pattern.count("{"):
            return _together(part for pair in zip(pattern.split("{}"), [*values, ""], strict=True) for part in pair)
    return None


def _together(parts: Iterable[str | None]) -> str | None:
    found = list(parts)
    return None if None in found else "".join(part or "" for part in found)


def _parts(node: ast.expr, module: Module) -> list[tuple[ast.expr, str | None]]:
    """Return the expressions that a node is made of, the node itself where it is none of the known forms."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [(one.value if isinstance(one, ast.Starred) else one, "") for one in node.elts]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [(node.left, ""), (node.right, "")]
    if isinstance(node, ast.IfExp):
        names = module.plain()
        return [(node.body, marker_of(node.test, names)), (node.orelse, negated(node.test, names))]
    if isinstance(node, ast.Name) and node.id in module.names and node.id not in module.conditional:
        return list(module.names[node.id])
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant):
        return list(_entry(node.value.id, str(node.slice.value), node, module))
    if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
        return _of_comprehension(node, module)
    return _of_call(node, module) if isinstance(node, ast.Call) else [(node, "")]


def _entry(name: str, key: str, node: ast.expr, module: Module) -> list[Item]:
    """Return an entry of a dictionary, or the requirement of that name where a table of them was made by code."""
    if name not in module.conditional and key in (items := module.items_of(name)):
        return items[key]
    found = _requirement_called(key, module)
    if found is None:
        raise Dynamic(node)
    return [(found, "")]


def _requirement_called(name: str, module: Module) -> ast.expr | None:
    """Return the one requirement of that name in the lists of the file: ``deps["torch"]`` of a list of requirements."""
    wanted, found = canonicalize_name(name), {}
    for items in module.names.values():
        for value, _ in items:
            for one in value.elts if isinstance(value, (ast.List, ast.Tuple)) else ():
                if isinstance(one, ast.Constant) and isinstance(one.value, str) and _named(one.value) == wanted:
                    found[one.value] = one
    return next(iter(found.values())) if len(found) == 1 else None


@lru_cache(maxsize=1024)
def _named(text: str) -> str:
    try:
        return canonicalize_name(Pep508(text).name)
    except InvalidRequirement:
        return ""


def _of_comprehension(
    node: ast.ListComp | ast.GeneratorExp | ast.SetComp, module: Module
) -> list[tuple[ast.expr, str | None]]:
    first, *more = node.generators
    if any(_chooses(test) for test in first.ifs):
        raise Dynamic(node)
    if more or not isinstance(first.target, ast.Name):
        return [(node, "")]
    element = node.elt
    while isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute) and element.func.attr in _TEXT:
        element = element.func.value
    same = isinstance(element, ast.Name) and element.id == first.target.id
    if isinstance(element, ast.Subscript) and isinstance(element.slice, ast.Name) and isinstance(first.iter, ast.List):
        # `[deps[name] for name in ["torch", "numpy"]]`
        table = element.value.id if isinstance(element.value, ast.Name) else ""
        keys = [str(one.value) for one in first.iter.elts if isinstance(one, ast.Constant)]
        return [item for key in keys for item in _entry(table, key, node, module)]
    # A loop over the lines of a file is followed to that file.
    return [(first.iter, "")] if same and not isinstance(first.iter, ast.Call) else [(node, "")]


def _of_call(node: ast.Call, module: Module) -> list[tuple[ast.expr, str | None]]:
    name = called(node)
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and name == "values":
        # What is added later, this very list among it, is not there yet.
        items = [item for entry in module.items_of(node.func.value.id).values() for item in entry]
        return [item for item in items if item[0].lineno < node.lineno] if items else [(node, "")]
    if isinstance(node.func, ast.Attribute) and name in _TEXT and isinstance(node.func.value, ast.Constant):
        return [(node.func.value, "")]
    if name in _SAME and node.args:
        return [(node.args[0], "")]
    function = module.functions.get(name)
    if function is not None and _looks_up(function) and all(isinstance(one, ast.Constant) for one in node.args):
        keys = [str(one.value) for one in node.args if isinstance(one, ast.Constant)]
        return [item for key in keys for item in _entry("", key, node, module)]
    return [(node, "")]


def _looks_up(function: ast.FunctionDef) -> bool:
    """Return whether a function gives the requirements that its arguments name: ``[deps[name] for name in names]``."""
    last = function.body[-1]
    return (
        function.args.vararg is not None
        and isinstance(last, ast.Return)
        and isinstance(last.value, ast.ListComp)
        and isinstance(last.value.elt, ast.Subscript)
    )


def _tests_of_lines(node: ast.AST) -> Iterable[ast.expr]:
    """Return what the lines of a file are asked that a loop goes through."""
    if isinstance(node, ast.comprehension):
        return node.ifs
    if isinstance(node, ast.For):
        return [part.test for part in ast.walk(node) if isinstance(part, ast.If)]
    return ()


def _chooses(test: ast.expr) -> bool:
    """Return whether a test asks lines for a name, and not whether they are comments, options or addresses."""
    asked: list[ast.expr] = []
    for part in ast.walk(test):
        if isinstance(part, ast.Call) and called(part) in ("startswith", "endswith", "match", "search"):
            asked += part.args
        elif isinstance(part, ast.Compare):
            asked += [part.left, *part.comparators]
    texts = [one.value for given in asked for one in ast.walk(given) if isinstance(one, ast.Constant)]
    return any(isinstance(text, str) and _A_NAME.match(text) is not None for text in texts)


def _from_file(node: ast.expr, module: Module, values: Values, marker: str) -> None:
    """Add the one text file that an expression reads, following names and functions of the module."""
    texts: set[str] = set()
    reads = False
    waiting: list[ast.AST] = [node]
    seen: set[str] = set()
    while waiting:
        for part in ast.walk(waiting.pop()):
            if any(_chooses(test) for test in _tests_of_lines(part)):
                raise Dynamic(node)
            if isinstance(part, ast.Call):
                reads = reads or called(part) in _READERS
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                texts.add(part.value)
            if isinstance(part, ast.Name) and part.id not in seen:
                seen.add(part.id)
                waiting += [value for value, _ in module.names.get(part.id, [])]
                waiting += [module.functions[part.id]] if part.id in module.functions else []
    files = {text for text in texts if text.endswith((".txt", ".in", ".pip")) and len(text) < 200}
    if not reads or len(files) != 1 or marker:
        raise Dynamic(node)
    values.files.append((files.pop(), getattr(node, "lineno", 1)))
