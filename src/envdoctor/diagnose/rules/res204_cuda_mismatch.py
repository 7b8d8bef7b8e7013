"""Parts that were built for different CUDA or cuDNN majors, or for one that nothing brings.

## What it does

Reports parts of one resolution that were built for different CUDA or cuDNN majors: onnxruntime-gpu, ctranslate2 or
xformers' extension beside torch, ctranslate2's cuDNN beside torch's, `nvidia-*-cu12` beside `nvidia-*-cu13`. CuPy and
Paddle of another CUDA than torch's have their libraries from the system: that is told, too. And an
onnxruntime-gpu or ctranslate2 for whose CUDA the resolution has no libraries at all, neither torch's nor NVIDIA's own:
neither of them requires any. A system that has the CUDA toolkit (`cuda.toolkits` of the facts) may do, and a file of
conda's: then it is a note.

## Why is this bad

One of them finds no library that it can load and falls back to the CPU, or two copies of one library meet in a
process, which then aborts.

## Example

onnxruntime-gpu 1.31 needs CUDA 13; torch 2.7 brings CUDA 12. `onnxruntime-gpu` alone brings no CUDA;
`onnxruntime-gpu[cuda,cudnn]` does, from 1.21 on.

## References

- ONNX Runtime, CUDA execution provider: https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.advisories.vocabulary import shipped_tables
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.host_needs import speaks_of_target
from envdoctor.diagnose.in_place_of import no_wheel
from envdoctor.diagnose.nvidia_packages import nvidia_package
from envdoctor.diagnose.package_view import PackageView, Scene
from envdoctor.diagnose.pairing import misfits, plan_scene
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_contents import cuda_inside
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.compatibility import can_use
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity, in_words
from envdoctor.model.requirement import Requirement as Asked
from envdoctor.model.requirement import holds
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target
from envdoctor.model.version_table import VersionTable, contains
from envdoctor.ports import Index, IndexUnavailable, MetadataUnavailable, ProjectNotFound

# What a process loads. Others of NVIDIA's packages bring files for several CUDA releases side by side.
_NVIDIA = re.compile(
    r"nvidia-(?:cublas|cuda-(?:runtime|nvrtc|cupti)|cudnn|cufft|curand|cusolver|cusparse|cusparselt|nccl|nvjitlink|"
    r"nvtx|nvshmem)-cu(\d{2})"
)


def _finding(packages: Sequence[str], message: str, evidence: tuple[Evidence, ...], remedy: str) -> Finding:
    return RULE.finding(
        subject=packages[0],
        message=message,
        evidence=evidence,
        remedy=Remedy(remedy),
        packages=tuple(packages),
    )


def _loads(user: PackageView, cuda: int) -> list[tuple[str, int]]:
    """Return the libraries that a package cannot do without on a GPU, as read in its wheels."""
    if user.name == "ctranslate2":
        cudnn = 8 if contains("<4.5", user.version) else 9
        return [("cublas", cuda), *([("cudnn", cudnn)] if contains("<4.6.3", user.version) else [])]
    found = [("cudart", cuda), ("cublas", cuda), ("curand", 10), ("cufft", cuda - 1)]
    return [*found, ("cudnn", 8 if cuda < 12 else 9)]


_CUPY = "cupy-cuda{}x"
_OF_THE_SYSTEM = (*map(_CUPY.format, (11, 12, 13)), "paddlepaddle-gpu")
"""Their own pages send people to the system's CUDA: alone, nothing is said of them."""


def _users(scene: Scene, target: Target) -> Iterator[tuple[PackageView, VersionTable, int]]:
    """Yield the packages that load CUDA's libraries and require none, with the CUDA that each was built for."""
    for name in ("onnxruntime-gpu", "ctranslate2", *_OF_THE_SYSTEM):
        if name == "ctranslate2" and target.arch is not Arch.X86_64:
            continue  # Its other wheels are for the CPU.
        if name == "paddlepaddle-gpu" and target.os is not OperatingSystem.LINUX:
            continue  # Of others nobody has read which CUDA they are for.
        user, table = scene.get(name), shipped_tables()[f"{name}-cuda"]
        wanted = table.wanted(user.version) if user is not None else None
        if user is not None and wanted is not None:
            yield user, table, int(wanted.removeprefix("=="))


def _unserved(examination: Examination, scene: Scene, target: Target) -> Iterator[Finding]:
    """Yield the packages for which the plan has no CUDA of their major: torch's is another, or there is none."""
    torch = scene.get("torch")
    bringing = torch if torch is not None and torch.cuda_major is not None else _cublas(scene)
    for user, table, cuda in _users(scene, target):
        if scene.get(_name(nvidia_package("cublas", cuda, cuda))) or (torch and torch.cuda_major == cuda):
            continue
        if user.name in _OF_THE_SYSTEM:
            yield from _of_the_system(examination, user, table, cuda, bringing)
        elif bringing is not None:
            yield _of_another(examination, user, table, cuda, bringing)
        elif torch is None or torch.label == "cpu":
            yield from _without(examination, user, table, cuda)


def _extension(examination: Examination, scene: Scene) -> Iterator[Finding]:
    """Yield an xformers whose extension was built for another CUDA than torch brings: its loader finds no library."""
    user, torch = scene.get("xformers"), scene.get("torch")
    package = examination.resolution.get("xformers") if examination.resolution is not None else None
    if user is None or torch is None or torch.cuda_major is None or package is None:
        return
    cuda = cuda_inside(examination.archives, package)
    if cuda is not None and cuda != torch.cuda_major:
        yield _finding(
            (user.name, torch.name),
            f"the extension of `xformers` {user.version} was built for CUDA {cuda}, and `torch` {torch.version} brings "
            f"CUDA {torch.cuda_major}: it does not load",
            (
                Evidence(f"xformers/cpp_lib.json: CUDA {cuda}", package.file.filename),
                Evidence(f"torch build {torch.label}", torch.label_source),
            ),
            f"take {_torch_for(cuda, examination)}, or the xformers of the index that has torch's label; or "
            "leave xformers out: torch's own attention does as well",
        )


def _torch_for(cuda: int, examination: Examination) -> str:
    """Return which torch is for a CUDA major: of the default index, where all bounds admit one, and of PyTorch's."""
    target = examination.target
    usual = shipped_wheel_facts().torch_for_cuda(cuda, target) if target is not None else None
    torch = examination.resolution.get("torch") if examination.resolution is not None else None
    bounds = [one.specifier for one in (torch.wanted_by if torch is not None else ()) if not one.is_pin]
    usual = None if any((one & SpecifierSet(usual or "")).is_unsatisfiable() for one in bounds) else usual
    other = f"one for CUDA {cuda} of PyTorch's indexes (https://download.pytorch.org/whl/cu{cuda}N)"
    return f"`torch{usual}` of the default index or {other}" if usual else f"a torch, {other}"


def _name(requirement: str | None) -> str:
    return (requirement or "").partition("=")[0]


def _cublas(scene: Scene) -> PackageView | None:
    """Return a cuBLAS that is planned, whoever asks for it: two of NVIDIA's cuDNN own the same files."""
    named = (scene.get(f"nvidia-cublas{suffix}") for suffix in ("", "-cu12", "-cu11"))
    return next((view for view in named if view is not None), None)


def _of_another(
    examination: Examination, user: PackageView, table: VersionTable, cuda: int, bringing: PackageView
) -> Finding:
    there = bringing.cuda_major or bringing.version.major
    other = table.going_with(Version(str(there)), user.version)
    take = f"take `{user.name}{other}`, which was built for CUDA {there}" if other else ""
    holder = _holder(examination, user, other) if other else None
    if holder is not None and bringing.name == "torch":
        below = ", below 2.4 for its cuDNN 8" if user.name == "ctranslate2" and contains("<4.5", user.version) else ""
        take = f"{holder.origin} asks for `{holder}`: take {_torch_for(cuda, examination)}{below}"
    beside = f"ask for `{nvidia_package('cublas', cuda, cuda)}` beside it, and have its folder on the loader's path"
    return _finding(
        (user.name, bringing.name),
        f"`{user.name}` {user.version} needs CUDA {cuda}, and `{bringing.name}` {bringing.version} brings CUDA {there}",
        (
            Evidence(table.evidence, f"table {table.name}"),
            Evidence(f"torch build {bringing.label}" if bringing.label else str(bringing), bringing.label_source),
        ),
        take or (f"{beside}; or take a torch for CUDA {cuda}" if bringing.name == "torch" else beside),
    )


def _holder(examination: Examination, user: PackageView, other: str) -> Asked | None:
    """Return what a distribution asks of a package, where that admits none of the versions to take."""
    package = examination.resolution.get(user.name) if examination.resolution is not None else None
    for demand in package.wanted_by if package is not None else ():
        both = SpecifierSet(other) & demand.specifier
        least = [Version(part.version) for part in both if part.operator in (">=", "==") and "*" not in part.version]
        if demand.asked_by is not None and not any(both.contains(version) for version in least):
            return demand
    return None


def _of_the_system(
    examination: Examination, user: PackageView, table: VersionTable, cuda: int, bringing: PackageView | None
) -> Iterator[Finding]:
    """Yield that the system has to have a CUDA beside the planned one; not where its toolkit is known to be there."""
    if bringing is None or examination.facts.value("host.jetpack") or _toolkit(examination, cuda):
        return
    there = bringing.cuda_major or bringing.version.major
    wanted = f"CUDA {cuda}{'' if user.name.startswith('cupy') else ' and cuDNN 8'}"
    ways = [f"have {wanted} on the system, with its libraries on the loader's path (nothing to do where it has them)"]
    other, target = _CUPY.format(there), examination.target
    if user.name.startswith("cupy") and other in _OF_THE_SYSTEM and target is not None:
        if not no_wheel(examination, other, target):
            ways.insert(0, f"take `{other}` in its place, which is for CUDA {there}")
    elif bringing.name == "torch":
        ways.append(f"take a torch or a `{user.name}` of its own index, so that both are for one CUDA")
    yield _finding(
        (user.name, bringing.name),
        f"`{user.name}` {user.version} needs {wanted} of the system: nothing in the resolution brings it, and "
        f"`{bringing.name}` {bringing.version} brings CUDA {there}",
        (
            Evidence(table.evidence, f"table {table.name}"),
            Evidence(f"torch build {bringing.label}" if bringing.label else str(bringing), bringing.label_source),
        ),
        "; or ".join(ways),
    )


def _toolkit(examination: Examination, cuda: int) -> str:
    """Return the toolkit of a CUDA major that the target's system is known to have; empty where none is known."""
    toolkits = examination.facts.value("cuda.toolkits") or () if speaks_of_target(examination) else ()
    return next((str(each) for each in toolkits if str(each).partition(".")[0] == str(cuda)), "")


def _without(examination: Examination, user: PackageView, table: VersionTable, cuda: int) -> Iterator[Finding]:
    """Yield that nothing planned brings CUDA; a system that has it, or may well have it, makes that a note."""
    libraries = _loads(user, cuda)
    cudnn = next((number for family, number in libraries if family == "cudnn"), None)
    there = _toolkit(examination, cuda)
    if examination.facts.value("host.jetpack") or (there and cudnn is None):
        return
    lines = examination.project.requirements if examination.project is not None else ()
    wanted = f"CUDA {cuda}'s libraries{f' and cuDNN {cudnn}' if cudnn else ''}"
    known = f"; the system has CUDA {there}, and whether it has cuDNN {cudnn} is not known here" if there else ""
    yield RULE.finding(
        subject=user.name,
        message=f"`{user.name}` {user.version} loads {wanted}, and nothing in the resolution brings them{known}",
        severity=Severity.INFO if there or any(line.conda for line in lines) else Severity.WARNING,
        evidence=(Evidence(table.evidence, f"table {table.name}"),),
        remedy=Remedy(f"{_bringing(examination, user, cuda)}; nothing to do where the system or conda has {wanted}"),
        packages=(user.name,),
    )


def _bringing(examination: Examination, user: PackageView, cuda: int) -> str:
    """Return which packages bring the libraries, by extras where they can be installed, and how they are found."""
    packages = [item for each in _loads(user, cuda) if (item := nvidia_package(*each, cuda)) is not None]
    asked = in_words([f"`{item}`" for item in packages])
    asked = f"`{user.name}[cuda,cudnn]`" if _has_extras(examination, user) else asked
    if user.name == "onnxruntime-gpu" and contains(">=1.21", user.version):
        return f"ask for {asked}, and call `onnxruntime.preload_dlls()` before the first session"
    return f"ask for {asked}, and have their folders on the loader's path (LD_LIBRARY_PATH, on Windows PATH)"


def _has_extras(examination: Examination, user: PackageView) -> bool:
    """Return whether the extras `cuda` and `cudnn` are there, and the index has all that they ask for."""
    package = examination.resolution.get(user.name) if examination.resolution is not None else None
    index, target = examination.index, examination.target
    if package is None or index is None or target is None:
        return False
    try:
        metadata = index.metadata(package.file)
        lines = [line for text in metadata.requires_dist if "extra" in text and (line := Requirement(text)).marker]
        environments = [{**target.marker_environment(), "extra": extra} for extra in ("cuda", "cudnn")]
        asked = [[line for line in lines if holds(line.marker, each)] for each in environments]
        return all(asked) and all(_is_there(index, line, target) for of_extra in asked for line in of_extra)
    except (IndexUnavailable, MetadataUnavailable, ProjectNotFound, InvalidRequirement):
        return False


def _is_there(index: Index, line: Requirement, target: Target) -> bool:
    files = index.page(canonicalize_name(line.name)).files
    return any(line.specifier.contains(file.version) and can_use(file, target) for file in files)


def _nvidia(scene: Scene, target: Target) -> Iterator[Finding]:
    majors: dict[str, list[str]] = {}
    # What is there for one that was built for another CUDA than torch has a name of its own on the disk.
    served = {str(cuda) for _, _, cuda in _users(scene, target)}
    for name in scene.packages:
        if (match := _NVIDIA.fullmatch(name)) and (match[1] not in served or "cudnn" in name):
            majors.setdefault(match.group(1), []).append(name)
    if len(majors) > 1:
        sides = " beside ".join(f"CUDA {major} ({', '.join(names[:3])})" for major, names in sorted(majors.items()))
        yield _finding(
            sorted(name for names in majors.values() for name in names),
            f"the resolution has libraries of {sides}",
            tuple(Evidence(", ".join(names), f"CUDA {major}") for major, names in sorted(majors.items())),
            "keep the libraries that torch asks for",
        )


def _find(examination: Examination) -> Iterator[Finding]:
    scene, target = plan_scene(examination), examination.target
    if scene is None or target is None or target.backend is not Backend.CUDA:
        return
    unserved = list(_unserved(examination, scene, target))
    yield from unserved
    yield from _extension(examination, scene)
    yield from _nvidia(scene, target)
    if target.arch is not Arch.X86_64:
        return
    for item in misfits(scene, ("ctranslate2-torch",)):
        if any(told.subject == item.subject.name for told in unserved):
            continue
        cudnn = "9" if item.wanted.startswith(">=") else "8"
        yield _finding(
            (item.subject.name, item.object.name),
            f"`ctranslate2` {item.subject.version} loads cuDNN {cudnn}, "
            f"and `torch` {item.object.version} brings another",
            (Evidence(item.table.evidence, "table ctranslate2-torch"),),
            "ctranslate2 below 4.5 goes with torch below 2.4, 4.5.0 and later with torch 2.4 and later",
        )


RULE = Rule.of(
    __name__, __doc__, Severity.WARNING, _find, needs={"resolution", "target"}, ranks=Severity.WARNING, opens_few=True
)
