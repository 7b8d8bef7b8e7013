"""`pip` or `python` belongs to another environment than the one in use.

## What it does
Where the environment is the active one (`VIRTUAL_ENV`, `CONDA_PREFIX`), looks which `python` and `pip` PATH finds
first; in any case, which Python the environment's own `pip` script starts. Where another environment is active, and
not the one that envdoctor runs in, that is a note.

## Why it is bad
`pip install` fills another environment, and `import` still fails in this one. An environment whose folder was moved
or copied has scripts that start the old one's Python.

## Example
The venv is active, and `pip` is `/usr/local/bin/pip`.

## What to do
Call `python -m pip` with the python of the environment; make an environment anew instead of moving it.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.surroundings import is_active, is_inside, path
from envdoctor.model.environment import EnvironmentKind, EnvironmentProblemKind, InstalledEnvironment, Isolation
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each program that belongs elsewhere."""
    for problem in environment.problems:
        if problem.kind is EnvironmentProblemKind.FOREIGN_SCRIPT:
            yield RULE.finding(
                problem.subject,
                f"The environment's own `pip` belongs elsewhere: {problem.detail}",
                (Evidence(problem.detail, problem.subject),),
                Remedy("Use `python -m pip`; an environment that was moved or copied is best made anew"),
                severity=Severity.WARNING,
            )
    if environment.isolation is None:
        return
    if not is_active(environment):
        yield from _another_active(environment, environment.isolation)
        return
    for name in ("python", "pip"):
        program = environment.isolation.path_programs.get(name)
        if program is not None and not is_inside(environment, program):
            # uv makes environments without pip, and those who use uv do not miss it.
            without = name == "pip" and environment.get("pip") is None
            yield RULE.finding(
                name,
                f"The environment is active, but `{name}` is `{program}`",
                (Evidence(f"{name} on PATH: {program}", "PATH"), Evidence(f"environment: {environment.root}")),
                Remedy(f"Use `{environment.executable or 'python'} -m pip`, or activate the environment again"),
                severity=Severity.INFO if without else Severity.WARNING,
            )


def _another_active(environment: InstalledEnvironment, isolation: Isolation) -> Iterator[Finding]:
    """Yield a note where the shell has another environment active, and not for envdoctor's own sake."""
    active = isolation.variables.get("VIRTUAL_ENV", "")
    program = isolation.path_programs.get("python", "")
    if environment.kind is not EnvironmentKind.VENV or not active or path(active) == path(isolation.doctor):
        return
    if path(active) not in path(program).parents:
        return
    yield RULE.finding(
        "python",
        f"Another environment is active: `python` here is `{program}`, not this environment's",
        (Evidence(f"VIRTUAL_ENV: {active}", "environment variable"), Evidence(f"environment: {environment.root}")),
        Remedy(f"Use `{environment.executable or 'python'}`, or activate this environment"),
        severity=Severity.INFO,
    )


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.WARNING,
    find,
    summary="pip or python belongs to another environment",
    about=SubjectKind.PROGRAM,
)
