"""Which of a project's Python files a run of it reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envdoctor.diagnose.source_scan import ImportSite, SourceScan

__all__ = ["conditional_files", "files_from", "local_modules", "reachable_files", "shipped_packages", "unused_files"]

_TESTS = frozenset({"tests", "test", "testing", "docs", "doc", "documentation"})
_ASIDE = _TESTS | {
    *("examples", "example", "benchmarks", "benchmark", "tools", "scripts", "notebooks", "demo", "demos", "samples"),
    *("docker", "plugins", "contrib", "ci", "dev"),
}
_SOURCE_ROOTS = ("src/", "lib/", "python/")
_COMMANDS_IN = ("pyproject.toml", "setup.cfg", "setup.py")
_NOT_ENTRIES = frozenset({"setup.py", "conftest.py", "noxfile.py", "fabfile.py", "conf.py"})


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _in(folders: frozenset[str], path: str) -> bool:
    parts = path.split("/")
    return any(part in folders for part in parts[:-1]) or parts[-1].startswith("test_") or parts[-1] in _NOT_ENTRIES


def local_modules(paths: Iterable[str]) -> frozenset[str]:
    """Return the names that the project's own files and folders may be imported by, wherever they stand."""
    names: set[str] = set()
    for path in paths:
        parts = path.removesuffix(".py").split("/")
        names.update(parts[:-1])
        names.add(parts[-1])
    return frozenset(names)


def _entries(scan: SourceScan, folders: frozenset[str]) -> list[str]:
    """Scripts beside the requirements files; where there are none, the packages that the project ships.

    Where it has no package either, everything counts but tests, examples and tools.
    """
    scripts = [path for path in scan.by_path if _folder(path) in folders and not _in(_TESTS, path)]
    if scripts:
        return scripts
    inside = [path for path in scan.by_path if not _in(_ASIDE, path)]
    packages = shipped_packages(scan)
    return (
        [path for path in inside if path.startswith(packages)]
        or inside
        or [path for path in scan.by_path if not _in(_TESTS, path)]
    )


def shipped_packages(scan: SourceScan) -> tuple[str, ...]:
    """Return the folders of the project's own packages, each with a slash: at the top, or in a folder of sources."""
    found = []
    for path in scan.by_path:
        root = next((root for root in _SOURCE_ROOTS if path.startswith(root)), "")
        folder, _, rest = path.removeprefix(root).partition("/")
        if rest == "__init__.py" and folder not in _ASIDE:
            found.append(f"{root}{folder}/")
    return tuple(sorted(found))


def _targets(site: ImportSite, scan: SourceScan) -> Iterator[str]:
    """Files that an import may load: beside the importing file, or from the root or a ``src`` folder."""
    here, module, known = _folder(site.path), site.module, scan.by_path
    relative = module.startswith(".")
    if relative:
        dots = len(module) - len(module.lstrip("."))
        bases = ["/".join(here.split("/")[: len(here.split("/")) - dots + 1])]
        module = module.lstrip(".")
    else:
        if module.partition(".")[0] not in scan.own_names:
            return
        bases = ["", "src", here]
    parts = [part for part in module.split(".") if part]
    for base in dict.fromkeys(bases):
        prefix = [part for part in base.split("/") if part]
        for end in range(0 if relative else 1, len(parts) + 1):
            stem = "/".join([*prefix, *parts[:end]])
            yield from (path for path in (f"{stem}.py", f"{stem}/__init__.py") if path in known)
        package = "/".join([*prefix, *parts])
        if site.names:
            yield from (path for name in site.names if (path := f"{package}/{name}.py".lstrip("/")) in known)


def conditional_files(scan: SourceScan, paths: Iterable[str]) -> set[str]:
    """Return those of the files that are imported under a condition alone: by ``if`` or ``try``, or by such files."""
    inside = set(paths)
    surely: dict[str, set[str]] = {path: set() for path in inside}
    perhaps: set[str] = set()
    for path in inside:
        under = scan.lines_under_a_condition(path)
        for site in scan.imports(path):
            targets = {target for target in _targets(site, scan) if target in inside and target != path}
            targets = {target for target in targets if not path.startswith(target.removesuffix("__init__.py"))}
            if site.line in under:
                perhaps |= targets
            else:
                surely[path] |= targets
    imported = perhaps.union(*surely.values())
    doors = {f"{package}__init__.py" for package in shipped_packages(scan)}
    queue = [path for path in inside if path not in imported or path in doors or "/" not in path]
    reached = set(queue)
    for path in queue:
        queue += surely[path] - reached
        reached |= surely[path]
    return _from(perhaps - reached, surely) - reached


def unused_files(scan: SourceScan, paths: Iterable[str]) -> set[str]:
    """Return those files of the project's packages that neither a package's door nor a file outside of them loads.

    A door is ``__init__.py``, ``__main__.py``, or what a command of the project starts. A package whose ``__init__.py``
    loads nothing of its own offers each of its modules: none of them is unused.
    """
    inside = set(paths)
    imports = {path: {each for site in scan.imports(path) for each in _targets(site, scan)} & inside for path in inside}
    packages = tuple(folder for folder in shipped_packages(scan) if _loads_its_own(folder, imports))
    commands = "\n".join(file.text for name in _COMMANDS_IN if (file := scan.read(name)) is not None)
    starts = {path for path in inside if not path.startswith(packages) or _is_door(path, packages, commands)}
    return inside - _from(starts, imports)


def _loads_its_own(package: str, imports: dict[str, set[str]]) -> bool:
    door = f"{package}__init__.py"
    return any(path.startswith(package) for path in imports.get(door, set()) - {door})


def _is_door(path: str, packages: tuple[str, ...], commands: str) -> bool:
    folder, _, name = path.rpartition("/")
    started = f"{path.removesuffix('.py').replace('/', '.')}:"
    return (
        name == "__main__.py"
        or (name == "__init__.py" and f"{folder}/" in packages)
        or any(started.removeprefix(root.replace("/", ".")) in commands for root in ("", *_SOURCE_ROOTS))
    )


def _from(starts: set[str], imports: dict[str, set[str]]) -> set[str]:
    """Return the files and all that they import."""
    seen, queue = set(starts), list(starts)
    for path in queue:
        queue += imports[path] - seen
        seen |= imports[path]
    return seen


def reachable_files(scan: SourceScan, requirement_files: Iterable[str]) -> list[str]:
    """Return the paths of the files that the project's entry scripts reach by imports, in functions too."""
    folders = frozenset({"", *(_folder(path) for path in requirement_files)})
    if folders not in scan.reached:
        scan.reached[folders] = files_from(scan, _entries(scan, folders))
    return scan.reached[folders]


def files_from(scan: SourceScan, starts: Iterable[str]) -> list[str]:
    """Return the paths of files and of all that they reach by imports, in functions too."""
    queue = list(starts)
    seen = set(queue)
    for path in queue:
        for site in scan.imports(path):
            for target in _targets(site, scan):
                if target not in seen:
                    seen.add(target)
                    queue.append(target)
    return sorted(seen)
