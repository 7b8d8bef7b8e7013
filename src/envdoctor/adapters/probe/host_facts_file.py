"""Facts of another machine: the report of ``envdoctor host --format json``, or a file that somebody wrote by hand.

By hand, facts may be nested as one would write them: ``{"gpu": [{"name": "..."}], "driver": {"version": "580.97"}}``
means ``gpu[0].name`` and ``driver.version``; ``null`` means looked for and not there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from envdoctor.adapters.probe.card_names import architecture_of_amd_name, capability_of_name, vendor_of_name
from envdoctor.model.fact import Fact, Facts, FactState

__all__ = ["FactsFileError", "read_facts", "read_facts_file"]

_MAX_FACTS, _MAX_DEPTH, _MAX_BYTES = 5000, 8, 16 << 20
_SCALARS = (str, int, float, bool)
_FORMS = (
    (r"gpu\[\d+\]\.compute_capability", r"\d+\.\d", "a capability such as `9.0`"),
    (r"gpu\[\d+\]\.architecture", r"\d+\.\d|sm_\d+[af]?|gfx[0-9a-f]+(:[\w+:-]+)?", "such as `sm_90` or `gfx1030`"),
    (r"gpu\[\d+\]\.vendor", r"nvidia|amd|intel|apple|microsoft|qualcomm|other", "`nvidia`, `amd`, `intel` or `apple`"),
    (r"driver\.(version|cuda)|.+\.version", r"\d+(\.\d+)*\S*", "a version"),
    (r"os", r"windows|linux|macos", "`windows`, `linux` or `macos`"),
)
_LISTS = ("torch.arch_list",)


class FactsFileError(Exception):
    """A file of facts that is not one, with the line or the key path."""

    def __init__(self, name: str, where: str, message: str) -> None:
        super().__init__(f"{name}{f': {where}' if where else ''}: {message}")
        self.name = name
        self.where = where
        self.message = message


def read_facts_file(path: str | Path) -> Facts:
    """Read a file of facts. Raises FactsFileError."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise FactsFileError(str(path), "", error.strerror or str(error)) from None
    if len(data) > _MAX_BYTES:
        raise FactsFileError(str(path), "", "is larger than 16 MiB")
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return read_facts(data.decode(encoding), str(path))
    except UnicodeDecodeError:
        raise FactsFileError(str(path), "", "is not UTF-8 text") from None


def read_facts(text: str, name: str) -> Facts:
    """Read facts from JSON; ``name`` is the file's, for messages. Raises FactsFileError."""
    try:
        document = json.loads(text.removeprefix("\ufeff"))
    except (json.JSONDecodeError, RecursionError) as error:
        line = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        what = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
        raise FactsFileError(name, line, f"this is not JSON: {what}") from None
    if not isinstance(document, dict):
        raise FactsFileError(name, "", "a file of facts is a JSON object")
    if isinstance(document.get("facts"), list):
        found = [_of_report(item, f"facts[{index}]", name) for index, item in enumerate(document["facts"])]
    else:
        found = [_checked(key, value, name) for key, value in _flat(document, "", name, 0)]
    if not found:
        raise FactsFileError(name, "", "there is no fact in it")
    if len(found) > _MAX_FACTS:
        raise FactsFileError(name, "", f"there are more than {_MAX_FACTS} facts in it")
    return Facts([*_derived(found), *found])


def _of_report(item: object, where: str, name: str) -> Fact:
    if not isinstance(item, Mapping):
        raise FactsFileError(name, where, "a fact is an object")
    called, state = item.get("name"), item.get("state", "known")
    if not isinstance(called, str) or not called:
        raise FactsFileError(name, f"{where}.name", "a fact has a name")
    if state not in [choice.value for choice in FactState]:
        raise FactsFileError(name, f"{where}.state", "is none of `known`, `absent`, `unknown`")
    for key in ("source", "overridden_by", "reason"):
        if not isinstance(item.get(key), str | None):
            raise FactsFileError(name, f"{where}.{key}", "is not text")
    value = _checked(called, item.get("value"), name).value if state == "known" else None
    return Fact(
        called,
        FactState(state),
        value,
        item.get("source") or name,
        item.get("overridden_by"),
        item.get("reason"),
    )


def _flat(value: Any, key: str, name: str, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > _MAX_DEPTH:
        raise FactsFileError(name, key, "is nested too deeply")
    if isinstance(value, dict):
        for part, item in value.items():
            yield from _flat(item, f"{key}.{part}" if key else part, name, depth + 1)
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        for index, item in enumerate(value):
            yield from _flat(item, f"{key}[{index}]", name, depth + 1)
    elif value is None or isinstance(value, (*_SCALARS, list)):
        yield _named(key), value


def _named(key: str) -> str:
    """Return the fact that a short form means: one card without a list, ``driver`` for its version."""
    if key == "driver":
        return "driver.version"
    return re.sub(r"^gpu\.(?!count$)", "gpu[0].", key)


def _checked(key: str, value: Any, name: str) -> Fact:
    if value is None:
        return Fact(key, FactState.ABSENT, source=name)
    if key in _LISTS:
        value = value.split() if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise FactsFileError(name, key, "is not a list of text")
    if isinstance(value, list) and not all(isinstance(item, _SCALARS) for item in value):
        raise FactsFileError(name, key, "is not a list of plain values")
    if not isinstance(value, (*_SCALARS, list)):
        raise FactsFileError(name, key, "is not a plain value")
    for pattern, form, words in _FORMS:
        if re.fullmatch(pattern, key):
            value = _text(value)
            if not isinstance(value, str) or not re.fullmatch(form, value):
                raise FactsFileError(name, key, f"`{value}` is not {words}")
            break
    return Fact(key, FactState.KNOWN, value, name)


def _text(value: Any) -> Any:
    """Return a version that was written as a number as text."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return f"{value}.0" if isinstance(value, int) and value < 100 else str(value)


def _derived(facts: list[Fact]) -> Iterator[Fact]:
    """Yield what a card's name and capability mean; what the file says itself counts for more."""
    said = {fact.name for fact in facts}
    for fact in facts:
        match = re.fullmatch(r"(gpu\[\d+\]\.)(compute_capability|name)", fact.name)
        if match is None or fact.state is not FactState.KNOWN:
            continue
        if match[2] == "compute_capability":
            yield Fact(f"{match[1]}architecture", FactState.KNOWN, f"sm_{fact.value.replace('.', '')}", fact.source)
        elif not {f"{match[1]}compute_capability", f"{match[1]}architecture"} & said:
            yield from _of_name(match[1], str(fact.value), fact.source)


def _of_name(prefix: str, name: str, source: str) -> Iterator[Fact]:
    vendor, capability = vendor_of_name(name), capability_of_name(name)
    told = f"{source}: the card's name"
    if vendor is not None:
        yield Fact(f"{prefix}vendor", FactState.KNOWN, vendor, told)
    if vendor == "nvidia" and capability is not None:
        yield Fact(f"{prefix}compute_capability", FactState.KNOWN, capability, told)
        yield Fact(f"{prefix}architecture", FactState.KNOWN, f"sm_{capability.replace('.', '')}", told)
    elif vendor == "amd" and (architecture := architecture_of_amd_name(name)):
        yield Fact(f"{prefix}architecture", FactState.KNOWN, architecture, told)
