"""Which environment variables a profile may set without a further word of the user.

A profile can come from anywhere, and a project can name its own. Variables such as LD_PRELOAD, PYTHONSTARTUP or PATH
decide which code runs; what is admitted here tunes libraries and places data, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from envdoctor.model.refusal import Refusal, RefusalKind

__all__ = ["ADMITTED", "refused_variables"]

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
    *("TOKENIZERS_*", "SAFETENSORS_*", "GRADIO_*", "PHONEMIZER_*", "ESPEAK_*", "NUMEXPR_*", "LIBROSA_*", "DEEPSPEED"),
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
