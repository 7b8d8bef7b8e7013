"""Odd files of facts: what is wrong is refused with its key path, what is not known is told, nothing is lost unsaid."""

from __future__ import annotations

import json
import time

import pytest

from envdoctor.adapters.probe.host_facts import facts_of
from envdoctor.adapters.probe.host_facts_file import FactsFileError, read_facts, unknown_names
from envdoctor.adapters.probe.host_machine import Machine
from envdoctor.cli.main import main
from envdoctor.model.fact import Facts, FactState
from envdoctor.render.json_document import report_dict
from envdoctor.verbs.host import host_report

REFUSED = [
    ('{"gpu": [{"memory_bytes": -1}]}', "gpu[0].memory_bytes: `-1` is not a whole number of bytes"),
    ('{"gpu": [{"memory_bytes": "80 GB"}]}', "gpu[0].memory_bytes: `80 GB` is not a whole number of bytes"),
    ('{"gpu": [{"memory_bytes": 1.5}]}', "gpu[0].memory_bytes: `1.5` is not a whole number of bytes"),
    ('{"gpu": [{"memory_bytes": 1e999999999}]}', "gpu[0].memory_bytes: `1E+999999999` is not a whole number"),
    ('{"gpu": [{"memory_bytes": %s}]}' % ("9" * 5000), "gpu[0].memory_bytes: `999"),
    ('{"gpu": [{"memory_bytes": true}]}', "gpu[0].memory_bytes: `True` is not a whole number of bytes"),
    ('{"gpu": [{"memory_bytes": NaN}]}', "this is not JSON: `NaN` is no number"),
    ('{"gpu": [{"memory_bytes": -Infinity}]}', "this is not JSON: `-Infinity` is no number"),
    ('{"gpu": [{"memory_bytes": 1e99999999999999999999}]}', "f.json"),
    ('{"gpu": [{"name": 4090}]}', "gpu[0].name: `4090` is not text"),
    ('{"gpu": [{"name": ""}]}', "gpu[0].name: an empty value is not text"),
    ('{"gpu": [{"name": ["RTX 4090"]}]}', "gpu[0].name: a list is not text"),
    ('{"gpu": [{"name": "x", "mig": "yes"}]}', "gpu[0].mig: `yes` is not `true` or `false`"),
    ('{"gpu": [{"vendor": "NVIDIA Corporation"}]}', "gpu[0].vendor: `NVIDIA Corporation` is not `nvidia`"),
    ('{"gpu": [{"name": "x"}, {"compute_capability": "12"}]}', "gpu[1].compute_capability: `12` is not a capability"),
    ('{"gpu": {"count": "two"}}', "gpu.count: `two` is not a number of cards"),
    ('{"gpu": 4090}', "gpu[0].name: `4090` is not text"),
    ('{"gpu": [4090]}', "gpu[0].name: `4090` is not text"),
    ('{"host": {"wsl": "true"}}', "host.wsl: `true` is not `true` or `false`"),
    ('{"host": {"glibc": "musl"}}', "host.glibc: `musl` is not a version"),
    ('{"host": {"memory_bytes": [1]}}', "host.memory_bytes: a list is not a whole number of bytes"),
    ('{"driver": {"cuda": "550.54"}}', "driver.cuda: `550.54` is not a version of CUDA such as `12.4`"),
    ('{"driver": ["580.97"]}', "driver.version: a list is not a version"),
    ('{"torch": {"is_available": 1}}', "torch.is_available: `1` is not `true` or `false`"),
    ('{"torch": {"arch_list": ["sm_80", "banana"]}}', "torch.arch_list: `banana` is not such as `sm_90`"),
    ('{"torch": {"arch_list": {"sm_80": true}}}', "torch.arch_list.sm_80: is no fact"),
    ('{"driver": "%s"}' % ("9" * 9999), "driver.version: `999"),
    ('{"torch": "2.%s"}' % ("9" * 9999), "torch.version: `2.999"),
    ('{"python": 3}', "python.version: `3` is not a version such as `3.11`"),
    ('{"arch": "banana"}', "arch: `banana` is not `x86_64`, `aarch64` or `arm64`"),
    ('{"environment": {"PYTHONUTF8": true}}', "environment.PYTHONUTF8: `True` is not text"),
    ('{"library": {"libavutil": true}}', "library.libavutil: `True` is not text"),
    ('{"tool": {"cmake": {"version": "new"}}}', "tool.cmake.version: `new` is not a version"),
    ('{"cuda": {"toolkits": "12.4 x"}}', "cuda.toolkits: `x` is not a version such as `12.4`"),
    ('{"os": "linux", "os": "windows"}', "os: stands twice in one object"),
    ('{"gpu[0].name": "a", "gpu": {"name": "b"}}', "gpu[0].name: is said twice, and not the same"),
    ('{"name": "demo", "version": "1.0"}', "name: is no fact, nor is anything else in the file"),
    ('{"facts": [{"name": "x", "value": 1}]}', "x: is no fact, nor is anything else in the file"),
    ('{"facts": [{"name": "os", "state": "known"}]}', "facts[0].value: `os` is known and has no value"),
    ('{"facts": [{"name": "gpu.count", "value": -1}]}', "gpu.count: `-1` is not a number of cards"),
    ('{"facts": {"os": "linux"}}', "facts.os: is no fact"),
    ('"os"', "a file of facts is a JSON object"),
    ("\u00a0", "line 1: this is not JSON"),
    ("\x00", "line 1: this is not JSON"),
    ('{"os": "linux"} trailing', "line 1: this is not JSON: Extra data"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_wrong_in_a_file_of_facts_is_refused_with_its_place(text, message):
    with pytest.raises(FactsFileError) as caught:
        read_facts(text, "f.json")
    said = str(caught.value)
    assert said.startswith("f.json")
    assert message in said
    assert len(said) < 300


@pytest.mark.parametrize("text", [text for text, _ in REFUSED if "\x00" not in text])
def test_check_refuses_such_a_file_in_one_line(tmp_path, capsys, text):
    (tmp_path / "f.json").write_text(text, encoding="utf-8")
    assert main(["check", "--facts", str(tmp_path / "f.json")]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), err.startswith("error: ")) == ("", 1, True)


@pytest.mark.parametrize(
    ("text", "name", "meant"),
    [
        ('"gpu": [{"archtecture": "sm_90"}]', "gpu[0].archtecture", "gpu[0].architecture"),
        ('"gpu": {"archtecture": "sm_90"}', "gpu[0].archtecture", "gpu[0].architecture"),
        (
            '"gpu": [{"name": "x"}, {"compute_capabilty": "9.0"}]',
            "gpu[1].compute_capabilty",
            "gpu[1].compute_capability",
        ),
        ('"gpus": [{"name": "x"}]', "gpus[0].name", "gpu[0].name"),
        ('"OS": "linux"', "OS", "os"),
        ('"driver": {"versoin": "580"}', "driver.versoin", "driver.version"),
        ('"host": {"memory": 1}', "host.memory", None),
        ('"environment": {"PYTHONUTF": "1"}', "environment.PYTHONUTF", "environment.PYTHONUTF8"),
        ('"tool": {"cmak": {"version": "4"}}', "tool.cmak.version", "tool.cmake.version"),
        ('"xyzzy": 1.5', "xyzzy", None),
        ('"gpu[0].numa_node": 1', "gpu[0].numa_node", None),
    ],
)
@pytest.mark.parametrize("mailed", [False, True])
def test_a_name_that_is_no_fact_is_told_with_the_one_that_was_meant(text, name, meant, mailed):
    document = f'{{"os": "linux", {text}}}'
    if mailed:
        document = json.dumps({"facts": [{"name": "os", "value": "linux"}, {"name": name, "value": "1"}]})
    found = read_facts(document, "f.json")
    assert found.value("os") == "linux"
    (said,) = unknown_names(found, "f.json")
    assert said.startswith(f"f.json: {name}: is no fact that is known here, and is passed over")
    assert meant is None or said.endswith(f"; did you mean `{meant}`?")


def test_many_names_that_are_no_facts_are_told_in_few_lines():
    found = read_facts(json.dumps({"os": "linux", **{f"x{number}": 1 for number in range(3000)}}), "f.json")
    notes = unknown_names(found, "f.json")
    assert (len(notes), notes[-1]) == (6, "f.json: 2995 more names are no facts that are known here")


def test_check_tells_such_a_name_and_goes_on(tmp_path, capsys):
    facts = {"os": "linux", "gpu": [{"name": "RTX 5080", "archtecture": "sm_120"}], "torch": "2.6.0+cu124"}
    (tmp_path / "f.json").write_text(json.dumps(facts), encoding="utf-8")
    check = ["check", "--facts", str(tmp_path / "f.json"), "--format", "json"]
    assert main(check) == 1
    out, err = capsys.readouterr()
    assert {item["rule"] for item in json.loads(out)["findings"]} == {"RES208"}
    assert "note: " in err
    assert "gpu[0].archtecture: is no fact that is known here" in err
    assert main([*check, "--quiet"]) == 1
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ('{"driver": 550.90}', "driver.version", "550.90"),
        ('{"driver": 580}', "driver.version", "580"),
        ('{"driver": {"version": "32.0.15.8097"}}', "driver.version", "580.97"),
        ('{"driver": {"version": "32.0.12033.1030"}}', "driver.version", "32.0.12033.1030"),
        ('{"driver": {"cuda": 13}}', "driver.cuda", "13.0"),
        ('{"python": 3.10}', "python.version", "3.10"),
        ('{"torch": "2.6.0+cu124"}', "torch.version", "2.6.0+cu124"),
        ('{"torch": {"arch_list": "sm_80 compute_90"}}', "torch.arch_list", ["sm_80", "compute_90"]),
        ('{"torch": {"arch_list": []}}', "torch.arch_list", []),
        ('{"torch": {"arch_list": "gfx9-4-generic gfx90a:sramecc+:xnack-"}}', "torch.arch_list",
         ["gfx9-4-generic", "gfx90a:sramecc+:xnack-"]),
        ('{"gpu": "NVIDIA GeForce RTX 4090"}', "gpu[0].architecture", "sm_89"),
        ('{"gpu": ["RTX 4090", "RTX 5090"]}', "gpu[1].architecture", "sm_120"),
        ('{"gpu": {"memory_bytes": 8.5e10}}', "gpu[0].memory_bytes", 85_000_000_000),
        ('{"gpu": {"mig": false}}', "gpu[0].mig", False),
        ('{"gpu": {"count": 0}}', "gpu.count", 0),
        ('{"arch": "AMD64"}', "arch", "x86_64"),
        ('{"host": {"glibc": 2.40}}', "host.glibc", "2.40"),
        ('{"host": {"jetpack": "6.0 DP"}}', "host.jetpack", "6.0 DP"),
        ('{"environment": {"PYTHONUTF8": 1}}', "environment.PYTHONUTF8", "1"),
        ('{"environment": {"CUDA_VISIBLE_DEVICES": ""}}', "environment.CUDA_VISIBLE_DEVICES", ""),
        ('{"device": {"/dev/kfd": "/dev/kfd"}}', "device./dev/kfd", "/dev/kfd"),
        ('{"os": "linux", "x": 1.5}', "x", 1.5),
        ('{"os": "linux", "x": 1e999}', "x", "1E+999"),
        ('{"os": "linux", "x": [1, "a", null]}', "x", None),
    ],
)  # fmt: skip
def test_what_people_write_is_taken_as_they_mean_it(text, name, value):
    if value is None:
        with pytest.raises(FactsFileError, match="x: is not a plain value"):
            read_facts(text, "f.json")
        return
    assert read_facts(text, "f.json").value(name) == value


@pytest.mark.parametrize("text", ['{"gpu": []}', '{"gpu": null}', '{"gpu": {"count": null}}'])
def test_a_machine_without_a_card_is_said_in_short(text):
    assert read_facts(text, "f.json").get("gpu.count").state is FactState.ABSENT


def test_null_where_no_machine_is_without_it_means_not_told():
    fact = read_facts('{"os": null, "host": {"memory_bytes": null}}', "f.json").get("os")
    assert (fact.state, fact.reason) == (FactState.UNKNOWN, "f.json does not tell")


def back(found: Facts) -> Facts:
    report = host_report(lambda: found)
    return read_facts(json.dumps(report_dict(report)), "host.json")


@pytest.mark.parametrize(
    "files",
    [
        {"/sys/module/amdgpu/parameters/x": "", "/proc/sys/kernel/osrelease": "6.8.0-45-generic\n"},
        {"/etc/nv_tegra_release": "# R36 (release), REVISION: 2.0, GCID: 1\n"},
        {"/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue\n"},
    ],
)
def test_what_host_measures_is_read_elsewhere(tmp_path, files):
    for path, text in files.items():
        (tmp_path / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path.lstrip("/")).write_text(text)
    environ = {"PATH": "", "CUDA_VISIBLE_DEVICES": "", "ROCM_BOOTSTRAP_FORCE_GFX_ARCH": "gfx1100"}
    found = facts_of(Machine(root=str(tmp_path), environ=environ, system="linux", architecture="riscv64"))
    mailed = back(found)
    assert [(fact.name, fact.state, fact.value) for fact in mailed] == [
        (fact.name, fact.state, fact.value) for fact in found
    ]
    assert unknown_names(mailed, "host.json") == []


def test_a_large_file_of_keys_that_stand_twice_is_refused_at_once():
    text = "{" + ",".join(f'"k{number % 100000}": 1' for number in range(400000)) + "}"
    started = time.monotonic()
    with pytest.raises(FactsFileError, match="k0: stands twice"):
        read_facts(text, "f.json")
    assert time.monotonic() - started < 30
