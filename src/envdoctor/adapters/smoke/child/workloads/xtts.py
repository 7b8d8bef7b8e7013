"""XTTS: the autoregressive model with its cache, the decoder, the speaker's latents."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as nnf

from ..kernels.spectral import mel_filters
from ..registry import Case, Workbench, kernel
from .layers import split, upsample, vocoder_parts

__all__ = []  # type: list[str]

WIDTH, HEADS, VOCABULARY, PROMPT, LATENTS = 128, 4, 1026, 24, 8


@kernel("xtts-gpt")
def gpt(bench: Workbench) -> Case:
    """The speaker's latents and a prompt, then six steps with keys and values kept; the reference sees all at once."""
    linear = torch.nn.Linear
    parts = {"embed": torch.nn.Embedding(VOCABULARY, WIDTH), "place": torch.nn.Embedding(64, WIDTH)}
    parts.update({"norm": torch.nn.LayerNorm(WIDTH), "head": linear(WIDTH, VOCABULARY)})
    for layer in "01":
        parts.update({part + layer: torch.nn.LayerNorm(WIDTH) for part in ("norm1_", "norm2_")})
        parts.update({"qkv_" + layer: linear(WIDTH, 3 * WIDTH), "out_" + layer: linear(WIDTH, WIDTH)})
        parts.update({"up_" + layer: linear(WIDTH, 4 * WIDTH), "down_" + layer: linear(4 * WIDTH, WIDTH)})

    def forward(m: Any, tokens: Any, latents: Any) -> Any:
        x = torch.cat([latents, m["embed"](tokens) + m["place"].weight[None, : tokens.shape[1]]], 1)
        first, end = LATENTS + PROMPT, x.shape[1]
        steps = [(0, first), *((place, place + 1) for place in range(first, end))]
        if x.dtype == torch.float64:
            steps = [(0, end)]
        caches: Any = {}
        answers = []
        for begin, stop in steps:
            hidden = x[:, begin:stop]
            for layer in "01":
                hidden, caches[layer] = _block(m, layer, hidden, caches.get(layer))
            answers.append(m["head"](m["norm"](hidden)))
        return torch.cat(answers, 1)[:, first - 1 :]

    inputs = (bench.randint(0, VOCABULARY, 1, PROMPT + 6), bench.randn(1, LATENTS, WIDTH))
    return Case(forward, inputs, modules=bench.modules(parts))


def _project(layer: Any, x: Any) -> Any:
    """Apply a layer as GPT-2 does, whose weights are kept as (in, out): an addmm that transposes nothing."""
    weight = layer.weight.t().contiguous()
    return torch.addmm(layer.bias, x.reshape(-1, x.shape[-1]), weight).reshape(*x.shape[:-1], -1)


def _block(m: Any, layer: str, x: Any, cache: Any) -> Any:
    query, key, value = (
        split(part, HEADS) for part in _project(m["qkv_" + layer], m["norm1_" + layer](x)).chunk(3, -1)
    )
    if cache is not None:
        key, value = torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2)
    # Written out: the releases of transformers that XTTS is held to know no fused attention for GPT-2.
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    frames, seen = scores.shape[-2:]
    allowed = torch.ones(frames, seen, dtype=torch.bool, device=x.device).tril(seen - frames)
    scores = torch.where(allowed, scores, torch.full_like(scores[:1, :1, :1, :1], torch.finfo(scores.dtype).min))
    answer = (torch.softmax(scores, -1) @ value).transpose(1, 2).reshape(x.shape)
    x = x + _project(m["out_" + layer], answer)
    hidden = nnf.gelu(_project(m["up_" + layer], m["norm2_" + layer](x)), approximate="tanh")
    return x + _project(m["down_" + layer], hidden), (key, value)


@kernel("xtts-hifigan")
def hifigan(bench: Workbench) -> Case:
    """Latents to a waveform, the speaker added before and in every stage."""
    parts = {
        "pre": torch.nn.Conv1d(128, 128, 7, padding=3),
        "post": torch.nn.Conv1d(32, 1, 7, padding=3, bias=False),
        **{"speaker" + place: torch.nn.Conv1d(64, width, 1) for place, width in (("", 128), ("0", 64), ("1", 32))},
    }
    parts.update({**vocoder_parts("u0", 128, 8), **vocoder_parts("u1", 64, 4)})

    def decode(m: Any, latents: Any, speaker: Any) -> Any:
        # To the frames of the decoder, then from 22.05 to 24 kHz.
        x = nnf.interpolate(latents, scale_factor=4.0, mode="linear")
        x = nnf.interpolate(x, scale_factor=24000 / 22050, mode="linear")
        x = m["pre"](x) + m["speaker"](speaker)
        for stage in "01":
            x = upsample(m, "u" + stage, x, m["speaker" + stage](speaker))
        return torch.tanh(m["post"](nnf.leaky_relu(x)))

    return Case(decode, (bench.randn(1, 128, 12), bench.randn(1, 64, 1)), modules=bench.modules(parts))


@kernel("xtts-latents")
def latents(bench: Workbench) -> Case:
    """Reference audio to latents by a perceiver, and to a unit vector by attentive statistics."""
    conv, linear = torch.nn.Conv1d, torch.nn.Linear
    parts = {"conv": conv(80, WIDTH, 1), "group": torch.nn.GroupNorm(16, WIDTH)}
    parts.update({"qkv": conv(WIDTH, 3 * WIDTH, 1), "proj": conv(WIDTH, WIDTH, 1)})
    parts.update({"q": linear(WIDTH, WIDTH, bias=False), "kv": linear(WIDTH, 2 * WIDTH, bias=False)})
    parts.update({"out": linear(WIDTH, WIDTH, bias=False), "image": torch.nn.Conv2d(1, 16, 3, (2, 1), 1)})
    parts.update({"batch": torch.nn.BatchNorm2d(16), "squeeze": linear(16, 4), "excite": linear(4, 16)})
    parts.update({"weigh": conv(512, 64, 1), "share": conv(64, 512, 1), "speaker": linear(1024, 64)})

    def forward(m: Any, signal: Any, queries: Any, long: Any, short: Any, bands80: Any, bands64: Any) -> Any:
        power = torch.stft(signal, 2048, 256, 1024, window=long, return_complex=True).abs() ** 2
        conditions = _conditions(m, torch.log(torch.clamp(bands80 @ power, min=1e-5)), queries)
        # A filter against the low end first.
        filtered = nnf.pad(signal[:, None], (1, 0), mode="reflect")
        filtered = nnf.conv1d(filtered, torch.tensor([[[-0.97, 1.0]]], device=signal.device, dtype=signal.dtype))[:, 0]
        power = torch.stft(filtered, 512, 160, 400, window=short, return_complex=True).abs() ** 2
        return conditions, _speaker(m, torch.log(bands64 @ power + 1e-6))

    windows = torch.hann_window(1024), torch.hamming_window(400)
    bands = mel_filters(80, 1025, 22050.0), mel_filters(64, 257, 16000.0)
    return Case(
        forward, (bench.randn(1, 12000), bench.randn(1, 32, WIDTH), *windows, *bands), modules=bench.modules(parts)
    )


def _attention(query: Any, key: Any, value: Any) -> Any:
    query, key, value = (split(part, HEADS) for part in (query, key, value))
    shares = torch.softmax(query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1]), -1)
    return (shares @ value).transpose(1, 2).flatten(2)


def _conditions(m: Any, mel: Any, queries: Any) -> Any:
    """Attend among the frames, then from a fixed number of queries to them and to each other."""
    x = m["conv"](mel)
    attended = _attention(*(part.transpose(1, 2) for part in m["qkv"](m["group"](x)).chunk(3, 1)))
    x = (x + m["proj"](attended.transpose(1, 2))).transpose(1, 2)
    key, value = m["kv"](torch.cat([queries, x], 1)).chunk(2, -1)
    return queries + m["out"](_attention(m["q"](queries), key, value))


def _speaker(m: Any, mel: Any) -> Any:
    """Convolve, weigh the channels by what they hold, and pool mean and deviation over time by shares."""
    x = m["batch"](torch.relu(m["image"](nnf.instance_norm(mel)[:, None])))
    shares = torch.sigmoid(m["excite"](torch.relu(m["squeeze"](x.mean((2, 3))))))
    x = torch.relu(x * shares[..., None, None]).flatten(1, 2)
    weights = torch.softmax(m["share"](torch.tanh(m["weigh"](x))), 2)
    mean = (x * weights).sum(2)
    deviation = torch.sqrt(((x**2 * weights).sum(2) - mean**2).clamp(min=1e-5))
    return nnf.normalize(m["speaker"](torch.cat([mean, deviation], 1)), dim=-1)
