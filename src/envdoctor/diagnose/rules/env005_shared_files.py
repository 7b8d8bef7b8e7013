"""Two distributions own the same files, and the one that was installed last overwrote the other's.

## What it does
Compares the RECORD files of distributions in one folder by path, and the shared paths by their recorded hashes.
Where no file lists are at hand (a pasted listing), it knows the families that own one import package.
Files that are the same in both and harmless (empty namespace files, licences, scripts) are passed over. One that keeps
a second copy of the shared files and has a start file (`.pth`) puts them in place whenever Python starts, as
`urllib3-future` does: that is said, and is no fault. Builds that all give the same module (OpenCV's, NCCL's for two
CUDAs) are a warning, which says what sets them apart: what came last decides, and a list does not tell which it was.

## Why it is bad
Which of the two is imported depends on the order of installation; uninstalling either breaks the other. With
`onnxruntime` and `onnxruntime-gpu` the GPU provider comes and goes.

## Example
`onnxruntime 1.20.1` and `onnxruntime-gpu 1.20.1` own 335 files together, 4 of them with different content.

## What to do
Decide for one, uninstall all of them, then install that one again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.in_place_of import what_to_take
from envdoctor.diagnose.module_owners import family_of
from envdoctor.diagnose.remedies import installer_commands
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import InstalledDistribution, InstalledEnvironment
from envdoctor.model.finding import Applicability, Evidence, Finding, Remedy, Severity, in_words

_CODE = (".py", ".pyi", ".so", ".pyd", ".dll", ".dylib")
_HARMLESS = re.compile(
    r"(^|/)(licen[cs]e|copying|notice|authors|readme|changelog|changes|py\.typed|conftest\.py)[^/]*$", re.IGNORECASE
)
# Folders that careless packages put at the top level by mistake; nobody imports them.
_CARELESS = re.compile(r"^(tests?|docs?|examples?|benchmarks?|samples?|scripts?|tools|licenses)/", re.IGNORECASE)


@dataclass(slots=True)
class _Overlap:
    """What two distributions both own."""

    same: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    restored_by: str | None = None
    """The distribution that is made to stand beside the other, and puts its files in place at each start."""

    @property
    def severity(self) -> Severity | None:
        """Error where code differs, warning where code is the same, None for nothing.

        Info for careless folders, and where one of them sees to it that its own code counts.
        """
        if self.restored_by is not None:
            return Severity.INFO
        if any(path.endswith(_CODE) for path in self.different if not _CARELESS.match(path)):
            return Severity.ERROR
        if any(path.endswith(_CODE) and not path.endswith("/__init__.py") for path in self.same):
            return Severity.WARNING if not all(_CARELESS.match(path) for path in self.same) else Severity.INFO
        return Severity.INFO if self.different else None


def find(examination: Examination, environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each set of distributions that share files."""
    told: set[str] = set()
    for group, overlaps in _groups(_overlaps(environment.distributions)):
        told.update(item.name for item in group)
        yield _finding(examination, environment, group, overlaps)
    yield from _known_rivals(examination, environment, told)


_Pair = tuple[InstalledDistribution, InstalledDistribution, _Overlap]
_Group = list[InstalledDistribution]


def _overlaps(distributions: Iterable[InstalledDistribution]) -> list[_Pair]:
    owners: dict[tuple[str, str], tuple[InstalledDistribution, str | None]] = {}
    found: dict[tuple[str, str], _Pair] = {}
    for item in distributions:
        for file in item.files or ():
            if file.path.startswith("../") or ".dist-info/" in file.path or "__pycache__/" in file.path:
                continue
            owner, hash_ = owners.setdefault((item.location, file.path), (item, file.hash))
            if owner.name == item.name or _HARMLESS.search(file.path):
                continue
            key = (owner.metadata_path, item.metadata_path)
            overlap = found.setdefault(key, (owner, item, _Overlap()))[2]
            differs = hash_ is not None and file.hash is not None and hash_ != file.hash
            (overlap.different if differs else overlap.same).append(file.path)
    for one, other, overlap in found.values():
        if overlap.severity is Severity.ERROR:
            overlap.restored_by = next((it.name for it in (one, other) if _restores(it, overlap.different)), None)
    return list(found.values())


def _restores(distribution: InstalledDistribution, paths: list[str]) -> bool:
    """Return whether it has a start file, and all of ``paths`` a second time below a folder of its own."""
    hashes = {file.path: file.hash for file in distribution.files or ()}
    if not any(path.endswith(".pth") and "/" not in path for path in hashes):
        return False
    folders = {path.partition("/")[0] for path in hashes} - {path.partition("/")[0] for path in paths}
    return any(
        all(hashes.get(f"{folder}/{path.partition('/')[2]}") == hashes[path] for path in paths) for folder in folders
    )


def _groups(pairs: list[_Pair]) -> Iterator[tuple[_Group, list[_Overlap]]]:
    """Join pairs that matter into sets: three members of a family make one finding, not three."""
    groups: list[tuple[_Group, list[_Overlap]]] = []
    for one, other, overlap in pairs:
        if overlap.severity in (None, Severity.INFO):
            if overlap.severity is not None:
                yield [one, other], [overlap]
            continue
        joined: tuple[_Group, list[_Overlap]] = ([one, other], [overlap])
        for group in [group for group in groups if one in group[0] or other in group[0]]:
            groups.remove(group)
            joined[0].extend(item for item in group[0] if item not in joined[0])
            joined[1].extend(group[1])
        groups.append(joined)
    yield from groups


def _finding(
    examination: Examination, environment: InstalledEnvironment, group: _Group, overlaps: list[_Overlap]
) -> Finding:
    shared = {path for overlap in overlaps for path in (*overlap.same, *overlap.different)}
    different = sorted({path for overlap in overlaps for path in overlap.different})
    severity = min((overlap.severity or Severity.INFO for overlap in overlaps), key=lambda item: item.rank)
    content = f", {len(different)} of them with different content" if different else ", with the same content"
    apart = _apart(group) if severity is Severity.ERROR else ""
    evidence = [Evidence(f"{item.name} {item.version}", item.metadata_path) for item in group]
    evidence += [Evidence(f"differs: {path}") for path in different[:8]]
    evidence += [Evidence(f"shared: {path}") for path in sorted(shared - set(different))[: 3 if different else 8]]
    count = f"{len(shared)} file{'s' if len(shared) != 1 else ''}"
    restored = next((item.restored_by for item in overlaps if item.restored_by), None)
    if restored is not None:
        content += f"; `{restored}` puts its own in place whenever Python starts"
    return RULE.finding(
        subject=group[0].name,
        message=f"{_names(group)} own the same {count}{content}{apart}",
        severity=Severity.WARNING if apart else severity,
        evidence=tuple(evidence),
        remedy=_remedy(examination, environment, group) if severity is not Severity.INFO else None,
    )


def _known_rivals(examination: Examination, environment: InstalledEnvironment, told: set[str]) -> Iterator[Finding]:
    """Yield families of which two are installed, where no file lists showed it."""
    installed: dict[str, InstalledDistribution] = {item.name: item for item in environment.distributions}
    for family in shipped_wheel_facts().families:
        group = [installed[name] for name in family.names if name in installed]
        if len(group) < 2 or any(item.name in told for item in group):
            continue
        if all(item.files for item in group) and len({item.location for item in group}) == 1:
            # The file lists were compared, and these releases do not share anything that matters.
            continue
        apart = _apart(group)
        yield RULE.finding(
            subject=group[0].name,
            message=f"{_names(group)} own the same import package `{family.tree.replace('/', '.')}`{apart}",
            severity=Severity.WARNING if apart else Severity.ERROR,
            evidence=tuple(Evidence(f"{item.name} {item.version}", item.metadata_path) for item in group),
            remedy=_remedy(examination, environment, group),
        )


def _apart(group: _Group) -> str:
    """Return what the one that was installed last decides on, where all give the same module; else empty."""
    family = family_of([item.name for item in group])
    if family is None or not family.is_one_module({item.name: item.version for item in group}):
        return ""
    return f", the same module in each; the one installed last decides on {family.apart}"


def _names(group: _Group) -> str:
    return in_words([f"`{item.name}` {item.version}" for item in group])


def _remedy(examination: Examination, environment: InstalledEnvironment, group: _Group) -> Remedy:
    names = sorted(item.name for item in group)
    family = family_of(names)
    advice, keep = what_to_take(examination, family, names) if family is not None else ("", None)
    return Remedy(
        f"Uninstall all of them, then install the one that fits this machine{f'; {advice}' if advice else ''}",
        Applicability.DISPLAY,
        installer_commands(
            environment,
            ("uninstall", "-y", *names),
            ("install", "--force-reinstall", "--no-deps", keep or "THE-ONE-TO-KEEP"),
        ),
    )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find, summary="Two distributions own the same files")
