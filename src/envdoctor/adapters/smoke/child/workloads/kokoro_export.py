"""Kokoro on its way to Core ML: export everywhere, conversion with coremltools, prediction on macOS."""

from __future__ import annotations

import importlib.util
from typing import Any, Callable, Dict, List, Sequence, Tuple

import torch

from ..registry import Case, Skip, Workbench, kernel
from .core_ml import Model, Shapes, can_predict, enumerated, ranged
from .kokoro import BUCKET, STYLE, WIDTH, decode, decoder_parts, duration_parts, predict

__all__ = []  # type: list[str]

FRAMES_A_SECOND = 40
BUCKETS_S = (3, 5, 10, 30)
"""Seconds of speech for which the exporters make a decoder each."""
TOKENS = (48, 16, 128, 512)
"""Lengths of text; 512 is the most that the model takes."""


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


Conversion = Tuple[str, Callable[..., Any], str, List[Dict[str, Any]], Callable[[], Shapes]]
"""A name, a function of layers, the key of these, every set of inputs (traced with the first), the shapes."""


def _durations(m: Any, tokens: Any, style: Any) -> Any:
    return predict(m, tokens, style)[0]


def _case(bench: Workbench, conversions: Sequence[Conversion]) -> Case:
    """Return the kernel that converts each, and asks it of every set of inputs where Core ML is."""
    if importlib.util.find_spec("coremltools") is None:
        raise Skip("coremltools is not installed")
    modules = bench.modules({"duration": bench.modules(duration_parts()), "decoder": bench.modules(decoder_parts())})
    asked = can_predict()

    def plain(m: Any) -> Any:
        kind = next(m.parameters()).dtype
        return tuple(
            function(m[part], *(item.to(kind) if item.is_floating_point() else item for item in inputs.values()))
            for _, function, part, sets, _ in conversions
            for inputs in sets
        )

    def converted(m: Any) -> Any:
        answers, told = [], []
        for name, function, part, sets, shapes in conversions:
            model = Model(name, _module(function, m[part].cpu()), sets[0], shapes())
            told.append(model.residency() if asked else name)
            answers += [model.answer(inputs) for inputs in sets] if asked else []
        case.note = "; ".join(told) if asked else f"converted, not predicted (Core ML needs macOS): {', '.join(told)}"
        return tuple(answers)

    case = Case(converted, modules=modules, timed=False, plain=plain, answers=asked)
    return case


def _texts(bench: Workbench, *lengths: int) -> List[Dict[str, Any]]:
    return [{"tokens": bench.randint(0, 178, 1, n).int(), "style": bench.randn(1, STYLE)} for n in lengths]


def _frames(bench: Workbench, *lengths: int) -> List[Dict[str, Any]]:
    return [{"aligned": bench.randn(1, WIDTH, n), "style": bench.randn(1, STYLE)} for n in lengths]


@kernel("kokoro-coreml")
def coreml(bench: Workbench) -> Case:
    """Duration model and decoder, one shape each."""
    return _case(
        bench,
        [
            ("durations", _durations, "duration", _texts(bench, TOKENS[0]), dict),
            ("decoder", decode, "decoder", _frames(bench, BUCKET), dict),
        ],
    )


@kernel("kokoro-coreml-shapes")
def coreml_shapes(bench: Workbench) -> Case:
    """Both models with enumerated and with ranged shapes; each is asked at several."""
    frames = tuple(FRAMES_A_SECOND * seconds for seconds in BUCKETS_S)
    texts, waves = _texts(bench, *TOKENS[:3]), _frames(bench, *frames[:2])
    return _case(
        bench,
        [
            (
                "durations enumerated", _durations, "duration", texts,
                lambda: {"tokens": enumerated([(1, n) for n in TOKENS])},
            ),
            ("durations ranged", _durations, "duration", texts, lambda: {"tokens": ranged((1, TOKENS[0]), 1, 2, 512)}),
            (
                "decoder enumerated", decode, "decoder", waves,
                lambda: {"aligned": enumerated([(1, WIDTH, n) for n in frames])},
            ),
            (
                "decoder ranged", decode, "decoder", waves,
                lambda: {"aligned": ranged((1, WIDTH, frames[0]), 2, BUCKET, frames[-1])},
            ),
        ],
    )  # fmt: skip


@kernel("kokoro-coreml-buckets")
def coreml_buckets(bench: Workbench) -> Case:
    """A decoder for 3, 5, 10 and 30 seconds, each of its own fixed shape."""
    return _case(
        bench,
        [
            (f"decoder {seconds} s", decode, "decoder", _frames(bench, FRAMES_A_SECOND * seconds), dict)
            for seconds in BUCKETS_S
        ],
    )
