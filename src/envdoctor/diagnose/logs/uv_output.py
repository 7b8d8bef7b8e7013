"""What uv prints where it finds no solution."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from envdoctor.diagnose.logs.log_lines import LogLine
from envdoctor.diagnose.logs.resolver_failure import (
    ResolverFailure,
    demand_of,
    folded,
    in_log,
    is_disputed,
    requirement_of,
)
from envdoctor.model.index_url import bare_url, label_of
from envdoctor.model.requirement import Requirement

__all__ = ["failures_of_uv"]

_HEAD = re.compile(r"(?:[×x✗]|error:) No solution found when resolving|(?:╰─▶|`->|cause:)? ?Because ")
_TREE = re.compile(r"^(?:╰─▶|├─▶|`->|cause:|[│|×])\s*")
_CONCLUSION = re.compile(
    r",? we can conclude that .*?(?=\s(?:And )?[Bb]ecause |$)|we know from \(\d+\) that .*?(?=,|$)"
)
"""What follows from the rest: only what it follows from was said by somebody."""
_ASK = (
    r"(?<![\w.-])[A-Za-z0-9][\w.-]*(?:\[[\w, -]*\])?"
    r"(?:(?:==|>=|<=|~=|!=|<|>)[\w.*+!]+(?:, ?(?:==|>=|<=|~=|!=|<|>)[\w.*+!]+)*)?"
)
_ASKS = (
    rf"{_ASK}(?:(?:, and |, | and | or )(?!(?:all|you|your|we|only|there|the) ){_ASK}"
    r"(?![\w.*+!=<>~\[-])(?! depends?\b| has | was | needs | requires))*"
)
_ROOT = re.compile(rf"(?:you require|your (?:project|workspace) depends on)(?: one of:| all of:)? ({_ASKS})")
_OF_PACKAGE = re.compile(
    rf"(?:all versions of |all of: )?({_ASK}) (?:depends|depend) on (?:one of: |all of: )?({_ASKS})"
)
_NEEDS_PYTHON = re.compile(rf"({_ASK}) (?:requires|depends on) Python ?([<>=!~]+[\d.*]+(?:, ?[<>=!~]+[\d.*]+)*)")
_PYTHON = re.compile(r"the (?:requested|current) Python version \(([^)]+)\) does not satisfy Python")
_NO_WHEEL = re.compile(rf"({_ASK}) has no (?:usable )?wheels?(?: with a matching ([\w ]+?) tag \(e\.g\., `([^`]+)`\))?")
_NOT_COMPATIBLE = re.compile(
    rf"({_ASK}) (?:has no `[^`]+`-compatible wheels|is unusable because no wheels are available)"
)
_NO_VERSION = re.compile(rf"there (?:is|are) no versions? of ({_ASK})")
_NOT_FOUND = re.compile(rf"({_ASK}) was not found in (the package registry|the cache|the provided package locations)")
_ONLY = re.compile(rf"only (?:the following versions of )?({_ASK})(?: is| are|,| )(?:.{{0,400}}? )?available")
_HAVE = re.compile(
    r"(?:Wheels are available for|we only found wheels for) `[^`]+`"
    r" \([^)]*\) (?:on|with) the following ([\w ]+?): ((?:`[^`]+`(?:, )?)+)"
)
_LOCKED = re.compile(r"(?:error: )?Distribution [`']?([\w.-]+==[\w.+!]+)[^`']*[`']? can't be installed because ")
_OF_INDEX = re.compile(r"@ registry\+(\S+?)[`']")
_OF_TORCH = ("torch", "pytorch", "triton", "nvidia-")
_LOCKED_HINT = re.compile(
    r"hint: You're (?:using|on) (.{1,200}?), but .{0,400}? only has wheels "
    r"(?:with the following|for the following) ([\w ]+?): ((?:[`'][^`']+[`'](?:, )?)+)"
)


def failures_of_uv(lines: Sequence[LogLine]) -> Iterator[ResolverFailure]:
    """Yield uv's refusals."""
    at = 0
    while at < len(lines):
        if found := _LOCKED.match(lines[at].text):
            yield from _of_lock(found[1], lines[at : at + 12])
        if _HEAD.match(lines[at].text):
            end = _end(lines, at)
            # `torch{sys_platform == 'win32'}`: of which environment it is said does not change what is asked.
            words = re.sub(r"\{[^{}]*\}", "", " ".join(_TREE.sub("", item.text) for item in lines[at:end]))
            if "we can conclude that" in words:
                yield _read(words, lines[at].number, lines[end - 1].number)
            at = end
            continue
        at += 1


def _of_lock(pin: str, lines: Sequence[LogLine]) -> Iterator[ResolverFailure]:
    """Yield what uv says of a locked version that has no file for this Python or platform."""
    words = " ".join(item.text for item in lines)
    hint, core = _LOCKED_HINT.search(words), requirement_of(pin, in_log(lines[0].number))
    if core is None:
        return
    why, remedy = "has no wheel for this Python and platform", "take a version with such a wheel"
    if hint:
        why = f"has no wheel for {hint[1]}; wheels are there for {hint[3].strip(', ')}"
        remedy = f"take a {'Python' if 'Python' in hint[2] else 'platform'} that it has wheels for, or another version"
    elif (index := _OF_INDEX.search(words)) and label_of(index[1]) and not pin.startswith(_OF_TORCH):
        remedy = (
            f"bind {bare_url(index[1])} to torch and its companions alone (`explicit = true` in `[[tool.uv.index]]`, "
            "and `[tool.uv.sources]`), so that this comes from the usual index, and lock again"
        )
    if "+" in pin:
        remedy += "; a version with a build label is on its own index alone, and for some platforms"
    end = next((item.number for item in lines if hint and item.text.startswith("hint: ")), lines[0].number)
    yield ResolverFailure(lines[0].number, end, words, (core,), (), why, remedy)


def _end(lines: Sequence[LogLine], at: int) -> int:
    """Return where what belongs to the sentence ends: what uv goes on with is indented, or a hint."""
    end = at + 1
    while end < len(lines) and end < at + 200:
        text, said = lines[end].text, lines[end].text[:1] in "╰`├│"
        if not (said or lines[end].indent or text.startswith(("hint:", "And because", "Because"))):
            break
        end += 1
    return end


def _read(words: str, begin: int, end: int) -> ResolverFailure:
    sentence, _, hint = words.partition("hint:")
    origin = in_log(begin)
    sentence = sentence[max(0, sentence.find("Because")) :].strip()
    said = _CONCLUSION.sub(" ;", sentence)
    roots = [text for found in _ROOT.finditer(said) for text in _asked(found[1])]
    demands: list[Requirement] = []
    for found in _OF_PACKAGE.finditer(said):
        consumer, bound = _named(found[1])
        if not bound and not _is_of_all(said, found.start()):
            # A member of the workspace stands there without a version.
            roots += _asked(found[2])
            continue
        demands += filter(None, (demand_of(consumer, bound.removeprefix("=="), text) for text in _asked(found[2])))
    core = folded(filter(None, (requirement_of(text, origin) for text in roots)))
    demands = [item for item in demands if item.name != "python"]
    failure = ResolverFailure(begin, end, sentence, core, tuple(demands))
    why, remedy, about = _alone(said, hint)
    single = requirement_of(about, origin) if about is not None else None
    if single is None or (len(core) > 1 and is_disputed(failure)):
        return failure
    mine = tuple(item for item in core if item.name == single.name)
    if mine or not core:
        return replace(failure, core=mine or (single,), why=why, remedy=remedy)
    return replace(failure, why=f"cannot be met: it needs `{single.pep508}`, which {why}", remedy=remedy)


def _alone(said: str, hint: str) -> tuple[str, str, str | None]:
    """Return why one requirement cannot be met whatever the others say, what to do, and which; else None."""
    if _NEEDS_PYTHON.search(said):
        return _of_python(said)
    have = _HAVE.search(hint)
    there = f"; wheels are there for {have[2]}" if have else ""
    if found := _NO_WHEEL.search(said):
        kind = f"for this {found[2]} (`{found[3]}`)" if found[2] else "that can be used here"
        remedy = "take a version with a wheel for this Python and platform"
        if found[2] and have:
            other = "a Python" if "Python" in found[2] else "a platform"
            remedy = f"take {other} that it has wheels for ({have[2]}), or another version"
        return f"has no wheel {kind}{there}", remedy, found[1]
    if found := _NOT_COMPATIBLE.search(said):
        return "has no wheel for this Python and platform", "take a version with such a wheel", found[1]
    if found := _NO_VERSION.search(said):
        only = _ONLY.search(said)
        near = f"; there is `{only[1]}`" if only else ""
        return f"is no version that the index has{near}", "ask for a version that the index has", found[1]
    if found := _NOT_FOUND.search(said):
        where = {"the cache": "is not in the cache, and no index was asked"}.get(
            found[2], "is on none of the indexes that were asked"
        )
        remedy = "name the index that has it, or correct the name"
        return where, "let uv ask an index" if found[2] == "the cache" else remedy, found[1]
    if found := _ONLY.search(said):
        return (
            f"is met by no version that the index has: there is only `{found[1]}`",
            "ask for one that there is",
            _name(found[1]),
        )
    return "", "", None


def _name(text: str) -> str:
    return _named(text)[0]


def _of_python(said: str) -> tuple[str, str, str | None]:
    who, told = _NEEDS_PYTHON.search(said), _PYTHON.search(said)
    if who is None:
        return "", "", None
    asked = f", and Python {told[1]} was asked for" if told else ""
    remedy = "take a Python that it admits (and let `requires-python` say so), or another version of it"
    return f"needs Python {who[2].strip()}{asked}", remedy, who[1]


def _asked(text: str) -> list[str]:
    """Return the requirements of a list in a sentence."""
    return [item for item in re.findall(_ASK, text) if item not in ("and", "or", "Python")]


def _named(text: str) -> tuple[str, str]:
    found = re.match(r"([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?(.*)", text)
    return (found[1], found[2]) if found else (text, "")


def _is_of_all(said: str, at: int) -> bool:
    return said[at:].startswith(("all versions of ", "all of: ")) or said[:at].rstrip().endswith(
        ("all versions of", "all of:")
    )
