"""Half precision by autocast, unlike types together, and numbers at the edge."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import torch
import torch.nn.functional as nnf

from ..backend_settings import FLAGS
from ..registry import Case, Skip, Workbench, kernel

__all__ = ["AUTOCAST"]

AUTOCAST = ("cuda", "cpu", "xpu", "mps")
"""Device types that torch can autocast on."""


def _autocast(bench: Workbench, half: Any) -> Case:
    if bench.device.type not in AUTOCAST:
        raise Skip("torch has no autocast for " + bench.backend)
    weights = [bench.randn(256, 256, scale=0.06) for _ in range(2)]

    def forward(x: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        # The reference in float64 is what it should be, so it is not cast.
        cast = x.dtype == torch.float32 and FLAGS.autocast
        with torch.autocast(x.device.type, dtype=half, enabled=cast):
            hidden = nnf.gelu(nnf.linear(x, first))
            answer = nnf.layer_norm(nnf.linear(hidden, second), (256,))
        if cast and nnf.linear(x[:1], first).dtype != torch.float32:
            raise RuntimeError("autocast outlived its block")
        return answer

    return Case(forward, (bench.randn(96, 256), *weights))


@kernel("autocast-float16")
def autocast_float16(bench: Workbench) -> Case:
    """A feed-forward block."""
    return _autocast(bench, torch.float16)


@kernel("autocast-bfloat16")
def autocast_bfloat16(bench: Workbench) -> Case:
    """A feed-forward block."""
    return _autocast(bench, torch.bfloat16)


@kernel("mixed-dtype-latents")
def mixed_dtype_latents(bench: Workbench) -> Case:
    """Half weights, float32 latents from elsewhere: cast where they meet, as XTTS's speaker latents are."""
    latents = torch.randn(1, 32, 256, generator=bench.generator)
    weight, bias = bench.randn(256, 256, scale=0.06), bench.randn(256)

    def meet(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        projected = nnf.linear(x.to(w.dtype), w, b)
        # float32 + half promotes to float32; a device that keeps the half is wrong by its rounding.
        return x + projected

    return Case(meet, (latents, weight, bias))


@kernel("denormals")
def denormals(bench: Workbench) -> Case:
    """Products below the smallest normal number: kept, or flushed to zero, but nothing else."""
    small = (1.0 + bench.rand(256)) * 1e-30
    factors = (1.0 + bench.rand(256)) * 1e-9
    exact = small.double() * factors.double()

    def check(answer: Tuple[Any, ...]) -> Optional[str]:
        product = answer[0].double()
        kept = ((product - exact).abs() <= 1.5e-45).all()
        flushed = (product == 0).all()
        return None if bool(kept) or bool(flushed) else "denormal products are neither kept nor flushed to zero"

    return Case(lambda a, b: a * b, (small, factors), check=check)


@kernel("nan-propagation")
def nan_propagation(bench: Workbench) -> Case:
    """NaN and infinity pass through maximum, sum, softmax and comparison as they should."""
    values = bench.randn(4, 64)
    values[0, 5] = float("nan")
    values[1, 7] = float("inf")
    values[2, 9] = float("-inf")

    def probe(x: torch.Tensor) -> Tuple[torch.Tensor, ...]:
        return (x.amax(-1), x.sum(-1), torch.isnan(x).sum(-1), torch.softmax(x, -1).sum(-1), torch.isfinite(x).sum(-1))

    def check(answer: Tuple[Any, ...]) -> Optional[str]:
        expected = probe(values)
        for got, wanted in zip(answer, expected):
            if not torch.allclose(got.double(), wanted.double(), equal_nan=True, atol=1e-5):
                return f"NaN or infinity is lost or made up: {got.tolist()} instead of {wanted.tolist()}"
        return None

    return Case(probe, (values,), check=check)
