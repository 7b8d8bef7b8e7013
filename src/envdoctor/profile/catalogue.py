"""The shipped profiles, which of them a project looks like, and a stack's checkout inside another project."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.model.dataclass import dataclass
from envdoctor.model.profile import ListedProfile, Patch, PlacementRule, Profile
from envdoctor.model.target import OperatingSystem
from envdoctor.profile.build import profile_target
from envdoctor.shipped import shipped_folder, shipped_names
from envdoctor.toml_tables import read_toml

__all__ = ["Match", "catalogue", "folders_of_marks", "recognise", "rooted"]

_WILD = frozenset("*?[")


def folders_of_marks(profile: ListedProfile | Profile, files: Collection[str]) -> tuple[str, ...]:
    """Return the folders below the root that look like the stack's checkout, those with the most marks first.

    ``files``: relative, with forward slashes. Such a folder has each marking file that is named without a wildcard, two
    at least, and a requirements file of the profile; one mark alone, or a copy of the sources, is no checkout.
    """
    plain = [mark for mark in profile.recognise if not _WILD & set(mark)]
    if len(plain) < 2 or not profile.requirement_files:
        return ()
    known = set(files)
    ends = {name.removesuffix(f"/{plain[0]}") for name in files if name.endswith(f"/{plain[0]}")}
    return tuple(
        folder
        for folder in sorted(ends, key=lambda folder: (folder.count("/"), folder))
        if all(f"{folder}/{mark}" in known for mark in plain)
        and any(f"{folder}/{name}" in known for name in profile.requirement_files)
    )


def rooted(profile: Profile, folder: str) -> Profile:
    """Return the profile for a project that has the stack's checkout in ``folder``."""
    return replace(
        profile,
        place=folder,
        requirement_files=tuple(f"{folder}/{name}" for name in profile.requirement_files),
        patches=tuple(_patch(patch, folder) for patch in profile.patches),
        environments=tuple(
            replace(spec, requirements=_below(spec.requirements, folder)) for spec in profile.environments
        ),
        placements=tuple(_placement(rule, folder) for rule in profile.placements),
        environment={
            name: value.replace("{project}", f"{{project}}/{folder}") for name, value in profile.environment.items()
        },
    )


def _patch(patch: Patch, folder: str) -> Patch:
    return replace(patch, files=_below(patch.files, folder)) if patch.root == "project" else patch


def _placement(rule: PlacementRule, folder: str) -> PlacementRule:
    if rule.set is None or rule.set.file is None:
        return rule
    return replace(rule, set=replace(rule.set, file=f"{folder}/{rule.set.file}"))


def _below(names: Sequence[str], folder: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" for name in names)


# A single mark proves nothing: other projects have an `inference.py`, or ask for one of the packages.
_ENOUGH_MARKS = 2


@dataclass(frozen=True, slots=True)
class Match:
    """A profile that a project looks like, and why."""

    of: ListedProfile | Profile
    score: float
    """From above 0 to 3: the share of the marking files, that of the marking requirements, and 1 for the name."""
    reason: str
    """One line to be said aloud."""
    asked_for: tuple[str, ...] = ()
    """What the profile would add, and the project asks for itself."""
    place: str = ""
    """The folder of the project that is the stack's checkout; empty: the project itself."""

    @property
    def profile(self) -> Profile:
        """The whole of it, as it reads for this project. Raises ProfileError where it is broken."""
        from envdoctor.profile.load import load_profile

        whole = self.of if isinstance(self.of, Profile) else load_profile(self.of.name)
        return rooted(whole, self.place) if self.place else whole


@lru_cache(maxsize=1)
def catalogue() -> tuple[ListedProfile, ...]:
    """Return every shipped profile that can be used, by name."""
    names = shipped_names()
    texts = {name: (shipped_folder() / f"{name}.toml").read_text(encoding="utf-8") for name in names}
    files = {name: read_toml(text) for name, text in texts.items()}

    def table(name: str, of: str) -> dict[str, Any]:
        base = files[name]["profile"].get("extends")
        inherited = table(base, of) if base is not None else {}
        return {**inherited, **files[name].get(of, {})}

    def required(name: str) -> set[NormalizedName]:
        base = files[name]["profile"].get("extends")
        own = (row for row in files[name].get("requires", ()) if row.get("kind") != "constraint")
        found = {canonicalize_name(re.split(r"[^\w.-]", row["requirement"], maxsplit=1)[0]) for row in own}
        return found | (required(base) if base is not None else set())

    def listed(name: str) -> ListedProfile:
        project = table(name, "project")
        return ListedProfile(
            name,
            files[name]["profile"]["summary"],
            profile_target(table(name, "target")),
            tuple(project.get("recognise", ())),
            tuple(map(canonicalize_name, project.get("recognise-packages", ()))),
            tuple(project.get("requirements", ())),
            tuple(sorted(required(name))),
        )

    return tuple(listed(name) for name in names if not files[name]["profile"].get("abstract", False))


def recognise(
    project_files: Sequence[str] | Callable[[], Sequence[str]],
    requirements: Iterable[str],
    *,
    called: str | None = None,
    prefer_os: OperatingSystem | None = None,
    elsewhere: Collection[str] = (),
    profiles: Sequence[ListedProfile | Profile] | None = None,
) -> list[Match]:
    """Return the profiles that a project looks like, best first: by several marks, or by the project's own name.

    ``project_files`` are paths relative to the project root with forward slashes (or a function that lists them, asked
    once); ``requirements`` are the names of projects it asks for, ``elsewhere`` those of them that it asks for on other
    systems alone, which mark a stack and choose no profile of it; ``called`` is its own name. Profiles of one stack
    match equally well: among equals that whose own packages the project asks for comes first, then those for
    ``prefer_os``, then by name. An equal ``score`` of the first two means that a person must choose.
    """
    files = list(project_files() if callable(project_files) else project_files)
    names: set[str] = {canonicalize_name(name) for name in requirements}
    here = names - set(map(canonicalize_name, elsewhere))
    found = [
        replace(match, asked_for=tuple(name for name in profile.required if name in here))
        for profile in profiles or catalogue()
        if (match := _match(profile, files, names, called or "") or _nested(profile, files)) is not None
    ]
    return sorted(found, key=lambda m: (-m.score, -len(m.asked_for), m.of.target.os is not prefer_os, m.of.name))


def _match(profile: ListedProfile | Profile, files: Sequence[str], names: set[str], called: str) -> Match | None:
    marks = [mark for mark in profile.recognise if _present(mark, files)]
    packages = [name for name in profile.recognise_packages if name in names]
    by_name = bool(called) and canonicalize_name(called) == profile.name.partition("-")[0]
    if not by_name and len(marks) + len(packages) < _ENOUGH_MARKS:
        return None
    if not by_name and not marks and 2 * len(packages) <= len(profile.recognise_packages):
        return None  # Half of a long list is in many a project: openai-whisper, g2p-en and descript-audiotools, say.
    score = float(by_name) + _share(marks, profile.recognise) + _share(packages, profile.recognise_packages)
    said = [f"is called `{called}`"] if by_name else []
    if marks:
        said.append(f"has {_listed(marks)}")
    if packages:
        said.append(f"asks for {_listed(packages)}")
    return Match(profile, score, " and ".join(said))


def _nested(profile: ListedProfile | Profile, files: Sequence[str]) -> Match | None:
    """Return the match of a project that has the stack's checkout inside, below any that is the stack itself."""
    folders = folders_of_marks(profile, files)
    if not folders:
        return None
    return Match(profile, 0.5, f"`{folders[0]}` is its checkout", place=folders[0])


def _share(found: Sequence[str], wanted: Sequence[str]) -> float:
    return round(len(found) / len(wanted), 4) if wanted else 0.0


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _present(mark: str, files: Sequence[str]) -> bool:
    if not any(character in mark for character in "*?["):
        return mark in files
    expression = _expression(mark)
    return any(expression.fullmatch(name) for name in files)


@lru_cache(maxsize=256)
def _expression(glob: str) -> re.Pattern[str]:
    """Return a glob as an expression: ``**/`` is any number of folders, ``*`` stays in one."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meaning.get(part, re.escape(part)) for part in parts))
