"""Puts a verb's ports together: project, profile, target and index from what the user typed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from packaging.utils import canonicalize_name

from envdoctor.diagnose.examination import Sources
from envdoctor.diagnose.host_needs import card_against
from envdoctor.lock.pylock_reader import LockedProject
from envdoctor.model.fact import Facts
from envdoctor.model.profile import ListedProfile, Profile, ProfileTarget
from envdoctor.model.project import GroupChoice, Project
from envdoctor.model.requirement import may_hold
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target, TargetArch
from envdoctor.ports import Tell, UsageError
from envdoctor.toml_tables import Document
from envdoctor.verbs.index_choice import (
    IndexChoice,
    index_settings,
    index_urls,
    open_ports,
    upload_settings,
    with_machines_builds,
)
from envdoctor.verbs.patient import Patient
from envdoctor.verbs.settings import Settings, further_profile, further_profiles, parse_settings
from envdoctor.verbs.target_choice import (
    TargetChoice,
    for_environment_python,
    host_target,
    pick_target,
    system_of,
)

__all__ = [
    "IndexChoice",
    "TargetChoice",
    "asked_python",
    "describes_requirements",
    "index_settings",
    "index_urls",
    "load_settings",
    "lock_name",
    "open_ports",
    "pick_profile",
    "pick_target",
    "placed",
    "project_of",
    "read",
    "read_lock",
    "recognised_profile",
    "sources_of",
    "upload_settings",
    "with_image",
    "with_machines_builds",
]

_DEPTH = 4
_HIGHEST = 4
"""Folders above a folder in which its project is looked for."""
_MOST_FILES = 5000


def read(
    path: Path,
    profile: Profile | None,
    settings: Settings,
    target: Target | None = None,
    groups: GroupChoice = GroupChoice(),  # noqa: B008 - immutable
) -> Project:
    """Read the project's files: those that the settings name, else those of the profile that are there, else all."""
    from envdoctor.adapters.project import ProjectFileError, read_project

    wanted: tuple[str, ...] = settings.requirements
    if not wanted and profile is not None and path.is_dir():
        wanted = tuple(name for name in profile.requirement_files if (path / name).is_file())
    more: tuple[str, ...] = ()
    if profile is not None and profile.place and wanted and describes_requirements(path):
        # The outer project's own lists, and those of the checkout inside it.
        wanted, more = (), wanted
    environment = target.marker_environment() if target else None
    try:
        return read_project(
            path,
            files=wanted,
            more=more,
            choice=replace(groups, either=settings.groups),
            target_environment=environment,
            target_backend=target.backend.value if target else "",
        )
    except ProjectFileError as error:
        place = (path if path.is_dir() else path.parent) / error.path
        # What is wrong with the project as a whole is told by the path as it was typed.
        shown = str(place) if error.path != str(path) and place.exists() else error.path
        raise UsageError(str(ProjectFileError(shown, error.line, error.message))) from error


def project_of(folder: Path, tell: Tell) -> Path:
    """Return the project that a path is about: itself, or the one above a folder that describes none; said aloud."""
    if not folder.is_dir() or describes_requirements(folder):
        return folder
    here = folder.resolve()
    # Outside a checkout nothing shows that the two belong together.
    in_checkout = any((above / ".git").exists() for above in here.parents) and not (here / ".git").exists()
    for above in list(here.parents)[:_HIGHEST] if in_checkout else ():
        if above in (Path.home(), Path(above.anchor)):
            break
        if describes_requirements(above, by_the_way=False):
            tell(f"taking the project above, `{above}`: `{folder}` describes no requirements")
            return above
        if (above / ".git").exists():
            break
    return folder


def describes_requirements(path: Path, *, by_the_way: bool = True) -> bool:
    """Return whether a directory holds anything that asks for packages; any other path is taken at its word.

    ``by_the_way``: a script, a notebook or a Dockerfile that nothing marks as what installs a project is enough.
    """
    from envdoctor.adapters.project import ProjectFileError
    from envdoctor.adapters.project.discovery import look_into

    if not path.is_dir():
        return True
    try:
        found = look_into(path, str(path), None)
    except ProjectFileError as error:
        return not error.empty
    return by_the_way or bool(found.standard or found.conda or found.chosen or found.scripts or found.no_files)


def sources_of(path: Path) -> Sources | None:
    """Return the project's text files for rules to read; a single requirements file has none."""
    from envdoctor.adapters.project.sources import open_sources

    return open_sources(path) if path.is_dir() or path.suffix.lower() == ".ipynb" else None


def load_settings(path: Path) -> Settings:
    """Return the ``[tool.envdoctor]`` table of the project's pyproject.toml, empty where there is none."""
    file = path / "pyproject.toml" if path.is_dir() else path
    if file.name != "pyproject.toml" or not os.path.isfile(file):
        return Settings()
    try:
        document = Document(file.read_text(encoding="utf-8-sig"), str(file))
    except (OSError, ValueError):
        return Settings()  # The reader of projects says what is wrong with the file, with its line.
    settings = parse_settings(document.table("tool", "envdoctor"))
    if document.faults.found:
        raise UsageError(*document.faults.texts())
    return settings


def pick_profile(named: str | None, settings: Settings, path: Path) -> Profile | None:
    """Return the profile that the user typed or the project's settings name, None where neither does."""
    name = named or settings.profile
    if name is None:
        return None
    from envdoctor.profile.load import load_profile
    from envdoctor.profile.validation import ProfileError

    try:
        further = None if name.endswith(".toml") else further_profile(name, settings, path)
        return further or load_profile(_beside(name, path) if named is None else name)
    except ProfileError as error:
        raise UsageError(*str(error).splitlines()) from error


def placed(profile: Profile | None, path: Path, tell: Tell) -> Profile | None:
    """Return a named profile as it reads for a project that has the stack's checkout inside; said aloud."""
    from envdoctor.profile.catalogue import folders_of_marks, rooted

    if profile is None or profile.place or not path.is_dir():
        return profile
    listing = _listing(path)
    if any(mark in listing for mark in profile.recognise):
        return profile
    folders = folders_of_marks(profile, listing)
    if not folders:
        return profile
    tell(f"profile `{profile.name}` is for `{folders[0]}`, a checkout inside this project")
    return rooted(profile, folders[0])


def _beside(name: str, path: Path) -> str:
    """Return a profile file named in pyproject.toml relative to that file."""
    if not name.endswith(".toml"):
        return name
    folder = path if path.is_dir() else path.parent
    return str(folder / name)


def recognised_profile(
    path: Path,
    project: Project,
    choice: TargetChoice,
    patient: Patient | None,
    *,
    tell: Tell,
    settings: Settings = Settings(),  # noqa: B008 - immutable
) -> Profile | None:
    """Return the profile that recognises the project and fits the target as typed, of others' first; said aloud.

    A system, or cards, of an environment or facts that the user points at contradict a profile as an option does.
    """
    from envdoctor.profile.catalogue import catalogue, recognise

    listing = _listing(path) if path.is_dir() else ()
    every: list[ListedProfile | Profile] = [*further_profiles(settings, path), *catalogue()]
    system = system_of(patient) if patient is not None else None
    matches = recognise(
        listing,
        [requirement.name for requirement in project.requirements],
        called=project.name,
        prefer_os=host_target().os,
        elsewhere=_asked_elsewhere(project, choice, system),
        profiles=every,
    )
    fitting = [match for match in matches if _fits(match.of.target, choice, system)]
    if not fitting:
        return None
    first = fitting[0]
    meant = matches[0]
    if meant.score == first.score and (more := set(meant.asked_for) - set(first.asked_for)):
        asked = f"the project asks for `{min(more)}`, which belongs to `{meant.of.name}`"
        tell(f"not taking profile `{first.of.name}`: {asked}")
        return None
    facts = patient.facts if patient is not None else Facts()
    # Of one stack's profiles for one system, that for the card that is known.
    equal = [one for one in fitting if (one.score, one.of.target.os) == (first.score, first.of.target.os)]
    best = next((match for match in equal if not _card_against(match.of.target, facts)), None)
    if best is None:
        contrary = _card_against(first.of.target, facts)
        tell(f"not taking profile `{first.of.name}`: it is for {first.of.target.backend.value}, {contrary}")
        return None
    tell(f"taking profile `{best.of.name}`: {best.reason}; `--profile` chooses another")
    return best.profile


def _asked_elsewhere(project: Project, choice: TargetChoice, system: str | None) -> frozenset[str]:
    """Return what the project asks for on other systems than the one that is meant, by its markers."""
    known = OperatingSystem(system) if system in {item.value for item in OperatingSystem} else host_target().os
    environment = replace(host_target(), os=choice.os or known).marker_environment()
    here = {line.name for line in project.requirements if may_hold(line.marker, environment)}
    return frozenset(line.name for line in project.requirements) - here


def _card_against(target: ProfileTarget, facts: Facts) -> str:
    """Return why a known card speaks against a profile that nobody named; empty where none does."""
    typed = [fact for fact in facts.of_cards() if fact.source == "--gpu"]
    if target.backend is Backend.CPU and typed:
        return "and `--gpu` names a card"
    return card_against(target.backend, facts)


def asked_python(
    project: Project, target: Target, choices: tuple[tuple[int, int], ...], *, tell: Tell
) -> tuple[Target, tuple[tuple[int, int], ...]]:
    """Return target and interpreters for the Python that the project's files choose; said aloud."""
    wanted, origin = project.chosen_python
    if wanted is None:
        return target, choices
    asked = for_environment_python(target, choices, wanted)
    if asked != (target, choices):
        several = ", ".join(f"{major}.{minor}" for major, minor in asked[1])
        which = f"the first Python of {several} that resolves" if several else f"Python {asked[0].python_version}"
        which += ", the nearest that is known" if asked[0].python_assumed else ""
        tell(f"taking {which}: {origin} asks for `python {wanted}`; `--target-python` chooses another")
    return asked


def with_image(project: Project, tell: Tell, *, chosen: bool) -> Project:
    """Return the project with what the image of its Dockerfile has, torch said aloud.

    Without it where torch is ``chosen`` anew, by a profile or for the card.
    """
    for one in project.brought:
        if one.name == "torch" and one.version is not None and not chosen:
            why = "an installer leaves what is there and fits"
            tell(f"taking torch {one.version} of the image `{one.image}` ({one.origin}) where it may stay: {why}")
    return replace(project, brought=()) if chosen else project


def _fits(target: ProfileTarget, choice: TargetChoice, system: str | None) -> bool:
    """Return whether no typed option, and no system that the user points at, contradicts the profile's target."""
    named = choice.os.value if choice.os is not None else system
    x86 = choice.arch in (TargetArch.X86_64, TargetArch.AMD64)
    return (
        named in (None, target.os.value)
        and (choice.named_backend is None or choice.named_backend.value == target.backend.value)
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


def lock_name(profile: str | None, part: str, groups: GroupChoice) -> str:
    """Return the NAME of ``pylock.NAME.toml``, empty for ``pylock.toml``: profile, environment, and lists asked for.

    What was typed beside the main list has a lock of its own, so that it takes the place of no other.
    """
    typed = [f"extra-{name}" for name in groups.extras] + [f"group-{name}" for name in groups.groups]
    typed += [f"only-{name}" for name in groups.only] + (["all-groups"] if groups.all_groups else [])
    words = [profile or "", part, *sorted({str(canonicalize_name(name)) for name in typed})]
    return "-".join(filter(None, words))


def read_lock(
    project: Path, name: str | None, target: Target, choices: tuple[tuple[int, int], ...] = ()
) -> LockedProject | None:
    """Return the lock beside the project, None where there is none; of a joined one the part for the target."""
    folder = project if project.is_dir() else project.parent
    file = folder / (f"pylock.{name}.toml" if name else "pylock.toml")
    if not file.is_file():
        return None
    from envdoctor.lock.joined import part_of
    from envdoctor.lock.pylock_reader import LockError, locked_project, read_pylock

    try:
        document = read_pylock(file.read_text(encoding="utf-8"), file.name)
        return locked_project(part_of(document, target, choices), file.name)
    except PermissionError:
        return None  # The reader of projects names it among what was not read.
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read: {error}") from error
    except LockError as error:
        from envdoctor.adapters.project.discovery import is_own_lock
        from envdoctor.adapters.project.toml_document import glance

        if glance(file) and not is_own_lock(file):
            return None  # Another tool's, which the reader of projects takes as a list of what it pins.
        raise UsageError(f"{error}; remove it to lock anew") from error
