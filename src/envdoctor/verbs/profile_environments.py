"""The environments of a profile, where one cannot serve: a request for each, and one report of them all."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.utils import NormalizedName

from envdoctor.diagnose.rules.res001_conflicting_requirements import repair_remedy
from envdoctor.model.compatibility import admits
from envdoctor.model.finding import Finding
from envdoctor.model.profile import EnvironmentSpec, Profile
from envdoctor.model.project import Project
from envdoctor.model.repair import Repair
from envdoctor.model.report import Report
from envdoctor.model.requirement import Requirement
from envdoctor.model.target import Target
from envdoctor.verbs.check_request import CheckRequest

__all__ = ["environment_of", "per_environment", "together"]


def per_environment(request: CheckRequest) -> list[CheckRequest]:
    """Return the request as it is, or one for each environment of the profile, with what that environment takes.

    The locks of the environments are not those of the request: ``locked`` is None in each.
    """
    profile = request.profile
    if profile is None or not profile.environments:
        return [request]
    return [_restricted(request, profile, spec) for spec in profile.environments]


def _restricted(request: CheckRequest, profile: Profile, spec: EnvironmentSpec) -> CheckRequest:
    elsewhere = {name for other in profile.environments if other is not spec for name in other.packages}
    elsewhere -= set(spec.packages)
    choices = request.python_choices
    if spec.python is not None:
        wanted = choices or (request.target.python,)
        fitting = tuple(python for python in wanted if admits(spec.python, python))
        choices = fitting or wanted
    return replace(
        request,
        part=spec.name,
        project=_taken(request.project, spec, elsewhere, profile.place) if request.project is not None else None,
        # What reads no file of the project is for a program of its own: the sources run in another one.
        sources=None if spec.packages and not spec.requirements else request.sources,
        profile=_profile_of(profile, spec, elsewhere),
        python_choices=choices,
        target=_target_of(request.target, spec, choices),
        locked=None,
    )


def environment_of(profile: Profile, environment: Path | None) -> Profile:
    """Return the profile as it is in an environment that a fix has made for one of several; else as it is."""
    name = environment.name if environment is not None else ""
    spec = next((item for item in profile.environments if name.endswith(f"-{item.name}")), None)
    return _profile_of(profile, spec, ()) if spec is not None else profile


def _profile_of(profile: Profile, spec: EnvironmentSpec, elsewhere: Collection[NormalizedName]) -> Profile:
    """Return the profile with what holds in one environment: what is said of another backend does not."""
    profile = replace(profile, requires=tuple(i for i in profile.requires if i.requirement.name not in elsewhere))
    if spec.backend is None or spec.backend is profile.target.backend:
        return profile
    return replace(
        profile,
        target=replace(profile.target, backend=spec.backend),
        smoke=replace(profile.smoke, settings=()),
        # Where a component goes when kernels fail is said of the profile's own device, and sources are patched once.
        placements=tuple(rule for rule in profile.placements if rule.always),
    )


def _target_of(target: Target, spec: EnvironmentSpec, choices: Sequence[tuple[int, int]]) -> Target:
    if spec.backend is not None:
        target = replace(target, backend=spec.backend)
    return target.for_python(choices[0]) if choices else target


def _taken(project: Project, spec: EnvironmentSpec, elsewhere: Collection[NormalizedName], place: str) -> Project:
    """Return the project with the requirements that an environment takes: of its files, and on its packages.

    ``place``: the stack's checkout inside this project; what the outer one asks for, every environment takes.
    """
    everything = not spec.requirements and not spec.packages
    kept = tuple(
        item
        for item in project.requirements
        if item.name not in elsewhere
        and (everything or _of(item, spec.requirements, place) or item.name in spec.packages)
    )
    return replace(project, requirements=kept)


def _of(item: Requirement, files: Sequence[str], place: str) -> bool:
    path = getattr(item.origin, "path", None)
    return path in files or bool(place and path is not None and not path.startswith(f"{place}/"))


def together(reports: Sequence[Report]) -> Report:
    """Return one report of all environments; that of a profile with one unnamed environment is the report itself.

    Conflicts and repairs are called after their environment (``main:C1``), findings say it. What is found in the same
    words in every environment is the project's own, and said once.
    """
    if len(reports) == 1 and not reports[0].environment:
        return reports[0]
    common = [item for item in reports[0].findings if all(item in other.findings for other in reports)]
    common = [item for item in common if len(reports) > 1 and not item.conflict]
    own = [_own(finding, report) for report in reports for finding in report.findings if finding not in common]
    return replace(
        reports[0],
        environment="",
        complete=all(report.complete for report in reports),
        unknowns=tuple(dict.fromkeys(unknown for report in reports for unknown in report.unknowns)),
        conflicts=tuple(
            replace(item, id=_called(item.id, report), environment=report.environment)
            for report in reports
            for item in report.conflicts
        ),
        conflicts_truncated=any(report.conflicts_truncated for report in reports),
        repairs=tuple(_repair(item, report) for report in reports for item in report.repairs),
        resolution=None,
        findings=(*common, *own),
        timings={
            phase: sum(report.timings.get(phase, 0.0) for report in reports)
            for phase in dict.fromkeys(phase for report in reports for phase in report.timings)
        },
        parts=tuple(reports),
    )


def _called(identifier: str, report: Report) -> str:
    return f"{report.environment}:{identifier}"


def _repair(repair: Repair, report: Report) -> Repair:
    resolves = tuple(_called(identifier, report) for identifier in repair.resolves)
    return replace(repair, id=_called(repair.id, report), resolves=resolves)


def _own(finding: Finding, report: Report) -> Finding:
    """Return a finding of one environment: what it says of conflicts and repairs is called after it."""
    repair = next((item for item in report.repairs if item.id == finding.repair), None)
    if repair is not None:
        repair = _repair(repair, report)
        finding = replace(finding, repair=repair.id, remedy=repair_remedy(repair, report.target))
    if finding.conflict:
        finding = replace(finding, conflict=_called(finding.conflict, report))
    return replace(finding, environment=report.environment)
