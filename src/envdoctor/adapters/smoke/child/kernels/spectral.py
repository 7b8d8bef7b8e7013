"""Fourier transforms of audio."""

from __future__ import annotations

import math

import torch

from ..registry import Case, Workbench, kernel

__all__ = ["mel_filters"]

RATE = 24000
"""Samples a second."""
LENGTH = 24000
WINDOW, HOP = 1024, 256


def _stft(signal: torch.Tensor, window: torch.Tensor) -> torch.Tensor:
    return torch.stft(signal, WINDOW, HOP, WINDOW, window=window, center=True, return_complex=True)


@kernel("stft")
def stft(bench: Workbench) -> Case:
    """One second in frames of 1024."""
    return Case(_stft, (bench.randn(1, LENGTH), torch.hann_window(WINDOW)), bytes_moved=4.0 * LENGTH * 9)


@kernel("istft")
def istft(bench: Workbench) -> Case:
    """There and back again."""

    def round_trip(signal: torch.Tensor, window: torch.Tensor) -> torch.Tensor:
        return torch.istft(_stft(signal, window) * 0.5, WINDOW, HOP, WINDOW, window=window, length=LENGTH)

    return Case(round_trip, (bench.randn(1, LENGTH), torch.hann_window(WINDOW)))


def mel_filters(bands: int, bins: int, rate: float) -> torch.Tensor:
    """Return triangular filters, ``bands`` x ``bins``, even on the mel scale (HTK's formula)."""
    top = 2595.0 * math.log10(1.0 + rate / 2 / 700.0)
    edges = 700.0 * (10.0 ** (torch.linspace(0.0, top, bands + 2, dtype=torch.float64) / 2595.0) - 1.0)
    frequencies = torch.linspace(0.0, rate / 2, bins, dtype=torch.float64)
    rising = (frequencies[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - frequencies[None]) / (edges[2:] - edges[1:-1])[:, None]
    return torch.minimum(rising, falling).clamp(min=0.0).to(torch.float32)


@kernel("mel-spectrogram")
def mel_spectrogram(bench: Workbench) -> Case:
    """Power, 80 bands."""
    filters = mel_filters(80, WINDOW // 2 + 1, RATE)

    def spectrogram(signal: torch.Tensor, window: torch.Tensor, bands: torch.Tensor) -> torch.Tensor:
        return torch.matmul(bands, _stft(signal, window).abs() ** 2)

    return Case(spectrogram, (bench.randn(1, LENGTH), torch.hann_window(WINDOW), filters))


@kernel("rfft")
def rfft(bench: Workbench) -> Case:
    """Batches of 2048 samples, and a length that is no power of two."""
    return Case(lambda a, b: (torch.fft.rfft(a), torch.fft.rfft(b)), (bench.randn(32, 2048), bench.randn(8, 1800)))


@kernel("irfft")
def irfft(bench: Workbench) -> Case:
    """Half spectra back to samples."""
    spectrum = torch.complex(bench.randn(32, 1025), bench.randn(32, 1025))
    spectrum[:, 0] = spectrum[:, 0].real + 0j
    spectrum[:, -1] = spectrum[:, -1].real + 0j
    return Case(lambda x: torch.fft.irfft(x, n=2048), (spectrum,))


@kernel("complex-multiply")
def complex_multiply(bench: Workbench) -> Case:
    """Rotary embedding as complex numbers."""
    states = bench.randn(4, 128, 16, 64)
    angles = torch.outer(torch.arange(128.0), 10000.0 ** (-torch.arange(32.0) / 32))
    turns = torch.polar(torch.ones_like(angles), angles)

    def rotate(x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        pairs = torch.view_as_complex(x.reshape(4, 128, 16, 32, 2))
        return torch.view_as_real(pairs * turn[None, :, None, :]).reshape(4, 128, 16, 64)

    return Case(rotate, (states, turns), bytes_moved=8.0 * states.numel())
