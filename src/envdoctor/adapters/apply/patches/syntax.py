"""Walking a tree with the dotted name of the function or class that one is in."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from envdoctor.adapters.apply.patches import AnchorMissing

__all__ = ["ScopedTransformer", "code_of", "dotted", "is_docstring", "parse", "parse_expression", "parse_statements"]

# ruff: noqa: ARG002, N802 - libcst names the methods of its visitors and their arguments


class ScopedTransformer(cst.CSTTransformer):
    """Keeps the path of classes and functions; ``inside`` tells whether the walk is within a wanted one."""

    def __init__(self, function: str | None = None) -> None:
        super().__init__()
        self.path: list[str] = []
        self.functions = 0
        self.function = function

    @property
    def name(self) -> str:
        """Dotted name of where the walk is, empty at the top."""
        return ".".join(self.path)

    @property
    def inside(self) -> bool:
        """Whether the walk is inside the wanted function (everywhere, where none is wanted)."""
        if self.function is None:
            return True
        return self.name == self.function or self.name.startswith(self.function + ".")

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        """Enter a class."""
        self.path.append(node.name.value)
        return True

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        """Leave a class."""
        self.path.pop()
        return updated_node

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        """Enter a function."""
        self.path.append(node.name.value)
        self.functions += 1
        return True

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        """Leave a function."""
        result = self.changed(self.name, updated_node)
        self.path.pop()
        self.functions -= 1
        return result

    def changed(
        self,
        name: str,
        node: cst.FunctionDef,
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        """Return what a function becomes; itself, unless a patch is about functions."""
        return node


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
