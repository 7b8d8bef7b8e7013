"""A conda environment and a venv are in use at the same time.

## What it does
Looks whether both are active and whether the wrong one comes first, whether conda's libraries are on the loader's
path of a venv, and whether a venv stands on conda's Python.

## Why it is bad
Packages come from one and libraries (OpenMP, CUDA, libstdc++) from the other; which `python` starts depends on
the order in which they were activated.

## Example
`(base)` stays active under a venv, and `LD_LIBRARY_PATH` has `miniconda3/lib` in it.

## What to do
`conda deactivate` until no environment is left, then activate the venv; `conda config --set auto_activate_base false`.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.surroundings import is_active, is_here, of_conda, path
from envdoctor.model.environment import EnvironmentKind, InstalledEnvironment, Isolation
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding: a warning where the other one gets in the way, else information."""
    around, active, made_by = environment.isolation or Isolation(), is_active(environment), environment.venv
    venv, conda = around.variables.get("VIRTUAL_ENV", ""), around.variables.get("CONDA_PREFIX", "")
    evidence = []
    if environment.kind is EnvironmentKind.VENV and active and conda:
        evidence += _in_the_way(around, conda)
    if environment.kind is EnvironmentKind.CONDA and active and venv and not is_here(environment, venv):
        evidence += _in_the_way(around, venv)
    if evidence:
        severity, message = Severity.WARNING, "A conda environment and a venv are both active, and one is in the way"
    elif made_by is not None and of_conda(made_by.home):
        severity, message = Severity.INFO, "This venv stands on a Python of conda"
        evidence = [Evidence(f"home = {made_by.home}", "pyvenv.cfg")]
    elif active and venv and conda:
        severity, message = Severity.INFO, "A conda environment and a venv are both active"
        evidence = [Evidence(venv, "VIRTUAL_ENV"), Evidence(conda, "CONDA_PREFIX")]
    else:
        return
    advice = "Deactivate conda before you activate the venv, or make the environment with one of the two alone"
    yield RULE.finding("conda and venv", message, tuple(evidence), Remedy(advice), severity=severity)


def _in_the_way(around: Isolation, other: str) -> list[Evidence]:
    evidence = [
        Evidence(f"{name} on PATH: {program}", "PATH")
        for name, program in around.path_programs.items()
        if name == "python" and path(other) in path(program).parents
    ]
    loaded = [folder for folder in around.variables.get("LD_LIBRARY_PATH", "").split(":") if folder]
    evidence += [
        Evidence(folder, "LD_LIBRARY_PATH") for folder in loaded if path(other) in (path(folder), *path(folder).parents)
    ]
    return evidence


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find, about=SubjectKind.ENVIRONMENT)
