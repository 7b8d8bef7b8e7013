"""Switches of torch that change which library runs an operation; each can be put back."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

import torch

__all__ = ["DTYPES", "FLAGS", "KNOWN", "applied", "apply"]

DTYPES = {
    "dtype-float32": torch.float32,
    "dtype-float16": torch.float16,
    "dtype-bfloat16": torch.bfloat16,
}
"""Settings that the runner answers by building the kernel in another dtype."""


class _State:
    """Values to put back, newest first."""

    def __init__(self) -> None:
        self.undo: List[Callable[[], None]] = []

    def set(self, owner: Any, attribute: str, value: Any) -> None:
        try:
            before = getattr(owner, attribute)
            setattr(owner, attribute, value)
        except (AttributeError, AssertionError, RuntimeError):
            return  # a switch that this torch does not have; 1.13 asserts instead of saying so
        self.undo.append(lambda: setattr(owner, attribute, before))

    def mkldnn(self, value: bool) -> None:
        """Switch oneDNN, which has no attribute but a context."""
        context = torch.backends.mkldnn.flags(enabled=value)
        context.__enter__()
        self.undo.append(functools.partial(context.__exit__, None, None, None))

    def attention(self, **wanted: bool) -> None:
        """Switch the implementations of scaled dot-product attention; those this torch lacks are left out."""
        cuda = torch.backends.cuda
        for name, value in wanted.items():
            switch = getattr(cuda, "enable_" + name + "_sdp", None)
            enabled = getattr(cuda, name + "_sdp_enabled", None)
            if switch is None or enabled is None:
                continue
            before = bool(enabled())
            switch(value)
            self.undo.append(functools.partial(switch, before))


def _tf32(state: _State, value: bool) -> None:
    state.set(torch.backends.cuda.matmul, "allow_tf32", value)
    state.set(torch.backends.cudnn, "allow_tf32", value)


def _only(state: _State, name: str) -> None:
    kinds = ("flash", "mem_efficient", "math", "cudnn")
    # The wanted one first: torch refuses a moment in which none is allowed.
    state.attention(**{name: True})
    state.attention(**{kind: False for kind in kinds if kind != name})


def _reduced(state: _State, value: bool) -> None:
    state.set(torch.backends.cuda.matmul, "allow_fp16_reduced_precision_reduction", value)
    state.set(torch.backends.cuda.matmul, "allow_bf16_reduced_precision_reduction", value)


class Flags:
    """Switches of the kernels themselves."""

    autocast = True


FLAGS = Flags()


KNOWN: Dict[str, Callable[[_State], None]] = {
    "tf32-on": lambda state: _tf32(state, True),
    "tf32-off": lambda state: _tf32(state, False),
    "cudnn-off": lambda state: state.set(torch.backends.cudnn, "enabled", False),
    "mkldnn-off": lambda state: state.mkldnn(False),
    "autocast-off": lambda state: state.set(FLAGS, "autocast", False),
    "flash-off": lambda state: state.attention(flash=False),
    "efficient-off": lambda state: state.attention(mem_efficient=False),
    "flash-only": lambda state: _only(state, "flash"),
    "efficient-only": lambda state: _only(state, "mem_efficient"),
    "math-only": lambda state: _only(state, "math"),
    "reduced-off": lambda state: _reduced(state, False),
}


def apply(names: Sequence[str]) -> Tuple[str, ...]:
    """Apply settings for the whole process; return those that are known here."""
    state = _State()
    known = tuple(name for name in names if name in KNOWN)
    for name in known:
        KNOWN[name](state)
    return known


@contextlib.contextmanager
def applied(names: Sequence[str]) -> Iterator[None]:
    """Apply settings for the block. Unknown names are those that the runner or the environment answers."""
    state = _State()
    try:
        for name in names:
            if name in KNOWN:
                KNOWN[name](state)
        yield
    finally:
        for undo in reversed(state.undo):
            undo()
