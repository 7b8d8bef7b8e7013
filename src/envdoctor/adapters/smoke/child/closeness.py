"""How far an answer is from the reference."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import torch

__all__ = ["as_tuple", "difference"]


def as_tuple(answer: Any) -> Tuple[Any, ...]:
    """Return the tensors of an answer."""
    return tuple(answer) if isinstance(answer, (tuple, list)) else (answer,)


def _plain(tensor: Any) -> Any:
    tensor = tensor.detach().cpu()
    if tensor.is_complex():
        return torch.view_as_real(tensor.to(torch.complex128))
    return tensor.to(torch.float64)


def difference(answer: Tuple[Any, ...], expected: Tuple[Any, ...]) -> Tuple[Optional[float], Optional[str]]:
    """Return the largest error over the scale of the reference, and what is wrong beyond size (None: nothing).

    The error is None where it cannot be measured: another shape, or values that are not finite.
    """
    if len(answer) != len(expected):
        return None, f"{len(answer)} tensors instead of {len(expected)}"
    worst = 0.0
    for got, wanted in zip(answer, expected):
        if tuple(got.shape) != tuple(wanted.shape):
            return None, f"shape {tuple(got.shape)} instead of {tuple(wanted.shape)}"
        got_plain, wanted_plain = _plain(got), _plain(wanted)
        if got_plain.numel() == 0:
            continue
        finite = bool(torch.isfinite(got_plain).all())
        if not finite:
            return None, _not_finite(got_plain)
        scale = float(wanted_plain.abs().max())
        error = float((got_plain - wanted_plain).abs().max())
        worst = max(worst, error / scale if scale > 0 else error)
    return worst, None


def _not_finite(values: Any) -> str:
    nans = int(torch.isnan(values).sum())
    infinite = int(torch.isinf(values).sum())
    parts = [text for count, text in ((nans, f"{nans} NaN"), (infinite, f"{infinite} infinite")) if count]
    return "{} among {} values".format(" and ".join(parts), values.numel())
