"""ENV016: an environment that does not set what its kernels passed with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from envdoctor.adapters.probe.installed_environment import read_environment
from envdoctor.adapters.smoke.startup_hook import hook_files
from envdoctor.model.environment import InstalledEnvironment
from envdoctor.profile.load import load_profile
from envdoctor.verbs.patient import with_patches


def look(venv: Path) -> InstalledEnvironment:
    return with_patches(read_environment(venv))


def fixed(venv: Path, *settings: str) -> None:
    (venv / ".envdoctor").mkdir(exist_ok=True)
    record = {"schema": "envdoctor.environment/1", "profile": "xtts-zluda", "settings": list(settings)}
    (venv / ".envdoctor" / "environment.json").write_text(json.dumps(record), "utf-8")


def write(site: Any, *settings: str) -> None:
    for path, text in hook_files(settings, {}).items():
        (site.folder / path).parent.mkdir(exist_ok=True)
        (site.folder / path).write_text(text, "utf-8")


def test_what_a_fix_had_set_and_is_gone_is_missing(venv: Path, venv_site: Any, diagnose: Any) -> None:
    venv_site.add("torch", "2.1.1", files={"torch/__init__.py": ""})
    fixed(venv, "cudnn-off", "math-only")
    (finding,) = diagnose(look(venv), "ENV016")
    assert "`cudnn-off`, `math-only`" in finding.message
    assert finding.remedy is not None
    assert [command.verb for command in finding.remedy.commands] == ["fix"]
    write(venv_site, "cudnn-off", "math-only")
    assert diagnose(look(venv), "ENV016", "ISO007", "ENV008") == []
    write(venv_site, "cudnn-off")
    (finding,) = diagnose(look(venv), "ENV016")
    assert "with `math-only`," in finding.message


def test_a_profile_speaks_of_an_environment_that_no_fix_has_made(venv: Path, venv_site: Any, diagnose: Any) -> None:
    profile = load_profile("xtts-zluda")
    assert diagnose(look(venv), "ENV016", profile=profile) == []  # No torch, no kernels.
    venv_site.add("torch", "2.1.1", files={"torch/__init__.py": ""})
    (finding,) = diagnose(look(venv), "ENV016", profile=profile)
    assert "profile `xtts-zluda` names" in finding.evidence[0].what
    assert diagnose(look(venv), "ENV016") == []
    assert diagnose(look(venv), "ENV016", profile=load_profile("diffrhythm2-cpu")) == []
