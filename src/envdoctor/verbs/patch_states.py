"""Which of a profile's patches fit a project as it is: nothing is changed by asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.adapters.apply.trees import Tree
    from envdoctor.model.plan import PatchState
    from envdoctor.model.profile import Patch, Profile

__all__ = ["patch_states"]


def patch_states(profile: Profile | None, project: Path) -> tuple[PatchState, ...]:
    """Return how each patch of the project's own files stands, in the profile's order; nothing for a single file."""
    if profile is None or not project.is_dir():
        return ()
    patches = [patch for patch in profile.patches if patch.root == "project"]
    return tuple(_state(patches, number, project) for number in range(len(patches)))


def _state(patches: Sequence[Patch], number: int, project: Path) -> PatchState:
    from envdoctor.adapters.apply.paths import PathEscape
    from envdoctor.adapters.apply.preview import name_of, preview_patches
    from envdoctor.adapters.apply.trees import FolderTree
    from envdoctor.model.plan import PatchState

    patch, tree = patches[number], FolderTree(project)
    trees: dict[str, Tree] = {"project": tree, "site-packages": tree}
    name = name_of(patch)
    try:
        here = tuple(path for glob in patch.files for path in tree.match(glob))
    except PathEscape as error:  # A link that leads out of the project; a fix refuses it, too.
        return PatchState(name, patch.files, "misfit", str(error))
    if not here:
        return PatchState(name, patch.files, "optional" if patch.optional else "absent")
    made = preview_patches([patch], trees)
    if made.refusals and _fits_after(patches, number, trees):
        return PatchState(name, here, "fits")
    if made.refusals:
        return PatchState(name, here, "misfit", made.refusals[0].message)
    if made.skipped:
        return PatchState(name, here, "optional", made.skipped[0])
    return PatchState(name, here, "fits" if made.steps else "applied")


def _fits_after(patches: Sequence[Patch], number: int, trees: Mapping[str, Tree]) -> bool:
    """Return whether a patch fits what those before it make of its file."""
    from envdoctor.adapters.apply.preview import preview_patches

    before = preview_patches(patches[:number], trees)
    return len(preview_patches(patches[: number + 1], trees).refusals) == len(before.refusals)
