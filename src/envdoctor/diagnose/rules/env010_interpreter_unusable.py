"""The environment's interpreter does not start, hangs, is too old or too new, or is another environment's.

## What it does
Runs the interpreter with a few questions, standard library only, under a time limit. Where that fails it is asked
again in isolation (`-I -S`), and the folder is read in any case. Where the Python in a folder says that it belongs to
another one, and does not look for packages here (a venv without `pyvenv.cfg`), the folder alone is judged. A venv or
conda environment whose site-packages folder is gone is told, too. A Python older or newer than all that are known here,
that of a listing too, is judged as the oldest or the newest of those.

## Why it is bad
Nothing in the environment can run; or something that every start executes (`sitecustomize`, a `.pth` file,
`PYTHONHOME`, a missing shared library) stops it.

## Example
`bin/python` ends with `error while loading shared libraries: libpython3.10.so.1.0`.

## What to do
Run the interpreter by hand and read its message; make the environment anew where its Python is gone.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import EnvironmentProblem, EnvironmentProblemKind, InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind

_SAYINGS = {
    EnvironmentProblemKind.INTERPRETER_FAILED: (Severity.ERROR, "`{0}` does not start as it should: {1}"),
    EnvironmentProblemKind.INTERPRETER_TIMEOUT: (Severity.ERROR, "`{0}` hangs when it starts: it {1}"),
    EnvironmentProblemKind.INTERPRETER_OLD: (Severity.WARNING, "the Python of `{0}` is too old: {1}"),
    EnvironmentProblemKind.INTERPRETER_NEW: (Severity.WARNING, "the Python of `{0}` is too new: {1}"),
    EnvironmentProblemKind.FOREIGN_INTERPRETER: (Severity.ERROR, "The Python in `{0}` is not this environment's: {1}"),
    EnvironmentProblemKind.NO_SITE_PACKAGES: (Severity.ERROR, "`{0}` has no folder for packages: {1}"),
    EnvironmentProblemKind.NO_INTERPRETER: (Severity.INFO, "`{0}` was read as a folder: {1}"),
}
_REMEDIES = {
    EnvironmentProblemKind.INTERPRETER_FAILED: "Run it by hand with `-v`; where its Python is gone, make the "
    "environment anew",
    EnvironmentProblemKind.INTERPRETER_TIMEOUT: "Start it with `-I -S`: if that works, a `sitecustomize` or a `.pth` "
    "file hangs",
    EnvironmentProblemKind.FOREIGN_INTERPRETER: "Make the environment anew, and install from the lock; it is "
    "`pyvenv.cfg` that makes a folder a venv",
    EnvironmentProblemKind.NO_SITE_PACKAGES: "Make the environment anew, and install from the lock",
    EnvironmentProblemKind.INTERPRETER_OLD: "Make the environment with Python 3.10 or later",
    EnvironmentProblemKind.INTERPRETER_NEW: "Make the environment with an earlier Python, or take a later envdoctor",
}


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each way in which the interpreter failed."""
    gone = any(problem.kind is EnvironmentProblemKind.BASE_GONE for problem in environment.problems)
    for problem in environment.problems:
        # That the base is gone explains all of it, and has a rule of its own.
        if problem.kind in _SAYINGS and not gone:
            yield _finding(problem)


def _finding(problem: EnvironmentProblem) -> Finding:
    severity, saying = _SAYINGS[problem.kind]
    advice = _REMEDIES.get(problem.kind)
    return RULE.finding(
        subject=problem.subject,
        message=saying.format(problem.subject, problem.detail),
        severity=severity,
        evidence=(Evidence(problem.detail, problem.subject),),
        remedy=Remedy(advice) if advice else None,
    )


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.ERROR,
    find,
    summary="The environment's interpreter does not start, hangs, is too old or too new, or is another one's",
    about=SubjectKind.INTERPRETER,
)
