# ruff: noqa: ARG002, N802 - libcst names the methods of its visitors and their arguments
"""``set-argument``: every call of a function passes the wanted keyword argument."""

from __future__ import annotations

import libcst as cst

from envdoctor.adapters.apply.patches import AnchorMissing
from envdoctor.adapters.apply.patches.syntax import ScopedTransformer, code_of, dotted, parse, parse_expression
from envdoctor.model.profile import Patch

__all__ = ["apply"]


def apply(patch: Patch, text: str) -> str:
    """Return the text with the argument passed. Raises AnchorMissing."""
    module = parse(text)
    value = parse_expression(patch.value or "None", module)
    calls = _Calls(patch.call or "", patch.argument or "", value, patch.function)
    changed = module.visit(calls)
    if not calls.found:
        inside = f" in `{patch.function}`" if patch.function else ""
        raise AnchorMissing(f"a call of `{patch.call}`{inside}")
    return changed.code


class _Calls(ScopedTransformer):
    def __init__(self, call: str, argument: str, value: cst.BaseExpression, function: str | None) -> None:
        super().__init__(function)
        self.call = call
        self.argument = argument
        self.value = value
        self.found = False

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        """Set or add the argument."""
        name = dotted(updated_node.func)
        if not self.inside or name is None or not (name == self.call or name.endswith("." + self.call)):
            return updated_node
        self.found = True
        arguments = list(updated_node.args)
        for place, argument in enumerate(arguments):
            if argument.keyword is not None and argument.keyword.value == self.argument:
                if code_of(argument.value) == code_of(self.value):
                    return updated_node
                arguments[place] = argument.with_changes(value=self.value)
                return updated_node.with_changes(args=arguments)
        return updated_node.with_changes(args=self._added(arguments))

    def _added(self, arguments: list[cst.Arg]) -> list[cst.Arg]:
        new = cst.Arg(
            keyword=cst.Name(self.argument),
            value=self.value,
            equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
        )
        if not arguments:
            return [new]
        last = arguments[-1]
        space: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
        if len(arguments) > 1 and isinstance(arguments[-2].comma, cst.Comma):
            # One argument a line stays one argument a line.
            space = arguments[-2].comma.whitespace_after
        trailing = last.comma
        closing = last.whitespace_after_arg
        if isinstance(trailing, cst.Comma):
            new = new.with_changes(comma=trailing)
            arguments[-1] = last.with_changes(comma=cst.Comma(whitespace_after=space))
        else:
            new = new.with_changes(whitespace_after_arg=closing)
            arguments[-1] = last.with_changes(
                comma=cst.Comma(whitespace_after=space), whitespace_after_arg=cst.SimpleWhitespace("")
            )
        return [*arguments, new]
