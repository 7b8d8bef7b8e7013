"""What people paste: the output of pip, uv, conda or torch's collect_env as an installed environment."""

from __future__ import annotations

import re
from collections.abc import Mapping

from envdoctor.adapters.probe.listing_conda import is_conda_text, read_conda_json, read_conda_text
from envdoctor.adapters.probe.listing_parts import Listing, ListingError, lines_of, platform_of_names, platform_of_paths
from envdoctor.adapters.probe.listing_pip import (
    is_columns,
    read_columns,
    read_freeze,
    read_inspect,
    read_pip_json,
)
from envdoctor.adapters.probe.listing_torch import (
    collect_env_fields,
    facts_of_collect_env,
    is_collect_env,
    read_collect_env,
)
from envdoctor.model.environment import EnvironmentKind, EnvironmentProblem, InstalledEnvironment, ProblemKind
from envdoctor.model.fact import Facts

__all__ = ["ListingError", "facts_of_listing", "read_listing"]

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
"""ANSI sequences: a terminal's colours, and the titles that shells set."""
_JSON_BEGIN = re.compile(r"^(?:\[\s*\{|\[\s*\]|\[\s*$|\{)", re.MULTILINE)


def read_listing(text: str, name: str) -> InstalledEnvironment:
    """Read ``text``, whatever of the known formats it is in; ``name`` is the file's, for messages.

    What such a text cannot tell stands in ``problems`` (kind ``not-known``). Raises ListingError, with the line,
    where it is none of the formats.
    """
    text = _plain(text)
    if not text.strip():
        raise ListingError(name, 1, "the file is empty")
    if "\0" in text:
        raise ListingError(name, 1, "this is not text")
    listing = _read(text, name)
    if not listing.distributions and not listing.conda_packages:
        raise ListingError(name, 1, "no installed distribution is listed in it")
    if not listing.told.platform:
        listing.set_platform(platform_of_names(listing) or platform_of_paths(text) or "")
    return _environment(listing, name)


def facts_of_listing(text: str) -> Facts:
    """Return what torch's collect_env text says of the machine; other listings say nothing of it."""
    text = _plain(text)
    return facts_of_collect_env(collect_env_fields(text)) if is_collect_env(text) else Facts()


def _plain(text: str) -> str:
    return _COLOUR.sub("", text.removeprefix("\ufeff"))


def _read(text: str, name: str) -> Listing:
    # `[pip3] numpy==1.26.4`, the end of a collect_env text, begins like JSON and is none.
    if is_collect_env(text):
        return read_collect_env(text, name)
    _, first = next(lines_of(text), (0, ""))
    if first.startswith(("{", "[")):
        return _read_json(text, name)
    if is_conda_text(text):
        return read_conda_text(text, name)
    if is_columns(text):
        return read_columns(text, name)
    return read_freeze(text, name)


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
    raise ListingError(name, 1, "this JSON is neither of `pip list`, `pip inspect` nor `conda list`")


def _environment(listing: Listing, name: str) -> InstalledEnvironment:
    problems = list(listing.problems)
    if not listing.has_requirements:
        detail = "what the distributions require"
        problems.append(EnvironmentProblem(ProblemKind.REQUIREMENTS_NOT_TOLD, name, detail))
    unknown = ["which files they own"]
    if listing.python is None:
        unknown.append("the Python version")
    if not listing.told.platform:
        unknown.append("the operating system")
    if listing.partial:
        unknown.append("distributions that it leaves out")
    return InstalledEnvironment(
        distributions=tuple(listing.distributions),
        source=listing.source,
        root=listing.root,
        python=listing.python,
        python_full=listing.python_full,
        kind=EnvironmentKind.LISTING,
        told=listing.told,
        conda_packages=tuple(listing.conda_packages),
        problems=(*problems, *(EnvironmentProblem(ProblemKind.NOT_TOLD, name, detail) for detail in unknown)),
    )
