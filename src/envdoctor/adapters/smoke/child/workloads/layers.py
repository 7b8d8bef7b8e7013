"""Layers that several workloads share."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional, Sequence, Tuple

import torch
import torch.nn.functional as nnf

__all__ = [
    "attend",
    "llama_block",
    "llama_parts",
    "residuals",
    "rms_norm",
    "rotary",
    "split",
    "upsample",
    "vocoder_parts",
]

KERNELS = (3, 7, 11)
"""The widths of a HiFi-GAN's residual blocks; their answers are averaged."""
DILATIONS = (1, 3, 5)


def split(x: Any, heads: int) -> Any:
    """Return (batch, frames, width) as (batch, heads, frames, width of a head)."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def attend(query: Any, key: Any, value: Any, mask: Optional[Any] = None) -> Any:
    """Attend over heads that are split; returns (batch, frames, width)."""
    answer = nnf.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return answer.transpose(1, 2).reshape(answer.shape[0], answer.shape[2], -1)


def rms_norm(x: Any, weight: Any) -> Any:
    """Scale to a root mean square of 1, then by the weight; the weight may differ from frame to frame."""
    return weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def rotary(x: Any, begin: int) -> Any:
    """Turn the halves of each head against each other by the frame's place; the first frame is at ``begin``."""
    half = x.shape[-1] // 2
    speeds = 10000.0 ** (-torch.arange(half, device=x.device, dtype=x.dtype) / half)
    angles = torch.outer(torch.arange(begin, begin + x.shape[-2], device=x.device, dtype=x.dtype), speeds)
    cosine, sine = (torch.cat([part, part], -1) for part in (angles.cos(), angles.sin()))
    return x * cosine + torch.cat([-x[..., half:], x[..., :half]], -1) * sine


def llama_parts(name: str, width: int) -> Dict[str, Any]:
    """Return the layers of a Llama block, the norms of which are the caller's."""
    linear = torch.nn.Linear
    return {
        **{name + part: linear(width, width, bias=False) for part in ("_q", "_k", "_v", "_o")},
        **{name + part: linear(width, 2 * width, bias=False) for part in ("_gate", "_up")},
        name + "_down": linear(2 * width, width, bias=False),
    }


def llama_block(
    m: Any, name: str, x: Any, heads: int, norms: Tuple[Any, Any], *, kept: Any = None, begin: int = 0
) -> Tuple[Any, Any]:
    """Apply a Llama block that sees every frame, and those ``kept``. Returns the answer, and the keys and values."""
    seen = rms_norm(x, norms[0])
    query = rotary(split(m[name + "_q"](seen), heads), begin)
    key, value = rotary(split(m[name + "_k"](seen), heads), begin), split(m[name + "_v"](seen), heads)
    if kept is not None:
        key, value = torch.cat([kept[0], key], 2), torch.cat([kept[1], value], 2)
    mask = torch.ones(x.shape[0], 1, x.shape[1], key.shape[2], dtype=torch.bool, device=x.device)
    x = x + m[name + "_o"](attend(query, key, value, mask))
    seen = rms_norm(x, norms[1])
    return x + m[name + "_down"](nnf.silu(m[name + "_gate"](seen)) * m[name + "_up"](seen)), (key, value)


def vocoder_parts(
    name: str, channels: int, factor: int, kernels: Sequence[int] = KERNELS, dilations: Sequence[int] = DILATIONS
) -> Dict[str, Any]:
    """Return a transposed convolution and the residual blocks behind it, as in HiFi-GAN."""
    half = channels // 2
    padding, more = math.ceil(factor / 2), factor % 2
    up = torch.nn.ConvTranspose1d(channels, half, 2 * factor, factor, padding=padding, output_padding=more)
    parts: Dict[str, Any] = {name + "_up": up}
    for kernel in kernels:
        for dilation in dilations:
            wide = torch.nn.Conv1d(half, half, kernel, padding=(kernel - 1) * dilation // 2, dilation=dilation)
            parts[f"{name}_{kernel}_{dilation}_wide"] = wide
            parts[f"{name}_{kernel}_{dilation}_even"] = torch.nn.Conv1d(half, half, kernel, padding=kernel // 2)
    return parts


def residuals(
    m: Any,
    name: str,
    x: Any,
    kernels: Sequence[int] = KERNELS,
    dilations: Sequence[int] = DILATIONS,
    active: Any = lambda x: nnf.leaky_relu(x, 0.1),
) -> Any:
    """Return the mean over the kernel widths: pairs of a dilated and a plain convolution, each pair added on."""
    total = 0.0
    for kernel in kernels:
        branch = x
        for dilation in dilations:
            inner = m[f"{name}_{kernel}_{dilation}_wide"](active(branch))
            branch = branch + m[f"{name}_{kernel}_{dilation}_even"](active(inner))
        total = total + branch
    return total / len(kernels)


def upsample(m: Any, name: str, x: Any, extra: Any = None) -> Any:
    """Apply a stage of HiFi-GAN; ``extra`` is added after the upsampling (a speaker, a harmonic source)."""
    x = m[name + "_up"](nnf.leaky_relu(x, 0.1))
    return residuals(m, name, x if extra is None else x + extra)
