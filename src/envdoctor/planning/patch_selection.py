"""What of a profile's patches, stand-in modules and variables applies to an environment, and what was left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envdoctor.model.dataclass import dataclass
from envdoctor.model.profile import Patch, PatchKind, PlacementRule, Profile
from envdoctor.model.step import WriteStub

__all__ = ["Selection", "expand_variables", "select", "stand_ins"]


def stand_ins(profile: Profile | None) -> tuple[WriteStub, ...]:
    """Return a step for each module that the profile's exclusions name; the steps' ids are empty."""
    return tuple(
        WriteStub("", f"{module.replace('.', '/')}/__init__.py", module, _text(module, item.because))
        for item in (profile.excludes if profile is not None else ())
        for module in item.stubs
    )


def _text(module: str, because: str) -> str:
    """Return the module's source. The reason is a quoted string everywhere, so that none of it can become code."""
    reason = f"`{module}` is left out of this environment: {because}"
    return (
        f"{WriteStub.MARK} in place of `{module}`.\n"
        f"REASON = {reason!r}\n"
        '__version__ = "0"\n\n\n'
        "def __getattr__(name):\n"
        "    raise AttributeError(REASON)\n"
    )


@dataclass(frozen=True, slots=True)
class Selection:
    """The patches to apply, the variables to set, and what was left out."""

    patches: tuple[Patch, ...] = ()
    variables: Mapping[str, str] = ()  # type: ignore[assignment]
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def select(profile: Profile | None, versions: Mapping[str, str], moved: Collection[str] | None = None) -> Selection:
    """Return what of a profile applies. ``versions``: the packages that will be installed.

    ``moved``: components that their kernels send away from the GPU; None before any kernel was run, when only
    components that always go there count. A placement's ``set`` wins over a patch of the same name in the same file.
    """
    if profile is None:
        return Selection((), {})
    away = {rule.component for rule in profile.placements if rule.always} | set(moved or ())
    rules = [rule for rule in profile.placements if rule.component in away and rule.set is not None]
    placed = [patch for rule in rules for patch in _patches(rule)]
    taken = {(file, patch.attribute) for patch in placed for file in patch.files}
    patches: list[Patch] = []
    skipped: list[str] = []
    for patch in profile.patches:
        reason = _left_out(patch, away, versions)
        if reason is None and patch.kind is PatchKind.SET_ATTRIBUTE:
            rest = tuple(file for file in patch.files if (file, patch.attribute) not in taken)
            patch = replace(patch, files=rest)
            reason = None if rest else "its placement sets the same name"
        if reason is None:
            patches.append(patch)
        else:
            skipped.append(f"patch `{patch.name or patch.kind.value}`: {reason}")
    variables = {**profile.environment, **_variables(rules)}
    return Selection((*patches, *placed), variables, tuple(skipped), tuple(_notes(rules)))


def expand_variables(variables: Mapping[str, str], *, project: str, environment: str) -> dict[str, str]:
    """Return the variables with ``{project}`` and ``{environment}`` replaced by the folders."""
    return {
        name: value.replace("{project}", project).replace("{environment}", environment)
        for name, value in variables.items()
    }


def _left_out(patch: Patch, away: Collection[str], versions: Mapping[str, str]) -> str | None:
    if patch.component is not None and patch.component not in away:
        return f"only where kernels send `{patch.component}` away from the GPU"
    if patch.when is not None and not _holds(patch.when, versions):
        return f"`{patch.when}` does not hold"
    return None


def _holds(condition: str, versions: Mapping[str, str]) -> bool:
    wanted = Requirement(condition)
    version = versions.get(canonicalize_name(wanted.name))
    return version is not None and wanted.specifier.contains(version, prereleases=True)


def _patches(rule: PlacementRule) -> list[Patch]:
    where = rule.set
    if where is None or where.file is None or where.attribute is None:
        return []
    return [
        Patch(
            kind=PatchKind.SET_ATTRIBUTE,
            files=(where.file,),
            because=rule.because or f"`{rule.component}` runs on {rule.otherwise}",
            attribute=where.attribute,
            function=where.function,
            value=where.value or f'"{rule.otherwise}"',
            name=f"place-{rule.component}",
        )
    ]


def _variables(rules: list[PlacementRule]) -> dict[str, str]:
    return {
        rule.set.environment: rule.set.value if rule.set.value is not None else rule.otherwise
        for rule in rules
        if rule.set is not None and rule.set.environment is not None
    }


def _notes(rules: list[PlacementRule]) -> list[str]:
    return [
        f"start it with `{rule.set.argument} {rule.set.value or rule.otherwise}`: `{rule.component}` runs there"
        for rule in rules
        if rule.set is not None and rule.set.argument is not None
    ]
