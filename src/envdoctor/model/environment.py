"""An installed environment, read without importing anything of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from packaging.utils import NormalizedName

__all__ = ["EnvironmentProblem", "InstalledDistribution", "InstalledEnvironment", "InstalledFile"]


@dataclass(frozen=True, slots=True)
class InstalledFile:
    """One row of a RECORD (or of an egg-info's installed-files list)."""

    path: str
    """Relative to the site-packages folder, forward slashes."""
    hash: str | None = None
    """``sha256=<urlsafe base64>`` as RECORD writes it."""
    size: int | None = None
    """Bytes."""


@dataclass(frozen=True, slots=True)
class InstalledDistribution:
    """One distribution of an environment."""

    name: NormalizedName
    version: str
    requires_dist: tuple[str, ...] = ()
    requires_python: str | None = None
    location: str = ""
    """The site-packages folder that holds it; empty where only a list was given."""
    metadata_path: str = ""
    installer: str | None = None
    direct_url: str | None = None
    editable: bool = False
    top_level: tuple[str, ...] = ()
    files: tuple[InstalledFile, ...] | None = None
    """None where no RECORD was there, or where it was not asked for."""
    wheel_tags: tuple[str, ...] = ()
    """``Tag`` lines of WHEEL."""


@dataclass(frozen=True, slots=True)
class EnvironmentProblem:
    """Something that kept part of an environment from being read."""

    kind: str
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class InstalledEnvironment:
    """The distributions of one environment and what is known of its interpreter."""

    distributions: tuple[InstalledDistribution, ...]
    source: str = "folder"
    """``probe``, ``folder``, ``pip freeze``, ``pip list``, ``conda list``, ``collect_env``."""
    root: str = ""
    python: tuple[int, int] | None = None
    python_full: str | None = None
    executable: str | None = None
    site_packages: tuple[str, ...] = ()
    search_path: tuple[str, ...] = ()
    """The interpreter's ``sys.path``, in order, where a probe told."""
    details: dict[str, object] = field(default_factory=dict, compare=False)
    """Further answers of the probe: user site, prefixes, variables, pth files."""
    problems: tuple[EnvironmentProblem, ...] = ()

    def get(self, name: str) -> InstalledDistribution | None:
        """Return the first distribution called ``name`` (normalised), or None."""
        for distribution in self.distributions:
            if distribution.name == name:
                return distribution
        return None
