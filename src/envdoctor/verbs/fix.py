"""``fix``: from a project and a profile to the plan of a treatment."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from envdoctor import __version__
from envdoctor.lock.pylock_reader import LockedProject
from envdoctor.model.finding import Severity
from envdoctor.model.profile import Exclusion
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.step import PlannedFile
from envdoctor.model.target import dotted
from envdoctor.planning.fix_refusals import EnvironmentState, refused_variables
from envdoctor.planning.patch_selection import Selection, expand_variables, select, stand_ins
from envdoctor.planning.plan_maker import Leftover, PlanInput, brought, leftovers, make_plan
from envdoctor.ports import IndexUnavailable, MetadataUnavailable
from envdoctor.profile.profile_target import applying
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.environment_settings import settings_of, startup_of, with_settings
from envdoctor.verbs.fix_lock import FixLock, distribution_file, lock_for_fix
from envdoctor.verbs.fix_request import FixRequest, Prepared
from envdoctor.verbs.substitutes import offers_of_substitutes
from envdoctor.verbs.this_machine import ThisMachine

__all__ = ["prepare"]


def prepare(request: FixRequest, machine: ThisMachine) -> Prepared:
    """Return the plan for an environment; nothing is changed. Faults of the target come as refusals of the plan."""
    different = machine.other_machine(request.check.target)
    if different is not None:
        message = f"{different}; `envdoctor check` and `lock` work for other machines, `fix` does not"
        return Prepared(refusals=(Refusal(RefusalKind.TARGET, message=message),))
    state = machine.look(request.environment)
    check, missing = _with_python(request.check, state, machine)
    if missing is not None:
        return Prepared(refusals=(Refusal(RefusalKind.PYTHON, message=missing),))
    locked = lock_for_fix(replace(request, check=check), machine)
    if isinstance(locked, Prepared):
        return locked
    files = {file.name: file.version for file in locked.files}
    kept = {item.name for item in state.distributions if files.get(item.name) == item.version} - state.lost
    state = replace(state, lost=state.lost | machine.damaged(state, kept))
    return _planned(replace(request, check=check), state, locked, machine)


def _with_python(check: CheckRequest, state: EnvironmentState, machine: ThisMachine) -> tuple[CheckRequest, str | None]:
    """Return the request for the Pythons that can be had here."""
    wanted = check.python_choices or (check.target.python,)
    if state.exists and state.fault is None and state.python is not None:
        if state.python not in wanted:
            have, choices = dotted(state.python), ", ".join(dotted(python) for python in wanted)
            message = (
                f"`{state.path}` is for Python {have}, and the profile or target wants {choices}; name another place "
                "with `--env`, an environment will be made there"
            )
            return check, message
        target = replace(check.target, python=state.python, python_full=state.python_full)
        return replace(check, target=target, python_choices=()), None
    found = [(python, machine.find_python((python,))) for python in wanted]
    available = tuple(python for python, answer in found if answer is not None)
    if not available:
        choices = " or ".join(dotted(python) for python in wanted)
        return check, f"no Python {choices} was found here; install one (with its venv), or give it with `--python`"
    target = replace(check.target, python=available[0], python_full=machine.full_version(available[0]))
    request = replace(check, target=target, python_choices=available if len(available) > 1 else ())
    return request, None


def _planned(request: FixRequest, state: EnvironmentState, locked: FixLock, machine: ThisMachine) -> Prepared:
    check, profile = request.check, request.check.profile
    target = locked.outcome.report.target or check.target
    found = None if state.exists else machine.find_python((target.python,))
    name, refusals = _installer(request, state, locked, machine)
    chosen = select(profile, {file.name: file.version for file in locked.files}, set(request.moved) or None)
    project = check.project.root if check.project else ""
    settings = settings_of(profile, request.found_settings, locked.files)
    folders = {"project": project, "environment": request.environment}
    variables = expand_variables(with_settings(settings, chosen.variables), **folders)
    plain = expand_variables(profile.environment if profile else {}, **folders)
    exclusions = (*(profile.excludes if profile else ()), *(check.project.substitutes if check.project else ()))
    changing, stale, gone = _moving(exclusions, locked, state)
    leaving = gone | {file.name for file in changing}
    arriving = [distribution_file(file) for file in changing if not file.sdist]
    stubs, taken = machine.stubs(stand_ins(profile), arriving, state, leaving)
    put = _brought(state, locked, stale, gone)
    left = (*locked.left, *_left(locked, state, leaving))
    refused = refused_variables(variables, project, request.allowed_variables)
    plan = make_plan(
        PlanInput(
            environment=state,
            project=project,
            files=locked.files,
            lock_text=locked.text,
            installer=name,
            profile=profile,
            exclusions=exclusions,
            interpreter=found[0] if found is not None else None,
            python=target.python_version,
            builds=locked.builds,
            preview=machine.preview(chosen.patches, arriving, state, builds=bool(locked.builds), leaving=leaving),
            stubs=stubs,
            leftovers=stale,
            startup=startup_of(settings, plain, state.site_packages),
            variables=variables,
            records=_records(request, project, variables, settings, locked, chosen, put),
            disk_free=machine.disk_free(request.environment),
            refusals=(*refusals, *refused, *taken, *_other_files(locked, check.locked)),
            skipped=chosen.skipped,
            notes=(*locked.notes, *chosen.notes, *left, *_notes(check, locked, changing, state)),
            repair=locked.outcome.repair,
            known_errors=tuple(item for item in locked.outcome.report.open_findings if item.severity is Severity.ERROR),
            label=request.check.part,
        )
    )
    overrides = locked.outcome.overrides + tuple(item.override() for item in exclusions)
    return Prepared(locked.outcome.report, plan, locked.files, locked.outcome.files, overrides, left=left)


def _moving(
    exclusions: Sequence[Exclusion], locked: FixLock, state: EnvironmentState
) -> tuple[list[PlannedFile], tuple[Leftover, ...], set[str]]:
    """Return what comes, what earlier fixes have brought and nothing needs now, and the names of what goes.

    A package that stays as it is keeps its files, and they may be patched already.
    """
    here = {(item.name, item.version) for item in state.distributions if item.name not in state.lost}
    kept = {file.name for file in locked.files}
    excluded = {str(item.name) for item in exclusions} - kept
    stale = leftovers(state.distributions, state.brought, kept, excluded)
    gone = excluded | {item.distribution.name for item in stale if not item.kept}
    return [file for file in locked.files if (file.name, file.version) not in here], stale, gone


def _left(locked: FixLock, state: EnvironmentState, leaving: Collection[str]) -> Iterator[str]:
    """Yield what was changed of packages that stay as they are."""
    for file in locked.files:
        paths = state.edited.get(file.name, ())
        if paths and file.name not in leaving:
            named = ", ".join(f"`{path}`" for path in paths[:3]) + (", ..." if len(paths) > 3 else "")
            many = len(paths) > 1
            yield (
                f"{named} of `{file.name}` {file.version} {'have other sizes' if many else 'has another size'} than "
                f"recorded and {'are' if many else 'is'} left: somebody may have edited {'them' if many else 'it'} "
                f"on purpose; remove {'them' if many else 'it'}, and `envdoctor fix` brings the package's own back"
            )


def _notes(
    check: CheckRequest, locked: FixLock, changing: Sequence[PlannedFile], state: EnvironmentState
) -> Iterator[str]:
    """Yield what a careful person is told of the files, of the environment and of the profile."""
    yield from offers_of_substitutes(locked.files)
    yield from _of_conda({file.name for file in changing}, state)
    yield from _cautions(check, locked)


def _cautions(check: CheckRequest, locked: FixLock) -> Iterator[str]:
    """Yield what a careful person is told of the profile before it is applied here."""
    if check.profile is None:
        return
    target = locked.outcome.report.target or check.target
    versions = {str(file.name): file.version for file in locked.files} | {"python": f"{target.python_version}.0"}
    cards = len(check.facts.of_cards("name"))
    sources = check.sources

    def has_file(glob: str) -> bool:
        return sources is not None and next(iter(sources.glob(glob)), None) is not None

    for caution in applying(check.profile, target, versions, cards, has_file):
        yield f"caution: {caution.text}"


def _installer(
    request: FixRequest, state: EnvironmentState, locked: FixLock, machine: ThisMachine
) -> tuple[str, list[Refusal]]:
    """Return the installer's name, and what it would not take."""
    try:
        name, strict = machine.installer(state)
    except RuntimeError as error:
        return "", [Refusal(RefusalKind.ENVIRONMENT, request.environment, str(error))]
    return name, _legacy(locked.files, request.check) if strict else []


def _other_files(locked: FixLock, beside: LockedProject | None) -> Iterator[Refusal]:
    """Yield the files of which the index has other bytes by now than the lock beside the project says."""
    if beside is None:
        return
    for file in locked.files:
        known = dict(text.partition(":")[::2] for text in beside.files.get(file.filename, ()))
        for algorithm, digest in file.hashes:
            if known.get(algorithm, digest).lower() != digest.lower():
                message = (
                    f"`{file.filename}` is not what `{beside.path}` says: {algorithm} is {digest} on "
                    f"index `{file.index}`, and {known[algorithm]} in the lock"
                )
                remedy = f"find out which of them is right; `envdoctor lock --upgrade={file.name}` takes the index's"
                yield Refusal(RefusalKind.WRONG_HASH, file.name, message, remedy)


def _of_conda(coming: Collection[str], state: EnvironmentState) -> Iterator[str]:
    """Yield what is replaced behind conda's back."""
    names = sorted(item.name for item in state.distributions if item.installer == "conda" and item.name in coming)
    if names:
        listed = ", ".join(f"`{name}`" for name in names)
        yield f"conda installed {listed} and does not learn of it: `conda update` may put its own back"


def _brought(
    state: EnvironmentState, locked: FixLock, stale: Sequence[Leftover], gone: Collection[str]
) -> dict[str, str]:
    """Return what fixes have put where nothing was, this one included."""
    here = {item.name: item.version for item in state.distributions}
    changed = {
        item.distribution.name for item in stale if item.distribution.version != state.brought[item.distribution.name]
    }
    return brought(state.brought, locked.files, here, changed | set(gone))


def _legacy(files: Sequence[PlannedFile], check: CheckRequest) -> list[Refusal]:
    """Refuse packages whose metadata the installer would not take."""
    found = []
    for file in files:
        if check.index is None:
            break
        try:
            mended = check.index.metadata(distribution_file(file)).mended
        except (IndexUnavailable, MetadataUnavailable, ValueError):
            continue
        if mended:
            message = (
                f"pip 24.1 and later refuse `{file.name}` {file.version}: its metadata is not valid (`{mended[0]}`)"
            )
            found.append(
                Refusal(RefusalKind.ARCHIVE, file.name, message, "install uv, which takes it: `--installer uv`")
            )
    return found


def _records(
    request: FixRequest,
    project: str,
    variables: Mapping[str, str],
    settings: Sequence[str],
    locked: FixLock,
    chosen: Selection,
    put: Mapping[str, str],
) -> tuple[tuple[str, str, str], ...]:
    profile = request.check.profile
    about = {
        "schema": "envdoctor.environment/1",
        "tool": __version__,
        "profile": profile.name if profile else None,
        "profile_source": profile.source if profile else None,
        "environment": request.check.part or None,
        "project": project,
        "variables": dict(variables),
        "settings": list(settings),
        "found_settings": list(request.found_settings),
        "patches": [patch.name or patch.kind.value for patch in chosen.patches],
        "moved": {name: list(reasons) for name, reasons in request.moved.items()},
        "brought": dict(put),
    }
    return (
        ("pylock.toml", locked.text, "the lock"),
        ("environment.json", json.dumps(about, indent=1, ensure_ascii=False) + "\n", "profile and variables"),
    )
