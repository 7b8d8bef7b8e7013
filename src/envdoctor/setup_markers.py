"""Tests of a ``setup.py`` as markers: ``sys.platform == "win32"``, ``platform.machine() == "x86_64"``..."""

from __future__ import annotations

import ast
from collections.abc import Mapping

__all__ = ["all_of", "asks_the_machine", "called", "marker_of", "negated"]

Names = Mapping[str, ast.expr]

_VARIABLES = {
    "sys.platform": "sys_platform",
    "os.name": "os_name",
    "platform.system()": "platform_system",
    "platform.machine()": "platform_machine",
    "platform.python_implementation()": "platform_python_implementation",
}
_MACHINE = ("sys.platform", "sys.version", "sys.maxsize", "os.name", "os.uname", "platform", "sysconfig", "struct")
"""What a test looks at that differs from machine to machine; environment variables are as the packer left them."""
_STARTS = {"linux": "linux", "win": "win32", "win32": "win32", "darwin": "darwin"}
_SYSTEMS = {"windows": "Windows", "linux": "Linux", "darwin": "Darwin"}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "in": "not in", "not in": "in"}
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
    ast.NotIn: "not in",
}  # fmt: skip
_DEEPEST = 12


def called(call: ast.Call) -> str:
    """Return the name of the function that a call calls."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def asks_the_machine(test: ast.expr, names: Names) -> bool:
    """Return whether a test looks at the platform or the Python, by itself or through a name."""
    for node in ast.walk(test):
        if isinstance(node, ast.Name) and node.id in names and names[node.id] is not test:
            if any(_of_machine(part) for part in ast.walk(names[node.id])):
                return True
        elif _of_machine(node):
            return True
    return False


def _of_machine(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node).startswith(_MACHINE)


def marker_of(test: ast.expr, names: Names) -> str | None:
    """Return the marker that says the same as a test, None where none does."""
    return _marker(test, names, negate=False)


def all_of(*markers: str | None) -> str | None:
    """Return the marker that holds where all of them do, None where one is not known; an empty one always holds."""
    if None in markers:
        return None
    said = list(dict.fromkeys(filter(None, markers)))
    return " and ".join(f"({each})" for each in said) if len(said) > 1 else "".join(said)


def negated(test: ast.expr, names: Names) -> str | None:
    """Return the marker that says the opposite of a test, None where none does."""
    return _marker(test, names, negate=True)


def _marker(test: ast.expr, names: Names, *, negate: bool, depth: int = 0) -> str | None:
    test = _resolved(test, names)
    if depth > _DEEPEST:
        return None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _marker(test.operand, names, negate=not negate, depth=depth + 1)
    if isinstance(test, ast.BoolOp):
        parts = [_marker(value, names, negate=negate, depth=depth + 1) for value in test.values]
        return _together([part for part in parts if part], isinstance(test.op, ast.And) is not negate, len(parts))
    if isinstance(test, ast.Call):
        return _starts_with(test, names, negate)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        operator = _OPERATORS.get(type(test.ops[0]), "")
        operator = _OPPOSITE.get(operator, "") if negate else operator
        return _compared(test.left, operator, test.comparators[0], names) if operator else None
    return None


def _together(parts: list[str], both: bool, wanted: int) -> str | None:
    if len(parts) != wanted:
        return None
    return (" and " if both else " or ").join(f"({part})" for part in parts)


def _resolved(node: ast.expr, names: Names) -> ast.expr:
    for _ in range(_DEEPEST):
        if not isinstance(node, ast.Name) or node.id not in names:
            return node
        node = names[node.id]
    return node


def _variable(node: ast.expr, names: Names) -> str:
    return _VARIABLES.get(ast.unparse(_resolved(node, names)), "")


def _starts_with(call: ast.Call, names: Names, negate: bool) -> str | None:
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "startswith" or len(call.args) != 1:
        return None
    start = _text(call.args[0])
    if start is None or _variable(call.func.value, names) != "sys_platform":
        return None
    return f'sys_platform {"!=" if negate else "=="} "{_STARTS.get(start, start)}"'


def _compared(left: ast.expr, operator: str, right: ast.expr, names: Names) -> str | None:
    left, right = _resolved(left, names), _resolved(right, names)
    if ast.unparse(left).startswith("sys.version_info"):
        return _python(left, operator, right)
    variable, text = _variable(left, names), _text(right)
    if not variable and operator in ("in", "not in") and _text(left) is not None:
        # `"linux" in sys.platform`
        variable, text = _variable(right, names), _text(left)
        return f'"{text}" {operator} {variable}' if variable else None
    if not variable and (lowered := _lowered(left, names)):
        text = _SYSTEMS.get(text or "") if lowered == "platform_system" else None
        variable = lowered
    if not variable:
        return None
    if operator in ("==", "!="):
        return f'{variable} {operator} "{text}"' if text is not None else None
    if operator in ("in", "not in") and isinstance(right, ast.List | ast.Tuple | ast.Set):
        texts = [_text(element) for element in right.elts]
        each = [f'{variable} {"==" if operator == "in" else "!="} "{item}"' for item in texts if item is not None]
        return _together(each, operator == "not in", len(texts)) if texts else None
    return None


def _lowered(node: ast.expr, names: Names) -> str:
    """Return the variable of ``platform.system().lower()``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "lower":
        return _variable(node.func.value, names)
    return ""


def _python(left: ast.expr, operator: str, right: ast.expr) -> str | None:
    """Return ``python_version < "3.8"`` of ``sys.version_info < (3, 8)`` and ``sys.version_info[0] < 3``."""
    said = ast.unparse(left)
    whole = said in ("sys.version_info", "sys.version_info[:2]")
    numbers = [right] if not whole else list(right.elts) if isinstance(right, ast.Tuple) else []
    if said not in ("sys.version_info[0]", "sys.version_info.major") and not whole:
        return None
    values = [item.value for item in numbers if isinstance(item, ast.Constant) and type(item.value) is int]
    exact = operator in ("==", "!=")
    if len(values) != len(numbers) or len(values) not in (1, 2) or operator not in _OPPOSITE or "in" in operator:
        return None
    text = ".".join(map(str, values))
    if not whole and exact:
        return f'python_version {operator} "{text}.*"'
    if not whole:
        # A major number: 3 < 4 of `sys.version_info[0] <= 3`.
        text = str(values[0] + 1) if operator in ("<=", ">") else text
        return f'python_version {"<" if operator in ("<", "<=") else ">="} "{text}"'
    if operator == ">" and said == "sys.version_info":
        operator = ">="  # (3, 8, 0) is above (3, 8)
    if operator == "<=" and said == "sys.version_info":
        operator = "<"
    return f'python_version {operator} "{text}"'


def _text(node: ast.expr) -> str | None:
    """Return a text that can stand in a marker, which knows no quotes within, no backslashes and no line breaks."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value if node.value.isprintable() and not set('"\\') & set(node.value) else None
    return None
