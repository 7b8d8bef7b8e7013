"""Names of projects in the shipped tables, and what their source distributions say: `tables.py` runs this."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.adapters.index import AnyIndex
from envdoctor.diagnose.rules.res110_build_fails import SetupScript, parse_setup_script
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.candidate import DistributionFile, FileKind, ProjectPage
from envdoctor.model.compatibility import KNOWN_PYTHONS
from envdoctor.ports import IndexUnavailable, MetadataUnavailable, ProjectNotFound
from envdoctor.shipped import data_file

ELSEWHERE = {
    "bitsandbytes-rocm": "on AMD's own pages",
    "detectron2": "in its repository",
    "diff-gaussian-rasterization": "in its repository",
    "ort-nightly": "on a feed of its own",
    "pil": "withdrawn, and still written",
    "pytorch-triton-xpu": "on PyTorch's xpu index",
    "tinycudann": "in its repository",
    "triton-nightly": "on a feed of its own",
}
"""Names that people write and the index does not have, with where they are."""


def name_differences(index: AnyIndex, *, every: bool) -> Iterator[str]:
    """Yield names that the index does not have, and builds that do not refuse or fail as the tables say."""
    for name, table in sorted(names_in_tables().items()):
        if (_page(index, name) is not None) is (name in ELSEWHERE):
            yield f"{table}: the index has `{name}` now" if name in ELSEWHERE else f"{table}: there is no `{name}`"
    yield from _refusals(index)
    yield from _failing(index)
    if every:
        yield from _modules(index)


def names_in_tables() -> dict[NormalizedName, str]:
    """Return the names of projects that tables hold, each with the table."""
    return {canonicalize_name(name): table for table, name in _names()}


def _page(index: AnyIndex, name: str) -> ProjectPage | None:
    try:
        return index.page(canonicalize_name(name))
    except ProjectNotFound:
        return None


def _names() -> Iterator[tuple[str, str]]:
    for projects in data_file("import-names")["modules"].values():
        yield from (("import-names", name) for name in projects)
    known = data_file("known-names")
    yield from (("known-names", name) for name in (*known["names"]["known"], *chain(*known["meant"].values())))
    yield from (("wheels.family", name) for row in data_file("wheels")["family"] for name in row["names"])
    yield from (("build-needs", row["package"]) for row in data_file("build-needs")["need"])


def _refusals(index: AnyIndex) -> Iterator[str]:
    """Compare `setup.py` of the last release of a row with the row, and of the newest release with all of them."""
    rows = [row for row in data_file("build-needs")["refuses"] if "why" not in row]
    for row in rows:
        last = _sdists(index, row["package"], row["version"])[-1:]
        for file in last:
            refused = {python for python in KNOWN_PYTHONS if _refuses(_script(index, file), file, index, python)}
            told = {python for python in KNOWN_PYTHONS if SpecifierSet(row["python"]).contains(_text(python))}
            if refused != told:
                yield f"refuses: {file.filename} refuses {_words(refused)}, and the table says {_words(told)}"
        if not last:
            yield f"refuses: there is no source of {row['package']}{row['version']}"
    for package in dict.fromkeys(row["package"] for row in rows):
        file = _sdists(index, package, "")[-1]
        covered = any(SpecifierSet(row["version"]).contains(file.version) for row in rows if row["package"] == package)
        script = _script(index, file)
        refused = {python for python in KNOWN_PYTHONS if script is not None and script.refuses(python)}
        if refused and not covered:
            yield f"refuses: {file.filename} refuses {_words(refused)}, and no row speaks of it"


def _sdists(index: AnyIndex, package: str, versions: str) -> list[DistributionFile]:
    page = index.page(canonicalize_name(package))
    files = [file for file in page.files if file.kind is FileKind.SDIST and file.yanked is None]
    stable = [
        file for file in files if not file.version.is_prerelease and SpecifierSet(versions).contains(file.version)
    ]
    return sorted(stable, key=lambda file: file.version)


def _script(index: AnyIndex, file: DistributionFile) -> SetupScript | None:
    path = next((name for name in index.names(file) if name.endswith("/setup.py") and name.count("/") == 1), "")
    content = index.read(file, path) if path else None
    return parse_setup_script(content.decode("utf-8", "replace")) if content else None


def _refuses(script: SetupScript | None, file: DistributionFile, index: AnyIndex, python: tuple[int, int]) -> bool:
    """Return whether the script says so; where it says nothing of newer Pythons, whether they have no wheel."""
    if script is not None and script.refuses(python):
        return True
    if script is not None and any(script.refuses(each) for each in KNOWN_PYTHONS):
        return False
    files = index.page(canonicalize_name(file.filename.partition("-")[0])).of_version(file.version)
    tags = [int(each) for item in files for each in _minors(item.filename)]
    return bool(tags) and python[1] > max(tags)


def _minors(filename: str) -> Iterator[str]:
    if filename.endswith(".whl"):
        tag = filename.split("-")[-3]
        yield from (part[3:] for part in tag.split(".") if part.startswith("cp3") and part[3:].isdigit())


def _text(python: tuple[int, int]) -> str:
    return f"{python[0]}.{python[1]}"


def _words(pythons: set[tuple[int, int]]) -> str:
    return "no Python" if not pythons else f"Python {', '.join(map(_text, sorted(pythons)))}"


def _failing(index: AnyIndex) -> Iterator[str]:
    """Yield rows that say that nothing of a project can be installed, although it has wheels."""
    for row in data_file("build-needs")["need"]:
        page = index.page(canonicalize_name(row["package"])) if row.get("fails") else None
        for file in page.files if page is not None else ():
            spoken_of = SpecifierSet(row.get("version", "")).contains(file.version, prereleases=True)
            if spoken_of and file.kind is FileKind.WHEEL and file.yanked is None:
                yield f"build-needs: {file.filename} is there, and the table says that {row['package']} fails"
                break


def _modules(index: AnyIndex) -> Iterator[str]:
    """Open the newest wheel of each project of a module, and of a family: whether the module is in it."""
    pairs = [(module, name) for module, names in data_file("import-names")["modules"].items() for name in names]
    pairs += [(family.tree, name) for family in shipped_wheel_facts().families for name in family.names]
    for module, name in pairs:
        file = _newest_wheel(index, name)
        try:
            members = index.names(file) if file is not None else ()
        except (MetadataUnavailable, IndexUnavailable):
            continue
        parts = {part.partition(".")[0] for item in members for part in item.split("/")}
        if members and not set(module.replace(".", "/").split("/")) <= parts:
            yield f"modules: {name} does not hold `{module}`"


def _newest_wheel(index: AnyIndex, name: str) -> DistributionFile | None:
    page = _page(index, name)
    files = page.files if page is not None else ()
    taken = [file for file in files if file.kind is FileKind.WHEEL and not file.version.is_prerelease]
    return max(taken, key=lambda file: file.version) if taken else None
