"""Kokoro on its way to Core ML: export everywhere, conversion with coremltools, prediction on macOS."""

from __future__ import annotations

import importlib
import importlib.util
import platform
from typing import Any, Dict

import torch

from ..registry import Case, Skip, Workbench, kernel
from .kokoro import BUCKET, WIDTH, decode, decoder_parts, duration_parts, predict

__all__ = []  # type: list[str]


def _inputs(bench: Workbench) -> Any:
    return bench.randn(1, WIDTH, BUCKET), bench.randn(1, 32)


def _module(function: Any, modules: Any) -> Any:
    """Wrap a function of the layers and two tensors as a module, which is what export and conversion take."""

    def forward(_: Any, first: Any, second: Any) -> Any:
        return function(modules, first, second)

    kind = type("Wrapped", (torch.nn.Module,), {"forward": forward})
    module = kind()
    module.parts = modules
    return module.eval()


@kernel("kokoro-export")
def export(bench: Workbench) -> Case:
    """The decoder through torch.export; the exported program must answer as the model does."""
    modules = bench.modules(decoder_parts())

    def exported(m: Any, aligned: Any, style: Any) -> Any:
        if aligned.dtype == torch.float64:
            return decode(m, aligned, style)
        program = torch.export.export(_module(decode, m.cpu()), (aligned.cpu(), style.cpu()))
        if hasattr(program, "run_decompositions"):
            program = program.run_decompositions({}) if _newer(2, 5) else program
        return program.module()(aligned.cpu(), style.cpu())

    return Case(exported, _inputs(bench), modules=modules, timed=False)


def _newer(major: int, minor: int) -> bool:
    release = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    return release >= (major, minor)


@kernel("kokoro-coreml")
def coreml(bench: Workbench) -> Case:
    """Duration model and decoder converted by coremltools; only macOS can ask the converted models."""
    if importlib.util.find_spec("coremltools") is None:
        raise Skip("coremltools is not installed")
    modules = bench.modules({"duration": bench.modules(duration_parts()), "decoder": bench.modules(decoder_parts())})
    predicts = platform.system() == "Darwin"

    def plain(m: Any, tokens: Any, aligned: Any, style: Any) -> Any:
        return predict(m["duration"], tokens, style)[0], decode(m["decoder"], aligned, style)

    def converted(m: Any, tokens: Any, aligned: Any, style: Any) -> Any:
        if aligned.dtype == torch.float64:
            return plain(m, tokens, aligned, style)
        tools = importlib.import_module("coremltools")
        m, tokens, aligned, style = m.cpu(), tokens.cpu().int(), aligned.cpu(), style.cpu()
        durations = _convert(tools, _module(_durations, m["duration"]), {"tokens": tokens, "style": style}, predicts)
        frames = _convert(tools, _module(decode, m["decoder"]), {"aligned": aligned, "style": style}, predicts)
        # Elsewhere than on macOS it only converts; what the models would answer cannot be known.
        return (durations, frames) if predicts else plain(m, tokens, aligned, style)

    aligned, style = _inputs(bench)
    note = None if predicts else "converted; prediction needs macOS"
    return Case(converted, (bench.randint(0, 178, 1, 48), aligned, style), modules=modules, timed=False, note=note)


def _durations(m: Any, tokens: Any, style: Any) -> Any:
    return predict(m, tokens, style)[0]


def _convert(tools: Any, module: Any, inputs: Dict[str, Any], predicts: bool) -> Any:
    traced = torch.jit.trace(module, tuple(inputs.values()))
    types = [
        tools.TensorType(name=name, shape=value.shape, dtype=value.numpy().dtype.type) for name, value in inputs.items()
    ]
    model = tools.convert(traced, inputs=types, minimum_deployment_target=tools.target.macOS13)
    if not predicts:
        return None
    answer = model.predict({name: value.numpy() for name, value in inputs.items()})
    return torch.from_numpy(next(iter(answer.values())))
