"""What programs print, and people write, of the environment that they run in, in the words of torch's collect_env.

Sources: ``detectron2/utils/collect_env.py``, ``mmengine/utils/dl_utils/collect_env.py``, Ultralytics' ``yolo checks``,
Lightning's ``requirements/collect_env_details.py``, and what ComfyUI prints at its start.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from envdoctor.adapters.probe.written_reports import rows_of_person

__all__ = ["as_collect_env"]

_VERSION = r"(\d{1,8}(?:\.\d{1,8}){1,5}[\w.+]{0,60})"
_DISTRIBUTIONS = {
    "torchvision": "torchvision",
    "torchaudio": "torchaudio",
    "numpy": "numpy",
    "pillow": "pillow",
    "detectron2": "detectron2",
    "fvcore": "fvcore",
    "iopath": "iopath",
    "mmcv": "mmcv",
    "mmengine": "mmengine",
    "mmdetection": "mmdet",
    "mmsegmentation": "mmsegmentation",
    "mmpose": "mmpose",
    "transformers": "transformers",
    "xformers": "xformers",
}
_HEADINGS = {"torch": "PyTorch version: ", "pyTorch_version": "PyTorch version: ", "python": "Python version: "}
"""The second as Lightning wrote it before 1.6."""
_SYSTEMS = {"linux": "Linux", "win32": "Windows", "windows": "Windows", "darwin": "macOS", "macos": "macOS"}


def as_collect_env(text: str) -> str | None:
    """Return what a report says, as collect_env says it; None where the text is no such report."""
    for read in (_of_detection, _of_ultralytics, _of_lightning, _of_comfyui, rows_of_person):
        rows = list(read(text))
        if (read is rows_of_person and rows) or any(row.startswith("PyTorch version: ") for row in rows):
            cards = [row for row in rows if row.startswith("GPU ")]
            listed = [row for row in rows if row.startswith("[pip3]")]
            said = [row for row in rows if not row.startswith(("GPU ", "[pip3]"))]
            heading = ["GPU models and configuration:", *cards] if cards else []
            return "\n".join([*said, *heading, *listed])
    return None


def _last(pattern: str, text: str) -> re.Match[str] | None:
    """Return the last place that fits: a log of several starts ends with the one that counts."""
    return next(iter(deque(re.finditer(pattern, text, re.MULTILINE), maxlen=1)), None)


def _of_detection(text: str) -> Iterator[str]:
    """Read detectron2's table, and the lines of OpenMMLab's libraries."""
    system = re.search(r"^[^\S\n]{0,8}sys\.platform(?::| )[^\S\n]{1,40}(\w{1,20})", text, re.MULTILINE)
    if system is None:
        return
    yield from _platform(system[1])
    for name, said in re.findall(
        r"^[^\S\n]{0,8}([A-Za-z][\w ,.]{1,40}?)(?::[^\S\n]|[^\S\n]{2})[^\S\n]{0,40}(\S.{0,300})", text, re.MULTILINE
    ):
        yield from _row(name.strip(), said)


def _row(name: str, said: str) -> Iterator[str]:
    version = re.match(_VERSION, said)
    if re.fullmatch(r"GPU \d+(?:,\d+)*", name):
        for number in name.removeprefix("GPU ").split(","):
            yield f"GPU {number}: {said.partition(' (arch=')[0].strip()}"
    elif name in ("GPU available", "CUDA available") and said.split()[0] in ("Yes", "No", "True", "False"):
        yield f"Is CUDA available: {said.startswith(('Yes', 'True'))}"
    elif version is not None and name in ("Python", "PyTorch"):
        yield f"{name} version: {version[1]}"
    elif version is not None and name.lower() in _DISTRIBUTIONS:
        yield f"[pip3] {_DISTRIBUTIONS[name.lower()]}=={version[1]}"


def _of_ultralytics(text: str) -> Iterator[str]:
    head = _last(
        rf"^[^\S\n]{{0,8}}(?:Ultralytics|YOLO\w{{0,4}})\b.{{0,60}}\bPython-{_VERSION} torch-{_VERSION}",
        text,
    )
    if head is None:
        return
    yield f"Python version: {head[1]}"
    yield f"PyTorch version: {head[2]}"
    text = text[head.start() :]
    for number, card in re.findall(r"\bCUDA:(\d{1,3}) \(([^\n,]{1,80}), \d{1,9}MiB", text):
        yield f"GPU {number}: {card}"
    if system := re.search(r"^[^\S\n]{0,8}OS {2,40}((?:Linux|Windows|macOS)-\S{1,200})", text, re.MULTILINE):
        yield f"Python platform: {system[1]}"
    for name, version in re.findall(
        rf"^[^\S\n]{{0,8}}([a-z][\w.-]{{1,60}})[^\S\n]{{1,60}}\S{{1,4}} {_VERSION}[<>=!]", text, re.MULTILINE
    ):
        if name != "torch":
            yield f"[pip3] {name}=={version}"


def _of_lightning(text: str) -> Iterator[str]:
    if not re.search(r"^[^\S\n]{0,8}\* (?:Lightning|Packages):", text, re.MULTILINE):
        return
    cards = re.findall(r"^[^\S\n]{0,40}- ((?:NVIDIA|AMD|Tesla|GeForce|Quadro) ?\S.{0,80})", text, re.MULTILINE)
    yield from (f"GPU {number}: {card.strip()}" for number, card in enumerate(cards))
    if system := re.search(r"^[^\S\n]{0,40}- OS:[^\S\n]{1,40}(\w{1,20})", text, re.MULTILINE):
        machine = re.search(r"^[^\S\n]{0,40}- processor:[^\S\n]{1,40}(arm|aarch64|x86_64)\b", text, re.MULTILINE)
        yield from _platform(system[1], {"arm": "arm64"}.get(machine[1], machine[1]) if machine else "")
    # The version and the release of the system, and CUDA's, are no distributions.
    seen = {"version", "release"}
    for name, version in re.findall(
        rf"^[^\S\n]{{0,40}}- ([A-Za-z][\w.-]{{0,60}}):[^\S\n]{{1,40}}{_VERSION}[^\S\n]{{0,8}}$", text, re.MULTILINE
    ):
        if name not in seen:
            seen.add(name)
            yield f"{_HEADINGS.get(name, f'[pip3] {name}==')}{version}"


def _of_comfyui(text: str) -> Iterator[str]:
    torch = _last(rf"^.{{0,40}}pytorch version: {_VERSION}", text)
    if torch is None or not re.search(r"^.{0,40}(?:Total VRAM \d|Set vram state to: )", text, re.MULTILINE):
        return
    yield f"PyTorch version: {torch[1]}"
    if python := _last(rf"Python version: {_VERSION}", text):
        yield f"Python version: {python[1]}"
    if system := _last(r"\*\* Platform: (\w{1,20})", text):
        yield from _platform(system[1])
    device = _last(r"Device: cuda:\d{1,3} (\S.{0,80}?) : \w", text)
    architecture = _last(r"AMD arch: (gfx\w{1,8})", text)
    if device:
        yield f"GPU 0: {device[1]}{f' ({architecture[1]})' if architecture else ''}"
    if xformers := _last(rf"xformers version: {_VERSION}", text):
        yield f"[pip3] xformers=={xformers[1]}"


def _platform(word: str, machine: str = "") -> Iterator[str]:
    if word.lower() in _SYSTEMS:
        yield f"Python platform: {_SYSTEMS[word.lower()]} {machine}".strip()
