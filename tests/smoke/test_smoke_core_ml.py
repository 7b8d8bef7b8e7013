"""What is said of models that Core ML alone can ask, and of where its plan puts their work."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from types import SimpleNamespace as Plain

import pytest
from packaging.specifiers import SpecifierSet

from envdoctor.adapters.smoke.child.workloads.core_ml import Model
from envdoctor.model.kernel import KernelResult, KernelStatus
from envdoctor.model.profile import Profile, ProfileTarget
from envdoctor.model.target import Arch, Backend, OperatingSystem
from envdoctor.verbs.smoke_inputs import choose_target
from envdoctor.verbs.target_choice import host_target


class MLNeuralEngineComputeDevice:
    """Called as coremltools 9.0 calls it."""


class MLCPUComputeDevice:
    """Called as coremltools 9.0 calls it."""


ENGINE, CPU = MLNeuralEngineComputeDevice(), MLCPUComputeDevice()


class _Plan:
    """Operations as (device, weight); a constant has neither."""

    def __init__(self, operations: list[tuple[object, float] | None]) -> None:
        block = Plain(operations=operations)
        self.model_structure = Plain(program=Plain(functions={"main": Plain(block=block)}))

    def get_compute_device_usage_for_mlprogram_operation(self, operation: tuple[object, float] | None) -> object:
        return Plain(preferred_compute_device=operation[0]) if operation else None

    def get_estimated_cost_for_mlprogram_operation(self, operation: tuple[object, float]) -> object:
        return Plain(weight=operation[1])


def _model(path: object = "x.mlmodelc") -> Model:
    model = object.__new__(Model)
    model.name = "decoder 3 s"

    def compiled() -> object:
        if isinstance(path, Exception):
            raise path
        return path

    model._model = Plain(get_compiled_model_path=compiled)
    return model


def test_the_share_of_each_device_is_read_from_the_compute_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = _Plan([None, (ENGINE, 0.5), (ENGINE, 0.25), (CPU, 0.25)])
    plans = ModuleType("coremltools.models.compute_plan")
    plans.MLComputePlan = Plain(load_from_path=lambda path: plan)  # type: ignore[attr-defined]
    for name in ("coremltools", "coremltools.models"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "coremltools.models.compute_plan", plans)
    told = "decoder 3 s: neural engine 75% of the cost (2 operations), CPU 25% of the cost (1 operation)"
    assert _model().residency() == told


def test_a_plan_that_cannot_be_read_is_said_to_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("coremltools", "coremltools.models", "coremltools.models.compute_plan"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules[name].MLComputePlan = Plain(load_from_path=_Plan)  # type: ignore[attr-defined]
    told = _model(ValueError("this model was not loaded")).residency()
    assert told == "decoder 3 s: no compute plan (ValueError: this model was not loaded)"


def test_what_was_converted_alone_neither_passed_nor_failed() -> None:
    result = KernelResult("kokoro-coreml", "cpu", KernelStatus.CONVERTED, detail="converted, not predicted")
    assert not result.failed
    assert result.status.value == "converted"


def test_the_header_names_the_machine_that_the_kernels_ran_on() -> None:
    here = host_target()
    other = OperatingSystem.MACOS if here.os is not OperatingSystem.MACOS else OperatingSystem.WINDOWS
    profile = Profile("p", "", ProfileTarget(other, Arch.ARM64, SpecifierSet(">=3.12"), Backend.COREML))
    found = choose_target(profile, Path(sys.executable))
    assert (found.os, found.arch, found.backend) == (here.os, here.arch, Backend.COREML)
    assert found.python == sys.version_info[:2]
