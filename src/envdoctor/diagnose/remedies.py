"""Commands that change an environment, in its installer's words, and what must move so that binaries stay together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.model.build_label import read_label
from envdoctor.model.environment import EnvironmentKind, InstalledEnvironment
from envdoctor.model.finding import Applicability, Remedy, in_words
from envdoctor.model.version_table import VersionTable
from envdoctor.shipped import couplings, data_file, torch_labels

__all__ = [
    "beside_torch",
    "filled_by_uv",
    "installer_commands",
    "is_on_an_index",
    "listed",
    "moved_with",
    "remedy_of_move",
    "remedy_of_one_for_all",
    "with_indexes",
]

_BUILT_TOGETHER = frozenset({"torch", "torchaudio", "torchvision", "triton"})
_ON_INDEXES = _BUILT_TOGETHER | {"torchcodec", "xformers"}
"""What PyTorch's indexes have of all that was built for one torch; that of the CPU has no xformers."""


def with_indexes(text: str, *labels: str) -> str:
    """Return a remedy with where the indexes of PyTorch's labels are that it speaks of."""
    places = ", ".join(f"https://download.pytorch.org/whl/{label}" for label in labels)
    return f"{text.rstrip('.')} ({places})" if labels else text


def _versions(installed: Mapping[str, str]) -> dict[str, Version]:
    """Return those that are versions at all."""
    return {name: version for name, text in installed.items() if (version := _version(text)) is not None}


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except ValueError:  # Also of more digits than Python reads.
        return None


def _suiting(name: str, requires: str, there: Mapping[str, Version]) -> str | None:
    """Return versions of ``name`` that were built for what is there of ``requires``; None where no table tells."""
    table = next((item for item in couplings() if (item.subject, item.object) == (name, requires)), None)
    return table.going_with(there[requires], there[name]) if table and name in there and requires in there else None


def moved_with(name: str, wanted: SpecifierSet, there: Mapping[str, Version]) -> dict[str, str]:
    """Return which other installed packages no longer fit once ``name`` is as ``wanted``, with versions that would.

    The versions are empty where they depend on which one is taken, or where no table tells.
    """
    moved: dict[str, str] = {name: str(wanted)}
    left = [name]
    while left:
        mover = left.pop()
        for table in couplings():
            other, versions = _parted(table, mover, moved[mover], there)
            if other and other not in moved:
                moved[other] = versions
                left.append(other)
    del moved[name]
    return dict(sorted(moved.items()))


def _parted(table: VersionTable, mover: str, versions: str, there: Mapping[str, Version]) -> tuple[str, str]:
    """Return the other side of a table that parts with ``mover``, and versions of it that would not; else no name."""
    subject = there.get(table.subject)
    if mover == table.object and subject is not None:
        needed = table.wanted(subject)
        # What was built for one series may pin one release of it in its metadata.
        if needed is None or ("==" not in needed and not _disjoint(versions, needed)):
            return "", ""
        pin = _pinned(versions)
        return table.subject, (table.going_with(pin, subject) or "") if pin is not None else ""
    if mover == table.subject and table.object in there:
        pin = _pinned(versions)
        needed = table.wanted(pin) if pin is not None else None
        if needed is not None and not table.fits(needed, there[table.object]):
            return table.object, needed
    return "", ""


def _disjoint(versions: str, needed: str) -> bool:
    return SpecifierSet(",".join(filter(None, (versions, needed)))).is_unsatisfiable()


def _pinned(versions: str) -> Version | None:
    """Return the version that a specifier admits alone; None for a series (``==2.9.*``)."""
    pins = (item.version for item in SpecifierSet(versions) if item.operator == "==")
    return next((Version(pin) for pin in pins if not pin.endswith(".*")), None)


def is_on_an_index(label: str | None) -> bool:
    """Return whether PyTorch has an index of that label; of NVIDIA's, of AMD's and of a builder's own it has none."""
    return label in torch_labels() or re.fullmatch(r"cpu|cu\d{2,3}", label or "") is not None


def _option_of_index(torch: Version, label: str | None, names: Iterable[str]) -> tuple[str, ...] | None:
    """Return pip's option for the index that has these builds for a torch, none for no label; None where none has."""
    if label is None:
        return ()
    life = torch_labels().get(label)
    there = life.has(Version(f"{torch.major}.{torch.minor}")) if life is not None else label == "cpu"
    if not there or not _ON_INDEXES.difference(("xformers",) if label == "cpu" else ()).issuperset(names):
        return None
    return ("--index-url", f"https://download.pytorch.org/whl/{label}")


def remedy_of_move(
    environment: InstalledEnvironment | None,
    consumer: str,
    name: str,
    wanted: SpecifierSet,
    installed: Mapping[str, str],
) -> Remedy | None:
    """Return what meets ``consumer``'s demand and keeps binaries together; None where nothing else has to move.

    Where ``name`` is not installed nothing was built for another one, and it is installed as all ask for it.

    ``installed``: the versions of what is installed, by name. Where the consumer was built for one release of what it
    asks for, it moves itself: with another torch all that was built for the torch that is there would have to move.
    """
    there = _versions(installed)
    moved = moved_with(name, wanted, {each: version for each, version in there.items() if each != consumer})
    label = there["torch"].local if "torch" in there else None
    own = there[consumer].local if consumer in there else None
    if name in _BUILT_TOGETHER and own is None and (words := _for_the_device(consumer, label)):
        return Remedy(
            f"`{consumer}` of the default index is for CUDA, and torch {there['torch']} is not: {words}; what it asks "
            f"for would bring a torch for CUDA"
        )
    if name == "torch" and (back := _put_back(environment, str(wanted), there)) is not None:
        return back
    if name not in there or not (moved or (name == "torch" and label)):
        return None
    if (built := _of_its_own(environment, consumer, name, there)) is not None:
        others = f"; with another `{name}` {listed(moved)} would have to move, too" if moved else ""
        return replace(built, summary=f"{built.summary}{others}")
    together = {name: str(wanted), **moved}
    pin = _pinned(together.get("torch", ""))
    label = (pin.local if pin is not None else None) or label
    option = _option_of_index(pin, label, together) if pin is not None and all(moved.values()) else None
    texts = [f"{each}{versions}" for each, versions in together.items()]
    how, whence = "move", "together, in one command and all from one index"
    if not moved:
        how, whence = "take", "from an index of torch's own"
    return Remedy(
        f"{how} {listed(texts)} {whence}"
        f"{f', that of the +{label} builds' if option else _other_index(label) if label else ''}",
        Applicability.UNSAFE,
        () if option is None else installer_commands(environment, ("install", *texts, *option)),
    )


def beside_torch(name: str, torch: str) -> str:
    """Return what to do about a companion of a torch that no index of PyTorch's has: NVIDIA's, AMD's, an own build."""
    return (
        f"keep `torch` {torch}, which is on no index of PyTorch's that is known here, and take the `{name}` that was "
        f"built for it, from where it came from; or build `{name}` from source against it"
    )


def remedy_of_one_for_all(
    environment: InstalledEnvironment | None, consumer: str, name: str, installed: Mapping[str, str]
) -> Remedy | None:
    """Return the consumer that was built for the ``name`` that is there, where no ``name`` suits all who ask for it.

    Those that were built for one release each are taken for one and the same, and need no environments of their own.
    """
    there = _versions(installed)
    back = _put_back(environment, "", there) if name == "torch" else None
    return back or _of_its_own(environment, consumer, name, there)


def _put_back(environment: InstalledEnvironment | None, wanted: str, there: Mapping[str, Version]) -> Remedy | None:
    """Return how to put back a build of torch of which one of the default index took the place; None where none did.

    A list that names torch has pip take it from the default index; what was built for the other torch keeps its label.
    """
    torch = there.get("torch")
    for table in couplings() if torch is not None and torch.local is None else ():
        left = there.get(table.subject) if table.object == "torch" and table.subject in _ON_INDEXES else None
        needed = table.wanted(left) if left is not None and is_on_an_index(left.local) else None
        if torch is None or left is None or needed is None or table.fits(needed, torch):
            continue
        asked = wanted if (pin := _pinned(wanted)) is not None and table.fits(needed, pin) else needed
        pin = _pinned(asked)
        others = {name: version for name, version in there.items() if version.local != left.local}
        together = {"torch": asked if pin is None else f"=={pin}", **moved_with("torch", SpecifierSet(asked), others)}
        option = _option_of_index(pin, left.local, together) if pin is not None and all(together.values()) else None
        texts = [f"{each}{versions}" for each, versions in together.items()]
        return Remedy(
            f"`torch` {torch} of the default index took the place of one with +{left.local}, for which "
            f"`{table.subject}` {left} was built: take {listed(texts)} from the index with +{left.local} builds",
            Applicability.UNSAFE,
            () if not option else installer_commands(environment, ("install", *texts, *option)),
        )
    return None


def _of_its_own(
    environment: InstalledEnvironment | None, consumer: str, name: str, there: Mapping[str, Version]
) -> Remedy | None:
    label = there["torch"].local if "torch" in there else None
    if name == "torch" and label and consumer in _ON_INDEXES and not is_on_an_index(label):
        return Remedy(beside_torch(consumer, str(there["torch"])))
    fitting = _suiting(consumer, name, there)
    if fitting is None:
        return None
    option = _option_of_index(there[name], label, (consumer,)) if name == "torch" else ()
    whence = f", from the index with +{label} builds" if option else _other_index(label) if label else ""
    return Remedy(
        f"take `{consumer}{fitting}`, which was built for `{name}` {there[name].public}{whence}",
        Applicability.UNSAFE,
        () if option is None else installer_commands(environment, ("install", f"{consumer}{fitting}", *option)),
    )


def _for_the_device(name: str, label: str | None) -> str:
    """Return what to do about a distribution whose wheels are not for the device of that label; else nothing."""
    build = read_label(label)
    backend = build.backend.value if build is not None else ""
    rows = (row for row in data_file("wheels")["instead"] if row["package"] == name and backend in row["backends"])
    return next((str(row["words"]) for row in rows), "")


def _other_index(label: str) -> str:
    return f" with builds for the device (the +{label} index is not known to have them)"


def listed(names: Iterable[str]) -> str:
    """Return the names in code, as a sentence lists them."""
    return in_words([f"`{name}`" for name in names])


def installer_commands(environment: InstalledEnvironment | None, *commands: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``("install", "numpy<2")`` and the like as command lines for this environment.

    pip where it is installed, else uv where that filled the environment. None at all for a Python that the operating
    system manages (PEP 668): there, its own packages are changed with its own tools.
    """
    if environment is None:
        return tuple(" ".join(("python -m pip", *map(_quoted, command))) for command in commands)
    if environment.told.externally_managed and environment.kind is EnvironmentKind.PREFIX:
        return ()
    python = environment.executable or "python"
    if not filled_by_uv(environment):
        return tuple(" ".join((f"{_quoted(python)} -m pip", *map(_quoted, command))) for command in commands)
    # `uv pip uninstall` never asks, and has no `-y`.
    lines = (("uv pip", verb, "--python", python, *(item for item in rest if item != "-y")) for verb, *rest in commands)
    return tuple(" ".join((line[0], *map(_quoted, line[1:]))) for line in lines)


def filled_by_uv(environment: InstalledEnvironment) -> bool:
    """Return whether uv, and no pip, is what changes an environment."""
    return environment.get("pip") is None and any(item.installer == "uv" for item in environment.distributions)


def _quoted(text: str) -> str:
    """Quote for the shells of POSIX and Windows alike."""
    return f'"{text}"' if any(character in text for character in " <>!=;[]*@&|") and '"' not in text else text
