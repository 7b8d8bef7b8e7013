"""Ask an interpreter about itself, in a child with a time limit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envdoctor.adapters.probe.interpreter_child import BoundedChild, ChildOutcome, answer_in, last_line
from envdoctor.adapters.probe.interpreter_questions import QUESTIONS
from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import EnvironmentProblem, ProblemKind

__all__ = ["OLDEST_PYTHON", "InterpreterAnswer", "Questioning"]

OLDEST_PYTHON = (3, 8)
_MARK = b"envdoctor-answer"
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "version": list,
    "executable": (str, type(None)),
    "prefix": str,
    "path": list,
    "platform": str,
}


@dataclass(frozen=True, slots=True)
class InterpreterAnswer:
    """What an interpreter said, or why it said nothing."""

    facts: Mapping[str, Any] | None
    problems: tuple[EnvironmentProblem, ...] = ()
    degraded: bool = False
    """True where only ``-I -S`` worked: its search path is then not the one that programs see."""


class Questioning:
    """An interpreter that has been asked, and whose answer is fetched later."""

    def __init__(
        self, executable: str, *, timeout_s: float = 5.0, environment: Mapping[str, str] | None = None
    ) -> None:
        self.executable = executable
        self.timeout_s = timeout_s
        self.environment = environment
        self.child = self._start(timeout_s)

    def answer(self) -> InterpreterAnswer:
        """Return the answer; never raises, and ends within about ``1.5 * timeout_s`` seconds. To be called once.

        The interpreter runs as programs do, so that PYTHONPATH, the user site and ``.pth`` files show. Where that
        fails, it is asked again in isolation (``-I -S``), with the failure kept as a problem.
        """
        outcome = self.child.wait()
        facts = _facts(outcome.stdout)
        if facts is not None:
            return InterpreterAnswer(facts, _too_old(self.executable, facts))
        problem = _problem(self.executable, outcome)
        if outcome.status == "cannot-start":
            return InterpreterAnswer(None, (problem,))
        isolated = _facts(self._start(self.timeout_s / 2, "-I", "-S").wait().stdout)
        if isolated is None:
            return InterpreterAnswer(None, (problem,))
        return InterpreterAnswer(isolated, (problem, *_too_old(self.executable, isolated)), degraded=True)

    def _start(self, timeout_s: float, *options: str) -> BoundedChild:
        # The interpreter's own folder is a place where no stray `json.py` lies.
        folder = Path(self.executable).absolute().parent
        variables = dict(os.environ if self.environment is None else self.environment)
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
        argv = [self.executable, *options, "-c", QUESTIONS]
        return BoundedChild(
            argv,
            timeout_s=timeout_s,
            environment=variables,
            cwd=str(folder) if os.path.isdir(folder) else None,
        )


def _facts(output: bytes) -> Mapping[str, Any] | None:
    """Return the answer between the marks, None where there is none or it is not one."""
    answer = answer_in(output, _MARK)
    if answer is None or not all(isinstance(answer.get(key), kind) for key, kind in _TYPES.items()):
        return None
    version = answer["version"]
    return answer if len(version) >= 2 and all(isinstance(part, int) for part in version[:3]) else None


def _problem(executable: str, outcome: ChildOutcome) -> EnvironmentProblem:
    if outcome.status == "timed-out":
        return EnvironmentProblem(ProblemKind.INTERPRETER_TIMEOUT, executable, outcome.detail)
    detail = outcome.detail if outcome.status != "exited" or outcome.code else "its answer could not be read"
    said = last_line(outcome.stderr) if outcome.stderr else ""
    return EnvironmentProblem(ProblemKind.INTERPRETER_FAILED, executable, f"{detail}: {said}" if said else detail)


def _too_old(executable: str, facts: Mapping[str, Any]) -> tuple[EnvironmentProblem, ...]:
    version = tuple(facts["version"][:2])
    if version >= OLDEST_PYTHON:
        return ()
    detail = f"Python {version[0]}.{version[1]} is older than {OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]}"
    return (EnvironmentProblem(ProblemKind.INTERPRETER_OLD, executable, detail),)
