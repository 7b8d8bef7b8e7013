"""Python scripts with inline metadata (PEP 723)."""

from __future__ import annotations

import re
from pathlib import Path

from envdoctor.adapters.project.draft import Circumstances, Draft, ProjectFileError, TextFile
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import parse_toml
from envdoctor.adapters.project.uv_settings import read_uv
from envdoctor.adapters.project.uv_sources import apply_sources

__all__ = ["read_script"]

_OPENING = re.compile(r"^# /// ([A-Za-z0-9-]+)$")


def read_script(draft: Draft, path: Path, circumstances: Circumstances) -> None:
    """Read the ``script`` block into the draft. Raises ProjectFileError where there is none, or two, or bad TOML."""
    file = draft.load(path)
    block = _block(file)
    # Blank lines in place of the rest keep every line where it is in the script.
    document = parse_toml(TextFile(file.path, file.shown, block), circumstances.included_from)
    draft.asks_for_none = True
    before = len(draft.requirements)
    for at, text in document.strings(draft, "dependencies"):
        draft.add(parse_pep508(text, document.origin("dependencies", at)), circumstances)
    python = document.get("requires-python")
    if isinstance(python, str):
        draft.set_python(python, document.origin("requires-python"))
    own = document.get("tool", "envdoctor")
    if isinstance(own, dict):
        draft.settings = own
    read_uv(draft, document)
    apply_sources(draft, document, before)


def _block(file: TextFile) -> str:
    found: str | None = None
    lines = file.text.splitlines()
    at = 0
    while at < len(lines):
        opening = _OPENING.match(lines[at])
        end = _end(lines, at) if opening else None
        if opening is None or end is None:
            at += 1
            continue
        if opening.group(1) == "script":
            if found is not None:
                raise ProjectFileError(file.shown, at + 1, "a second `# /// script` block; there may be only one")
            content = [line[2:] if line.startswith("# ") else line[1:] for line in lines[at + 1 : end]]
            found = "\n" * (at + 1) + "\n".join(content)
        at = end + 1
    if found is None:
        raise ProjectFileError(file.shown, None, "a Python script without inline metadata (`# /// script`)")
    return found


def _end(lines: list[str], start: int) -> int | None:
    """Return the position of the block's last ``# ///`` line."""
    end = None
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if line == "# ///":
            end = at
        elif line != "#" and not line.startswith("# "):
            break
    return end
