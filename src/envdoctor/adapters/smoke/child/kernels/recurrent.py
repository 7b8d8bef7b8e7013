"""Recurrent layers, as duration and pitch predictors use them."""

from __future__ import annotations

from typing import Any

import torch

from ..registry import Case, Workbench, kernel

__all__ = []  # type: list[str]

FEATURES, HIDDEN, FRAMES = 64, 64, 48


@kernel("lstm")
def lstm(bench: Workbench) -> Case:
    """Two ways, two layers."""
    layer = torch.nn.LSTM(FEATURES, HIDDEN, num_layers=2, bidirectional=True, batch_first=True)
    modules = bench.modules({"lstm": layer})
    return Case(lambda m, x: m["lstm"](x)[0], (bench.randn(2, FRAMES, FEATURES),), modules=modules)


@kernel("gru")
def gru(bench: Workbench) -> Case:
    """The recurrent head of a pitch network."""
    layer = torch.nn.GRU(FEATURES, HIDDEN, bidirectional=True, batch_first=True)
    modules = bench.modules({"gru": layer})
    return Case(lambda m, x: m["gru"](x)[0], (bench.randn(2, FRAMES, FEATURES),), modules=modules)


@kernel("packed-sequence")
def packed_sequence(bench: Workbench) -> Case:
    """Sequences of unlike length in one batch."""
    modules = bench.modules({"lstm": torch.nn.LSTM(FEATURES, HIDDEN, bidirectional=True, batch_first=True)})
    lengths = torch.tensor([FRAMES, FRAMES - 17, 5])

    def packed(m: Any, x: torch.Tensor) -> torch.Tensor:
        rnn = torch.nn.utils.rnn
        batch = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        answer: torch.Tensor = rnn.pad_packed_sequence(m["lstm"](batch)[0], batch_first=True, total_length=FRAMES)[0]
        return answer

    return Case(packed, (bench.randn(3, FRAMES, FEATURES),), modules=modules)
