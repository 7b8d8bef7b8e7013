"""An extension module was built for another Python.

## What it does
Reads the interpreter that an extension module is for out of its name (`.cpython-310-`, `.cp311-win_amd64.pyd`) or, on
Windows, out of the `python3xx.dll` that it links, and compares with the environment's Python. A module that lies
beside one of the same name for the right Python is left alone.

## Why it is bad
Python does not see such a file: "No module named 'package._native'", although it is there; where the name says
nothing, the process crashes.

## Example
A `site-packages` folder taken over from Python 3.10 to 3.11; a free-threaded (`cp313t`) build under a usual Python.

## What to do
Install the distribution again with the environment's own installer.

## References
- PEP 3149, https://peps.python.org/pep-3149/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.binary_links import owner, short_path
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.remedies import installer_commands
from envdoctor.diagnose.rule import Rule
from envdoctor.model.binary import Binary, BinaryInventory
from envdoctor.model.environment import InstalledEnvironment, of_the_system
from envdoctor.model.finding import Applicability, Evidence, Finding, Remedy, Severity


def find(examination: Examination, binaries: BinaryInventory, environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each distribution."""
    python = environment.python
    if python is None:
        return
    suffix = "t" if environment.told.free_threaded else ""
    wanted = f"cp{python[0]}{python[1]}{suffix}"
    seen = {(item.folder, item.module) for item in binaries if item.extension and item.python in (wanted, None)}
    seen |= {(item.folder, item.module) for item in binaries if item.python == "abi3" and not suffix}
    groups: dict[str, list[Binary]] = {}
    for item in binaries:
        foreign = item.extension and item.python not in (wanted, None) and not (item.python == "abi3" and not suffix)
        if foreign and (item.folder, item.module) not in seen:
            groups.setdefault(owner(item), []).append(item)
    for subject, items in groups.items():
        built = ", ".join(sorted({item.python or "" for item in items}))
        yield RULE.finding(
            subject,
            f"`{subject}` has extension modules for {built}, and the environment's Python is {wanted}",
            tuple(Evidence(f"for {item.python}", short_path(item.path)) for item in items[:8]),
            _remedy(examination, subject),
        )


def _remedy(examination: Examination, subject: str) -> Remedy:
    installed = examination.environment.get(subject) if examination.environment else None
    if installed is None:
        return Remedy("install it again with the environment's own installer")
    if of_the_system(installed):
        return Remedy(f"install `{subject}` again with the system's package manager, which it came from")
    what = ("install", "--force-reinstall", "--no-deps", f"{installed.name}=={installed.version}")
    commands = installer_commands(examination.environment, what)
    return Remedy(f"install `{subject}` again", Applicability.UNSAFE, commands)


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find)
