# ruff: noqa: ARG002, N802 - libcst names the methods of its visitors and their arguments
"""``guard-import``: an import that may fail, with names to use when it does."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

import libcst as cst

from envdoctor.adapters.apply.patches import AnchorMissing
from envdoctor.adapters.apply.patches.syntax import code_of, dotted, parse, parse_statements
from envdoctor.model.profile import Patch

__all__ = ["apply"]

_CATCHES = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


def apply(patch: Patch, text: str) -> str:
    """Return the text with every import of the module guarded. Raises AnchorMissing where there is none."""
    module = parse(text)
    guard = _Guard(patch.module or "", patch.fallback or "", module)
    changed = module.visit(guard)
    if not guard.found and not guard.guarded:
        raise AnchorMissing(f"an import of `{patch.module}`")
    return changed.code if guard.found else text


class _Guard(cst.CSTTransformer):
    """Wraps runs of imports in ``try``; those that already stand in one that catches ImportError stay."""

    def __init__(self, wanted: str, fallback: str, module: cst.Module) -> None:
        super().__init__()
        self.wanted = wanted
        self.fallback = fallback
        self.module = module
        self.found = 0
        self.guarded = 0
        self._within = 0
        self._all = _all_names(module, wanted)

    def visit_Try(self, node: cst.Try) -> bool:
        """Note whether imports in here are guarded already."""
        if _catches(node):
            self._within += 1
        return True

    def leave_Try(self, original_node: cst.Try, updated_node: cst.Try) -> cst.Try:
        """Leave a ``try``."""
        if _catches(original_node):
            self._within -= 1
        return updated_node

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        """Guard at the top."""
        return updated_node.with_changes(body=self._wrapped(updated_node.body))

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        """Guard within a block."""
        return updated_node.with_changes(body=self._wrapped(updated_node.body))

    def _wrapped(self, body: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
        result: list[cst.BaseStatement] = []
        run: list[cst.SimpleStatementLine] = []
        for statement in body:
            ours = isinstance(statement, cst.SimpleStatementLine) and bool(_names(statement, self.wanted))
            if ours and self._within:
                self.guarded += 1
                ours = False
            if ours and run and any(line.comment for line in statement.leading_lines):  # type: ignore[attr-defined]
                result.append(self._try(run))
                run = []
            if ours:
                run.append(statement)  # type: ignore[arg-type]
                continue
            if run:
                result.append(self._try(run))
                run = []
            result.append(statement)
        if run:
            result.append(self._try(run))
        return result

    def _try(self, run: Sequence[cst.SimpleStatementLine]) -> cst.Try:
        self.found += 1
        leading = run[0].leading_lines
        body = [run[0].with_changes(leading_lines=[]), *run[1:]]
        names = list(dict.fromkeys(name for line in run for name in _names(line, self.wanted)))
        handler = cst.ExceptHandler(
            type=cst.Name("ImportError"), body=cst.IndentedBlock(body=self._otherwise(names)), leading_lines=[]
        )
        return cst.Try(body=cst.IndentedBlock(body=body), handlers=[handler], leading_lines=leading)

    def _otherwise(self, names: Sequence[str]) -> list[cst.BaseStatement]:
        """Return the fallback's statements that concern these names; what they leave undefined becomes None."""
        statements: list[cst.BaseStatement] = []
        defined: set[str] = set()
        for statement in parse_statements(self.fallback, self.module) if self.fallback.strip() else []:
            bound = _bound(code_of(statement))
            if bound and bound <= self._all and not bound & set(names):
                continue
            defined |= bound
            statements.append(statement)
        missing = [name for name in names if name not in defined]
        statements.extend(
            cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(cst.Name(name))], cst.Name("None"))])
            for name in missing
        )
        return statements


def _catches(node: cst.Try) -> bool:
    for handler in node.handlers:
        if handler.type is None:
            return True
        caught = handler.type
        members = [item.value for item in caught.elements] if isinstance(caught, cst.Tuple) else [caught]
        if any((dotted(member) or "").rpartition(".")[2] in _CATCHES for member in members):
            return True
    return False


def _is(name: str | None, wanted: str) -> bool:
    return name is not None and (name == wanted or name.startswith(wanted + "."))


def _names(line: cst.SimpleStatementLine, wanted: str) -> list[str]:
    """Return the names that the line binds, where all of it imports the module or something in it."""
    names: list[str] = []
    for statement in line.body:
        found = list(_of_statement(statement, wanted))
        if not found:
            return []
        names += found
    return names


def _of_statement(statement: cst.BaseSmallStatement, wanted: str) -> Iterable[str]:
    if isinstance(statement, cst.Import) and all(_is(dotted(alias.name), wanted) for alias in statement.names):
        return [_alias(alias, root=True) for alias in statement.names]
    if isinstance(statement, cst.ImportFrom) and not statement.relative and statement.module is not None:
        if not _is(dotted(statement.module), wanted) or isinstance(statement.names, cst.ImportStar):
            return []
        return [_alias(alias, root=False) for alias in statement.names]
    return []


def _alias(alias: cst.ImportAlias, *, root: bool) -> str:
    if alias.asname is not None:
        return dotted(alias.asname.name) or ""
    name = dotted(alias.name) or ""
    return name.partition(".")[0] if root else name


def _all_names(module: cst.Module, wanted: str) -> set[str]:
    class Collector(cst.CSTVisitor):
        def __init__(self) -> None:
            super().__init__()
            self.names: set[str] = set()

        def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
            self.names.update(_names(node, wanted))
            return False

    collector = Collector()
    module.visit(collector)
    return collector.names


def _bound(source: str) -> set[str]:
    """Return the names that statements bind at their own level."""
    names: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name))
        else:
            names.update(
                item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
            )
    return names
