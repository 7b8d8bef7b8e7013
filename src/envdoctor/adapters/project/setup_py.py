"""setup.py, read and never run: literal lists, simple variables, and the idiom that reads a requirements file."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path

from envdoctor.adapters.project.draft import Circumstances, Draft, ProjectFileError, TextFile
from envdoctor.adapters.project.group_choice import Wanted, groups_of
from envdoctor.adapters.project.requirement_lines import without_comment
from envdoctor.adapters.project.requirements_file import include_requirements
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblemKind
from envdoctor.model.requirement import GroupKind

__all__ = ["read_setup_py"]

_READERS = frozenset({"open", "read_text", "parse_requirements", "readlines", "read", "read_file"})
_DEEPEST = 20


class _Dynamic(Exception):
    def __init__(self, node: ast.AST) -> None:
        super().__init__()
        self.line: int | None = getattr(node, "lineno", None)


@dataclass(slots=True)
class _Values:
    texts: list[tuple[str, int]] = field(default_factory=list)
    files: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Module:
    directory: Path
    names: dict[str, list[ast.expr]] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    conditional: set[str] = field(default_factory=set)


def read_setup_py(draft: Draft, path: Path, circumstances: Circumstances, wanted: Wanted) -> None:
    """Read the arguments of ``setup()`` into the draft. Raises ProjectFileError for code that does not parse."""
    file = draft.load(path)
    tree = _parse(file)
    module = _Module(path.parent)
    _collect(tree.body, module, conditional=False)
    call = next((node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == "setup"), None)
    if call is None:
        return
    draft.asks_for_none = True
    arguments = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if any(keyword.arg is None for keyword in call.keywords):
        _dynamic(draft, file, call.lineno, circumstances, "arguments of `setup()`")
    name = _string(arguments.get("name"), module)
    if draft.name is None and name:
        draft.name = name
    python = _string(arguments.get("python_requires"), module)
    if python:
        draft.set_python(python, FileOrigin(file.shown, arguments["python_requires"].lineno))
    if "install_requires" in arguments and wanted.main:
        _read(draft, file, module, arguments["install_requires"], circumstances)
    if "extras_require" in arguments:
        _extras(draft, file, module, arguments["extras_require"], circumstances, wanted)


def _parse(file: TextFile) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(file.text)
    except SyntaxError as error:
        raise ProjectFileError(file.shown, error.lineno, f"invalid Python: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ProjectFileError(file.shown, None, "invalid Python: it cannot be parsed") from error


def _collect(body: list[ast.stmt], module: _Module, *, conditional: bool) -> None:
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            module.functions[statement.name] = statement
        elif isinstance(statement, ast.With):
            for item in statement.items:
                if isinstance(item.optional_vars, ast.Name):
                    module.names[item.optional_vars.id] = [item.context_expr]
            _collect(statement.body, module, conditional=conditional)
        elif isinstance(statement, (ast.If, ast.For, ast.While, ast.Try)):
            for part in ("body", "orelse", "finalbody"):
                _collect(getattr(statement, part, []), module, conditional=True)
        else:
            _collect_change(statement, module, conditional)


def _collect_change(statement: ast.stmt, module: _Module, conditional: bool) -> None:
    name, value, adds = _change(statement)
    if name is None or value is None:
        return
    if conditional and name in module.names:
        module.conditional.add(name)
    elif adds:
        module.names.setdefault(name, []).append(value)
    else:
        module.names[name] = [value]


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
            if call.func.attr == "extend":
                return name, argument, True
    return None, None, False


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _string(node: ast.expr | None, module: _Module) -> str | None:
    if isinstance(node, ast.Name) and len(module.names.get(node.id, [])) == 1:
        node = module.names[node.id][0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _evaluate(node: ast.expr, module: _Module, values: _Values, depth: int = 0) -> None:
    if depth > _DEEPEST:
        raise _Dynamic(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        values.texts += [(line, node.lineno + at) for at, line in enumerate(node.value.split("\n"))]
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        for element in node.elts:
            inner = element.value if isinstance(element, ast.Starred) else element
            _evaluate(inner, module, values, depth + 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        _evaluate(node.left, module, values, depth + 1)
        _evaluate(node.right, module, values, depth + 1)
    elif isinstance(node, ast.Name) and _is_plain(node.id, module):
        for part in module.names[node.id]:
            _evaluate(part, module, values, depth + 1)
    else:
        values.files.append((_file_read(node, module), node.lineno))


def _is_plain(name: str, module: _Module) -> bool:
    return name in module.names and name not in module.conditional


def _file_read(node: ast.expr, module: _Module) -> str:
    """Return the one text file that an expression reads, following names and functions of the module."""
    texts: set[str] = set()
    reads = False
    waiting: list[ast.AST] = [node]
    seen: set[str] = set()
    while waiting:
        for part in ast.walk(waiting.pop()):
            if isinstance(part, ast.Call):
                reads = reads or _called(part) in _READERS
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                texts.add(part.value)
            if isinstance(part, ast.Name) and part.id not in seen:
                seen.add(part.id)
                waiting += module.names.get(part.id, [])
                waiting += [module.functions[part.id]] if part.id in module.functions else []
    files = {text for text in texts if text.endswith((".txt", ".in", ".pip")) and len(text) < 200}
    if not reads or len(files) != 1:
        raise _Dynamic(node)
    return files.pop()


def _read(draft: Draft, file: TextFile, module: _Module, node: ast.expr, circumstances: Circumstances) -> None:
    values = _Values()
    try:
        _evaluate(node, module, values)
    except _Dynamic as error:
        _dynamic(draft, file, error.line, circumstances, "requirements")
        return
    for text, line in values.texts:
        origin = FileOrigin(file.shown, line, circumstances.included_from)
        if without_comment(text).strip():
            draft.add(parse_pep508(without_comment(text).strip(), origin), circumstances)
    for name, line in values.files:
        origin = FileOrigin(file.shown, line, circumstances.included_from)
        include_requirements(draft, name.lstrip("/\\"), file.path.parent, origin, circumstances)


def _extras(
    draft: Draft,
    file: TextFile,
    module: _Module,
    node: ast.expr,
    circumstances: Circumstances,
    wanted: Wanted,
) -> None:
    if isinstance(node, ast.Name) and _is_plain(node.id, module):
        node = module.names[node.id][0]
    if not isinstance(node, ast.Dict):
        if wanted.choice.extras or wanted.choice.either:
            _dynamic(draft, file, node.lineno, circumstances, "extras")
        return
    named = {
        key.value: value
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }
    for group in groups_of(draft, GroupKind.EXTRA, named, wanted):
        _read(draft, file, module, named[group.name], replace(circumstances, group=group))


def _dynamic(draft: Draft, file: TextFile, line: int | None, circumstances: Circumstances, what: str) -> None:
    origin = FileOrigin(file.shown, line, circumstances.included_from)
    message = f"some {what} of `{file.shown}` are computed: only running it would tell them"
    draft.problem(ReadingProblemKind.DYNAMIC, origin, message)
