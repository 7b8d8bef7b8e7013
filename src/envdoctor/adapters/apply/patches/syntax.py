"""Reading Python source into a tree that keeps every byte, and questions that several patches ask of it."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from envdoctor.adapters.apply.patches.anchor import AnchorMissing

__all__ = ["code_of", "dotted", "is_docstring", "parse", "parse_expression", "parse_statements"]


def parse(text: str) -> cst.Module:
    """Return the tree. Raises AnchorMissing where the text is not Python that would come out again unchanged."""
    try:
        module = cst.parse_module(text)
    except (cst.ParserSyntaxError, RecursionError) as error:
        line = getattr(error, "raw_line", None)
        place = f", line {line}" if line else ""
        raise AnchorMissing(f"valid Python (it does not parse{place})") from None
    if module.code != text:
        raise AnchorMissing("Python source that can be read and written without a change")
    return module


def parse_expression(text: str, module: cst.Module) -> cst.BaseExpression:
    """Return a Python expression of a profile."""
    return cst.parse_expression(text.strip(), config=module.config_for_parsing)


def parse_statements(text: str, module: cst.Module) -> list[cst.SimpleStatementLine | cst.BaseCompoundStatement]:
    """Return the statements of Python source of a profile, in the file's own newlines and indentation."""
    source = text.strip("\n") + "\n"
    parsed = cst.parse_module(source.replace("\n", module.default_newline))
    statements = list(parsed.body)
    if parsed.header and statements:
        statements[0] = statements[0].with_changes(leading_lines=[*parsed.header, *statements[0].leading_lines])
    return statements


def dotted(node: cst.CSTNode) -> str | None:
    """Return ``torch.load`` for a name or a chain of attributes, None for anything else."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr.value}" if owner else None
    return None


def code_of(node: cst.CSTNode) -> str:
    """Return the source of a node."""
    return cst.Module([]).code_for_node(node)


def is_docstring(statements: Sequence[cst.BaseStatement]) -> bool:
    """Return whether the first statement is a bare string."""
    if not statements:
        return False
    first = statements[0]
    if not isinstance(first, cst.SimpleStatementLine) or len(first.body) != 1:
        return False
    only = first.body[0]
    return isinstance(only, cst.Expr) and isinstance(only.value, cst.SimpleString | cst.ConcatenatedString)
