"""Binaries that were not built for each other.

## What it does

Reports binaries in a resolution that were not built for each other: torch with torchaudio, torchvision, torchcodec
or torch-directml of another release, or with another build label; and what has another torch in its label, as
flash-attn's wheels do.

## Why is this bad

Their shared libraries call into each other. The result installs without an error and dies at import:
"undefined symbol", "WinError 127", "operator torchvision::nms does not exist".

## Example

torchaudio 2.11.0 declares no torch at all, so a resolver puts it beside torch 2.1.0. An override of torch alone
erases the exact pins of its companions too. torch from the cu118 index beside the default index's torchvision.

## References

- PyTorch, Previous versions: https://pytorch.org/get-started/previous-versions/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination, chain_to
from envdoctor.diagnose.package_view import PackageView, Scene
from envdoctor.diagnose.pairing import PAIR_TABLES, builds_apart, built_for_another_torch, misfits, plan_scene
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import COMPANIONS
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.repair import repair_in_use


def _overridden(examination: Examination, other: PackageView) -> bool:
    used = repair_in_use(examination.repairs, examination.resolution)
    overrides = used.overrides if used is not None else ()
    return bool(other.set_aside) or any(item.requirement.name == other.name for item in overrides)


def _versions(examination: Examination, scene: Scene) -> Iterator[Finding]:
    for item in misfits(scene, PAIR_TABLES):
        other = item.object.name
        torn = _overridden(examination, item.object)
        why = f"; an override of {other} alone has torn the pair apart" if torn else ""
        chain = chain_to(examination.resolution, item.subject.name) if examination.resolution else None
        yield RULE.finding(
            subject=item.subject.name,
            message=(
                f"`{item.subject.name}` {item.subject.version} was not built for `{other}` {item.object.version} "
                f"but for {item.wanted} (ABI mismatch){why}"
            ),
            evidence=(Evidence(item.table.evidence, f"table {item.table.name}"),),
            remedy=Remedy(f"move `{other}` and `{item.subject.name}` together: {other}{item.wanted}"),
            location=chain.location if chain else None,
            packages=(item.subject.name, other),
        )


def _others(examination: Examination, scene: Scene) -> Iterator[Finding]:
    for view, wanted in built_for_another_torch(scene):
        chain = chain_to(examination.resolution, view.name) if examination.resolution else None
        yield RULE.finding(
            subject=view.name,
            message=f"`{view.name}` {view.version} was built for torch {wanted}, and the resolution has "
            f"{scene.packages['torch'].version} (ABI mismatch)",
            evidence=(Evidence(f"{view.name}: {view.version.local}", "its version"),),
            remedy=Remedy(f"take the build of `{view.name}` whose label names that torch, or torch{wanted}"),
            location=chain.location if chain else None,
            packages=(view.name, "torch"),
        )


def _labels(examination: Examination, scene: Scene) -> Iterator[Finding]:
    torch = scene.get("torch")
    for name in COMPANIONS if torch else ():
        found = scene.get(name)
        apart = builds_apart(found, torch) if found and torch else None
        if apart is None or found is None or torch is None:
            continue
        chain = chain_to(examination.resolution, name) if examination.resolution else None
        yield RULE.finding(
            subject=name,
            message=(
                f"`{name}` {found.version} and `torch` {torch.version} are different builds (ABI mismatch): "
                f"for {apart[0]} and for {apart[1]}"
            ),
            evidence=(
                Evidence(f"{name}: {found.label}", found.label_source),
                Evidence(f"torch: {torch.label}", torch.label_source),
            ),
            remedy=Remedy("take both from the same index"),
            location=chain.location if chain else None,
            packages=(name, torch.name),
        )


def _find(examination: Examination) -> Iterator[Finding]:
    scene = plan_scene(examination)
    if scene is not None:
        found = list(_versions(examination, scene))
        yield from found
        said = {item.subject for item in found}
        yield from (item for item in _labels(examination, scene) if item.subject not in said)
        yield from (item for item in _others(examination, scene) if item.subject not in said)


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, needs={"resolution"}, ranks=Severity.WARNING)
