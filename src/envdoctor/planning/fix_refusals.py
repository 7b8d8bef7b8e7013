"""Why a treatment must not begin; each reason with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import InstalledDistribution
from envdoctor.model.profile import Profile
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.step import PlannedFile
from envdoctor.model.target import dotted

__all__ = ["BuildState", "EnvironmentState", "refusals_of"]


@dataclass(frozen=True, slots=True)
class EnvironmentState:
    """An environment as it is, or the place where one will be."""

    path: str
    exists: bool
    python: tuple[int, int] | None = None
    distributions: tuple[InstalledDistribution, ...] = ()
    brought: Mapping[str, str] = field(default_factory=dict)
    """Version by name of what earlier fixes put where nothing was."""
    site_packages: str = ""
    """Where its Python looks for packages; empty where none runs."""
    fault: str | None = None
    """What keeps it from being treated: not an environment, its interpreter does not run, managed by the system."""


@dataclass(frozen=True, slots=True)
class BuildState:
    """What building a package needs, and what of it is not there."""

    needs: tuple[str, ...]
    missing: tuple[str, ...] = ()
    install: tuple[str, ...] = ()
    """How to get it."""


def refusals_of(
    environment: EnvironmentState,
    files: tuple[PlannedFile, ...],
    profile: Profile | None,
    builds: Mapping[str, BuildState],
    *,
    python: str,
    interpreter: str | None,
) -> tuple[Refusal, ...]:
    """Return every reason that values alone can tell; ``interpreter``: None where none was found."""
    return (
        *_environment(environment, python, interpreter),
        *(refusal for file in files for refusal in _file(file)),
        *_indexes(files, profile),
        *_builds(files, builds),
    )


def _environment(state: EnvironmentState, python: str, interpreter: str | None) -> Iterator[Refusal]:
    if state.fault is not None:
        yield Refusal(RefusalKind.ENVIRONMENT, state.path, state.fault, "name another one with `--env`")
    elif state.exists and state.python is not None and python and dotted(state.python) != python:
        have = dotted(state.python)
        message = f"`{state.path}` is for Python {have}, and the lock is for {python}"
        yield Refusal(RefusalKind.PYTHON, state.path, message, "name another place with `--env`; it will be made there")
    elif not state.exists and interpreter is None:
        message = f"no Python {python} was found to make the environment with"
        remedy = f"install Python {python} (with its venv), or name one with `--python`"
        yield Refusal(RefusalKind.PYTHON, state.path, message, remedy)


def _file(file: PlannedFile) -> Iterator[Refusal]:
    if file.best_hash is None:
        yield Refusal(
            RefusalKind.NO_HASH, file.name, f"`{file.name}` {file.version} has no SHA-256 or better in the lock"
        )
    bad = {"/", "\\", "\x00"} & set(file.filename)
    if bad or file.filename in ("", ".", ".."):
        yield Refusal(RefusalKind.PATH, file.name, f"`{file.filename}` of `{file.name}` is not a plain file name")
    if not file.url:
        yield Refusal(
            RefusalKind.INDEX, file.name, f"the lock does not say where `{file.name}` {file.version} comes from"
        )


def _indexes(files: tuple[PlannedFile, ...], profile: Profile | None) -> Iterator[Refusal]:
    bound = {name: index.name for index in (profile.indexes if profile else ()) for name in index.packages}
    for file in files:
        wanted = bound.get(file.name)
        if wanted is not None and file.index != wanted:
            message = f"`{file.name}` is bound to index `{wanted}`, and the lock has it from `{file.index}`"
            yield Refusal(
                RefusalKind.WRONG_INDEX, file.name, message, "make the lock again while that index can be reached"
            )


def _builds(files: tuple[PlannedFile, ...], builds: Mapping[str, BuildState]) -> Iterator[Refusal]:
    for file in files:
        build = builds.get(file.name)
        if file.sdist and build is not None and build.missing:
            message = (
                f"`{file.name}` {file.version} must be built from source, which needs {', '.join(build.missing)}: not "
                "found here"
            )
            remedy = "; ".join(build.install) or f"take a version of `{file.name}` that has a wheel, by an override"
            yield Refusal(RefusalKind.SYSTEM_NEED, file.name, message, remedy)
