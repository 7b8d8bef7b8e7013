# ruff: noqa: ARG002, N802 - libcst names the methods of its visitors and their arguments
"""``set-attribute``: every assignment to a name or attribute assigns the wanted value."""

from __future__ import annotations

import libcst as cst

from envdoctor.adapters.apply.patches import AnchorMissing
from envdoctor.adapters.apply.patches.syntax import ScopedTransformer, code_of, dotted, parse, parse_expression
from envdoctor.model.profile import Patch

__all__ = ["apply"]


def apply(patch: Patch, text: str) -> str:
    """Return the text with the value assigned. Raises AnchorMissing.

    Without a ``function``, assignments at the top of the module are meant (also inside ``if`` and the like); where
    there are none, those in functions.
    """
    module = parse(text)
    value = parse_expression(patch.value or "None", module)
    wanted = patch.attribute or ""
    for top_only in (True, False) if patch.function is None else (False,):
        assign = _Assign(wanted, value, patch.function, top_only=top_only)
        changed = module.visit(assign)
        if assign.found:
            return changed.code
    inside = f" in `{patch.function}`" if patch.function else ""
    raise AnchorMissing(f"an assignment to `{wanted}`{inside}")


class _Assign(ScopedTransformer):
    def __init__(self, wanted: str, value: cst.BaseExpression, function: str | None, *, top_only: bool) -> None:
        super().__init__(function)
        self.wanted = wanted
        self.value = value
        self.top_only = top_only
        self.found = False

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:
        """Change a plain assignment."""
        if not self._here() or not any(dotted(item.target) == self.wanted for item in updated_node.targets):
            return updated_node
        self.found = True
        same = code_of(updated_node.value) == code_of(self.value)
        return updated_node if same else updated_node.with_changes(value=self.value)

    def leave_AnnAssign(self, original_node: cst.AnnAssign, updated_node: cst.AnnAssign) -> cst.AnnAssign:
        """Change an annotated assignment."""
        if not self._here() or updated_node.value is None or dotted(updated_node.target) != self.wanted:
            return updated_node
        self.found = True
        same = code_of(updated_node.value) == code_of(self.value)
        return updated_node if same else updated_node.with_changes(value=self.value)

    def _here(self) -> bool:
        return self.inside and not (self.top_only and self.functions)
