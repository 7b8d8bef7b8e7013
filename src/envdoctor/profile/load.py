"""A profile's file, with what it extends, to a value; every fault at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from envdoctor.model.dataclass import dataclass
from envdoctor.model.profile import Profile
from envdoctor.ports import open_typed
from envdoctor.profile.build import build_profile
from envdoctor.profile.consistency import inconsistencies
from envdoctor.profile.merge import Merged, merge, single
from envdoctor.profile.validation import ProfileError, check_document
from envdoctor.shipped import shipped_names, shipped_path
from envdoctor.toml_lines import Lines
from envdoctor.toml_tables import Document, Fault, TomlError, did_you_mean

__all__ = [
    "LARGEST_BYTES",
    "load_profile",
    "parse_profile",
    "validate",
]

LARGEST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Layer:
    """One file of a chain of `extends`, checked on its own."""

    source: str
    clean: dict[str, Any]
    faults: list[Fault]
    lines: Lines


def load_profile(name_or_path: str) -> Profile:
    """Return a shipped profile by name, or any profile by the path of its file.

    A path holds a separator or ends in ``.toml``. Raises ProfileError with every fault of the file, also where there
    is no such file or name, and for an abstract profile, which is only a base for others.
    """
    path, source = _locate(name_or_path)
    return _usable(_checked(_read(path, source), source, path), source)


def parse_profile(text: str, source: str) -> Profile:
    """Return the profile that a TOML text describes; ``source`` names it in faults and is where `extends` looks.

    Raises ProfileError, also for an abstract profile.
    """
    return _usable(_checked(text, source, Path(source)), source)


def validate(paths: Iterable[str]) -> dict[str, tuple[Fault, ...]]:
    """Return every fault of each file by path, an empty tuple where it has none; abstract profiles are fine."""
    found: dict[str, tuple[Fault, ...]] = {}
    for item in paths:
        path = Path(item)
        try:
            _checked(_read(path, item), item, path)
        except ProfileError as error:
            # A fault of a base stands in the base: name that file, for it is there that it must be mended.
            elsewhere = error.source != item
            found[item] = tuple(
                Fault("profile.extends", f"`{error.source}`: {fault}") if elsewhere else fault for fault in error.faults
            )
        else:
            found[item] = ()
    return found


def _locate(name_or_path: str) -> tuple[Path, str]:
    if name_or_path.endswith(".toml") or "/" in name_or_path or "\\" in name_or_path:
        return Path(name_or_path), name_or_path
    shipped = shipped_path(name_or_path)
    if shipped is None:
        raise ProfileError(name_or_path, [Fault("", _no_such_profile(name_or_path))])
    return shipped, f"profiles/{name_or_path}.toml"


def _no_such_profile(name: str) -> str:
    near = did_you_mean(name, shipped_names())
    return f"no profile is called `{name}`{near or '; `envdoctor profiles list` shows all'}"


def _read(path: Path, source: str) -> str:
    try:
        with open_typed(path) as stream:
            data = stream.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        raise ProfileError(source, [Fault("", "no such file")]) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ProfileError(source, [Fault("", f"cannot be read: {reason}")]) from None
    if len(data) > LARGEST_BYTES:
        raise ProfileError(source, [Fault("", "is too large for a profile (more than 4 MiB)")])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ProfileError(source, [Fault("", "is not UTF-8 text", line)]) from None


def _checked(text: str, source: str, path: Path) -> Merged:
    layer = _layer(text, source)
    merged, faults = _fold(layer, path, (path.resolve(),))
    faults = [*layer.faults, *faults]
    # A key whose value was wrong is not in the checked part: it is not missing as well.
    reported = {fault.key_path for fault in faults}
    faults += [fault for fault in inconsistencies(merged) if fault.key_path not in reported]
    if faults:
        raise ProfileError(source, _ordered(faults, layer.lines))
    return merged


def _usable(merged: Merged, source: str) -> Profile:
    about = merged.table("profile")
    if about.get("abstract"):
        children = [f"`{name}`" for name in shipped_names() if name.startswith(f"{about['name']}-")]
        listed = f": choose {', '.join(children)}" if children else ""
        message = f"`{about['name']}` is a base for other profiles and cannot be used itself{listed}"
        raise ProfileError(source, [Fault("profile.abstract", message)])
    return build_profile(merged, source)


def _ordered(faults: list[Fault], lines: Lines) -> list[Fault]:
    return sorted((fault.placed(lines) for fault in faults), key=lambda fault: fault.line or 0)


def _layer(text: str, source: str) -> _Layer:
    try:
        document = Document(text, source)
    except TomlError as error:
        reason = "nested too deeply for a profile" if error.too_deep else f"not valid TOML: {error.reason}"
        raise ProfileError(source, [Fault("", reason, error.line)]) from None
    clean, faults = check_document(document.data)
    return _Layer(source, clean, faults, document.lines)


def _fold(layer: _Layer, path: Path, chain: tuple[Path, ...]) -> tuple[Merged, list[Fault]]:
    """Return a layer over its bases; faults of a base itself are raised, since they stand in another file."""
    extends = layer.clean.get("profile", {}).get("extends")
    if extends is None:
        faults = [Fault("remove", "there is no base to remove from: `profile.extends` is missing")]
        return single(layer.clean), faults if "remove" in layer.clean and "extends" not in _reported(layer) else []
    base_path, base_source, fault = _base(extends, path, chain)
    if fault is not None:
        return single(layer.clean), [Fault("profile.extends", fault)]
    base = _layer(_read(base_path, base_source), base_source)
    merged, faults = _fold(base, base_path, (*chain, base_path.resolve()))
    if base.faults or faults:
        raise ProfileError(base_source, _ordered([*base.faults, *faults], base.lines))
    return merge(merged, layer.clean)


def _reported(layer: _Layer) -> set[str]:
    return {fault.key_path.rpartition(".")[2] for fault in layer.faults}


def _base(extends: str, path: Path, chain: tuple[Path, ...]) -> tuple[Path, str, str | None]:
    if extends.endswith(".toml"):
        if "/" in extends or "\\" in extends:
            return path, "", f"`{extends}` must be a file beside this one, without a folder"
        base = path.parent / extends
        problem = None if base.is_file() else f"there is no `{extends}` beside this file"
        source = str(base)
    else:
        shipped = shipped_path(extends)
        base = shipped or path
        problem = None if shipped else _no_such_profile(extends)
        source = f"profiles/{extends}.toml"
    if problem is None and base.resolve() in chain:
        names = " -> ".join(item.stem for item in (*chain, base))
        problem = f"goes in a circle: {names}"
    return base, source, problem
