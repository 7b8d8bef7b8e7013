"""What ``import envdoctor`` offers: the verbs as functions, for launchers, notebooks and tests.

Keyword arguments are the options of the command line, with underscores and without dashes, and mean the same.
Nothing is written to stdout or stderr: what the command line says as a note goes to the logger ``envdoctor``.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, get_args

from envdoctor.model import report as model
from envdoctor.model.project import GroupChoice
from envdoctor.model.target import OperatingSystem, TargetArch, TargetBackend
from envdoctor.ports import SilentProgress, UsageError
from envdoctor.render import RenderOptions, UnknownFormat, render
from envdoctor.render.json_document import report_dict
from envdoctor.render.json_document import report_schema as schema
from envdoctor.render.reasons import reason, worded
from envdoctor.render.untrusted import cleaned, shown
from envdoctor.verbs.index_choice import IndexChoice
from envdoctor.verbs.next_command import with_whole_commands
from envdoctor.verbs.target_choice import TargetChoice

if TYPE_CHECKING:
    from envdoctor.ports import Progress

__all__ = ["Error", "Lock", "Report", "diagnose", "inspect_environment", "lock", "schema", "smoke"]

PathLike: TypeAlias = "str | os.PathLike[str]"
System: TypeAlias = Literal["windows", "linux", "macos"]
Architecture: TypeAlias = Literal["x86_64", "amd64", "aarch64", "arm64"]
BackendName: TypeAlias = Literal["cuda", "rocm", "zluda", "directml", "mps", "xpu", "coreml", "cpu", "auto"]
FormatName: TypeAlias = Literal["human", "json", "sarif", "junit", "github", "markdown", "html"]

_LOGGER = logging.getLogger("envdoctor")
_WRONG_USE = 2
_Value = TypeVar("_Value", bound=Enum)


class Error(Exception):
    """What was asked for cannot be done; ``str`` of it is what the command line says.

    ``messages``: one for each thing that is wrong. ``exit_code``: that of the command line: 2 for wrong arguments and
    files that are not what they claim to be, 1 for requirements that cannot be locked, 3 where something is not known.
    """

    def __init__(self, messages: Sequence[str], exit_code: int, report: Report | None = None) -> None:
        super().__init__("\n".join(messages))
        self.messages = tuple(messages)
        self.exit_code = exit_code
        self.report = report
        """What was found, where requirements were refused a lock."""


@dataclass(frozen=True, slots=True)
class Report(model.Report):
    """What was found, as values; ``to_dict`` and ``text`` write it as the command line does."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON report (``envdoctor.report/1``) as Python values; ``envdoctor.schema()`` describes it."""
        return report_dict(self)

    def text(self, format: FormatName = "human", *, width: int = 80) -> str:  # noqa: A002 - the option's own name
        """Return the report in a format of ``--format``, without colours, ``width`` columns wide where that counts.

        Raises Error for another format.
        """
        try:
            return render(self, format, options=RenderOptions(width=width))
        except UnknownFormat as error:
            raise Error((str(error),), _WRONG_USE) from error

    def exit_code(self, fail_on: model.FailOn = "error") -> int:
        """Return what the command line would exit with: 0, 1, or 3 where not everything could be looked at.

        Raises Error for what ``--fail-on`` does not know.
        """
        if fail_on not in get_args(model.FailOn):
            raise Error((f"fail_on: `{fail_on}` is not one of {_listed(get_args(model.FailOn))}",), _WRONG_USE)
        return model.exit_code(self, fail_on)

    def _repr_html_(self) -> str:
        """Return the report as a notebook shows it: the page of ``--format html`` in a frame of its own."""
        from html import escape

        page = escape(render(self, "html"), quote=True)
        return f'<iframe srcdoc="{page}" title="envdoctor" style="width: 100%; height: 40em; border: 0"></iframe>'


@dataclass(frozen=True, slots=True)
class Lock(Report):
    """The report of what was locked, and the files."""

    files: Mapping[str, str] = field(default_factory=dict)
    """The text of each file by its name; empty where the lock on disk still holds and no index may be asked."""
    changed: tuple[str, ...] = ()
    """Names of the files that were missing or different; with ``write`` they are written now."""


_Verb = TypeVar("_Verb", bound=Callable[..., Any])
_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "PathLike": ((str, os.PathLike), "a path"),
    "str": ((str,), "a string"),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
}
"""What the annotations of the verbs' arguments begin with, what that admits, and its name."""


def _refusing(verb: _Verb) -> _Verb:
    """Return the verb that raises Error for a value of another kind than its annotation's."""
    parameters = signature(verb).parameters

    @wraps(verb)
    def called(*args: object, **kwargs: object) -> object:
        wrong = [_wrong(parameters[name], value) for name, value in zip(parameters, args, strict=False)]
        wrong += [_wrong(parameters[name], value) for name, value in kwargs.items() if name in parameters]
        messages = tuple(message for message in wrong if message)
        if messages:
            raise Error(messages, _WRONG_USE)
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


@_refusing
def diagnose(
    project: PathLike = ".",
    *,
    profile: PathLike | None = None,
    target_os: System | None = None,
    target_arch: Architecture | None = None,
    target_python: str | None = None,
    target_backend: BackendName | None = None,
    gpu: str | None = None,
    glibc: str | None = None,
    macos: str | None = None,
    env: PathLike | None = None,
    installed: PathLike | None = None,
    facts: PathLike | None = None,
    log: PathLike | None = None,
    imports: bool = True,
    extra: Sequence[str] = (),
    group: Sequence[str] = (),
    only_group: Sequence[str] = (),
    all_groups: bool = False,
    offline: bool = False,
    index_url: str | None = None,
    recorded_index: PathLike | None = None,
    cache_dir: PathLike | None = None,
    exclude_newer: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Return every conflict, repair and finding of a project for a target: ``envdoctor check PROJECT``. Raises Error.

    ``imports`` False: torch is not imported in the environment's interpreter to see it work.
    """
    from envdoctor.verbs.check_either import check_either
    from envdoctor.verbs.patient import PatientChoice

    with _said():
        report = check_either(
            Path(project),
            _name(profile),
            _target(target_os, target_arch, target_python, target_backend, gpu, glibc, macos),
            IndexChoice(offline, index_url, _path(recorded_index), _path(cache_dir), exclude_newer),
            PatientChoice(
                _path(env),
                None,
                _path(installed),
                _path(facts),
                _path(log),
                imports=imports,
                gpu=profile is not None or target_backend is not None,
            ),
            _groups(extra, group, only_group, all_groups=all_groups),
            progress=progress or SilentProgress(),
            tell=_LOGGER.info,
        )
    return _as(Report, report)


@_refusing
def inspect_environment(
    env: PathLike | None = None,
    *,
    python: PathLike | None = None,
    installed: PathLike | None = None,
    facts: PathLike | None = None,
    log: PathLike | None = None,
    profile: PathLike | None = None,
    verify: bool = False,
    imports: bool = True,
    import_timeout: float = 30.0,
    offline: bool = False,
    index_url: str | None = None,
    cache_dir: PathLike | None = None,
) -> Report:
    """Return what is wrong with what is installed: ``envdoctor check --env ENV``. Raises Error.

    ``env`` is a venv, a conda environment or a site-packages folder; ``python`` an interpreter; ``installed``,
    ``facts`` and ``log`` are files with what tools print of an environment elsewhere. With none of them: the active
    environment, or that of the interpreter which runs this. ``import_timeout``: seconds.
    """
    from envdoctor.verbs.check_either import check_either
    from envdoctor.verbs.patient import PatientChoice

    with _said():
        if all(item is None for item in (env, python, installed, facts, log)):
            from envdoctor.verbs.smoke_inputs import find_interpreter

            python = find_interpreter(None, None)
        choice = PatientChoice(
            _path(env),
            _path(python),
            _path(installed),
            _path(facts),
            _path(log),
            imports=imports,
            import_timeout_s=import_timeout,
            verify=verify,
            gpu=profile is not None,
        )
        index = IndexChoice(offline, index_url, None, _path(cache_dir))
        report = check_either(
            None,
            _name(profile),
            TargetChoice(),
            index,
            choice,
            GroupChoice(),
            progress=SilentProgress(),
            tell=_LOGGER.info,
        )
    return _as(Report, report)


@_refusing
def lock(
    project: PathLike = ".",
    *,
    profile: PathLike | None = None,
    output_dir: PathLike | None = None,
    write: bool = True,
    repair: int | None = None,
    no_repair: bool = False,
    upgrade: bool | Sequence[str] = (),
    substitute: Sequence[str] = (),
    target_os: System | None = None,
    target_arch: Architecture | None = None,
    target_python: str | None = None,
    target_backend: BackendName | None = None,
    gpu: str | None = None,
    glibc: str | None = None,
    macos: str | None = None,
    facts: PathLike | None = None,
    extra: Sequence[str] = (),
    group: Sequence[str] = (),
    only_group: Sequence[str] = (),
    all_groups: bool = False,
    offline: bool = False,
    index_url: str | None = None,
    recorded_index: PathLike | None = None,
    cache_dir: PathLike | None = None,
    exclude_newer: str | None = None,
    progress: Progress | None = None,
) -> Lock:
    """Write the resolution down as ``envdoctor lock`` does; with ``write`` False only return it. Raises Error.

    The lock (PEP 751), constraints and overrides lie beside the project, or in ``output_dir``. ``upgrade`` True leaves
    all versions of the lock on disk behind, a list those of some packages.
    """
    from envdoctor.verbs.lock import LockChoice, lock_all, stale_files, write_files
    from envdoctor.verbs.patient import PatientChoice, open_patient
    from envdoctor.verbs.project_inputs import project_of
    from envdoctor.verbs.session import open_session

    with _said():
        if repair is not None and no_repair:
            raise UsageError("`--repair` and `--no-repair` exclude each other")
        place = project_of(Path(project), _LOGGER.info)
        session = open_session(
            place,
            _name(profile),
            _target(target_os, target_arch, target_python, target_backend, gpu, glibc, macos),
            IndexChoice(offline, index_url, _path(recorded_index), _path(cache_dir), exclude_newer),
            progress=progress or SilentProgress(),
            tell=_LOGGER.info,
            patient=None if facts is None else open_patient(PatientChoice(facts=Path(facts))),
            lock_folder=_path(output_dir),
            upgrade=frozenset(("*",) if upgrade is True else _several(upgrade or ())),
            substitute=_several(substitute),
            groups=_groups(extra, group, only_group, all_groups=all_groups),
        )
        with session:
            outcome = lock_all(session.requests, LockChoice(repair, no_repair), session.index_urls)
        typed = replace(session.typed, facts=_path(facts))
        report = with_whole_commands(outcome.report, typed)
        if outcome.refusals:
            from envdoctor.render.lock_text import refusal_lines
            from envdoctor.verbs.lock import refused_code

            lines = refusal_lines(outcome.refusals, typed.command("check"))
            raise Error(tuple(map(shown, lines)), refused_code(outcome.refusals), _as(Report, report))
        folder = _path(output_dir) or (place if place.is_dir() else place.parent)
        changed = tuple(stale_files(folder, outcome.files))
        if write:
            write_files(folder, {name: outcome.files[name] for name in changed})
    return replace(_as(Lock, report), files=dict(outcome.files), changed=changed)


@_refusing
def smoke(
    env: PathLike | None = None,
    *,
    python: PathLike | None = None,
    profile: PathLike | None = None,
    backend: str | None = None,
    kernels: Sequence[str] = (),
    all_devices: bool = False,
    bisect: bool = True,
    timeout_scale: float = 1.0,
    time_limit: float = 600.0,
    progress: Progress | None = None,
) -> Report:
    """Return which GPU kernels give right answers in an environment, and how fast: ``envdoctor smoke``. Raises Error.

    They run in a child of the environment's interpreter; a kernel that crashes is a result. ``time_limit``: seconds.
    """
    from envdoctor.verbs.smoke_inputs import smoke as run_kernels

    with _said():
        report = run_kernels(
            _path(env),
            _path(python),
            _name(profile),
            backend=backend,
            kernels=_several(kernels),
            all_devices=all_devices,
            bisect=bisect,
            timeout_scale=timeout_scale,
            time_limit_s=time_limit,
            progress=progress or SilentProgress(),
            tell=_LOGGER.info,
        )
    return _as(Report, report)


@contextmanager
def _said() -> Iterator[None]:
    """Raise what the command line would say and exit 2 for as an Error."""
    try:
        yield
    except UsageError as error:
        said = (item if isinstance(item, str) else reason(item) for item in error.messages)
        raise Error(tuple(map(shown, said)), _WRONG_USE) from error


_Kind = TypeVar("_Kind", bound=Report)


def _as(kind: Callable[..., _Kind], report: model.Report) -> _Kind:
    """Return the report with its reasons in words, and nothing hidden in what packages supplied."""
    told = cleaned(worded(report))
    return kind(**{item.name: getattr(told, item.name) for item in fields(model.Report)})


def _path(value: PathLike | None) -> Path | None:
    return None if value is None else Path(value)


def _name(profile: PathLike | None) -> str | None:
    return None if profile is None else os.fspath(profile)


def _target(
    system: str | None,
    arch: str | None,
    python: str | None,
    backend: str | None,
    gpu: str | None,
    glibc: str | None,
    macos: str | None,
) -> TargetChoice:
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
        known = _listed(item.value for item in kind)
        raise UsageError(f"{argument}: `{value}` is not one of {known}") from None


def _listed(values: Iterable[object]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _several(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return names as they are; a string is one name, and not its letters."""
    return (names,) if isinstance(names, str) else tuple(names)


def _groups(extra: Sequence[str], group: Sequence[str], only: Sequence[str], *, all_groups: bool) -> GroupChoice:
    if only and (extra or group or all_groups):
        raise UsageError("only_group: it leaves the main list out, so no other list can stand beside it")
    return GroupChoice(_several(extra), _several(group), only=_several(only), all_groups=all_groups)
