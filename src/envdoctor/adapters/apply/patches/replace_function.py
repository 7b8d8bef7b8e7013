"""``replace-function``: another definition in its place."""

from __future__ import annotations

import libcst as cst

from envdoctor.adapters.apply.patches import AnchorMissing
from envdoctor.adapters.apply.patches.syntax import ScopedTransformer, code_of, parse, parse_statements
from envdoctor.model.profile import Patch

__all__ = ["apply"]


def apply(patch: Patch, text: str) -> str:
    """Return the text with the function defined anew. Raises AnchorMissing."""
    module = parse(text)
    swap = _Swap(patch.function or "", list(parse_statements(patch.source or "", module)))
    changed = module.visit(swap)
    if not swap.found:
        raise AnchorMissing(f"a function `{patch.function}`")
    return changed.code if swap.swapped else text


class _Swap(ScopedTransformer):
    def __init__(self, wanted: str, statements: list[cst.SimpleStatementLine | cst.BaseCompoundStatement]) -> None:
        super().__init__()
        self.wanted = wanted
        self.statements = statements
        self.found = False
        self.swapped = False

    def changed(self, name: str, node: cst.FunctionDef) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        """Put the new statements where the function was."""
        if name != self.wanted:
            return node
        self.found = True
        if any(_plain(statement) == _plain(node) for statement in self.statements):
            return node
        self.swapped = True
        first = self.statements[0].with_changes(leading_lines=[*node.leading_lines, *self.statements[0].leading_lines])
        return cst.FlattenSentinel([first, *self.statements[1:]])


def _plain(node: cst.SimpleStatementLine | cst.BaseCompoundStatement) -> str:
    return code_of(node.with_changes(leading_lines=[])).strip()
