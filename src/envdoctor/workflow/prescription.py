"""From a project and a profile to the problem that the resolver takes."""

from __future__ import annotations

from dataclasses import replace

from envdoctor.lock.reading import LockedProject
from envdoctor.model.profile import Profile
from envdoctor.model.project import Project
from envdoctor.model.target import Target
from envdoctor.ports import Index
from envdoctor.resolve.diagnosis import Unsatisfiable, resolve
from envdoctor.resolve.problem import Problem

__all__ = ["choose_python", "problem_of"]


def problem_of(
    project: Project,
    target: Target,
    *,
    profile: Profile | None = None,
    locked: LockedProject | None = None,
    upgrade: frozenset[str] = frozenset(),
) -> Problem:
    """Return the problem: the project's lines, then the profile's; versions of an existing lock are preferred."""
    added = tuple(item.requirement for item in profile.requires) if profile else ()
    return Problem(
        requirements=(*project.requirements, *added),
        target=target,
        overrides=profile.overrides if profile else (),
        exclusions=profile.excludes if profile else (),
        couplings=profile.couplings if profile else (),
        preferences=dict(locked.versions) if locked else {},
        upgrade=upgrade,
    )


def choose_python(problem: Problem, choices: tuple[tuple[int, int], ...], index: Index) -> Problem:
    """Return the problem for the first interpreter, in the order of ``choices``, on which it resolves.

    Where it resolves on none, the first is kept: its diagnosis says why.
    """
    candidates = [replace(problem, target=replace(problem.target, python=python)) for python in choices]
    for candidate in candidates[1:] and candidates:
        if not isinstance(resolve(candidate, index), Unsatisfiable):
            return candidate
    return candidates[0]
