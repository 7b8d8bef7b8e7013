"""Matrix products at the shapes of a transformer's projections."""

from __future__ import annotations

import torch

from ..registry import Case, Skip, Workbench, kernel

__all__ = []  # type: list[str]

ROWS, INNER, COLUMNS = 192, 768, 768


def _product(bench: Workbench, inner: int = INNER) -> Case:
    left, right = bench.randn(ROWS, inner), bench.randn(inner, COLUMNS)
    return Case(torch.matmul, (left, right), flops=2.0 * ROWS * inner * COLUMNS)


@kernel("gemm-float32")
@kernel("gemm-tf32")
@kernel("gemm-bfloat16")
@kernel("gemm-float16")
def gemm(bench: Workbench) -> Case:
    """One projection of 192 frames."""
    return _product(bench)


@kernel("gemm-int8")
def gemm_int8(bench: Workbench) -> Case:
    """int8 x int8 -> int32, as quantised layers use it."""
    if not hasattr(torch, "_int_mm"):
        raise Skip("this torch has no int8 matrix product")
    left = bench.randint(-128, 128, 64, 256).to(torch.int8)
    right = bench.randint(-128, 128, 256, 128).to(torch.int8)
    return Case(
        torch._int_mm,
        (left, right),
        reference=lambda a, b: a.to(torch.int64) @ b.to(torch.int64),
        flops=2.0 * 64 * 256 * 128,
    )


@kernel("gemm-batched")
def gemm_batched(bench: Workbench) -> Case:
    """Scores of 16 heads."""
    left, right = bench.randn(16, 128, 64), bench.randn(16, 64, 128)
    return Case(torch.bmm, (left, right), flops=2.0 * 16 * 128 * 64 * 128)


@kernel("gemm-strided")
def gemm_strided(bench: Workbench) -> Case:
    """Transposed and sliced operands, which reach cuBLAS as leading dimensions."""
    left, right = bench.randn(8, 96, 256), bench.randn(512, 200)

    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a[:, ::2, :].transpose(0, 1), b.t()[4:196:1, :256].t())

    return Case(product, (left, right), flops=2.0 * 48 * 8 * 256 * 192)


@kernel("addmm-cublaslt")
def addmm(bench: Workbench) -> Case:
    """A linear layer with bias: the call that goes to cublasLt."""
    weight, bias, rows = bench.randn(COLUMNS, INNER, scale=0.05), bench.randn(COLUMNS), bench.randn(ROWS, INNER)
    return Case(
        lambda x, w, b: torch.nn.functional.linear(x, w, b),
        (rows, weight, bias),
        flops=2.0 * ROWS * INNER * COLUMNS,
    )


@kernel("gemm-ex-float16")
@kernel("gemm-ex-bfloat16")
def gemm_ex(bench: Workbench) -> Case:
    """Sums of 4096 positive terms: right only where halves are accumulated in float32."""
    left, right = bench.rand(64, 4096), bench.rand(4096, 64)
    return Case(torch.matmul, (left, right), flops=2.0 * 64 * 4096 * 64)
