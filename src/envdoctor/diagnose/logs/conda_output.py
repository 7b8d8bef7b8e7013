"""What conda, mamba, micromamba and pixi print where they find no solution."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from envdoctor.diagnose.logs.log_lines import LogLine
from envdoctor.diagnose.logs.resolver_failure import ResolverFailure, folded, in_log, of_conda, requirement_of
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.requirement import Requirement

__all__ = ["failures_of_conda"]

_MOST_LINES = 120
_TREE_HEAD = re.compile(r"The following packages? (?:are incompatible|could not be installed)")
_BRANCH = re.compile(r"^([│|\s]*)(?:[├└|`][─-]{1,2}|[+`]-) *(.*)")
_SPEC = r"[A-Za-z0-9_][\w.-]*(?: (?!is |would |but |does |which |conflicts |,)[^;\s]+)?"
_NOTHING_PROVIDES = re.compile(r"(?:- |Problem: )?nothing provides (?:requested )?(.+?)(?: needed by (\S+))?$")
_REQUIRES_BUT = re.compile(r"- package (\S+) requires (.+?), but none of the providers can be installed")
_LISTED = re.compile(
    r"(?:PackagesNotFoundError: The following packages are not"
    r" available|ResolvePackageNotFound:|PackagesNotFoundInChannelsError)"
)
_NO_CHANNEL = (
    "is in none of the channels that were asked",
    "name the channel that has it, or see under which name a channel has it",
)
_WITH_BUILD = re.compile(r"([\w.-]+?=+[^=\s]+)=+(\S+)")
_OF_ANOTHER_SYSTEM = (
    "leave the build behind the version out: it is of the system and channel on which the file was exported "
    "(`conda env export --no-builds`, or `--from-history`, writes none)"
)
_VIRTUAL = {
    "__cuda": "conda finds no NVIDIA driver: take the package's build for the CPU, install the driver, or set "
    "CONDA_OVERRIDE_CUDA (12.4, say) where the environment is for another machine",
    "__glibc": "the system's glibc is older than the package needs: take an older build, or a newer system",
    "__osx": "macOS is older than the package needs: take an older build, or a newer macOS",
}
"""What stands for the machine, and no channel has; conda, Managing virtual packages."""
_PIXI = re.compile(
    r"Cannot solve the request because of: (No candidates were found for )?(.+?)"
    r"(?: cannot be installed because there are no viable options.*|\.)?$"
)
_PIXI_LEAF = re.compile(r"(?:.* would require )?(?:[│|\s]*[├└][─-] )?(\S.*?), for which no candidates were found")
_BUILD = re.compile(r"([\w.-]+?)-(\d[^-]*)-[^-]+$")


def failures_of_conda(lines: Sequence[LogLine]) -> Iterator[ResolverFailure]:
    """Yield the refusals of conda, mamba, micromamba and pixi."""
    end = -1
    for at, line in enumerate(lines):
        if at < end:
            continue
        if _TREE_HEAD.search(line.text):
            end, found = _tree(lines, at)
            if found.core:
                yield found
        elif pixi := _PIXI.search(line.text):
            yield from _of_pixi(lines, at, pixi)
        elif line.text.startswith("UnsatisfiableError: "):
            yield from _classic(lines, at)
        elif _LISTED.search(line.text):
            yield from _listed(lines, at)
        elif nothing := _NOTHING_PROVIDES.match(line.text):
            yield from _without(line, nothing[1], nothing[2])
        elif (lacking := _REQUIRES_BUT.match(line.text)) and not _tree_follows(lines, at):
            why = f"needs `{lacking[2]}`, and none that can be installed gives it"
            yield from _single(line, _built(lacking[1], line), why, "take another version of one of the two")


def _of_pixi(lines: Sequence[LogLine], at: int, said: re.Match[str]) -> Iterator[ResolverFailure]:
    """Yield the first package that cannot be had, and the first that no channel has among what it needs."""
    line = lines[at]
    core = of_conda(" ".join(said[2].split()[:2]), in_log(line.number))
    if said[1]:
        yield from _single(line, core, *_NO_CHANNEL)
        return
    rows = lines[at + 1 : at + 40]
    leaves = ((row.number, found[1]) for row in rows if (found := _PIXI_LEAF.match(row.text)))
    end, leaf = next(leaves, (line.number, ""))
    why = f"cannot be installed: it needs `{leaf}`, which no channel has" if leaf else "cannot be installed"
    remedy = "take another version of it, or the channel that has what it needs"
    yield from (replace(item, end=end) for item in _single(line, core, why, remedy))


def _tree_follows(lines: Sequence[LogLine], at: int) -> bool:
    return any(_TREE_HEAD.search(item.text) for item in lines[at : at + 40])


def _single(line: LogLine, core: Requirement | None, why: str, remedy: str) -> Iterator[ResolverFailure]:
    if core is not None:
        yield ResolverFailure(line.number, line.number, line.text, (core,), (), why, remedy)


def _listed(lines: Sequence[LogLine], at: int) -> Iterator[ResolverFailure]:
    """Yield what stands in a list of packages that no channel has; of those that name their build, all as one."""
    rows = list(takewhile(lambda row: row.text.startswith("- "), lines[at + 1 : at + 400]))
    built = [(row, found) for row in rows if (found := _WITH_BUILD.fullmatch(row.text[2:].strip()))]
    named = {row.number for row, _ in built}
    for row in rows[:40]:
        if row.number not in named:
            yield from _single(row, of_conda(row.text[2:], in_log(row.number)), *_NO_CHANNEL)
    for row, found in built[:1]:
        others = len(built) - 1
        more = f" and {others} other{'s' if others > 1 else ''} are" if others else " is"
        why = f"in the build `{found[2]}`{more} in none of the channels that were asked"
        refused = _single(row, of_conda(found[1], in_log(row.number)), why, _OF_ANOTHER_SYSTEM)
        yield from (replace(item, end=max(named)) for item in refused)


def _without(line: LogLine, what: str, owner: str | None) -> Iterator[ResolverFailure]:
    if owner is None:
        yield from _single(line, of_conda(what, in_log(line.number)), *_NO_CHANNEL)
    else:
        name = what.split()[0]
        gives = "the machine does not give" if name.startswith("__") else "no channel has"
        remedy = _VIRTUAL.get(name, "name the channel that has it, or another version")
        yield from _single(line, _built(owner, line), f"needs `{what}`, which {gives}", remedy)


_OF_PYTHON = re.compile(r"- (.+?) -> python\[version='([^']*)'")
_YOUR_PYTHON = re.compile(r"Your python: (?:\S+::)?python=+([^\s=]+)")
_DISPUTED = re.compile(r"Package (\S+) conflicts for:")
_CHAIN = re.compile(r"([A-Za-z0-9_][\w.-]*(?:[=<>!~]=?[^\s\[]*)?(?:\[[^\]]*\])?)(?: -> .+)?$")


def _classic(lines: Sequence[LogLine], at: int) -> Iterator[ResolverFailure]:
    """Yield what conda's older solver says: what needs another Python, else who disputes the first package it names."""
    rows = lines[at : at + 400]
    python = next((found[1] for item in rows if (found := _YOUR_PYTHON.match(item.text))), "another one")
    for row in rows:
        if found := _OF_PYTHON.match(row.text):
            why = f"needs Python {found[2]}, and Python {python} is installed"
            remedy = "take another version of it, or make an environment with such a Python"
            yield from _single(row, of_conda(found[1], in_log(row.number)), why, remedy)
    start = next((number for number, item in enumerate(rows) if _DISPUTED.match(item.text)), None)
    if start is None:
        return
    core, demands = list[Requirement](), list[Requirement]()
    for row in rows[start + 1 :]:
        chain = _CHAIN.match(row.text)
        if chain is None or _DISPUTED.match(row.text):
            break
        asked = of_conda(chain[1], in_log(row.number))
        last = of_conda(row.text.rpartition(" -> ")[2], DistributionOrigin(asked.name, "")) if asked else None
        core += [asked] if asked else []
        demands += [last] if asked and last and " -> " in row.text else []
    words = " ".join(item.text for item in rows[start : start + 6])
    if core:
        end = rows[min(start + len(core), len(rows) - 1)].number
        yield ResolverFailure(lines[at].number, end, words, folded(core), tuple(demands))


def _built(text: str, line: LogLine) -> Requirement | None:
    """Return the requirement of ``torchaudio-2.7.0-py311_cpu``."""
    found = _BUILD.match(text)
    return requirement_of(f"{found[1]}=={found[2]}" if found else text, in_log(line.number))


def _tree(lines: Sequence[LogLine], at: int) -> tuple[int, ResolverFailure]:
    """Return where the tree ends, and what it says: what stands at its first level was asked for."""
    end, core, demands, words, top = at + 1, list[Requirement](), list[Requirement](), [lines[at].text], -1
    while end < len(lines) and end < at + _MOST_LINES:
        line = lines[end]
        branch = _BRANCH.match(" " * line.indent + line.text)
        if branch is None:
            break
        text, column = branch[2], len(branch[1])
        words.append(text)
        top = column if top < 0 else top
        asked = re.match(_SPEC, text)
        if asked and column == top and (item := of_conda(asked[0].rstrip(" ,;"), in_log(line.number))):
            core.append(item)
        elif asked and core:
            owner = core[-1]
            version = str(owner.specifier).removeprefix("==")
            item = of_conda(asked[0].rstrip(" ,;"), DistributionOrigin(owner.name, version))
            if item is not None and item.name != owner.name:
                demands.append(item)
        end += 1
    one = len(core) == 1
    why = " ".join(words[1:])[:200] if one else ""
    if one:
        why = "cannot be installed: " + re.sub(rf"^{_SPEC} +(?:is not installable because )?", "", why).rstrip(".;")
    number = lines[end - 1].number
    remedy = "take another version of it, or another channel" if one else ""
    return end, ResolverFailure(lines[at].number, number, " ".join(words), folded(core), tuple(demands), why, remedy)
