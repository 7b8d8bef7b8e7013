"""Kokoro on its way to Core ML: export everywhere, conversion with coremltools, prediction on macOS."""

from __future__ import annotations

import importlib
import platform
from typing import Any

import torch

from ..registry import Case, Skip, Workbench, kernel
from .kokoro import BUCKET, WIDTH, decode, decoder_parts

__all__ = []  # type: list[str]


def _inputs(bench: Workbench) -> Any:
    return bench.randn(1, WIDTH, BUCKET), bench.randn(1, 32)


def _module(modules: Any) -> Any:
    """Wrap the function as a module, which is what export takes."""

    def forward(_: Any, aligned: Any, style: Any) -> Any:
        return decode(modules, aligned, style)

    kind = type("Decoder", (torch.nn.Module,), {"forward": forward})
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
        program = torch.export.export(_module(m.cpu()), (aligned.cpu(), style.cpu()))
        if hasattr(program, "run_decompositions"):
            program = program.run_decompositions({}) if _newer(2, 5) else program
        return program.module()(aligned.cpu(), style.cpu())

    return Case(exported, _inputs(bench), modules=modules, timed=False)


def _newer(major: int, minor: int) -> bool:
    release = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    return release >= (major, minor)


@kernel("kokoro-coreml")
def coreml(bench: Workbench) -> Case:
    """The decoder converted by coremltools; only macOS can ask the converted model."""
    try:
        coremltools = importlib.import_module("coremltools")
    except ImportError as error:
        raise Skip("coremltools is not installed") from error
    modules = bench.modules(decoder_parts())
    predicts = platform.system() == "Darwin"

    def converted(m: Any, aligned: Any, style: Any) -> Any:
        if aligned.dtype == torch.float64:
            return decode(m, aligned, style)
        inputs = (aligned.cpu(), style.cpu())
        traced = torch.jit.trace(_module(m.cpu()), inputs)
        model = coremltools.convert(
            traced,
            inputs=[coremltools.TensorType(name=name, shape=value.shape) for name, value in _named(inputs)],
            minimum_deployment_target=coremltools.target.macOS13,
        )
        if not predicts:
            # It converts; what it would answer cannot be known here.
            return decode(m, *inputs)
        answer = model.predict({name: value.numpy() for name, value in _named(inputs)})
        return torch.from_numpy(next(iter(answer.values())))

    return Case(converted, _inputs(bench), modules=modules, timed=False)


def _named(inputs: Any) -> Any:
    return list(zip(("aligned", "style"), inputs))
