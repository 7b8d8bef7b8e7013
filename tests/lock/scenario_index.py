"""Resolver scenarios served as an index does: pages in HTML (PEP 503, 592, 658), wheels with metadata beside them."""

from __future__ import annotations

import html
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from lock_index import LoopbackIndex
from packaging.requirements import Requirement

from envdoctor.cli.main import main
from envdoctor.toml_tables import read_toml

PYTHONS = {"specific-architecture": "3.13"}
"""Scenarios for every platform do not name an interpreter; these have wheels for one alone."""


class ScenarioIndex(LoopbackIndex):
    """An index that is made of a scenario's ``packages``."""

    def __init__(self, packages: Mapping[str, Any]) -> None:
        super().__init__()
        self.attributes: dict[str, list[dict[str, str | None]]] = {}
        # A project that every index of the usual kind has: by it a wrong address is told from an index without a name.
        self._add("pip", "26.0", {"sdist": False})
        for name, project in packages.items():
            self.attributes[name] = []
            for version, entry in project["versions"].items():
                self._add(name, version, entry)

    def _add(self, name: str, version: str, entry: Mapping[str, Any]) -> None:
        tags = entry.get("wheel_tags", ["py3-none-any"]) if entry.get("wheel", True) else []
        about = _metadata(name, version, entry)
        stem = name.replace("-", "_")
        for tag in tags:
            filename = f"{stem}-{version}-{tag}.whl"
            self.wheel(stem, version, tag=tag, metadata=about)
            self.files[f"{filename}.metadata"] = about.encode()
            self._list(name, filename, entry, sidecar=True)
        if entry.get("sdist", True):
            self.files[f"{stem}-{version}.tar.gz"] = _sdist(f"{stem}-{version}", about)
            self._list(name, f"{stem}-{version}.tar.gz", entry, sidecar=False)

    def _list(self, name: str, filename: str, entry: Mapping[str, Any], *, sidecar: bool) -> None:
        digest = self.digest(self.files[filename])
        attributes: dict[str, str | None] = {"href": f"../../files/{filename}#sha256={digest}"}
        if sidecar:
            attributes["data-core-metadata"] = f"sha256={self.digest(self.files[f'{filename}.metadata'])}"
        if "requires_python" in entry:
            attributes["data-requires-python"] = entry["requires_python"]
        if entry.get("yanked"):
            attributes["data-yanked"] = entry["yanked"] if isinstance(entry["yanked"], str) else None
        self.attributes.setdefault(name, []).append({"": filename, **attributes})

    def _answer(self, path: str) -> tuple[int, str, bytes]:
        name = path.split("/")[2] if path.startswith("/simple/") else ""
        if name not in self.attributes or path in self.status:
            return super()._answer(path)
        links = []
        for attributes in self.attributes[name]:
            words = [
                key if value is None else f'{key}="{html.escape(value)}"' for key, value in attributes.items() if key
            ]
            links.append(f"<a {' '.join(words)}>{attributes['']}</a><br>")
        return 200, "text/html", ("<!DOCTYPE html><html><body>" + "\n".join(links) + "</body></html>").encode()


def _metadata(name: str, version: str, entry: Mapping[str, Any]) -> str:
    lines = ["Metadata-Version: 2.2", f"Name: {name}", f"Version: {version}"]
    if "requires_python" in entry:
        lines.append(f"Requires-Python: {entry['requires_python']}")
    lines += [f"Requires-Dist: {text}" for text in entry.get("requires", ())]
    for extra, texts in entry.get("extras", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        for text in texts:
            asked = Requirement(text)
            own = f" and ({asked.marker})" if asked.marker else ""
            asked.marker = None
            lines.append(f"Requires-Dist: {asked} ; extra == '{extra}'{own}")
    return "\n".join(lines) + "\n"


def _sdist(root: str, about: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        member = tarfile.TarInfo(f"{root}/PKG-INFO")
        member.size = len(about)
        archive.addfile(member, io.BytesIO(about.encode()))
    return stream.getvalue()


def write_project(folder: Path, scenario: Mapping[str, Any]) -> list[str]:
    """Write what the scenario's user asks for into a project; return the options that name the user's machine."""
    options = scenario.get("resolver_options", {})
    lines = list(scenario["root"]["requires"])
    if options.get("prereleases"):
        lines.insert(0, "--pre")
    lines[:0] = [f"--only-binary {name}" for name in options.get("no_build", ())]
    lines[:0] = [f"--no-binary {name}" for name in options.get("no_binary", ())]
    folder.mkdir(exist_ok=True)
    (folder / "requirements.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if "constraints" in scenario["root"]:
        (folder / "constraints.txt").write_text("\n".join(scenario["root"]["constraints"]) + "\n", encoding="utf-8")
        (folder / "requirements.txt").write_text("-c constraints.txt\n" + "\n".join(lines) + "\n", encoding="utf-8")
    default = PYTHONS.get(scenario["name"], "3.12")
    python = options.get("python") or scenario.get("environment", {}).get("python") or default
    return ["--target-os", "linux", "--target-arch", "x86_64", "--target-python", python]


def judge(
    scenario: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run `check`, `lock` and `lock --check` on a scenario, and compare with what it expects."""
    index = ScenarioIndex(scenario.get("packages", {}))
    monkeypatch.setenv("ENVDOCTOR_INDEX_URL", index.url)
    monkeypatch.setenv("ENVDOCTOR_CACHE_DIR", str(folder / "cache"))
    project = folder / "project"
    options = write_project(project, scenario)
    expected = scenario["expected"]
    try:
        code = main(["check", str(project), *options, "--format", "json", "-q"])
        report = json.loads(capsys.readouterr().out)
        locked = main(["lock", str(project), *options, "--no-repair", "-q"])
        again = main(["lock", str(project), *options, "--no-repair", "-q", "--check"])
        said = capsys.readouterr()
    finally:
        index.close()
    as_it_stands = report["resolution"] is not None and report["resolution"]["repair"] is None
    assert (as_it_stands, not report["conflicts"]) == (expected["satisfiable"],) * 2, report["findings"]
    assert (code, locked, again) == ((0, 0, 0) if expected["satisfiable"] else (1, 1, 1)), said
    if "packages" in expected:
        assert {item["name"]: item["version"] for item in report["resolution"]["packages"]} == expected["packages"]
    lock = project / "pylock.toml"
    assert lock.exists() == expected["satisfiable"]
    if lock.exists() and "packages" in expected:
        document = read_toml(lock.read_text(encoding="utf-8"))
        assert {item["name"]: item["version"] for item in document["packages"]} == expected["packages"]
