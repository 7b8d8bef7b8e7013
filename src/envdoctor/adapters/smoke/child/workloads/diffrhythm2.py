"""DiffRhythm2: a DiT that sees its text by kept keys and values, the solver around it, and the decoder."""

from __future__ import annotations

import math
from typing import Any, Dict

import torch
import torch.nn.functional as nnf

from ..registry import Case, Workbench, kernel
from .layers import llama_block, llama_parts, residuals, vocoder_parts

__all__ = []  # type: list[str]

WIDTH, HEADS, CHANNELS, TEXT, BLOCK = 128, 4, 64, 24, 40
SHAPE = {"kernels": (3, 7), "dilations": (1, 3)}


def _parts() -> Dict[str, Any]:
    linear = torch.nn.Linear
    parts = {"time0": linear(64, WIDTH), "time1": linear(WIDTH, WIDTH), "latent": linear(CHANNELS, WIDTH)}
    parts.update({"mix": linear(WIDTH, WIDTH), "enter": linear(WIDTH, WIDTH), "final": linear(WIDTH, 2 * WIDTH)})
    parts.update({"out": linear(WIDTH, CHANNELS), "text": torch.nn.Embedding(100, WIDTH)})
    for layer in ("b0", "b1"):
        parts.update({layer + place: torch.nn.LayerNorm(WIDTH) for place in ("_n1", "_n2")})
        parts.update(llama_parts(layer, WIDTH))
    return parts


def _time(m: Any, time: Any) -> Any:
    """Embed a time for each frame."""
    speeds = torch.exp(-math.log(10000.0) / 31 * torch.arange(32, device=time.device, dtype=time.dtype))
    angles = 1000 * time[..., None] * speeds
    return m["time1"](nnf.silu(m["time0"](torch.cat([angles.sin(), angles.cos()], -1))))


def _transform(m: Any, x: Any, time: Any, style: Any, kept: Any = None) -> Any:
    """Return the velocity of each frame, and what the blocks keep for the frames after."""
    embedded = _time(m, time)
    x = m["enter"](m["mix"](x + style[:, None] + embedded) + x)
    keeping = []
    for number, layer in enumerate(("b0", "b1")):
        norms = m[layer + "_n1"].weight, m[layer + "_n2"].weight
        x, now = llama_block(m, layer, x, HEADS, norms, kept=None if kept is None else kept[number])
        keeping.append(now)
    scale, shift = m["final"](nnf.silu(embedded)).chunk(2, -1)
    return m["out"](nnf.layer_norm(x, (WIDTH,), eps=1e-6) * (1 + scale) + shift), keeping


def _kept_text(m: Any, tokens: Any, style: Any) -> Any:
    """Let the text through once, at time -1."""
    return _transform(m, m["text"](tokens), torch.full_like(tokens, -1).to(style.dtype), style)[1]


@kernel("diffrhythm2-dit")
def dit(bench: Workbench) -> Case:
    """The text, then one block of latents at a time between noise and song."""

    def forward(m: Any, tokens: Any, style: Any, noisy: Any, time: Any) -> Any:
        kept = _kept_text(m, tokens, style)
        return _transform(m, m["latent"](noisy), time[:, None].expand(-1, BLOCK), style, kept)[0]

    inputs = (bench.randint(0, 100, 1, TEXT), bench.randn(1, WIDTH), bench.randn(1, BLOCK, CHANNELS), bench.rand(1))
    return Case(forward, inputs, modules=bench.modules(_parts()))


@kernel("diffrhythm2-ode")
def ode(bench: Workbench) -> Case:
    """Four Euler steps with guidance: once with text and style, once without, and on beyond the difference."""

    def solve(m: Any, tokens: Any, style: Any, x: Any) -> Any:
        told = style, _kept_text(m, tokens, style)
        free = torch.zeros_like(style), _kept_text(m, torch.zeros_like(tokens), torch.zeros_like(style))
        times = torch.linspace(0, 1, 5, device=x.device, dtype=x.dtype)
        for begin, end in zip(times[:-1], times[1:]):
            time = begin.expand(x.shape[0], BLOCK)
            guided, unguided = (_transform(m, m["latent"](x), time, *either)[0] for either in (told, free))
            x = x + (end - begin) * (guided + (guided - unguided))
        return x

    inputs = (bench.randint(1, 100, 1, TEXT), bench.randn(1, WIDTH), bench.randn(1, BLOCK, CHANNELS))
    return Case(solve, inputs, modules=bench.modules(_parts()))


def _lowpass() -> Any:
    """Return a Kaiser-windowed sinc of 12 taps that passes half of the band."""
    places = torch.arange(12, dtype=torch.float64) - 5.5
    taps = torch.sinc(0.5 * places) * torch.kaiser_window(12, False, beta=4.66, dtype=torch.float64)
    return (taps / taps.sum()).to(torch.float32)[None, None]


def _periodic(x: Any, logs: Any, taps: Any) -> Any:
    """Apply the periodic activation at twice the rate, so that what it adds above the band does not fold back."""
    channels = x.shape[1]
    filters = taps.expand(channels, -1, -1)
    risen = nnf.conv_transpose1d(nnf.pad(x, (5, 5), mode="replicate"), filters, stride=2, groups=channels)
    risen = 2 * risen[..., 15:-15]
    frequency, magnitude = torch.exp(logs[:, :channels]), torch.exp(logs[:, -channels:])
    risen = risen + torch.sin(frequency * risen) ** 2 / (magnitude + 1e-9)
    return nnf.conv1d(nnf.pad(risen, (5, 6), mode="replicate"), filters, stride=2, groups=channels)


@kernel("diffrhythm2-decoder")
def decoder(bench: Workbench) -> Case:
    """Latents to a waveform by BigVGAN: residual blocks with periodic activations that do not alias."""
    parts = {"pre": torch.nn.Conv1d(CHANNELS, 64, 7, padding=3), "post": torch.nn.Conv1d(16, 1, 7, padding=3)}
    parts.update({**vocoder_parts("u0", 64, 8, **SHAPE), **vocoder_parts("u1", 32, 5, **SHAPE)})

    def decode(m: Any, latents: Any, logs: Any, taps: Any) -> Any:
        x = m["pre"](latents)
        for stage in ("u0", "u1"):
            x = residuals(m, stage, m[stage + "_up"](x), active=lambda y: _periodic(y, logs, taps), **SHAPE)
        # Far from saturation, where every answer would be 1.
        return torch.tanh(0.1 * m["post"](_periodic(x, logs, taps)))

    inputs = (bench.randn(1, CHANNELS, 32), 0.3 * bench.randn(1, 64, 1), _lowpass())
    return Case(decode, inputs, modules=bench.modules(parts))
