"""A stack's checkout inside another project: where it is, and the profile as it reads from the outer one's root."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from envdoctor.model.profile import ListedProfile, Patch, PlacementRule, Profile

__all__ = ["folders_of_marks", "rooted"]

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
