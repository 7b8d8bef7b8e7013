"""conda's match specifications as requirements on PyPI's names, where they have one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.adapters.project.draft import Circumstances, Draft, ProjectFileError, TextFile
from envdoctor.adapters.project.requirements_file import read_requirement_text
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblemKind
from envdoctor.model.requirement import Requirement

__all__ = ["read_conda_environment", "read_conda_specification"]

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
    requirement = Requirement(canonicalize_name(_NAMES.get(name, name)), origin, specifier, text=text, conda=True)
    draft.add(requirement, circumstances)


def _python(draft: Draft, specifier: SpecifierSet, origin: FileOrigin) -> None:
    """Keep the Python that conda installs: a bound as ``requires-python`` is, and what the project runs on."""
    before = draft.environment_python
    if not str(specifier):
        return
    if before is None or draft.environment_python_origin is None:
        draft.environment_python, draft.environment_python_origin = specifier, origin
        draft.environment_python_binds = draft.reading_apart is None
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


_KEY = re.compile(r"^(?P<key>[A-Za-z_][\w-]*|\"[^\"]*\"|'[^']*')\s*:(?:\s+(?P<value>.*))?$")


class _Unreadable(ValueError):
    """A form of YAML that this reader leaves alone."""


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    indent: int
    text: str


def read_conda_environment(draft: Draft, path: Path, circumstances: Circumstances) -> None:
    """Read the file into the draft. Raises ProjectFileError where it is no environment file."""
    file = draft.load(path)
    lines = list(_lines(file))
    keys = _top_level(file, lines)
    if "dependencies" not in keys:
        raise ProjectFileError(file.shown, None, "not a conda environment file: it has no `dependencies`")
    _name(draft, lines, keys)
    start = keys["dependencies"]
    inline = _KEY.match(lines[start].text)
    value = (inline["value"] or "").strip() if inline else ""
    if value:
        if value.lower() not in {"null", "~"}:
            _flow(draft, file, lines[start], value, circumstances)
        return
    stop = min((at for at in keys.values() if at > start), default=len(lines))
    _entries(draft, file, lines[start + 1 : stop], circumstances)


def _lines(file: TextFile) -> Iterator[_Line]:
    for number, raw in enumerate(file.text.splitlines(), start=1):
        text = _without_comment(raw).rstrip()
        stripped = text.lstrip(" ")
        if not stripped or stripped in {"---", "..."} or stripped.startswith("%"):
            continue
        if stripped.startswith("\t"):
            raise ProjectFileError(file.shown, number, "invalid YAML: a tab cannot indent")
        yield _Line(number, len(text) - len(stripped), stripped)


def _without_comment(line: str) -> str:
    quote = ""
    for at, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and (at == 0 or line[at - 1] in " [,:-"):
            quote = character
        elif character == "#" and (at == 0 or line[at - 1] in " \t"):
            return line[:at]
    return line


def _top_level(file: TextFile, lines: list[_Line]) -> dict[str, int]:
    keys: dict[str, int] = {}
    base = lines[0].indent if lines else 0
    for at, line in enumerate(lines):
        if line.indent > base or (line.text.startswith("-") and keys):
            continue
        match = _KEY.match(line.text)
        if match is None or line.indent < base:
            raise ProjectFileError(file.shown, line.number, f"invalid YAML for an environment file: `{line.text[:80]}`")
        keys.setdefault(match["key"].strip("\"'"), at)
    return keys


def _name(draft: Draft, lines: list[_Line], keys: dict[str, int]) -> None:
    match = _KEY.match(lines[keys["name"]].text) if "name" in keys else None
    if match is not None and match["value"] and draft.name is None and draft.reading_apart is None:
        draft.name = match["value"].strip().strip("\"'")


def _entries(draft: Draft, file: TextFile, lines: list[_Line], circumstances: Circumstances) -> None:
    base = lines[0].indent if lines else 0
    inside_pip = False
    for line in lines:
        origin = FileOrigin(file.shown, line.number, circumstances.included_from)
        nested = line.indent > base
        if not line.text.startswith("- ") or (nested and not inside_pip):
            _not_understood(draft, origin, line.text)
            continue
        body = line.text[2:].strip()
        if not nested:
            inside_pip = bool(re.match(r"^[\"']?pip[\"']?\s*:", body))
        if inside_pip and not nested:
            value = body.partition(":")[2].strip()
            for entry in _split_flow(value) if value.startswith("[") else []:
                _entry(draft, file, entry, origin, circumstances, pip=True)
            if value and not value.startswith("["):
                _not_understood(draft, origin, line.text)
        else:
            _entry(draft, file, body, origin, circumstances, pip=nested)


def _flow(draft: Draft, file: TextFile, line: _Line, value: str, circumstances: Circumstances) -> None:
    origin = FileOrigin(file.shown, line.number, circumstances.included_from)
    if not (value.startswith("[") and value.endswith("]")):
        _not_understood(draft, origin, line.text)
        return
    for entry in _split_flow(value):
        _entry(draft, file, entry, origin, circumstances, pip=False)


def _split_flow(value: str) -> list[str]:
    parts = re.findall(r"\"[^\"]*\"|'[^']*'|[^,\[\]]+", value.strip()[1:-1])
    return [part.strip() for part in parts if part.strip()]


def _entry(
    draft: Draft, file: TextFile, body: str, origin: FileOrigin, circumstances: Circumstances, *, pip: bool
) -> None:
    try:
        text = _scalar(body)
    except _Unreadable:
        _not_understood(draft, origin, body)
        return
    if pip:
        read_requirement_text(draft, text, file.path.parent, origin, circumstances)
    else:
        read_conda_specification(draft, text, origin, circumstances)


def _scalar(body: str) -> str:
    if body[:1] in {'"', "'"}:
        if len(body) < 2 or body[-1] != body[0] or body[0] in body[1:-1] or "\\" in body:
            raise _Unreadable(body)
        return body[1:-1]
    if body[:1] in {"&", "*", "!", "|", ">", "{", "[", "@", "`", "%"} or re.search(r":(\s|$)", body):
        raise _Unreadable(body)
    return body


def _not_understood(draft: Draft, origin: FileOrigin, text: str) -> None:
    message = f"`{text}` is not a form of YAML that is understood here; write a plain list of packages"
    draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, text)
