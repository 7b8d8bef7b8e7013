"""An extension module was compiled against NumPy 1, and NumPy 2 is installed.

## What it does
Looks at the import code that NumPy's headers put into every module that uses its C API: headers of NumPy 2 write a
module that runs with 1 and 2, those of NumPy 1 one that refuses NumPy 2. Of a pasted listing, it goes by what is known
of the wheels of the default index; conda's builds, and what carries a builder's own label, are passed over. There it is
a warning where another distribution that gives the same module (OpenCV's) is of NumPy 2.

## Why it is bad
"A module that was compiled using NumPy 1.x cannot be run in NumPy 2": at import, or at the first array.

## Example
An old wheel with a Cython module, beside the NumPy 2.1 that another package brought along.

## What to do
Take a release of the package that was built against NumPy 2, or constrain `numpy<2`.

## References
- NumPy, "For downstream package authors", https://numpy.org/doc/stable/dev/depending_on_numpy.html
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.binary_links import links_of, owner, short_path
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.package_view import Place, Scene, scenes
from envdoctor.diagnose.pairing import built_for_numpy1, misfits
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.binary import Binary, BinaryInventory
from envdoctor.model.environment import EnvironmentKind, InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity


def find(examination: Examination, environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each distribution that an advisory does not speak of already."""
    numpy = environment.get("numpy")
    if numpy is None or not _is_two(numpy.version):
        return
    told = _told(examination)
    binaries = examination.binaries
    found = list(_read(binaries) if binaries is not None else _listed(examination, environment))
    old = {subject for subject, _, _ in found} | told
    for subject, evidence, besides in found:
        if subject not in told:
            other = _in_its_place(environment, subject, old) if binaries is None else ""
            unsure = f"; `{other}` gives the same module, and a list does not tell whose lies there" if other else ""
            yield RULE.finding(
                subject,
                f"`{subject}` was compiled against NumPy 1, and numpy {numpy.version} is installed{unsure}",
                evidence,
                Remedy(f"take a `{subject}` that was built against NumPy 2{besides}, or constrain `numpy<2`"),
                severity=Severity.WARNING if other else RULE.severity,
                packages=(subject, "numpy"),
            )


def _in_its_place(environment: InstalledEnvironment, subject: str, old: set[str]) -> str:
    """Return an installed distribution that gives the same module and is not built against NumPy 1; else nothing."""
    families = (family.names for family in shipped_wheel_facts().families if subject in family.names)
    names = (name for family in families for name in family if name not in old)
    return next((name for name in names if environment.get(canonicalize_name(name)) is not None), "")


def _read(binaries: BinaryInventory) -> Iterator[tuple[str, tuple[Evidence, ...], str]]:
    groups: dict[str, list[Binary]] = {}
    for item in links_of(binaries).importable():
        if item.numpy == "1" and item.distribution != "numpy":
            groups.setdefault(owner(item), []).append(item)
    for subject, items in groups.items():
        yield subject, tuple(Evidence("imports the C API of NumPy 1", short_path(item.path)) for item in items[:8]), ""


def _listed(
    examination: Examination, environment: InstalledEnvironment
) -> Iterator[tuple[str, tuple[Evidence, ...], str]]:
    scene = _installed(examination)
    if scene is None or environment.kind is not EnvironmentKind.LISTING:
        return
    for item in misfits(scene, ("onnxruntime-numpy",)):
        yield item.subject.name, (Evidence(item.table.evidence, f"table {item.table.name}"),), ""
    for name, builds in built_for_numpy1().items():
        view = scene.get(name)
        if view is not None and view.unlabelled and not view.other_build and view.version <= builds.last:
            known = f"wheels of {name} up to {builds.last} look for `numpy.core` alone"
            yield (
                name,
                (Evidence(known, "extension modules of both"),),
                f" ({builds.first} or later)" if builds.first else "",
            )


def _is_two(version: str) -> bool:
    try:
        return Version(version).major >= 2
    except ValueError:
        return False


def _told(examination: Examination) -> set[str]:
    """Return the distributions of which the advisory `numpy2-old-torch` speaks."""
    scene = _installed(examination)
    tables = ("torch-numpy", "onnxruntime-gpu-numpy")
    return {item.subject.name for item in misfits(scene, tables)} if scene else set()


def _installed(examination: Examination) -> Scene | None:
    places = scenes(examination, shipped_wheel_facts())
    return next((item for item in places if item.place is Place.INSTALLED), None)


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find)
