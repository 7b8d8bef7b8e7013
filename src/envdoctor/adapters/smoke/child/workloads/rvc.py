"""RVC: features of content and pitch, and a waveform from them."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as nnf

from ..kernels.audio import harmonics
from ..kernels.spectral import mel_filters
from ..registry import Case, Workbench, kernel
from .layers import upsample_parts, upsample_stage

__all__ = []  # type: list[str]

DILATIONS = (1, 3, 5)


@kernel("rvc-features")
def features(bench: Workbench) -> Case:
    """HuBERT's convolutions over samples, and RMVPE's over a mel spectrogram with a GRU behind."""
    modules = bench.modules(
        {
            "c0": torch.nn.Conv1d(1, 64, 10, stride=5, bias=False),
            "n0": torch.nn.GroupNorm(64, 64),
            "c1": torch.nn.Conv1d(64, 64, 3, stride=2, bias=False),
            "c2": torch.nn.Conv1d(64, 64, 2, stride=2, bias=False),
            "m0": torch.nn.Conv2d(1, 16, 3, padding=1),
            "mn": torch.nn.BatchNorm2d(16),
            "gru": torch.nn.GRU(16 * 32, 32, bidirectional=True, batch_first=True),
            "pitch": torch.nn.Linear(64, 360),
        }
    )

    def forward(m: Any, signal: Any, window: Any, bands: Any) -> Any:
        content = nnf.gelu(m["n0"](m["c0"](signal[:, None])))
        content = nnf.gelu(m["c2"](nnf.gelu(m["c1"](content))))
        spectrum = torch.stft(signal, 1024, 160, 1024, window=window, return_complex=True).abs()
        mel = torch.log(torch.clamp(bands @ spectrum, min=1e-5))
        image = nnf.avg_pool2d(torch.relu(m["mn"](m["m0"](mel[:, None]))), (4, 1))
        frames = image.permute(0, 3, 1, 2).flatten(2)
        return content, torch.sigmoid(m["pitch"](m["gru"](frames)[0]))

    inputs = (bench.randn(1, 8000), torch.hann_window(1024), mel_filters(128, 513, 16000.0))
    return Case(forward, inputs, modules=modules)


@kernel("rvc-synth")
def synth(bench: Workbench) -> Case:
    """NSF-HiFiGAN: a harmonic source from the pitch joins each upsampling stage."""
    parts = {
        "pre": torch.nn.Conv1d(64, 128, 7, padding=3),
        "source": torch.nn.Linear(9, 1),
        "s0": torch.nn.Conv1d(1, 64, 16, stride=8, padding=4),
        "s1": torch.nn.Conv1d(1, 32, 1),
        "post": torch.nn.Conv1d(32, 1, 7, padding=3, bias=False),
    }
    parts.update(upsample_parts("u0", 128, 10, DILATIONS))
    parts.update(upsample_parts("u1", 64, 8, DILATIONS))

    def forward(m: Any, content: Any, pitch: Any) -> Any:
        sines = harmonics(nnf.interpolate(pitch[:, None], scale_factor=80.0, mode="nearest")[:, 0], 9, 40000.0)
        excitation = torch.tanh(m["source"](sines)).transpose(1, 2)
        x = upsample_stage(m, "u0", m["pre"](content), DILATIONS, m["s0"](excitation))
        x = upsample_stage(m, "u1", x, DILATIONS, m["s1"](excitation))
        return torch.tanh(m["post"](nnf.leaky_relu(x)))

    inputs = (bench.randn(1, 64, 24), 150 + 60 * bench.rand(1, 24))
    return Case(forward, inputs, modules=bench.modules(parts))
