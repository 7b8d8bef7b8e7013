"""The verbs by name, and what somebody sees who types the command alone: nothing else is imported for it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["VERBS", "first_screen"]

VERBS = {
    "check": "Find conflicts, missing wheels and known failures for a target",
    "lock": "Write the resolution as a PEP 751 lock, with its overrides",
    "explain": "Say why a package has its version, or why a conflict is one",
    "repair": "Show a repair as a diff of your files, and write it",
    "fix": "Apply the prescription as a transaction that `undo` takes back",
    "undo": "Take the last fix back, or a chosen one and all after it",
    "run": "Start a command inside the environment, with its variables",
    "host": "Show what this machine is, each fact with its source",
    "compare": "Say what differs between two reports or environments",
    "smoke": "Run GPU kernels in an environment and compare with a reference",
    "profiles": "List, show, validate and create profiles",
    "rule": "Show a rule's documentation",
}
"""Every verb with its line of help; a test holds them against the modules' own."""


_FIRST = (
    ("envdoctor check", "judge the project here, for this machine"),
    ("envdoctor check --profile xtts-zluda", "for a stack on a card, on any machine"),
    ("envdoctor check --env .venv", "look at what is installed"),
)


def first_screen(width: int) -> str:
    """Return the help of the command alone: one screen of ``width`` columns, with three things to type."""
    import textwrap

    def wrapped(text: str) -> list[str]:
        return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)

    def columns(rows: Iterable[tuple[str, str]], first: int) -> Iterator[str]:
        for left, right in rows:
            lines = textwrap.wrap(right, max(20, width - first - 4), break_on_hyphens=False)
            yield f"  {left:<{first}}  {lines[0]}"
            yield from (f"  {'':<{first}}  {line}" for line in lines[1:])

    typed = max(len(command) for command, _ in _FIRST)
    lines = wrapped("Diagnose and treat Python environments whose GPU is not the one their authors had.")
    lines += ["", "Three things to type:"]
    if width >= typed + 44:
        lines += columns(_FIRST, typed)
    else:
        lines += [text for command, says in _FIRST for text in (f"  {command}", f"      {says}")]
    lines += ["", "Commands:", *columns(VERBS.items(), max(map(len, VERBS))), ""]
    lines += wrapped("`envdoctor COMMAND --help` teaches a command; `envdoctor profiles list` names the stacks.")
    return "\n".join(lines) + "\n"
