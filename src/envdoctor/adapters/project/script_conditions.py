"""What the conditions and labels of a script say of the target that is judged."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence

from envdoctor.adapters.project.shell_words import Command
from envdoctor.model.dataclass import dataclass

__all__ = ["JudgedFor", "compared", "looks_for_card", "of_other_choices", "pythons_of"]

_SYSTEMS = (
    ("darwin", re.compile(r"darwin|macos|\bosx\b", re.I)),
    ("win32", re.compile(r"msys|mingw|cygwin|windows|win32|\bnt\b", re.I)),
    ("linux", re.compile(r"linux|ubuntu|debian", re.I)),
)
_MACHINES = (
    ("x86_64", re.compile(r"x86_64|amd64|\bx64\b", re.I)),
    ("aarch64", re.compile(r"aarch64|arm64|armv8", re.I)),
)
_CARDS = (
    ("cuda", re.compile(r"nvidia-smi|/dev/nvidia", re.I)),
    ("rocm", re.compile(r"rocminfo|rocm-smi|amd-smi|/opt/rocm|/dev/kfd", re.I)),
    ("xpu", re.compile(r"xpu-smi|sycl-ls", re.I)),
)
"""What is there where a maker's card is."""
_BACKENDS = (
    ("cuda", re.compile(r"cuda[\d.]*|nvidia|cu\d{2,3}|geforce", re.I)),
    ("rocm", re.compile(r"rocm[\d.]*|hip|amd|radeon", re.I)),
    ("xpu", re.compile(r"xpu|ipex", re.I)),
    ("mps", re.compile(r"mps|metal", re.I)),
    ("cpu", re.compile(r"cpu", re.I)),
)
_OF_PYTORCH = re.compile(r"/whl/(?:nightly/|test/)?(cu\d{2,3}|rocm[\d.]*|xpu|cpu)\b")
_OF_WHEEL = re.compile(r"-cp(3)([0-9]{1,2})-cp3")
"""A wheel for one Python."""
_ALONE = frozenset({"cuda", "rocm", "xpu", "cpu"})
"""Backends whose builds are no other's: ZLUDA takes those for CUDA, and a Mac has one build for all."""
_BUILDS_OF = {"zluda": "cuda", "directml": "cpu", "mps": "cpu", "coreml": "cpu"}
"""And of others whose they take."""
_EQUALS = re.compile(
    r"(?:(?<![=!<>~])(?:=~|={1,2})|\s-i?(?:eq|like|match)\s|\sequ\s)\s*[\"'*]*([\w.+|-]+)[\"'*]*(?=[\s\])}]|$)"
    r"|\bgrep\s+(?:-[a-uw-zA-Z]+\s+)*[\"'*]*([\w.+|\\-]+)",
    re.I,
)
_FILE = re.compile(r"\bexist\b|(?:^|\s)-[a-zL]\s|\btest-path\b", re.I)
"""A question for a file, whose name says nothing of the machine."""
_FLAG = re.compile(
    r"(?:[$%]\{?(?:env:)?|\bdefined\s+)(?P<name>\w+)[%}\"']*"
    r"(?:\s{0,9}(?:={1,2}|-i?eq|\bequ)\s{0,9}[\"']?\$?(?P<value>\w+)|[\s)\]]*$)",
    re.I,
)
"""A variable that is asked whether it is there, or true."""
_YES, _NO = frozenset({"1", "true", "yes", "y", "on"}), frozenset({"0", "false", "no", "n", "off"})
_WITHOUT = frozenset({"no", "not", "without", "skip", "disable"})
_WORDS = re.compile(r"[_\W]+|(?<=[a-z0-9])(?=[A-Z])")
_PLAIN = re.compile(r"\s*(?:\[\[?|test) (?P<one>[\w.-]+) (?P<sign>!=|={1,2}) (?P<other>[\w.-]+)(?: \]\]?)?\s*$")
"""A test in which the values of all variables are known."""
_TURNED = re.compile(r"!|\bnot(?:like|match)?\b|-i?ne\b|\bneq\b|-z\b", re.I)
_OR, _AND = re.compile(r"\|\||\s-or?\s", re.I), re.compile(r"&&|\s-a(?:nd)?\s", re.I)


@dataclass(frozen=True, slots=True)
class JudgedFor:
    """What the conditions of a script are held against; empty where it is not known."""

    platform: str = ""
    """``sys_platform`` of the target."""
    backend: str = ""
    """What runs the tensors there."""
    machine: str = ""
    """Its ``platform_machine``."""
    python: str = ""
    """Its ``python_version``."""

    @classmethod
    def of(cls, environment: Mapping[str, str] | None, backend: str) -> JudgedFor:
        """Return what the environment of the markers says."""
        platform, machine, python = (
            (environment or {}).get(name, "") for name in ("sys_platform", "platform_machine", "python_version")
        )
        return cls(platform, backend, machine, python)

    def may_have(self, condition: str) -> bool:
        """Return whether a condition may hold: it asks for no other system, processor or maker's card alone."""
        return any(all(self._may_be(one) for one in _AND.split(part)) for part in _OR.split(condition))

    def _may_be(self, asked: str) -> bool:
        turned = _TURNED.search(asked) is not None
        backend = self.backend if self.backend in _ALONE else ""
        of_file = _FILE.search(asked) is not None
        systems, machines = ((), ()) if of_file else (_SYSTEMS, _MACHINES)
        for own, kinds in ((self.platform, systems), (_kind(self.machine), machines), (backend, _CARDS)):
            named = {name for name, words in kinds if words.search(asked)}
            if own and named and (own in named) is turned:
                return False
        named, says_no = _flagged(asked)
        if backend and named and (backend in named) is (turned is not says_no):
            return False
        backends = _backends(compared(asked))
        if backend and backends:
            return backend in backends
        plain = _PLAIN.match(asked)
        return plain is None or (plain["one"] == plain["other"]) is (plain["sign"] != "!=")

    def is_served(self, commands: str) -> bool:
        """Return whether commands install not only builds for other makers' cards, or wheels for other Pythons."""
        pythons = pythons_of(commands)
        if self.python and pythons and self.python not in pythons:
            return False
        backends = _backends(_OF_PYTORCH.findall(commands))
        own = self.backend if self.backend in _ALONE else _BUILDS_OF.get(self.backend)
        return own is None or not backends or own in backends

    def is_named(self, label: str) -> bool | None:
        """Return whether the words of a label name the target's backend, None where they name none."""
        backends = _backends(_WORDS.split(label))
        return self.backend in backends if backends and self.backend in _ALONE else None


def _flagged(asked: str) -> tuple[set[str], bool]:
    """Return the backends in the name of a variable that is asked whether it is true, and whether it is to be false."""
    match = _FLAG.search(asked)
    value = (match["value"] or "").lower() if match is not None else ""
    if match is None or (value and value not in _YES and value not in _NO):
        return set(), False
    words = _WORDS.split(match["name"].lower() if "_" in match["name"] else match["name"])
    named = _backends(words) | ({"cuda", "rocm", "xpu"} if "gpu" in map(str.lower, words) else set())
    return named, (value in _NO) is not any(word.lower() in _WITHOUT for word in words)


def looks_for_card(command: str) -> bool:
    """Return whether a command succeeds only where a maker's card is."""
    return any(words.search(command) for _, words in _CARDS)


def pythons_of(wheels: str) -> set[str]:
    """Return the Pythons for which the wheels in a text are, of those that are for one alone."""
    return {f"{major}.{minor}" for major, minor in _OF_WHEEL.findall(wheels)}


def _kind(machine: str) -> str:
    return next((name for name, words in _MACHINES if words.search(machine)), "")


def _backends(words: Iterable[str]) -> set[str]:
    return {name for said in words for name, pattern in _BACKENDS if pattern.fullmatch(said.strip("-"))}


def compared(condition: str) -> Sequence[str]:
    """Return what a condition asks a value to be: the patterns of a `case`, or what `=` is followed by."""
    if _TURNED.search(condition) or _OR.search(condition):
        return ()
    first, _, last = condition.strip().rpartition(" in ")
    if first.startswith("$") or not re.search(r"[\s=]", last):
        return [pattern.strip("*") for pattern in last.split("|")]
    return [one.strip("\\") for told in _EQUALS.findall(condition) for text in told for one in text.split("|")]


_ASKED = re.compile(
    r"^(?:\[\[?|test) \$\{?(?P<posix>\w+)\}? (?:={1,2}|-eq) (?P<is_posix>[\w.+-]+)(?: \]\]?)?$"
    r"|^\s*(?:else\s+)?if\s+(?:/i\s+)?\"?[%!](?P<cmd>\w+)[%!]\"?\s*(?:==|\bequ\b)\s*\"?(?P<is_cmd>[\w.+-]+)\"?(?=\s|$)"
    r"|^\s*(?:else\s*)?if\s*\(\s*\$(?P<ps>\w+)\s+-i?eq\s+[\"']?(?P<is_ps>[\w.+-]+)[\"']?\s*\)\s*$",
    re.I,
)
"""A variable that is compared with one value."""
_TAKES_ANEW = frozenset({"read", "set"})
_NAME = re.compile(r"\$?(?P<name>\w+)")


def of_other_choices(
    listed: Sequence[Command],
    installs: Sequence[int],
    conditions: Sequence[Sequence[str]],
    blocks: Sequence[Collection[int]],
    target: JudgedFor,
) -> set[int]:
    """Return the installs for another value of a variable than one for which something is installed.

    ``conditions``: what is asked before each install, and ``blocks`` where: branches of one are no matter of this. The
    first one for the target counts.
    """
    conditions = [[one.strip() for said in each for one in _parts(said)] for each in conditions]
    all_said = {said for each in conditions for said in each}
    found = {said: match for said in all_said if (match := _ASKED.match(said))}
    asked = [[found[said] for said in each if said in found] for each in conditions]
    if sum(map(bool, asked)) < 2:
        return set()
    set_at, looped = _set_at(listed), _looped(listed)
    values: list[dict[tuple[str, int], str]] = []
    for at, matches in zip(installs, asked, strict=True):
        named = {(one["posix"] or one["cmd"] or one["ps"]).lower(): one for one in matches}
        values.append(
            {
                (name, bisect_left(set_at.get(name, ()), at)): one["is_posix"] or one["is_cmd"] or one["is_ps"]
                for name, one in named.items()
                if name not in looped and not (name.isdecimal() and "shift" in looped)
            }
        )
    order = range(len(installs))
    said = [" ".join(word.text for word in listed[at].words) for at in installs]
    unfit = {one for one in all_said if not target.may_have(one)}
    fits = [unfit.isdisjoint(conditions[n]) and target.is_served(said[n]) for n in order]
    chosen: dict[tuple[str, int], tuple[str, Collection[int]]] = {}
    others: set[int] = set()
    for number in sorted(order, key=lambda n: not fits[n]):
        before = [(chosen[key], value) for key, value in values[number].items() if key in chosen]
        if any(one != value and set(blocks[number]).isdisjoint(where) for (one, where), value in before):
            others.add(installs[number])
        else:
            for key, value in values[number].items():
                chosen.setdefault(key, (value, blocks[number]))
    return others


def _parts(condition: str) -> Sequence[str]:
    """Return what has to hold, all of it, for a condition to hold."""
    return [condition] if _OR.search(condition) else _AND.split(condition)


def _set_at(listed: Sequence[Command]) -> dict[str, list[int]]:
    """Return by variable the commands that may give it another value."""
    found: dict[str, list[int]] = {}
    for at, command in enumerate(listed):
        texts = [word.text.lower() for word in command.words]
        names = [text.partition("=")[0] for text in texts if "=" in text or not _TAKES_ANEW.isdisjoint(texts[:2])]
        names += texts[:1] if texts[1:2] == ["="] else []
        for name in {match["name"] for text in names if (match := _NAME.match(text))}:
            found.setdefault(name, []).append(at)
    return found


def _looped(listed: Sequence[Command]) -> set[str]:
    """Return the variables that loops give one value after the other, and `shift` where that is used."""
    texts = [[word.text.lower() for word in command.words[:2]] for command in listed]
    found = {name for first, *rest in texts for name in rest if first in ("for", "select")}
    found |= {first.lstrip("$") for first, *rest in texts if rest == ["in"]}
    return found | {"shift" for each in texts if "shift" in each}
