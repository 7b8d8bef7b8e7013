"""The arguments of the library's verbs: refused where they are of another kind, and as the verbs below take them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, cast

from envdoctor.library.results import WRONG_USE, Error, listed
from envdoctor.model.project import GroupChoice
from envdoctor.model.target import OperatingSystem, TargetArch, TargetBackend
from envdoctor.ports import UsageError, refused_path
from envdoctor.render.reasons import reason
from envdoctor.render.untrusted import shown
from envdoctor.verbs.target_choice import TargetChoice

__all__ = [
    "Architecture",
    "BackendName",
    "PathLike",
    "System",
    "groups_of",
    "name_of",
    "path_of",
    "refusing",
    "said_as_errors",
    "several_of",
    "target_of",
]

PathLike: TypeAlias = "str | os.PathLike[str]"
System: TypeAlias = Literal["windows", "linux", "macos"]
Architecture: TypeAlias = Literal["x86_64", "amd64", "aarch64", "arm64"]
BackendName: TypeAlias = Literal["cuda", "rocm", "zluda", "directml", "mps", "xpu", "coreml", "cpu", "auto"]

_Value = TypeVar("_Value", bound=Enum)
_Verb = TypeVar("_Verb", bound=Callable[..., Any])
_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "PathLike": ((str, os.PathLike), "a path"),
    "str": ((str,), "a string"),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
}
"""What the annotations of the verbs' arguments begin with, what that admits, and its name."""


def refusing(verb: _Verb) -> _Verb:
    """Return the verb that raises Error for a value of another kind than its annotation's."""
    parameters = signature(verb).parameters

    @wraps(verb)
    def called(*args: object, **kwargs: object) -> object:
        wrong = [_wrong(parameters[name], value) for name, value in zip(parameters, args, strict=False)]
        wrong += [_wrong(parameters[name], value) for name, value in kwargs.items() if name in parameters]
        messages = tuple(message for message in wrong if message)
        if messages:
            raise Error(messages, WRONG_USE)
        return verb(*args, **kwargs)

    return cast("_Verb", called)


def _wrong(parameter: Parameter, value: object) -> str:
    """Return what is wrong with the value of an argument; empty where nothing is."""
    first, _, rest = str(parameter.annotation).partition(" | ")
    said = f"{parameter.name}: `{shown(repr(value)[:40])}` is not"
    if value is None and parameter.default is None:
        return ""
    if first in _KINDS:
        kinds, called = _KINDS[first]
        return "" if isinstance(value, kinds) else f"{said} {called}"
    if "Sequence[str]" not in (first, rest) or (first == "bool" and (value is None or isinstance(value, bool))):
        return ""
    if isinstance(value, Iterator):
        return ""  # It can be walked once alone.
    several = isinstance(value, Iterable) and not isinstance(value, bytes)
    names = several and all(isinstance(item, str) for item in cast("Iterable[object]", value))
    return "" if names else f"{said} a list of strings"


@contextmanager
def said_as_errors() -> Iterator[None]:
    """Raise what the command line would say and exit 2 for as an Error."""
    try:
        yield
    except UsageError as error:
        said = (item if isinstance(item, str) else reason(item) for item in error.messages)
        raise Error(tuple(map(shown, said)), WRONG_USE) from error
    except OSError as error:
        if (refused := refused_path(error)) is None:
            raise
        raise Error((shown(refused),), WRONG_USE) from error


def path_of(value: PathLike | None) -> Path | None:
    """Return a path as the verbs take it."""
    return None if value is None else Path(value)


def name_of(profile: PathLike | None) -> str | None:
    """Return a profile's name or path as a text."""
    return None if profile is None else os.fspath(profile)


def target_of(
    system: str | None,
    arch: str | None,
    python: str | None,
    backend: str | None,
    gpu: str | None,
    glibc: str | None,
    macos: str | None,
) -> TargetChoice:
    """Return the target that was asked for. Raises UsageError."""
    return TargetChoice(
        _member(OperatingSystem, "target_os", system),
        _member(TargetArch, "target_arch", arch),
        python,
        _member(TargetBackend, "target_backend", backend),
        gpu,
        glibc,
        macos,
    )


def _member(kind: type[_Value], argument: str, value: str | None) -> _Value | None:
    try:
        return None if value is None else kind(value)
    except ValueError:
        known = listed(item.value for item in kind)
        raise UsageError(f"{argument}: `{value}` is not one of {known}") from None


def several_of(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return names as they are; a string is one name, and not its letters."""
    return (names,) if isinstance(names, str) else tuple(names)


def groups_of(extra: Sequence[str], group: Sequence[str], only: Sequence[str], *, all_groups: bool) -> GroupChoice:
    """Return the lists that decide. Raises UsageError."""
    if only and (extra or group or all_groups):
        raise UsageError("only_group: it leaves the main list out, so no other list can stand beside it")
    return GroupChoice(several_of(extra), several_of(group), only=several_of(only), all_groups=all_groups)
