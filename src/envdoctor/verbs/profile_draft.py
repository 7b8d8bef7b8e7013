"""``profiles new --project``: a profile drafted from a project and a card: what was found, guessed, and is missing."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from envdoctor.diagnose.torch_choice import choose_torch
from envdoctor.diagnose.torch_ways import TorchChoice
from envdoctor.model.finding import Finding
from envdoctor.model.override import Override
from envdoctor.model.project import Project
from envdoctor.model.target import Arch, Backend, OperatingSystem, TargetBackend
from envdoctor.model.unknown import Unknown
from envdoctor.ports import SilentProgress, UsageError
from envdoctor.profile.catalogue import catalogue
from envdoctor.profile.grammar import GPU_ARCHITECTURE
from envdoctor.profile.load import parse_profile
from envdoctor.profile.template import new_profile_text
from envdoctor.profile.validation import ProfileError
from envdoctor.shipped import needs_in_words
from envdoctor.verbs.check import diagnose_project
from envdoctor.verbs.check_request import CheckRequest, Diagnosed
from envdoctor.verbs.index_choice import IndexChoice
from envdoctor.verbs.patient import PatientChoice, open_patient
from envdoctor.verbs.session import open_session
from envdoctor.verbs.target_choice import TargetChoice

__all__ = ["draft_profile", "new_profile"]

_COMMON = frozenset({
    "torch", "torchaudio", "torchvision", "numpy", "scipy", "pandas", "requests", "tqdm", "pillow", "matplotlib",
    "pyyaml", "packaging", "setuptools", "wheel", "pip", "transformers", "gradio", "librosa", "soundfile", "einops",
    "huggingface-hub", "safetensors", "onnxruntime", "onnx", "numba", "psutil", "aiohttp", "pydantic", "accelerate",
})  # fmt: skip
"""Requirements that mark no project."""
_MOST_MARKS = 4


def new_profile(name: str, system: OperatingSystem, arch: Arch, backend: Backend) -> str:
    """Return the text of a commented profile to start from. Raises UsageError."""
    try:
        return new_profile_text(name, os=system, arch=arch, backend=backend).rstrip()
    except ProfileError as error:
        raise UsageError(*str(error).splitlines()) from error


def draft_profile(
    name: str,
    project: Path,
    system: OperatingSystem | None = None,
    python: str | None = None,
    gpu: str | None = None,
    facts: Path | None = None,
) -> str:
    """Return the text of a profile for a project on a card; it validates. Raises UsageError.

    The project is resolved for the card; nothing is installed.
    """
    new_profile(name, OperatingSystem.LINUX, Arch.X86_64, Backend.CPU)  # A name that is none is said first.
    target = TargetChoice(os=system, python=python, backend=TargetBackend.AUTO, gpu=gpu)
    patient = open_patient(PatientChoice(facts=facts))
    with open_session(
        project, None, target, IndexChoice(), progress=SilentProgress(), tell=lambda _: None, patient=patient
    ) as session:
        request = session.request
        result = diagnose_project(request)
        unknown = dict.fromkeys(str(each.subject.name) for each in (*_unknown(result), *request.unreachable()))
    torch = request.torch or choose_torch(request.facts, request.target, request.project)
    overrides = next((item.overrides for item in result.diagnosis.repairs), ()) if result.diagnosis else ()
    blocks = [
        *_index(torch),
        *(_override(item) for item in overrides),
        *_system(result.findings),
        *_missing(request, torch, overrides, unknown),
    ]
    left_out = [item for item in overrides if item.leaves_out]
    kinds = ("index", [*_index(torch)]), ("overrides", len(overrides) > len(left_out)), ("exclusions", left_out)
    found = [word for word, there in kinds if there]
    text = _base(name, request, torch, found) + "\n" + "\n".join(blocks)
    try:
        parse_profile(text, f"{name}.toml")
    except ProfileError as error:
        raise UsageError(*str(error).splitlines()) from error
    return text


def _base(name: str, request: CheckRequest, torch: TorchChoice, found: Sequence[str]) -> str:
    target = request.target
    backend = target.backend if target.backend is not Backend.UNKNOWN else Backend.CPU
    python = f">={target.python_version},<3.{target.python[1] + 1}"
    text = new_profile_text(name, os=target.os, arch=target.arch, python=python, backend=backend)
    files, packages = _marks(request)
    for key, values, how in (
        ("recognise", files, "guessed: files that few other projects have"),
        ("recognise-packages", packages, "guessed: requirements that few other projects have"),
        ("requirements", request.project.files if request.project else (), "found"),
    ):
        line = next(line for line in text.splitlines() if line.startswith(f"{key} = []"))
        text = text.replace(line, f"{key} = {json.dumps(list(values))}   # {how}")
    card = torch.card.architecture
    if GPU_ARCHITECTURE.check(card) is None:
        text = text.replace('# gpu-architectures = ["sm_110"]', f'gpu-architectures = ["{card}"]   # found')
    told = f"Found: {', '.join(['files', *found])}. Guessed: marks, Python. Missing: what stands below."
    head = f"# Drafted for {torch.card}. {told}\n"
    return text.replace("schema = 1\n", f"{head}schema = 1\n", 1)


def _marks(request: CheckRequest) -> tuple[Sequence[str], Sequence[str]]:
    project: Project | None = request.project
    known = {name for profile in catalogue() for name in profile.recognise_packages}
    names = dict.fromkeys(str(line.name) for line in project.requirements) if project is not None else {}
    packages = [name for name in names if name not in _COMMON and name not in known][:_MOST_MARKS]
    sources = request.sources.python_files() if request.sources is not None else ()
    # A file in a package of the project's own says more than one beside it.
    paths = sorted({item.path for item in sources if not item.path.startswith(("tests/", "docs/", "test"))})
    inside = [path for path in paths if "/" in path and not path.endswith("__init__.py")] or paths
    return inside[:2], packages


def _index(torch: TorchChoice) -> Iterator[str]:
    way = torch.taken
    if way is None or way.index is None:
        return
    yield (
        f"# Found: {way}\n[[index]]\nname = {_text(way.index.name)}\nurl = {_text(way.index.url)}\n"
        f"packages = {json.dumps(list(way.index.packages))}\n"
        + (f"local-label = {_text(way.index.local_label)}\n" if way.index.local_label else "")
        + f"because = {_text(way.words)}\n"
    )


def _override(override: Override) -> str:
    requirement = override.requirement
    aside = ", ".join(map(str, override.sets_aside))
    if requirement.marker is not None:
        return (
            f"# Found: nothing else resolves. Say why it may be left out.\n[[exclude]]\nname = {_text(override.name)}\n"
            f"because = {_text(f'nothing resolves with {aside}' if aside else 'the target has no file of it')}\n"
        )
    who = f"replaces = {json.dumps(list(override.replaces))}\n" if override.replaces else ""
    return (
        f"# Found: a smallest repair. Say why the demand cannot be met, and what was tried.\n[[override]]\n"
        f"requirement = {_text(requirement.pep508)}\n{who}"
        f"because = {_text(f'it resolves in the place of {aside}' if aside else 'it resolves')}\n"
    )


def _system(findings: Sequence[Finding]) -> Iterator[str]:
    from envdoctor.diagnose.wheel_facts import shipped_wheel_facts

    needs: dict[str, list[str]] = {}
    for finding in findings:
        for need in shipped_wheel_facts().needs.get(finding.subject, ()) if finding.rule == "RES102" else ():
            for key in need.needs:
                needs.setdefault(key, []).append(finding.subject)
    for key, packages in needs.items():
        wanted = json.dumps(list(dict.fromkeys(packages)))
        yield (
            f"# Found: built from source.\n[[system]]\nname = {_text(key)}\n"
            f"because = {_text(f'the build needs {needs_in_words([key])[0]}')}\nonly-for = {wanted}\n"
        )


def _unknown(result: Diagnosed) -> Sequence[Unknown]:
    return result.diagnosis.unknowns if result.diagnosis is not None else ()


def _missing(
    request: CheckRequest, torch: TorchChoice, overrides: Sequence[Override], unknown: Collection[str]
) -> Iterator[str]:
    yield "# Missing, and known to a person alone:"
    if not torch.card.architecture and torch.card.vendor != "apple":
        yield "# - the card: `--gpu` or `--facts` name it"
    if overrides:
        yield "# - `evidence` of each override: what was run, or whose report it is"
    if request.target.backend not in (Backend.CUDA, Backend.CPU):
        yield "# - patches: where the sources name `cuda` (check tells the places, SRC004)"
    if unknown:
        yield f"# - what could not be looked at: {', '.join(unknown)}; draft it again where its index can be reached"
    yield "# - kernels and workloads that prove the stack (docs/kernels.md), and what goes to the CPU without them"
    yield "# - a summary, a page under docs/profiles/, and cases (`envdoctor profiles test`)"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
