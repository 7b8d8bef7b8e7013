"""Checked tables of a profile as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement as Pep508
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.model import profile as model
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.profile import Patch, PatchKind
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.model.target import Arch, Backend, OperatingSystem

if TYPE_CHECKING:
    from envdoctor.profile.merge import Entry, Merged

__all__ = ["build_profile", "profile_target"]

# The field of Patch that the key of each kind fills.
_SUBJECT = {
    PatchKind.GUARD_IMPORT: "module",
    PatchKind.STUB_FUNCTION: "function",
    PatchKind.REPLACE_FUNCTION: "function",
    PatchKind.SET_ATTRIBUTE: "attribute",
    PatchKind.SET_ARGUMENT: "argument",
    PatchKind.REPLACE_REQUIREMENT: "requirement",
    PatchKind.REPLACE_TEXT: "find",
}
_SAME = (
    "because",
    "evidence",
    "root",
    "name",
    "fallback",
    "source",
    "call",
    "value",
    "count",
    "component",
    "when",
    "symptom",
)


def build_patch(table: dict[str, Any], origin: ProfileOrigin) -> Patch:
    """Return the patch that a faultless table describes."""
    kind = next(kind for kind in PatchKind if kind.value in table)
    fields: dict[str, Any] = {key: table[key] for key in _SAME if key in table}
    if "function" in table:
        fields["function"] = table["function"]
    if "with" in table:
        fields["replace"] = table["with"]
    if kind in _SUBJECT:
        fields[_SUBJECT[kind]] = table[kind.value]
    files = tuple(table["files"]) if "files" in table else (table["file"],)
    return Patch(kind=kind, files=files, optional=table.get("optional", False), origin=origin, **fields)


def build_profile(merged: Merged, source: str) -> model.Profile:
    """Return the profile that a merged, faultless content describes."""
    about, project, smoke = merged.table("profile"), merged.table("project"), merged.table("smoke")
    return model.Profile(
        name=about["name"],
        summary=about["summary"],
        target=profile_target(merged.table("target")),
        source=source,
        extends=about.get("extends"),
        documentation=about.get("documentation", ""),
        recognise=tuple(project.get("recognise", ())),
        recognise_packages=_names(project.get("recognise-packages", ())),
        requirement_files=tuple(project.get("requirements", ())),
        requires=tuple(_requires(entry) for entry in merged.entries("requires")),
        excludes=tuple(_exclude(entry) for entry in merged.entries("exclude")),
        overrides=tuple(_override(entry) for entry in merged.entries("override")),
        couplings=tuple(_coupling(entry) for entry in merged.entries("coupled")),
        indexes=tuple(_index(entry) for entry in merged.entries("index")),
        patches=tuple(build_patch(entry.table, _origin(entry)) for entry in merged.entries("patch")),
        environment=dict(merged.table("environment")),
        system=tuple(_system(entry) for entry in merged.entries("system")),
        smoke=model.SmokeSpec(*(tuple(smoke.get(key, ())) for key in ("kernels", "workloads", "settings"))),
        placements=tuple(_placement(entry) for entry in merged.entries("placement")),
        environments=tuple(_environment(name, table) for name, table in merged.table("environments").items()),
        cautions=tuple(_caution(entry.table) for entry in merged.entries("caution")),
    )


def _names(names: Any) -> tuple[NormalizedName, ...]:
    return tuple(canonicalize_name(name) for name in names)


def _version(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def profile_target(table: dict[str, Any]) -> model.ProfileTarget:
    """Return the machines that a faultless table describes."""
    return model.ProfileTarget(
        os=OperatingSystem(table["os"]),
        arch=Arch(table["arch"]),
        python=SpecifierSet(table["python"]),
        backend=Backend(table["backend"]),
        glibc=_version(table.get("glibc")),
        macos=_version(table.get("macos")),
        gpu_architectures=tuple(table.get("gpu-architectures", ())),
        wsl=table.get("wsl", False),
        preferred_python=_version(table.get("preferred-python")),
    )


def _origin(entry: Entry) -> ProfileOrigin:
    return ProfileOrigin(entry.profile, entry.key_path)


def _requirement(
    entry: Entry, kind: RequirementKind = RequirementKind.REQUIRE, key: str = "requirement"
) -> Requirement:
    parsed = Pep508(entry.table[key])
    return Requirement(
        name=canonicalize_name(parsed.name),
        origin=_origin(entry),
        specifier=parsed.specifier,
        extras=frozenset(canonicalize_name(extra) for extra in parsed.extras),
        marker=parsed.marker,
        url=parsed.url,
        text=entry.table[key],
        kind=kind,
    )


def _requires(entry: Entry) -> model.ProfileRequirement:
    kind = RequirementKind(entry.table.get("kind", "require"))
    return model.ProfileRequirement(_requirement(entry, kind), entry.table["because"], entry.table.get("evidence", ""))


def _exclude(entry: Entry) -> model.Exclusion:
    table = entry.table
    return model.Exclusion(
        name=canonicalize_name(table["name"]),
        because=table["because"],
        evidence=table.get("evidence", ""),
        stubs=tuple(table.get("stubs", ())),
        instead=_instead(entry),
        origin=_origin(entry),
    )


def _instead(entry: Entry) -> Requirement | None:
    return _requirement(entry, key="instead") if "instead" in entry.table else None


def _override(entry: Entry) -> Override:
    table = entry.table
    return Override(
        _requirement(entry),
        because=table["because"],
        source=OverrideSource.PROFILE,
        replaces=_names(table.get("replaces", ())),
        evidence=table.get("evidence", ""),
    )


def _coupling(entry: Entry) -> model.Coupling:
    table = entry.table
    rule = model.CouplingRule(table["rule"])
    return model.Coupling(_names(table["names"]), rule, table.get("because", ""), _origin(entry))


def _index(entry: Entry) -> model.BoundIndex:
    table = entry.table
    return model.BoundIndex(
        name=table["name"],
        url=table["url"],
        packages=_names(table["packages"]),
        because=table.get("because", ""),
        local_label=table.get("local-label"),
        flat=table.get("flat", False),
        origin=_origin(entry),
    )


def _system(entry: Entry) -> model.SystemNeed:
    table = entry.table
    return model.SystemNeed(
        name=table["name"],
        because=table["because"],
        only_for=_names(table.get("only-for", ())),
        install=dict(table.get("install", {})),
        minimum=table.get("minimum"),
        evidence=table.get("evidence", ""),
        origin=_origin(entry),
    )


def _placement(entry: Entry) -> model.PlacementRule:
    table = entry.table
    where = table.get("set")
    return model.PlacementRule(
        component=table["component"],
        needs=tuple(table.get("needs", ())),
        otherwise=table.get("otherwise", "cpu"),
        always=table.get("always", False),
        set=model.SetAttribute(**where) if where is not None else None,
        because=table.get("because", ""),
        evidence=table.get("evidence", ""),
        origin=_origin(entry),
    )


def _caution(table: dict[str, Any]) -> model.Caution:
    return model.Caution(
        table["text"],
        evidence=table.get("evidence", ""),
        when=table.get("when"),
        python=SpecifierSet(table["python"]) if "python" in table else None,
        file=table.get("file"),
        os=OperatingSystem(table["os"]) if "os" in table else None,
        several_cards=table.get("several-cards", False),
    )


def _environment(name: str, table: dict[str, Any]) -> model.EnvironmentSpec:
    return model.EnvironmentSpec(
        name=name,
        python=SpecifierSet(table["python"]) if "python" in table else None,
        backend=Backend(table["backend"]) if "backend" in table else None,
        requirements=tuple(table.get("requirements", ())),
        packages=_names(table.get("packages", ())),
        because=table.get("because", ""),
    )
