"""Which releases PyTorch's indexes carry as builds with a local label (``2.5.1+cu121``): for stand-ins alone.

Sources: PyTorch's list of previous versions and its release matrix; pytorch#147383 and PR#155509 for the end of CUDA
11.8. An index that can be reached is asked, never this table.
"""

from __future__ import annotations

from packaging.utils import NormalizedName
from packaging.version import Version

__all__ = ["built_with", "carries"]

# Label: the first release of torch with such builds, and the first without them again; None where no end is known.
_BUILDS: dict[str, tuple[str, str | None]] = {
    "cu113": ("1.10", "1.13"),
    "cu116": ("1.12", "2.0"),
    "cu117": ("1.13", "2.1"),
    "cu118": ("2.0", "2.8"),
    "cu121": ("2.1", "2.6"),
    "cu124": ("2.4", "2.7"),
    "cu126": ("2.6", None),
    "cu128": ("2.7", None),
    "cu129": ("2.8", None),
    "cu130": ("2.9", None),
    "rocm5.6": ("2.1", "2.2"),
    "rocm5.7": ("2.2", "2.4"),
    "rocm6.0": ("2.3", "2.5"),
    "rocm6.1": ("2.4", "2.7"),
    "rocm6.2": ("2.5", "2.6"),
    "rocm6.2.4": ("2.6", "2.8"),
    "rocm6.3": ("2.7", "2.10"),
    "rocm6.4": ("2.8", None),
}
# Projects whose files there carry the index's label. Not torchdata, triton, xformers and the NVIDIA libraries: the
# same files without a label are on the default index, so that nothing need stand in. torchtext has no GPU code.
_CARRIED = frozenset({"torch", "torchaudio", "torchvision"})
_CARRIED_FOR_CPU = _CARRIED | {"torchtext"}


def carries(label: str | None, project: NormalizedName | str) -> bool:
    """Return whether an index of this label is known to carry labelled builds of a project."""
    return label is not None and project in (_CARRIED_FOR_CPU if label == "cpu" else _CARRIED)


def built_with(label: str | None, project: NormalizedName | str, version: Version) -> bool:
    """Return whether a release can exist with a local label: builds of a label begin and end at some release."""
    known = _BUILDS.get(label or "")
    release = _release_of_torch(project, version)
    if known is None or release is None:
        return True
    first, ended = known
    return Version(first) <= release and (ended is None or release < Version(ended))


def _release_of_torch(project: NormalizedName | str, version: Version) -> Version | None:
    """Return the minor release of torch that a release of torch or of a companion was built with."""
    major, minor = version.major, version.minor
    if project == "torch" or (project == "torchaudio" and major >= 2):
        return Version(f"{major}.{minor}")
    if major == 0 and project == "torchaudio":
        return Version(f"1.{minor}")
    if major == 0 and project in ("torchvision", "torchtext"):
        # torchvision 0.15 and torchtext 0.15 came with torch 2.0; 0.14 with 1.13.
        return Version(f"2.{minor - 15}") if minor >= 15 else Version(f"1.{max(minor - 1, 0)}")
    return None
