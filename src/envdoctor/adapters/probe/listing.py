"""What people paste: the output of pip, uv, conda or torch's collect_env as an installed environment."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from envdoctor.adapters.probe.host_pastes import what_it_is
from envdoctor.adapters.probe.listing_conda import (
    is_conda_export,
    is_conda_text,
    read_conda_export,
    read_conda_json,
    read_conda_text,
)
from envdoctor.adapters.probe.listing_parts import (
    Listing,
    ListingError,
    lines_of,
    plain_text,
    platform_of_names,
    platform_of_paths,
    unboxed,
)
from envdoctor.adapters.probe.listing_pastes import (
    is_env_of_library,
    is_excerpt_of,
    is_finished_install,
    is_rows,
    is_show,
    is_tree,
    read_env_of_library,
    read_finished_install,
    read_rows,
    read_show,
    read_tree,
)
from envdoctor.adapters.probe.listing_pip import (
    is_columns,
    is_frozen,
    read_columns,
    read_freeze,
    read_inspect,
    read_pip_json,
)
from envdoctor.adapters.probe.listing_torch import (
    is_collect_env,
    read_collect_env,
)
from envdoctor.adapters.probe.program_reports import as_collect_env
from envdoctor.model.compatibility import not_judged
from envdoctor.model.environment import (
    EnvironmentKind,
    EnvironmentProblem,
    EnvironmentProblemKind,
    InstalledEnvironment,
)

__all__ = ["ListingError", "lists_too", "read_listing"]

_JSON_FIRST = re.compile(r"\{|\[\s*(?:[\[\]{\"]|$)")
"""A prompt, `[me@here ~]$ pip list`, and what a program says, `[START] scan`, begin with a bracket, too."""
_JSON_BEGIN = re.compile(r"^(?:\[\s*\{|\[\s*\]|\[\s*$|\{)", re.MULTILINE)


def read_listing(text: str, name: str) -> InstalledEnvironment:
    """Read ``text``, whatever of the known formats it is in; ``name`` is the file's, for messages.

    What such a text cannot tell stands in ``problems`` (kind ``not-known``). Raises ListingError, with the line,
    where it is none of the formats.
    """
    text = unboxed(plain_text(text))
    if not text.strip():
        raise ListingError(name, 1, "the file is empty")
    if "\0" in text:
        raise ListingError(name, 1, "this is not text")
    try:
        listing = _read(text, name)
    except ListingError as error:
        raise ListingError(name, error.line, f"{error.message}{_belongs(text)}") from None
    if not listing.distributions and not listing.conda_packages:
        raise ListingError(name, 1, "no installed distribution is listed in it")
    if not listing.told.platform:
        listing.set_platform(platform_of_names(listing) or platform_of_paths(text) or "")
    return _environment(listing, name, text)


def lists_too(text: str) -> bool:
    """Return whether a text that tells of a machine lists distributions, too, and no installer has made it."""
    if as_collect_env(text) is not None:
        return True
    return is_env_of_library(text) or (is_collect_env(text) and re.search(r"\[(?:pip3?|conda)\] \w", text) is not None)


def _belongs(text: str) -> str:
    """Return where a text belongs that is no listing; empty where that is not known."""
    if re.search(r"^\[\[packages?\]\]", text, re.MULTILINE):
        return "; a lock file says what is to be installed: it is checked as the project"
    if machine := what_it_is(text):
        return f"; what {machine} says of a machine is for `--facts`"
    if re.search(
        r"Traceback \(most recent|^(?=.*:)[^\S\n]*(?:[\w.]+)?(?:Error|Exception|ERROR|error)\b.*:", text, re.MULTILINE
    ):
        return "; a log is for `--log`"
    return ""


def _read(text: str, name: str) -> Listing:
    # `[pip3] numpy==1.26.4`, the end of a collect_env text, begins like JSON and is none.
    if is_collect_env(text):
        return read_collect_env(text, name)
    _, first = next(lines_of(text), (0, ""))
    if _JSON_FIRST.match(first):
        return _read_json(text, name)
    for is_it, read in _TEXTS:
        if is_it(text):
            return read(text, name)
    if not is_frozen(text) and (report := as_collect_env(text)) is not None:
        return read_collect_env(report, name)
    return read_freeze(text, name)


_TEXTS: tuple[tuple[Callable[[str], bool], Callable[[str, str], Listing]], ...] = (
    (is_conda_export, read_conda_export),
    (is_env_of_library, read_env_of_library),
    (is_conda_text, read_conda_text),
    (is_columns, read_columns),
    (is_show, read_show),
    (is_finished_install, read_finished_install),
    (is_tree, read_tree),
    (is_rows, read_rows),
)
"""Each format with the question whether a text is of it, the surest sign first."""


def _read_json(text: str, name: str) -> Listing:
    import json

    begin = _JSON_BEGIN.search(text)
    start = begin.start() if begin else len(text) - len(text.lstrip())
    try:
        document, end = json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise ListingError(name, error.lineno, f"this is not JSON: {error.msg}") from None
    except ValueError:
        raise ListingError(name, 1, "this is not JSON: a number of it has thousands of digits") from None
    except RecursionError:
        raise ListingError(name, 1, "this is not JSON: it is nested too deeply") from None
    for number, _line in lines_of(text[end:]):
        raise ListingError(name, text.count("\n", 0, end) + number, "this is not JSON: Extra data")
    if isinstance(document, dict) and isinstance(document.get("installed"), list):
        return read_inspect(document, name)
    if isinstance(document, list) and all(isinstance(item, dict) for item in document):
        rows: list[Mapping[str, object]] = document
        if any("build_string" in row or "dist_name" in row for row in rows):
            return read_conda_json(rows, name)
        return read_pip_json(rows, name)
    lines = document.get("Packages") if isinstance(document, dict) else None
    if isinstance(lines, list) and lines and all(isinstance(item, str) for item in lines):
        # The system information of a web UI for Stable Diffusion.
        listing = read_freeze("\n".join(lines), name)
        listing.set_python(str(document.get("Python", "")))
        system = re.match(r"Windows|Linux|macOS|Darwin", str(document.get("Platform", "")))
        listing.set_platform({"Windows": "win32", "Linux": "linux"}.get(system[0], "darwin") if system else "")
        return listing
    raise ListingError(name, 1, "this JSON is neither of `pip list`, `pip inspect` nor `conda list`")


def _environment(listing: Listing, name: str, text: str) -> InstalledEnvironment:
    problems = list(listing.problems)
    if not listing.has_requirements:
        detail = "what the distributions require"
        problems.append(EnvironmentProblem(EnvironmentProblemKind.REQUIREMENTS_NOT_TOLD, name, detail))
    not_told = EnvironmentProblemKind.NOT_TOLD
    unknown = [(not_told, "which files its distributions own")]
    partial = listing.partial or is_excerpt_of(text, [item.name for item in listing.distributions])
    if listing.python is None:
        unknown.append((EnvironmentProblemKind.PYTHON_NOT_TOLD, "the Python version"))
    if not listing.told.platform:
        unknown.append((EnvironmentProblemKind.SYSTEM_NOT_TOLD, "the operating system"))
    if partial:
        unknown.append((not_told, "the distributions that it leaves out"))
    return InstalledEnvironment(
        distributions=tuple(listing.distributions),
        source=listing.source,
        root=listing.root,
        python=listing.python,
        python_full=listing.python_full,
        kind=EnvironmentKind.LISTING,
        told=listing.told,
        partial=partial,
        conda_packages=tuple(listing.conda_packages),
        problems=(
            *problems,
            *not_judged(name, listing.python),
            *(EnvironmentProblem(kind, name, detail) for kind, detail in unknown),
        ),
    )
