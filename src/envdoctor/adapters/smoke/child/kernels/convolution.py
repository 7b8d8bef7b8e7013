"""Convolutions at the shapes of vocoders and feature extractors."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as nnf

from ..registry import Case, Workbench, kernel

__all__ = []  # type: list[str]


def _conv1d(bench: Workbench, channels: int, length: int, width: int, **options: Any) -> Case:
    groups = int(options.get("groups", 1))
    signal = bench.randn(1, channels, length)
    weight = bench.randn(channels, channels // groups, width, scale=(channels // groups * width) ** -0.5)
    bias = bench.randn(channels, scale=0.1)
    return Case(
        lambda x, w, b: nnf.conv1d(x, w, b, **options),
        (signal, weight, bias),
        flops=2.0 * channels * (channels // groups) * width * length,
    )


@kernel("conv1d")
@kernel("conv1d-float16")
@kernel("conv1d-bfloat16")
def conv1d(bench: Workbench) -> Case:
    """A residual block's convolution."""
    return _conv1d(bench, 64, 768, 7, padding=3)


@kernel("conv1d-dilated")
def conv1d_dilated(bench: Workbench) -> Case:
    """The widest convolution of a HiFi-GAN residual block."""
    return _conv1d(bench, 64, 1024, 11, padding=25, dilation=5)


@kernel("conv1d-grouped")
def conv1d_grouped(bench: Workbench) -> Case:
    """HuBERT's positional convolution: 128 wide, in 16 groups."""
    return _conv1d(bench, 256, 128, 128, padding=64, groups=16)


@kernel("conv1d-depthwise")
def conv1d_depthwise(bench: Workbench) -> Case:
    """A ConvNeXt block's depthwise convolution."""
    return _conv1d(bench, 256, 512, 7, padding=3, groups=256)


@kernel("conv2d")
def conv2d(bench: Workbench) -> Case:
    """A pitch network's convolution over a mel spectrogram."""
    image, weight, bias = bench.randn(1, 32, 96, 128), bench.randn(32, 32, 3, 3, scale=0.06), bench.randn(32)
    return Case(
        lambda x, w, b: nnf.conv2d(x, w, b, padding=1), (image, weight, bias), flops=2.0 * 32 * 32 * 9 * 96 * 128
    )


@kernel("conv-transpose1d")
def conv_transpose1d(bench: Workbench) -> Case:
    """A vocoder's upsampling by 8."""
    frames, weight, bias = bench.randn(1, 256, 96), bench.randn(256, 128, 16, scale=0.03), bench.randn(128)
    return Case(
        lambda x, w, b: nnf.conv_transpose1d(x, w, b, stride=8, padding=4),
        (frames, weight, bias),
        flops=2.0 * 256 * 128 * 16 * 96,
    )
