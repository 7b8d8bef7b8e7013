"""setup.py, read and never run: literal lists, simple variables, and the idiom that reads a requirements file."""

from __future__ import annotations

import ast
import warnings
from dataclasses import replace
from pathlib import Path

from packaging.markers import Marker

from envdoctor.adapters.project.draft import Circumstances, Draft, ProjectFileError, TextFile
from envdoctor.adapters.project.group_choice import Wanted, groups_of
from envdoctor.adapters.project.requirement_lines import without_comment
from envdoctor.adapters.project.requirements_file import include_requirements
from envdoctor.adapters.project.setup_values import Dynamic, Module, Values, dict_items, evaluate, module_of
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblemKind
from envdoctor.model.requirement import GroupKind, Requirement, both_markers
from envdoctor.setup_markers import called

__all__ = ["read_setup_py"]

_LONGEST = 120
"""Characters of an expression that are quoted."""


def read_setup_py(draft: Draft, path: Path, circumstances: Circumstances, wanted: Wanted) -> None:
    """Read the arguments of ``setup()`` into the draft. Raises ProjectFileError for code that does not parse."""
    file = draft.load(path)
    tree = _parse(file)
    module = module_of(tree)
    call = next((node for node in ast.walk(tree) if isinstance(node, ast.Call) and called(node) == "setup"), None)
    if call is None:
        return
    draft.asks_for_none = True
    arguments = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    for keyword in call.keywords:
        spread = _spread(keyword.value, module) if keyword.arg is None else {}
        if spread is None:
            _dynamic(
                draft, file, call.lineno, circumstances, "arguments of `setup()`", f"**{ast.unparse(keyword.value)}"
            )
        arguments = {**(spread or {}), **arguments}
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


def _spread(node: ast.expr, module: Module) -> dict[str, ast.expr] | None:
    """Return the arguments of ``setup(**config)`` where a literal dictionary holds them, None where code makes it."""
    if isinstance(node, ast.Name):
        uncertain = node.id in module.conditional or node.id in module.added
        found = {} if uncertain else module.items_of(node.id)
        single = {key: items[0][0] for key, items in found.items() if len(items) == 1 and not items[0][1]}
        return single if single and len(single) == len(found) else None
    return dict(dict_items(node)) or None


def _parse(file: TextFile) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(file.text)
    except SyntaxError as error:
        raise ProjectFileError(file.shown, error.lineno, f"invalid Python: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ProjectFileError(file.shown, None, "invalid Python: it cannot be parsed") from error


def _string(node: ast.expr | None, module: Module) -> str | None:
    if isinstance(node, ast.Name):
        node = module.single(node.id)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _read(draft: Draft, file: TextFile, module: Module, node: ast.expr, circumstances: Circumstances) -> None:
    values = Values()
    try:
        evaluate(node, module, values)
    except Dynamic as error:
        _dynamic(draft, file, error.line, circumstances, "requirements", error.expression)
        return
    for change in values.left_open:
        _dynamic(draft, file, change.line, circumstances, "requirements", change.expression)
    for text, line, marker in values.texts:
        origin = FileOrigin(file.shown, line, circumstances.included_from)
        if without_comment(text).strip():
            read = parse_pep508(without_comment(text).strip(), origin)
            if isinstance(read, Requirement) and marker:
                read = replace(read, marker=both_markers(read.marker, Marker(marker)))
            draft.add(read, circumstances)
    for name, line in values.files:
        origin = FileOrigin(file.shown, line, circumstances.included_from)
        include_requirements(draft, name.lstrip("/\\"), file.path.parent, origin, circumstances)


def _extras(
    draft: Draft, file: TextFile, module: Module, node: ast.expr, circumstances: Circumstances, wanted: Wanted
) -> None:
    named = module.items_of(node.id) if isinstance(node, ast.Name) else {}
    if not named:
        named = {key: [(value, "")] for key, value in dict_items(node)}
    if not named and (wanted.choice.extras or wanted.choice.either):
        _dynamic(draft, file, node.lineno, circumstances, "extras", ast.unparse(node))
    for group in groups_of(draft, GroupKind.EXTRA, named, wanted):
        for value, _ in named[group.name]:
            _read(draft, file, module, value, replace(circumstances, group=group))


def _dynamic(
    draft: Draft, file: TextFile, line: int | None, circumstances: Circumstances, what: str, expression: str
) -> None:
    origin = FileOrigin(file.shown, line, circumstances.included_from)
    shown = " ".join(expression.split())[:_LONGEST].replace("`", "'")
    message = f"some {what} of `{file.shown}` are computed by `{shown}`: only running it would tell them"
    draft.problem(ReadingProblemKind.DYNAMIC, origin, message)
