"""conda's match specifications as requirements on PyPI's names, where they have one."""

from __future__ import annotations

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.adapters.project.draft import Circumstances, Draft
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblemKind
from envdoctor.model.requirement import Requirement

__all__ = ["read_conda_specification"]

_NAMES = {
    "pytorch": "torch",
    "pytorch-gpu": "torch",
    "pytorch-cpu": "torch",
    "matplotlib-base": "matplotlib",
    "numpy-base": "numpy",
    "msgpack-python": "msgpack",
    "python-graphviz": "graphviz",
    "pytables": "tables",
}
# What conda installs and pip has no project for; a prefix ends in a dash, a dot or an underscore.
_ONLY_CONDA = re.compile(
    r"^(?:_.*|cuda|cuda-.*|cudatoolkit(?:-.*)?|cudnn|nccl|pytorch-cuda|pytorch-mutex|ffmpeg|openssl|ca-certificates|"
    r"git|git-lfs|nodejs|gcc.*|gxx.*|gfortran.*|clang.*|binutils.*|ld_impl.*|sysroot.*|make|cxx-compiler|c-compiler|"
    r"compilers|blas|openblas|mkl|mkl-service|intel-openmp|llvm-openmp|sox|portaudio|libsndfile|espeak.*|openfst|"
    r"zlib|xz|bzip2|zstd|lz4-c|readline|ncurses|tk|sqlite|freetype|jpeg|lcms2|lame|gmp|gnutls|nettle|openh264|"
    r"x264|x265|icu|expat|giflib|libgcc.*|libstdcxx.*|lib(?!rosa|cst|clang|sass|tmux)[a-z0-9_+.-]*|vs2015_runtime|"
    r"vc|vc14_runtime|ucrt|m2w64-.*|rust|go|openjdk|perl|yaml|tzdata|opencv)$"
)
_SPECIFICATION = re.compile(
    r"^(?:[^\s:\[\]]+::)?(?P<name>[A-Za-z0-9_][A-Za-z0-9_.-]*)\s*(?P<version>[^\[]*?)\s*(?P<brackets>\[.*\])?$"
)
_LONGEST = 500
_BRACKET_VERSION = re.compile(r"version\s*=\s*['\"]?([^'\"\]]+)['\"]?")


def read_conda_specification(draft: Draft, text: str, origin: FileOrigin, circumstances: Circumstances) -> None:
    """Read one entry: ``channel::name=1.2=build``, ``name >=1,<2``, ``python=3.10``."""
    match = _SPECIFICATION.match(text.strip()) if len(text) <= _LONGEST else None
    specifier = _specifier(match["version"], match["brackets"]) if match else None
    if match is None or specifier is None:
        message = f"`{text[:200]}` is not a package specification of conda that can be read"
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, text)
        return
    name = match["name"].lower()
    if name == "python":
        _python(draft, specifier, origin)
        return
    if name == "pip":
        return
    if name not in _NAMES and _ONLY_CONDA.match(name):
        message = f"`{name}` is a package of conda's channels, not of a Python index; it is left to conda"
        draft.problem(ReadingProblemKind.UNSUPPORTED, origin, message, text)
        return
    requirement = Requirement(canonicalize_name(_NAMES.get(name, name)), origin, specifier, text=text)
    draft.add(requirement, circumstances)


def _python(draft: Draft, specifier: SpecifierSet, origin: FileOrigin) -> None:
    """Keep the Python that conda installs: a bound as ``requires-python`` is, and what the project runs on."""
    before = draft.environment_python
    if not str(specifier):
        return
    if before is None or draft.environment_python_origin is None:
        draft.environment_python, draft.environment_python_origin = specifier, origin
    elif draft.environment_python_origin.path == origin.path:
        # All lines of one file hold together; another file is for another environment, and the first has the word.
        draft.environment_python, draft.environment_python_origin = before & specifier, origin


def _specifier(version: str, brackets: str | None) -> SpecifierSet | None:
    named = _BRACKET_VERSION.search(brackets) if brackets else None
    text = named.group(1) if named else version
    text = text.strip()
    if not text or text == "*":
        return SpecifierSet()
    if "|" in text:
        return None
    parts = [_clause(part.strip()) for part in text.split(",")]
    try:
        return SpecifierSet(",".join(parts))
    except InvalidSpecifier:
        return None


def _clause(text: str) -> str:
    match = re.match(r"^(==|!=|>=|<=|~=|=|<|>)?\s*([^\s=]+)(?:[\s=]+(\S+))?$", text)
    if match is None:
        return text
    operator, version, build = match.group(1) or "", match.group(2), match.group(3)
    wild = version.endswith("*")
    version = re.sub(r"\.?\*$", "", version)
    if not version:
        return ""
    if operator in {"", "="}:
        # "=1.2" is a prefix for conda; a bare "1.2", or one with its build, is exact.
        prefix = wild or (operator == "=" and build is None)
        return f"=={version}.*" if prefix else f"=={version}"
    if wild and operator in {"==", "!="}:
        return f"{operator}{version}.*"
    return f"{operator}{version}"
