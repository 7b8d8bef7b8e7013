# ruff: noqa: ARG002, N802 - libcst names the methods of its visitors and their arguments
"""Walking a tree with the dotted name of the function or class that one is in."""

from __future__ import annotations

import libcst as cst

__all__ = ["ScopedTransformer"]


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
