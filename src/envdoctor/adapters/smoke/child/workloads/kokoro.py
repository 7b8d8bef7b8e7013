"""Kokoro: durations from text, then a decoder over a fixed number of frames."""

from __future__ import annotations

from typing import Any, Dict, Tuple

import torch
import torch.nn.functional as nnf

from ..registry import Case, Workbench, kernel
from .layers import upsample_parts, upsample_stage

__all__ = ["decode", "decoder_parts", "duration_parts", "predict"]

WIDTH, BUCKET, DILATIONS = 64, 40, (1, 3)
"""40 frames are one second: 600 samples a frame at 24 kHz."""


def duration_parts() -> Dict[str, Any]:
    """Return the layers of the duration model."""
    return {
        "embed": torch.nn.Embedding(178, WIDTH),
        "conv": torch.nn.Conv1d(WIDTH, WIDTH, 5, padding=2),
        "norm": torch.nn.LayerNorm(WIDTH),
        "lstm": torch.nn.LSTM(WIDTH + 32, WIDTH // 2, bidirectional=True, batch_first=True),
        "duration": torch.nn.Linear(WIDTH, 50),
    }


def predict(m: Any, tokens: Any, style: Any) -> Tuple[Any, Any]:
    """Return the durations in frames, unrounded, and the encoded text."""
    x = m["conv"](m["embed"](tokens).transpose(1, 2)).transpose(1, 2)
    x = nnf.leaky_relu(m["norm"](x), 0.2)
    x = torch.cat([x, style[:, None].expand(-1, x.shape[1], -1)], -1)
    encoded = m["lstm"](x)[0]
    return torch.sigmoid(m["duration"](encoded)).sum(-1), encoded


@kernel("kokoro-duration")
def duration(bench: Workbench) -> Case:
    """A sentence of 48 phonemes."""
    inputs = (bench.randint(0, 178, 1, 48), bench.randn(1, 32))
    return Case(predict, inputs, modules=bench.modules(duration_parts()))


def decoder_parts() -> Dict[str, Any]:
    """Return the layers of the decoder."""
    parts = {
        "style": torch.nn.Linear(32, 2 * WIDTH),
        "pre": torch.nn.Conv1d(WIDTH, WIDTH, 3, padding=1),
        "post": torch.nn.Conv1d(WIDTH // 4, 22, 7, padding=3),
    }
    parts.update(upsample_parts("u0", WIDTH, 10, DILATIONS))
    parts.update(upsample_parts("u1", WIDTH // 2, 6, DILATIONS))
    return parts


def decode(m: Any, aligned: Any, style: Any) -> Any:
    """Return magnitude and phase of each frame, before the inverse transform."""
    gamma, beta = m["style"](style)[..., None].chunk(2, 1)
    x = (1 + gamma) * nnf.instance_norm(m["pre"](aligned)) + beta
    x = upsample_stage(m, "u0", x, DILATIONS)
    x = upsample_stage(m, "u1", x, DILATIONS)
    magnitude, phase = m["post"](nnf.leaky_relu(x)).chunk(2, 1)
    return torch.cat([torch.exp(magnitude * 0.1), torch.sin(phase)], 1)


@kernel("kokoro-decoder-bucket")
def decoder_bucket(bench: Workbench) -> Case:
    """Text stretched by its durations into a bucket of fixed length, then decoded."""
    encoded, style = bench.randn(1, 20, WIDTH), bench.randn(1, 32)
    durations = torch.full((20,), 2, dtype=torch.int64)

    def forward(m: Any, text: Any, frames: Any, ref: Any) -> Any:
        aligned = torch.repeat_interleave(text, frames, dim=1)
        aligned = nnf.pad(aligned, (0, 0, 0, BUCKET - aligned.shape[1]))
        return decode(m, aligned.transpose(1, 2), ref)

    return Case(forward, (encoded, durations, style), modules=bench.modules(decoder_parts()))
