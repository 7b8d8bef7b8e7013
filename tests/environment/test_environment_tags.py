"""A bare folder: what its wheels tell of its machine, and what stays open."""

from __future__ import annotations

import json

import pytest

from envdoctor.adapters.probe.installed_environment import read_environment
from envdoctor.cli.main import main
from envdoctor.model.environment import Platform


@pytest.mark.parametrize(
    ("tag", "platform", "machine"),
    [
        ("cp310-cp310-manylinux_2_28_aarch64", "linux", "aarch64"),
        ("cp310-cp310-manylinux2014_x86_64", "linux", "x86_64"),
        ("cp310-cp310-win_amd64", "win32", "x86_64"),
        ("cp310-cp310-macosx_11_0_arm64", "darwin", "arm64"),
        ("cp310-cp310-linux_x86_64", "linux", "x86_64"),
        ("py3-none-any", "", ""),
    ],
)
def test_wheels_of_a_folder_tell_its_machine(site, tag, platform, machine):
    site.add("one", "1.0", WHEEL=f"Wheel-Version: 1.0\nTag: {tag}\n")
    environment = read_environment(site.folder)
    assert environment.built_for == Platform(platform, machine)


def test_a_demand_that_only_some_pythons_or_systems_make_is_not_held_against_a_bare_folder(site, capsys):
    site.add("one", "1.0", 'tomli; python_version < "3.11"', 'pywin32; sys_platform == "win32"', "always-there")
    assert main(["check", "--env", str(site.folder), "--format", "json"]) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [item["message"] for item in findings] == ["`one` 1.0 requires `always-there`, but it is not installed"]


def test_a_demand_of_a_bare_folder_counts_where_the_python_is_told(site, capsys):
    site.add("one", "1.0", 'tomli; python_version < "3.11"')
    assert main(["check", "--env", str(site.folder), "--target-python", "3.10", "--format", "json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["message"] == "`one` 1.0 requires `tomli`, but it is not installed"
