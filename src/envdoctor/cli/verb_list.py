"""The verbs by name, and what somebody sees who types the command alone: nothing else is imported for it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["VERBS", "first_screen"]

VERBS = {
    "check": "Find conflicts, missing wheels, known failures",
    "lock": "Write a PEP 751 lock, with its overrides",
    "explain": "Explain a package's version, or a conflict",
    "repair": "Show a repair as a diff of your files; write it",
    "fix": "Treat the environment; `undo` takes it back",
    "undo": "Take the last fix back, or a chosen one",
    "run": "Start a command inside the environment",
    "host": "Show what this machine is, with the sources",
    "compare": "Compare two reports or two environments",
    "smoke": "Run GPU kernels and compare their answers",
    "profiles": "List, show, validate and create profiles",
    "init": "Write a project's settings and its hook",
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
    lines = wrapped("Diagnose and treat environments whose GPU is not the one their authors had.")
    lines += ["", "Three things to type:"]
    if width >= typed + 44:
        lines += columns(_FIRST, typed)
    else:
        lines += [text for command, says in _FIRST for text in (f"  {command}", f"      {says}")]
    lines += ["", "Commands:", *columns(VERBS.items(), max(map(len, VERBS))), ""]
    lines += wrapped("`envdoctor COMMAND --help` teaches a command; `envdoctor profiles list` names the stacks.")
    return "\n".join(lines) + "\n"
