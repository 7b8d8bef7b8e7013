"""A model converted by coremltools, its answer where macOS can give one, and where Core ML's plan puts its work."""

from __future__ import annotations

import importlib
import platform
from typing import Any, Dict, List, Sequence, Tuple

__all__ = ["Model", "Shapes", "can_predict", "enumerated", "ranged"]

Shapes = Dict[str, Any]
"""The flexible shape of an input by its name, for those whose shape is not that of their value."""
_DEVICES = {
    "MLNeuralEngineComputeDevice": "neural engine",
    "MLGPUComputeDevice": "GPU",
    "MLCPUComputeDevice": "CPU",
}
"""Classes of coremltools.models.compute_device."""


def can_predict() -> bool:
    """Tell whether Core ML is here: only macOS can ask a converted model."""
    return platform.system() == "Darwin"


def enumerated(shapes: Sequence[Tuple[int, ...]]) -> Any:
    """Return an input shape that is one of a few, the first if nobody says; the neural engine takes these."""
    return importlib.import_module("coremltools").EnumeratedShapes(shapes=list(shapes), default=shapes[0])


def ranged(shape: Sequence[int], axis: int, least: int, most: int) -> Any:
    """Return an input shape of which one axis is anything between two bounds."""
    tools = importlib.import_module("coremltools")
    sizes: List[Any] = list(shape)
    sizes[axis] = tools.RangeDim(lower_bound=least, upper_bound=most, default=shape[axis])
    return tools.Shape(shape=tuple(sizes))


class Model:
    """A traced module as Core ML has it."""

    def __init__(self, name: str, module: Any, inputs: Dict[str, Any], shapes: Shapes) -> None:
        """Convert; ``inputs`` are the values to trace with. Raises what torch or coremltools raises."""
        import torch

        tools = importlib.import_module("coremltools")
        types = [
            tools.TensorType(name=key, shape=shapes.get(key, tuple(value.shape)), dtype=value.numpy().dtype.type)
            for key, value in inputs.items()
        ]
        traced = torch.jit.trace(module, tuple(inputs.values()))
        self.name = name
        self._model = tools.convert(
            traced,
            inputs=types,
            minimum_deployment_target=tools.target.macOS13,
            # Elsewhere there is nothing that could load it.
            skip_model_load=not can_predict(),
        )

    def answer(self, inputs: Dict[str, Any]) -> Any:
        """Return what Core ML answers, as a tensor."""
        import torch

        found = self._model.predict({key: value.numpy() for key, value in inputs.items()})
        return torch.from_numpy(next(iter(found.values())))

    def residency(self) -> str:
        """Say which share of the estimated cost, and how many operations, each device is planned to have.

        The plan needs coremltools 8 and macOS 14.4; without it the text says why it is not known.
        """
        try:
            shares = self._shares()
        except Exception as error:  # noqa: BLE001 - that the plan cannot be read says nothing of the answers
            return f"{self.name}: no compute plan ({type(error).__name__}: {error})"
        told = ", ".join(
            f"{device} {cost:.0%} of the cost ({number} operation{'' if number == 1 else 's'})"
            for device, (cost, number) in sorted(shares.items(), key=lambda item: -item[1][0])
        )
        return f"{self.name}: {told or 'the compute plan names no device'}"

    def _shares(self) -> Dict[str, Tuple[float, int]]:
        plans = importlib.import_module("coremltools.models.compute_plan")
        plan = plans.MLComputePlan.load_from_path(self._model.get_compiled_model_path())
        shares: Dict[str, Tuple[float, int]] = {}
        for operation in plan.model_structure.program.functions["main"].block.operations:
            usage = plan.get_compute_device_usage_for_mlprogram_operation(operation)
            if usage is None:
                continue  # Constants run nowhere.
            kind = type(usage.preferred_compute_device).__name__
            estimate = plan.get_estimated_cost_for_mlprogram_operation(operation)
            cost, number = shares.get(_DEVICES.get(kind, kind), (0.0, 0))
            shares[_DEVICES.get(kind, kind)] = cost + (estimate.weight if estimate is not None else 0.0), number + 1
        return shares
