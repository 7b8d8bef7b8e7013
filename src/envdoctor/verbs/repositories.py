"""What lines name by a VCS URL: names and requirements come from the repository's own files, where those can be had."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from packaging.utils import canonicalize_name

from envdoctor.adapters.index.opening import AnyIndex
from envdoctor.model.compatibility import admitted_minors
from envdoctor.model.dataclass import dataclass
from envdoctor.model.index_url import bare_url
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import Group, Project, ReadingProblem, ReadingProblemKind, Repository
from envdoctor.model.requirement import GroupName, Requirement, RequirementKind, may_hold
from envdoctor.model.target import Target

__all__ = ["with_repositories"]

_MOST = 30
"""Repositories that are asked for one project."""
_DEEPEST = 4
_FILES = ("setup.cfg", "setup.py", "requirements.txt")


def with_repositories(project: Project, index: AnyIndex, target: Target) -> Project:
    """Return the project with what the repositories of its VCS URLs say: their names, and what they ask for.

    A line that could not be named stays a problem, with the reason.
    """
    if not any(_references(project)):
        return project
    work = _Work(index, target)
    named, problems = _named(project, work)
    lines = work.with_requirements(named.requirements)
    groups = tuple(replace(group, requirements=work.with_requirements(group.requirements)) for group in named.groups)
    unread = [text for text in project.unread if text not in {each.text for each in work.settled}]
    return replace(
        named,
        requirements=lines,
        groups=groups,
        problems=(*problems, *work.problems),
        unread=tuple(unread),
        described=tuple(work.known.items()),
    )


def _references(project: Project) -> Iterator[Requirement]:
    lines = [*project.requirements, *(line for group in project.groups for line in group.requirements)]
    yield from (line for line in lines if line.url is not None and _of_repository(line.url))
    yield from (each.nameless for each in project.problems if each.nameless is not None)


def _of_repository(url: str) -> bool:
    from envdoctor.adapters.index.repository_files import place_of

    return url.startswith(("git+", "git:")) or place_of(url) is not None


@dataclass(slots=True)
class _Work:
    """The repositories of one project, each asked once."""

    index: AnyIndex
    target: Target
    known: dict[str, Repository] = field(default_factory=dict)
    problems: list[ReadingProblem] = field(default_factory=list)
    settled: list[ReadingProblem] = field(default_factory=list)
    """Lines whose names are known now."""

    def repository(self, line: Requirement) -> Repository:
        """Return what the repository of a line says."""
        url = line.url or ""
        found = self.known.get(url)
        if found is None:
            if len(self.known) >= _MOST:
                return Repository(reason=f"more than {_MOST} repositories are named; the rest are not asked")
            found = self.known[url] = _read(self.index, line)
        return found

    def with_requirements(self, lines: Sequence[Requirement]) -> tuple[Requirement, ...]:
        """Return the lines, and behind them what the repositories among them ask for, and theirs."""
        found, waiting, done = list(lines), list(lines), set[tuple[str, frozenset[str]]]()
        environment = self.target.marker_environment()
        for _ in range(_DEEPEST):
            wanted = [
                line
                for line in waiting
                if line.url and line.kind is RequirementKind.REQUIRE and not line.no_deps and _of_repository(line.url)
                if may_hold(line.marker, environment) and (line.url, line.extras) not in done
            ]
            done |= {(line.url or "", line.extras) for line in wanted}
            waiting = [asked for line in wanted for asked in self._asked_by(line)]
            found += waiting
        return tuple(found)

    def _asked_by(self, line: Requirement) -> tuple[Requirement, ...]:
        repository = self.repository(line)
        pythons, name = repository.pythons, repository.name
        if name is not None and canonicalize_name(name) != line.name:
            self._refused(line, f"what lies there is called `{name}` and not `{line.name}`, so installers discard it")
        if pythons is not None and self.target.python not in admitted_minors(pythons):
            said = f"`{line.name}` requires Python `{pythons}`, and the target has {self.target.python_version}"
            self._refused(line, said)
        return repository.requirements

    def _refused(self, line: Requirement, message: str) -> None:
        assert isinstance(line.origin, FileOrigin)  # noqa: S101 - VCS URLs stand in files
        problem = ReadingProblem(ReadingProblemKind.INVALID_REQUIREMENT, line.origin, message, str(line))
        if problem not in self.problems:
            self.problems.append(problem)


def _named(project: Project, work: _Work) -> tuple[Project, list[ReadingProblem]]:
    """Return the project with the lines that have a name now, and the problems of those that have none."""
    problems: list[ReadingProblem] = []
    added: list[tuple[GroupName | None, Requirement]] = []
    for problem in project.problems:
        if problem.nameless is None:
            problems.append(problem)
            continue
        repository = work.repository(problem.nameless)
        if repository.name is None:
            why = f": {repository.reason}" if repository.reason else ""
            problems.append(replace(problem, message=f"{problem.message}{why}"))
            continue
        work.settled.append(problem)
        added.append((problem.group, replace(problem.nameless, name=canonicalize_name(repository.name))))
    main = [line for group, line in added if group is None]
    places = {(line.origin, line.url) for line in main}
    kept = [line for line in project.requirements if (line.origin, line.url) not in places]  # no guess of a name
    groups = {group.name: group for group in project.groups}
    for name, line in added:
        if name is not None:
            group = groups.get(name, Group(name))
            groups[name] = replace(group, requirements=(*group.requirements, line))
    return replace(project, requirements=(*kept, *main), groups=tuple(groups.values())), problems


def _read(index: AnyIndex, line: Requirement) -> Repository:
    """Return what the files of a repository say: pyproject.toml alone where that is enough."""
    from envdoctor.adapters.index.repository_files import RepositoryUnread
    from envdoctor.adapters.project import read_repository

    url = line.url or ""
    place = _place(url)
    try:
        files = index.repository_files(url, ("pyproject.toml",))
        found = read_repository(files, line, place)
        if found.reason or found.name is None:
            files |= index.repository_files(url, _FILES)
            found = read_repository(files, line, place)
    except RepositoryUnread as error:
        return Repository(reason=f"its repository could not be read: {error}")
    if found.name is None and not found.reason:
        return replace(found, reason="only a build would tell its name")
    return found


def _place(url: str) -> str:
    """Return the URL of a repository's folder, for people: without secrets."""
    bare = bare_url(url.removeprefix("git+"))
    folder = url.partition("subdirectory=")[2].partition("&")[0].strip("/")
    return f"{bare}/{folder}" if folder else bare
