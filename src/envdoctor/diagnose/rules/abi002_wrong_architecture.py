"""An extension module is for another processor or another system.

## What it does
Compares the format (ELF, PE, Mach-O) and the architecture of every extension module, and of the libraries that it
cannot load without, with the environment's own machine where it told, else with the target.

## Why it is bad
The import fails: "wrong ELF class", "mach-o file, but is an incompatible architecture", "not a valid Win32
application".

## Example
A folder of packages copied from an x86_64 machine to a Jetson; wheels for x86_64 under an arm64 Python on a Mac.

## What to do
Install on the machine itself, or name the target's platform to the installer.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.binary_links import links_of, owner, short_path
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.binary import Binary, BinaryFormat, BinaryInventory
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

_FORMATS = {"linux": BinaryFormat.ELF, "windows": BinaryFormat.PE, "macos": BinaryFormat.MACHO}
_PLATFORMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}
_SAME = {"amd64": "x86_64", "arm64": "aarch64", "x86-64": "x86_64"}
_NARROW = (("i386",), ("armv7l",))
_SYSTEMS = {BinaryFormat.ELF: "Linux", BinaryFormat.PE: "Windows", BinaryFormat.MACHO: "macOS"}


def find(examination: Examination, binaries: BinaryInventory) -> Iterator[Finding]:
    """Yield one finding for each distribution; a single one where nothing at all fits."""
    machine = _machine(examination)
    if machine is None:
        return
    system, architecture = machine
    judged = links_of(binaries).importable()
    wrong = [item for item in judged if not _fits(item, system, architecture)]
    if _narrow_interpreter(examination, wrong, judged):
        return
    if wrong and len(wrong) == len(judged) and len({owner(item) for item in wrong}) > 1:
        yield _finding("environment", wrong, machine, f"all {len(wrong)} extension modules are")
        return
    groups: dict[str, list[Binary]] = {}
    for item in wrong:
        if not any(
            other.folder == item.folder and other.module == item.module and other not in wrong for other in judged
        ):
            groups.setdefault(owner(item), []).append(item)
    for subject, items in groups.items():
        yield _finding(subject, items, machine, f"`{subject}` is")


def _machine(examination: Examination) -> tuple[str, str] | None:
    """Return system and architecture: the interpreter's own words, else the target's."""
    if examination.environment is not None:
        told = examination.environment.told
        platform, machine = _PLATFORMS.get(told.platform), told.machine.lower()
        if platform and machine:
            return platform, _SAME.get(machine, machine)
    target = examination.target
    return (target.os.value, _SAME.get(target.arch.value, target.arch.value)) if target else None


def _fits(binary: Binary, system: str, architecture: str) -> bool:
    mine = {_SAME.get(item, item) for item in binary.architectures}
    return binary.format is _FORMATS.get(system, binary.format) and architecture in mine


def _narrow_interpreter(examination: Examination, wrong: list[Binary], judged: list[Binary]) -> bool:
    """Return whether a 32-bit Python runs on a 64-bit machine: it answered, and everything is for 32 bits."""
    answered = examination.environment is not None and examination.environment.source == "probe"
    return answered and len(wrong) == len(judged) and all(item.architectures[:1] in _NARROW for item in wrong)


def _finding(subject: str, items: list[Binary], machine: tuple[str, str], start: str) -> Finding:
    first = items[0]
    built = f"{_SYSTEMS[first.format]} {', '.join(first.architectures)}"
    return RULE.finding(
        subject,
        f"{start} built for {built}, and this is {machine[0]} {machine[1]}",
        tuple(
            Evidence(f"{item.format.value}, {', '.join(item.architectures)}", short_path(item.path))
            for item in items[:8]
        ),
        Remedy("install it anew on the machine itself, or tell the installer the target's platform"),
    )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find)
