"""What a project's own requirements would give without the profile: resolved, and looked at by the same rules.

Two of the known stacks resolve without an error and still do not run. With the profile applied their resolution is
right, so a reader would never learn what is wrong with the project; these findings say it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.examination import Examination
from envdoctor.model.finding import Applicability, Evidence, Finding, Remedy, Severity
from envdoctor.model.profile import Profile
from envdoctor.model.resolution import Resolution
from envdoctor.ports import ArchiveReader, Index
from envdoctor.resolve.diagnosis import Unsatisfiable, resolve
from envdoctor.resolve.problem import Problem
from envdoctor.workflow.failures import packages_in

__all__ = ["AS_THEY_STAND", "changes_anything", "found_as_they_stand"]

AS_THEY_STAND = "as the requirements stand"
"""Where the evidence of such a finding was seen."""

# Second looks and advisories. That a package is old, or has no wheel, matters only for what will be installed.
_SPEAKS_OF_WHAT_BREAKS = ("RES2", "ADV")


def changes_anything(profile: Profile | None) -> bool:
    """Return whether the profile makes a resolution other than the project's own."""
    return profile is not None and bool(profile.overrides or profile.excludes or profile.indexes or profile.requires)


def found_as_they_stand(
    problem: Problem,
    project_lines: int,
    examination: Examination,
    applied: Iterable[Finding],
    index: Index,
    archives: ArchiveReader | None,
) -> tuple[Finding, ...]:
    """Return the errors and warnings of the project's own resolution that the profile's resolution no longer has.

    ``project_lines`` is how many of the problem's requirements are the project's; the profile's follow them.
    ``index`` is asked without the profile's bound indexes. Couplings do not count: no installer knows them.
    """
    plain = replace(
        problem,
        requirements=problem.requirements[:project_lines],
        overrides=(),
        exclusions=(),
        couplings=(),
        policy=replace(problem.policy, couplings=False),
    )
    resolution = resolve(plain, index)
    if isinstance(resolution, Unsatisfiable):
        return ()
    seen = replace(
        examination,
        profile=None,
        conflicts=(),
        repairs=(),
        override_failure=(),
        resolution=resolution,
        index=index,
        archives=archives,
    )
    return tuple(_marked(examine(seen), applied, resolution))


def _marked(findings: Iterable[Finding], applied: Iterable[Finding], resolution: Resolution) -> Iterator[Finding]:
    still_there = {(finding.rule, finding.name, finding.subject) for finding in applied}
    for finding in findings:
        if finding.severity is Severity.INFO or not finding.rule.startswith(_SPEAKS_OF_WHAT_BREAKS):
            continue
        if (finding.rule, finding.name, finding.subject) in still_there:
            continue
        yield replace(
            finding,
            evidence=(Evidence(_taken(finding, resolution), AS_THEY_STAND), *finding.evidence),
            remedy=Remedy("the profile mends it", Applicability.SAFE, ("envdoctor lock",)),
        )


def _taken(finding: Finding, resolution: Resolution) -> str:
    """Return what an installer would take of the packages that a finding speaks of."""
    found = [package for name in packages_in(finding, resolution) if (package := resolution.get(name)) is not None]
    taken = " and ".join(f"{package.name} {package.version}" for package in found) or "this"
    return f"without the profile, an installer would take {taken}"
