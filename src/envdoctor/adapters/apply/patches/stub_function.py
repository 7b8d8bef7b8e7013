"""``stub-function``: a function that returns at once."""

from __future__ import annotations

import libcst as cst

from envdoctor.adapters.apply.patches import AnchorMissing
from envdoctor.adapters.apply.patches.syntax import ScopedTransformer, code_of, is_docstring, parse, parse_expression
from envdoctor.model.profile import Patch

__all__ = ["apply"]


def apply(patch: Patch, text: str) -> str:
    """Return the text with the function returning ``value`` (None) first. Raises AnchorMissing."""
    module = parse(text)
    value = parse_expression(patch.value, module) if patch.value else None
    stub = _Stub(patch.function or "", cst.Return(value))
    changed = module.visit(stub)
    if not stub.found:
        raise AnchorMissing(f"a function `{patch.function}`")
    return changed.code


class _Stub(ScopedTransformer):
    def __init__(self, wanted: str, leave: cst.Return) -> None:
        super().__init__()
        self.wanted = wanted
        self.leave_with = leave
        self.found = False

    def changed(self, name: str, node: cst.FunctionDef) -> cst.FunctionDef:
        """Put the return first, after a docstring."""
        if name != self.wanted:
            return node
        self.found = True
        if isinstance(node.body, cst.SimpleStatementSuite):
            first = node.body.body[0]
            if code_of(first).rstrip("; ") == code_of(self.leave_with):
                return node
            return node.with_changes(body=node.body.with_changes(body=[self.leave_with, *node.body.body]))
        statements = [item for item in node.body.body if isinstance(item, cst.BaseStatement)]
        place = 1 if is_docstring(statements) else 0
        if len(statements) > place and _returns(statements[place], self.leave_with):
            return node
        statements.insert(place, cst.SimpleStatementLine([self.leave_with]))
        return node.with_changes(body=node.body.with_changes(body=statements))


def _returns(statement: cst.BaseStatement, wanted: cst.Return) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and len(statement.body) == 1
        and code_of(statement.body[0]) == code_of(wanted)
    )
