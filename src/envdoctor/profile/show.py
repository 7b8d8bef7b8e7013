"""A profile as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.model.profile import Exclusion, Patch, PatchKind, Profile
from envdoctor.model.requirement import RequirementKind
from envdoctor.profile.pythons import python_choices

__all__ = ["show_text"]

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
    yield "Leaves out", _flat(_reasoned(_excluded(e), e.because, e.evidence) for e in profile.excludes)
    yield "Overrides", _overrides(profile)
    yield "Keeps together", (f"{', '.join(c.names)} ({c.rule.value})" for c in profile.couplings)
    yield (
        "Takes from other indexes",
        _flat(_reasoned(f"{', '.join(i.packages)} from {i.name} ({i.url})", i.because, "") for i in profile.indexes),
    )
    yield "Patches", _flat(_reasoned(_patch(p), p.because, p.evidence) for p in profile.patches)
    yield "Sets", (f"{name}={value}" for name, value in profile.environment.items())
    yield (
        "Needs from the system",
        _flat(
            _reasoned(f"{n.name}{f' {n.minimum} or later' if n.minimum else ''}", n.because, n.evidence)
            for n in profile.system
        ),
    )
    yield "Proves with", _smoke(profile)
    yield "Places", _placements(profile)
    yield "Cannot", iter(profile.cautions)


def _flat(groups: Iterator[list[str]]) -> Iterator[str]:
    for group in groups:
        yield from group


def _reasoned(what: str, because: str, evidence: str) -> list[str]:
    lines = [what]
    if because:
        lines.append(f"  because {because}")
    if evidence:
        lines.append(f"  evidence: {evidence}")
    return lines


def _requires(profile: Profile, kind: RequirementKind) -> Iterator[str]:
    for item in profile.requires:
        if item.requirement.kind is kind:
            yield from _reasoned(str(item.requirement), item.because, item.evidence)


def _excluded(item: Exclusion) -> str:
    return f"{item.name}, with a stand-in for {', '.join(item.stubs)}" if item.stubs else str(item.name)


def _overrides(profile: Profile) -> Iterator[str]:
    for item in profile.overrides:
        whose = ", ".join("the project's own lines" if name == "project" else name for name in item.replaces)
        yield from _reasoned(f"{item.requirement} in place of {whose or 'everybody'}", item.because, item.evidence)


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


def _placements(profile: Profile) -> Iterator[str]:
    for rule in profile.placements:
        when = "always" if rule.always else f"when {' or '.join(rule.needs)} fails"
        yield from _reasoned(f"{rule.component} on {rule.otherwise}, {when}", rule.because, rule.evidence)
