"""A library asks the loader for another one that nothing provides.

## What it does
Reads, without loading anything, which libraries each extension module of the environment needs, directly and through
others, and looks for each: in the environment (wherever it lies, since packages load each other's libraries in
advance), beside the interpreter, and, on the machine itself, in the loader's cache and folders. For an environment of
another machine only the libraries that come with Python packages are spoken of: CUDA's and torch's.

## Why it is bad
The import fails: "libcudart.so.12: cannot open shared object file", "DLL load failed while importing".

## Example
torchaudio from the default index, built for CUDA, beside a CPU build of torch: `libc10_cuda.so` is nowhere.

Where the rest of the package works all the same, that is told: a library of which a package is known to do without
(cuTENSOR beside cupy, the system's MPI) is a note, one that only some of its modules need a warning, and so is what
onnxruntime's CUDA provider lacks on a machine whose backend is CUDA.

## What to do
Install builds that belong together, or the package that brings the library.

## References
- ld.so(8), https://man7.org/linux/man-pages/man8/ld.so.8.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch

from envdoctor.diagnose.binary_links import Links, cuda_library, is_torch_library, links_of, owner, short_path
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.nvidia_packages import cuda_major_of, nvidia_package
from envdoctor.diagnose.rule import Rule
from envdoctor.model.binary import Binary, BinaryInventory
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity, in_words
from envdoctor.model.target import Backend

# Binaries that their packages do without, or of which they load the one that fits: nothing to say.
_SILENT = (
    ("numba", "*pool.*"),
    ("torchaudio", "*torio_ffmpeg*"),
    ("torchaudio", "*_sox*"),
    ("bitsandbytes", "*"),
    ("pyqt*", "*/plugins/*"),
    ("pyside*", "*/plugins/*"),
)
# Binaries that a package has once for each release of something on the system, and loads the one that fits: what each
# of them lacks is missing all the same. Builds for another torch are ABI008's.
_VARIANTS = (("torchcodec", re.compile(r"(libtorchcodec\w*?)\d+\.so")),)
# Binaries that are loaded when the user asks for what they give: worth a note.
_ON_REQUEST = (
    ("onnxruntime*", "*onnxruntime_providers_*", "an execution provider that is loaded on request"),
    ("torchvision", "*/image.*", "image decoding, which torchvision does without"),
)
_PROVIDER_OF_CUDA = "onnxruntime_providers_cuda"
# Libraries without Python's entry point that a package loads at its import all the same.
_AT_IMPORT = (
    ("torchvision", "*/_C.*"),
    ("torchaudio", "*/lib/libtorchaudio.*"),
    ("torchaudio", "*/lib/_torchaudio*"),
)
# Libraries that a package looks for and does without: distribution, library, what is lost.
_DISPENSABLE = (
    ("cupy*", "*cutensor*", "cuTENSOR speeds up some contractions, and the rest of cupy works"),
    ("cupy*", "*cudnn*", "cupy's own cuDNN functions alone use it"),
    ("cupy*", "*nccl*", "communication between cards alone uses it"),
    ("cupy*", "*cusparselt*", "structured sparsity alone uses it"),
    ("mpi4py", "*mpi*", "the system's MPI, which only programs that are started by it need"),
    ("h5py", "*mpi*", "the system's MPI, which only parallel files need"),
)
# Libraries of a desktop that a server's system lacks, by the package of Debian and Ubuntu.
_OF_SYSTEM = (
    ("libGL.so.1", "libgl1"),
    ("libEGL.so.1", "libegl1"),
    ("libOpenGL.so.0", "libopengl0"),
    ("libgthread-2.0.so.0", "libglib2.0-0"),
    ("libglib-2.0.so.0", "libglib2.0-0"),
    ("libSM.so.6", "libsm6"),
    ("libXext.so.6", "libxext6"),
    ("libXrender.so.1", "libxrender1"),
    ("libX11.so.6", "libx11-6"),
    ("libxcb.so.1", "libxcb1"),
    ("libgomp.so.1", "libgomp1"),
    ("libsndfile.so.1", "libsndfile1"),
    ("libportaudio.so.2", "libportaudio2"),
)
_WITH_WINDOWS = frozenset({"opencv-python", "opencv-contrib-python"})


def find(binaries: BinaryInventory, examination: Examination) -> Iterator[Finding]:
    """Yield one finding for each distribution and severity."""
    links, target = links_of(binaries), examination.target
    # Where the machine's own libraries are not known, they may bring what the provider of its GPU needs.
    wanted = _PROVIDER_OF_CUDA if target and target.backend is Backend.CUDA and binaries.libraries is not None else ""
    importable = {item.path for item in links.importable()}
    partly = {item.distribution for item in binaries if item.extension and links.loads(item)}
    groups: dict[tuple[str, Severity], list[tuple[Binary, list[str], str]]] = {}
    for binary in binaries:
        lacks = list(links.missing(binary))
        if not lacks or _shared_name(binary) or _one_of_variants(binary, links):
            continue
        judged = _severity(binary, lacks, binary.path in importable, others_load=binary.distribution in partly)
        if judged is not None and wanted and wanted in binary.name:
            judged = Severity.WARNING, "the provider of the target's GPU: without it the CPU does the work"
        if judged is not None:
            groups.setdefault((owner(binary), judged[0]), []).append((binary, lacks, judged[1]))
    for binary, lacks in _lacked_by_all_variants(links):
        groups.setdefault((owner(binary), Severity.ERROR), []).append((binary, lacks, ""))
    for (subject, severity), cases in groups.items():
        yield _finding(links, subject, severity, cases)


def _shared_name(binary: Binary) -> str | None:
    """Return what the variants of a library have in common in their names, None where it has none."""
    found = (pattern.fullmatch(binary.name) for name, pattern in _VARIANTS if name == binary.distribution)
    return next((match[1] for match in found if match), None)


def _lacked_by_all_variants(links: Links) -> Iterator[tuple[Binary, list[str]]]:
    """Yield one of a library's variants with what none of them would find, torch's own libraries left out."""
    families: dict[str, list[Binary]] = {}
    for binary in links.inventory:
        if shared := _shared_name(binary):
            families.setdefault(shared, []).append(binary)
    for first, *others in families.values():
        lacks = set(links.missing(first)).intersection(*(links.missing(other) for other in others))
        common = [name for name in first.needed if name in lacks and not is_torch_library(name)]
        if others and common:
            yield first, common


def _severity(binary: Binary, lacks: list[str], needed: bool, *, others_load: bool) -> tuple[Severity, str] | None:
    """Return how bad it is and why it is no worse; None where it does not matter."""
    distribution, path = binary.distribution or "", short_path(binary.path)
    if any(fnmatch(distribution, name) and fnmatch(path, pattern) for name, pattern in _SILENT):
        return None
    for name, pattern, why in _ON_REQUEST:
        if fnmatch(distribution, name) and fnmatch(path, pattern):
            return Severity.INFO, why
    needed = needed or any(fnmatch(distribution, name) and fnmatch(path, pattern) for name, pattern in _AT_IMPORT)
    losses = [_loss(distribution, name) for name in lacks]
    if all(losses):
        return Severity.INFO, str(losses[0])
    of_a_build = any(cuda_library(name) or is_torch_library(name) for name in lacks)
    if needed and others_load and not of_a_build:
        # A wrong build misses CUDA's or torch's libraries; a part that needs more of the system is one of many.
        return Severity.WARNING, "other modules of it load"
    if needed:
        return Severity.ERROR, ""
    if of_a_build:
        return Severity.WARNING, "loaded on request"
    return None


def _loss(distribution: str, library: str) -> str | None:
    """Return what goes missing with a library that a package does without, None where it cannot."""
    name = library.rsplit("/", 1)[-1].lower()
    return next(
        (why for of, pattern, why in _DISPENSABLE if fnmatch(distribution, of) and fnmatch(name, pattern)), None
    )


def _one_of_variants(binary: Binary, links: Links) -> bool:
    """Return whether a distribution brings the same library for several CUDA majors, of which one is loaded."""
    mine = {known for name in binary.needed if (known := cuda_library(name))}
    if not mine or binary.extension:
        return False
    others = (item for item in links.inventory if item.distribution == binary.distribution and item is not binary)
    numbers = {known for item in others for name in item.needed if (known := cuda_library(name))}
    return any(family == other and number != another for family, number in mine for other, another in numbers)


def _finding(links: Links, subject: str, severity: Severity, cases: list[tuple[Binary, list[str], str]]) -> Finding:
    names = list(dict.fromkeys(name.rsplit("/", 1)[-1] for _, lacks, _ in cases for name in lacks))
    shown = ", ".join(f"`{name}`" for name in names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    why = next((f" ({why})" for _, _, why in cases if why), "")
    beside = _beside(links, names)
    evidence = [Evidence(f"needs {', '.join(lacks[:6])}", short_path(binary.path)) for binary, lacks, _ in cases[:8]]
    return RULE.finding(
        subject,
        f"`{subject}` needs {shown}, which nothing provides{why}{f'; {beside}' if beside else ''}",
        tuple(evidence),
        Remedy(_remedy(links, subject, names)),
        severity=severity,
    )


def _beside(links: Links, names: list[str]) -> str:
    """Return what there is instead: another number of the same library, or a torch without the part that is wanted."""
    for name in names:
        known = cuda_library(name)
        if known is None:
            continue
        others = [item.name for item in links.inventory if (cuda_library(item.name) or ("", 0))[0] == known[0]]
        if others:
            return f"the environment has `{others[0]}`"
    has_torch = any(is_torch_library(item.name) and "cpu" in item.name for item in links.inventory)
    if has_torch and any("cuda" in name or "hip" in name for name in names if is_torch_library(name)):
        return "`torch` is for the CPU"
    return ""


def _bringing(subject: str, libraries: list[tuple[str, int]]) -> str:
    """Return which packages bring CUDA's libraries, and how they are found."""
    cuda = cuda_major_of(libraries)
    packages = [nvidia_package(*each, cuda) for each in libraries] if cuda is not None else []
    named = in_words([f"`{item}`" for item in dict.fromkeys(packages) if item is not None])
    if not named:
        return (
            f"install the package with {libraries[0][0]} {libraries[0][1]}, or a build of `{subject}` for this target"
        )
    way = "have their folders on the loader's path"
    if subject == "onnxruntime-gpu":
        way = f"call `onnxruntime.preload_dlls()` before the first session (from 1.21 on; before, {way})"
    return f"install {named}, and {way}; or take a build of `{subject}` for this target"


def _remedy(links: Links, subject: str, names: list[str]) -> str:
    if any(is_torch_library(name) for name in names):
        has_torch = any(is_torch_library(item.name) for item in links.inventory)
        with_torch = f"install `{subject}` and `torch` from the same index, with the same build label"
        return with_torch if has_torch else f"install the torch that `{subject}` was built for"
    libraries = [found for name in names if (found := cuda_library(name))]
    if libraries:
        if any((cuda_library(item.name) or ("", 0))[0] == libraries[0][0] for item in links.inventory):
            return f"install the `{subject}` that was built for the CUDA libraries that are there"
        return _bringing(subject, libraries)
    if names[0].startswith("libnpp"):
        return f"install NPP of the CUDA toolkit, in the major of the name, or another release of `{subject}`"
    brings = next((package for name in names for of, package in _OF_SYSTEM if fnmatch(name, of)), "")
    brings = brings or next((name.partition(".so")[0] for name in names if name.startswith("libpython")), "")
    another = f"`{subject}-headless`, which does without it, in the place of `{subject}`"
    another = another if subject in _WITH_WINDOWS else f"another build of `{subject}`"
    if brings:
        return f"install `{brings}` with the system's package manager (the name is Debian's and Ubuntu's), or {another}"
    return f"install what brings `{names[0]}` with the system's package manager, or {another}"


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find)
