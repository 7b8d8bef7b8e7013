"""Layers that several workloads share."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as nnf

__all__ = ["attend", "block", "block_parts", "upsample_parts", "upsample_stage"]


def block_parts(name: str, width: int) -> Any:
    """Return the layers of one transformer block."""
    return {
        name + "_norm1": torch.nn.LayerNorm(width),
        name + "_qkv": torch.nn.Linear(width, 3 * width),
        name + "_out": torch.nn.Linear(width, width),
        name + "_norm2": torch.nn.LayerNorm(width),
        name + "_up": torch.nn.Linear(width, 2 * width),
        name + "_down": torch.nn.Linear(2 * width, width),
    }


def attend(query: Any, key: Any, value: Any, heads: int, causal: bool) -> Any:
    """Attend over (batch, frames, width)."""

    def split(x: Any) -> Any:
        return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)

    answer = nnf.scaled_dot_product_attention(split(query), split(key), split(value), is_causal=causal)
    return answer.transpose(1, 2).reshape(query.shape)


def block(m: Any, name: str, x: Any, heads: int, *, causal: bool = False, scale: Any = 1.0, shift: Any = 0.0) -> Any:
    """Apply one pre-norm transformer block; scale and shift modulate it as in a DiT."""
    query, key, value = m[name + "_qkv"](m[name + "_norm1"](x) * scale + shift).chunk(3, -1)
    x = x + m[name + "_out"](attend(query, key, value, heads, causal))
    hidden = nnf.gelu(m[name + "_up"](m[name + "_norm2"](x) * scale + shift))
    return x + m[name + "_down"](hidden)


def upsample_parts(name: str, channels: int, factor: int, dilations: Any) -> Any:
    """Return a transposed convolution and a residual block of dilated ones, as in HiFi-GAN."""
    half = channels // 2
    parts = {
        name + "_up": torch.nn.ConvTranspose1d(
            channels, half, 2 * factor, factor, padding=math.ceil(factor / 2), output_padding=factor % 2
        )
    }
    for dilation in dilations:
        parts[f"{name}_res{dilation}"] = torch.nn.Conv1d(half, half, 3, padding=dilation, dilation=dilation)
    return parts


def upsample_stage(m: Any, name: str, x: Any, dilations: Any, extra: Any = None) -> Any:
    """Apply what ``upsample_parts`` made; ``extra`` is added after the upsampling (a harmonic source)."""
    x = m[name + "_up"](nnf.leaky_relu(x, 0.1))
    if extra is not None:
        x = x + extra
    for dilation in dilations:
        x = x + m[f"{name}_res{dilation}"](nnf.leaky_relu(x, 0.1))
    return x
