"""What wheels hold, against `wheels.toml`, `torch-labels.toml` and `gpus.toml`: `tables.py` runs this."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.adapters.index import AnyIndex, IndexSettings, open_index
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.candidate import DistributionFile, FileKind
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target
from envdoctor.ports import IndexUnavailable, MetadataUnavailable, ProjectNotFound
from envdoctor.shipped import data_file, torch_labels

_LABEL = re.compile(r"__version__\s*(?::[^=]*)?=\s*['\"][^'\"+]*\+?([\w.]*)['\"]")
_FLAGS = re.compile(rb"(?:(?:sm|compute)_\d+[a-z]?[ \x00]){3,}")
_TARGETS = [
    Target(OperatingSystem(os), Arch(arch), (3, 12), Backend.CUDA, glibc=(2, 39))
    for os, arch in (("linux", "x86_64"), ("linux", "aarch64"), ("windows", "x86_64"))
]


def releases(index: AnyIndex, name: str) -> list[Version]:
    """Return the stable releases that somebody may still take, oldest first."""
    page = index.page(canonicalize_name(name))
    taken = {file.version for file in page.files if file.yanked is None and file.kind is FileKind.WHEEL}
    return sorted(version for version in taken if not version.is_prerelease) or sorted(taken)


def wheels(index: AnyIndex, name: str, version: Version) -> list[DistributionFile]:
    """Return the wheels of a release."""
    files = index.page(canonicalize_name(name)).of_version(version)
    return [file for file in files if file.kind is FileKind.WHEEL]


def build_differences(index: AnyIndex, *, every: bool) -> Iterator[str]:
    """Yield where labels, devices, kernels, cards or PyTorch's indexes are not what the tables say."""
    for package in dict.fromkeys(item.package for item in shipped_wheel_facts().builds):
        yield from _builds(index, package, every=every)
    for package in dict.fromkeys(item.package for item in shipped_wheel_facts().devices):
        yield from _devices(index, package)
    for version in releases(index, "torch")[0 if every else -1 :]:
        yield from _kernels(index, version, exact=version == releases(index, "torch")[-1])
    yield from _labels(index)


def _builds(index: AnyIndex, package: str, *, every: bool) -> Iterator[str]:
    facts = shipped_wheel_facts()
    taken = releases(index, package)
    for version in taken if every else taken[-1:]:
        for target in _TARGETS:
            file = _file_for(wheels(index, package, version), target)
            if file is None:
                continue
            known, read = facts.build_label(package, version, target), _label_inside(index, file, package)
            place = f"{package} {version} for {target.os.value} {target.arch.value}"
            spoken_of = any(
                item.package == package and item.os == target.os.value and target.arch.value in item.arch
                for item in facts.builds
            )
            if known is None and spoken_of and version == taken[-1]:
                yield f"builds: no row speaks of {place}, whose wheel is `{read}`"
            elif known is not None and read is not None and known != read:
                yield f"builds: {place} is `{read}`, and the table says `{known}`"


def _file_for(files: Iterable[DistributionFile], target: Target) -> DistributionFile | None:
    systems = {"linux": ("linux", target.arch.value), "windows": ("win_amd64", "")}[target.os.value]
    tags = [(file, file.filename.rpartition("-")[2]) for file in files]
    return next((file for file, tag in tags if all(part in tag for part in systems) and "musl" not in tag), None)


def _label_inside(index: AnyIndex, file: DistributionFile, package: str) -> str | None:
    """Return the label that ``version.py`` of a wheel shows, ``cpu`` where it shows none; None without such a file."""
    try:
        content = index.read(file, f"{package}/version.py")
    except (MetadataUnavailable, IndexUnavailable):
        return None
    found = _LABEL.search(content.decode("utf-8", "replace")) if content else None
    return (found.group(1) or "cpu") if found else None


def _devices(index: AnyIndex, package: str) -> Iterator[str]:
    newest = releases(index, package)[-1]
    if all(shipped_wheel_facts().devices_of(package, newest, target) is None for target in _TARGETS):
        yield f"devices: no row speaks of {package} {newest}"


def _kernels(index: AnyIndex, version: Version, *, exact: bool) -> Iterator[str]:
    """Compare the list of architectures that torch's own library for Python carries with the table and the cards.

    The table may know more of older builds: what the headers of their CUDA libraries show.
    """
    carded = {row["architecture"] for row in data_file("gpus")["card"]}
    for target in _TARGETS[:2]:
        file = _file_for(wheels(index, "torch", version), target)
        label = shipped_wheel_facts().build_label("torch", version, target)
        known = shipped_wheel_facts().kernel_set("torch", label or "", version, target.arch.value)
        read = _flags(index.read(file, "torch/lib/libtorch_python.so")) if file is not None else set()
        if exact and not read:
            yield f"kernels: torch {version} for {target.arch.value} does not show its architectures"
        told = (*known.architectures, *([known.ptx.replace("sm", "compute")] if known.ptx else [])) if known else ()
        if set(told) != read if exact else told and not read <= set(told):
            yield f"kernels: torch {version} for {target.arch.value} has {sorted(read)}, and the table says {told}"
        for name in sorted(item for item in read - carded if item.startswith("sm_")):
            yield f"gpus: torch {version} has code for {name}, and no card is known for it"


def _flags(library: bytes | None) -> set[str]:
    found = _FLAGS.search(library or b"")
    return set(re.findall(r"[a-z]+_\d+[a-z]?", found[0].decode())) if found else set()


def _labels(index: AnyIndex) -> Iterator[str]:
    newest = releases(index, "torch")[-1]
    for life in torch_labels().values():
        if Version(f"{newest.major}.{newest.minor}") > life.newest:
            yield f"torch-labels: torch {newest} is newer than {life.newest}, the last that was looked at"
            break
    for life in torch_labels().values():
        try:
            with open_index(IndexSettings(default_url=f"https://download.pytorch.org/whl/{life.name}")) as own:
                versions = own.page(NormalizedName("torch")).versions
        except IndexUnavailable:
            return  # one that is out of reach is so with every label
        except ProjectNotFound:
            continue
        for version in versions:
            if version.local == life.name and life.has(Version(f"{version.major}.{version.minor}")) is not True:
                yield f"torch-labels: {life.name} has torch {version}"
