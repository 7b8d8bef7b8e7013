"""Scaled dot-product attention in the variants that speech models use."""

from __future__ import annotations

import math
from typing import Any, Optional

import torch
import torch.nn.functional as nnf

from ..registry import Case, Workbench, kernel

__all__ = []  # type: list[str]

HEADS, FRAMES, WIDTH = 8, 192, 64
FLOPS = 4.0 * HEADS * FRAMES * FRAMES * WIDTH


def _plain(query: Any, key: Any, value: Any, mask: Optional[Any] = None) -> Any:
    """Attention written out; the reference of every variant."""
    scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.matmul(torch.softmax(scores, -1), value)


def _heads(bench: Workbench, frames: int = FRAMES) -> Any:
    return bench.randn(1, HEADS, frames, WIDTH)


@kernel("attention")
@kernel("attention-math")
@kernel("attention-flash")
@kernel("attention-efficient")
def attention(bench: Workbench) -> Case:
    """Every frame sees every frame."""
    inputs = (_heads(bench), _heads(bench), _heads(bench))
    return Case(nnf.scaled_dot_product_attention, inputs, reference=_plain, flops=FLOPS)


@kernel("attention-masked")
def attention_masked(bench: Workbench) -> Case:
    """Padding at the end is not seen."""
    mask = (torch.arange(FRAMES) < FRAMES - 40)[None, None, None, :].expand(1, 1, FRAMES, FRAMES).clone()
    return Case(
        lambda q, k, v, m: nnf.scaled_dot_product_attention(q, k, v, attn_mask=m),
        (_heads(bench), _heads(bench), _heads(bench), mask),
        reference=_plain,
        flops=FLOPS,
    )


@kernel("attention-causal")
def attention_causal(bench: Workbench) -> Case:
    """A frame sees those before it."""
    mask = torch.ones(FRAMES, FRAMES, dtype=torch.bool).tril()
    return Case(
        lambda q, k, v: nnf.scaled_dot_product_attention(q, k, v, is_causal=True),
        (_heads(bench), _heads(bench), _heads(bench)),
        reference=lambda q, k, v: _plain(q, k, v, mask),
        flops=FLOPS / 2,
    )


@kernel("attention-cached")
def attention_cached(bench: Workbench) -> Case:
    """Token by token with keys and values kept: the same as all at once under a causal mask."""
    steps, before = 6, 64

    def cached(query: Any, key: Any, value: Any) -> Any:
        answers = []
        for step in range(steps):
            seen = before + step + 1
            answers.append(
                nnf.scaled_dot_product_attention(
                    query[:, :, step : step + 1], key[:, :, :seen].contiguous(), value[:, :, :seen].contiguous()
                )
            )
        return torch.cat(answers, 2)

    mask = torch.ones(steps, before + steps, dtype=torch.bool).tril(before)
    inputs = (_heads(bench, steps), _heads(bench, before + steps), _heads(bench, before + steps))
    return Case(cached, inputs, reference=lambda q, k, v: _plain(q, k, v, mask))
