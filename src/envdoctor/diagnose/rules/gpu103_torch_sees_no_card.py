"""torch says that it has no GPU, on a machine that has one for which it was built.

## What it does
Where facts tell that `torch.cuda.is_available()` is False (`torch.is_available`, as collect_env and hand-written facts
have it), looks for a card of the vendor that the build is for. A build for another device (`GPU102`), without kernels
(`RES208`) or for a newer driver (`cuda-driver-floor`) is told by those instead.

## Why it is bad
The work runs on the CPU, or stops, though everything that can be read of the installation is right.

## Example
A container that was started without `--gpus all`; `CUDA_VISIBLE_DEVICES=-1` in a profile of the shell; a driver that
was updated while its old module is still loaded.

## What to do
Run `nvidia-smi` (`rocminfo`) in the same shell: where it fails, the driver or the container is the cause; where it
works, look at the variables that hide devices.

## References
- PyTorch, torch.cuda.is_available: https://pytorch.org/docs/stable/generated/torch.cuda.is_available.html
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.package_view import Place, scenes
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

_FLOORS = {13: "580", 12: "525", 11: "450"}
_HIDING = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


def find(examination: Examination) -> Iterator[Finding]:
    """Yield at most one finding."""
    facts = examination.facts
    if facts.value("torch.is_available") is not False:
        return
    places = scenes(examination, shipped_wheel_facts())
    installed = next((scene for scene in places if scene.place is Place.INSTALLED), None)
    torch = installed.get("torch") if installed is not None else None
    if torch is None or torch.label is None:
        return
    vendor = "nvidia" if torch.label.startswith("cu") else "amd" if torch.label.startswith("rocm") else ""
    cards = [fact for fact in facts.of_cards("vendor") if fact.value == vendor]
    if not cards or _too_old(facts.value("driver.version"), torch.cuda_major):
        return
    hidden = [fact for name in _HIDING if (fact := facts.get(f"environment.{name}")).value is not None]
    program = "nvidia-smi" if vendor == "nvidia" else "rocminfo"
    yield RULE.finding(
        "torch",
        f"`torch` {torch.version} ({torch.label}) sees no GPU, and the machine has one",
        (
            Evidence("torch.cuda.is_available() is False", facts.get("torch.is_available").source),
            *(Evidence(f"{fact.name}: {fact.value}", fact.source) for fact in (*cards, *hidden)),
        ),
        Remedy(
            f"Run `{program}` in the same shell or container: where it fails, the driver or the container is the "
            "cause; where it works, look for a variable that hides the card (CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES)"
        ),
    )


def _too_old(driver: object, major: int | None) -> bool:
    """Return whether an advisory speaks of the driver."""
    try:
        return driver is not None and Version(str(driver)) < Version(_FLOORS.get(major or 0, "0"))
    except ValueError:
        return False


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find, needs={"environment", "facts"})
