"""DiffRhythm2: a DiT block, the solver around it, and the decoder."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as nnf

from ..kernels.audio import snake
from ..registry import Case, Workbench, kernel
from .layers import block, block_parts, upsample_parts, upsample_stage

__all__ = []  # type: list[str]

WIDTH, HEADS = 128, 4
DILATIONS = (1, 3)


def _parts() -> Any:
    parts = {"time": torch.nn.Linear(64, 2 * WIDTH), "text": torch.nn.Linear(WIDTH, WIDTH)}
    parts.update(block_parts("b0", WIDTH))
    return parts


def _velocity(m: Any, x: Any, text: Any, time: Any) -> Any:
    frequencies = torch.exp(-math.log(10000.0) * torch.arange(32, device=x.device, dtype=x.dtype) / 32)
    angles = 1000 * time * frequencies
    embedded = torch.cat([torch.cos(angles), torch.sin(angles)], -1)
    scale, shift = m["time"](nnf.silu(embedded))[None, None].chunk(2, -1)
    return block(m, "b0", x + m["text"](text), HEADS, scale=1 + scale, shift=shift)


@kernel("diffrhythm2-dit")
def dit(bench: Workbench) -> Case:
    """One block, modulated by time."""
    inputs = (bench.randn(2, 96, WIDTH), bench.randn(2, 96, WIDTH), bench.rand(1))
    return Case(_velocity, inputs, modules=bench.modules(_parts()))


@kernel("diffrhythm2-ode")
def ode(bench: Workbench) -> Case:
    """Four Euler steps with guidance: with and without text in one batch."""

    def solve(m: Any, x: Any, text: Any) -> Any:
        steps = 4
        for step in range(steps):
            time = torch.full((1,), step / steps, device=x.device, dtype=x.dtype)
            both = _velocity(m, torch.cat([x, x]), torch.cat([text, torch.zeros_like(text)]), time)
            guided, free = both.chunk(2)
            x = x + (free + 1.3 * (guided - free)) / steps
        return x

    return Case(solve, (bench.randn(1, 64, WIDTH), bench.randn(1, 64, WIDTH)), modules=bench.modules(_parts()))


@kernel("diffrhythm2-decoder")
def decoder(bench: Workbench) -> Case:
    """Latents to a waveform with periodic activations, in stereo."""
    parts = {"pre": torch.nn.Conv1d(64, 128, 7, padding=3), "post": torch.nn.Conv1d(32, 2, 7, padding=3)}
    parts.update(upsample_parts("u0", 128, 8, DILATIONS))
    parts.update(upsample_parts("u1", 64, 5, DILATIONS))

    def decode(m: Any, latents: Any, alpha: Any) -> Any:
        x = upsample_stage(m, "u0", m["pre"](latents), DILATIONS)
        x = upsample_stage(m, "u1", snake(x, alpha), DILATIONS)
        return torch.tanh(m["post"](x))

    return Case(decode, (bench.randn(1, 64, 32), bench.rand(1, 64, 1) + 0.5), modules=bench.modules(parts))
