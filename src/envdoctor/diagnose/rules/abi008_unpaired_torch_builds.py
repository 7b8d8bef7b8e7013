"""torch and its companions are of different builds.

## What it does
Compares the builds of the installed torch, torchaudio, torchvision and torchcodec: their labels (`+cpu`, `+cu124`,
`+rocm6.3`), and beside a labelled one what is known of the default index's wheels; a torch without a label beside a
companion with one is a warning, unless facts or the CUDA runtime beside it say what it is. CUDA 12.1 beside 12.4 is
well enough for torchvision, the hashes of AMD's labels say nothing. Whether their versions belong together is said by
advisories. What else has a torch in its label (`flash-attn 2.8.3+cu12torch2.8cxx11abiTRUE`) is compared with that.

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
from dataclasses import replace

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.package_view import OF_DEFAULT_INDEX, PackageView, Place, Scene, scenes
from envdoctor.diagnose.pairing import PAIR_TABLES, builds_apart, built_for_another_torch, misfits
from envdoctor.diagnose.remedies import beside_torch, is_on_an_index
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import COMPANIONS, shipped_wheel_facts
from envdoctor.model.build_label import BuildLabel, read_label
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.target import Backend, OperatingSystem


def find(examination: Examination) -> Iterator[Finding]:
    """Yield one finding for each companion whose build does not go with torch's."""
    places = scenes(examination, shipped_wheel_facts())
    installed = next((scene for scene in places if scene.place is Place.INSTALLED), None)
    torch = installed.get("torch") if installed is not None else None
    if installed is None or torch is None:
        return
    for name in COMPANIONS:
        found = installed.get(name)
        apart = _apart(examination, found, torch) if found is not None else ()
        if found is None or not apart:
            continue
        sure = torch.label is not None and torch.label_source != OF_DEFAULT_INDEX
        # pip's torchvision beside conda's torch loads, and lacks operators for the card alone.
        sure = sure and not (torch.other_build and found.label_source == OF_DEFAULT_INDEX)
        yield RULE.finding(
            name,
            f"`{name}` {found.version} and `torch` {torch.version} are different builds: "
            f"for {apart[0][0]} and for {' or for '.join(dict.fromkeys(str(its) for _, its in apart))}",
            (
                Evidence(f"{name}: {found.label}", found.label_source),
                Evidence(
                    f"torch: {torch.label or 'no label'}", torch.label_source if torch.label else OF_DEFAULT_INDEX
                ),
            ),
            Remedy(_other_build(examination, installed, found, torch)),
            severity=RULE.severity if sure else Severity.WARNING,
        )
    for view, wanted in built_for_another_torch(installed):
        yield RULE.finding(
            view.name,
            f"`{view.name}` {view.version} was built for torch {wanted}, and torch {torch.version} is installed",
            (Evidence(f"{view.name}: {view.version.local}", "its version"),),
            Remedy(
                f"install the build of `{view.name}` whose label names torch {torch.version.public}, or one that is "
                "compiled beside it"
            ),
            packages=(view.name, "torch"),
        )


def _apart(
    examination: Examination, found: PackageView, torch: PackageView
) -> tuple[tuple[BuildLabel, BuildLabel], ...]:
    """Return the two builds, on every system that it may be, where they do not go together on any of them."""
    if not _tells(examination, found, torch):
        return ()
    target = examination.target
    labels = {torch.label}
    if torch.label is None and target is not None and torch.unlabelled and not torch.other_build:
        systems = (replace(target, os=system) for system in (OperatingSystem.LINUX, OperatingSystem.WINDOWS))
        labels = {shipped_wheel_facts().build_label("torch", torch.version, each) for each in systems}
    pairs = [builds_apart(found, replace(torch, label=label)) for label in sorted(labels, key=str)]
    return tuple(pair for pair in pairs if pair is not None) if None not in pairs else ()


def _other_build(examination: Examination, installed: Scene, found: PackageView, torch: PackageView) -> str:
    """Return which of the two to replace: torch where it is the odd one; else the companion."""
    if torch.other_build:
        away = "" if found.other_build else f"uninstall pip's `{found.name}`, and "
        return f"{away}ask conda for the `{found.name}` that goes with its torch, from the channel that torch is from"
    if any(item.subject is found and item.object is torch for item in misfits(installed, PAIR_TABLES)):
        return f"install `torch` and `{found.name}` of one release with one command from one index"
    if _torch_is_odd(examination, installed, found, torch):
        return f"install `torch` {torch.version.public} from the index with +{found.label} builds, as `{found.name}` is"
    if not is_on_an_index(torch.label):
        return beside_torch(found.name, str(torch.version))
    return f"install `{found.name}` from the index with +{torch.label} builds"


def _torch_is_odd(examination: Examination, installed: Scene, found: PackageView, torch: PackageView) -> bool:
    """Return whether torch is not for the target's backend, or came from the default index after its companions."""
    backend = examination.target.backend if examination.target else Backend.UNKNOWN
    label, its = read_label(found.label), read_label(torch.label)
    if label is None or label.backend is not backend is not Backend.UNKNOWN:
        return False
    if its is not None and its.backend is not backend is not Backend.UNKNOWN:
        return backend is not Backend.CPU
    others = (view for name in COMPANIONS if name != found.name and (view := installed.get(name)) is not None)
    alone = all(builds_apart(view, torch) or view.version.local == found.version.local for view in others)
    return torch.unlabelled and not found.unlabelled and alone


def _tells(examination: Examination, found: PackageView, torch: PackageView) -> bool:
    """Return whether labels tell the builds: of a version without one only where nobody builds torch himself.

    On aarch64 boards people do, and such a companion carries no label either. A torch without one beside a companion
    of an index of PyTorch's was exchanged for the default index's.
    """
    target = examination.target
    usual = target is not None and target.arch.value == "x86_64"
    if _tells_itself(torch):
        return _tells_itself(found) or usual
    return usual and is_on_an_index(found.version.local)


def _tells_itself(view: PackageView) -> bool:
    return view.version.local is not None or view.label_is_told


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find, needs={"environment"})
