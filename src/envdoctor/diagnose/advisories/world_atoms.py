"""The questions about target, host, profile and sources that an advisory can ask."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatch

from packaging.version import Version

from envdoctor.diagnose.advisories.predicate import FALSE, UNKNOWN, Atom, Outcome, Situation, yes
from envdoctor.diagnose.examination import Examination, card_architectures, facts_like
from envdoctor.diagnose.module_owners import ModuleOwners
from envdoctor.diagnose.package_view import Place
from envdoctor.diagnose.reachable import reachable_files, unused_files
from envdoctor.diagnose.source_scan import EVERYWHERE, SourceScan, called_in
from envdoctor.model.fact import Fact, FactState
from envdoctor.model.origin import FileOrigin
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target, TargetProperty
from envdoctor.model.version_table import contains
from envdoctor.profile.profile_target import meets
from envdoctor.toml_tables import Table

__all__ = ["WORLD_ATOMS", "project_atom"]


def _target(situation: Situation, kind: TargetProperty) -> Target | None:
    """Return the target, None where what is asked of it was only assumed."""
    examination = situation.scene.examination
    assumed = kind is not TargetProperty.BACKEND and kind in examination.assumed
    return None if assumed else examination.target


def _of_target(
    kind: TargetProperty, wanted: frozenset[str], get: Callable[[Target], str], *, needs_word: bool = False
) -> Atom:
    def ask(situation: Situation) -> Outcome:
        target = _target(situation, kind)
        if target is None or (kind is TargetProperty.BACKEND and target.backend is Backend.UNKNOWN):
            return UNKNOWN
        return yes(f"{kind.value}: {get(target)}", "target") if get(target) in wanted else FALSE

    return Atom(kind.value, ask, needs_word=needs_word)


def _os(row: Table) -> Atom:
    wanted = row.choices("os", [item.value for item in OperatingSystem])
    return _of_target(TargetProperty.OS, wanted, lambda target: target.os.value)


def _arch(row: Table) -> Atom:
    wanted = row.choices("arch", [item.value for item in Arch])
    return _of_target(TargetProperty.ARCH, wanted, lambda target: target.arch.value)


_RARE = frozenset({"zluda", "directml", "coreml"})
"""Backends that few machines have, and whose errors have the words of CUDA."""


def _backend(row: Table) -> Atom:
    wanted = row.choices("backend", [item.value for item in Backend])
    return _of_target(TargetProperty.BACKEND, wanted, lambda target: target.backend.value, needs_word=wanted <= _RARE)


def _python(row: Table) -> Atom:
    wanted = row.specifier("python")

    def ask(situation: Situation) -> Outcome:
        target = _target(situation, TargetProperty.PYTHON)
        if target is None:
            return UNKNOWN
        fits = contains(wanted, Version(target.python_version))
        return yes(f"Python {target.python_version}", "target") if fits else FALSE

    return Atom("python", ask)


def _glibc(row: Table) -> Atom:
    wanted = row.specifier("glibc")

    def ask(situation: Situation) -> Outcome:
        target = _target(situation, TargetProperty.OS)
        if target is None:
            return UNKNOWN
        if target.os is not OperatingSystem.LINUX:
            return FALSE
        level = ".".join(map(str, target.glibc))
        return yes(f"glibc {level}", "target") if contains(wanted, Version(level)) else FALSE

    return Atom("glibc", ask)


def _wsl(row: Table) -> Atom:
    wanted = row.flag("wsl", default=True)

    def ask(situation: Situation) -> Outcome:
        examination = situation.scene.examination
        target = examination.target
        fact = examination.facts.value("host.wsl")
        is_wsl = bool(fact) or (target is not None and target.wsl)
        if fact is None and not is_wsl and (target is None or _may_be_wsl(examination, target)):
            return UNKNOWN
        if is_wsl is not wanted:
            return FALSE
        return yes("WSL", "target") if is_wsl else yes()

    return Atom("wsl", ask, needs_word=wanted)


def _may_be_wsl(examination: Examination, target: Target) -> bool:
    return target.os is OperatingSystem.LINUX and TargetProperty.WSL in examination.assumed


def _log(row: Table) -> Atom:
    """Read ``{ log = "..." }``, of the whole log; with ``within``, of so many lines beside the one with the symptom."""
    pattern, within = row.pattern("log", required=True), row.number("within", 0)

    def ask(situation: Situation) -> Outcome:
        log = situation.scene.examination.log
        if within:
            log = situation.near(within) if situation.near is not None else None
        if log is None:
            return UNKNOWN
        return yes() if re.search(pattern, log, re.IGNORECASE) else FALSE

    return Atom("log", ask)


_BOARDS = frozenset({"sm_87", "sm_110"})
"""Jetson's own: no log is taken for one of theirs unless something says so."""


def _gpu(row: Table) -> Atom:
    wanted = row.texts("gpu", required=True)

    def ask(situation: Situation) -> Outcome:
        cards = card_architectures(situation.scene.examination)
        if not cards:
            return UNKNOWN
        for card in cards:
            if any(fnmatch(card, pattern) for pattern in wanted):
                return yes(f"GPU {card}", "target", subject=None)
        return FALSE

    return Atom("gpu", ask, needs_word=_BOARDS.issuperset(wanted))


def _fact(row: Table) -> Atom:
    pattern = row.text("fact", required=True)
    version, state = row.specifier("version"), row.choice("state", ("known", "absent", "any"), "any")
    equals, matches = row.take("equals"), row.texts("matches")

    def judge(fact: Fact) -> bool | None:
        if fact.state is FactState.UNKNOWN:
            return False if state == "known" else None
        if state != "any" or fact.state is FactState.ABSENT:
            wanted = "known" if state == "any" else state
            if fact.state.value != wanted:
                return False
        if equals is not None and fact.value != equals:
            return False
        values = fact.value if isinstance(fact.value, list | tuple) else [fact.value]
        if matches and not any(fnmatch(str(value), item) for value in values for item in matches):
            return False
        if version:
            try:
                return contains(version, Version(str(fact.value)))
            except ValueError:
                return None
        return True

    def ask(situation: Situation) -> Outcome:
        answers = [(fact, judge(fact)) for fact in facts_like(situation.scene.examination, pattern)]
        for fact, answer in answers:
            if answer:
                said = "absent" if fact.state is FactState.ABSENT else fact.value
                return yes(f"{fact.name}: {said}", fact.source or "facts")
        return FALSE if answers and all(answer is False for _, answer in answers) else UNKNOWN

    return Atom("fact", ask)


def _env_unset(row: Table) -> Atom:
    name = row.text("env_unset", required=True)

    def ask(situation: Situation) -> Outcome:
        examination = situation.scene.examination
        if examination.profile is not None and name in examination.profile.environment:
            return FALSE
        fact = examination.facts.get(f"environment.{name}")
        if fact.state is FactState.UNKNOWN:
            return UNKNOWN
        return yes(f"{name} is not set", "environment") if fact.state is FactState.ABSENT else FALSE

    return Atom("env_unset", ask)


def _for_an_extra(path: str, scan: SourceScan, owners: ModuleOwners) -> bool:
    return any(owners.optional(site.module.partition(".")[0]) for site in scan.imports(path) if not site.indented)


def _imports(row: Table) -> Atom:
    module = row.text("imports", required=True)

    def ask(situation: Situation) -> Outcome:
        if situation.scan is None:
            return UNKNOWN
        project = situation.scene.examination.project
        sites = situation.scan.unguarded(module)
        if sites:
            # A file that no run of the project reaches needs the module for itself alone, and one for which an extra
            # is needed anyway is not for everybody.
            reached = set(reachable_files(situation.scan, project.files if project else ()))
            reached -= unused_files(situation.scan, reached)
            owners = ModuleOwners(situation.scene.examination)
            sites = [site for site in sites if site.path in reached]
            sites = [site for site in sites if not _for_an_extra(site.path, situation.scan, owners)]
        if not sites:
            return FALSE
        where = FileOrigin(sites[0].path, sites[0].line)
        return yes(f"{len(sites)} unguarded import(s) of {module}", str(where), location=where)

    return Atom("imports", ask)


def _source(row: Table) -> Atom:
    pattern, files = row.pattern("source", required=True), row.texts("files") or (EVERYWHERE,)
    having = row.texts("having")

    def ask(situation: Situation) -> Outcome:
        if situation.scan is None:
            return UNKNOWN
        hits = [hit for glob in files for hit in situation.scan.search(pattern, glob, having)]
        if not hits:
            return FALSE
        places = [FileOrigin(hit.path, hit.line) for hit in hits]
        seen = tuple(
            item
            for hit, place in zip(hits[:5], places, strict=False)
            for item in yes(hit.text[:120], str(place)).evidence
        )
        return Outcome(True, seen, places[0], symbols=called_in(hits[:5]))

    return Atom("source", ask)


def _patched(row: Table) -> Atom:
    name = row.text("patched", required=True)
    module, _, function = name.rpartition(".")
    files = {f"{module.replace('.', '/')}{end}" for end in ("/__init__.py", ".py")}

    def ask(situation: Situation) -> Outcome:
        scene = situation.scene
        profile, environment = scene.examination.profile, scene.examination.environment
        versions = {item.name: str(item.version) for item in scene.packages.values()}
        # A plan is patched when it is installed; in an environment the patch must be there.
        there = {
            patch
            for file in (environment.patched if environment is not None else ())
            if file.state == "patched"
            for patch in file.patches
        }
        for patch in profile.patches if profile is not None else ():
            if patch.root == "project" or patch.function != function or files.isdisjoint(patch.files):
                continue
            applies = patch.when is None or meets(patch.when, versions)
            if applies and (scene.place is not Place.INSTALLED or patch.name in there):
                return yes(f"{name} is patched", "profile")
        return FALSE

    return Atom("patched", ask)


WORLD_ATOMS = {
    "os": _os,
    "arch": _arch,
    "backend": _backend,
    "python": _python,
    "glibc": _glibc,
    "wsl": _wsl,
    "log": _log,
    "gpu": _gpu,
    "fact": _fact,
    "env_unset": _env_unset,
    "imports": _imports,
    "source": _source,
    "patched": _patched,
}


def project_atom(row: Table, marks: Mapping[str, tuple[str, ...]]) -> Atom:
    """Read ``{ project = "diffrhythm2" }``; a project is known by its files, or by the profile in use."""
    name = row.text("project", required=True)
    if name not in marks:
        row.fault("project", f"there is no project `{name}`")

    def ask(situation: Situation) -> Outcome:
        profile = situation.scene.examination.profile
        if profile is not None and name in (profile.name, profile.name.partition("-")[0], profile.extends):
            return yes(f"project {name}", f"profile {profile.name}")
        if situation.scan is None:
            return UNKNOWN if profile is None else FALSE
        for mark in marks.get(name, ()):
            if situation.scan.exists(mark):
                return yes(f"project {name}", mark)
        return FALSE

    return Atom("project", ask)
