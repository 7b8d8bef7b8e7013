"""Which extras and dependency groups of a file are read, and which of them decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packaging.utils import canonicalize_name

from envdoctor.adapters.project.draft import Draft
from envdoctor.model.dataclass import dataclass
from envdoctor.model.project import GroupChoice
from envdoctor.model.requirement import GroupKind, GroupName

__all__ = ["Wanted", "groups_of"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The project's own choice, which leaves the rest to be read apart; or no more than a line names of another one."""

    choice: GroupChoice = GroupChoice()
    apart: bool = False
    """Whether groups that nobody asks for are read as well, apart from the main list."""
    main: bool = True
    """Whether the main list is read."""
    of: str = ""
    """The member of the workspace that it is about; empty: the project itself."""

    @classmethod
    def own(cls, choice: GroupChoice) -> Wanted:
        """Return what is read of the project itself."""
        return cls(choice, apart=True, main=not choice.only)

    @classmethod
    def of_line(cls, extras: Iterable[str]) -> Wanted:
        """Return what is read of a project that a line names, ``./path[extra]``."""
        return cls(GroupChoice(extras=tuple(extras)))

    @classmethod
    def of_member(cls, extras: Iterable[str], folder: str) -> Wanted:
        """Return what is read of a member of the workspace: what nobody asks for is judged beside its main list."""
        return cls(GroupChoice(extras=tuple(extras)), apart=True, of=folder)

    def asks_for(self, group: GroupName) -> bool:
        """Return whether somebody asks for a group."""
        choice = self.choice
        if group.kind is GroupKind.GROUP and choice.all_groups:
            return True
        named = choice.extras if group.kind is GroupKind.EXTRA else (*choice.groups, *choice.only)
        return canonicalize_name(group.name) in {canonicalize_name(name) for name in (*named, *choice.either)}


def groups_of(draft: Draft, kind: GroupKind, names: Iterable[str], wanted: Wanted) -> Iterator[GroupName]:
    """Yield the groups to be read, one after another: what is read until the next one counts as read for it."""
    for name in names:
        group = GroupName(kind, name, wanted.of)
        draft.known_groups[group] = None
        asked = wanted.asks_for(group)
        if asked or wanted.apart:
            with draft.reading(group, asked=asked):
                yield group
