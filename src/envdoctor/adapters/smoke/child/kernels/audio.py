"""What voices are made of: codes, pitch, harmonics, periodic activations."""

from __future__ import annotations

import math
from typing import Any

import torch

from ..registry import Case, Workbench, kernel

__all__ = ["harmonics", "nearest_codes", "snake"]

RATE = 24000.0
"""Samples a second."""


def nearest_codes(vectors: Any, codebook: Any) -> Any:
    """Return the index of the nearest codeword of each vector, by the expanded square."""
    distances = (vectors**2).sum(-1, keepdim=True) - 2 * vectors @ codebook.t() + (codebook**2).sum(-1)
    return distances.argmin(-1)


@kernel("nearest-code")
def nearest_code(bench: Workbench) -> Case:
    """Vectors near a codeword each, so that rounding cannot change which is nearest."""
    codebook = bench.randn(1024, 32)
    chosen = bench.randint(0, 1024, 150)
    vectors = codebook[chosen] + 0.05 * bench.randn(150, 32)
    return Case(nearest_codes, (vectors, codebook), reference=lambda v, c: torch.cdist(v, c).argmin(-1))


@kernel("autocorrelation-pitch")
def autocorrelation_pitch(bench: Workbench) -> Case:
    """Normalised autocorrelation by Fourier transform; its values, not the peak, so that nearly right shows."""
    time = torch.arange(2048.0) / RATE
    pitches = torch.tensor([110.0, 220.0, 330.0, 97.0])[:, None]
    frames = torch.sin(2 * math.pi * pitches * time[None]) + 0.1 * bench.randn(4, 2048)

    def correlate(x: Any) -> Any:
        power = torch.fft.rfft(x, n=4096).abs() ** 2
        lags = torch.fft.irfft(power, n=4096)[:, :600]
        return lags / lags[:, :1]

    return Case(correlate, (frames,))


def harmonics(pitch: Any, count: int, rate: float) -> Any:
    """Return sines at the multiples of a pitch in hertz, as neural source filters make them.

    A phase summed in float32 loses a digit for each tenfold of turns. So the turns are summed once to see where they
    pass a whole number, and once more with a whole turn taken off there: the second sum stays near 0 to 1 and keeps
    its digits, and a turn that the first sum sees a sample early or late changes no sine.
    """
    multiples = torch.arange(1, count + 1, device=pitch.device, dtype=pitch.dtype)
    steps = pitch[..., None] * multiples / rate
    whole = torch.floor(torch.cumsum(steps, -2))
    passed = torch.cat([whole[..., :1, :], whole[..., 1:, :] - whole[..., :-1, :]], -2)
    return torch.sin(2 * math.pi * torch.cumsum(steps - passed, -2))


@kernel("harmonic-source")
def harmonic_source(bench: Workbench) -> Case:
    """Nine harmonics of a gliding voice, unvoiced where the pitch is zero."""
    samples = 4800
    pitch = 120 + 100 * torch.linspace(0, 1, samples)[None] + 5 * bench.rand(1, samples)
    pitch[:, 1000:1400] = 0

    def source(f0: Any) -> Any:
        return harmonics(f0, 9, RATE) * (f0 > 10).to(f0.dtype)[..., None] * 0.1

    return Case(source, (pitch,))


def snake(x: Any, alpha: Any) -> Any:
    """Return the periodic activation x + sin(ax)^2 / a."""
    return x + torch.sin(alpha * x) ** 2 / (alpha + 1e-9)


@kernel("snake")
def snake_kernel(bench: Workbench) -> Case:
    """A frequency for each channel."""
    return Case(snake, (bench.randn(1, 128, 2000), bench.rand(1, 128, 1) + 0.5), bytes_moved=8.0 * 128 * 2000)
