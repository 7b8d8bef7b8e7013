"""Why a treatment must not begin, each reason with what to do; variables that a profile may not set are among them.

A profile can come from anywhere, and a project can name its own. Variables such as LD_PRELOAD, PYTHONSTARTUP or PATH
decide which code runs; what is admitted here tunes libraries and places data, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import InstalledDistribution
from envdoctor.model.profile import Profile
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.step import PlannedFile
from envdoctor.model.target import dotted

__all__ = ["BuildState", "EnvironmentState", "refusals_of", "refused_variables"]

ADMITTED = (
    *("CUDA_*", "CUBLAS*", "CUDNN_*", "NCCL_*", "NVIDIA_*", "HIP_*", "HSA_*", "ROCM_*", "ROCBLAS_*", "HIPBLASLT_*"),
    *("MIOPEN_*", "AMD_*", "GPU_*", "ZLUDA_*", "DISABLE_ADDMM_*", "PYTORCH_*", "TORCH_*", "TORCHINDUCTOR_*"),
    *(
        "TORCHDYNAMO_*",
        "TRITON_*",
        "FLASH_ATTENTION_*",
        "ORT_*",
        "DIRECTML_*",
        "DML_*",
        "OMP_*",
        "MKL_*",
        "KMP_*",
        "OPENBLAS_*",
        "NUMEXPR_*",
    ),
    *("SYCL_*", "ZE_*", "UR_*", "IPEX_*", "TF_*", "XLA_*", "JAX_*", "HF_*", "TRANSFORMERS_*", "DIFFUSERS_*"),
    *("TOKENIZERS_*", "SAFETENSORS_*", "GRADIO_*", "PHONEMIZER_*", "ESPEAK_*", "LIBROSA_*", "DEEPSPEED"),
    *("DS_*", "ACCELERATE_*", "MPLBACKEND", "MAX_JOBS", "USE_CUDA", "FORCE_CUDA", "*_DEVICE", "LANG", "LC_*", "TZ"),
    *("PYTHONNOUSERSITE", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PIP_USER"),
)
"""Names, ``*`` for any text. ``PYTHONPATH`` is admitted besides, for folders of the project alone."""
_ADMITTED = re.compile("|".join(re.escape(name).replace(r"\*", ".*") for name in ADMITTED))
# Of the families above: a library that is loaded into the process, a program that is run, a host that is asked.
_LOADS = re.compile(r".*(_INJECTION\d*_PATH|_TOOLS?_LIB(RARIES)?|_PLUGIN|_PRELOAD)|HF_ENDPOINT|TORCH_LOGS_OUT")


def refused_variables(variables: Mapping[str, str], project: str, allowed: frozenset[str]) -> Iterator[Refusal]:
    """Yield a refusal for each variable that is set neither from the list above nor with the user's word.

    ``variables``: as they will be set, folders filled in. ``allowed``: names that the user has typed.
    """
    for name, value in sorted(variables.items()):
        if name in allowed or _is_admitted(name, value, project):
            continue
        yield Refusal(
            RefusalKind.VARIABLE,
            name,
            f"the profile sets `{name}` to `{value[:80]}`, which can decide what code runs",
            f"where you trust the profile, say so with `--allow-variable {name}`",
        )


def _is_admitted(name: str, value: str, project: str) -> bool:
    if name == "PYTHONPATH":
        own = (f"{project}/", f"{project}\\", f"{project}:", f"{project};")
        folders = [part for part in re.split(r";|:(?!\\)", value) if part]
        return bool(project) and ".." not in value and all(f"{part}/".startswith(own) for part in folders)
    return _ADMITTED.fullmatch(name) is not None and _LOADS.fullmatch(name) is None


@dataclass(frozen=True, slots=True)
class EnvironmentState:
    """An environment as it is, or the place where one will be."""

    path: str
    exists: bool
    python: tuple[int, int] | None = None
    python_full: str | None = None
    """``3.11.7``, where its Python runs."""
    distributions: tuple[InstalledDistribution, ...] = ()
    brought: Mapping[str, str] = field(default_factory=dict)
    """Version by name of what earlier fixes put where nothing was."""
    lost: frozenset[str] = frozenset()
    """Names of the distributions of which modules or libraries are missing or damaged."""
    edited: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Modules of another size than recorded, by distribution: somebody may have edited them on purpose."""
    site_packages: str = ""
    """Where its Python looks for packages; empty where none runs."""
    fault: str | None = None
    """What keeps it from being treated: not an environment, its interpreter does not run, managed by the system."""


@dataclass(frozen=True, slots=True)
class BuildState:
    """What building a package needs, and what of it is not there."""

    needs: tuple[str, ...]
    missing: tuple[str, ...] = ()
    install: tuple[str, ...] = ()
    """How to get it."""


def refusals_of(
    environment: EnvironmentState,
    files: tuple[PlannedFile, ...],
    profile: Profile | None,
    builds: Mapping[str, BuildState],
    *,
    python: str,
    interpreter: str | None,
) -> tuple[Refusal, ...]:
    """Return every reason that values alone can tell; ``interpreter``: None where none was found."""
    return (
        *_environment(environment, python, interpreter),
        *(refusal for file in files for refusal in _file(file)),
        *_indexes(files, profile),
        *_builds(files, builds),
    )


def _environment(state: EnvironmentState, python: str, interpreter: str | None) -> Iterator[Refusal]:
    if state.fault is not None:
        yield Refusal(RefusalKind.ENVIRONMENT, state.path, state.fault, "name another one with `--env`")
    elif state.exists and state.python is not None and python and dotted(state.python) != python:
        have = dotted(state.python)
        message = f"`{state.path}` is for Python {have}, and the lock is for {python}"
        yield Refusal(RefusalKind.PYTHON, state.path, message, "name another place with `--env`; it will be made there")
    elif not state.exists and interpreter is None:
        message = f"no Python {python} was found to make the environment with"
        remedy = f"install Python {python} (with its venv), or name one with `--python`"
        yield Refusal(RefusalKind.PYTHON, state.path, message, remedy)


def _file(file: PlannedFile) -> Iterator[Refusal]:
    if file.best_hash is None:
        yield Refusal(
            RefusalKind.NO_HASH, file.name, f"`{file.name}` {file.version} has no SHA-256 or better in the lock"
        )
    bad = {"/", "\\", "\x00"} & set(file.filename)
    if bad or file.filename in ("", ".", ".."):
        yield Refusal(RefusalKind.PATH, file.name, f"`{file.filename}` of `{file.name}` is not a plain file name")
    if not file.url:
        yield Refusal(
            RefusalKind.INDEX, file.name, f"the lock does not say where `{file.name}` {file.version} comes from"
        )


def _indexes(files: tuple[PlannedFile, ...], profile: Profile | None) -> Iterator[Refusal]:
    bound = {name: index.name for index in (profile.indexes if profile else ()) for name in index.packages}
    for file in files:
        wanted = bound.get(file.name)
        if wanted is not None and file.index != wanted:
            message = f"`{file.name}` is bound to index `{wanted}`, and the lock has it from `{file.index}`"
            yield Refusal(
                RefusalKind.WRONG_INDEX, file.name, message, "make the lock again while that index can be reached"
            )


def _builds(files: tuple[PlannedFile, ...], builds: Mapping[str, BuildState]) -> Iterator[Refusal]:
    for file in files:
        build = builds.get(file.name)
        if file.sdist and build is not None and build.missing:
            message = (
                f"`{file.name}` {file.version} must be built from source, which needs {', '.join(build.missing)}: not "
                "found here"
            )
            remedy = "; ".join(build.install) or f"take a version of `{file.name}` that has a wheel, by an override"
            yield Refusal(RefusalKind.SYSTEM_NEED, file.name, message, remedy)
