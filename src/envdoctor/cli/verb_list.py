"""The verbs, by name: what no module of theirs need be imported for."""

from __future__ import annotations

__all__ = ["VERBS"]

VERBS = {
    "check": "Find every conflict, missing wheel and known failure of a project for a target",
    "lock": "Write the resolution down: pylock (PEP 751), constraints and overrides",
    "explain": "Say why a package has its version, or why requirements cannot hold together",
    "fix": "Apply the prescription as a transaction that `undo` takes back",
    "undo": "Take the last fix back, or a chosen one with all that came after it",
    "run": "Start a command inside the environment, with the profile's variables",
    "host": "Show what this machine is, each fact with its source",
    "compare": "Say what differs between two reports or environments, and what of it matters",
    "smoke": "Run small GPU kernels in an environment, compare them with a reference, and say what can run where",
    "profiles": "List, show, validate and create profiles",
    "rule": "Show a rule's documentation",
}
"""Every verb with its line of help; a test holds them against the modules' own."""
