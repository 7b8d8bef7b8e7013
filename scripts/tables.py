"""Read the shipped tables against the index and say where the world has moved: `python scripts/tables.py`.

Looked at: couplings, build labels and devices of wheels, the newest torch of the label table, the NumPy table. The
newest release of each package is opened, with ``--all`` every one. Exit 1 where a table and the index differ. PyTorch's
own indexes are asked, too, where they answer.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.adapters.index import AnyIndex, IndexSettings, open_index
from envdoctor.diagnose.pairing import built_for_numpy1
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.candidate import DistributionFile, FileKind
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target
from envdoctor.model.version_table import VersionTable
from envdoctor.ports import IndexUnavailable, MetadataUnavailable, ProjectNotFound
from envdoctor.shipped import couplings, torch_labels

_LABEL = re.compile(r"__version__\s*(?::[^=]*)?=\s*['\"][^'\"+]*\+?([\w.]*)['\"]")
_TARGETS = [
    Target(OperatingSystem(os), Arch(arch), (3, 12), Backend.CUDA, glibc=(2, 39))
    for os, arch in (("linux", "x86_64"), ("linux", "aarch64"), ("windows", "x86_64"))
]


def differences(index: AnyIndex, *, every: bool = False) -> Iterator[str]:
    """Yield one line for each place where a table and the index differ."""
    for table in couplings():
        yield from _coupling(index, table)
    for package in dict.fromkeys(item.package for item in shipped_wheel_facts().builds):
        yield from _builds(index, package, every=every)
    for package in dict.fromkeys(item.package for item in shipped_wheel_facts().devices):
        yield from _devices(index, package)
    yield from _labels(index)
    yield from _numpy(index)


def _releases(index: AnyIndex, name: str) -> list[Version]:
    """Return the stable releases that somebody may still take, oldest first."""
    page = index.page(canonicalize_name(name))
    taken = {file.version for file in page.files if file.yanked is None and file.kind is FileKind.WHEEL}
    return sorted(version for version in taken if not version.is_prerelease) or sorted(taken)


def _wheels(index: AnyIndex, name: str, version: Version) -> list[DistributionFile]:
    files = index.page(canonicalize_name(name)).of_version(version)
    return [file for file in files if file.kind is FileKind.WHEEL]


def _coupling(index: AnyIndex, table: VersionTable) -> Iterator[str]:
    page = index.page(canonicalize_name(table.subject))
    assert table.known_to is not None  # noqa: S101
    others = _releases(index, table.object)
    for version in page.versions:
        wanted = table.wanted(version)
        if version > table.known_to and (not version.is_prerelease or table.known_to.is_prerelease):
            yield f"{table.name}: {version} is newer than {table.known_to}, the last that was read"
        stated = _stated(index, table, version)
        if wanted is None or stated is None:
            continue
        beyond = [other for other in others if stated.specifier.contains(other) and not table.fits(wanted, other)]
        if beyond and str(stated.specifier):
            yield f"{table.name}: metadata of {version} says `{stated}`, and the table {wanted}"


def _stated(index: AnyIndex, table: VersionTable, version: Version) -> Requirement | None:
    """Return what the metadata of a version says of the other project, None where it says nothing."""
    for file in _wheels(index, table.subject, version)[-1:]:
        try:
            lines = [Requirement(line) for line in index.metadata(file).requires_dist]
        except (MetadataUnavailable, IndexUnavailable):
            return None
        return next((line for line in lines if canonicalize_name(line.name) == table.object and not line.extras), None)
    return None


def _builds(index: AnyIndex, package: str, *, every: bool) -> Iterator[str]:
    facts = shipped_wheel_facts()
    releases = _releases(index, package)
    for version in releases if every else releases[-1:]:
        for target in _TARGETS:
            file = _file_for(_wheels(index, package, version), target)
            if file is None:
                continue
            known, read = facts.build_label(package, version, target), _label_inside(index, file, package)
            place = f"{package} {version} for {target.os.value} {target.arch.value}"
            spoken_of = any(
                item.package == package and item.os == target.os.value and target.arch.value in item.arch
                for item in facts.builds
            )
            if known is None and spoken_of and version == releases[-1]:
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
    newest = _releases(index, package)[-1]
    if all(shipped_wheel_facts().devices_of(package, newest, target) is None for target in _TARGETS):
        yield f"devices: no row speaks of {package} {newest}"


def _labels(index: AnyIndex) -> Iterator[str]:
    newest = _releases(index, "torch")[-1]
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


def _numpy(index: AnyIndex) -> Iterator[str]:
    for package, known in built_for_numpy1().items():
        versions = index.page(canonicalize_name(package)).versions
        for version in (known.last, known.first):
            if version not in versions:
                yield f"numpy-abi: there is no {package} {version}"


def main() -> int:
    """Print the differences."""
    with open_index(IndexSettings()) as index:
        found = list(differences(index, every="--all" in sys.argv[1:]))
    for line in found:
        sys.stdout.write(f"{line}\n")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
