"""RVC: features of content and pitch, and a waveform from them."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as nnf

from ..kernels.audio import harmonics
from ..kernels.spectral import mel_filters
from ..registry import Case, Workbench, kernel
from .layers import upsample, vocoder_parts

__all__ = []  # type: list[str]


@kernel("rvc-features")
def features(bench: Workbench) -> Case:
    """HuBERT's convolutions over samples; RMVPE's U-net over a mel spectrogram, with a GRU behind."""
    conv2d = torch.nn.Conv2d
    modules = bench.modules(
        {
            "c0": torch.nn.Conv1d(1, 64, 10, stride=5, bias=False),
            "n0": torch.nn.GroupNorm(64, 64),
            "c1": torch.nn.Conv1d(64, 64, 3, stride=2, bias=False),
            "c2": torch.nn.Conv1d(64, 64, 2, stride=2, bias=False),
            "ln": torch.nn.LayerNorm(64),
            "in": torch.nn.BatchNorm2d(1),
            "down": conv2d(1, 16, 3, padding=1, bias=False),
            "down_n": torch.nn.BatchNorm2d(16),
            "middle": conv2d(16, 32, 3, padding=1, bias=False),
            "middle_n": torch.nn.BatchNorm2d(32),
            "up": torch.nn.ConvTranspose2d(32, 16, 3, 2, padding=1, output_padding=1, bias=False),
            "up_n": torch.nn.BatchNorm2d(16),
            "out": conv2d(32, 3, 3, padding=1),
            "gru": torch.nn.GRU(3 * 128, 32, bidirectional=True, batch_first=True),
            "pitch": torch.nn.Linear(64, 360),
        }
    )

    def forward(m: Any, signal: Any, window: Any, bands: Any) -> Any:
        content = nnf.gelu(m["n0"](m["c0"](signal[:, None])))
        content = nnf.gelu(m["c2"](nnf.gelu(m["c1"](content))))
        spectrum = torch.stft(signal, 1024, 160, 1024, window=window, return_complex=True)
        magnitude = torch.sqrt(spectrum.real**2 + spectrum.imag**2)
        mel = torch.log(torch.clamp(bands @ magnitude, min=1e-5))
        return m["ln"](content.transpose(1, 2)), _pitch(m, mel)

    inputs = (bench.randn(1, 8000), torch.hann_window(1024), mel_filters(128, 513, 16000.0))
    return Case(forward, inputs, modules=modules)


def _pitch(m: Any, mel: Any) -> Any:
    """Return how likely each of 360 pitches is; time comes first in the image, then the bands."""
    frames = mel.shape[-1]
    image = nnf.pad(mel, (0, -frames % 32), mode="reflect").transpose(1, 2)[:, None]
    fine = torch.relu(m["down_n"](m["down"](m["in"](image))))
    coarse = torch.relu(m["middle_n"](m["middle"](nnf.avg_pool2d(fine, 2))))
    risen = torch.relu(m["up_n"](m["up"](coarse)))
    maps = m["out"](torch.cat([risen, fine], 1))
    return torch.sigmoid(m["pitch"](m["gru"](maps.transpose(1, 2).flatten(2))[0]))[:, :frames]


@kernel("rvc-synth")
def synth(bench: Workbench) -> Case:
    """A flow taken back, then NSF-HiFiGAN: a harmonic source from the pitch joins each upsampling stage."""
    conv = torch.nn.Conv1d
    parts = {
        "flow_pre": conv(32, 64, 1),
        "flow_in": conv(64, 128, 5, padding=2),
        "flow_speaker": conv(32, 128, 1),
        "flow_skip": conv(64, 64, 1),
        "flow_post": conv(64, 32, 1),
        "pre": conv(64, 128, 7, padding=3),
        "speaker": conv(32, 128, 1),
        "source": torch.nn.Linear(9, 1),
        "s0": conv(1, 64, 16, stride=8, padding=4),
        "s1": conv(1, 32, 1),
        "post": conv(32, 1, 7, padding=3, bias=False),
    }
    parts.update({**vocoder_parts("u0", 128, 10), **vocoder_parts("u1", 64, 8)})

    def forward(m: Any, content: Any, pitch: Any, speaker: Any) -> Any:
        content = _coupled(m, torch.flip(content, [1]), speaker)
        rising = nnf.interpolate(pitch[:, None], scale_factor=80.0, mode="nearest")[:, 0]
        voiced = (rising > 0).to(rising.dtype)[..., None]
        excitation = torch.tanh(m["source"](0.1 * harmonics(rising, 9, 40000.0) * voiced)).transpose(1, 2)
        x = m["pre"](content) + m["speaker"](speaker)
        x = upsample(m, "u0", x, m["s0"](excitation))
        x = upsample(m, "u1", x, m["s1"](excitation))
        return torch.tanh(m["post"](nnf.leaky_relu(x)))

    pitch = 150 + 60 * bench.rand(1, 24)
    pitch[:, 8:11] = 0
    return Case(forward, (bench.randn(1, 64, 24), pitch, bench.randn(1, 32, 1)), modules=bench.modules(parts))


def _coupled(m: Any, x: Any, speaker: Any) -> Any:
    """Take one coupling of the flow back: half of the channels tell by a gated layer what to take off the rest."""
    first, second = x.chunk(2, 1)
    hidden = m["flow_pre"](first)
    tangent, gate = (m["flow_in"](hidden) + m["flow_speaker"](speaker)).chunk(2, 1)
    hidden = hidden + m["flow_skip"](torch.tanh(tangent) * torch.sigmoid(gate))
    return torch.cat([first, second - m["flow_post"](hidden)], 1)
