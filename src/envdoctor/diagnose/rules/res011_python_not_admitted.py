"""The project does not admit the Python that it is judged for.

## What it does

Compares the project's own `requires-python` (pyproject.toml, setup.cfg, setup.py, a script's inline metadata, a conda
file's `python`) with the target's Python. One patch release of the target's minor version that is admitted is enough.
The `python` of a conda file is the target's where nobody names another, so that this speaks where somebody did. Targets
that `[tool.uv] environments` leaves out are a warning. So is a Python for which nothing is judged, whatever file names
it: the nearest that is known is taken, and the verdict is `unknown`: what comes out for that is not known to hold.

## Why is this bad

pip and uv refuse to install the project on such a Python, whatever its dependencies say. What was resolved for it was
resolved for a machine that the project does not want.

## Example

`requires-python = ">=3.12"`, judged for Python 3.11.

## References

- PyPA, pyproject.toml specification: https://packaging.python.org/specifications/pyproject-toml/#requires-python
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.compatibility import KNOWN_SPAN, admits, admitted_minors
from envdoctor.model.finding import Command, Evidence, Finding, Remedy, Severity
from envdoctor.model.project import Project
from envdoctor.model.requirement import may_hold
from envdoctor.model.target import Target
from envdoctor.model.unknown import SubjectKind


def _other_environments(examination: Examination) -> Iterator[Finding]:
    """Yield a warning where uv is told to resolve the project for other targets only."""
    project, target = examination.project, examination.target
    if project is None or target is None or not project.environments:
        return
    here = target.marker_environment()
    if any(may_hold(marker, here) for marker, _ in project.environments):
        return
    origin = project.environments[0][1]
    yield RULE.finding(
        subject=project.name or "environments",
        subject_kind=SubjectKind.PROJECT,
        severity=Severity.WARNING,
        message=f"uv resolves the project for other targets only, and not for {target}",
        evidence=tuple(Evidence(str(marker), str(place)) for marker, place in project.environments),
        remedy=Remedy("add the target to `[tool.uv] environments`, or judge for one of those that it names"),
        location=origin,
    )


def _unjudged(project: Project, target: Target) -> Finding:
    wanted, origin = project.chosen_python
    return RULE.finding(
        subject=project.name or "python",
        severity=Severity.WARNING,
        message=f"the environment is to have Python `{wanted}`, for which nothing is judged",
        evidence=(Evidence(f"python: {wanted}", str(origin)),),
        remedy=Remedy(
            f"take a Python from {KNOWN_SPAN} where the project can; this was judged for {target.python_version}"
        ),
        location=origin,
    )


def _find(examination: Examination) -> Iterator[Finding]:
    yield from _other_environments(examination)
    project, target = examination.project, examination.target
    if project is None or target is None:
        return
    if project.unjudged_on(target):
        yield _unjudged(project, target)
        return
    wanted, origin = project.requires_python, project.requires_python_origin
    if wanted is None or admits(wanted, target.python):
        return
    others = admitted_minors(wanted)
    best = f"{others[-1][0]}.{others[-1][1]}" if others else None
    remedy = Remedy(f"correct `{wanted}`: no Python from {KNOWN_SPAN} meets it, and for others nothing is judged")
    if best is not None:
        option = f"--target-python {best}"
        remedy = Remedy(f"judge for a Python that it admits: `{option}`", commands=(Command("check", best),))
    yield RULE.finding(
        subject=project.name or "python",
        message=f"the project requires Python `{wanted}`, and the target has {target.python_version}",
        evidence=(Evidence(f"requires-python: {wanted}", str(origin) if origin else ""),),
        remedy=remedy,
        location=origin,
    )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, needs={"project", "target"}, about=SubjectKind.PROJECT)
