"""What must hold between the entries of a profile once its bases are folded in."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.model.compatibility import KNOWN_SPAN, admitted_minors
from envdoctor.profile.merge import Entry, Merged, identity
from envdoctor.toml_tables import Fault, did_you_mean

__all__ = ["inconsistencies"]

_REQUIRED_TARGET = ("os", "arch", "python", "backend")
_ARCHES = {"windows": ("x86_64", "arm64"), "linux": ("x86_64", "aarch64"), "macos": ("x86_64", "arm64")}
_SYSTEMS = {
    "cuda": ("windows", "linux"),
    "rocm": ("windows", "linux"),
    "zluda": ("windows", "linux"),
    "directml": ("windows", "linux"),
    "mps": ("macos",),
    "xpu": ("windows", "linux"),
    "coreml": ("macos",),
    "cpu": ("windows", "linux", "macos"),
}


def inconsistencies(merged: Merged) -> list[Fault]:
    """Return the faults that no single value shows: duplicates, contradictions, dangling names."""
    abstract = merged.table("profile").get("abstract", False)
    return [
        *_target(merged.table("target"), complete=not abstract),
        *_duplicates(merged),
        *_requirements(merged),
        *_stubs(merged),
        *_couplings(merged),
        *_indexes(merged),
        *_placements(merged, complete=not abstract),
    ]


def _target(target: dict[str, Any], *, complete: bool) -> Iterator[Fault]:
    if complete:
        for key in _REQUIRED_TARGET:
            if key not in target:
                yield Fault(f"target.{key}", f"missing required key `{key}`")
    os_, arch, backend = target.get("os"), target.get("arch"), target.get("backend")
    if os_ and arch and arch not in _ARCHES[os_]:
        named = " or ".join(f"`{name}`" for name in _ARCHES[os_])
        yield Fault("target.arch", f"`{os_}` runs on {named}, not on `{arch}`")
    if os_ and backend and os_ not in _SYSTEMS.get(backend, (os_,)):
        named = " or ".join(f"`{name}`" for name in _SYSTEMS[backend])
        yield Fault("target.backend", f"`{backend}` exists on {named}, not on `{os_}`")
    for key, owner in (("wsl", "linux"), ("glibc", "linux"), ("macos", "macos")):
        if os_ and target.get(key) and os_ != owner:
            yield Fault(f"target.{key}", f"means something only where `os` is `{owner}`")
    yield from _python(target)


def _python(target: dict[str, Any]) -> Iterator[Fault]:
    if "python" not in target:
        return
    choices = admitted_minors(SpecifierSet(target["python"]))
    if not choices:
        yield Fault("target.python", f"`{target['python']}` admits no CPython from {KNOWN_SPAN}")
    preferred = target.get("preferred-python")
    if preferred and choices and preferred not in {f"{major}.{minor}" for major, minor in choices}:
        yield Fault("target.preferred-python", f'`{preferred}` is not admitted by `python = "{target["python"]}"`')


def _place(entry: Entry) -> str:
    return f"`{entry.key_path}` of `{entry.profile}`" if entry.inherited else f"`{entry.key_path}`"


def _duplicates(merged: Merged) -> Iterator[Fault]:
    for section in ("exclude", "override", "index", "patch", "system", "placement", "caution"):
        seen: dict[str, Entry] = {}
        for entry in merged.entries(section):
            name = identity(section, entry.table)
            if name is None:
                continue
            first = seen.setdefault(name, entry)
            if first is not entry:
                hint = f"; take it away with `remove.{section}`" if first.inherited else ""
                yield Fault(entry.key_path, f"`{name}` is already in {_place(first)}{hint}")
    texts: dict[str, Entry] = {}
    for entry in merged.entries("requires"):
        text = str(Requirement(entry.table["requirement"])) if "requirement" in entry.table else entry.key_path
        first = texts.setdefault(text, entry)
        if first is not entry:
            yield Fault(entry.key_path, f"`{text}` is already in {_place(first)}")


def _requirements(merged: Merged) -> Iterator[Fault]:
    excluded = {identity("exclude", entry.table): entry for entry in merged.entries("exclude")}
    for section in ("requires", "override"):
        for entry in merged.entries(section):
            name = identity(section, entry.table)
            if name is not None and name in excluded:
                yield Fault(entry.key_path, f"asks for `{name}`, which {_place(excluded[name])} excludes")
    for entry in merged.entries("override"):
        name, replaces = identity("override", entry.table), entry.table.get("replaces")
        if replaces is not None and not replaces:
            yield Fault(f"{entry.key_path}.replaces", "is empty: an override that replaces nothing")
        elif name is not None and name in [canonicalize_name(item) for item in replaces or ()]:
            message = f"names `{name}` itself: it must say whose demand on `{name}` is set aside"
            yield Fault(f"{entry.key_path}.replaces", message)
        if (
            name is not None
            and str(Requirement(entry.table["requirement"])) == Requirement(entry.table["requirement"]).name
        ):
            message = f"`{entry.table['requirement']}` names no version: an override that replaces nothing"
            yield Fault(f"{entry.key_path}.requirement", message)


def _stubs(merged: Merged) -> Iterator[Fault]:
    seen: dict[str, Entry] = {}
    for entry in merged.entries("exclude"):
        for number, module in enumerate(entry.table.get("stubs", ())):
            key_path = f"{entry.key_path}.stubs[{number}]"
            first = seen.setdefault(module, entry)
            if first is not entry:
                yield Fault(key_path, f"`{module}` has a stand-in already by {_place(first)}")
            if any(iskeyword(part) for part in module.split(".")):
                yield Fault(key_path, f"`{module}` holds a word of the language, and no module is called so")


def _couplings(merged: Merged) -> Iterator[Fault]:
    for entry in merged.entries("coupled"):
        names = [canonicalize_name(name) for name in entry.table.get("names", ())]
        if "names" in entry.table and len(set(names)) < 2:
            yield Fault(f"{entry.key_path}.names", "needs two projects or more")


def _indexes(merged: Merged) -> Iterator[Fault]:
    bound: dict[str, Entry] = {}
    for entry in merged.entries("index"):
        if entry.table.get("packages") == []:
            yield Fault(f"{entry.key_path}.packages", "is empty: name what comes from this index")
        for number, package in enumerate(entry.table.get("packages", ())):
            first = bound.setdefault(canonicalize_name(package), entry)
            if first is not entry:
                yield Fault(f"{entry.key_path}.packages[{number}]", f"`{package}` is already bound by {_place(first)}")
        if entry.table.get("name") == "default":
            yield Fault(f"{entry.key_path}.name", "`default` is what the user's own index is called")


def _placements(merged: Merged, *, complete: bool) -> Iterator[Fault]:
    components = {str(entry.table.get("component")) for entry in merged.entries("placement")}
    kernels = merged.table("smoke").get("kernels", [])
    for entry in merged.entries("placement"):
        for number, kernel in enumerate(entry.table.get("needs", ())):
            if complete and kernel not in kernels:
                message = f"`{kernel}` is not in `smoke.kernels`, so nothing would test it"
                yield Fault(f"{entry.key_path}.needs[{number}]", f"{message}{did_you_mean(kernel, kernels)}")
    for entry in merged.entries("patch"):
        component = entry.table.get("component")
        if component is not None and component not in components:
            message = f"no placement is for `{component}`{did_you_mean(component, components)}"
            yield Fault(f"{entry.key_path}.component", message)
