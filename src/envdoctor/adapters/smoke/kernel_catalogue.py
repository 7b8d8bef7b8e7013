"""Every kernel and workload by name: its dtype, tolerance and the reason for it. Plain data, no torch.

The parent reads it for names and completion; the child takes it along (see ``bundle``), so there is one table and it
must stay readable by Python 3.8 with the standard library alone.
"""

from __future__ import annotations

from typing import Dict, NamedTuple, Tuple  # noqa: UP035 - evaluated by Python 3.8

__all__ = ["ENTRIES", "KERNELS", "SETTINGS", "STAGES", "WORKLOADS", "Entry", "find", "names"]


class Entry(NamedTuple):
    """One named operation. Errors are relative to the largest value of the reference answer."""

    name: str
    family: str
    """``matmul``, ``convolution``, ``spectral``, ...; names the module of the child that holds it."""
    dtype: str = "float32"
    tolerance: float = 0.0
    because: str = ""
    """Why this tolerance."""
    needs: Tuple[int, int] = (1, 13)  # noqa: UP006
    """The first torch release that has the operation."""
    settings: Tuple[str, ...] = ()  # noqa: UP006
    """Settings under which it runs: ``tf32-on``, ``flash-only``."""
    remedies: Tuple[str, ...] = ()  # noqa: UP006
    """Settings to try when it fails, cheapest first."""
    lacking: Tuple[str, ...] = ()  # noqa: UP006
    """Backends known not to have it; a component that needs it cannot run there."""
    moot: Tuple[str, ...] = ()  # noqa: UP006
    """Backends on which another implementation takes over, so that nothing is lost without it."""
    limit_s: float = 60.0
    """Seconds after which it counts as hanging; generous, because a first call may compile."""
    workload: bool = False


SETTINGS: Tuple[str, ...] = (  # noqa: UP006
    "tf32-on",
    "tf32-off",
    "cudnn-off",
    "mkldnn-off",
    "flash-off",
    "efficient-off",
    "flash-only",
    "efficient-only",
    "math-only",
    "reduced-off",
    "autocast-off",
    "cublaslt-off",
    "blocking",
    "dtype-float32",
    "dtype-float16",
    "dtype-bfloat16",
)
"""Every setting that a run, a profile or a bisection can name."""

F32 = "float32 rounds at 6e-8 and its sums over up to a few thousand terms are ordered differently on each device"
TF32 = "TF32 keeps 10 bits of mantissa (5e-4 a product) and cuDNN uses it for float32 unless told otherwise"
BF16 = "bfloat16 keeps 7 bits of mantissa: 4e-3 for each rounding of the answer, several roundings on the way"
F16 = "float16 keeps 10 bits of mantissa: 5e-4 for each rounding of the answer, sums are kept in float32"
NEURAL = "Core ML computes in float16 on the neural engine"
EXACT = "integers, copies and comparisons have one right answer"
DEEP = "float32 (TF32 inside cuDNN) through a stack of layers; each layer passes its error on"
PERIODIC = "float32 (TF32 inside cuDNN) through a stack of layers whose periodic activations magnify each error"
DEEP_HALF = "half precision through a stack of layers; each layer adds a rounding of its own"

GEMM = ("cublaslt-off", "tf32-off", "blocking")
CONV = ("cudnn-off", "tf32-off", "blocking")
HALF_CONV = ("cudnn-off", "dtype-float32", "blocking")
ATTENTION = ("flash-off", "efficient-off", "math-only")
HALF_GEMM = ("cublaslt-off", "dtype-float32", "blocking")
NO_COMPLEX = ("directml",)
NO_BFLOAT16 = ("directml",)

STAGES: Tuple[Entry, ...] = (  # noqa: UP006
    Entry("import-torch", "stage", because="the interpreter must load torch", limit_s=120.0),
    Entry("device-context", "stage", because="the device must answer", limit_s=180.0),
)

KERNELS: Tuple[Entry, ...] = (  # noqa: UP006
    Entry("gemm-float32", "matmul", "float32", 2e-5, F32, settings=("tf32-off",), remedies=GEMM),
    Entry("gemm-tf32", "matmul", "float32", 2e-3, TF32, settings=("tf32-on",), remedies=GEMM),
    Entry("gemm-bfloat16", "matmul", "bfloat16", 2e-2, BF16, remedies=HALF_GEMM, lacking=NO_BFLOAT16),
    Entry("gemm-float16", "matmul", "float16", 2e-3, F16, remedies=HALF_GEMM),
    Entry("gemm-int8", "matmul", "int8", 0.0, EXACT, needs=(2, 1), remedies=GEMM, lacking=("directml", "mps", "zluda")),
    Entry("gemm-batched", "matmul", "float32", 2e-3, TF32, remedies=GEMM),
    Entry("gemm-strided", "matmul", "float32", 2e-3, TF32, remedies=GEMM),
    Entry("addmm-cublaslt", "matmul", "float16", 2e-3, F16, remedies=HALF_GEMM),
    Entry("gemm-ex-float16", "matmul", "float16", 2e-3, F16, settings=("reduced-off",), remedies=HALF_GEMM),
    Entry(
        "gemm-ex-bfloat16",
        "matmul",
        "bfloat16",
        1e-2,
        BF16,
        settings=("reduced-off",),
        remedies=HALF_GEMM,
        lacking=NO_BFLOAT16,
    ),
    Entry("conv1d", "convolution", "float32", 2e-3, TF32, remedies=CONV),
    Entry("conv1d-float16", "convolution", "float16", 4e-3, F16, remedies=HALF_CONV),
    Entry(
        "conv1d-bfloat16",
        "convolution",
        "bfloat16",
        3e-2,
        BF16,
        remedies=HALF_CONV,
        lacking=NO_BFLOAT16,
    ),
    Entry("conv2d", "convolution", "float32", 2e-3, TF32, remedies=CONV),
    Entry("conv-transpose1d", "convolution", "float32", 2e-3, TF32, remedies=CONV),
    Entry("conv1d-grouped", "convolution", "float32", 2e-3, TF32, remedies=CONV),
    Entry("conv1d-depthwise", "convolution", "float32", 2e-3, TF32, remedies=CONV),
    Entry("conv1d-dilated", "convolution", "float32", 2e-3, TF32, remedies=CONV),
    Entry("stft", "spectral", "float32", 2e-5, F32, lacking=NO_COMPLEX),
    Entry("istft", "spectral", "float32", 2e-5, F32, lacking=NO_COMPLEX),
    Entry("mel-spectrogram", "spectral", "float32", 2e-3, TF32, lacking=NO_COMPLEX, remedies=GEMM),
    Entry("rfft", "spectral", "float32", 2e-5, F32, lacking=NO_COMPLEX),
    Entry("irfft", "spectral", "float32", 2e-5, F32, lacking=NO_COMPLEX),
    Entry("complex-multiply", "spectral", "float32", 2e-6, F32, lacking=NO_COMPLEX),
    Entry("attention", "attention", "float32", 2e-3, TF32, needs=(2, 0), remedies=ATTENTION),
    Entry("attention-math", "attention", "float32", 2e-3, TF32, needs=(2, 0), settings=("math-only",), remedies=GEMM),
    Entry(
        "attention-flash",
        "attention",
        "float16",
        4e-3,
        F16,
        needs=(2, 0),
        settings=("flash-only",),
        remedies=("math-only",),
        moot=("zluda", "directml", "mps", "xpu", "coreml"),
    ),
    Entry(
        "attention-efficient",
        "attention",
        "float16",
        4e-3,
        F16,
        needs=(2, 0),
        settings=("efficient-only",),
        remedies=("math-only",),
        moot=("zluda", "directml", "mps", "xpu", "coreml", "cpu"),
    ),
    Entry("attention-masked", "attention", "float32", 2e-3, TF32, needs=(2, 0), remedies=ATTENTION),
    Entry("attention-causal", "attention", "float32", 2e-3, TF32, needs=(2, 0), remedies=ATTENTION),
    Entry("attention-cached", "attention", "float32", 2e-3, TF32, needs=(2, 0), remedies=ATTENTION),
    Entry("lstm", "recurrent", "float32", 2e-3, TF32, remedies=CONV),
    Entry("gru", "recurrent", "float32", 2e-3, TF32, remedies=CONV),
    Entry("packed-sequence", "recurrent", "float32", 2e-3, TF32, remedies=CONV),
    Entry("layer-norm", "normalisation", "float32", 2e-5, F32),
    Entry("group-norm", "normalisation", "float32", 2e-5, F32),
    Entry("instance-norm", "normalisation", "float32", 2e-5, F32, remedies=("cudnn-off",)),
    Entry("batch-norm", "normalisation", "float32", 2e-5, F32, remedies=("cudnn-off",)),
    Entry("rms-norm", "normalisation", "float32", 2e-5, F32),
    Entry("softmax", "normalisation", "float32", 2e-5, F32),
    Entry("embedding", "indexing", "float32", 0.0, EXACT),
    Entry("gather", "indexing", "float32", 0.0, EXACT),
    Entry("scatter", "indexing", "float32", 0.0, EXACT),
    Entry("index-add", "indexing", "float32", 2e-6, F32),
    Entry("cumsum", "indexing", "float32", 2e-5, F32),
    Entry("sort", "indexing", "float32", 0.0, EXACT),
    Entry("topk", "indexing", "float32", 0.0, EXACT),
    Entry("argmax", "indexing", "float32", 0.0, EXACT),
    Entry("repeat-interleave", "indexing", "float32", 0.0, EXACT),
    Entry(
        "interpolate", "indexing", "float32", 1e-4, "source positions up to 300 are computed in float32: 2e-5 of a step"
    ),
    Entry("nearest-code", "audio", "float32", 0.0, EXACT, settings=("tf32-off",), remedies=GEMM),
    Entry("autocorrelation-pitch", "audio", "float32", 2e-5, F32, lacking=NO_COMPLEX),
    Entry(
        "harmonic-source",
        "audio",
        "float32",
        1e-4,
        "whole turns are taken off, so the phase stays near 1: 4800 roundings of 6e-8, which mostly cancel, times 2 pi",
    ),
    Entry("snake", "audio", "float32", 2e-5, F32),
    Entry("denormals", "precision", "float32", 0.0, "kept or flushed to zero; anything else is wrong"),
    Entry("nan-propagation", "precision", "float32", 0.0, EXACT),
    Entry("autocast-float16", "precision", "float32", 5e-3, F16, remedies=("cublaslt-off", "autocast-off")),
    Entry(
        "autocast-bfloat16",
        "precision",
        "float32",
        4e-2,
        BF16,
        remedies=("cublaslt-off", "autocast-off"),
        lacking=NO_BFLOAT16,
    ),
    Entry("mixed-dtype-latents", "precision", "float16", 5e-3, F16, remedies=HALF_GEMM),
    Entry("training-step", "training", "float32", 5e-3, DEEP, remedies=(*CONV, "mkldnn-off")),
    Entry("grad-scaler", "training", "float32", 2e-2, DEEP_HALF, needs=(2, 3), remedies=CONV),
    Entry("pinned-copy", "memory", "float32", 0.0, EXACT),
    Entry("async-copy", "memory", "float32", 0.0, EXACT),
    Entry("memory-growth", "memory", "float32", 0.0, EXACT),
    Entry(
        "torch-compile",
        "compiled",
        "float32",
        2e-5,
        F32,
        needs=(2, 0),
        lacking=("zluda", "directml"),
        limit_s=240.0,
    ),
    Entry("all-reduce", "collective", "float32", 1e-6, F32, limit_s=180.0),
)

WORKLOADS: Tuple[Entry, ...] = (  # noqa: UP006
    Entry("xtts-gpt", "xtts", "float32", 5e-3, DEEP, remedies=GEMM, workload=True),
    Entry("xtts-hifigan", "xtts", "float32", 1e-2, DEEP, remedies=CONV, workload=True),
    Entry("xtts-latents", "xtts", "float32", 5e-3, DEEP, remedies=CONV, lacking=NO_COMPLEX, workload=True),
    Entry("rvc-features", "rvc", "float32", 5e-3, DEEP, remedies=CONV, lacking=NO_COMPLEX, workload=True),
    Entry("rvc-synth", "rvc", "float32", 1e-2, DEEP, remedies=CONV, workload=True),
    Entry("diffrhythm2-dit", "diffrhythm2", "float32", 5e-3, DEEP, needs=(2, 0), remedies=ATTENTION, workload=True),
    Entry("diffrhythm2-ode", "diffrhythm2", "float32", 1e-2, DEEP, needs=(2, 0), remedies=ATTENTION, workload=True),
    Entry("diffrhythm2-decoder", "diffrhythm2", "float32", 2e-2, PERIODIC, remedies=CONV, workload=True),
    Entry("amphion-maskgct", "amphion", "float32", 5e-3, DEEP, needs=(2, 0), remedies=ATTENTION, workload=True),
    Entry("amphion-rvq", "amphion", "float32", 2e-5, F32, settings=("tf32-off",), remedies=CONV, workload=True),
    Entry("amphion-monotonic-align", "amphion", "float32", 0.0, EXACT, workload=True),
    Entry("amphion-training-step", "amphion", "float32", 1e-2, DEEP, remedies=(*CONV, "mkldnn-off"), workload=True),
    Entry("kokoro-duration", "kokoro", "float32", 5e-3, DEEP, remedies=CONV, workload=True),
    Entry("kokoro-decoder-bucket", "kokoro", "float32", 1e-2, DEEP, remedies=CONV, workload=True),
    Entry("kokoro-export", "kokoro_export", "float32", 2e-5, F32, needs=(2, 1), limit_s=240.0, workload=True),
    Entry(
        "kokoro-coreml",
        "kokoro_export",
        "float32",
        2e-2,
        NEURAL,
        needs=(2, 1),
        limit_s=300.0,
        workload=True,
    ),
    *(
        Entry(name, "kokoro_export", "float32", 2e-2, NEURAL, needs=(2, 1), limit_s=600.0, workload=True)
        for name in ("kokoro-coreml-shapes", "kokoro-coreml-buckets")
    ),
)

ENTRIES: Dict[str, Entry] = {entry.name: entry for entry in (*STAGES, *KERNELS, *WORKLOADS)}  # noqa: UP006


def find(name: str) -> Entry:
    """Return the entry called ``name``. Raises KeyError with the name where there is none."""
    return ENTRIES[name]


def names() -> Tuple[str, ...]:  # noqa: UP006
    """Return the names that ``--kernel`` and profiles may use: kernels, then workloads."""
    return tuple(entry.name for entry in (*KERNELS, *WORKLOADS))
