"""XTTS: the autoregressive model with its cache, the decoder, the speaker's latents."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as nnf

from ..kernels.spectral import mel_filters
from ..registry import Case, Workbench, kernel
from .layers import attend, block, block_parts, upsample_parts, upsample_stage

__all__ = []  # type: list[str]

WIDTH, HEADS, VOCABULARY = 128, 4, 1026
DILATIONS = (1, 3, 5)


@kernel("xtts-gpt")
def gpt(bench: Workbench) -> Case:
    """A prompt, then six steps with the keys and values kept; the reference sees all at once."""
    parts = {"embed": torch.nn.Embedding(VOCABULARY, WIDTH), "head": torch.nn.Linear(WIDTH, VOCABULARY)}
    for layer in range(2):
        parts.update(block_parts(f"b{layer}", WIDTH))
    modules = bench.modules(parts)
    tokens, prompt = bench.randint(0, VOCABULARY, 1, 38), 32

    def whole(m: Any, seen: Any) -> Any:
        x = m["embed"](seen)
        for layer in range(2):
            x = block(m, f"b{layer}", x, HEADS, causal=True)
        return m["head"](x)[:, prompt - 1 :]

    def stepwise(m: Any, seen: Any) -> Any:
        caches: Any = [None, None]
        answers = []
        for begin, end in [(0, prompt)] + [(place, place + 1) for place in range(prompt, seen.shape[1])]:
            x = m["embed"](seen[:, begin:end])
            for layer in range(2):
                x, caches[layer] = _cached_block(m, f"b{layer}", x, caches[layer])
            answers.append(m["head"](x[:, -1:]))
        return torch.cat(answers, 1)

    def either(m: Any, seen: Any) -> Any:
        return whole(m, seen) if next(m.parameters()).dtype == torch.float64 else stepwise(m, seen)

    return Case(either, (tokens,), modules=modules)


def _cached_block(m: Any, name: str, x: Any, cache: Any) -> Any:
    query, key, value = m[name + "_qkv"](m[name + "_norm1"](x)).chunk(3, -1)
    if cache is not None:
        key, value = torch.cat([cache[0], key], 1), torch.cat([cache[1], value], 1)
    x = x + m[name + "_out"](attend(query, key, value, HEADS, cache is None))
    hidden = nnf.gelu(m[name + "_up"](m[name + "_norm2"](x)))
    return x + m[name + "_down"](hidden), (key, value)


@kernel("xtts-hifigan")
def hifigan(bench: Workbench) -> Case:
    """Latents to a waveform, the speaker added to every stage."""
    parts = {
        "pre": torch.nn.Conv1d(128, 128, 7, padding=3),
        "speaker": torch.nn.Conv1d(64, 128, 1),
        "post": torch.nn.Conv1d(32, 1, 7, padding=3),
    }
    parts.update(upsample_parts("u0", 128, 8, DILATIONS))
    parts.update(upsample_parts("u1", 64, 4, DILATIONS))

    def decode(m: Any, latents: Any, speaker: Any) -> Any:
        x = m["pre"](nnf.interpolate(latents, scale_factor=4.0, mode="linear")) + m["speaker"](speaker)
        x = upsample_stage(m, "u0", x, DILATIONS)
        x = upsample_stage(m, "u1", x, DILATIONS)
        return torch.tanh(m["post"](nnf.leaky_relu(x)))

    return Case(decode, (bench.randn(1, 128, 12), bench.randn(1, 64, 1)), modules=bench.modules(parts))


@kernel("xtts-latents")
def latents(bench: Workbench) -> Case:
    """Reference audio to mel, a convolution, attention pooling, a unit vector."""
    parts = {"conv": torch.nn.Conv1d(80, WIDTH, 3, stride=2, padding=1), "speaker": torch.nn.Linear(WIDTH, 64)}
    parts.update(block_parts("b0", WIDTH))

    def embed(m: Any, signal: Any, window: Any, bands: Any) -> Any:
        spectrum = torch.stft(signal, 1024, 256, 1024, window=window, return_complex=True).abs()
        mel = torch.log(torch.clamp(bands @ spectrum, min=1e-5))
        x = block(m, "b0", m["conv"](mel).transpose(1, 2), HEADS)
        return nnf.normalize(m["speaker"](x.mean(1)), dim=-1)

    inputs = (bench.randn(1, 12000), torch.hann_window(1024), mel_filters(80, 513, 22050.0))
    return Case(embed, inputs, modules=bench.modules(parts))
