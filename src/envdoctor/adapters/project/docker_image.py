"""The Python and the torch that the image of a Dockerfile has, where its name and its tag say so.

What pytorch/pytorch has: its own docker.Makefile and Dockerfile, pytorch#91097 (1.13), and Dockerfiles that name the
folder of its Python (2.1.0, 2.2.1 and 2.3.1: 3.10; 2.4.0, 2.4.1, 2.5.1 and 2.8.0: 3.11). Other builders number torch
as they like (NVIDIA's 24.05 is a pre-release of 2.4): of theirs the version is not known.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.adapters.project.decoding import NotText, decode, file_bytes
from envdoctor.adapters.project.dockerfile_lines import run_lines, stage_lines
from envdoctor.adapters.project.draft import Draft, ProjectFileError, TextFile
from envdoctor.adapters.project.pip_command import INTO, SPEAKERS, read_pip_command
from envdoctor.adapters.project.script_commands import commands as shell_commands
from envdoctor.adapters.project.script_conditions import JudgedFor
from envdoctor.adapters.project.script_variables import ScriptVariables
from envdoctor.adapters.project.shell_words import Dialect
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import Brought, InstallCommand, ReadingProblemKind
from envdoctor.shipped import couplings

__all__ = ["keep_image", "left_over", "torch_of_image"]

_OF_PYTHON = re.compile(
    r"^(?:docker\.io/)?(?:library/)?python:(3\.\d{1,3})(\.\d{1,3})?(?:(?:rc|[ab])\d+)?(?:-[\w.-]+)?(?:@.*)?$",
    re.ASCII,
)
_OF_SYSTEM = re.compile(
    r"^(?:docker\.io/)?(?:library/)?(?:(?:ubuntu|debian):|(?:nvcr\.io/)?nvidia/cuda:(?:[\w.-]+-)?ubuntu|rocm/dev-ubuntu-)"
    r"(\d\d\.04|\d\d|[a-z]+)(?![\w.])",
    re.ASCII,
)
_PYTHON_OF_SYSTEM = {
    "20.04": "3.8", "focal": "3.8", "22.04": "3.10", "jammy": "3.10", "24.04": "3.12", "noble": "3.12",
    "11": "3.9", "bullseye": "3.9", "12": "3.11", "bookworm": "3.11", "13": "3.13", "trixie": "3.13",
}  # fmt: skip
"""What `apt-get install python3` brings on Ubuntu and Debian."""
_ANOTHER_PYTHON = re.compile(
    r"conda|mamba|miniforge|pyenv|deadsnakes|asdf|\buv\b|PYTHON\S{0,20}VERSION|--from=|python-?(3\.\d{1,2})", re.I
)
"""What tells anywhere in a Dockerfile that its Python may not be the system's."""
_ALPINE = re.compile(r"^(?!.*(?:glibc|conda|mamba)).*(?:^|[-_/:])alpine(?=[-_.:@\d]|$)")
"""Not one that brings glibc, as Pythons of conda need it."""
_WITH_TORCH = re.compile(r"(?:^|[-_.])(?:py)?torch(?:serve)?(?=[-_.]|$)|^l4t-ml$|^vllm(?=[-_.]|$)", re.I)
_OFFICIAL = re.compile(r"^(?:(?:docker|ghcr)\.io/)?pytorch/pytorch$")
_OFFICIAL_TAG = re.compile(r"^(\d{1,3}\.\d{1,3}\.\d{1,3})-cuda(\d{1,3})\.(\d)-cudnn\d-(?:runtime|devel)$", re.ASCII)
_PYTHON_IN_TAG = re.compile(r"(?:^|[-_])py(?:thon)?3\.?(\d{1,2})(?:\.\d{1,2})?(?=[-_]|$)", re.ASCII)
_PYTHONS = ((Version("1.13"), Version("2.4"), "3.10"), (Version("2.4"), Version("2.9"), "3.11"))
"""From which torch of pytorch/pytorch to which (not with it) it is which Python."""
_TENSORFLOW = re.compile(
    r"^(?:docker\.io/)?tensorflow/tensorflow:(\d{1,3}\.\d{1,3})\.\d{1,3}(?:-gpu)?(?:-jupyter)?(?:@.*)?$", re.ASCII
)
_PYTHON_OF_TENSORFLOW = {
    **dict.fromkeys(("2.2", "2.3", "2.4", "2.5"), "3.6"),
    **dict.fromkeys(("2.7", "2.8", "2.9", "2.10"), "3.8"),
    "2.18": "3.11",
}
"""Those of Ubuntu 18.04 until September 2021, then of 20.04 (tensorflow#57072, #58556); 2.18: tensorflow#82529."""
_FAMILY = ("torch", "torchvision", "torchaudio")
_BEFORE_NUMPY_2, _NUMPY_2 = Version("2.4"), Version("2.0.dev0")
"""Images up to torch 2.3.1 were made before there was a NumPy 2, and all of them have a NumPy."""
_TOOLS = frozenset(
    {"pip", "setuptools", "wheel", "uv", "virtualenv", "build", "poetry", "pdm", "pipenv", "hatch", "pip-tools"}
)
_ENVIRONMENT = re.compile(
    r"\bvenv\b|\bvirtualenv\b|\b(?:conda|mamba|micromamba)\s+(?:create|env)\b|\bpyenv\b|\buv\s+(?:sync|run)\b"
)
"""What makes an environment without the image's packages, or uses one."""
_OTHER_PYTHON = re.compile(r"(?:^|[\s/])(?:python|pip)(3\.[0-9]{1,3})(?=\s|$)|(?:^|\s)(/usr)/bin/(?:python|pip)")
_TAKES = re.compile(r"(?:--|[,=])from=[\"']?([^\s,\"']+)")
_ANEW = frozenset({"force-reinstall", "ignore-installed", "I"})
_SPEAK, _NEAR = SPEAKERS - {"export"}, 6
"""Words, early in a command, behind which a name is one of a package or a text."""


@dataclass(frozen=True, slots=True)
class _Image:
    python: str | None
    """``3.9`` or ``3.9.7``; None where the image does not tell."""
    brought: tuple[Brought, ...] = ()
    hidden: bool = False
    """Its name is told only where it is built."""
    musl: str = ""
    """Its name, where that says that it is an Alpine."""


@dataclass(frozen=True, slots=True)
class _Stage:
    line: int
    image: _Image
    base: int | None
    """Which of the stages before it is its image."""


_UNTOLD = _Image(None)


def keep_image(draft: Draft, file: TextFile, commands: Sequence[InstallCommand]) -> None:
    """Keep Python and torch of the stages that the commands stand in, each where it is one and the same."""
    stages = _stages(file)
    begins = [stage.line for stage in stages]
    for at, command in enumerate(draft.commands):
        stage = bisect_left(begins, _line(command)) - 1
        if stage >= 0 and (stages[stage].image.brought or stages[stage].image.hidden):
            draft.commands[at] = replace(command, torch_there=True)
    _tell_musl(draft, file, stages)
    if draft.environment_python is not None:
        return  # Conda changes the image's Python: what was built for that one goes with it.
    asking = {line.step for line in draft.requirements if line.name not in _TOOLS}
    lines = [_line(command) for command in commands if command.step in asking]
    lines = lines or [_line(command) for command in commands]
    used = [next((one for one in reversed(stages) if one.line < line), None) for line in lines]
    images = [one.image if one is not None else _UNTOLD for one in used]
    moved = set(_moved(draft, commands))
    left = tuple(one for one in _in_all(images) if one.name not in moved)
    # Of an image whose torch is taken anew it counts what stays behind, built for the old one.
    draft.brought = left if "torch" not in moved else tuple(one for one in left if one.name in _FAMILY)
    python = images[0].python if len({image.python for image in images}) == 1 else None
    if python is not None and used[0] is not None:
        exact = f"=={python}" if python.count(".") > 1 else f"=={python}.*"
        draft.set_environment_python(SpecifierSet(exact), FileOrigin(file.shown, used[0].line), binds=False)


def _line(command: InstallCommand) -> int:
    """Return the line of the Dockerfile on which a command runs."""
    return next((origin.line for origin in command.called), command.origin.line) or 0


def _tell_musl(draft: Draft, file: TextFile, stages: Sequence[_Stage]) -> None:
    """Say of stages that install on Alpine that they are judged as if they had glibc."""
    begins = [stage.line for stage in stages]
    used = {bisect_left(begins, _line(command)) - 1 for command in draft.commands} - {-1}
    for stage in (stages[at] for at in sorted(used) if stages[at].image.musl):
        message = (
            f"`{stage.image.musl}` is an Alpine, whose C library is musl: wheels for manylinux do not fit there, and"
        )
        message += " this judges a Linux with glibc"
        draft.problem(ReadingProblemKind.UNSUPPORTED, FileOrigin(file.shown, stage.line), message)


def torch_of_image(draft: Draft, path: Path) -> str:
    """Return in words which torch the image of a Dockerfile that is not read has, the last one's; empty without."""
    shown = draft.shown(path)
    try:
        file = TextFile(path, shown, decode(file_bytes(path, shown)).text)
    except (ProjectFileError, NotText):
        return ""
    own = [one for stage in _stages(file) for one in stage.image.brought if one.name == "torch"]
    return f"on `{own[-1].image}`, which has torch {own[-1].version or 'of its own'} already" if own else ""


def _moved(draft: Draft, commands: Sequence[InstallCommand]) -> Iterator[str]:
    """Yield what a command removes, or asks for in its newest version."""
    upgrades = {command.step for command in commands if command.upgrade}
    yield from (name for _, name in draft.removals)
    yield from (line.name for line in draft.requirements if line.step in upgrades)


def _in_all(images: Sequence[_Image]) -> tuple[Brought, ...]:
    """Return what all images have; where their torch is not one and the same, it is not known which."""
    if not images or not all(image.brought for image in images):
        return ()
    own = images[0].brought
    if len({_what(image) for image in images}) == 1:
        return own
    return tuple(replace(one, version=None, label="") for one in own if one.name in _FAMILY)


def _what(image: _Image) -> tuple[object, ...]:
    told = any(one.version for one in image.brought)
    return tuple((one.name, one.version, one.below, one.label, "" if told else one.image) for one in image.brought)


def left_over(text: str, target: JudgedFor) -> Sequence[range]:
    """Return the lines of the stages of which the image that is built takes nothing; none where that is not known.

    The last stage is the one that is built, unless a name tells of one for the target that nothing else is made from.
    """
    froms = list(_froms(text))
    named = {name.lower(): at for at, (_, _, name) in enumerate(froms) if name}
    needs = [
        {named[image.lower()]} if named.get(image.lower(), at) < at else set() for at, (_, image, _) in enumerate(froms)
    ]
    begins = [line for line, _, _ in froms]
    sources = [(number, source) for number, line in enumerate(text.splitlines(), 1) for source in _TAKES.findall(line)]
    for number, source in sources:
        at = bisect_left(begins, number) - 1
        one = int(source) if source.isdecimal() and len(source) < 4 else named.get(source.lower(), at)
        if 0 <= one < at:
            needs[at].add(one)
    if len(froms) < 2 or any("$" in text for text in (*(image for _, image, _ in froms), *(one for _, one in sources))):
        return ()
    leaves = set(range(len(froms))).difference(*needs)
    last = len(froms) - 1
    meant = [at for at in (last, *sorted(leaves)) if target.is_named(froms[at][2])]
    waiting, needed = meant[:1] or [last], set[int]()
    while waiting:
        at = waiting.pop()
        needed.add(at)
        waiting += needs[at] - needed
    ends = [*begins[1:], text.count("\n") + 2]
    return [range(begins[at], ends[at]) for at in range(len(froms)) if at not in needed]


def _froms(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each stage: its line, its image or what it is made from, and its name, empty without one."""
    variables = ScriptVariables(Dialect.POSIX)
    begun = False
    for number, instruction, rest in stage_lines(text):
        words = [word for command in shell_commands(rest, Dialect.POSIX, over_lines=False) for word in command.words]
        if instruction == "ARG":
            for word in words if not begun else ():  # Others count within their stage alone.
                variables.learn([word])
            continue
        texts = [word.text for word in variables.expanded(words) if not word.text.startswith("--")]
        if len(texts) == 1 or (len(texts) == 3 and texts[1].lower() == "as"):
            begun = True
            yield number, texts[0], texts[2] if texts[1:] else ""


def _stages(file: TextFile) -> list[_Stage]:
    """Return the stages in their order; one that is made from another has its image."""
    found: list[_Stage] = []
    named: dict[str, int] = {}
    others = {match[1] for match in _ANOTHER_PYTHON.finditer(file.text)}
    for number, text, name in _froms(file.text):
        base = named.get(text.lower())
        image = found[base].image if base is not None else _image(text, FileOrigin(file.shown, number))
        system = _OF_SYSTEM.match(text) if base is None else None
        python = _PYTHON_OF_SYSTEM.get(system[1]) if system is not None else None
        image = replace(image, python=python) if python is not None and others <= {python} else image
        if name:
            named[name.lower()] = len(found)
        found.append(_Stage(number, image, base))
    return _without_unused(found, file) if any(stage.image.brought or stage.image.hidden for stage in found) else found


def _without_unused(stages: list[_Stage], file: TextFile) -> list[_Stage]:
    """Return the stages, without the image's packages where the commands install elsewhere, or all of them anew."""
    apart: set[int] = set()
    begins = [stage.line for stage in stages]
    for line, python in _elsewhere(file.text):
        at = bisect_left(begins, line) - 1
        if at >= 0 and _is_another(python, stages[at].image):
            apart.add(at)
    for at, stage in enumerate(stages):
        apart |= {at} if stage.base in apart else set()
    return [
        replace(stage, image=_UNTOLD) if at in apart and (stage.image.brought or stage.image.hidden) else stage
        for at, stage in enumerate(stages)
    ]


def _elsewhere(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of commands that do not install beside the image's torch; with the Python, where one is named."""
    for command in shell_commands(run_lines(text), Dialect.POSIX, over_lines=False):
        words = [word.text for word in command.words]
        line = command.words[0].line
        call = read_pip_command(command.words)
        installs = call is not None and call.verb == "install"
        before = " ".join(words[: -len(call.arguments)] if call is not None and call.arguments else words)
        if installs and call is not None:
            # What it names itself is taken anew, and the rest stays; of a list nobody knows what depends on torch.
            if any(INTO.match(word) for word in call.arguments) or (call.values("requirement") and call.flags & _ANEW):
                yield line, ""
            elif told := _OTHER_PYTHON.search(before):
                yield line, told[1] or told[2]
        names = {word.rpartition("/")[2] for word in words[:_NEAR]}
        if not names & _SPEAK and _ENVIRONMENT.search(before) and "--system-site-packages" not in words:
            yield line, ""


def _is_another(python: str, image: _Image) -> bool:
    """Return whether a Python, as a command names it, is not the image's, as far as that is known."""
    if python == "/usr":
        return any(one.version for one in image.brought)
    return not python or (image.python is not None and image.python != python)


def _image(text: str, origin: FileOrigin) -> _Image:
    """Return what an image has."""
    told = _OF_PYTHON.match(text)
    if told:
        return _Image(told[1] + (told[2] or ""), musl=_alpine(text))
    tensorflow = _TENSORFLOW.match(text)
    if tensorflow:
        return _Image(_PYTHON_OF_TENSORFLOW.get(tensorflow[1]))
    folder, slash, last = text.partition("@")[0].rpartition("/")
    name, _, tag = last.partition(":")
    if not _WITH_TORCH.search(name):
        return _Image(None, hidden="$" in text, musl=_alpine(text))
    official = _OFFICIAL_TAG.match(tag) if _OFFICIAL.match(folder + slash + name) else None
    if official is not None:
        return _of_pytorch(Version(official[1]), f"cu{official[2]}{official[3]}", text, origin)
    python = _PYTHON_IN_TAG.search(tag)
    brought = tuple(Brought(canonicalize_name(name), text, origin) for name in _FAMILY)
    return _Image(f"3.{python[1]}" if python else None, brought)


def _alpine(text: str) -> str:
    return text if _ALPINE.search(text) else ""


def _of_pytorch(torch: Version, label: str, text: str, origin: FileOrigin) -> _Image:
    """Return what an image of PyTorch's own has; one called 1.13.1 was seen with 1.13.0 inside."""
    versions = {"torch": torch, "torchvision": _torchvision_of(torch)}
    if Version("2.1") <= torch < Version("2.11"):
        versions["torchaudio"] = torch
    if torch < Version("2.0"):
        versions = {}
    python = next((python for first, end, python in _PYTHONS if first <= torch < end), None)
    brought = [
        Brought(canonicalize_name(name), text, origin, version=versions.get(name), label=label) for name in _FAMILY
    ]
    if torch < _BEFORE_NUMPY_2:
        brought.append(Brought(canonicalize_name("numpy"), text, origin, below=_NUMPY_2))
    return _Image(python, tuple(brought))


def _torchvision_of(torch: Version) -> Version | None:
    """Return the one torchvision that was built for a release of torch, None where there are several or none."""
    rows = [row for table in couplings() if table.name == "torchvision-torch" for row in table.rows]
    found = [of for of, needs in rows if needs == f"=={torch}"]
    return Version(found[0].removeprefix("==")) if len(found) == 1 else None
