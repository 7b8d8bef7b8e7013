"""Kokoro: durations from text, then a decoder over a fixed number of frames."""

from __future__ import annotations

from typing import Any, Dict, Tuple

import torch
import torch.nn.functional as nnf

from ..kernels.audio import snake
from ..registry import Case, Workbench, kernel
from .layers import residuals, vocoder_parts

__all__ = ["decode", "decoder_parts", "duration_parts", "predict"]

WIDTH, STYLE, BUCKET = 64, 32, 40
"""40 frames are one second: 600 samples a frame at 24 kHz."""
SHAPE = {"kernels": (3, 7), "dilations": (1, 3)}


def duration_parts() -> Dict[str, Any]:
    """Return the layers of the duration model."""
    return {
        "embed": torch.nn.Embedding(178, WIDTH),
        "conv": torch.nn.Conv1d(WIDTH, WIDTH, 5, padding=2),
        "norm": torch.nn.LayerNorm(WIDTH),
        "encoder": torch.nn.LSTM(WIDTH + STYLE, WIDTH // 2, bidirectional=True, batch_first=True),
        "adapt": torch.nn.Linear(STYLE, 2 * WIDTH),
        "lstm": torch.nn.LSTM(WIDTH + STYLE, WIDTH // 2, bidirectional=True, batch_first=True),
        "duration": torch.nn.Linear(WIDTH, 50),
    }


def predict(m: Any, tokens: Any, style: Any) -> Tuple[Any, Any]:
    """Return the durations in frames, unrounded, and the encoded text; the style joins each recurrent layer."""
    x = m["conv"](m["embed"](tokens).transpose(1, 2)).transpose(1, 2)
    x = nnf.leaky_relu(m["norm"](x), 0.2)
    beside = style[:, None].expand(-1, x.shape[1], -1)
    x = m["encoder"](torch.cat([x, beside], -1))[0]
    gamma, beta = m["adapt"](style)[:, None].chunk(2, -1)
    x = (1 + gamma) * nnf.layer_norm(x, (WIDTH,)) + beta
    encoded = torch.cat([x, beside], -1)
    return torch.sigmoid(m["duration"](m["lstm"](encoded)[0])).sum(-1), encoded


@kernel("kokoro-duration")
def duration(bench: Workbench) -> Case:
    """A sentence of 48 phonemes."""
    inputs = (bench.randint(0, 178, 1, 48), bench.randn(1, STYLE))
    return Case(predict, inputs, modules=bench.modules(duration_parts()))


def decoder_parts() -> Dict[str, Any]:
    """Return the layers of the decoder."""
    conv, rising = torch.nn.Conv1d, torch.nn.ConvTranspose1d
    parts = {
        "style": torch.nn.Linear(STYLE, 2 * WIDTH),
        "pool": rising(WIDTH, WIDTH, 3, 2, padding=1, output_padding=1, groups=WIDTH),
        "pre": conv(WIDTH, WIDTH, 3, padding=1),
        "shortcut": conv(WIDTH, WIDTH, 1, bias=False),
        "style0": torch.nn.Linear(STYLE, WIDTH),
        "style1": torch.nn.Linear(STYLE, WIDTH // 2),
        "post": conv(WIDTH // 4, 22, 7, padding=3),
        "real": rising(11, 1, 20, 5, bias=False),
        "imaginary": rising(11, 1, 20, 5, bias=False),
    }
    parts.update(vocoder_parts("u0", WIDTH, 10, **SHAPE))
    parts.update(vocoder_parts("u1", WIDTH // 2, 6, **SHAPE))
    return parts


def _adapted(layer: Any, x: Any, style: Any) -> Any:
    """Normalise each channel over time, then scale and shift it by the style."""
    gamma, beta = layer(style)[..., None].chunk(2, 1)
    return (1 + gamma) * nnf.instance_norm(x) + beta


def decode(m: Any, aligned: Any, style: Any) -> Any:
    """Return the waveform of (batch, width, frames): 600 samples a frame.

    The inverse transform is by convolutions, as where complex numbers are switched off; its basis is random here.
    """
    x = nnf.leaky_relu(_adapted(m["style"], aligned, style), 0.2)
    x = m["pre"](m["pool"](x))
    x = (x + m["shortcut"](nnf.interpolate(aligned, scale_factor=2.0, mode="nearest"))) * 0.5**0.5
    for stage in ("0", "1"):
        x = m["u" + stage + "_up"](nnf.leaky_relu(x, 0.1))
        if stage == "1":
            x = torch.cat([x[..., 1:2], x], -1)
        adapt = m["style" + stage]
        x = residuals(m, "u" + stage, x, active=lambda y, adapt=adapt: snake(_adapted(adapt, y, style), 1.0), **SHAPE)
    magnitude, phase = m["post"](nnf.leaky_relu(x)).chunk(2, 1)
    magnitude, phase = torch.exp(magnitude * 0.1), torch.sin(phase)
    wave = m["real"](magnitude * torch.cos(phase)) - m["imaginary"](magnitude * torch.sin(phase))
    return wave[..., 10:-10]


@kernel("kokoro-decoder-bucket")
def decoder_bucket(bench: Workbench) -> Case:
    """Text stretched by its durations into a bucket of fixed length, by a matrix of ones, then decoded."""
    encoded, style = bench.randn(1, 20, WIDTH), bench.randn(1, STYLE)
    durations = bench.randint(1, 3, 20)

    def forward(m: Any, text: Any, frames: Any, ref: Any) -> Any:
        places = torch.repeat_interleave(torch.arange(20, device=text.device), frames)
        alignment = torch.zeros(20, BUCKET, device=text.device, dtype=text.dtype)
        alignment[places, torch.arange(places.shape[0], device=text.device)] = 1
        return decode(m, text.transpose(1, 2) @ alignment[None], ref)

    return Case(forward, (encoded, durations, style), modules=bench.modules(decoder_parts()))
