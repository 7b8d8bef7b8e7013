"""A requirement replaces the torch that the image of the Dockerfile has.

## What it does

Compares the torch of the resolution with the one that the image has already, where the image's tag tells its version.
It is a warning where the new one is for another major release of CUDA than the image, or where the image's torchvision
stays behind, which was built for the old one; else a note. What stays behind is told, too, where a command upgrades or
uninstalls the image's torch itself. A package that was built for another torch, and of which neither metadata nor a
line says so, replaces nothing: it stands beside the image's then, which is a warning, too.

## Why is this bad

pip leaves what is installed and fits, and replaces what does not: gigabytes are downloaded a second time, and what the
image was chosen for, its torch with its CUDA, is no longer there. A torchvision that was built for another torch fails
as soon as something imports it, and transformers does so unasked.

## Example

```
FROM pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime
RUN pip install torchvision==0.15.2        # requires torch==2.0.1
```

## References

- pip, User guide, "Only if needed": https://pip.pypa.io/en/stable/user_guide/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination, chain_to, line_of
from envdoctor.diagnose.package_view import of_image
from envdoctor.diagnose.pairing import plan_scene
from envdoctor.diagnose.rule import Rule
from envdoctor.model.build_label import BuildLabel, read_label
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity, in_words
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.project import Brought, Project
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.shipped import couplings


def _find(examination: Examination, project: Project, resolution: Resolution) -> Iterator[Finding]:
    own = next((one for one in project.brought if one.name == "torch" and one.version is not None), None)
    planned = resolution.get("torch")
    if own is None or own.version is None or planned is None:
        yield from _left_alone(project, planned, resolution)
        return
    refusing = [line for line in planned.wanted_by if not line.admits(own.version)]
    if not refusing or of_image(planned, project) is not None:
        return
    asking = next((line for line in refusing if not _is_of_table(line)), None)
    if asking is None:
        yield _left_beside(own, refusing[0], resolution)
        return
    behind = [one for one in project.brought if one is not own and one.version and resolution.get(one.name) is None]
    scene = plan_scene(examination)
    view = scene.get("torch") if scene is not None else None
    old, new = read_label(own.label), read_label(view.label if view is not None else None)
    moved, apart = _differ(old, new, 2), _differ(old, new, 1)
    location = chain_to(resolution, asking.asked_by).location if asking.asked_by else line_of(asking)
    yield RULE.finding(
        subject="torch",
        message=f"`torch` {planned.version}{f', for {new},' if moved else ''} replaces the {own.version}"
        f"{f' for {old}' if moved else ''} that the image `{own.image}` has{_staying(behind)}",
        severity=RULE.severity if apart or any(one.name == "torchvision" for one in behind) else Severity.INFO,
        evidence=(
            Evidence(f"torch {own.version}, {own.label}", str(own.origin)),
            Evidence(str(asking), str(asking.origin)),
        ),
        remedy=Remedy(
            f"take an image of torch {planned.version.public}, or ask for what goes with torch {own.version}"
        ),
        location=location or own.origin,
        packages=("torch",),
    )


def _left_alone(project: Project, torch: ResolvedPackage | None, resolution: Resolution) -> Iterator[Finding]:
    """Tell what stays of an image whose torch a command upgrades or uninstalls, and was built for another one."""
    tables = {table.subject: table for table in couplings() if table.object == "torch"}
    behind = []
    for one in project.brought if torch is not None else ():
        table = tables.get(one.name)
        needed = table.wanted(one.version) if table is not None and one.version is not None else None
        if torch and table and needed and resolution.get(one.name) is None and not table.fits(needed, torch.version):
            behind.append(one)
    if torch is None or not behind:
        return
    names = in_words([one.name for one in behind])
    which, them = (f"the {names} that go", "them") if len(behind) > 1 else (f"the {names} that goes", "it")
    yield RULE.finding(
        subject="torch",
        message=f"`torch` {torch.version} is put in the place of the one that the image `{behind[0].image}` has"
        f"{_staying(behind)}",
        severity=RULE.severity if any(one.name == "torchvision" for one in behind) else Severity.INFO,
        evidence=tuple(Evidence(f"{one.name} {one.version}", str(one.origin)) for one in behind),
        remedy=Remedy(f"install {which} with torch {torch.version.public} in the same command, or uninstall {them}"),
        location=next(filter(None, map(line_of, torch.wanted_by)), behind[0].origin),
        packages=("torch",),
    )


def _is_of_table(line: Requirement) -> bool:
    return isinstance(line.origin, DistributionOrigin) and line.origin.coupling


def _left_beside(own: Brought, line: Requirement, resolution: Resolution) -> Finding:
    """Tell a package that was built for another torch and does not say so: pip leaves the image's."""
    name = f"`{line.asked_by}`"
    chain = chain_to(resolution, line.asked_by or "torch")
    return RULE.finding(
        subject="torch",
        message=(
            f"{name} is for `{line}`, and pip is not told so: "
            f"it leaves the {own.version} that the image `{own.image}` has"
        ),
        evidence=(
            Evidence(f"torch {own.version}, {own.label}", str(own.origin)),
            Evidence(str(line), str(line.origin)),
        ),
        remedy=Remedy(f"ask for the {name} that was built for torch {own.version}, or for `{line}` as well"),
        location=chain.location or own.origin,
        packages=("torch",),
    )


def _differ(old: BuildLabel | None, new: BuildLabel | None, parts: int) -> bool:
    if old is None or new is None:
        return False
    return old.backend is not new.backend or not old.same_release(new, parts)


def _staying(left: list[Brought]) -> str:
    named = in_words([f"`{one.name}` {one.version}" for one in left])
    return f"; its {named} {'stay' if len(left) > 1 else 'stays'}, built for that one" if left else ""


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find)
