"""Normalisations and softmax."""

from __future__ import annotations

import torch
import torch.nn.functional as nnf

from ..registry import Case, Workbench, kernel

__all__ = []  # type: list[str]


@kernel("layer-norm")
def layer_norm(bench: Workbench) -> Case:
    """Over the features of each frame."""
    return Case(
        lambda x, w, b: nnf.layer_norm(x, (512,), w, b, 1e-5),
        (bench.randn(2, 128, 512) + 3, bench.randn(512), bench.randn(512)),
    )


@kernel("group-norm")
def group_norm(bench: Workbench) -> Case:
    """32 groups of 256 channels."""
    return Case(
        lambda x, w, b: nnf.group_norm(x, 32, w, b, 1e-5),
        (bench.randn(2, 256, 256) + 1, bench.randn(256), bench.randn(256)),
    )


@kernel("instance-norm")
def instance_norm(bench: Workbench) -> Case:
    """Adaptive instance normalisation, as in StyleTTS decoders."""

    def adaptive(x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
        return (1 + gamma) * nnf.instance_norm(x, eps=1e-5) + beta

    return Case(adaptive, (bench.randn(2, 128, 400) + 1, bench.randn(2, 128, 1), bench.randn(2, 128, 1)))


@kernel("batch-norm")
def batch_norm(bench: Workbench) -> Case:
    """With stored statistics, and with those of the batch."""

    def both(x: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        stored = nnf.batch_norm(x, mean, variance, w, None, False)
        return stored + nnf.batch_norm(x, mean.clone(), variance.clone(), w, None, True)

    return Case(both, (bench.randn(4, 64, 256) + 1, bench.randn(64), bench.rand(64) + 0.5, bench.randn(64)))


@kernel("rms-norm")
def rms_norm(bench: Workbench) -> Case:
    """Root mean square, written out as the models have it."""
    return Case(
        lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w,
        (bench.randn(2, 128, 512), bench.randn(512)),
    )


@kernel("softmax")
def softmax(bench: Workbench) -> Case:
    """Over large scores, where a softmax that does not subtract the maximum overflows."""
    return Case(
        lambda x: (torch.softmax(x, -1), torch.log_softmax(x, -1)),
        (bench.randn(64, 1026, scale=40.0),),
    )
