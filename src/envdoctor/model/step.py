"""The steps that a fix consists of: what each does and to what, in one sentence for a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar, TypeAlias

from packaging.utils import NormalizedName

from envdoctor.model.dataclass import dataclass
from envdoctor.model.profile import Patch

__all__ = [
    "BuildSdist",
    "CreateEnvironment",
    "DownloadFiles",
    "InstallFromLock",
    "PatchFile",
    "PatchLater",
    "PlannedFile",
    "RemoveDistribution",
    "RemoveFile",
    "Step",
    "WriteRecord",
    "WriteStartup",
    "WriteStub",
    "WriteVariables",
]


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One distribution file, exactly as the lock names it."""

    name: NormalizedName
    version: str
    filename: str
    url: str
    hashes: tuple[tuple[str, str], ...]
    """``(algorithm, hexadecimal digest)`` pairs; never empty in a plan without refusals."""
    size: int | None = None
    """Bytes."""
    index: str = "default"
    sdist: bool = False

    @property
    def best_hash(self) -> tuple[str, str] | None:
        """The strongest digest that installers check, None where there is none."""
        known = dict(self.hashes)
        return next(((name, known[name]) for name in ("sha512", "sha384", "sha256") if name in known), None)


@dataclass(frozen=True, slots=True)
class CreateEnvironment:
    """Make a virtual environment."""

    kind: ClassVar[str] = "create-environment"
    id: str
    path: str
    python: str
    """``3.11``."""
    interpreter: str
    """The executable that it is made with; empty where it is another machine's."""
    tool: str
    """``uv`` or ``venv``."""

    @property
    def sentence(self) -> str:
        """What it does, in words."""
        interpreter = f"`{self.interpreter}`" if self.interpreter else "that machine's own"
        return f"create the environment `{self.path}` with Python {self.python} ({interpreter}, {self.tool})"


@dataclass(frozen=True, slots=True)
class DownloadFiles:
    """Fetch every file that is to be installed, and check its hash, before anything is changed."""

    kind: ClassVar[str] = "download-files"
    id: str
    files: tuple[PlannedFile, ...]

    @property
    def total(self) -> int:
        """Bytes, as far as they are known."""
        return sum(file.size or 0 for file in self.files)

    @property
    def sentence(self) -> str:
        """What it does, in words."""
        one = len(self.files) == 1
        return f"download {_count(len(self.files), 'file')} and check {'its hash' if one else 'their hashes'}"


@dataclass(frozen=True, slots=True)
class BuildSdist:
    """Build a wheel of one source distribution; this runs that project's code."""

    kind: ClassVar[str] = "build-sdist"
    id: str
    file: PlannedFile
    variables: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    """What the build needs from the system; all of it was found."""

    @property
    def sentence(self) -> str:
        """What it does, in words."""
        needs = f" with {', '.join(self.needs)}" if self.needs else ""
        return f"build `{self.file.name}` {self.file.version} from source{needs}"


@dataclass(frozen=True, slots=True)
class RemoveDistribution:
    """Take a distribution out of the environment."""

    kind: ClassVar[str] = "remove-distribution"
    id: str
    name: NormalizedName
    version: str
    because: str

    @property
    def sentence(self) -> str:
        """What it does, in words."""
        return f"remove `{self.name}` {self.version}: {self.because}"


@dataclass(frozen=True, slots=True)
class InstallFromLock:
    """Install files with their hashes and nothing that they ask for: the lock has all that is needed."""

    kind: ClassVar[str] = "install-from-lock"
    id: str
    files: tuple[PlannedFile, ...]
    installer: str
    """``uv`` or ``pip``."""
    replaces: tuple[tuple[NormalizedName, str], ...] = ()
    """Name and version of what is there now and goes."""

    @property
    def sentence(self) -> str:
        """What it does, in words."""
        versions = {file.name: file.version for file in self.files}
        others = sum(versions.get(name) != version for name, version in self.replaces)
        replaced = f", in place of {_count(others, 'other version')}" if others else ""
        what = _count(len(self.files), "package")
        return f"install {what} with {self.installer}, hashes checked, dependencies not followed{replaced}"


@dataclass(frozen=True, slots=True)
class PatchFile:
    """Change one file; refused where it is not what was looked at."""

    kind: ClassVar[str] = "patch-file"
    id: str
    path: str
    """Relative to ``root``, forward slashes."""
    root: str
    """``project`` or ``site-packages``."""
    patches: tuple[str, ...]
    """Names of the profile's patches, in their order; none where the file becomes what it was before any."""
    expected: str
    """SHA-256 of the file as it is; empty where an earlier patch has taken it away."""
    result: str
    """SHA-256 of the file as it will be."""
    diff: str
    content: bytes = field(default=b"", repr=False)
    distribution: str = ""
    """The package that the file belongs to, under ``site-packages``."""

    @property
    def sentence(self) -> str:
        """What it does, in words."""
        where = f" of `{self.distribution}`" if self.distribution else ""
        if not self.patches:
            return f"take the patches of `{self.path}`{where} back"
        return f"patch `{self.path}`{where} ({', '.join(self.patches)})"


@dataclass(frozen=True, slots=True)
class RemoveFile:
    """Take one file away; the journal keeps it."""

    kind: ClassVar[str] = "remove-file"
    id: str
    path: str
    root: str
    expected: str
    patch: str

    @property
    def sentence(self) -> str:
        """What it does, in words."""
        return f"remove `{self.path}` ({self.patch})"


@dataclass(frozen=True, slots=True)
class PatchLater:
    """Patch a file that only a build will make; what it looks like cannot be known before."""

    kind: ClassVar[str] = "patch-later"
    id: str
    patch: Patch
    name: str

    @property
    def sentence(self) -> str:
        """What it does, in words."""
        return f"patch `{', '.join(self.patch.files)}` once it is built ({self.name}); all is taken back if it differs"


@dataclass(frozen=True, slots=True)
class WriteStub:
    """Put an empty module where something asks whether one exists."""

    kind: ClassVar[str] = "write-stub"
    MARK: ClassVar[str] = "# Written by `envdoctor fix`"
    """What its text begins with; a file that begins so is no one else's."""
    id: str
    path: str
    """Relative to ``site-packages``."""
    module: str
    content: str

    @property
    def sentence(self) -> str:
        """What it does, in words."""
        return f"write an empty stand-in for the module `{self.module}` (`{self.path}` in site-packages)"


@dataclass(frozen=True, slots=True)
class WriteStartup:
    """Set what kernels passed with, whenever the environment's Python imports torch."""

    kind: ClassVar[str] = "write-startup"
    FOLDER: ClassVar[str] = "_envdoctor_settings"
    """Its package in ``site-packages``; beside it lies a ``.pth`` file of the same name."""
    id: str
    settings: tuple[str, ...]
    """``cudnn-off``; what `envdoctor smoke` calls them."""
    variables: Mapping[str, str]
    """Set as well, where the program's own environment does not."""
    files: Mapping[str, str]
    """Text by path, relative to ``site-packages``."""

    @property
    def sentence(self) -> str:
        """What it does, in words."""
        what = ", ".join((*self.settings, *sorted(self.variables))) or "nothing any more"
        files = ", ".join(f"`{path}`" for path in self.files)
        return f"set at each start of this environment's Python, once torch is imported: {what} ({files})"


@dataclass(frozen=True, slots=True)
class WriteVariables:
    """Record the environment variables that `envdoctor run` sets, with scripts that set them in a shell."""

    kind: ClassVar[str] = "write-variables"
    id: str
    variables: Mapping[str, str]

    @property
    def sentence(self) -> str:
        """What it does, in words."""
        return f"set {', '.join(sorted(self.variables))} for `envdoctor run`"


@dataclass(frozen=True, slots=True)
class WriteRecord:
    """Write a file into the environment's ``.envdoctor`` folder: the lock it was built from, what was patched."""

    kind: ClassVar[str] = "write-record"
    id: str
    path: str
    """Relative to ``.envdoctor``."""
    content: str
    what: str

    @property
    def sentence(self) -> str:
        """What it does, in words."""
        return f"record {self.what} in `.envdoctor/{self.path}`"


Step: TypeAlias = (
    CreateEnvironment
    | DownloadFiles
    | BuildSdist
    | RemoveDistribution
    | InstallFromLock
    | PatchFile
    | RemoveFile
    | PatchLater
    | WriteStub
    | WriteStartup
    | WriteVariables
    | WriteRecord
)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
