"""Amphion: MaskGCT's transformer and codec, the aligner's extension, a training step."""

from __future__ import annotations

import importlib
import math
from functools import lru_cache
from typing import Any, Tuple

import torch
import torch.nn.functional as nnf

from ..kernels.audio import nearest_codes
from ..kernels.training import step
from ..registry import Case, Skip, Workbench, kernel
from .layers import llama_block, llama_parts, rms_norm

__all__ = []  # type: list[str]

WIDTH, HEADS, CODES = 128, 4, 512


@kernel("amphion-maskgct")
def maskgct(bench: Workbench) -> Case:
    """Masked codes filled in over two rounds behind a prompt, with guidance; what is compared are the last scores."""
    linear = torch.nn.Linear
    parts = {"embed": torch.nn.Embedding(CODES + 1, WIDTH), "head": linear(WIDTH, CODES)}
    parts.update({"prompt": linear(WIDTH, WIDTH), "time": linear(WIDTH, WIDTH), "final": linear(WIDTH, WIDTH)})
    for layer in ("b0", "b1"):
        parts.update({layer + norm: linear(WIDTH, WIDTH) for norm in ("_n1", "_n2")})
        parts.update(llama_parts(layer, WIDTH))

    def scores(m: Any, x: Any, time: Any) -> Any:
        # The norms' weights come from the time.
        frequencies = torch.exp(-math.log(10000.0) / 63 * torch.arange(64, device=x.device, dtype=x.dtype))
        angles = 1000 * time * frequencies
        when = nnf.silu(m["time"](torch.cat([angles.sin(), angles.cos()], -1)))[None, None]
        for layer in ("b0", "b1"):
            norms = 1 + m[layer + "_n1"](when), 1 + m[layer + "_n2"](when)
            x, _ = llama_block(m, layer, x, HEADS, norms)
        return m["head"](rms_norm(x, 1 + m["final"](when)))

    def fill(m: Any, seen: Any, known: Any, prompt: Any) -> Any:
        told = None
        for time in (1.0, 0.5):
            x = m["embed"](seen)
            told = scores(m, torch.cat([m["prompt"](prompt), x], 1), time)[:, prompt.shape[1] :]
            guided = told + 1.5 * (told - scores(m, x, time))
            # Guidance without growth: as spread as before.
            told = 0.75 * guided * told.std() / guided.std() + 0.25 * guided
            # The known codes are given back, so that no near tie can choose another way.
            seen = torch.where((seen == CODES) & (torch.arange(64, device=seen.device) < 32), known, seen)
        return told

    tokens = bench.randint(0, CODES, 1, 64)
    masked = tokens.clone()
    masked[:, ::2] = CODES
    return Case(fill, (masked, tokens, bench.randn(1, 16, WIDTH)), modules=bench.modules(parts))


@kernel("amphion-rvq")
def rvq(bench: Workbench) -> Case:
    """Four codebooks, each for what the one before left over, looked up by direction in few dimensions."""
    books = [bench.randn(256, 8) for _ in range(4)]
    ways = {f"in{level}": torch.nn.Conv1d(128, 8, 1) for level in range(4)}
    backs = {f"out{level}": torch.nn.Conv1d(8, 128, 1) for level in range(4)}

    def encode(m: Any, x: Any, *codebooks: Any) -> Tuple[Any, ...]:
        left, codes, total = x, [], torch.zeros_like(x)
        for level, codebook in enumerate(codebooks):
            few = m[f"in{level}"](left).transpose(1, 2).flatten(0, 1)
            code = nearest_codes(nnf.normalize(few), nnf.normalize(codebook))
            word = m[f"out{level}"](nnf.embedding(code, codebook)[None].transpose(1, 2))
            left, total = left - word, total + word
            codes.append(code)
        return total, torch.stack(codes).to(x.dtype)

    return Case(encode, (bench.randn(1, 128, 60), *books), modules=bench.modules({**ways, **backs}))


@kernel("amphion-monotonic-align")
def monotonic_align(bench: Workbench) -> Case:
    """The compiled aligner, or the package that stands in for it, against the same search written out."""
    extension = None
    for name in ("monotonic_align", "modules.monotonic_align", "monotonic_align.core"):
        try:
            module = importlib.import_module(name)
        except Exception:  # noqa: BLE001, S112 - a broken extension may raise anything; the next name may do
            continue
        extension = getattr(module, "maximum_path", None)
        if extension is not None:
            break
    if extension is None:
        extension = _packaged_search()
    # Frames first, then tokens: every frame takes one token, and no token is passed over.
    scores, mask = bench.randn(1, 30, 12), torch.ones(1, 30, 12)
    return Case(extension, (scores, mask), reference=lambda s, _: _best_path(s[0].T).T[None], timed=False)


def _packaged_search() -> Any:
    """Return the search of the package, which takes tokens before frames, as the extension takes them."""
    try:
        search = importlib.import_module("monotonic_alignment_search").maximum_path
    except Exception as error:
        raise Skip("neither `monotonic_align` nor `monotonic_alignment_search` is installed") from error
    return lambda s, m: search(s.transpose(1, 2).contiguous(), m.transpose(1, 2).contiguous()).transpose(1, 2)


def _best_path(scores: Any) -> Any:
    """Return the monotonic path of the greatest sum through (tokens, frames) as ones, by dynamic programming.

    Source: Glow-TTS (Kim et al., 2020), section 3.2.
    """
    rows, columns = scores.shape
    best = scores.clone()
    for column in range(columns):
        for row in range(rows):
            stay = best[row, column - 1] if column > row else torch.tensor(-1e9, dtype=best.dtype)
            come = best[row - 1, column - 1] if row and column else torch.tensor(0.0 if row == column == 0 else -1e9)
            best[row, column] += torch.maximum(stay, come.to(best.dtype)) if column else come
    path, row = torch.zeros_like(best), rows - 1
    for column in range(columns - 1, -1, -1):
        path[row, column] = 1
        if row and (row == column or best[row, column - 1] < best[row - 1, column - 1]):
            row -= 1
    return path


@kernel("amphion-training-step")
def training_step(bench: Workbench) -> Case:
    """One AdamW step of a small transformer, by accelerate where that is installed."""
    parts = {"embed": torch.nn.Embedding(64, WIDTH), "head": torch.nn.Linear(WIDTH, 64)}
    parts.update({"conv": torch.nn.Conv1d(WIDTH, WIDTH, 3, padding=1), "norm": torch.nn.LayerNorm(WIDTH)})

    def forward(m: Any, tokens: Any, wanted: Any) -> Any:
        x = m["embed"](tokens)
        x = x + nnf.gelu(m["conv"](m["norm"](x).transpose(1, 2))).transpose(1, 2)
        return nnf.cross_entropy(m["head"](x).flatten(0, 1), wanted.flatten())

    def train(m: Any, tokens: Any, wanted: Any) -> Any:
        def optimiser(weights: Any) -> Any:
            # A large epsilon keeps the step smooth in the gradient; without it the sign of noise decides.
            chosen = torch.optim.AdamW(weights, lr=1e-2, eps=1e-2)
            reference = m["head"].weight.dtype == torch.float64
            accelerator = None if reference else _accelerator(tokens.device.type)
            return chosen if accelerator is None else accelerator.prepare(chosen)

        return step(m, lambda trained: forward(trained, tokens, wanted), optimiser)

    inputs = (bench.randint(0, 64, 2, 32), bench.randint(0, 64, 2, 32))
    return Case(train, inputs, modules=bench.modules(parts))


@lru_cache(maxsize=None)
def _accelerator(kind: str) -> Any:
    """Return accelerate's front end, None where it is not installed or does not know the device."""
    if kind not in ("cpu", "cuda", "mps", "xpu"):
        return None
    try:
        accelerate = importlib.import_module("accelerate")
    except ImportError:
        return None
    return accelerate.Accelerator(cpu=kind == "cpu")
