"""Programs and libraries outside Python: compilers, CUDA's toolkit, FFmpeg, eSpeak NG, git.

Each program is asked for its version in a child of its own, all at once. CUDA's toolkit is also looked for where it is
installed without being on PATH.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from envdoctor.adapters.probe.host_machine import Machine, absent, collected, known, unknown, unless_barred
from envdoctor.model.fact import Fact

__all__ = ["TOOLS", "library_facts", "parse_cuda_json", "parse_tool_version", "tool_facts"]

# Program to the arguments that make it say its version. `cl` says it when it is called with nothing.
TOOLS: dict[str, tuple[str, ...]] = {
    "python": ("--version",),
    "nvcc": ("--version",),
    "gcc": ("-dumpfullversion", "-dumpversion"),
    "g++": ("-dumpfullversion", "-dumpversion"),
    "clang": ("--version",),
    "cl": (),
    "cmake": ("--version",),
    "ninja": ("--version",),
    "git": ("--version",),
    "git-lfs": ("--version",),
    "ffmpeg": ("-version",),
    "espeak-ng": ("--version",),
    "rustc": ("--version",),
    "pkg-config": ("--version",),
}
_PATTERNS = {
    "python": r"^Python (\d+(?:\.\d+)+\S*)",
    "nvcc": r"release \d+\.\d+, V(\d+\.\d+\.\d+)|release (\d+\.\d+)",
    "gcc": r"\A\s*(\d+(?:\.\d+)*)\s*$",
    "g++": r"\A\s*(\d+(?:\.\d+)*)\s*$",
    "cmake": r"^cmake version (\d+(?:\.\d+)+)",
    "ninja": r"\A\s*(\d+(?:\.\d+)+)",
    "git": r"^git version (\d+(?:\.\d+)+)",
    "rustc": r"^rustc (\d+(?:\.\d+)+)",
    "pkg-config": r"\A\s*(?:pkgconf )?(\d+(?:\.\d+)+)$",
    "clang": r"clang version (\d+(?:\.\d+)+)",
    "cl": r"Version (\d+(?:\.\d+)+)",
    "ffmpeg": r"ffmpeg version n?(\d+(?:\.\d+)+|[\w.+~:-]+)",
    "espeak-ng": r"(?:eSpeak NG|text-to-speech):?\s*(\d+(?:\.\d+)+)",
    "git-lfs": r"git-lfs/(\d+(?:\.\d+)+)",
}
_LIBRARIES = {
    "libavutil": r"libavutil(\.so\.\d+|\.\d+\.dylib)|avutil-\d+\.dll",
    "libespeak-ng": r"libespeak-ng(\.so\.\d+|\.\d*\.?dylib)|libespeak-ng\.dll",
    "libsndfile": r"libsndfile(\.so\.\d+|\.\d*\.?dylib)|(lib)?sndfile\.dll",
}
_LONGEST_VERSION = 60
_MAC_FOLDERS = ("/opt/homebrew/lib", "/usr/local/lib", "/opt/local/lib")
_CUDA_ROOTS = ("/usr/local/cuda",)
_CUDA_ON_WINDOWS = "/NVIDIA GPU Computing Toolkit/CUDA"
"""Below the folder of programs; one folder a release in it, ``v12.4``. Source: NVIDIA's installation guide."""


def parse_tool_version(name: str, text: str) -> str | None:
    """Return the version in what a program says of itself."""
    match = re.search(_PATTERNS[name], text.replace("\r", ""), re.MULTILINE)
    version = next((group for group in match.groups() if group), None) if match else None
    return version if version and len(version) <= _LONGEST_VERSION else None


def parse_cuda_json(text: str) -> str | None:
    """Return the toolkit's version out of its ``version.json``: the compiler's, since that is what is used."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    for part in ("cuda_nvcc", "cuda"):
        entry = document.get(part) if isinstance(document, dict) else None
        if isinstance(entry, dict) and isinstance(entry.get("version"), str):
            return str(entry["version"])
    return None


def tool_facts(machine: Machine) -> Iterator[Fact]:
    """Yield ``tool.<name>.version`` and ``.path`` of each program, absent where it is not on PATH."""
    sources = {name: _asking(machine, name) for name in TOOLS}
    for _, facts in collected(sources, machine.deadline + machine.grace_s, _not_asked):
        yield from facts
    yield from _toolkit(machine)


def _asking(machine: Machine, name: str) -> Callable[[], list[Fact]]:
    return lambda: _tool(machine, name)


def _not_asked(name: str, reason: str) -> list[Fact]:
    return [unknown(f"tool.{name}.{part}", name, reason) for part in ("version", "path")]


def _tool(machine: Machine, name: str) -> list[Fact]:
    path = machine.which(name)
    if path is None and name == "nvcc":
        path = _nvcc_off_path(machine)
    if path is None and name == "python":
        path = machine.which("python3")
    version_fact, path_fact = f"tool.{name}.version", f"tool.{name}.path"
    if path is None:
        return [absent(version_fact, "PATH"), absent(path_fact, "PATH")]
    outcome = machine.run([path, *TOOLS[name]])
    said = (outcome.stdout + b"\n" + outcome.stderr).decode("utf-8", "replace")
    # A program that fails may print any number: of a library that it misses, of the Pythons that a shim looked in.
    version = parse_tool_version(name, said) if outcome.status == "exited" and outcome.code == 0 else None
    if version is None:
        why = outcome.detail if outcome.status != "exited" or outcome.code else "it does not say its version"
        return [unknown(version_fact, path, f"{name}: {why}"), known(path_fact, path, "PATH")]
    return [known(version_fact, version, path), known(path_fact, path, "PATH")]


def _nvcc_off_path(machine: Machine) -> str | None:
    """Return nvcc in CUDA's own folder: ``CUDA_HOME``, ``CUDA_PATH`` or the place where installers put it."""
    roots = [machine.environ[key] for key in ("CUDA_HOME", "CUDA_PATH") if machine.environ.get(key)]
    if machine.system != "win32":
        roots += [str(machine.path(item)) for item in _CUDA_ROOTS]
    for root in roots:
        for name in ("bin/nvcc.exe",) if machine.system == "win32" else ("bin/nvcc", "bin/nvcc.exe"):
            if Path(root, name).is_file():
                return str(Path(root, name))
    return None


def _toolkit(machine: Machine) -> Iterator[Fact]:
    found: dict[str, str] = {}
    silent: list[str] = []
    place = "/usr/local"
    if machine.system == "win32":
        place = machine.environ.get("PROGRAMFILES", "C:\\Program Files") + _CUDA_ON_WINDOWS
    for entry in machine.entries(place):
        if re.fullmatch(r"cuda(-\d+(\.\d+)?)?|v\d+\.\d+", entry):
            version = parse_cuda_json(machine.text(f"{place}/{entry}/version.json") or "")
            named = re.fullmatch(r"(?:cuda-|v)(\d+\.\d+)", entry)
            if version or named:
                found[f"{place}/{entry}"] = version or (named[1] if named else "")
            else:
                silent.append(f"{place}/{entry} is there and does not say its version")
    if found:
        versions = sorted(set(found.values()))
        yield known("cuda.toolkits", versions, ", ".join(found))
    elif machine.system == "linux" and silent:
        yield unknown("cuda.toolkits", "/usr/local", silent[0])
    elif machine.system == "linux":
        yield unless_barred(machine, "cuda.toolkits", "/usr/local")


# What the packages that load it ask first. Source: phonemizer's and misaki's documentation.
_NAMED_BY = {"libespeak-ng": "PHONEMIZER_ESPEAK_LIBRARY"}


def library_facts(machine: Machine) -> Iterator[Fact]:
    """Yield ``library.<name>`` of the shared libraries that packages load by name."""
    names, source = _library_names(machine)
    for name, pattern in _LIBRARIES.items():
        variable = _NAMED_BY.get(name, "")
        named = machine.environ.get(variable)
        if named and machine.exists(named):
            yield known(f"library.{name}", named, variable)
            continue
        found = sorted(item for item in names if re.fullmatch(pattern, item))
        if found:
            yield known(f"library.{name}", found[-1], source)
            continue
        reason = machine.loader_silent() if machine.system == "linux" or machine.root != "/" else None
        yield unknown(f"library.{name}", source, reason) if reason else absent(f"library.{name}", source)


def _library_names(machine: Machine) -> tuple[set[str], str]:
    if machine.system == "linux":
        return set(machine.libraries()), "ld.so"
    folders = _MAC_FOLDERS if machine.system == "darwin" else tuple(machine.environ.get("PATH", "").split(";"))
    if machine.system == "win32":
        programs = machine.environ.get("PROGRAMFILES", "C:\\Program Files")
        folders = (*folders, f"{programs}\\eSpeak NG")
    return {name for folder in folders if folder for name in machine.entries(folder)}, "library folders"
