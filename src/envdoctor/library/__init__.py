"""What ``import envdoctor`` offers: the verbs as functions, for launchers, notebooks and tests.

Keyword arguments are the options of the command line, with underscores and without dashes, and mean the same.
Nothing is written to stdout or stderr: what the command line says as a note goes to the logger ``envdoctor``.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from envdoctor.library.arguments import (
    Architecture,
    BackendName,
    PathLike,
    System,
    groups_of,
    name_of,
    path_of,
    refusing,
    said_as_errors,
    several_of,
    target_of,
)
from envdoctor.library.results import Error, Lock, Report, as_kind
from envdoctor.model.project import GroupChoice
from envdoctor.ports import Progress, SilentProgress, UsageError
from envdoctor.render.json_document import report_schema as schema
from envdoctor.render.untrusted import shown
from envdoctor.verbs.index_choice import IndexChoice
from envdoctor.verbs.next_command import with_whole_commands
from envdoctor.verbs.target_choice import TargetChoice

__all__ = ["Error", "Lock", "Report", "diagnose", "inspect_environment", "lock", "schema", "smoke"]

_LOGGER = logging.getLogger("envdoctor")


@refusing
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

    with said_as_errors():
        report = check_either(
            Path(project),
            name_of(profile),
            target_of(target_os, target_arch, target_python, target_backend, gpu, glibc, macos),
            IndexChoice(offline, index_url, path_of(recorded_index), path_of(cache_dir), exclude_newer),
            PatientChoice(
                path_of(env),
                None,
                path_of(installed),
                path_of(facts),
                path_of(log),
                imports=imports,
                gpu=profile is not None or target_backend is not None,
            ),
            groups_of(extra, group, only_group, all_groups=all_groups),
            progress=progress or SilentProgress(),
            tell=_LOGGER.info,
        )
    return as_kind(Report, report)


@refusing
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

    with said_as_errors():
        if all(item is None for item in (env, python, installed, facts, log)):
            from envdoctor.verbs.smoke_inputs import find_interpreter

            python = find_interpreter(None, None)
        choice = PatientChoice(
            path_of(env),
            path_of(python),
            path_of(installed),
            path_of(facts),
            path_of(log),
            imports=imports,
            import_timeout_s=import_timeout,
            verify=verify,
            gpu=profile is not None,
        )
        index = IndexChoice(offline, index_url, None, path_of(cache_dir))
        report = check_either(
            None,
            name_of(profile),
            TargetChoice(),
            index,
            choice,
            GroupChoice(),
            progress=SilentProgress(),
            tell=_LOGGER.info,
        )
    return as_kind(Report, report)


@refusing
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

    with said_as_errors():
        if repair is not None and no_repair:
            raise UsageError("`--repair` and `--no-repair` exclude each other")
        place = project_of(Path(project), _LOGGER.info)
        session = open_session(
            place,
            name_of(profile),
            target_of(target_os, target_arch, target_python, target_backend, gpu, glibc, macos),
            IndexChoice(offline, index_url, path_of(recorded_index), path_of(cache_dir), exclude_newer),
            progress=progress or SilentProgress(),
            tell=_LOGGER.info,
            patient=None if facts is None else open_patient(PatientChoice(facts=Path(facts))),
            lock_folder=path_of(output_dir),
            upgrade=frozenset(("*",) if upgrade is True else several_of(upgrade or ())),
            substitute=several_of(substitute),
            groups=groups_of(extra, group, only_group, all_groups=all_groups),
        )
        with session:
            outcome = lock_all(session.requests, LockChoice(repair, no_repair), session.index_urls)
        typed = replace(session.typed, facts=path_of(facts))
        report = with_whole_commands(outcome.report, typed)
        if outcome.refusals:
            from envdoctor.render.lock_text import refusal_lines
            from envdoctor.verbs.lock import refused_code

            lines = refusal_lines(outcome.refusals, typed.command("check"))
            raise Error(tuple(map(shown, lines)), refused_code(outcome.refusals), as_kind(Report, report))
        folder = path_of(output_dir) or (place if place.is_dir() else place.parent)
        changed = tuple(stale_files(folder, outcome.files))
        if write:
            write_files(folder, {name: outcome.files[name] for name in changed})
    return replace(as_kind(Lock, report), files=dict(outcome.files), changed=changed)


@refusing
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
    from envdoctor.render.treatment_text import event_text
    from envdoctor.verbs.smoke_inputs import smoke as run_kernels

    with said_as_errors():
        report = run_kernels(
            path_of(env),
            path_of(python),
            name_of(profile),
            backend=backend,
            kernels=several_of(kernels),
            all_devices=all_devices,
            bisect=bisect,
            timeout_scale=timeout_scale,
            time_limit_s=time_limit,
            progress=progress or SilentProgress(),
            say=lambda event: _LOGGER.info(event_text(event)),
        )
    return as_kind(Report, report)
