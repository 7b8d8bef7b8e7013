"""Facts that variables replace, and variables that are wrong."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from envdoctor.adapters.probe.host_facts import facts_of, probe_host
from envdoctor.adapters.probe.host_machine import Machine
from envdoctor.adapters.probe.host_overrides import (
    FOREIGN,
    OverrideError,
    overridden,
    override_variable,
    read_overrides,
)
from envdoctor.adapters.probe.host_values import FACT_NAMES, single_names
from envdoctor.cli.main import main
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.render.json_document import report_schema

FACT = "ENVDOCTOR_FACT_"


def replaced(measured: dict[str, object], **environ: str) -> Facts:
    known = [Fact(name.replace("__", "."), FactState.KNOWN, value, "test") for name, value in measured.items()]
    return Facts(overridden(known, environ))


def test_a_replaced_fact_names_the_source_that_it_stands_in_place_of():
    measured = [Fact("os", FactState.KNOWN, "linux", "sys.platform")]
    environ = {"ENVDOCTOR_FACT_OS": "windows", "ENVDOCTOR_FACT_GPU_0_NAME": "x"}
    system, card = overridden(measured, environ)
    assert (system.value, system.source, system.overridden_by) == ("windows", "sys.platform", "ENVDOCTOR_FACT_OS")
    assert (card.source, card.overridden_by) == ("", "ENVDOCTOR_FACT_GPU_0_NAME")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("GPU_0_COMPUTE_CAPABILITY", "banana", "`banana` is not a capability such as `9.0`"),
        ("GPU_0_COMPUTE_CAPABILITY", "9", "`9` is not a capability such as `9.0`"),
        ("GPU_0_ARCHITECTURE", "Hopper", "`Hopper` is not such as `sm_90` or `gfx1030`"),
        ("GPU_0_VENDOR", "nvidea", "`nvidea` is not `nvidia`, `amd`, `intel` or `apple`"),
        ("GPU_0_MEMORY_BYTES", "-1", "`-1` is not a whole number of bytes"),
        ("GPU_0_MEMORY_BYTES", "80 GB", "`80 GB` is not a whole number of bytes"),
        ("GPU_0_MEMORY_BYTES", "\u00b2", "`\u00b2` is not a whole number of bytes"),
        ("GPU_0_MEMORY_BYTES", "9" * 5000, f"`{'9' * 60}...` is not a whole number of bytes"),
        ("GPU_0_MIG", "maybe", "`maybe` is not `true` or `false`"),
        ("HOST_WSL", "2", "`2` is not `true` or `false`"),
        ("HOST_WSL", "", "an empty value means absent, and no machine is without `host.wsl`; unset it or give one"),
        ("OS", "beos", "`beos` is not `windows`, `linux` or `macos`"),
        ("OS", " ", "an empty value means absent, and no machine is without `os`; unset it or give one"),
        ("ARCH", "banana", "`banana` is not `x86_64`, `aarch64` or `arm64`"),
        ("HOST_MEMORY_BYTES", "", "an empty value means absent, and no machine is without `host.memory_bytes`"),
        ("GPU_COUNT", "-2", "`-2` is not a number of cards"),
        ("GPU_COUNT", "two", "`two` is not a number of cards"),
        ("DRIVER_VERSION", "newest", "`newest` is not a version"),
        ("DRIVER_CUDA", "550.54", "`550.54` is not a version of CUDA such as `12.4`"),
        ("HOST_GLIBC", "musl", "`musl` is not a version"),
        ("TORCH_IS_AVAILABLE", "nope", "`nope` is not `true` or `false`"),
        ("TORCH_ARCH_LIST", "sm_80 banana", "`banana` is not such as `sm_90` or `gfx1030`"),
        ("CUDA_TOOLKITS", "12.4, x", "`x` is not a version such as `12.4`"),
        ("TOOL_CMAKE_VERSION", "new", "`new` is not a version"),
        ("DRIVER_VERSION", "9" * 9999, f"`{'9' * 60}...` is not a version"),
        ("TORCH_ARCH_LIST", ",", "`,` is not a list of text"),
        ("PYTHON_VERSION", "3", "`3` is not a version such as `3.11`"),
    ],
)
def test_a_variable_of_ours_with_a_value_that_its_fact_cannot_have_is_refused(name, value, said):
    (fault,) = read_overrides({FACT + name: value}).faults
    assert fault.startswith(f"`{FACT}{name}`: {said}")
    with pytest.raises(OverrideError, match=FACT + name):
        probe_host(environ={FACT + name: value})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("GPU_0_ARCHTECTURE", "GPU_0_ARCHITECTURE"),
        ("GPU_3_MEMORY", "GPU_3_MEMORY_BYTES"),
        ("GPU_3_MEMORY_BYTE", "GPU_3_MEMORY_BYTES"),
        ("GPU_0COMPUTE_CAPABILITY", "GPU_0_COMPUTE_CAPABILITY"),
        ("GPU_NAME", "GPU_0_NAME"),
        ("OSS", "OS"),
        ("DRIVER_VERSOIN", "DRIVER_VERSION"),
        ("TOOL_CMAKE", "TOOL_CMAKE_PATH"),
        ("TOOL_CMAKE_VERSIONS", "TOOL_CMAKE_VERSION"),
        ("ENVIRONMENT_PYTHONUTF", "ENVIRONMENT_PYTHONUTF8"),
        ("XYZZY_PLUGH_FROTZ", None),
        ("", None),
        ("gpu", None),
        ("os", "OS"),
        ("GPU_99999_NAME", "GPU_0_NAME"),
    ],
)
def test_a_variable_that_names_no_fact_is_told_with_the_one_that_was_meant(name, meant):
    (fault,) = read_overrides({FACT + name: "1"}).faults
    assert fault.startswith(f"`{FACT}{name}` names no fact; ")
    hint = f"did you mean `{FACT}{meant}`?" if meant else "docs/facts.md lists those that there are"
    assert fault.endswith(hint)


def test_every_fact_has_a_variable_of_its_own_that_is_heard():
    variables = [override_variable(name) for name in single_names()]
    assert len(set(variables)) == len(variables)
    for name in FACT_NAMES:
        overrides = read_overrides({override_variable(name): ""})
        assert name in overrides.facts or "no machine is without" in overrides.faults[0]


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("CONDA_OVERRIDE_CUDA", "banana", "a version such as `12.4`"),
        ("CONDA_OVERRIDE_CUDA", "550.54", "a version such as `12.4`"),
        ("CONDA_OVERRIDE_GLIBC", "new", "a version such as `12.4`"),
        ("CONDA_OVERRIDE_OSX", "Sequoia", "a version such as `12.4`"),
        ("UV_CUDA_DRIVER_VERSION", "banana", "a version of a driver or of CUDA such as `550.54` or `12.4`"),
        ("UV_AMD_GPU_ARCHITECTURE", "rdna3", "an architecture such as `gfx1100`"),
        ("NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION", "v12", "a version of a driver or of CUDA such as `550.54`"),
        ("NV_VARIANT_PROVIDER_FORCE_SM_ARCH", "banana", "a capability such as `9.0` or `90`"),
        ("NV_VARIANT_PROVIDER_FORCE_SM_ARCH", "\u00b2\u00b2", "a capability such as `9.0` or `90`"),
        ("ROCM_BOOTSTRAP_FORCE_GFX_ARCH", "gfx", "an architecture such as `gfx1100`"),
    ],
)
def test_a_value_of_anothers_variable_that_is_not_understood_is_passed_over_with_a_note(variable, value, expected):
    overrides = read_overrides({variable: value})
    assert (overrides.facts, overrides.faults) == ({}, ())
    (note,) = overrides.notes
    assert note.startswith(f"`{variable}`: `{value}` is not {expected}")


def test_an_empty_value_of_anothers_variable():
    empty = read_overrides(dict.fromkeys(FOREIGN, ""))
    assert (empty.faults, empty.notes) == ((), ())
    assert {name: fact.state for name, fact in empty.facts.items()} == dict.fromkeys(
        ("driver.cuda", "host.glibc", "host.macos"), FactState.ABSENT
    )


def test_what_follows_from_a_replaced_fact_is_replaced_with_it():
    measured = {"gpu[0].compute_capability": "9.0", "gpu[0].architecture": "sm_90", "driver.cuda": "13.0"}
    by = {"ENVDOCTOR_FACT_GPU_0_COMPUTE_CAPABILITY": "12.0", "ENVDOCTOR_FACT_DRIVER_VERSION": "550.54"}
    found = replaced(measured, **by)
    assert (found.value("gpu[0].architecture"), found.value("driver.cuda")) == ("sm_120", "12.4")
    assert found.get("driver.cuda").overridden_by == "ENVDOCTOR_FACT_DRIVER_VERSION"
    other = replaced(measured, ENVDOCTOR_FACT_GPU_0_ARCHITECTURE="sm_100a")
    assert other.value("gpu[0].compute_capability") == "10.0"
    told = replaced(measured, **by, ENVDOCTOR_FACT_DRIVER_CUDA="12.8", NV_VARIANT_PROVIDER_FORCE_SM_ARCH="80")
    assert (told.value("driver.cuda"), told.value("gpu[0].architecture")) == ("12.8", "sm_120")


def test_cards_that_variables_add_are_counted():
    none = [Fact("gpu.count", FactState.ABSENT, source="all sources")]
    environ = {"NV_VARIANT_PROVIDER_FORCE_SM_ARCH": "9.0", "ENVDOCTOR_FACT_GPU_1_VENDOR": "amd"}
    count = Facts(overridden(none, environ)).get("gpu.count")
    assert (count.value, count.overridden_by) == (2, "NV_VARIANT_PROVIDER_FORCE_SM_ARCH")
    there = replaced({"gpu.count": 1, "gpu[0].vendor": "nvidia"}, ENVDOCTOR_FACT_GPU_0_NAME="x")
    assert (there.value("gpu.count"), there.get("gpu.count").overridden_by) == (1, None)
    assert replaced({"gpu.count": 1}, ENVDOCTOR_FACT_GPU_COUNT="3", **environ).value("gpu.count") == 3


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("HOST_WSL", "Yes", True),
        ("GPU_0_MIG", "0", False),
        ("TORCH_IS_AVAILABLE", "false", False),
        ("TORCH_CUDA", "12.4", "12.4"),
        ("CUDA_TOOLKITS", "12.4,13.0", ["12.4", "13.0"]),
        ("ARCH", "AMD64", "x86_64"),
        ("GPU_00_NAME", " RTX 4090 ", "RTX 4090"),
        ("TOOL_FFMPEG_VERSION", "N-117986-g5a5c5ec3a9", "N-117986-g5a5c5ec3a9"),
        ("DRIVER_VERSION", "32.0.15.8097", "580.97"),
        ("ENVIRONMENT_CUDA_VISIBLE_DEVICES", "0,1", "0,1"),
    ],
)
def test_values_that_a_variable_may_have(name, value, expected):
    overrides = read_overrides({FACT + name: value})
    assert not overrides.faults
    assert next(reversed(overrides.facts.values())).value == expected


def test_host_refuses_its_wrong_variables_all_at_once(monkeypatch, capsys):
    monkeypatch.setenv("ENVDOCTOR_FACT_GPU_0_COMPUTE_CAPABILITY", "banana")
    monkeypatch.setenv("ENVDOCTOR_FACT_OSS", "linux")
    assert main(["host"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "error: `ENVDOCTOR_FACT_GPU_0_COMPUTE_CAPABILITY`: `banana` is not a capability such as `9.0`",
        "error: `ENVDOCTOR_FACT_OSS` names no fact; did you mean `ENVDOCTOR_FACT_OS`?",
    ]
    page = (Path(__file__).parents[2] / "docs" / "facts.md").read_text(encoding="utf-8")
    assert err in page


def test_host_passes_over_a_foreign_variable_that_says_nothing_and_stays_one_document(monkeypatch, capsys):
    monkeypatch.setenv("CONDA_OVERRIDE_CUDA", "\x1b[31mbanana")
    assert main(["host", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert (told["command"], told["judged"]) == ("host", False)
    jsonschema.Draft202012Validator(report_schema()).validate(told)
    assert err.startswith("note: `CONDA_OVERRIDE_CUDA`: ")
    assert "\x1b" not in err


def test_check_refuses_a_wrong_variable_and_is_quiet_about_foreign_ones_where_asked(tmp_path, monkeypatch, capsys):
    import venv

    venv.create(tmp_path / "env")
    monkeypatch.setenv("CONDA_OVERRIDE_CUDA", "banana")
    monkeypatch.setenv("ENVDOCTOR_FACT_OS", "linux")
    check = ["check", "--offline", "--env", str(tmp_path / "env")]
    assert main(check) in (0, 1)
    assert "note: `CONDA_OVERRIDE_CUDA`: `banana` is not" in capsys.readouterr().err
    assert main([*check, "--quiet"]) in (0, 1)
    assert "CONDA_OVERRIDE_CUDA" not in capsys.readouterr().err
    monkeypatch.setenv("ENVDOCTOR_FACT_OS", "beos")
    assert main(check) == 2
    assert capsys.readouterr().err == "error: `ENVDOCTOR_FACT_OS`: `beos` is not `windows`, `linux` or `macos`\n"


def test_wrong_variables_are_refused_before_anything_is_measured(tmp_path):
    machine = Machine(root=str(tmp_path), environ={"PATH": "", "ENVDOCTOR_FACT_GPU_O_NAME": "x"}, system="linux")
    with pytest.raises(OverrideError) as caught:
        facts_of(machine)
    assert caught.value.faults == (
        "`ENVDOCTOR_FACT_GPU_O_NAME` names no fact; did you mean `ENVDOCTOR_FACT_GPU_0_NAME`?",
    )
