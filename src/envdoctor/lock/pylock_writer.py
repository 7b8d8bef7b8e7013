"""A resolution as a PEP 751 document, and as constraints and overrides for tools that do not read locks.

One lock speaks of one target, so each package carries the wheels that the target may use, the best first. What other
tools must not trip over stands in ``[tool.envdoctor]`` and is disposable: patches and steps live beside the lock.

Source: PEP 751 and its specification; ``packaging.pylock`` holds the data model and validates it.

Who asks for what is the same whether it is written for the first time or again. An override that an earlier lock
records replaces every demand that its authors make on a project, those that agree with it too, and speaks itself as
one more author. Written down, a demand that the version in use meets is in force, and a lock is nobody's reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from packaging.markers import Marker
from packaging.pylock import Package, PackageSdist, PackageWheel, Pylock, is_valid_pylock_path
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.lock.lock_refusals import not_pinned
from envdoctor.lock.locked_way import LockedWay, way_row
from envdoctor.lock.pylock_reader import target_row
from envdoctor.model.candidate import DistributionFile, FileKind, safe_hashes
from envdoctor.model.index_url import url_without_secrets
from envdoctor.model.origin import DistributionOrigin, FileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.target import Target

__all__ = ["build_pylock", "constraints_text", "demands_told_apart", "lock_text", "override_row", "overrides_text"]


def demands_told_apart(resolution: Resolution, repair: Repair | None) -> tuple[Resolution, Repair | None]:
    """Return both with each demand where it belongs: met and in force, or set aside."""
    packages = tuple(map(_told_apart, resolution.packages))
    if repair is not None:
        repair = replace(repair, overrides=tuple(_override(item, resolution) for item in repair.overrides))
    return replace(resolution, packages=packages), repair


def _told_apart(package: ResolvedPackage) -> ResolvedPackage:
    met = tuple(item for item in package.set_aside if _met(item, package))
    aside = tuple(item for item in package.set_aside if item not in met)
    wanted = [item for item in dict.fromkeys((*met, *package.wanted_by)) if not _of_a_lock(item)]
    return replace(package, wanted_by=tuple(sorted(wanted, key=_people_first)), set_aside=aside)


def _override(override: Override, resolution: Resolution) -> Override:
    package = resolution.get(override.requirement.name)
    if package is None:
        return override
    aside = tuple(item for item in override.sets_aside if not _met(item, package))
    # Where all of them are met, what the override speaks of is still its business.
    return override.resolved(override.requirement, aside) if aside else override


def _met(requirement: Requirement, package: ResolvedPackage) -> bool:
    if requirement.url or not requirement.extras <= package.extras:
        return False
    return requirement.admits(package.version)


def _of_a_lock(requirement: Requirement) -> bool:
    origin = requirement.origin
    return isinstance(origin, FileOrigin) and is_valid_pylock_path(Path(origin.path))


def _people_first(requirement: Requirement) -> tuple[bool, str, int]:
    origin = requirement.origin
    if isinstance(origin, DistributionOrigin):
        return True, "", 0  # In the order in which they were found.
    return (False, origin.path, origin.line or 0) if isinstance(origin, FileOrigin) else (False, str(origin), 0)


_SHOWN = 3


def constraints_text(resolution: Resolution, profile: str | None, name: str) -> str:
    """Return ``name==version`` lines for ``pip install -c``; comments say who wants each package.

    ``name``: of the file that they are written to.
    """
    lines = [f"# Constraints of {_whose(profile)}: pip install -c {name} ..."]
    lines.extend(f"{package.name}=={package.version}{_comment(package)}" for package in resolution.packages)
    return "\n".join(lines) + "\n"


def overrides_text(overrides: Sequence[Override], resolution: Resolution, profile: str | None, name: str) -> str:
    """Return the overrides for ``uv pip install --overrides``; comments say what each sets aside.

    uv lets an override of torch stand for every demand on torch, torchvision's exact pin among them, and would then
    take any torchvision. So what is pinned to an overridden project is named too.
    """
    lines = [f"# Overrides of {_whose(profile)}: uv pip install --overrides {name} ..."]
    if not overrides:
        lines.append("# None: the requirements hold as they stand.")
        return "\n".join(lines) + "\n"
    for override in overrides:
        lines.extend(f"# sets aside {aside} ({aside.origin})" for aside in override.sets_aside)
        lines.append(_line(override))
    for package, pinned in _torn(overrides, resolution):
        lines += [f"# keeps {package.name} with {pinned}", f"{package.name}=={package.version}"]
    return "\n".join(lines) + "\n"


def _whose(profile: str | None) -> str:
    return f"profile {profile}" if profile else "the project"


def _torn(overrides: Sequence[Override], resolution: Resolution) -> Iterator[tuple[ResolvedPackage, str]]:
    """Yield packages that an override would tear from what they are pinned to, with its name."""
    overridden = {override.name for override in overrides}
    for package in resolution.packages:
        pins = [item.name for item in package.dependencies if item.name in overridden and item.is_pin]
        if pins and package.name not in overridden:
            yield package, pins[0]


def _line(override: Override) -> str:
    return override.requirement.pep508.replace('"', "'")


def _comment(package: ResolvedPackage) -> str:
    names = list(dict.fromkeys(str(requirement.origin) for requirement in package.wanted_by))
    if not names:
        return ""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"  # wanted by {', '.join(names[:_SHOWN])}{more}"


_RowT = TypeVar("_RowT", PackageWheel, PackageSdist)


def build_pylock(
    resolution: Resolution,
    target: Target,
    *,
    created_by: str,
    profile: str | None = None,
    overrides: Sequence[Override] = (),
    index_urls: Mapping[str, str] | None = None,
    chosen: bool = False,
    way: LockedWay | None = None,
    place: Callable[[str], str | None] = lambda _: None,
) -> Pylock:
    """Return the document for a resolution, which ``lock_text`` validates; ``index_urls`` maps index names to URLs.

    ``chosen``: a person chose the repair, so that it is kept when the lock is written again. ``way``: so is the index
    of the torch that a card got. ``place`` tells the path of a file in a folder of this machine by its `file:` URL.

    Raises ValueError where ``not_pinned`` yields something.
    """
    refused = tuple(not_pinned(resolution))
    if refused:
        raise ValueError("; ".join(f"{refusal.subject}: {refusal.message}" for refusal in refused))
    return Pylock(
        lock_version=Version("1.0"),
        environments=[_environment(target)],
        requires_python=SpecifierSet(f"=={target.python_version}.*"),
        created_by=created_by,
        packages=[_package(package, index_urls or {}, place) for package in resolution.packages],
        tool={"envdoctor": _tool(target, profile, overrides, way, chosen=chosen)},
    )


def lock_text(document: Pylock) -> str:
    """Return the TOML text of a lock, validated; the same document always gives the same text."""
    import tomli_w

    table = document.to_dict()
    # As ``validate`` does, which would make the table once more: with hundreds of packages most of the work.
    Pylock.from_dict(table)
    return tomli_w.dumps(_plain(table), multiline_strings=False)


def _environment(target: Target) -> Marker:
    environment = target.marker_environment()
    return Marker(
        f"sys_platform == '{environment['sys_platform']}' and platform_machine == '{environment['platform_machine']}'"
        f" and python_version == '{target.python_version}' and implementation_name == 'cpython'"
    )


def _package(package: ResolvedPackage, index_urls: Mapping[str, str], place: Callable[[str], str | None]) -> Package:
    file = package.file
    index = index_urls.get(file.index)
    # What no index of projects has lies in a folder of files; where an index is on the disk, its addresses are kept.
    placed = (lambda _: None) if index else place
    wheel = file.kind is FileKind.WHEEL
    dependencies = sorted({dependency.name for dependency in package.dependencies} - {package.name})
    return Package(
        name=package.name,
        version=package.version,
        dependencies=[{"name": name} for name in dependencies] or None,
        index=url_without_secrets(index) if index else None,
        wheels=_wheels(package, placed) if wheel else None,
        sdist=None if wheel else _row(PackageSdist, file, placed),
        tool=_package_tool(package),
    )


def _wheels(package: ResolvedPackage, place: Callable[[str], str | None]) -> list[PackageWheel]:
    """Return every wheel of the version that the target may use, best first.

    The machine at hand may promise less than the target (an older macOS or glibc): it then needs another than the best.
    """
    usable = [file for file in package.files if file.kind is FileKind.WHEEL and not file.stand_in and safe_hashes(file)]
    return [_row(PackageWheel, file, place) for file in usable]


def _row(kind: type[_RowT], file: DistributionFile, place: Callable[[str], str | None]) -> _RowT:
    path = place(file.url)
    return kind(
        name=file.filename,
        upload_time=_time(file.upload_time),
        url=url_without_secrets(file.url) if path is None else None,
        path=path,
        size=file.size,
        hashes=safe_hashes(file),
    )


def _time(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None


def _package_tool(package: ResolvedPackage) -> dict[str, Any] | None:
    """Say who wanted the package and what was set aside."""
    wanted, aside = _demands(package.wanted_by), _demands(package.set_aside)
    entry: dict[str, Any] = {}
    if wanted:
        entry["wanted-by"] = wanted
    if aside:
        entry["sets-aside"] = aside
    return {"envdoctor": entry} if entry else None


def _tool(
    target: Target, profile: str | None, overrides: Sequence[Override], way: LockedWay | None, *, chosen: bool
) -> dict[str, Any]:
    table: dict[str, Any] = {"target": target_row(target)}
    if profile:
        table["profile"] = profile
    if chosen:
        table["chosen"] = True
    if way is not None:
        table["way"] = way_row(way)
    if overrides:
        table["overrides"] = [override_row(override) for override in overrides]
    return table


def override_row(override: Override) -> dict[str, Any]:
    """Return an override as the lock's own table has it; ``pylock_reader.override_of_row`` reads it back."""
    return {
        "requirement": override.requirement.pep508,
        "sets-aside": _demands(override.sets_aside),
        "replaces": list(override.replaces),
        **({"because": override.because} if override.because else {}),
        **({"from-profile": True} if override.from_profile else {}),
        **({"from-project": True} if override.source is OverrideSource.PROJECT else {}),
    }


def _demands(requirements: Iterable[Requirement]) -> list[str]:
    """Return who asks for what, one text each; ``pylock_reader.demand_of_text`` reads it back."""
    return sorted({f"{requirement} ({requirement.origin})" for requirement in requirements})


def _plain(value: Any) -> Any:
    """Turn mappings and sequences of the model into what a TOML writer takes."""
    if isinstance(value, str):
        return value  # Nearly all are; to ask for abstract classes takes its time.
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_plain(item) for item in value]
    return value
