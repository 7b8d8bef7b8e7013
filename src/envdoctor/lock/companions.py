"""Constraints and overrides files: the lock's content for tools that do not read locks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdoctor.model.override import Override
from envdoctor.model.resolution import Resolution, ResolvedPackage

__all__ = ["constraints_text", "overrides_text"]

_SHOWN = 3


def constraints_text(resolution: Resolution, profile: str | None, name: str) -> str:
    """Return ``name==version`` lines for ``pip install -c``; comments say who wants each package.

    ``name``: of the file that they are written to.
    """
    lines = [f"# Constraints of {_whose(profile)}: pip install -c {name} ..."]
    lines.extend(f"{package.name}=={package.version}{_comment(package)}" for package in resolution.packages)
    return "\n".join(lines) + "\n"


def overrides_text(overrides: Sequence[Override], resolution: Resolution, profile: str | None, name: str) -> str:
    """Return the overrides for ``uv pip install --overrides``; comments say what each sets aside.

    uv lets an override of torch stand for every demand on torch, torchvision's exact pin among them, and would then
    take any torchvision. So what is pinned to an overridden project is named too.
    """
    lines = [f"# Overrides of {_whose(profile)}: uv pip install --overrides {name} ..."]
    if not overrides:
        lines.append("# None: the requirements hold as they stand.")
        return "\n".join(lines) + "\n"
    for override in overrides:
        lines.extend(f"# sets aside {aside} ({aside.origin})" for aside in override.sets_aside)
        lines.append(_line(override))
    for package, pinned in _torn(overrides, resolution):
        lines += [f"# keeps {package.name} with {pinned}", f"{package.name}=={package.version}"]
    return "\n".join(lines) + "\n"


def _whose(profile: str | None) -> str:
    return f"profile {profile}" if profile else "the project"


def _torn(overrides: Sequence[Override], resolution: Resolution) -> Iterator[tuple[ResolvedPackage, str]]:
    """Yield packages that an override would tear from what they are pinned to, with its name."""
    overridden = {override.name for override in overrides}
    for package in resolution.packages:
        pins = [item.name for item in package.dependencies if item.name in overridden and item.is_pin]
        if pins and package.name not in overridden:
            yield package, pins[0]


def _line(override: Override) -> str:
    return override.requirement.pep508.replace('"', "'")


def _comment(package: ResolvedPackage) -> str:
    names = list(dict.fromkeys(str(requirement.origin) for requirement in package.wanted_by))
    if not names:
        return ""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"  # wanted by {', '.join(names[:_SHOWN])}{more}"
