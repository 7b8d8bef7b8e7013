"""torch and its companions are of different builds.

## What it does
Compares the builds of the installed torch, torchaudio, torchvision and torchcodec: their labels (`+cpu`, `+cu124`,
`+rocm6.3`), and beside a labelled torch what is known of the default index's wheels. CUDA 12.1 beside 12.4 is well
enough for torchvision, the hashes of AMD's labels say nothing. Whether their versions belong together is said by
advisories.

## Why it is bad
Their shared libraries call into each other. A companion for CUDA finds no `libtorch_cuda` in a CPU build of torch; a
CPU companion has no GPU operators: "Could not run 'torchvision::nms' with arguments from the 'CUDA' backend".

## Example
`torch 2.6.0+cu124` from PyTorch's index, and `torchvision 0.21.0+cpu` from another command.

## What to do
Install all of them with one command from one index.

## References
- PyTorch, Previous versions: https://pytorch.org/get-started/previous-versions/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.package_view import PackageView, Place, scenes
from envdoctor.diagnose.pairing import builds_apart
from envdoctor.diagnose.remedies import beside_torch, is_on_an_index
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import COMPANIONS, shipped_wheel_facts
from envdoctor.model.build_label import read_label
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.target import Backend


def find(examination: Examination) -> Iterator[Finding]:
    """Yield one finding for each companion whose build does not go with torch's."""
    places = scenes(examination, shipped_wheel_facts())
    installed = next((scene for scene in places if scene.place is Place.INSTALLED), None)
    torch = installed.get("torch") if installed is not None else None
    if installed is None or torch is None:
        return
    for name in COMPANIONS:
        found = installed.get(name)
        apart = builds_apart(found, torch) if found is not None and _tells(examination, found, torch) else None
        if found is None or apart is None:
            continue
        yield RULE.finding(
            name,
            f"`{name}` {found.version} and `torch` {torch.version} are different builds: "
            f"for {apart[0]} and for {apart[1]}",
            (
                Evidence(f"{name}: {found.label}", found.label_source),
                Evidence(f"torch: {torch.label}", torch.label_source),
            ),
            Remedy(_other_build(examination, found, torch)),
        )


def _other_build(examination: Examination, found: PackageView, torch: PackageView) -> str:
    """Return which of the two to replace: the one that is not for the target's backend; else the companion."""
    backend, label = examination.target.backend if examination.target else None, read_label(found.label)
    if label is not None and label.backend is backend and label.backend is not Backend.CPU:
        return f"install `torch` {torch.version.public} from the index with +{found.label} builds, as `{found.name}` is"
    if not is_on_an_index(torch.label):
        return beside_torch(found.name, str(torch.version))
    return f"install `{found.name}` from the index with +{torch.label} builds"


def _tells(examination: Examination, found: PackageView, torch: PackageView) -> bool:
    """Return whether labels tell the builds: of a version without one only where nobody builds torch himself.

    On aarch64 boards people do, and such a companion carries no label either.
    """
    target = examination.target
    its, own = _tells_itself(torch), _tells_itself(found)
    return its and (own or (target is not None and target.arch.value == "x86_64"))


def _tells_itself(view: PackageView) -> bool:
    return view.version.local is not None or view.label_is_told


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find, needs={"environment"})
