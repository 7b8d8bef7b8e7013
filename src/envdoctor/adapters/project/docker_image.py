"""The Python that the image of a Dockerfile brings, where its tag says so."""

from __future__ import annotations

import re
from collections.abc import Iterable

from packaging.specifiers import SpecifierSet

from envdoctor.adapters.project.draft import Draft, TextFile
from envdoctor.adapters.project.script_variables import ScriptVariables
from envdoctor.adapters.project.shell_words import Dialect, Word
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin

__all__ = ["keep_python_of_image"]

_INSTRUCTION = re.compile(r"^\s*(FROM|ARG)\s+((?:--\S+\s+)*)(\S+)(?:\s+AS\s+(\S+))?\s*$", re.I)
_OF_PYTHON = re.compile(
    r"^(?:docker\.io/)?(?:library/)?python:(3\.\d{1,3})(\.\d{1,3})?(?:(?:rc|[ab])\d+)?(?:-[\w.-]+)?(?:@.*)?$"
)


@dataclass(frozen=True, slots=True)
class _Stage:
    line: int
    python: str | None
    """``3.9`` or ``3.9.7``; None where the image does not tell."""


def keep_python_of_image(draft: Draft, file: TextFile, installs: Iterable[int]) -> None:
    """Keep the Python of the stages that the commands on lines ``installs`` stand in, where it is one and the same."""
    stages = _stages(file.text)
    used = [next((one for one in reversed(stages) if one.line < line), None) for line in installs]
    pythons = {one.python if one is not None else None for one in used}
    python = pythons.pop() if len(pythons) == 1 else None
    if python is None or used[0] is None or draft.environment_python is not None:
        return
    exact = f"=={python}" if python.count(".") > 1 else f"=={python}.*"
    draft.set_environment_python(SpecifierSet(exact), FileOrigin(file.shown, used[0].line), binds=False)


def _stages(text: str) -> list[_Stage]:
    """Return the stages in their order; one that is made from another has its Python."""
    found: list[_Stage] = []
    named: dict[str, str | None] = {}
    variables = ScriptVariables(Dialect.POSIX)
    for number, line in enumerate(text.splitlines(), start=1):
        match = _INSTRUCTION.match(line)
        if match is None:
            continue
        word = Word(match[3].strip("\"'"), number)
        if match[1].upper() == "ARG":
            if not found:  # Others count within their stage alone.
                variables.learn([word])
            continue
        image = variables.expanded([word])[0].text
        told = _OF_PYTHON.match(image)
        python = told[1] + (told[2] or "") if told else named.get(image.lower())
        found.append(_Stage(number, python))
        if match[4]:
            named[match[4].lower()] = python
    return found
