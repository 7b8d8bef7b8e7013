"""setup.cfg, and setup.py, read and never run: literal lists, simple variables, a requirements file that it reads."""

from __future__ import annotations

import ast
import configparser
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TypeVar

from packaging.markers import Marker
from packaging.utils import canonicalize_name

from envdoctor.adapters.ini_text import read_ini
from envdoctor.adapters.project.draft import Circumstances, Draft, ProjectFileError, TextFile
from envdoctor.adapters.project.group_choice import Wanted, groups_of
from envdoctor.adapters.project.requirement_lines import without_comment
from envdoctor.adapters.project.requirements_file import include_requirements
from envdoctor.adapters.project.setup_names import Module, dict_items, module_of
from envdoctor.adapters.project.setup_values import Dynamic, Values, evaluate
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import stated
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblem, ReadingProblemKind
from envdoctor.model.requirement import GroupKind, Requirement, both_markers, may_hold
from envdoctor.setup_markers import called

__all__ = ["read_setup_cfg", "read_setup_py"]

_SECTION = re.compile(r"^\[([^\]]+)\]")
_OPTION = re.compile(r"^([^\s=:#;][^=:]*)[=:]\s*(.*)$")


_ListT = TypeVar("_ListT")


@dataclass(slots=True)
class _Option:
    line: int
    values: list[tuple[int, str]] = field(default_factory=list)


def read_setup_cfg(draft: Draft, path: Path, circumstances: Circumstances, wanted: Wanted) -> None:
    """Read the file into the draft. Raises ProjectFileError, with the line of a syntax error."""
    file = draft.load(path)
    _check(file)
    options = _options(file.text)
    draft.asks_for_none = draft.asks_for_none or any(section in {"metadata", "options"} for section, _ in options)
    for line, name in options.get(("metadata", "name"), _Option(0)).values:
        if draft.name is None and ":" not in name and line:
            draft.name = name
        version = next((text for _, text in options.get(("metadata", "version"), _Option(0)).values), None)
        draft.identify(path.parent, *stated({"project": {"name": name, "version": version}}))
    for line, text in options.get(("options", "python_requires"), _Option(0)).values:
        draft.set_python(text, FileOrigin(file.shown, line, circumstances.included_from))
    main = options.get(("options", "install_requires"))
    extras = {key: option for (section, key), option in options.items() if section == "options.extras_require"}

    def read(option: _Option, circumstances: Circumstances) -> Iterator[str]:
        return _read_list(draft, file, option, circumstances)

    if main is not None and wanted.main:
        _with_own_extras(main, extras, circumstances, read)
    for group in groups_of(draft, GroupKind.EXTRA, extras, wanted):
        _with_own_extras(extras[group.name], extras, replace(circumstances, group=group), read)


def _with_own_extras(
    first: _ListT,
    extras: Mapping[str, _ListT],
    circumstances: Circumstances,
    read: Callable[[_ListT, Circumstances], Iterator[str]],
) -> None:
    """Read a list, and those of the project's own extras that it names; ``read`` yields their names."""
    known = {str(canonicalize_name(name)): value for name, value in extras.items()}
    waiting = list(read(first, circumstances))
    while waiting:
        found = known.pop(waiting.pop(0), None)
        waiting += read(found, circumstances) if found is not None else ()


def _keep(
    draft: Draft, file: TextFile, read: Requirement | ReadingProblem, circumstances: Circumstances
) -> frozenset[str]:
    """Keep what a line asks for; return the extras where it asks for the project itself, which is there."""
    own, _ = draft.identities.get(file.path.parent, (None, None))
    itself = isinstance(read, Requirement) and read.url is None and read.name == own
    if isinstance(read, Requirement) and itself and may_hold(read.marker, draft.environment):
        return frozenset(read.extras)
    draft.add(read, circumstances)
    return frozenset()


def _check(file: TextFile) -> None:
    parser = configparser.RawConfigParser(strict=False)
    try:
        read_ini(parser, file.text)
    except configparser.MissingSectionHeaderError as error:
        raise ProjectFileError(file.shown, error.lineno, "invalid setup.cfg: a line before any section") from error
    except configparser.ParsingError as error:
        line = error.errors[0][0] if error.errors else None
        raise ProjectFileError(file.shown, line, "invalid setup.cfg: neither a section nor an option") from error
    except (configparser.Error, AttributeError, ValueError) as error:
        raise ProjectFileError(file.shown, None, f"invalid setup.cfg: {str(error).splitlines()[0]}") from error


def _options(text: str) -> dict[tuple[str, str], _Option]:
    """Return options by section and name with the line of each value line, which ``configparser`` does not tell."""
    found: dict[tuple[str, str], _Option] = {}
    section, current = "", None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith(("#", ";")):
            continue
        if raw[:1].isspace() and current is not None:
            current.values.append((number, line))
            continue
        header, option = _SECTION.match(line), _OPTION.match(line)
        if header is not None:
            section, current = header.group(1).strip(), None
        elif option is not None:
            current = _Option(number)
            found[section, option.group(1).strip().lower().replace("-", "_")] = current
            if option.group(2):
                current.values.append((number, option.group(2)))
    return found


def _read_list(draft: Draft, file: TextFile, option: _Option, circumstances: Circumstances) -> Iterator[str]:
    values = option.values
    if len(values) == 1 and values[0][0] == option.line:
        # setuptools splits a value of one line at semicolons.
        values = [(option.line, part) for part in values[0][1].split(";")]
    for line, value in values:
        text = without_comment(value).strip()
        origin = FileOrigin(file.shown, line, circumstances.included_from)
        if text.startswith("file:"):
            for reference in text.removeprefix("file:").split(","):
                include_requirements(draft, reference.strip(), file.path.parent, origin, circumstances)
        elif text.startswith("attr:"):
            message = f"`{text}` is a value that only running code would tell"
            draft.problem(ReadingProblemKind.DYNAMIC, origin, message, text)
        elif text:
            yield from sorted(_keep(draft, file, parse_pep508(text, origin), circumstances))


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
    version = _string(arguments.get("version"), module)
    draft.identify(path.parent, *stated({"project": {"name": name, "version": version}}))
    python = _string(arguments.get("python_requires"), module)
    if python:
        draft.set_python(python, FileOrigin(file.shown, arguments["python_requires"].lineno))
    extras = _extras_of(arguments["extras_require"], module) if "extras_require" in arguments else {}

    def read(nodes: Sequence[ast.expr], circumstances: Circumstances) -> Iterator[str]:
        for node in nodes:
            yield from _read(draft, file, module, node, circumstances)

    if "install_requires" in arguments and wanted.main:
        _with_own_extras([arguments["install_requires"]], extras, circumstances, read)
    if "extras_require" in arguments and not extras and (wanted.choice.extras or wanted.choice.either):
        node = arguments["extras_require"]
        _dynamic(draft, file, node.lineno, circumstances, "extras", ast.unparse(node))
    for group in groups_of(draft, GroupKind.EXTRA, extras, wanted):
        _with_own_extras(extras[group.name], extras, replace(circumstances, group=group), read)


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


def _read(draft: Draft, file: TextFile, module: Module, node: ast.expr, circumstances: Circumstances) -> Iterator[str]:
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
            yield from sorted(_keep(draft, file, read, circumstances))
    for name, line in values.files:
        origin = FileOrigin(file.shown, line, circumstances.included_from)
        include_requirements(draft, name.lstrip("/\\"), file.path.parent, origin, circumstances)


def _extras_of(node: ast.expr, module: Module) -> dict[str, Sequence[ast.expr]]:
    named = module.items_of(node.id) if isinstance(node, ast.Name) else {}
    if not named:
        named = {key: [(value, "")] for key, value in dict_items(node)}
    return {name: [value for value, _ in items] for name, items in named.items()}


def _dynamic(
    draft: Draft, file: TextFile, line: int | None, circumstances: Circumstances, what: str, expression: str
) -> None:
    origin = FileOrigin(file.shown, line, circumstances.included_from)
    shown = " ".join(expression.split())[:_LONGEST].replace("`", "'")
    message = f"some {what} of `{file.shown}` are computed by `{shown}`: only running it would tell them"
    draft.problem(ReadingProblemKind.DYNAMIC, origin, message)
