"""conda's environment files and match specifications, as requirements on PyPI's names where they have one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.adapters.project.draft import Circumstances, Draft, ProjectFileError, TextFile
from envdoctor.adapters.project.requirements_file import read_requirement_text
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblemKind
from envdoctor.model.requirement import Requirement

if TYPE_CHECKING:
    import yaml

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
    r"^(?:[^\s:\[\]]+::)?(?P<name>[A-Za-z0-9_][A-Za-z0-9_.-]*)(?![A-Za-z0-9_.-])(?P<version>[^\[]*)(?P<brackets>\[.*\])?$"
)
_LONGEST = 500
_BRACKET_VERSION = re.compile(r"version\s*=\s*['\"]?([^'\"\]]+)['\"]?")


def read_conda_specification(draft: Draft, text: str, origin: FileOrigin, circumstances: Circumstances) -> None:
    """Read one entry: ``channel::name=1.2=build``, ``name >=1,<2``, ``python=3.10``."""
    match = _SPECIFICATION.match(text.strip()) if len(text) <= _LONGEST else None
    name = match["name"].lower() if match else ""
    if name and name not in _NAMES and _ONLY_CONDA.match(name):
        # Whatever its version: conda's, such as `jpeg=9e`, are often none of Python's.
        message = f"`{name}` is a package of conda's channels, not of a Python index; it is left to conda"
        draft.problem(ReadingProblemKind.OF_CONDA, origin, message, text)
        return
    specifier = _specifier(match["version"], match["brackets"]) if match else None
    if specifier is None:
        message = f"`{text[:200]}` is not a package specification of conda that can be read"
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, text)
        return
    if name == "python":
        draft.set_environment_python(specifier, origin)
        return
    if name == "pip":
        return
    requirement = Requirement(canonicalize_name(_NAMES.get(name, name)), origin, specifier, text=text, conda=True)
    draft.add(requirement, circumstances)


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


_MOST_ENTRIES = 10_000
"""Entries that are read of one file: by its aliases a small one can name millions."""
_LARGEST = 512 * 1024
_NULL = "tag:yaml.org,2002:null"
_TEXTS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "timestamp"))
_BEGINS_BEFORE = ("could not find expected ':'", "found unexpected end of stream")
"""What the parser says where it gave up looking; what it was in began before."""
_MERGE = "<<"
_USUAL_CHANNELS = frozenset({"conda-forge", "defaults", "nodefaults", "main", "anaconda", "pytorch", "nvidia"})


def read_conda_environment(draft: Draft, path: Path, circumstances: Circumstances) -> None:
    """Read the file into the draft. Raises ProjectFileError where it is no environment file."""
    file = draft.load(path)
    keys = _pairs(file, _compose(file))
    if "dependencies" not in keys:
        raise ProjectFileError(file.shown, None, "not a conda environment file: it has no `dependencies`")
    name = keys.get("name")
    if name is not None and isinstance(name.value, str) and name.value and draft.name is None:
        draft.name = name.value if draft.reading_apart is None else None
    _channels(draft, file, keys.get("channels"), circumstances)
    said = 0
    for count, (node, pip) in enumerate(_entries(file, keys["dependencies"])):
        said += len(node.value)
        # By aliases it can say more than it holds.
        if count >= _MOST_ENTRIES or said > _LARGEST:
            raise ProjectFileError(file.shown, None, f"it names more than {_MOST_ENTRIES:,} packages")
        _entry(draft, file, node, circumstances, pip=pip)


def _channels(draft: Draft, file: TextFile, channels: yaml.Node | None, circumstances: Circumstances) -> None:
    """Say which channels are not asked, where they have other builds than the usual ones: nightly ones, a lab's own."""
    import yaml

    listed = channels.value if isinstance(channels, yaml.SequenceNode) else []
    own = [node for node in listed if isinstance(node.value, str) and node.value not in _USUAL_CHANNELS]
    if own:
        named = " and ".join(f"`{node.value}`" for node in own[:5])
        plural = "channels" if len(own) > 1 else "channel"
        message = f"conda's {plural} {named} cannot be asked: what has no other source is judged by the Python index"
        origin = FileOrigin(file.shown, own[0].start_mark.line + 1, circumstances.included_from)
        draft.problem(ReadingProblemKind.UNSUPPORTED, origin, message, own[0].value)


def _compose(file: TextFile) -> yaml.Node | None:
    """Return the file's nodes, which keep their places; nothing is constructed of them. Raises ProjectFileError."""
    import yaml

    if len(file.text) > _LARGEST:
        raise ProjectFileError(file.shown, None, "not an environment file: it is larger than 512 KiB")
    try:
        node: yaml.Node | None = yaml.compose(file.text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        marks = (error.problem_mark, error.context_mark)
        mark = next(filter(None, reversed(marks) if error.problem in _BEGINS_BEFORE else marks), None)
        line = None if mark is None else mark.line + 1
        raise ProjectFileError(file.shown, line, f"invalid YAML: {error.problem or error.context}") from error
    except yaml.reader.ReaderError as error:
        line = file.text.count("\n", 0, error.position) + 1
        character = f"U+{error.character:04X}" if isinstance(error.character, int) else repr(error.character)
        raise ProjectFileError(file.shown, line, f"invalid YAML: the character {character} is not allowed") from error
    except (RecursionError, ValueError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ProjectFileError(file.shown, None, f"invalid YAML: {reason}") from error
    return node


def _pairs(file: TextFile, node: yaml.Node | None) -> dict[str, yaml.Node]:
    """Return a mapping's values by key, its own before those that ``<<`` brings. Raises ProjectFileError."""
    import yaml

    pairs: dict[str, yaml.Node] = {}
    waiting, merged = [node], 0
    while waiting:
        mapping, own = waiting.pop(0), set[str]()
        # What an alias names is counted each time: a small file can merge millions.
        merged += 1 + (len(mapping.value) if merged and isinstance(mapping, yaml.CollectionNode) else 0)
        if merged > _MOST_ENTRIES:
            raise ProjectFileError(file.shown, None, "its `<<` merge one another without an end")
        if isinstance(mapping, yaml.SequenceNode) and merged > 1:
            waiting[:0] = mapping.value
        for key, value in mapping.value if isinstance(mapping, yaml.MappingNode) else ():
            if not isinstance(key.value, str):
                continue
            if key.value in own:
                raise ProjectFileError(file.shown, key.start_mark.line + 1, f"`{key.value}` is given twice")
            own.add(key.value)
            if key.value == _MERGE:
                waiting.append(value)
            else:
                pairs.setdefault(key.value, value)
    return pairs


def _entries(file: TextFile, dependencies: yaml.Node) -> Iterator[tuple[yaml.Node, bool]]:
    """Yield the nodes that should name a package, and whether it is one for pip."""
    import yaml

    if not isinstance(dependencies, yaml.SequenceNode):
        if dependencies.tag != _NULL:
            yield dependencies, False
        return
    # By aliases one mapping can stand there a hundred thousand times; it is read once.
    lists: dict[int, yaml.Node | None] = {}
    for node in dependencies.value:
        if isinstance(node, yaml.MappingNode) and id(node) not in lists:
            lists[id(node)] = _pairs(file, node).get("pip")
        pip = lists.get(id(node))
        if pip is None:
            yield node, False
        elif isinstance(pip, yaml.SequenceNode):
            yield from ((entry, True) for entry in pip.value)
        elif pip.tag != _NULL:
            yield node, False


def _entry(draft: Draft, file: TextFile, node: yaml.Node, circumstances: Circumstances, *, pip: bool) -> None:
    text, line = node.value, node.start_mark.line + 1
    origin = FileOrigin(file.shown, line, circumstances.included_from)
    if not isinstance(text, str) or node.tag not in _TEXTS:
        start, end = node.start_mark.index, node.end_mark.index
        written = file.text[start : min(end, start + _LONGEST)].partition("\n")[0].strip()
        message = f"`{written}` is not a package: conda takes a list of texts such as `numpy=1.26`"
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, written)
        return
    if not pip:
        read_conda_specification(draft, " ".join(text.split()), origin, circumstances)
        return
    # conda hands this list to pip as a file, so each line of a text is a line of its own.
    literal = getattr(node, "style", None) == "|"
    for number, each in enumerate(text.splitlines(), start=1):
        place = FileOrigin(file.shown, line + number, circumstances.included_from) if literal else origin
        if each.strip():
            read_requirement_text(draft, each.strip(), file.path.parent, place, circumstances)
