"""Binaries built against NumPy 1 beside NumPy 2.

## What it does

Reports binaries of a resolution that were built against NumPy 1 where the resolution has NumPy 2.

## Why is this bad

"A module compiled using NumPy 1.x cannot be run in NumPy 2": at import, or at the first conversion of an array.

## Example

torch 2.1.1 beside numpy 2.1.

## References

- NumPy, Migration guide: https://numpy.org/doc/stable/numpy_2_0_migration_guide.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from packaging.version import Version

from envdoctor.diagnose.pairing import misfits, plan_scene
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination

_TABLES = ("torch-numpy", "onnxruntime-numpy", "onnxruntime-gpu-numpy")


def _find(examination: Examination) -> Iterator[Finding]:
    scene = plan_scene(examination)
    numpy = scene.get("numpy") if scene else None
    if scene is None or numpy is None or numpy.version < Version("2"):
        return
    for item in misfits(scene, _TABLES):
        yield Finding(
            rule=RULE.code,
            name=RULE.name,
            severity=RULE.severity,
            subject=item.subject.name,
            message=(
                f"`{item.subject.name}` {item.subject.version} was built against NumPy 1, "
                f"and the resolution has numpy {numpy.version}"
            ),
            evidence=(Evidence(item.table.evidence, f"table {item.table.name}"),),
            remedy=Remedy("constrain numpy to below 2"),
        )


RULE = Rule(
    code="RES205",
    name="numpy-abi",
    severity=Severity.ERROR,
    summary="Binaries built against NumPy 1 beside NumPy 2",
    find=_find,
    documentation=__doc__ or "",
    needs=frozenset({"resolution"}),
    ranks=True,
)
