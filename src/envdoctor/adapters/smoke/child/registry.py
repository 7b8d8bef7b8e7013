"""What a kernel is for the runner: inputs, a function of them, and the answer they should give."""

from __future__ import annotations

import importlib
import zlib
from typing import Any, Callable, Dict, Optional, Sequence

import torch

__all__ = ["Case", "Skip", "Workbench", "build", "kernel", "load"]

MODULES = (
    "kernels.matmul", "kernels.convolution", "kernels.spectral", "kernels.attention", "kernels.recurrent",
    "kernels.normalisation", "kernels.indexing", "kernels.audio", "kernels.precision", "kernels.training",
    "kernels.memory", "kernels.compiled", "workloads.xtts", "workloads.rvc", "workloads.diffrhythm2",
    "workloads.amphion", "workloads.kokoro", "workloads.kokoro_export",
)  # fmt: skip


class Skip(Exception):
    """This kernel cannot be asked here, and that is nobody's fault; the message says why."""


class Case:
    """One built kernel.

    ``function(*inputs)``, or ``function(modules, *inputs)``, gives a tensor or a tuple of tensors. The same function
    over float64 copies on the CPU gives the reference, unless ``reference`` (of the CPU inputs in float64) is given.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Sequence[Any] = (),
        *,
        modules: Any = None,
        reference: Optional[Callable[..., Any]] = None,
        flops: Optional[float] = None,
        bytes_moved: Optional[float] = None,
        check: Optional[Callable[[Any], Optional[str]]] = None,
        timed: bool = True,
        note: Optional[str] = None,
        plain: Optional[Callable[..., Any]] = None,
        answers: bool = True,
    ) -> None:
        self.function = function
        self.inputs = tuple(inputs)
        self.modules = modules
        self.reference = reference
        self.flops = flops
        self.bytes_moved = bytes_moved
        self.check = check
        """Looks at the answer itself where no single answer is right; returns the fault in words, or None."""
        self.timed = timed
        """False: one call is enough, a later one would say nothing."""
        self.note = note
        """What a reader should know of a kernel that passed."""
        self.plain = function if plain is None else plain
        """The same for the CPU, where the function itself would take long to get ready there."""
        self.answers = answers
        """False: it converts a model that nothing here can ask, so there is no answer to judge."""

    def call(self, modules: Any, inputs: Sequence[Any]) -> Any:
        """Apply the function without gradients (a kernel that trains turns them on itself)."""
        return _called(self.function, modules, inputs)

    def call_plain(self, modules: Any, inputs: Sequence[Any]) -> Any:
        """Apply what stands in for the function on the CPU."""
        return _called(self.plain, modules, inputs)


def _called(function: Callable[..., Any], modules: Any, inputs: Sequence[Any]) -> Any:
    with torch.no_grad():
        return function(*inputs) if modules is None else function(modules, *inputs)


class Workbench:
    """Makes the inputs of one kernel on the CPU, the same ones each time, rounded to the kernel's dtype."""

    def __init__(self, name: str, dtype: torch.dtype, device: torch.device, backend: str) -> None:
        self.dtype = dtype
        self.device = device
        self.backend = backend
        self.generator = torch.Generator().manual_seed(zlib.crc32(name.encode("utf-8")))

    def randn(self, *shape: int, scale: float = 1.0) -> torch.Tensor:
        """Normal numbers."""
        return (torch.randn(shape, generator=self.generator) * scale).to(self.dtype)

    def rand(self, *shape: int) -> torch.Tensor:
        """Even numbers between 0 and 1."""
        return torch.rand(shape, generator=self.generator).to(self.dtype)

    def randint(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """Whole numbers, int64."""
        return torch.randint(low, high, shape, generator=self.generator)

    def permutation(self, count: int) -> torch.Tensor:
        """Whole numbers below ``count`` in random order."""
        return torch.randperm(count, generator=self.generator)

    def modules(self, parts: Dict[str, Any]) -> Any:
        """Collect layers; weights are drawn anew from this kernel's generator, small enough to stay in range."""
        bag = torch.nn.ModuleDict(parts).eval()
        with torch.no_grad():
            for name, parameter in sorted(bag.named_parameters()):
                fan = max(1, parameter[0].numel() if parameter.dim() > 1 else parameter.numel())
                drawn = torch.randn(parameter.shape, generator=self.generator) * (fan**-0.5)
                norm_weight = parameter.dim() == 1 and name.endswith("weight")
                parameter.copy_(1 + 0.1 * drawn if norm_weight else drawn)
        for parameter in bag.parameters():
            parameter.requires_grad_(False)
        return bag.to(self.dtype)


_BUILDERS: Dict[str, Callable[[Workbench], Case]] = {}


def kernel(name: str) -> Callable[[Callable[[Workbench], Case]], Callable[[Workbench], Case]]:
    """Register a builder under a name of the catalogue."""

    def register(builder: Callable[[Workbench], Case]) -> Callable[[Workbench], Case]:
        if name in _BUILDERS:
            raise ValueError("two kernels are called " + name)
        _BUILDERS[name] = builder
        return builder

    return register


def load() -> Dict[str, Callable[[Workbench], Case]]:
    """Import every family and return the builders by name."""
    package = __name__.rpartition(".")[0]
    for module in MODULES:
        importlib.import_module(package + "." + module)
    return dict(_BUILDERS)


def build(name: str, bench: Workbench) -> Case:
    """Build one kernel. Raises KeyError where no builder has that name."""
    return _BUILDERS[name](bench)
