"""Facts of another machine, as a report or by hand; a file that is wrong says where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envdoctor.adapters.probe.host_facts import probe_host
from envdoctor.adapters.probe.host_facts_file import FactsFileError, read_facts
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.render.json_document import report_dict
from envdoctor.verbs.host import host_report

SHARED = Path(__file__).parents[2].parent / "shared" / "cases"


def test_facts_by_hand():
    text = json.dumps(
        {
            "os": "windows",
            "gpu": [{"name": "RTX 5080", "compute_capability": 12.0}, {"vendor": "amd", "architecture": "gfx1030"}],
            "driver": {"version": "580.97"},
            "torch": {"arch_list": ["sm_80", "sm_90"], "is_available": True},
            "tool": {"cmake": {"version": None}},
        }
    )
    found = read_facts(text, "probe.json")
    assert (found.value("gpu[0].compute_capability"), found.value("gpu[0].architecture")) == ("12.0", "sm_120")
    assert found.value("gpu[1].architecture") == "gfx1030"
    assert found.value("torch.arch_list") == ["sm_80", "sm_90"]
    assert found.get("tool.cmake.version").state is FactState.ABSENT
    assert found.get("driver.version").source == "probe.json"


def test_facts_in_short():
    found = read_facts('{"host.l4t": "39.2"}', "x")
    assert found.value("host.jetpack") == "7.2"
    assert read_facts('{"host.l4t": "39.2", "host.jetpack": "7.3"}', "x").value("host.jetpack") == "7.3"
    found = read_facts('{"gpu": {"compute_capability": "9.0"}, "driver": "550.54", "host.wsl": true}', "x")
    assert found.value("gpu[0].architecture") == "sm_90"
    assert (found.value("driver.version"), found.value("host.wsl")) == ("550.54", True)


def test_facts_of_a_report_come_back():
    measured = probe_host(environ={"PATH": "", "CONDA_OVERRIDE_CUDA": "12.4"})
    report = host_report(lambda: measured)
    found = read_facts(json.dumps(report_dict(report)), "host.json")
    for fact in measured:
        back = found.get(fact.name)
        assert (back.state, back.value, back.overridden_by) == (fact.state, fact.value, fact.overridden_by)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.json: line 1: this is not JSON: Expecting value"),
        ('{"a":\n tru}', "f.json: line 2: this is not JSON: Expecting value"),
        ("[" * 100000, "f.json"),
        ("[]", "f.json: a file of facts is a JSON object"),
        ("{}", "f.json: there is no fact in it"),
        (
            '{"gpu": [{"compute_capability": "sm_90"}]}',
            "gpu[0].compute_capability: `sm_90` is not a capability such as",
        ),
        ('{"gpu": [{"architecture": "Hopper"}]}', "gpu[0].architecture: `Hopper` is not such as `sm_90`"),
        ('{"driver": {"version": "new"}}', "driver.version: `new` is not a version"),
        ('{"driver": {"version": true}}', "driver.version: `True` is not a version"),
        ('{"torch": {"arch_list": [90]}}', "torch.arch_list: is not a list of text"),
        ('{"os": "beos"}', "os: `beos` is not `windows`, `linux` or `macos`"),
        ('{"facts": [3]}', "facts[0]: a fact is an object"),
        ('{"facts": [{"state": "known"}]}', "facts[0].name: a fact has a name"),
        ('{"facts": [{"name": "os", "state": "perhaps"}]}', "facts[0].state: is none of"),
        ('{"facts": [{"name": "os", "state": "known", "value": {}}]}', "os: is not a plain value"),
        ('{"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}}}}', "is nested too deeply"),
    ],
)
def test_facts_that_are_none_say_where(text, message):
    with pytest.raises(FactsFileError) as caught:
        read_facts(text, "f.json")
    assert message in str(caught.value)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared cases are not beside this checkout")
def test_facts_of_the_shared_cases():
    paths = sorted(SHARED.glob("*/input/probe.json"))
    assert paths
    for path in paths:
        assert len(read_facts(path.read_text(encoding="utf-8-sig"), str(path)))


def test_host_report_is_not_complete_where_time_ran_out():
    timed_out = (
        '{"facts": [{"name": "driver.version", "state": "unknown", "reason": "nvidia-smi is slow", "timed_out": true}]}'
    )
    assert not host_report(lambda: read_facts(timed_out, "x")).complete
    assert host_report(lambda: read_facts('{"os": "linux"}', "x")).complete
    words = Fact("os", FactState.UNKNOWN, reason="its author says that a test did not end within 3 s")
    assert host_report(lambda: Facts([words])).complete


@pytest.mark.parametrize(
    ("name", "vendor", "architecture"),
    [
        ("NVIDIA GeForce RTX 5080", "nvidia", "sm_120"),
        ("NVIDIA GB10", "nvidia", "sm_121"),
        ("NVIDIA Thor", "nvidia", "sm_110"),
        ("Orin (nvgpu)", "nvidia", "sm_87"),
        ("GeForce GT 210", "nvidia", None),
        ("AMD Radeon RX 9070 XT", "amd", "gfx1201"),
        ("Radeon RX 580 Series", "amd", "gfx803"),
        ("AMD Instinct MI300X", "amd", "gfx942"),
        ("AMD Radeon(TM) Graphics", "amd", None),
        ("Intel Arc A770", "intel", None),
    ],
)
def test_a_cards_name_tells_what_is_not_said(name, vendor, architecture):
    found = read_facts(json.dumps({"gpu": {"name": name}}), "x")
    assert (found.value("gpu[0].vendor"), found.value("gpu[0].architecture")) == (vendor, architecture)


def test_what_the_file_says_of_a_card_counts_for_more_than_its_name():
    found = read_facts('{"gpu": {"name": "RTX 4090", "vendor": "other", "compute_capability": "7.0"}}', "x")
    assert (found.value("gpu[0].vendor"), found.value("gpu[0].architecture")) == ("other", "sm_70")
