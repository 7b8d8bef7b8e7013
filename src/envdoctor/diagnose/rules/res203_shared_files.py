"""Two distributions own the same files.

## What it does

Reports distributions of one resolution that own the same files, with the number of files, and of files with other
content, where their listings and RECORD files can be read. Which of them to keep follows from the target's backend.
Builds of one version that all give the same module (OpenCV's) are a warning, which says what sets them apart: files of
two versions are not mixed. Where no file has other content, it is a note.

## Why is this bad

The one installed last wins, in an order that nobody chose; taking one away takes files of the other with it.

## Example

`onnxruntime` and `onnxruntime-gpu` both own the folder `onnxruntime/`: the GPU provider comes and goes, and after an
uninstall `onnxruntime` has no attribute `InferenceSession`. `opencv-python` and `opencv-python-headless` of one version
both give `cv2`; `cv2.imshow` is there only where the first is installed last.

## References

- PyPA, Recording installed projects: https://packaging.python.org/specifications/recording-installed-packages/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdoctor.diagnose.examination import Chain, Examination, chain_to
from envdoctor.diagnose.in_place_of import what_to_take
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import Family, shipped_wheel_facts
from envdoctor.model.candidate import FileKind
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity, in_words
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.ports import IndexUnavailable, MetadataUnavailable

_MOST = 4


def _names(examination: Examination, package: ResolvedPackage) -> frozenset[str] | None:
    if examination.archives is None or package.file.kind is not FileKind.WHEEL or package.file.stand_in:
        return None
    try:
        names = examination.archives.names(package.file)
    except (MetadataUnavailable, IndexUnavailable):
        return None
    return frozenset(name for name in names if ".dist-info/" not in name and not name.endswith("/"))


def _shared(examination: Examination, packages: list[ResolvedPackage]) -> tuple[str, ...] | None:
    """Return the files that all of them own, None where a listing cannot be read."""
    listings = [_names(examination, package) for package in packages]
    known = [listing for listing in listings if listing is not None]
    return tuple(sorted(frozenset.intersection(*known))) if len(known) == len(packages) else None


def _record(examination: Examination, package: ResolvedPackage) -> dict[str, str] | None:
    """Return the hash of each file, as the wheel's RECORD says; None where it cannot be read."""
    if examination.archives is None:
        return None
    try:
        names = examination.archives.names(package.file)
        member = next((name for name in names if name.endswith(".dist-info/RECORD")), None)
        data = examination.archives.read(package.file, member) if member else None
    except (MetadataUnavailable, IndexUnavailable):
        return None
    if data is None:
        return None
    import csv

    rows = csv.reader(data.decode("utf-8", "replace").splitlines())
    try:
        return {row[0]: row[1] for row in rows if len(row) > 1 and row[1]}
    except csv.Error:
        return None


def _different(examination: Examination, packages: list[ResolvedPackage], shared: tuple[str, ...]) -> list[str] | None:
    """Return the shared files whose content differs, None where a RECORD does not say."""
    records = [_record(examination, package) for package in packages]
    known = [record for record in records if record is not None]
    if len(known) < len(packages) or any(path not in record for record in known for path in shared):
        return None
    return [path for path in shared if len({record[path] for record in known}) > 1]


def _finding(
    examination: Examination, resolution: Resolution, family: Family, found: list[ResolvedPackage]
) -> Finding | None:
    shared = _shared(examination, found)
    if shared is not None and not shared:
        return None
    names = in_words([f"`{item.name}` {item.version}" for item in found])
    different = _different(examination, found, shared) if shared else None
    severity, decides = Severity.ERROR, ""
    if family.is_one_module({item.name: str(item.version) for item in found}):
        severity, decides = Severity.WARNING, f", and decides on {family.apart}"
    end = f"(file conflict): the one installed last wins{decides}"
    if different == []:
        severity, end = Severity.INFO, "with the same content: uninstalling one takes them from the other"
    count = f"{len(shared)} files" if shared else "the same files"
    if different:
        count += f", {len(different)} of them with other content,"
    where = f"`{family.tree}/`"
    kept, name = what_to_take(examination, family, [item.name for item in found])
    chains = [chain_to(resolution, item.name) for item in found]
    asked = [chain for chain in chains if not chain.names[1:]]
    out = [chain for chain in chains if chain.names[1:] and chain.names[-1] != name and (asked or name)]
    brought = [Evidence(str(chain), "brought in") for chain in chains if chain.root is not None and chain.names[1:]]
    rows = [(path, "other content in each") for path in different or ()]
    rows += [(path, "in each of them") for path in shared or () if path not in (different or ())]
    seen = [Evidence(path, where_seen) for path, where_seen in rows[:_MOST]]
    known = Evidence(f"these distributions all own {where}", "what is known of their wheels")
    return RULE.finding(
        subject=found[0].name,
        message=f"{names} own {count} in {where} {end}",
        severity=severity,
        evidence=(*brought, *(seen or [known])),
        remedy=Remedy(f"{kept}; in an environment that has both, uninstall both and install one{_kept_out(out)}"),
        location=chains[-1].location,
        packages=tuple(item.name for item in found),
    )


def _kept_out(chains: Sequence[Chain]) -> str:
    """Return how to keep out what only a dependency brings, as a piece of a remedy."""
    if not chains:
        return ""
    names = [chain.names[-1] for chain in chains]
    lines = ", ".join(f"\"{name}; sys_platform == 'never'\"" for name in names)
    brought = in_words([f"`{chain.names[-1]}` comes with `{chain.names[-2]}`" for chain in chains])
    return f"; {brought}: uv leaves it out with `override-dependencies = [{lines}]` in `[tool.uv]`, pip cannot"


def _find(examination: Examination, resolution: Resolution) -> Iterator[Finding]:
    packages = {item.name: item for item in resolution.packages}
    for family in shipped_wheel_facts().families:
        found = [packages[name] for name in sorted(packages.keys() & set(family.names))]
        if len(found) > 1:
            finding = _finding(examination, resolution, family, found)
            if finding:
                yield finding


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, ranks=Severity.ERROR)
