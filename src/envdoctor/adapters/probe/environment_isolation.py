"""What from outside reaches into an environment: variables, pip's configuration, programs on PATH, scripts.

Sources: the interpreter's environment variables, pip's "Configuration" page (file order), PEP 370 (user site).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from envdoctor.adapters.ini_text import read_ini
from envdoctor.adapters.probe.environment_metadata import read_text
from envdoctor.model.environment import EnvironmentProblem, EnvironmentProblemKind

__all__ = ["foreign_scripts", "path_modules", "path_programs", "pip_settings", "relevant_variables"]

# Never everything: index URLs and tokens are nobody's business.
_VARIABLES = (
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONNOUSERSITE",
    "PYTHONUSERBASE",
    "PYTHONSAFEPATH",
    "PYTHONSTARTUP",
    "PYTHONPLATLIBDIR",
    "PIP_USER",
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_NO_DEPS",
    "PIP_CONFIG_FILE",
    "PIP_REQUIRE_VIRTUALENV",
    "PIP_BREAK_SYSTEM_PACKAGES",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "CONDA_SHLVL",
    "CONDA_EXE",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "DYLD_LIBRARY_PATH",
    "PATH",
)
_PIP_KEYS = ("user", "target", "prefix", "root", "no-deps")
_PIP_SECTIONS = ("global", "install")
_PROGRAMS = ("python", "python3", "pip", "pip3")


def relevant_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the set variables that decide what an interpreter imports and where pip installs."""
    return {name: environ[name] for name in _VARIABLES if environ.get(name)}


def path_modules(environ: Mapping[str, str], *, windows: bool = os.name == "nt") -> dict[str, frozenset[str]]:
    """Return the modules in each folder of ``PYTHONPATH``: single files, and folders with an ``__init__.py``."""
    found: dict[str, frozenset[str]] = {}
    for folder in environ.get("PYTHONPATH", "").split(";" if windows else ":"):
        try:
            names = os.listdir(folder) if folder else []  # noqa: PTH208 - names alone
        except OSError:
            continue
        files = {name.removesuffix(".py") for name in names if name.endswith(".py")}
        packages = {name for name in names if os.path.isfile(f"{folder}/{name}/__init__.py")}
        found[folder] = frozenset(files | packages)
    return found


def path_programs(environ: Mapping[str, str], *, windows: bool = os.name == "nt") -> dict[str, str]:
    """Return the first ``python`` and ``pip`` of PATH, by name; links are not followed."""
    endings = (".exe", ".bat", ".cmd") if windows else ("",)
    found: dict[str, str] = {}
    for folder in environ.get("PATH", "").split(";" if windows else ":"):
        if not folder:
            continue
        for name in _PROGRAMS:
            if name in found:
                continue
            for ending in endings:
                candidate = f"{folder}/{name}{ending}"
                if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
                    found[name] = candidate
                    break
    return found


def pip_settings(environ: Mapping[str, str], prefix: str | None, platform: str) -> tuple[tuple[str, str, str], ...]:
    """Return ``(where, key, value)`` of the settings in force that move what pip installs; later places win."""
    in_force: dict[str, tuple[str, str, str]] = {}
    for path in _pip_files(environ, prefix, platform):
        for key, value in _read_pip_file(path):
            in_force[key] = (str(path), key, value)
    for key in _PIP_KEYS:
        variable = f"PIP_{key.upper().replace('-', '_')}"
        if environ.get(variable):
            in_force[key] = (variable, key, environ[variable])
    return tuple(item for item in in_force.values() if item[2].lower() not in ("", "0", "false", "no", "off"))


def _pip_files(environ: Mapping[str, str], prefix: str | None, platform: str) -> Iterator[Path]:
    named = environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or Path.home())
    if platform == "win32":
        yield Path(environ.get("PROGRAMDATA", "C:\\ProgramData"), "pip", "pip.ini")
        yield home / "pip" / "pip.ini"
        if environ.get("APPDATA"):
            yield Path(environ["APPDATA"], "pip", "pip.ini")
    else:
        if platform == "darwin":
            yield Path("/Library/Application Support/pip/pip.conf")
        for folder in environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":"):
            yield Path(folder, "pip", "pip.conf")
        yield Path("/etc/pip.conf")
        yield home / ".pip" / "pip.conf"
        support = home / "Library" / "Application Support" / "pip"
        if platform == "darwin" and os.path.isdir(support):
            yield support / "pip.conf"
        else:
            yield Path(environ.get("XDG_CONFIG_HOME") or home / ".config", "pip", "pip.conf")
    if prefix:
        yield Path(prefix, "pip.ini" if platform == "win32" else "pip.conf")
    if named:
        yield Path(named)


def _read_pip_file(path: Path) -> list[tuple[str, str]]:
    data = read_text(str(path), 256 * 1024)
    if not data or not any(key.encode() in data.lower() for key in _PIP_KEYS):
        return []
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    try:
        read_ini(parser, data.decode("utf-8-sig", "replace"))
    except configparser.Error:
        return []
    found: dict[str, str] = {}
    for section in _PIP_SECTIONS:
        if parser.has_section(section):
            found.update({key: value for key, value in parser.items(section) if key in _PIP_KEYS and value})
    return list(found.items())


def foreign_scripts(root: Path) -> Iterator[EnvironmentProblem]:
    """Yield a problem for each ``pip`` script of an environment that starts another environment's Python.

    That is what an environment looks like after its folder was moved or copied.
    """
    folder = root / "bin"
    for name in ("pip", "pip3"):
        script = folder / name
        line = (read_text(str(script), 512) or b"").split(b"\n", 1)[0].decode("utf-8", "replace")
        # `#!/bin/sh` starts a wrapper that finds its own interpreter.
        if not line.startswith("#!") or "python" not in line or "/env " in line:
            continue
        interpreter = Path(line[2:].strip().strip('"'))
        try:
            own = interpreter.parent.samefile(folder)
        except OSError:
            own = False
        if not own:
            state = "another environment" if os.path.exists(interpreter) else "no longer there"
            yield EnvironmentProblem(
                EnvironmentProblemKind.FOREIGN_SCRIPT, str(script), f"it starts `{interpreter}`, which is {state}"
            )
