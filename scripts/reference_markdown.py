"""Markdown of the reference: tables, anchors, and pages of JSON schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; bars in cells are escaped."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)]) + "\n"


def anchor(heading: str) -> str:
    """Return the fragment by which a heading is linked to."""
    return re.sub(r"[^\w -]", "", heading.casefold()).replace(" ", "-")


def schema_page(title: str, intro: str, schema: Json) -> str:
    """Return a page with a table of keys for every object of a JSON schema."""
    parts = [f"# {title}\n\n{intro}\n", _keys(schema)]
    parts += [section for name, node in schema["properties"].items() for section in _sections(name, node)]
    parts += [section for name, node in schema.get("$defs", {}).items() for section in _sections(name, node)]
    return "\n".join(parts)


def _sections(path: str, node: Json) -> Iterator[str]:
    """Yield a section for every object with keys of its own below a node."""
    shape = node.get("items", node)
    if (
        shape.get("type") == "object"
        and not shape.get("properties")
        and isinstance(shape.get("additionalProperties"), dict)
    ):
        path, shape = f"{path}.NAME", shape["additionalProperties"]
    if "oneOf" in shape and all("$ref" in choice for choice in shape["oneOf"]):
        yield f"## {path}\n\n{_type(shape)}.\n"
        return
    if not shape.get("properties"):
        return
    described = " ".join(filter(None, (node.get("description"), shape is not node and shape.get("description"))))
    yield f"## {path}\n" + (f"\n{described}\n" if described else "")
    yield _keys(shape)
    for name, child in shape["properties"].items():
        yield from _sections(f"{path}.{name}", child)


def _keys(node: Json) -> str:
    needed = set(node.get("required", ()))
    return table(
        ("key", "value", "needed", "meaning"),
        [
            (f"`{name}`", _type(child), "yes" if name in needed else "", child.get("description", ""))
            for name, child in node["properties"].items()
        ],
    )


def _type(node: Json) -> str:
    """Return a schema as words: ``text``, ``list of requirement``, ``"file"``."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return "text" if name == "nonEmpty" else f"[{name}](#{anchor(name)})"
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "enum" in node:
        return ", ".join(f"`{json.dumps(value)}`" for value in node["enum"])
    for key in ("anyOf", "oneOf"):
        if key in node:
            return " or ".join(dict.fromkeys(map(_type, node[key])))
    kind = node.get("type", "anything")
    kinds = kind if isinstance(kind, list) else [kind]
    return " or ".join(_word(each, node) for each in kinds)


def _word(kind: str, node: Json) -> str:
    if kind == "array":
        return f"list of {_type(node['items'])}" if "items" in node else "list"
    words = {"string": "text", "object": "table", "boolean": "true or false", "integer": "whole number"}
    return words.get(kind, kind)
