"""What people write of their environment by hand: `torch: 2.6.0`, `- PyTorch version 2.6.0+cu124`, `OS: Windows 11`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envdoctor.adapters.probe.cards import vendor_of_name

__all__ = ["rows_of_person"]

_BETWEEN = r"\s{0,20}(?::|=(?!=)|\s)\s{0,20}"
_NAME = r"[A-Za-z][A-Za-z0-9_-]{0,40}"
_VERSION = r"v?(?P<version>\d{1,4}(?:\.\d{1,8}){1,4}[\w.+]{0,60})"
_VERSIONED = re.compile(rf"(?P<name>{_NAME})(?:\[[\w,-]{{1,40}}\])?(?: versions?)?{_BETWEEN}{_VERSION}", re.IGNORECASE)
_HEADED = re.compile(r"(?P<name>[A-Za-z][\w /.()-]{0,40}?)\s{0,20}[:=](?!=)\s{0,20}(?P<said>\S.{0,200})")
_SYSTEM = re.compile(
    r"\b(Windows|WSL|Ubuntu|Debian|Fedora|Arch Linux|CentOS|Rocky|Linux|macOS|Darwin)\b", re.IGNORECASE
)
_CARD = re.compile(r"GPUs?(?: \d| model| name)?|Graphics(?: card)?|Video ?card|Cards?|Device", re.IGNORECASE)
_MARKS = "-*•>+ \t#"
_SIGNS = re.compile(r"[*`]{1,3}|(?<!\w)__(?=\w)|(?<=\w)__(?!\w)")
_SPELT = {"pytorch": "torch", "opencv": "opencv-python", "flash-attention": "flash-attn", "sklearn": "scikit-learn"}
_KNOWN = frozenset(
    {"accelerate", "auto-gptq", "autoawq", "basicsr", "bitsandbytes", "coremltools", "ctranslate2", "datasets",
     "deepspeed", "detectron2", "diffusers", "einops", "fairseq", "faster-whisper", "flash-attn", "gradio", "gptqmodel",
     "huggingface-hub", "insightface", "intel-extension-for-pytorch", "jax", "jaxlib", "keras", "librosa", "lightning",
     "llama-cpp-python", "llvmlite", "mlx", "mmcv", "mmdet", "mmengine", "numba", "numpy", "onnx", "onnxruntime",
     "onnxruntime-directml", "onnxruntime-gpu", "openai-whisper", "opencv-python", "opencv-python-headless", "optimum",
     "paddleocr", "paddlepaddle", "paddlepaddle-gpu", "pandas", "peft", "pillow", "protobuf", "pydantic",
     "pytorch-lightning", "safetensors", "sageattention", "scikit-learn", "scipy", "sentence-transformers", "sglang",
     "spacy", "tensorflow", "tensorflow-gpu", "timm", "tokenizers", "torch", "torch-directml", "torchao", "torchaudio",
     "torchcodec", "torchtext", "torchvision", "transformers", "triton", "triton-windows", "trl", "ultralytics",
     "unsloth", "vllm", "whisperx", "xformers"}
)  # fmt: skip
"""Only these are taken for distributions: `CUDA: 12.4`, `ComfyUI: 0.3.10` and `Driver: 551.23` stand beside them."""


def rows_of_person(text: str) -> Iterator[str]:
    """Yield what a text says of versions, system and cards in the words of torch's collect_env.

    Nothing comes of a text that is mostly something else, nor of one that names but one distribution.
    """
    said, all_ = [], 0
    for line in text.splitlines():
        plain = _SIGNS.sub("", line.strip(_MARKS)).strip()
        if not re.search(r"\w", plain):
            continue
        parts = re.split(r"[,;|]\s", plain) if len(plain) < 400 else [plain]
        rows = [row for part in parts for row in _row(part.strip())]
        all_ += 1
        said += [rows] if rows else []
    found = [row for rows in said for row in rows]
    named = sum(row.startswith(("[pip3]", "PyTorch version: ")) for row in found)
    if named > 1 and len(said) * 2 > all_:
        yield from dict.fromkeys(row for row in found if row)


def _row(text: str) -> Iterator[str]:
    """Yield one row, an empty one for what is said of something else, and nothing for what is no such line."""
    versioned = _VERSIONED.match(text)
    name = re.sub(r"[_-]+", "-", versioned["name"].lower()) if versioned else ""
    name = _SPELT.get(name, name)
    if versioned and name == "torch":
        yield f"PyTorch version: {versioned['version']}"
    elif versioned and name == "python":
        yield f"Python version: {versioned['version']}"
    elif versioned and name in _KNOWN:
        yield f"[pip3] {name}=={versioned['version']}"
    elif headed := _HEADED.match(text):
        yield from _headed(headed["name"], headed["said"])
    elif vendor_of_name(text) in ("nvidia", "amd") and len(text) < 60:
        yield f"GPU 0: {text}"
    elif system := _SYSTEM.match(text):
        yield from _of_system(system[1])
    elif versioned:
        yield ""


def _headed(name: str, said: str) -> Iterator[str]:
    card = re.split(r"[(,]|\bwith\b", said)[0].strip()
    if _CARD.fullmatch(name.strip()) and vendor_of_name(card) in ("nvidia", "amd"):
        yield f"GPU 0: {card}"
    elif re.fullmatch(r"(?:Operating )?System|OS|Platform", name.strip(), re.IGNORECASE) and (
        system := _SYSTEM.search(said)
    ):
        yield from _of_system(system[1])
    else:
        yield ""


def _of_system(word: str) -> Iterator[str]:
    names = {"windows": "Windows", "macos": "macOS", "darwin": "macOS"}
    yield f"Python platform: {names.get(word.lower(), 'Linux')}"
