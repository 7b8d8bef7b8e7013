"""Lookups, sorting, and changes of length."""

from __future__ import annotations

import torch
import torch.nn.functional as nnf

from ..registry import Case, Workbench, kernel

__all__ = []  # type: list[str]


def _distinct(bench: Workbench, rows: int, columns: int) -> torch.Tensor:
    """Values without ties, so that order has one right answer."""
    return torch.stack([bench.permutation(columns) for _ in range(rows)]).to(bench.dtype)


@kernel("embedding")
def embedding(bench: Workbench) -> Case:
    """Tokens to vectors."""
    tokens, table = bench.randint(0, 6681, 2, 200), bench.randn(6681, 128)
    return Case(nnf.embedding, (tokens, table), bytes_moved=8.0 * 2 * 200 * 128)


@kernel("gather")
def gather(bench: Workbench) -> Case:
    """One value of each row by its index."""
    return Case(lambda x, i: torch.gather(x, 1, i), (bench.randn(128, 1024), bench.randint(0, 1024, 128, 64)))


@kernel("scatter")
def scatter(bench: Workbench) -> Case:
    """Values to places that do not collide."""
    places = torch.stack([bench.permutation(512)[:256] for _ in range(32)])
    return Case(lambda x, i, v: x.scatter(1, i, v), (bench.randn(32, 512), places, bench.randn(32, 256)))


@kernel("index-add")
def index_add(bench: Workbench) -> Case:
    """Frames added up by their token; several to one place."""
    return Case(
        lambda x, i, v: x.index_add(0, i, v),
        (bench.randn(64, 128), bench.randint(0, 64, 500), bench.randn(500, 128)),
    )


@kernel("cumsum")
def cumsum(bench: Workbench) -> Case:
    """A phase from frequencies."""
    return Case(lambda x: torch.cumsum(x, -1), (bench.rand(4, 4800),))


@kernel("sort")
def sort(bench: Workbench) -> Case:
    """Values and the places that they came from."""
    return Case(lambda x: tuple(torch.sort(x, dim=-1, descending=True)), (_distinct(bench, 8, 1026),))


@kernel("topk")
def topk(bench: Workbench) -> Case:
    """The 50 likeliest tokens."""
    return Case(lambda x: tuple(torch.topk(x, 50, dim=-1)), (_distinct(bench, 8, 1026),))


@kernel("argmax")
def argmax(bench: Workbench) -> Case:
    """The likeliest token, and the least likely."""
    return Case(lambda x: (torch.argmax(x, -1), torch.argmin(x, -1)), (_distinct(bench, 32, 1026),))


@kernel("repeat-interleave")
def repeat_interleave(bench: Workbench) -> Case:
    """Each token as many times as its duration."""
    return Case(lambda x, n: torch.repeat_interleave(x, n, dim=0), (bench.randn(100, 128), bench.randint(0, 9, 100)))


@kernel("interpolate")
def interpolate(bench: Workbench) -> Case:
    """Nearest and linear, up and down."""

    def resize(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            nnf.interpolate(x, scale_factor=2.0, mode="nearest"),
            nnf.interpolate(x, size=300, mode="linear", align_corners=False),
        )

    return Case(resize, (bench.randn(1, 128, 200),))
