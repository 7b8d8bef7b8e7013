"""What a project's own requirements would give without the profile: resolved, and looked at by the same rules.

Two of the known stacks resolve without an error and still do not run. With the profile applied their resolution is
right, so a reader would never learn what is wrong with the project; these findings say it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from packaging.utils import canonicalize_name

from envdoctor.diagnose.advisories.advisory import Advisory
from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.examination import Examination
from envdoctor.model.finding import Applicability, Command, Evidence, Finding, Look, Remedy, Severity
from envdoctor.model.profile import Profile
from envdoctor.model.requirement import RequirementKind
from envdoctor.model.resolution import Resolution
from envdoctor.ports import ArchiveReader, Index
from envdoctor.resolve.diagnosis import resolve
from envdoctor.resolve.manifest import Manifest

__all__ = ["changes_anything", "found_as_they_stand", "found_without_bounds"]

_SEEN = {
    Look.AS_THEY_STAND: ("without the profile, ", "as the requirements stand"),
    Look.WITHOUT_BOUNDS: ("", "without the profile's bounds"),
}
"""How the first piece of evidence begins, and where it was seen."""

_MENDED = Remedy("the profile mends it", Applicability.SAFE, (Command("lock"),))
_OTHER_PROFILE = Remedy("this profile is for another system, and what it binds is too: take the one for this system")

# Second looks and advisories. That a package is old, or has no wheel, matters only for what will be installed.
_SPEAKS_OF_WHAT_BREAKS = ("RES2", "ADV")


def changes_anything(profile: Profile | None) -> bool:
    """Return whether the profile makes a resolution other than the project's own."""
    return profile is not None and bool(profile.overrides or profile.excludes or profile.indexes or profile.requires)


def found_as_they_stand(
    manifest: Manifest,
    project_lines: int,
    examination: Examination,
    applied: Collection[Finding],
    index: Index,
    archives: ArchiveReader | None,
    further: Sequence[Advisory],
) -> tuple[Finding, ...]:
    """Return the errors and warnings of the project's own resolution that the profile's resolution no longer has.

    ``project_lines`` is how many of the manifest's requirements are the project's; the profile's follow them.
    ``index`` is asked without the profile's bound indexes. Couplings do not count: no installer knows them.
    """
    plain = replace(
        manifest,
        requirements=manifest.requirements[:project_lines],
        overrides=(),
        exclusions=(),
        couplings=(),
        policy=replace(manifest.policy, couplings=False),
    )
    resolution = resolve(plain, index)
    if resolution is None:
        return ()
    seen = _seen(examination, resolution, index, archives)
    found = examine(seen, further, families=_SPEAKS_OF_WHAT_BREAKS, said=applied)
    profile, target = examination.profile, examination.target
    mends = profile is None or target is None or profile.target.serves(target)
    return tuple(_marked(found, applied, resolution, Look.AS_THEY_STAND, mends=mends))


def found_without_bounds(
    manifest: Manifest,
    profile: Profile,
    examination: Examination,
    applied: Collection[Finding],
    index: Index,
    archives: ArchiveReader | None,
    further: Sequence[Advisory],
) -> tuple[Finding, ...]:
    """Return, as notes, what the profile's constraints alone keep away: all else of the profile holds here.

    Where the project's lines cannot be installed together, nothing else would say what those constraints are good for.
    """
    bounds = {item.requirement for item in profile.requires if item.requirement.kind is RequirementKind.CONSTRAINT}
    if not bounds:
        return ()
    kept = tuple(item for item in manifest.requirements if item not in bounds)
    # What a lock holds would stand for the bounds.
    resolution = resolve(replace(manifest, requirements=kept, preferences={}), index)
    if resolution is None:
        return ()
    seen = _seen(examination, resolution, index, archives)
    found = examine(seen, further, families=_SPEAKS_OF_WHAT_BREAKS, said=applied)
    marked = _marked(found, applied, resolution, Look.WITHOUT_BOUNDS)
    return tuple(replace(item, severity=Severity.INFO) for item in marked)


def _seen(
    examination: Examination, resolution: Resolution, index: Index, archives: ArchiveReader | None
) -> Examination:
    return replace(
        examination,
        profile=None,
        conflicts=(),
        repairs=(),
        override_failure=(),
        resolution=resolution,
        index=index,
        archives=archives,
    )


def _marked(
    findings: Iterable[Finding], applied: Iterable[Finding], resolution: Resolution, look: Look, *, mends: bool = True
) -> Iterator[Finding]:
    without, where = _SEEN[look]
    still_there = {(finding.rule, finding.name, finding.subject) for finding in applied}
    for finding in findings:
        if finding.severity is Severity.INFO or not finding.rule.startswith(_SPEAKS_OF_WHAT_BREAKS):
            continue
        if (finding.rule, finding.name, finding.subject) in still_there:
            continue
        yield replace(
            finding,
            look=look,
            evidence=(
                Evidence(f"{without}an installer would take {_taken(finding, resolution)}", where),
                *finding.evidence,
            ),
            remedy=_MENDED if mends else _OTHER_PROFILE,
        )


def _taken(finding: Finding, resolution: Resolution) -> str:
    """Return what an installer would take of the packages that a finding speaks of."""
    names = finding.packages or (canonicalize_name(finding.subject),)
    found = [package for name in names if (package := resolution.get(name)) is not None]
    return " and ".join(f"{package.name} {package.version}" for package in found) or "this"
