"""Facts of another machine: the report of ``envdoctor host --format json``, or a file that somebody wrote by hand.

By hand, facts may be nested as one would write them: ``{"gpu": [{"name": "..."}], "driver": {"version": "580.97"}}``
means ``gpu[0].name`` and ``driver.version``; ``null`` means looked for and not there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from math import isfinite
from typing import Any

from envdoctor.adapters.probe.cards import architecture_of_amd_name, capability_of_name, vendor_of_name
from envdoctor.adapters.probe.host_pastes import facts_of_paste
from envdoctor.adapters.probe.host_system import jetpack_of
from envdoctor.adapters.probe.host_values import ALWAYS_THERE, UnfitValue, closest, is_known_name, value_of
from envdoctor.model.fact import Fact, Facts, FactState

__all__ = ["FactsFileError", "read_facts", "unknown_names"]

_MAX_FACTS, _MAX_DEPTH = 5000, 8
_MOST_DIGITS = 20
_MOST_NOTES = 5


class FactsFileError(Exception):
    """A file of facts that is not one, with the line or the key path."""

    def __init__(self, name: str, where: str, message: str) -> None:
        super().__init__(f"{name}{f': {where}' if where else ''}: {message}")
        self.name = name
        self.where = where
        self.message = message


def read_facts(text: str, name: str) -> Facts:
    """Read facts from JSON, or from what a program says of a machine; ``name`` is the file's. Raises FactsFileError."""
    if not text.removeprefix("\ufeff").lstrip().startswith("{"):
        pasted = facts_of_paste(text)
        if pasted is not None:
            return pasted
        _refuse_paste(text, name)
    document = _document(text, name)
    if not isinstance(document, dict):
        raise FactsFileError(name, "", "a file of facts is a JSON object")
    if isinstance(document.get("facts"), list):
        found = [_of_report(item, f"facts[{index}]", name) for index, item in enumerate(document["facts"])]
    else:
        found = list(_by_hand(document, name))
    if not found:
        raise FactsFileError(name, "", "there is no fact in it")
    if len(found) > _MAX_FACTS:
        raise FactsFileError(name, "", f"there are more than {_MAX_FACTS} facts in it")
    if not any(is_known_name(fact.name) for fact in found):
        raise FactsFileError(
            name, found[0].name, f"is no fact, nor is anything else in the file{_meant(found[0].name)}"
        )
    return Facts([*_derived(found), *found])


def _refuse_paste(text: str, name: str) -> None:
    """Say what to give instead of a text that is neither JSON nor known. Raises FactsFileError."""
    one_value = re.fullmatch(r"[\[\"\d\W].*", text.strip()) is not None
    if one_value or not text.strip():
        # Some JSON, or nothing at all.
        return
    instead = ""
    if re.search(r"^[^\S\n]*(?:Package\s+Version\b|[A-Za-z0-9][\w.-]*==\d|# packages in)", text, re.MULTILINE):
        instead = "; a list of distributions is for `--installed`"
    elif re.search(r"Traceback \(most recent|^[^\S\n]*(?:\w+\.)*\w*(?:Error|Exception|ERROR)\b.*:", text, re.MULTILINE):
        instead = "; a log is for `--log`"
    raise FactsFileError(
        name,
        "line 1",
        "these are no facts of a machine: give what `envdoctor host --format json` writes, or the output of "
        f"nvidia-smi, rocminfo, hipInfo, dxdiag, lspci or torch's collect_env{instead}",
    )


def unknown_names(facts: Facts, name: str) -> list[str]:
    """Return a note for each fact that no rule of this version asks for, with the name that may have been meant.

    It is no fault: a machine's facts are mailed between versions, and one that a newer version measures says nothing
    wrong of the others. But a typo must not be lost in silence.
    """
    strange = [fact.name for fact in facts if not is_known_name(fact.name)]
    notes = [
        f"{name}: {item}: is no fact that is known here, and is passed over{_meant(item)}"
        for item in strange[:_MOST_NOTES]
    ]
    more = len(strange) - _MOST_NOTES
    return [*notes, f"{name}: {more} more names are no facts that are known here"] if more > 0 else notes


def _meant(name: str) -> str:
    meant = closest(name)
    return f"; did you mean `{meant}`?" if meant else ""


def _document(text: str, name: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if key in seen:
                raise FactsFileError(name, key, "stands twice in one object")
            seen[key] = value
        return seen

    def none_such(word: str) -> Any:
        raise FactsFileError(name, "", f"this is not JSON: `{word}` is no number")

    try:
        return json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=unique,
            parse_constant=none_such,
            parse_float=Decimal,
            parse_int=lambda digits: int(digits) if len(digits) <= _MOST_DIGITS else Decimal(digits),
        )
    except json.JSONDecodeError as error:
        raise FactsFileError(name, f"line {error.lineno}", f"this is not JSON: {error.msg}") from None
    except (RecursionError, ArithmeticError) as error:
        what = "it is nested too deeply" if isinstance(error, RecursionError) else "a number is too large"
        raise FactsFileError(name, "", f"this is not JSON: {what}") from None


def _by_hand(document: Mapping[str, Any], name: str) -> Iterator[Fact]:
    said: dict[str, Any] = {}
    for key, value in _flat(document, "", name, 0):
        fact = _checked(key, value, name)
        if said.setdefault(key, fact.value) != fact.value:
            raise FactsFileError(name, key, "is said twice, and not the same")
        yield fact


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
    if state == "known" and item.get("value") is None:
        raise FactsFileError(name, f"{where}.value", f"`{called}` is known and has no value")
    value = _checked(called, item.get("value"), name).value if state == "known" else None
    return Fact(
        called,
        FactState(state),
        value,
        item.get("source") or name,
        item.get("overridden_by"),
        item.get("reason"),
        timed_out=state == "unknown" and item.get("timed_out") is True,
    )


def _flat(value: Any, key: str, name: str, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > _MAX_DEPTH:
        raise FactsFileError(name, key, "is nested too deeply")
    if key == "gpu" and not isinstance(value, dict):
        value = _cards(value)
    if isinstance(value, dict):
        for part, item in value.items():
            yield from _flat(item, f"{key}.{part}" if key else part, name, depth + 1)
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        for index, item in enumerate(value):
            yield from _flat(item, f"{key}[{index}]", name, depth + 1)
    else:
        yield _named(key), value


def _cards(value: Any) -> Any:
    """Return the cards that are said in short: by their names alone, or that there are none."""
    if value is None or value == []:
        return {"count": None}
    if isinstance(value, list):
        return [item if isinstance(item, dict) else {"name": item} for item in value]
    return {"name": value}


def _named(key: str) -> str:
    """Return the fact that a short form means: one card without a list, ``driver`` for its version."""
    if key in ("driver", "python", "rocm", "torch"):
        return f"{key}.version"
    return re.sub(r"^gpu\.(?!count$)", "gpu[0].", key)


def _checked(key: str, value: Any, name: str) -> Fact:
    if value is None:
        if key in ALWAYS_THERE:
            return Fact(key, FactState.UNKNOWN, source=name, reason=f"{name} does not tell")
        return Fact(key, FactState.ABSENT, source=name)
    try:
        return Fact(key, FactState.KNOWN, value_of(key, value) if is_known_name(key) else _plain(value), name)
    except UnfitValue as error:
        raise FactsFileError(name, key, str(error)) from None


def _plain(value: Any) -> Any:
    """Return the value of a fact that is not known here, which may be any. Raises UnfitValue for an object."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, str | int | float | bool | Decimal):
        raise UnfitValue("is not a plain value")
    if not isinstance(value, Decimal):
        return value
    number = float(value)
    return number if isfinite(number) else str(value)


def _derived(facts: list[Fact]) -> Iterator[Fact]:
    """Yield what a card's name and capability and a Jetson's release mean; what the file says counts for more."""
    said = {fact.name for fact in facts}
    for fact in facts:
        if fact.name == "host.l4t" and "host.jetpack" not in said and (jetpack := jetpack_of(str(fact.value))):
            yield Fact("host.jetpack", FactState.KNOWN, jetpack, f"{fact.source}: the release of Jetson Linux")
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
