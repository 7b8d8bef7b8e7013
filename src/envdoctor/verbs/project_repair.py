"""``repair``: a repair as changes of the files that people wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.specifiers import SpecifierSet

from envdoctor.adapters.project.editing import Edit, NotEditable, edited
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin
from envdoctor.model.override import Override
from envdoctor.model.project import Project
from envdoctor.model.repair import FileChange, Repair
from envdoctor.model.report import Report, Scope, exit_code
from envdoctor.model.requirement import Requirement
from envdoctor.ports import Tell, UsageError

__all__ = [
    "ProjectRepair",
    "changes_of_repairs",
    "chosen_repair",
    "code_without_repair",
    "project_repair",
    "write_repair",
]


@dataclass(frozen=True, slots=True)
class ProjectRepair:
    """What of a repair files can say, and what is left to do by hand."""

    repair: Repair
    changes: tuple[FileChange, ...]
    by_hand: tuple[str, ...]
    added_to: str = ""
    """The file that gets pins which nobody asked for before."""

    def document(self, *, written: bool) -> dict[str, object]:
        """Return the repair as plain values, as ``repair --format json`` has them."""
        return {
            "repair": self.repair.id,
            "files": [{"path": change.path, "diff": change.diff()} for change in self.changes],
            "cautions": list(self.repair.cautions),
            "by_hand": list(self.by_hand),
            "written": written,
        }


def code_without_repair(report: Report) -> int:
    """Return the exit code where no repair is known: a conflict is left, or what was looked at is not everything."""
    return 1 if report.conflicts else exit_code(report, "never")


def chosen_repair(report: Report, number: int | None) -> Repair | None:
    """Return the repair of a number, without one that in use; None where none is known. Raises UsageError."""
    if not report.repairs:
        return None
    if number is None:
        return next((item for item in report.repairs if item.id in report.repairs_in_use), report.repairs[0])
    for repair in report.repairs:
        if repair.id == f"R{number}":
            return repair
    raise UsageError(f"there is no repair {number}; repairs: {', '.join(item.id for item in report.repairs)}")


def changes_of_repairs(report: Report) -> dict[str, tuple[FileChange, ...]]:
    """Return what each repair of a report changes in the project's files, by its id; nothing is written."""
    if report.parts or not report.scope.root:
        return {}
    root = Path(report.scope.root)
    found = {repair.id: project_repair(root, repair, report.scope).changes for repair in report.repairs}
    return {name: changes for name, changes in found.items() if changes}


def project_repair(root: Path, repair: Repair, scope: Scope) -> ProjectRepair:
    """Return the changes that a repair makes to files below ``root``; nothing is written."""
    repair = _installable(repair, scope)
    edits: dict[str, list[Edit]] = {}
    by_hand: list[str] = []
    added: list[Override] = []
    added_to = ""
    for override in repair.overrides:
        lines = [aside for aside in override.sets_aside if _stands_here(aside)]
        for aside in lines:
            edit = _edit(override, aside, instead=aside is lines[0])
            edits.setdefault(aside.origin.path, []).append(edit)  # type: ignore[union-attr]
        others = [aside for aside in override.sets_aside if aside not in lines]
        by_hand.extend(_overruled(override, aside) for aside in others)
        if not override.sets_aside:
            added.append(override)
    if added and not edits:
        by_hand.extend(f"add `{override.requirement}`" for override in added)
    elif added:
        added_to, found = next(iter(edits.items()))
        last = max(found, key=lambda edit: edit.line)
        pins = tuple(f"{override.name}{override.requirement.specifier}" for override in added)
        found[found.index(last)] = replace(last, added=(*last.added, *pins))
    made = [_change(root, path, found) for path, found in edits.items()]
    by_hand.extend(item for item in made if isinstance(item, str))
    # A line that was written by this repair before says what is wanted.
    changes = tuple(item for item in made if isinstance(item, FileChange) and item.before != item.after)
    return ProjectRepair(repair, changes, tuple(dict.fromkeys(by_hand)), added_to)


def _installable(repair: Repair, scope: Scope) -> Repair:
    """Return a repair without the labels of builds (``+cu132``) that come from no index of the files, and say so.

    A line with such a label can be installed from no index that they name; without it, it means each build.
    """
    overrides: list[Override] = []
    cautions = list(repair.cautions)
    for override in repair.overrides:
        label = _label(override.requirement)
        if not label or override.index in scope.own_indexes or label in map(_label, override.sets_aside):
            overrides.append(override)
            continue
        plain = replace(override.requirement, specifier=SpecifierSet(_public(override.requirement)))
        overrides.append(replace(override, requirement=plain))
        place = next((f"; it is on {row.value}" for row in scope.index_settings if row.name == override.index), "")
        pin = f"{plain.name}{plain.specifier}"
        cautions.append(f"`{pin}` is without `+{label}`: the project's files name no index with that build{place}")
    return replace(repair, overrides=tuple(overrides), cautions=tuple(cautions))


def _label(requirement: Requirement) -> str:
    """Return the local label of the version that a requirement pins; empty where it has none."""
    return next((clause.version.partition("+")[2] for clause in requirement.specifier if "+" in clause.version), "")


def _public(requirement: Requirement) -> str:
    clauses = ((clause.operator, clause.version.partition("+")[0]) for clause in requirement.specifier)
    return ",".join(f"{operator}{version}" for operator, version in clauses)


def _stands_here(line: Requirement) -> bool:
    return isinstance(line.origin, FileOrigin) and bool(line.origin.line) and not line.origin.elsewhere


def _is_elsewhere(line: Requirement) -> bool:
    return isinstance(line.origin, FileOrigin) and line.origin.elsewhere


def _change(root: Path, path: str, edits: Sequence[Edit]) -> FileChange | str:
    """Return the change of one file, else what is to be done by hand and why."""
    changed = [
        f"make `{edit.written}` `{edit.wanted}`" if edit.wanted else f"remove `{edit.written}`" for edit in edits
    ]
    wanted = ", ".join([*changed, *(f"add `{pin}`" for edit in edits for pin in edit.added)])
    try:
        with (root / path).open(encoding="utf-8", newline="") as file:
            before = file.read()
        return FileChange(path, before, edited(before, edits))
    except NotEditable as error:
        return f"`{path}` {error}; {wanted}"
    except UnicodeError:
        return f"`{path}` is no UTF-8; {wanted}"
    except OSError as error:
        return f"`{path}` cannot be read ({error.strerror or error}); {wanted}"


def _edit(override: Override, aside: Requirement, *, instead: bool) -> Edit:
    """Return the edit of one line; ``instead``: what stands in for the project is to stand there."""
    line = aside.origin.line if isinstance(aside.origin, FileOrigin) else None
    specifier = str(override.requirement.specifier)
    added = (str(override.instead),) if instead and override.instead is not None else ()
    return Edit(line or 0, aside.name, str(aside), None if override.leaves_out else specifier, added)


def _overruled(override: Override, aside: Requirement) -> str:
    instead = f"take `{override.name}{override.requirement.specifier}`"
    what = f"leave `{override.name}` out" if override.leaves_out else instead
    what += f" and take `{override.instead}`" if override.instead is not None else ""
    if aside.origin.kind == "distribution":
        return (
            f"{what} although {aside.origin} asks for `{aside}`: requirements cannot say that; `envdoctor lock` does, "
            "or `override-dependencies` of uv"
        )
    return f"{what} in place of `{aside}` ({aside.origin})"


def write_repair(root: Path, made: ProjectRepair, project: Project, again: Callable[[], Project], say: Tell) -> None:
    """Write the changes; where what is read then is not what the repair wants, all stays as it was.

    Raises UsageError.
    """
    from envdoctor.adapters.apply.executor import write_project_files
    from envdoctor.adapters.apply.holding import Busy
    from envdoctor.adapters.apply.paths import PathEscape

    files = {change.path: change.after.encode("utf-8") for change in made.changes}
    summary = tuple(f"repair {made.repair.id}: change {path}" for path in files)
    repositories = {url for url, _ in project.described}

    def comparable(requirements: Iterable[Requirement]) -> list[Requirement]:
        """Leave out what a repository says: names and lines that no second reading of the files brings."""
        return [line for line in requirements if line.url not in repositories and not _is_elsewhere(line)]

    expected = _expected(made, comparable(project.requirements))
    try:
        written = write_project_files(
            root, files, summary, say=say, holds=lambda: _counted(comparable(again().requirements)) == expected
        )
    except (OSError, Busy, PathEscape) as error:
        raise UsageError(f"nothing was changed: {getattr(error, 'strerror', None) or error}") from error
    if not written:
        raise UsageError(
            "the changed files would not say what the repair wants, and are as before; change them by hand"
        )


def _expected(made: ProjectRepair, requirements: Sequence[Requirement]) -> Counter[tuple[str, ...]]:
    """Return what is to be read of the changed files and all others afterwards."""
    changed = {change.path for change in made.changes}
    wanted = {
        (aside.origin, aside.name, str(aside)): override
        for override in made.repair.overrides
        for aside in override.sets_aside
    }
    found: list[Requirement] = []
    for requirement in requirements:
        override = wanted.get((requirement.origin, requirement.name, str(requirement)))
        if override is None or _path(requirement) not in changed:
            found.append(requirement)
        elif not override.leaves_out:
            found.append(replace(requirement, specifier=override.requirement.specifier))
    counted = _counted(found)
    for override in made.repair.overrides:
        if not override.sets_aside and made.added_to in changed:
            counted[_key(replace(override.requirement, marker=None), made.added_to)] += 1
        first = next((_path(line) for line in override.sets_aside if _stands_here(line)), "")
        if override.instead is not None and first in changed:
            counted[_key(override.instead, first)] += 1
    return counted


def _counted(requirements: Sequence[Requirement]) -> Counter[tuple[str, ...]]:
    return Counter(_key(requirement, _path(requirement)) for requirement in requirements)


def _key(requirement: Requirement, path: str) -> tuple[str, ...]:
    extras = ",".join(sorted(requirement.extras))
    return (path, requirement.name, extras, str(requirement.specifier), str(requirement.marker), str(requirement.url))


def _path(requirement: Requirement) -> str:
    return requirement.origin.path if isinstance(requirement.origin, FileOrigin) else str(requirement.origin)
