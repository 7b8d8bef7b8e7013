"""A profile as text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from envdoctor.model.origin import Origin, ProfileOrigin
from envdoctor.model.override import PROJECT
from envdoctor.model.profile import (
    BoundIndex,
    Coupling,
    Exclusion,
    ListedProfile,
    Patch,
    PatchKind,
    PlacementRule,
    Profile,
    SystemNeed,
)
from envdoctor.model.requirement import RequirementKind
from envdoctor.profile.profile_target import python_choices

__all__ = ["listed", "show_text"]

_T = TypeVar("_T", Exclusion, Coupling, BoundIndex, Patch, SystemNeed, PlacementRule)

_VERBS = {
    PatchKind.GUARD_IMPORT: "guard the import of",
    PatchKind.STUB_FUNCTION: "empty the function",
    PatchKind.REPLACE_FUNCTION: "replace the function",
    PatchKind.SET_ATTRIBUTE: "set",
    PatchKind.SET_ARGUMENT: "set the argument",
    PatchKind.REPLACE_REQUIREMENT: "write the requirement",
    PatchKind.REPLACE_TEXT: "replace",
    PatchKind.REMOVE_FILE: "remove the file",
}


def show_text(profile: Profile) -> str:
    """Return everything that a profile says, with its reasons; readable without colour, no trailing newline."""
    blocks = [list(_head(profile))]
    for title, lines in _sections(profile):
        listed = list(lines)
        if listed:
            blocks.append([title, *(f"  {line}" for line in listed)])
    return "\n\n".join("\n".join(block) for block in blocks)


def _head(profile: Profile) -> Iterator[str]:
    target = profile.target
    yield f"{profile.name}: {profile.summary}"
    base = f", extends {profile.extends}" if profile.extends else ""
    yield f"from {profile.source}{base}"
    system = f"{target.os.value} {target.arch.value}{' (WSL)' if target.wsl else ''}"
    pythons = ", ".join(f"{major}.{minor}" for major, minor in python_choices(profile))
    cards = f", cards {', '.join(target.gpu_architectures)}" if target.gpu_architectures else ""
    yield f"for {system}, {target.backend.value}{cards}, Python {pythons}"


def _sections(profile: Profile) -> Iterator[tuple[str, Iterator[str]]]:
    yield "Adds", _requires(profile, RequirementKind.REQUIRE)
    yield "Bounds", _requires(profile, RequirementKind.CONSTRAINT)
    yield "Leaves out", _entries(profile, profile.excludes, _excluded)
    yield "Overrides", _overrides(profile)
    yield "Keeps together", _entries(profile, profile.couplings, lambda c: f"{', '.join(c.names)} ({c.rule.value})")
    yield (
        "Takes from other indexes",
        _entries(profile, profile.indexes, lambda i: f"{', '.join(i.packages)} from {i.name} ({i.url})"),
    )
    yield "Patches", _entries(profile, profile.patches, _patch)
    yield "Sets", (f"{name}={value}" for name, value in profile.environment.items())
    yield (
        "Needs from the system",
        _entries(profile, profile.system, lambda n: f"{n.name}{f' {n.minimum} or later' if n.minimum else ''}"),
    )
    yield "Proves with", _smoke(profile)
    yield "Places", _entries(profile, profile.placements, _placement)
    yield "Cannot", (caution.text for caution in profile.cautions)


def _entries(profile: Profile, items: Iterable[_T], said: Callable[[_T], str]) -> Iterator[str]:
    for item in items:
        what, *reasons = _reasoned(said(item), _key(profile, item.origin), item.because, getattr(item, "evidence", ""))
        yield what
        if isinstance(item, Patch) and item.symptom:
            yield f"  without it: {item.symptom}"
        yield from reasons


def _key(profile: Profile, origin: Origin | None) -> str:
    """Return the key path by which messages call an entry, with the name of the base that it comes from."""
    if not isinstance(origin, ProfileOrigin):
        return ""
    return origin.key if origin.name == profile.name else f"{origin.name}: {origin.key}"


def _reasoned(what: str, key: str, because: str, evidence: str) -> list[str]:
    lines = [f"{what}  # {key}" if key else what]
    if because:
        lines.append(f"  because {because}")
    if evidence:
        lines.append(f"  evidence: {evidence}")
    return lines


def _requires(profile: Profile, kind: RequirementKind) -> Iterator[str]:
    for item in profile.requires:
        if item.requirement.kind is kind:
            key = _key(profile, item.requirement.origin)
            yield from _reasoned(str(item.requirement), key, item.because, item.evidence)


def _excluded(item: Exclusion) -> str:
    if item.instead is not None:
        return f"{item.name}, for {item.instead} where that has a wheel"
    return f"{item.name}, with a stand-in for {', '.join(item.stubs)}" if item.stubs else str(item.name)


def _overrides(profile: Profile) -> Iterator[str]:
    for item in profile.overrides:
        whose = ", ".join("the project's own lines" if name == PROJECT else name for name in item.replaces)
        key = _key(profile, item.requirement.origin)
        yield from _reasoned(f"{item.requirement} in place of {whose or 'everybody'}", key, item.because, item.evidence)


def _patch(patch: Patch) -> str:
    subject = {
        PatchKind.GUARD_IMPORT: patch.module,
        PatchKind.STUB_FUNCTION: patch.function,
        PatchKind.REPLACE_FUNCTION: patch.function,
        PatchKind.SET_ATTRIBUTE: f"{patch.attribute} = {patch.value}",
        PatchKind.SET_ARGUMENT: f"{patch.argument}={patch.value} of {patch.call}",
        PatchKind.REPLACE_REQUIREMENT: patch.requirement,
        PatchKind.REPLACE_TEXT: f"`{_first_line(patch.find)}` by `{_first_line(patch.replace)}`",
        PatchKind.REMOVE_FILE: None,
    }[patch.kind]
    where = ", ".join(patch.files) + (" in site-packages" if patch.root == "site-packages" else "")
    only = [f"where {patch.component} is moved"] if patch.component else []
    only += [f"with {patch.when}"] if patch.when else []
    middle = f" {subject}" if subject else ""
    condition = f" ({', '.join(only)})" if only else ""
    return f"{where}: {_VERBS[patch.kind]}{middle}{condition}"


def _first_line(text: str | None) -> str:
    lines = (text or "").splitlines() or [""]
    return lines[0] + (" ..." if len(lines) > 1 else "")


def _smoke(profile: Profile) -> Iterator[str]:
    for title, names in (
        ("kernels", profile.smoke.kernels),
        ("workloads", profile.smoke.workloads),
        ("settings", profile.smoke.settings),
    ):
        if names:
            yield f"{title}: {', '.join(names)}"


def _placement(rule: PlacementRule) -> str:
    when = "always" if rule.always else f"when {' or '.join(rule.needs)} fails"
    return f"{rule.component} on {rule.otherwise}, {when}"


def listed(profiles: Iterable[ListedProfile]) -> list[tuple[str, str, str]]:
    """Return the rows of a list of profiles: name, machine and summary."""
    return [
        (item.name, f"{item.target.os.value} {item.target.arch.value}, {item.target.backend.value}", item.summary)
        for item in profiles
    ]
