"""The driver is too old for the CUDA that installed libraries were built for.

## What it does
Compares NVIDIA's driver with the lowest one that runs the CUDA runtime which installed libraries need: 580 for CUDA 13,
525 for CUDA 12, 450 for CUDA 11. What torch's build label says is judged by the advisory `cuda-driver-floor`.

## Why it is bad
"CUDA driver version is insufficient for CUDA runtime version", or a silent fallback to the CPU.

## Example
An extension built for CUDA 13 on a server with driver 550.

## What to do
Upgrade the driver, or take builds for the CUDA that it runs.

## References
- NVIDIA, CUDA compatibility: https://docs.nvidia.com/deploy/cuda-compatibility/
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from envdoctor.diagnose.binary_links import short_path, users_of
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.host_needs import speaks_of_target
from envdoctor.diagnose.package_view import Place, scenes
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.binary import BinaryInventory
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

_FLOORS = {13: "580", 12: "525", 11: "450"}


def find(examination: Examination, binaries: BinaryInventory) -> Iterator[Finding]:
    """Yield one finding for each distribution that needs a newer driver."""
    driver = _version(examination.facts.value("driver.version"))
    if driver is None or not speaks_of_target(examination):
        return
    told = _label_of_torch(examination)
    for number, users in users_of(binaries, "cudart").items():
        floor = _FLOORS.get(number)
        if floor is None or driver >= Version(floor):
            continue
        for name, binary in users.items():
            if name == "torch" and told:
                continue
            yield RULE.finding(
                name,
                f"`{name}` needs CUDA {number}, which needs driver {floor} or later, and this is {driver}",
                (
                    Evidence(f"needs the runtime of CUDA {number}", short_path(binary.path)),
                    Evidence(f"driver {driver}", examination.facts.get("driver.version").source),
                ),
                Remedy(f"upgrade the driver, or take a build of `{name}` for an older CUDA"),
            )


def _version(text: object) -> Version | None:
    try:
        return Version(str(text)) if text else None
    except ValueError:
        return None


def _label_of_torch(examination: Examination) -> bool:
    places = scenes(examination, shipped_wheel_facts())
    torch = next((scene.get("torch") for scene in places if scene.place is Place.INSTALLED), None)
    return torch is not None and torch.label is not None


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find)
