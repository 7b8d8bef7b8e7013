"""Profile texts that the tests are made of."""

from __future__ import annotations

HEAD = """\
schema = 1
[profile]
name = "a-stack"
summary = "A stack"
"""
TARGET = """\
[target]
os = "linux"
arch = "x86_64"
python = ">=3.10,<3.13"
backend = "cuda"
"""
MINIMAL = HEAD + TARGET


def with_sections(*sections: str) -> str:
    """Return a minimal profile with more sections."""
    return "\n".join((MINIMAL, *sections))
