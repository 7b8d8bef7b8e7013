"""An installed environment, read without importing anything of it."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal, NamedTuple

from envdoctor.model.dataclass import dataclass

if TYPE_CHECKING:
    from packaging.pylock import Pylock
    from packaging.utils import NormalizedName

    from envdoctor.model.override import Override

__all__ = [
    "CondaPackage",
    "EnvironmentKind",
    "EnvironmentLock",
    "EnvironmentProblem",
    "EnvironmentProblemKind",
    "ImportOutcome",
    "InstalledDistribution",
    "InstalledEnvironment",
    "InstalledFile",
    "Interpreter",
    "Isolation",
    "PatchedFile",
    "Platform",
    "Venv",
    "is_code",
    "of_the_system",
]


class EnvironmentKind(enum.Enum):
    """What an environment is on the disk, or in a text."""

    VENV = "venv"
    CONDA = "conda"
    PREFIX = "prefix"
    """An installed Python."""
    FOLDER = "folder"
    """A bare site-packages folder."""
    LISTING = "listing"
    """No folder: what pip, uv, conda or collect_env wrote, or facts."""


@dataclass(frozen=True, slots=True)
class Venv:
    """What ``pyvenv.cfg`` says."""

    home: str
    """The folder of the Python that it was made with; empty where it is not told."""
    system_site: bool = False
    """Whether the packages of that Python are let in."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """What an interpreter said of itself, or a listing in its place; empty is what neither told."""

    platform: str = ""
    """As ``sys.platform`` says it."""
    machine: str = ""
    markers: Mapping[str, str] = field(default_factory=dict)
    """Its PEP 508 environment, without ``extra``; whole or empty."""
    prefix: str = ""
    user_site: str = ""
    """The folder of the user site; empty where that is off, too."""
    externally_managed: bool = False
    """Whether the operating system manages its packages (PEP 668)."""
    free_threaded: bool = False
    glibc: str = ""
    """``glibc 2.36``."""


@dataclass(frozen=True, slots=True)
class Platform:
    """What most of the compiled wheels are for; empty where none tells."""

    system: str = ""
    """As ``sys.platform`` says it."""
    machine: str = ""


@dataclass(frozen=True, slots=True)
class Isolation:
    """What of this machine reaches into an environment; not looked at for one that may be of another machine."""

    variables: Mapping[str, str] = field(default_factory=dict)
    """The environment variables that matter here and are set."""
    path_programs: Mapping[str, str] = field(default_factory=dict)
    """``python`` and ``pip`` on PATH: name to full path."""
    pip_config: tuple[tuple[str, str, str], ...] = ()
    """pip's settings that move installs elsewhere: file or variable, key, value."""
    path_modules: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The modules that lie in each folder of PYTHONPATH without being installed there."""
    doctor: str = ""
    """The prefix of the interpreter that envdoctor itself runs in."""


class CondaPackage(NamedTuple):
    """A package that conda installed, of any language."""

    name: str
    version: str
    build: str
    channel: str


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """A file that a fix has patched, and how it is by now."""

    path: str
    distribution: str
    """Empty where it is the project's."""
    patches: tuple[str, ...]
    state: Literal["patched", "reverted", "changed", "gone"]


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
    build_label: str = ""
    """What torch, or a companion of it, itself says of its build (``cu128``), where the metadata has no label."""
    wheel_tags: tuple[str, ...] = ()
    """``Tag`` lines of WHEEL."""
    provides_extra: tuple[str, ...] = ()
    """Extras it declares, names normalised (PEP 685)."""


_CODE = re.compile(r"\.(?:py|so(?:\.\d+)*|pyd|dll|dylib|exe)$")


def is_code(path: str) -> bool:
    """Return whether a recorded file is a module, a library or a program."""
    return _CODE.search(path) is not None


class EnvironmentProblemKind(enum.Enum):
    """What is wrong with an environment."""

    LEFTOVER = enum.auto()
    NO_METADATA = enum.auto()
    UNREADABLE_METADATA = enum.auto()
    MISSING_FILE = enum.auto()
    CHANGED_FILE = enum.auto()
    DAMAGED_FILE = enum.auto()
    """Emptied, or filled with NULs: what a full disk or a power cut leaves."""
    UNREADABLE_FILE = enum.auto()
    """Its content was to be compared."""
    NO_RECORD = enum.auto()
    SOURCE_GONE = enum.auto()
    """Of an editable install."""
    FORBIDDEN = enum.auto()
    """A file or folder that this user may not read: what is in it is not known, and not missing."""
    CUT_SHORT = enum.auto()
    """A fix, or the undo of one, that did not end."""
    NO_OWNER = enum.auto()
    """A package's folder of which no distribution knows."""
    BASE_GONE = enum.auto()
    BASE_CHANGED = enum.auto()
    INTERPRETER_FAILED = enum.auto()
    INTERPRETER_TIMEOUT = enum.auto()
    INTERPRETER_OLD = enum.auto()
    INTERPRETER_NEW = enum.auto()
    NO_INTERPRETER = enum.auto()
    FOREIGN_INTERPRETER = enum.auto()
    """Its Python runs, and is another environment's."""
    NO_SITE_PACKAGES = enum.auto()
    FOREIGN_SCRIPT = enum.auto()
    UNREADABLE_LINE = enum.auto()
    """Of a listing."""
    REQUIREMENTS_NOT_TOLD = enum.auto()
    PYTHON_NOT_TOLD = enum.auto()
    SYSTEM_NOT_TOLD = enum.auto()
    NOT_TOLD = enum.auto()
    """What else so short a listing cannot tell."""


@dataclass(frozen=True, slots=True)
class EnvironmentProblem:
    """Something that kept part of an environment from being read, or that reading showed to be wrong."""

    kind: EnvironmentProblemKind
    subject: str
    """The path, distribution or program it is about."""
    detail: str
    path: str = ""
    """The file that is missing or changed, as the RECORD has it."""

    @property
    def loses_code(self) -> bool:
        """Return whether a module or library is missing or damaged, so that what it belongs to cannot work."""
        lost = self.kind in (EnvironmentProblemKind.MISSING_FILE, EnvironmentProblemKind.DAMAGED_FILE)
        return lost and is_code(self.path)


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """How importing a module went, in a child process of the interpreter in question."""

    module: str
    status: str
    """``imported``, ``missing`` (no such module), ``raised``, ``crashed``, ``timed-out`` or ``not-run``."""
    detail: str = ""
    """``SIGABRT``; ``OSError: libcudart.so.12: cannot open shared object file``; ``did not end within 30 s``."""
    seconds: float = 0.0
    version: str | None = None
    """The module's ``__version__``, where it was imported."""
    file: str | None = None
    """Where the module was imported from."""
    output: str = ""
    """The end of what the child wrote to stderr."""


@dataclass(frozen=True, slots=True)
class EnvironmentLock:
    """The lock that an environment should agree with."""

    document: Pylock
    path: str
    overrides: tuple[Override, ...] = ()
    """What was set aside on purpose when it was written."""


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
    kind: EnvironmentKind = EnvironmentKind.FOLDER
    venv: Venv | None = None
    told: Interpreter = Interpreter()
    built_for: Platform = Platform()
    """Looked up only where no interpreter told."""
    isolation: Isolation | None = None
    pth: tuple[tuple[str, int, str], ...] = ()
    """Lines of ``.pth`` files that run code: file, line number, text."""
    conda_packages: tuple[CondaPackage, ...] = ()
    imports: Mapping[str, ImportOutcome] = field(default_factory=dict)
    """By module; those that were tried."""
    patched: tuple[PatchedFile, ...] = ()
    settings: tuple[str, ...] = ()
    """What its Python sets at each start, once torch is imported."""
    settings_wanted: tuple[str, ...] = ()
    """What a fix had it set."""
    partial: bool = False
    """True where a listing shows a choice of what is installed: the rest may be there all the same."""
    lock: EnvironmentLock | None = None
    """Of the fix that made it, else the one beside the project."""
    problems: tuple[EnvironmentProblem, ...] = ()

    def get(self, name: str) -> InstalledDistribution | None:
        """Return the first distribution called ``name`` (normalised), or None."""
        for distribution in self.distributions:
            if distribution.name == name:
                return distribution
        return None


def of_the_system(distribution: InstalledDistribution) -> bool:
    """Return whether the system keeps it: Debian's folder for its own packages, or what rpm wrote as the installer."""
    if distribution.installer in ("rpm", "debian", "apt"):
        return True
    debian = distribution.location.endswith("dist-packages") and "/local/" not in distribution.location
    return debian and distribution.installer not in ("pip", "uv")
