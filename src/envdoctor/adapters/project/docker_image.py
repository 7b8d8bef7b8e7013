"""The Python and the torch that the image of a Dockerfile has, where its name and its tag say so.

What pytorch/pytorch has: its own docker.Makefile and Dockerfile, pytorch#91097 (1.13), and Dockerfiles that name the
folder of its Python (2.1.0, 2.2.1 and 2.3.1: 3.10; 2.4.0, 2.4.1, 2.5.1 and 2.8.0: 3.11). Other builders number torch
as they like (NVIDIA's 24.05 is a pre-release of 2.4): of theirs the version is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.adapters.project.decoding import NotText, decode, file_bytes
from envdoctor.adapters.project.draft import Draft, ProjectFileError, TextFile
from envdoctor.adapters.project.script_variables import ScriptVariables
from envdoctor.adapters.project.shell_words import Dialect, Word
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import Brought, InstallCommand
from envdoctor.shipped import couplings

__all__ = ["keep_image", "torch_of_image"]

_INSTRUCTION = re.compile(r"^\s*(FROM|ARG)\s+((?:--\S+\s+)*)(\S+)(?:\s+AS\s+(\S+))?\s*$", re.I)
_OF_PYTHON = re.compile(
    r"^(?:docker\.io/)?(?:library/)?python:(3\.\d{1,3})(\.\d{1,3})?(?:(?:rc|[ab])\d+)?(?:-[\w.-]+)?(?:@.*)?$"
)
_WITH_TORCH = re.compile(r"(?:^|[-_.])(?:py)?torch(?:serve)?(?=[-_.]|$)|^l4t-ml$|^vllm(?=[-_.]|$)", re.I)
_OFFICIAL = re.compile(r"^(?:(?:docker|ghcr)\.io/)?pytorch/pytorch$")
_OFFICIAL_TAG = re.compile(r"^(\d{1,3}\.\d{1,3}\.\d{1,3})-cuda(\d{1,3})\.(\d)-cudnn\d-(?:runtime|devel)$")
_PYTHON_IN_TAG = re.compile(r"(?:^|[-_])py(?:thon)?3\.?(\d{1,2})(?:\.\d{1,2})?(?=[-_]|$)")
_PYTHONS = ((Version("1.13"), Version("2.4"), "3.10"), (Version("2.4"), Version("2.9"), "3.11"))
"""From which torch of pytorch/pytorch to which (not with it) it is which Python."""
_COMMENT = re.compile(r"^[^\S\n]*#.*$", re.MULTILINE)
_FAMILY = ("torch", "torchvision", "torchaudio")
_ELSEWHERE = re.compile(
    r"\bvenv\b|\bvirtualenv\b|\b(?:conda|mamba|micromamba)\s+(?:create|env)\b|\bpyenv\b|\buv\s+(?:sync|run)\b"
    r"|python3\.\d+\s+-m\s+pip\b|\bpip3\.\d|/usr/bin/(?:python|pip)|--(?:target|prefix|root)\b"
    r"|--force-reinstall\b|--ignore-installed\b"
)
"""What makes an environment without the image's packages, installs into another, or sets them aside."""


@dataclass(frozen=True, slots=True)
class _Image:
    python: str | None
    """``3.9`` or ``3.9.7``; None where the image does not tell."""
    brought: tuple[Brought, ...] = ()


@dataclass(frozen=True, slots=True)
class _Stage:
    line: int
    image: _Image


_UNTOLD = _Image(None)


def keep_image(draft: Draft, file: TextFile, commands: Sequence[InstallCommand]) -> None:
    """Keep Python and torch of the stages that the commands stand in, each where it is one and the same."""
    if draft.environment_python is not None:
        return  # Conda changes the image's Python: what was built for that one goes with it.
    stages = _stages(file)
    lines = [command.origin.line or 0 for command in commands]
    used = [next((one for one in reversed(stages) if one.line < line), None) for line in lines]
    images = [one.image if one is not None else _UNTOLD for one in used]
    if images and len({image.brought for image in images}) == 1:
        moved = set(_moved(draft, commands))
        draft.brought = () if "torch" in moved else tuple(one for one in images[0].brought if one.name not in moved)
    python = images[0].python if len({image.python for image in images}) == 1 else None
    if python is not None and used[0] is not None:
        exact = f"=={python}" if python.count(".") > 1 else f"=={python}.*"
        draft.set_environment_python(SpecifierSet(exact), FileOrigin(file.shown, used[0].line), binds=False)


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


def _stages(file: TextFile) -> list[_Stage]:
    """Return the stages in their order; one that is made from another has its image."""
    found: list[_Stage] = []
    named: dict[str, _Image] = {}
    variables = ScriptVariables(Dialect.POSIX)
    apart = _ELSEWHERE.search(_COMMENT.sub("", file.text)) is not None
    for number, line in enumerate(file.text.splitlines(), start=1):
        match = _INSTRUCTION.match(line)
        if match is None:
            continue
        word = Word(match[3].strip("\"'"), number)
        if match[1].upper() == "ARG":
            if not found:  # Others count within their stage alone.
                variables.learn([word])
            continue
        text = variables.expanded([word])[0].text
        image = named.get(text.lower()) or _image(text, FileOrigin(file.shown, number), apart=apart)
        found.append(_Stage(number, image))
        if match[4]:
            named[match[4].lower()] = image
    return found


def _image(text: str, origin: FileOrigin, *, apart: bool) -> _Image:
    """Return what an image has; ``apart``: the commands install where its torch is not."""
    told = _OF_PYTHON.match(text)
    if told:
        return _Image(told[1] + (told[2] or ""))
    folder, slash, last = text.partition("@")[0].rpartition("/")
    name, _, tag = last.partition(":")
    if apart or not _WITH_TORCH.search(name):
        return _UNTOLD
    official = _OFFICIAL_TAG.match(tag) if _OFFICIAL.match(folder + slash + name) else None
    if official is not None:
        return _of_pytorch(Version(official[1]), f"cu{official[2]}{official[3]}", text, origin)
    python = _PYTHON_IN_TAG.search(tag)
    brought = tuple(Brought(canonicalize_name(name), text, origin) for name in _FAMILY)
    return _Image(f"3.{python[1]}" if python else None, brought)


def _of_pytorch(torch: Version, label: str, text: str, origin: FileOrigin) -> _Image:
    """Return what an image of PyTorch's own has; one called 1.13.1 was seen with 1.13.0 inside."""
    versions = {"torch": torch, "torchvision": _torchvision_of(torch)}
    if Version("2.1") <= torch < Version("2.11"):
        versions["torchaudio"] = torch
    if torch < Version("2.0"):
        versions = {}
    python = next((python for first, end, python in _PYTHONS if first <= torch < end), None)
    brought = (Brought(canonicalize_name(name), text, origin, versions.get(name), label) for name in _FAMILY)
    return _Image(python, tuple(brought))


def _torchvision_of(torch: Version) -> Version | None:
    """Return the one torchvision that was built for a release of torch, None where there are several or none."""
    rows = [row for table in couplings() if table.name == "torchvision-torch" for row in table.rows]
    found = [of for of, needs in rows if needs == f"=={torch}"]
    return Version(found[0].removeprefix("==")) if len(found) == 1 else None
