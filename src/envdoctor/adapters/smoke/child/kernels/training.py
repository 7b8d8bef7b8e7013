"""One step of training: forward, backward, optimiser, gradient scaling."""

from __future__ import annotations

import copy
from typing import Any, List, Tuple

import torch
import torch.nn.functional as nnf

from ..registry import Case, Skip, Workbench, kernel

__all__ = ["step"]


def step(modules: Any, forward: Any, optimiser: Any, scaler: Any = None) -> Tuple[Any, ...]:
    """Take one step on a copy of the modules. Returns the loss, and the change of every weight as one vector."""
    trained = copy.deepcopy(modules)
    for parameter in trained.parameters():
        parameter.requires_grad_(True)
    with torch.enable_grad():
        chosen = optimiser(trained.parameters())
        loss = forward(trained)
        if scaler is None:
            loss.backward()
            chosen.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(chosen)
            scaler.update()
    pairs = zip(trained.parameters(), modules.parameters())
    changes: List[Any] = [(after.detach() - before).reshape(-1) for after, before in pairs]
    return loss.detach().reshape(1), torch.cat(changes)


def _network(bench: Workbench) -> Any:
    return bench.modules(
        {
            "conv": torch.nn.Conv1d(40, 64, 5, padding=2),
            "norm": torch.nn.GroupNorm(8, 64),
            "out": torch.nn.Linear(64, 40),
        }
    )


def _loss(modules: Any, x: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    hidden = nnf.gelu(modules["norm"](modules["conv"](x)))
    return nnf.mse_loss(modules["out"](hidden.transpose(1, 2)).to(wanted.dtype), wanted)


@kernel("training-step")
def training_step(bench: Workbench) -> Case:
    """Plain gradient descent with momentum, so that the weights after it are well conditioned."""

    def train(modules: Any, x: torch.Tensor, wanted: torch.Tensor) -> Tuple[Any, ...]:
        return step(
            modules, lambda m: _loss(m, x, wanted), lambda weights: torch.optim.SGD(weights, lr=0.1, momentum=0.9)
        )

    return Case(train, (bench.randn(4, 40, 80), bench.randn(4, 80, 40)), modules=_network(bench))


@kernel("grad-scaler")
def grad_scaler(bench: Workbench) -> Case:
    """Float16 by autocast, the loss scaled up so that small gradients survive."""
    kind = bench.device.type
    if kind not in ("cuda", "cpu", "xpu"):
        raise Skip("torch has no gradient scaler for " + bench.backend)

    def train(modules: Any, x: torch.Tensor, wanted: torch.Tensor) -> Tuple[Any, ...]:
        half = x.dtype == torch.float32
        scaler = torch.amp.GradScaler(x.device.type, init_scale=1024.0, enabled=half)

        def forward(m: Any) -> Any:
            with torch.autocast(x.device.type, dtype=torch.float16, enabled=half):
                return _loss(m, x, wanted)

        loss, weights = step(modules, forward, lambda w: torch.optim.SGD(w, lr=0.1), scaler)
        if half and float(scaler.get_scale()) != 1024.0:
            raise RuntimeError("the scaler found infinite gradients where there are none")
        return loss, weights

    return Case(train, (bench.randn(4, 40, 80), bench.randn(4, 80, 40)), modules=_network(bench))
