"""Listings that are no plain list: trees, `pip show`, `poetry show`, excerpts, what a Hugging Face library tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from envdoctor.adapters.probe.listing_conda import add_conda_row
from envdoctor.adapters.probe.listing_parts import Listing, distribution, lines_of
from envdoctor.install_words import left_by_installs
from envdoctor.model.environment import InstalledDistribution

__all__ = [
    "is_env_of_library",
    "is_excerpt_of",
    "is_finished_install",
    "is_rows",
    "is_show",
    "is_tree",
    "read_env_of_library",
    "read_finished_install",
    "read_rows",
    "read_show",
    "read_tree",
]

_NAME = r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"
_GLYPHS = re.compile(r"^[\s│├└─|+`\\-]*")
_NODE = re.compile(
    rf"({_NAME})(?:\[[\w, -]*\])?(?: v(\d\S*)|==(\d\S*)"
    r"| \[required: .*?, installed: (\d[^,\]]*)\]| (\d\S*) \[ required: .*)"
)
"""uv's, pipdeptree's and PDM's nodes."""
_ROOT = re.compile(rf"({_NAME}) (\d\S*)(?: |$)")
"""Poetry's packages, which stand at the left."""
_AROUND_A_TREE = re.compile(r"\(\*\)|Resolved \d|Using |\d+ packages?\b|-+$")
_CHOSEN = re.compile(r"\|\s*(?:grep|egrep|findstr|Select-String|sls|head|tail|awk|find)\b", re.IGNORECASE)
_NEEDED = {
    "torch": {"filelock", "typing-extensions", "sympy", "networkx", "jinja2", "fsspec"},
    "transformers": {"tokenizers", "safetensors", "huggingface-hub", "regex", "tqdm"},
    "torchaudio": {"torch"},
    "torchvision": {"torch"},
    "gradio": {"gradio-client", "fastapi", "pydantic"},
}
"""What each of these is never installed without; where all of it is missing, a list shows a choice."""


def is_excerpt_of(text: str, names: Sequence[str]) -> bool:
    """Return whether a listing shows a part of what is installed: its command chose, or nothing else could run."""
    if _CHOSEN.search(text):
        return True
    there = set(names)
    return any(name in there and not needed & there for name, needed in _NEEDED.items())


def is_tree(text: str) -> bool:
    """Return whether the text is a tree of uv, pipdeptree or PDM."""
    rows = [line for _, line in lines_of(text)]
    nodes = [row for row in rows if _NODE.match(_GLYPHS.sub("", row))]
    branches = any(row[:1] in "│├└|+`" for row in rows) or any(re.search(r"^\S+ v\d", row) for row in rows)
    branches = branches or any("[required: " in row for row in rows)
    roots = [row for row in rows if _ROW.match(row) and not _SENTENCE.match(row)]
    return branches and (len(nodes) * 2 > len(rows) or len(roots) + sum(row[0] in "│├└" for row in rows) == len(rows))


def read_tree(text: str, name: str) -> Listing:
    """Read each node once."""
    listing = Listing("a tree of packages")
    seen: set[str] = set()
    for number, line in lines_of(text):
        row = _GLYPHS.sub("", line)
        if _AROUND_A_TREE.match(row):
            continue
        found = _NODE.match(row) or (_ROOT.match(line) if row == line else None)
        if found is None:
            # Below a root Poetry tells what is asked for, not what is there.
            if row == line:
                listing.skip(name, number, line)
            continue
        version = next(item for item in found.groups()[1:] if item)
        item = distribution(found[1], version)
        if item is not None and item.name not in seen:
            seen.add(item.name)
            listing.distributions.append(item)
    return listing


_SHOWN = re.compile(r"^[^\S\n]*Name: (\S+)(?:[^\S\n]*\n){1,3}[^\S\n]*Version: (\S+)", re.MULTILINE)


def is_show(text: str) -> bool:
    """Return whether the text is of `pip show`, of one distribution or several."""
    return _SHOWN.search(text) is not None


def read_show(text: str, name: str) -> Listing:  # noqa: ARG001 - a reader's signature
    """Read the blocks of `pip show`: what it was asked for, and nothing else."""
    listing = Listing("pip show", partial=True)
    for block in re.split(r"^[^\S\n]*(?=Name: )", text, flags=re.MULTILINE):
        found = _SHOWN.match(block)
        item = distribution(found[1], found[2]) if found else None
        if item is None:
            continue
        location = re.search(r"^[^\S\n]*Location: (\S.*)$", block, re.MULTILINE)
        editable = re.search(r"^[^\S\n]*Editable project location: (\S.*)$", block, re.MULTILINE)
        place = location[1].strip() if location else ""
        if python := re.search(r"[/\\]python(\d\.\d+)[/\\]", place):
            listing.set_python(python[1])
        url = editable[1].strip() if editable else None
        listing.distributions.append(replace(item, location=place, editable=bool(editable), direct_url=url))
    return listing


_ROW = re.compile(rf"({_NAME})\s+(\(!\)\s+)?(\d[\w.+!-]*)(?:\s+(\S.*))?$")
_SENTENCE = re.compile(rf"{_NAME} \d\S* (?:has requirement|requires|is|was|does|and|or|with|from|needs|depends)\b")
"""What begins like a row and is none: `pip check`'s words, a person's."""
_CONDA_BUILD = re.compile(r"(?:py\d|pyh|h[0-9a-f]{6,}|cuda|\w+_)\S*_?\d*(?:\s|$)|pypi_\d")


def is_rows(text: str) -> bool:
    """Return whether the text has rows of names and versions without a heading: `poetry show`, an excerpt of a list."""
    rows = [line for _, line in lines_of(text)]
    if any(_SENTENCE.match(row) for row in rows):
        return False
    found = [row for row in rows if _ROW.match(row)]
    return bool(found) and len(found) * 5 >= len(rows) * 4


def read_rows(text: str, name: str) -> Listing:
    """Read `poetry show`, or rows of `pip list` or `conda list` that somebody cut out; those show a choice only."""
    found = [(number, line, match) for number, line in lines_of(text) if (match := _ROW.match(line))]
    rest = [match[4] or "" for _, _, match in found]
    described = sum(len(item.split()) > 2 for item in rest) * 2 >= len(rest)
    of_conda = not described and sum(_CONDA_BUILD.match(item) is not None for item in rest) * 2 > len(rest)
    source = "poetry show" if described else "conda list" if of_conda else "pip list"
    listing = Listing(source, partial=not described)
    for number, line in lines_of(text):
        match = _ROW.match(line)
        if match is None:
            listing.skip(name, number, line)
        elif of_conda:
            build, _, channel = (match[4] or "").partition(" ")
            add_conda_row(listing, match[1], match[3], build, channel.strip())
        elif not match[2] and (item := distribution(match[1], match[3])) is not None:
            # `(!)`: Poetry's mark of what is not installed.
            listing.distributions.append(item)
    return listing


_VERSION_ROW = re.compile(
    r"^[^\S\n]*- `?(?:\N{HUGGING FACE} )?([\w-]+)`?(?: version(?: \([^)]*\))?)?: (\d[^\s,]*)", re.MULTILINE
)
_LIBRARY = re.compile(
    r"^[^\S\n]*- `?(?:\N{HUGGING FACE} )?(?:transformers|Accelerate|diffusers|datasets)`? version: \d",
    re.MULTILINE | re.IGNORECASE,
)
_SYSTEMS = {"Windows": "win32", "macOS": "darwin", "Darwin": "darwin", "Linux": "linux"}
_NOT_DISTRIBUTIONS = frozenset({"python", "cuda", "platform", "ram"})


def is_env_of_library(text: str) -> bool:
    """Return whether the text is of `transformers env`, `accelerate env` or `diffusers-cli env`."""
    return _LIBRARY.search(text) is not None


def read_env_of_library(text: str, name: str) -> Listing:  # noqa: ARG001 - a reader's signature
    """Read the versions that it tells, a choice of what is installed."""
    listing = Listing("the env command of a library", partial=True)
    for called, version in _VERSION_ROW.findall(text):
        if called.lower() == "python":
            listing.set_python(version)
        item = distribution({"pytorch": "torch"}.get(called.lower(), called), version)
        if item is not None and called.lower() not in _NOT_DISTRIBUTIONS:
            listing.distributions.append(item)
    platform = re.search(r"^[^\S\n]*- Platform: (\S+)", text, re.MULTILINE)
    said = platform[1] if platform else ""
    machine = re.search(r"x86_64|AMD64|aarch64|arm64", said)
    word = re.match(r"Windows|macOS|Darwin|Linux", said)
    listing.set_platform(_SYSTEMS[word[0]] if word else "", machine[0].replace("AMD64", "x86_64") if machine else "")
    return listing


_INSTALLED = re.compile(r"^[^\S\n]*Successfully installed (\S.*)$", re.MULTILINE)


def is_finished_install(text: str) -> bool:
    """Return whether the text is the last line of `pip install`."""
    return _INSTALLED.search(text) is not None and not re.search(r"^[^\S\n]*Traceback \(|^ERROR: ", text, re.MULTILINE)


def read_finished_install(text: str, name: str) -> Listing:  # noqa: ARG001 - a reader's signature
    """Read what it has put in and not taken away again: a choice of what is there."""
    there, _ = left_by_installs(text)
    found = [InstalledDistribution(each, version, installer="pip") for each, version in there.items()]
    return Listing("pip install", distributions=found, partial=True)
