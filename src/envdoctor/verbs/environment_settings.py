"""The settings that kernels pass with, as an environment sets them for every program that imports torch in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from envdoctor.adapters.smoke.startup_hook import carried, hook_files, is_written, settings_in_force, variables_of
from envdoctor.model.kernel import KernelStatus
from envdoctor.model.profile import Profile
from envdoctor.model.report import Report
from envdoctor.model.step import PlannedFile, WriteStartup

__all__ = ["needed_settings", "settings_of", "startup_of", "with_settings"]

_AT_START = ("PYTHON", "PIP_")
"""Begin the names of variables that are read before anything could set them."""


def settings_of(profile: Profile | None, found: Sequence[str], files: Sequence[PlannedFile]) -> tuple[str, ...]:
    """Return the settings of an environment: the profile's, then those that kernels called for; none without torch."""
    if profile is None or not any(file.name == "torch" for file in files):
        return ()
    return carried((*profile.smoke.settings, *found))


def with_settings(settings: Sequence[str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return variables with those that settings consist of; what a profile sets itself counts for more."""
    return {**variables_of(settings), **variables}


def startup_of(settings: Sequence[str], variables: Mapping[str, str], site_packages: str) -> WriteStartup | None:
    """Return the step that writes the start-up hook; None where it is as it should be, or nothing is to be set.

    ``variables``: those that kernels are run with; ``site_packages``: of the environment as it is, empty without one.
    """
    if not settings and not settings_in_force((site_packages,)):
        return None
    kept = {name: value for name, value in variables.items() if not name.startswith(_AT_START)}
    kept = with_settings(settings, kept) if settings else {}
    files = hook_files(settings, kept)
    if site_packages and is_written(Path(site_packages), files):
        return None
    return WriteStartup("", tuple(settings), kept, files)


def needed_settings(profile: Profile, report: Report) -> tuple[str, ...]:
    """Return the settings under which alone kernels passed that a component needs where it is placed."""
    away = {item.component for item in report.placement if item.away}
    needed = {name for rule in profile.placements if rule.component not in away for name in rule.needs}
    found = [
        result.setting
        for result in report.kernels
        if result.setting is not None and result.status is not KernelStatus.PASSED and result.kernel in needed
    ]
    return carried(found)
