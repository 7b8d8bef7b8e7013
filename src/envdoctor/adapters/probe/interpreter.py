"""Ask an interpreter about itself, or have it import a module, in a child with a time limit that it cannot harm."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from envdoctor.adapters.probe.interpreter_child import BoundedChild, ChildOutcome, answer_in, last_line, run_bounded
from envdoctor.adapters.probe.interpreter_questions import QUESTIONS
from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import EnvironmentProblem, EnvironmentProblemKind, ImportOutcome, InstalledEnvironment

__all__ = ["InterpreterAnswer", "Questioning", "probe_import", "probe_imports"]

_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_IMPORT_MARK = b"envdoctor-import"
# Valid from Python 2.7 to 3.15. The module's own exit handlers and threads do not get a say: `os._exit`.
_SCRIPT = r"""
import sys
if sys.path and sys.path[0] == "":
    del sys.path[0]
import json, os
name = sys.argv[1]
try:
    import faulthandler
    faulthandler.enable()
except Exception:
    pass
answer = {"status": "imported"}
try:
    module = __import__(name, fromlist=["_"])
    answer["version"] = str(getattr(module, "__version__", "")) or None
    answer["file"] = getattr(module, "__file__", None)
except BaseException as error:
    missing = type(error).__name__ == "ModuleNotFoundError" and getattr(error, "name", None)
    own = missing and (name == missing or name.startswith(missing + "."))
    answer["status"] = "missing" if own else "raised"
    answer["exception"] = type(error).__name__
    answer["message"] = str(error)[:2000]
    import traceback
    traceback.print_exc()
os.write(1, ("\n<<envdoctor-import\n" + json.dumps(answer) + "\nenvdoctor-import>>\n").encode("utf-8"))
sys.stderr.flush()
os._exit(0)
"""


def probe_import(
    interpreter: str, module: str, timeout_s: float = 30.0, *, environment: Mapping[str, str] | None = None
) -> ImportOutcome:
    """Import ``module`` in a child of ``interpreter``; never raises for what the module does.

    The child and all that it started are killed after ``timeout_s`` seconds. Raises ValueError where ``module`` is
    not a dotted name.
    """
    if not _MODULE.fullmatch(module):
        raise ValueError(f"`{module}` is not the name of a module")
    variables = {**(os.environ if environment is None else environment), "PYTHONDONTWRITEBYTECODE": "1"}
    executable = str(Path(interpreter).absolute())
    folder = Path(executable).parent
    begin = time.perf_counter()
    outcome = run_bounded(
        [executable, "-c", _SCRIPT, module],
        timeout_s=timeout_s,
        limit_bytes=4 * 1024 * 1024,
        environment=variables,
        cwd=str(folder) if folder.is_dir() else None,
    )
    return _judge(module, outcome, time.perf_counter() - begin)


def probe_imports(
    installed: InstalledEnvironment,
    modules: Iterable[str],
    timeout_s: float = 30.0,
    *,
    environment: Mapping[str, str] | None = None,
) -> InstalledEnvironment:
    """Return ``installed`` with the outcomes of importing ``modules`` in its interpreter.

    Without an interpreter nothing is run. The modules share the time: all of it ends within ``timeout_s`` seconds.
    """
    if installed.executable is None:
        return installed
    deadline = time.monotonic() + timeout_s
    outcomes = {
        module: probe_import(
            installed.executable, module, max(0.1, deadline - time.monotonic()), environment=environment
        )
        for module in modules
    }
    return replace(installed, imports=outcomes)


def _judge(module: str, outcome: ChildOutcome, seconds: float) -> ImportOutcome:
    output = outcome.stderr.decode("utf-8", "replace")[-4000:]
    if outcome.status == "cannot-start":
        return ImportOutcome(module, "not-run", outcome.detail, seconds=seconds)
    if outcome.status == "timed-out":
        return ImportOutcome(module, "timed-out", outcome.detail, seconds=seconds, output=output)
    answer = answer_in(outcome.stdout, _IMPORT_MARK)
    if answer is None or outcome.status == "signalled":
        # A module that ends the process by itself (`os._exit`, `abort`) leaves no answer.
        return ImportOutcome(module, "crashed", outcome.detail, seconds=seconds, output=output)
    status = str(answer.get("status"))
    exception, message = answer.get("exception"), answer.get("message") or ""
    return ImportOutcome(
        module,
        status if status in ("imported", "missing", "raised") else "raised",
        f"{exception}: {_first_line(str(message))}" if exception else "",
        seconds=seconds,
        version=str(answer["version"]) if answer.get("version") else None,
        file=str(answer["file"]) if answer.get("file") else None,
        output="" if status == "imported" else output,
    )


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:400] if lines else ""


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
            return InterpreterAnswer(facts)
        problem = _problem(self.executable, outcome)
        if outcome.status == "cannot-start":
            return InterpreterAnswer(None, (problem,))
        isolated = _facts(self._start(self.timeout_s / 2, "-I", "-S").wait().stdout)
        if isolated is None:
            return InterpreterAnswer(None, (problem,))
        return InterpreterAnswer(isolated, (problem,), degraded=True)

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
        return EnvironmentProblem(EnvironmentProblemKind.INTERPRETER_TIMEOUT, executable, outcome.detail)
    detail = outcome.detail if outcome.status != "exited" or outcome.code else "its answer could not be read"
    said = last_line(outcome.stderr) if outcome.stderr else ""
    return EnvironmentProblem(
        EnvironmentProblemKind.INTERPRETER_FAILED, executable, f"{detail}: {said}" if said else detail
    )
