"""The questions about packages that an advisory can ask."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatch

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.advisories.predicate import FALSE, UNKNOWN, Atom, Outcome, Situation, yes
from envdoctor.diagnose.installed_demands import left_out
from envdoctor.diagnose.package_view import PackageView, Place
from envdoctor.model.dataclass import dataclass
from envdoctor.model.repair import repair_in_use
from envdoctor.model.target import TargetProperty
from envdoctor.model.version_table import VersionTable, contains
from envdoctor.toml_tables import Table

__all__ = ["PACKAGE_ATOMS", "table_atom"]

_PLACES: dict[str, tuple[Place, ...]] = {
    "plan": (Place.PLAN, Place.ASKED),
    "asked": (Place.ASKED,),
    "installed": (Place.INSTALLED,),
}
_FLAGS = ("yanked", "source_only", "asked", "unlabelled", "nightly", "other_build")


def _label_matches(label: str, wanted: tuple[str, ...]) -> bool:
    return any(fnmatch(label, pattern) for pattern in wanted)


@dataclass(frozen=True, slots=True)
class _PackageQuestion:
    """What ``{ package = ... }`` asks."""

    names: tuple[str, ...]
    version: str
    places: tuple[Place, ...]
    """Empty: any."""
    label: tuple[str, ...]
    extra: str
    index: str
    flags: tuple[tuple[str, bool], ...]

    def _fits(self, found: PackageView) -> bool | None:
        if self.version and not contains(self.version, found.version):
            return False
        if self.extra and self.extra not in found.extras:
            return False if found.place is not Place.INSTALLED else None
        answers: list[bool | None] = [_flag(getattr(found, key), wanted) for key, wanted in self.flags]
        if self.label:
            answers.append(None if found.label is None else _label_matches(found.label, self.label))
        if self.index:
            answers.append(None if found.index is None else fnmatch(found.index, self.index))
        if False in answers:
            return False
        return None if None in answers else True

    def ask(self, situation: Situation) -> Outcome:
        """Answer for the first of the names that fits."""
        scene = situation.scene
        if scene.place is None or (self.places and scene.place not in self.places):
            return UNKNOWN
        undecided = scene.place is Place.ASKED
        for name in self.names:
            found = scene.get(name)
            answer = self._fits(found) if found else False
            if found and answer:
                said = f", build {found.label} (from {found.label_source})" if self.label else ""
                return yes(f"{found}{said}", found.where, subject=found.name, packages=(found.name,))
            undecided = undecided or answer is None
        return UNKNOWN if undecided else FALSE


def _flag(value: bool | None, wanted: bool) -> bool | None:
    return None if value is None else value is wanted


def _package(row: Table) -> Atom:
    question = _PackageQuestion(
        names=row.texts("package", required=True),
        version=row.specifier("version"),
        places=_PLACES.get(row.choice("in", ("plan", "asked", "installed", "any"), "any"), ()),
        label=row.texts("label"),
        extra=row.text("extra"),
        index=row.text("index"),
        flags=tuple((key, row.flag(key, default=False)) for key in _FLAGS if row.has(key)),
    )
    return Atom("package", question.ask, frozenset(question.names), needs_word=True)


def _packages(row: Table) -> Atom:
    """Read ``{ packages = [["librosa", "<=0.10.1"], ...] }``: true where one is there; it names all that are."""
    pairs: list[tuple[str, str]] = []
    listed = row.take("packages")
    if not isinstance(listed, list) or not listed:
        row.fault("packages", "must be a list of pairs, each a name and a specifier")
    for at, pair in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(pair, list) or len(pair) != 2:
            row.fault(f"packages[{at}]", "must be a name and a specifier")
            continue
        fields = Table({"name": pair[0], "version": pair[1]}, f"{row.path}.packages[{at}]", row.faults)
        pairs.append((fields.text("name", required=True), fields.specifier("version")))

    def ask(situation: Situation) -> Outcome:
        scene = situation.scene
        found = [view for name, of in pairs if (view := scene.get(name)) and (not of or contains(of, view.version))]
        if found:
            called = " and ".join(f"`{view.name}` {view.version}" for view in found)
            evidence = tuple(item for view in found for item in yes(str(view), view.where).evidence)
            return Outcome(True, evidence, subject=called, packages=tuple(view.name for view in found))
        return FALSE if scene.place not in (None, Place.ASKED) else UNKNOWN

    return Atom("packages", ask, frozenset(name for name, _ in pairs))


def _absent(row: Table) -> Atom:
    name = row.text("absent", required=True)

    def ask(situation: Situation) -> Outcome:
        scene = situation.scene
        if scene.get(name) is not None:
            return FALSE
        environment = scene.examination.environment if scene.place is Place.INSTALLED else None
        if scene.place in (None, Place.ASKED) or (environment is not None and left_out(environment)(name)):
            return UNKNOWN
        if scene.place is Place.PLAN and any(item.subject.name == name for item in scene.examination.unknowns):
            return UNKNOWN  # It was asked for, and could not be read.
        return yes(f"{name} is not there", "the resolution" if scene.place is Place.PLAN else "the environment")

    return Atom("absent", ask)


def _count(row: Table) -> Atom:
    names, least = row.texts("count", required=True), row.number("at_least", 2)

    def ask(situation: Situation) -> Outcome:
        found = [view for name in names if (view := situation.scene.get(name))]
        if len(found) >= least:
            names_found = tuple(view.name for view in found)
            return yes(", ".join(map(str, found)), found[0].where, subject=names_found[0], packages=names_found)
        return FALSE if situation.scene.place not in (None, Place.ASKED) else UNKNOWN

    return Atom("count", ask, frozenset(names))


def _override(row: Table) -> Atom:
    name = row.text("override", required=True)

    def ask(situation: Situation) -> Outcome:
        examination = situation.scene.examination
        if situation.scene.place is not Place.PLAN or examination.resolution is None:
            return UNKNOWN
        used = repair_in_use(examination.repairs, examination.resolution)
        overrides = used.overrides if used is not None else ()
        declared = [item.requirement for item in (examination.profile.overrides if examination.profile else ())]
        names = {item.requirement.name for item in overrides} | {item.name for item in declared}
        package = situation.scene.get(name)
        if name in names or (package is not None and package.set_aside):
            there = (canonicalize_name(name),)
            return yes(f"an override of {name} is in force", "the resolution", subject=name, packages=there)
        return FALSE

    return Atom("override", ask)


def _installed_file(row: Table) -> Atom:
    pattern = row.text("installed_file", required=True)

    def ask(situation: Situation) -> Outcome:
        environment = situation.scene.examination.environment
        if environment is None or situation.scene.place is not Place.INSTALLED:
            return UNKNOWN
        listed = [view.files for view in situation.scene.packages.values() if view.files is not None]
        for path in (path for files in listed for path in files):
            if fnmatch(path, pattern):
                return yes(path, "installed files")
        return FALSE if listed else UNKNOWN

    return Atom("installed_file", ask)


PACKAGE_ATOMS = {
    "package": _package,
    "packages": _packages,
    "absent": _absent,
    "count": _count,
    "override": _override,
    "installed_file": _installed_file,
}


def _object_version(table: VersionTable, situation: Situation) -> tuple[Version | None, str]:
    """Return the version that a table's second column is about, and how to call it."""
    scene, target = situation.scene, situation.scene.examination.target
    if table.object == "python":
        known = target is not None and TargetProperty.PYTHON not in scene.examination.assumed
        return (
            (Version(target.python_version), f"Python {target.python_version}")
            if target and known
            else (None, "Python")
        )
    if table.object == "cuda":
        torch = scene.get("torch")
        major = torch.cuda_major if torch else None
        return (Version(str(major)), f"{torch} built for CUDA {major}") if major else (None, "CUDA of torch")
    found = scene.get(table.object)
    return (found.version, f"{found}, {found.where}") if found else (None, table.object)


def table_atom(row: Table, tables: Mapping[str, VersionTable]) -> Atom:
    """Read ``{ table = "torchvision-torch", fits = false }``."""
    name, fits = row.text("table", required=True), row.flag("fits", default=False)
    table = tables.get(name)
    if table is None:
        row.fault("table", f"there is no table `{name}`")
        return Atom("table", lambda _situation: FALSE)

    def ask(situation: Situation) -> Outcome:
        subject = situation.scene.get(table.subject)
        if subject is None:
            return FALSE if situation.scene.place is not None else UNKNOWN
        version, called = _object_version(table, situation)
        beside = situation.scene.get(table.object)
        wanted = table.wanted(subject.version, version, series=subject.goes_by_series(beside))
        if wanted is None or version is None:
            return UNKNOWN
        if table.fits(wanted, version) is not fits:
            return FALSE
        thing = {"cuda": "CUDA", "python": "Python"}.get(table.object, table.object)
        seen = yes(f"{subject}, {subject.where}, goes with {thing} {wanted}", table.evidence, subject=subject.name)
        other = situation.scene.get("torch") if table.object == "cuda" else beside
        packages = (subject.name, *((other.name,) if other else ()))
        return Outcome(True, (*seen.evidence, *yes(called).evidence), subject=subject.name, packages=packages)

    needs = frozenset({table.subject})
    return Atom("table", ask, needs)
