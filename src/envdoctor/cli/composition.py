"""Puts a verb's ports together: project, profile, target and index from what the user typed."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.cli.errors import UsageFault
from envdoctor.cli.options import TargetArch, TargetBackend, TargetOs
from envdoctor.model.profile import Profile
from envdoctor.model.project import IndexOption, IndexOptionKind, Project
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target
from envdoctor.workflow.settings import Settings, SettingsError, parse_settings

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

    from envdoctor.adapters.index.opening import AnyIndex
    from envdoctor.adapters.index.settings import ExtraIndex
    from envdoctor.diagnose.examination import Sources
    from envdoctor.lock.reading import LockedProject
    from envdoctor.ports import Progress

__all__ = [
    "IndexChoice",
    "TargetChoice",
    "describes_requirements",
    "index_urls",
    "load_settings",
    "open_ports",
    "pick_profile",
    "pick_target",
    "read",
    "read_lock",
    "recognised_profile",
    "sources_of",
]

_OLDEST, _NEWEST = (3, 8), (3, 14)
_DEPTH = 4
_MOST_FILES = 5000


@dataclass(frozen=True, slots=True)
class TargetChoice:
    """Target options as typed."""

    os: TargetOs | None = None
    arch: TargetArch | None = None
    python: str | None = None
    backend: TargetBackend | None = None


@dataclass(frozen=True, slots=True)
class IndexChoice:
    """Index options as typed."""

    offline: bool = False
    index_url: str | None = None
    recorded: Path | None = None
    cache_dir: Path | None = None
    exclude_newer: str | None = None


def read(path: Path, profile: Profile | None, settings: Settings, target: Target | None = None) -> Project:
    """Read the project's files: those that the settings name, else those of the profile that are there, else all."""
    from envdoctor.adapters.project import ProjectFileError, read_project

    wanted: tuple[str, ...] = settings.requirements
    if not wanted and profile is not None and path.is_dir():
        wanted = tuple(name for name in profile.requirement_files if (path / name).is_file())
    environment = target.marker_environment() if target else None
    try:
        return read_project(path, files=wanted, groups=settings.groups, target_environment=environment)
    except ProjectFileError as error:
        raise UsageFault(str(error)) from error


def describes_requirements(path: Path) -> bool:
    """Return whether a directory holds anything that asks for packages; any other path is taken at its word."""
    from envdoctor.adapters.project import ProjectFileError, read_project

    if not path.is_dir():
        return True
    try:
        read_project(path)
    except ProjectFileError as error:
        return error.line is not None or "nothing here describes requirements" not in error.message
    return True


def sources_of(path: Path) -> Sources | None:
    """Return the project's text files for rules to read; a single requirements file has none."""
    from envdoctor.adapters.project.sources import open_sources

    return open_sources(path) if path.is_dir() else None


def load_settings(path: Path) -> Settings:
    """Return the ``[tool.envdoctor]`` table of the project's pyproject.toml, empty where there is none."""
    from envdoctor.lock.reading import tomllib

    file = path / "pyproject.toml" if path.is_dir() else path
    if file.name != "pyproject.toml" or not file.is_file():
        return Settings()
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8-sig")).get("tool", {}).get("envdoctor", {})
    except (OSError, ValueError, AttributeError):
        return Settings()  # The reader of projects says what is wrong with the file, with its line.
    if not isinstance(table, dict):
        raise UsageFault(f"{file}: tool.envdoctor: must be a table")
    try:
        return parse_settings(table)
    except SettingsError as error:
        raise UsageFault(*(f"{file}: {fault}" for fault in error.faults)) from error


def pick_profile(named: str | None, settings: Settings, path: Path) -> Profile | None:
    """Return the profile that the user typed or the project's settings name, None where neither does."""
    from envdoctor.profile import ProfileError, load_profile

    name = named or settings.profile
    if name is None:
        return None
    try:
        return load_profile(_beside(name, path) if named is None else name)
    except ProfileError as error:
        raise UsageFault(*str(error).splitlines()) from error


def _beside(name: str, path: Path) -> str:
    """Return a profile file named in pyproject.toml relative to that file."""
    if not name.endswith(".toml"):
        return name
    folder = path if path.is_dir() else path.parent
    return str(folder / name)


def recognised_profile(path: Path, project: Project, choice: TargetChoice, *, quiet: bool) -> Profile | None:
    """Return the shipped profile that recognises the project and fits the target as typed; said aloud on stderr."""
    from envdoctor.profile.catalogue import recognise

    names = [requirement.name for requirement in project.requirements]
    matches = recognise(_listing(path) if path.is_dir() else (), names, prefer_os=_host_target().os)
    best = next((match for match in matches if _fits(match.profile, choice)), None)
    if best is None:
        return None
    if not quiet:
        sys.stderr.write(f"note: taking profile `{best.profile.name}`: {best.reason}; `--profile` chooses another\n")
    return best.profile


def _fits(profile: Profile, choice: TargetChoice) -> bool:
    """Return whether no typed option contradicts the profile's target."""
    target = profile.target
    x86 = choice.arch in (TargetArch.X86_64, TargetArch.AMD64)
    return (
        (choice.os is None or choice.os.value == target.os.value)
        and (choice.backend is None or choice.backend.value == target.backend.value)
        and (choice.arch is None or x86 == (target.arch is Arch.X86_64))
    )


def _listing(root: Path) -> list[str]:
    """Return the files of the upper levels of a project, relative, without what environments and caches hold."""
    left_out = {".git", "node_modules", "__pycache__", "site-packages", ".venv", "venv"}
    found = []
    for folder, names, files in os.walk(root):
        depth = len(Path(folder).relative_to(root).parts)
        names[:] = [] if depth >= _DEPTH else sorted(set(names) - left_out)
        found += [Path(folder, name).relative_to(root).as_posix() for name in files]
        if len(found) > _MOST_FILES:
            break
    return found


def pick_target(
    choice: TargetChoice, profile: Profile | None, settings: Settings
) -> tuple[Target, tuple[tuple[int, int], ...]]:
    """Return the target, and the interpreters to try where neither the user nor the project names one."""
    from envdoctor.profile import python_choices, target_for

    python = _python(choice.python or settings.target_python)
    if profile is None:
        target = _host_target()
        choices: tuple[tuple[int, int], ...] = ()
    else:
        target = target_for(profile)
        choices = () if python else tuple(python_choices(profile))
    if choice.os is not None:
        target = replace(target, os=OperatingSystem(choice.os.value), wsl=target.wsl and choice.os is TargetOs.LINUX)
    target = replace(target, arch=_arch(choice, target))
    if choice.backend is not None:
        target = replace(target, backend=Backend(choice.backend.value))
    if python is not None:
        target = replace(target, python=python, python_full=None)
    elif choices:
        target = replace(target, python=choices[0])
    return target, choices


def _python(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    parts = text.strip().split(".")
    if len(parts) in (2, 3) and all(part.isdecimal() for part in parts):
        python = (int(parts[0]), int(parts[1]))
        if _OLDEST <= python <= _NEWEST:
            return python
    raise UsageFault(f"--target-python: `{text}` is not a CPython from 3.8 to 3.14; write it as 3.11")


def _arch(choice: TargetChoice, target: Target) -> Arch:
    """Return the architecture by the name that the target's operating system uses for it."""
    if choice.arch is not None:
        x86 = choice.arch in (TargetArch.X86_64, TargetArch.AMD64)
    elif choice.os is TargetOs.MACOS:
        x86 = False  # The Macs of this decade.
    else:
        x86 = target.arch is Arch.X86_64
    if x86:
        return Arch.X86_64
    return Arch.AARCH64 if target.os is OperatingSystem.LINUX else Arch.ARM64


def _host_target() -> Target:
    """Return the running machine as a target: the default where no profile and no option says otherwise."""
    import platform

    system = {"Windows": OperatingSystem.WINDOWS, "Darwin": OperatingSystem.MACOS}
    found = system.get(platform.system(), OperatingSystem.LINUX)
    x86 = platform.machine().lower() in ("x86_64", "amd64", "")
    arm = Arch.AARCH64 if found is OperatingSystem.LINUX else Arch.ARM64
    python = min(max(sys.version_info[:2], _OLDEST), _NEWEST)
    return Target(os=found, arch=Arch.X86_64 if x86 else arm, python=(python[0], python[1]))


def open_ports(choice: IndexChoice, profile: Profile | None, project: Project | None, progress: Progress) -> AnyIndex:
    """Return the index for a profile and a project; no request is made yet."""
    from envdoctor.adapters.index.opening import open_index
    from envdoctor.adapters.index.settings import IndexSettings
    from envdoctor.ports import IndexUnavailable

    if choice.recorded is not None and not choice.recorded.is_dir():
        raise UsageFault(f"--recorded-index: `{choice.recorded}` is not a directory")
    settings = IndexSettings(
        default_url=choice.index_url,
        bound=profile.indexes if profile else (),
        extra=_extra_indexes(project) if project else (),
        offline=choice.offline,
        cache_dir=choice.cache_dir,
        exclude_newer=choice.exclude_newer,
        recorded=choice.recorded,
    )
    try:
        return open_index(settings, progress)
    except IndexUnavailable as error:
        raise UsageFault(str(error)) from error
    except ValueError as error:
        raise UsageFault(f"--exclude-newer: {error}") from error


def index_urls(choice: IndexChoice, profile: Profile | None) -> dict[str, str]:
    """Return the URL of each index by its name, for a lock to name."""
    from envdoctor.adapters.index.opening import default_index_url
    from envdoctor.adapters.index.settings import IndexSettings
    from envdoctor.ports import IndexUnavailable

    urls = {entry.name: entry.url for entry in profile.indexes} if profile else {}
    if choice.recorded is None:
        try:
            urls["default"] = default_index_url(IndexSettings(default_url=choice.index_url))
        except IndexUnavailable as error:
            raise UsageFault(str(error)) from error
    return urls


def _extra_indexes(project: Project) -> tuple[ExtraIndex, ...]:
    """Return the indexes that the project's own files name, with the local versions that each may serve."""
    from envdoctor.adapters.index.settings import ExtraIndex, label_of

    labels = {
        (requirement.name, label)
        for requirement in project.requirements
        for label in (_local_label(requirement.specifier),)
        if label
    }
    found: dict[str, ExtraIndex] = {}
    for option in project.index_options:
        if option.kind is IndexOptionKind.NO_INDEX or option.url in found:
            continue
        flat = option.kind is IndexOptionKind.FIND_LINKS
        served = set(labels)
        label = label_of(option.url)
        if option.kind is IndexOptionKind.INDEX_URL and label:
            # A step that installs from this index alone takes its builds whether or not it names the label.
            served |= {(item.name, label) for item in project.requirements if item.index_url == option.url}
        found[option.url] = ExtraIndex(
            name=f"{label or 'extra'} of {option.origin}",
            url=_beside_its_file(project, option) if flat else option.url,
            labels=tuple(sorted(served)),
            flat=flat,
        )
    return tuple(found.values())


def _beside_its_file(project: Project, option: IndexOption) -> str:
    """Return a ``--find-links`` path made absolute: it is relative to the file that names it."""
    if "://" in option.url or Path(option.url).is_absolute():
        return option.url
    return str(Path(project.root, option.origin.path).parent / option.url)


def _local_label(specifier: SpecifierSet) -> str | None:
    """Return ``cu118`` for ``==2.1.1+cu118``, None where no clause names a local version."""
    for clause in specifier:
        _, plus, local = clause.version.partition("+")
        if plus:
            return local
    return None


def read_lock(project: Path, profile_name: str | None) -> LockedProject | None:
    """Return the lock beside the project, None where there is none."""
    from envdoctor.lock.reading import LockError, parse_lock

    folder = project if project.is_dir() else project.parent
    file = folder / (f"pylock.{profile_name}.toml" if profile_name else "pylock.toml")
    if not file.is_file():
        return None
    try:
        return parse_lock(file.read_text(encoding="utf-8"), file.name)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageFault(f"{file}: cannot be read: {error}") from error
    except LockError as error:
        raise UsageFault(str(error)) from error
