"""Import a module in the patient's interpreter, and survive whatever it does."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from envdoctor.adapters.probe.interpreter_child import ChildOutcome, answer_in, run_bounded
from envdoctor.model.environment import ImportOutcome, InstalledEnvironment

__all__ = ["probe_import", "probe_imports"]

_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_MARK = b"envdoctor-import"
# Valid from Python 2.7 to 3.14. The module's own exit handlers and threads do not get a say: `os._exit`.
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
    answer = answer_in(outcome.stdout, _MARK)
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
