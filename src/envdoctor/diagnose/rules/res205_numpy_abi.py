"""Binaries built against NumPy 1 beside NumPy 2.

## What it does

Reports binaries of a resolution that were built against NumPy 1 where the resolution has NumPy 2. What is built from
source takes the NumPy that is there, and is not reported. What no file of the project imports, and nothing of the plan
asks for, is a warning.

## Why is this bad

"A module compiled using NumPy 1.x cannot be run in NumPy 2": at import, or at the first conversion of an array.

## Example

torch 2.1.1 beside numpy 2.1; `opencv-python==4.8.1.78`, whose metadata asks for any numpy from 1.21 on.

## References

- NumPy, Migration guide: https://numpy.org/doc/stable/numpy_2_0_migration_guide.html
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from envdoctor.diagnose.examination import Examination, chain_to
from envdoctor.diagnose.package_view import PackageView, Scene
from envdoctor.diagnose.pairing import built_for_numpy1, misfits, plan_scene
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.source_scan import scan_of
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.resolution import Resolution
from envdoctor.shipped import data_file

_TABLES = ("torch-numpy", "onnxruntime-numpy", "onnxruntime-gpu-numpy")


def _wheels(scene: Scene) -> Iterator[tuple[PackageView, Evidence, str]]:
    """Yield what the shipped tables know to be built against NumPy 1, with what is known and what helps besides."""
    for item in misfits(scene, _TABLES):
        yield item.subject, Evidence(item.table.evidence, f"table {item.table.name}"), ""
    for name, builds in built_for_numpy1().items():
        view = scene.get(name)
        if view is not None and not view.source_only and view.version <= builds.last:
            known = f"wheels of {name} up to {builds.last} look for `numpy.core` alone"
            known += f", those from {builds.first} on do not" if builds.first else ""
            later = f", or take `{name}` {builds.first} or later" if builds.first else ""
            yield view, Evidence(known, "extension modules of both"), later


def _is_idle(examination: Examination, resolution: Resolution, name: str) -> bool:
    """Return whether a package is only listed: who does not import it never meets the failure."""
    package, sources = resolution.get(name), examination.sources
    if sources is None or package is None or not package.wanted_by or any(one.asked_by for one in package.wanted_by):
        return False
    scan, names = scan_of(sources), data_file("import-names")["modules"]
    modules = {name.replace("-", "_"), *(module for module, projects in names.items() if name in projects)}
    imported = {site.module.partition(".")[0] for path in scan.by_path for site in scan.imports(path)}
    return bool(imported) and modules.isdisjoint(imported)


def _find(examination: Examination, resolution: Resolution) -> Iterator[Finding]:
    scene = plan_scene(examination)
    numpy = scene.get("numpy") if scene else None
    if scene is None or numpy is None or numpy.version < Version("2"):
        return
    for view, evidence, besides in _wheels(scene):
        idle = _is_idle(examination, resolution, view.name)
        unused = "; no file of the project imports it, and nothing of the plan asks for it" if idle else ""
        yield RULE.finding(
            subject=view.name,
            message=(
                f"`{view.name}` {view.version} was built against NumPy 1, and the resolution has numpy {numpy.version}"
                f"{unused}"
            ),
            severity=Severity.WARNING if idle else RULE.severity,
            evidence=(evidence,),
            remedy=Remedy(f"constrain numpy to below 2{besides}"),
            location=chain_to(resolution, view.name).location,
            packages=(view.name, numpy.name),
        )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, ranks=Severity.WARNING)
