"""What an sdist would need to be built, graded from its names and declarations; nothing of it is run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from envdoctor.model.candidate import BuildRisk

__all__ = ["grade"]

_NATIVE = re.compile(
    r"(?:\.(?:c|cc|cpp|cxx|cu|hip|m|mm|pyx|pxd|rs|f|f77|f90|f95|go|s|asm)"
    r"|(?:^|/)(?:Cargo\.toml|CMakeLists\.txt|meson\.build|configure\.ac|configure))$"
)
_ASIDE = re.compile(
    r"(?:^|/)(?:tests?|testing|docs?|examples?|samples?|benchmarks?|fixtures|node_modules)/", re.IGNORECASE
)
_DECLARES = re.compile(
    r"ext_modules|ext-modules|cythonize|CUDAExtension|CppExtension|cffi_modules|rust_extensions|RustExtension"
    r"|CMakeExtension|\bExtension\s*\(|setuptools_rust"
)
_COMPILING_BACKEND = re.compile(
    r"mesonpy|scikit_build_core|scikit-build|skbuild|maturin|setuptools[-_]rust|sipbuild|enscons"
)
_PURE_BACKEND = re.compile(
    r"build-backend\s*=\s*[\"'](?:flit_core|hatchling|poetry\.core|poetry_core|pdm\.backend|uv_build)"
)
_HOOKS = re.compile(r"^\s*(?:script\s*=|build\s*=\s*[\"'{]|\[tool\.hatch\.build\..*hooks)", re.MULTILINE)


def grade(names: Iterable[str], texts: Mapping[str, str]) -> BuildRisk:
    """Grade an sdist.

    ``names`` and the keys of ``texts`` are relative to its top folder; ``texts`` holds ``setup.py``, ``setup.cfg`` and
    ``pyproject.toml`` where there are any.
    """
    project = texts.get("pyproject.toml", "")
    declared = "\n".join(_without_comments(texts.get(name, "")) for name in ("setup.py", "setup.cfg"))
    if _COMPILING_BACKEND.search(_without_comments(project)) or _DECLARES.search(declared + project):
        return BuildRisk.COMPILER
    if _PURE_BACKEND.search(project) and not _HOOKS.search(project):
        return BuildRisk.ANYWHERE
    if any(_NATIVE.search(name) and not _ASIDE.search(name) for name in names):
        return BuildRisk.COMPILER
    return BuildRisk.ANYWHERE if declared.strip() or project else BuildRisk.UNKNOWN


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
