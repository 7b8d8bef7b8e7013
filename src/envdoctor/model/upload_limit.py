"""Until when a file may have been uploaded, as uv and pip take it (``exclude-newer``, ``uploaded-prior-to``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import date, datetime, time, timedelta, timezone

from packaging.utils import NormalizedName

from envdoctor.model.dataclass import dataclass

__all__ = [
    "PIPS_LIMIT",
    "UVS_LIMIT",
    "UVS_LIMIT_OF_INDEX",
    "UVS_LIMIT_OF_PACKAGE",
    "UVS_LIMIT_UNREAD",
    "UploadLimit",
    "UploadLimits",
    "is_of_one",
    "limit_text",
    "limits_of_table",
    "pips_first_too_new",
    "utc_text",
    "uvs_first_too_new",
    "without_quotes",
]

UVS_LIMIT = "exclude-newer"
UVS_LIMIT_OF_PACKAGE = "exclude-newer-package"
UVS_LIMIT_OF_INDEX = "exclude-newer of an index"
UVS_LIMIT_UNREAD = "exclude-newer-package of an index"
"""Of some packages on one index."""
PIPS_LIMIT = "uploaded-prior-to"
_NONE = "false"
_UNITS = {
    "weeks": r"w|wks?|weeks?",
    "days": r"d|days?",
    "hours": r"h|hrs?|hours?",
    "minutes": r"m|mins?|minutes?",
    "seconds": r"s|secs?|seconds?",
}
_NUMBER, _FRACTION = r"\d{1,9}", r"\d{1,9}(?:[.,]\d{1,9})?"
_FRIENDLY = re.compile(
    r"[+-]?"
    + "".join(
        rf"(?:(?P<{unit}>{_FRACTION if unit in ('hours', 'minutes', 'seconds') else _NUMBER})\s*(?:{words}),?\s*)?"
        for unit, words in _UNITS.items()
    )
    + rf"(?:(?P<h>{_NUMBER}):(?P<m>\d\d):(?P<s>\d\d(?:[.,]\d{{1,9}})?)\s*)?(?:ago\s*)?",
    re.ASCII,
)
_ISO = re.compile(
    rf"[+-]?P(?:(?P<weeks>{_NUMBER})W)?(?:(?P<days>{_NUMBER})D)?"
    rf"(?:T(?:(?P<hours>{_FRACTION})H)?(?:(?P<minutes>{_FRACTION})M)?(?:(?P<seconds>{_FRACTION})S)?)?",
    re.I | re.ASCII,
)
_MOMENT = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d|\d{8})"
    r"(?:[Tt ](?P<time>\d\d(?::?\d\d(?::?\d\d(?:[.,]\d{1,9})?)?)?)(?P<offset>[Zz]|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_PIPS_DAYS = re.compile(r"P([0-9]+)D")


@dataclass(frozen=True, slots=True)
class UploadLimit:
    """One limit, and who sets it."""

    first_too_new: str
    """``YYYY-MM-DDTHH:MM:SS`` (UTC); empty where every file is admitted."""
    name: str
    """The option or setting, as it is written."""
    place: str = ""
    """The file or variable that sets it; empty for an option that was typed."""

    @property
    def way_out(self) -> str:
        """What lets in what it leaves out."""
        return "set a later date there" if self.place else "give a later date"

    def __str__(self) -> str:
        return f"`{self.name}` ({self.place})" if self.place else f"`{self.name}`"


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """All that hold: a package's own goes before its index's, and that before the one for everything."""

    everywhere: UploadLimit | None = None
    packages: Mapping[NormalizedName, UploadLimit] = field(default_factory=dict, hash=False)
    indexes: Mapping[str, UploadLimit] = field(default_factory=dict, hash=False)
    """By the index's name."""

    def of(self, name: NormalizedName, index: str) -> UploadLimit | None:
        """Return what holds for the files of a package on an index, None where every one is admitted."""
        limit = self.packages.get(name) or self.indexes.get(index) or self.everywhere
        return limit if limit is not None and limit.first_too_new else None

    def __bool__(self) -> bool:
        return bool(self.everywhere or self.packages or self.indexes)


def limit_text(value: object) -> str | None:
    """Return what stands in uv's files as the text that its options take, None for what cannot stand there."""
    if isinstance(value, dict):
        value = value.get("span") or value.get("timestamp")
    if value is False:
        return _NONE
    return value if isinstance(value, str) and value != _NONE else None


def without_quotes(value: object) -> str:
    """Return what to say of a date that TOML reads as one of its own, where uv takes a text; empty for other values."""
    return "; write it in quotes" if isinstance(value, (date, time)) else ""


def is_of_one(kind: str, of: str) -> bool:
    """Return whether what a limit is said to hold for can be a package's name, or an index's URL."""
    pattern = r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?" if kind == UVS_LIMIT_OF_PACKAGE else r"\S*"
    return re.fullmatch(pattern, of, re.ASCII) is not None


def limits_of_table(table: Mapping[str, object]) -> Iterator[tuple[tuple[str | int, ...], str, str, object]]:
    """Yield what a table of uv's says: key path, kind, the package or the index's URL, and what stands there."""
    if UVS_LIMIT in table:
        yield (UVS_LIMIT,), UVS_LIMIT, "", table[UVS_LIMIT]
    packages = table.get(UVS_LIMIT_OF_PACKAGE, {})
    if not isinstance(packages, dict):
        yield (UVS_LIMIT_OF_PACKAGE,), UVS_LIMIT_OF_PACKAGE, "", packages
    for name, value in packages.items() if isinstance(packages, dict) else ():
        yield (UVS_LIMIT_OF_PACKAGE, name), UVS_LIMIT_OF_PACKAGE, name, value
    entries = table.get("index")
    for at, entry in enumerate(entries if isinstance(entries, list) else []):
        for key, kind in ((UVS_LIMIT, UVS_LIMIT_OF_INDEX), (UVS_LIMIT_OF_PACKAGE, UVS_LIMIT_UNREAD)):
            if isinstance(entry, dict) and isinstance(entry.get("url"), str) and key in entry:
                yield ("index", at, key), kind, entry["url"], entry[key]


def uvs_first_too_new(text: str, now: datetime) -> str:
    """Return the first moment that is too new by what uv takes, empty for ``false``: every file is admitted.

    A date takes in that whole day where this machine is, as does a time without its offset from UTC, whose hours uv
    does not look at; a duration is taken from ``now``. Raises ValueError, with what is read.
    """
    if text == _NONE:
        return ""
    try:
        moment = _moment(text) or _before(text.rstrip(), now)
        first = utc_text(moment) if moment is not None else ""  # Near the years 1 and 9999 it may be none.
    except (ValueError, OverflowError, OSError):
        first = ""
    if not first:
        raise ValueError(
            "it takes a date, a time with its offset from UTC, or weeks, days, hours, minutes and seconds, such as "
            "`2026-01-31`, `2026-01-31T00:00:00Z`, `1 week` or `P7D`"
        )
    return first


def pips_first_too_new(text: str, now: datetime) -> str:
    """Return the first moment that is too new by what pip takes: a date is the day's start, where this machine is.

    Raises ValueError, with what is read.
    """
    days = _PIPS_DAYS.fullmatch(text)
    try:
        if days is not None:
            return utc_text(now - timedelta(days=int(days[1])))
        moment = datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith("Z") else text)
        return utc_text(moment.astimezone(timezone.utc))
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            "it takes a date or time of ISO 8601, or whole days, such as `2026-01-31`, `2026-01-31T00:00:00Z` or `P7D`"
        ) from None


def utc_text(moment: datetime) -> str:
    """Return ``YYYY-MM-DDTHH:MM:SS``: whole seconds in UTC compare as text with an index's upload times."""
    return moment.astimezone(timezone.utc).replace(tzinfo=None).isoformat(timespec="seconds")


def _moment(text: str) -> datetime | None:
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    day, clock, offset = match["date"].replace("-", ""), match["time"] or "", match["offset"]
    clock = re.sub(r"[:.,]", "", clock)[:6].ljust(6, "0")
    moment = datetime.strptime(f"{day} {clock}", "%Y%m%d %H%M%S")  # noqa: DTZ007 - the zone is told apart
    if not offset:
        return (moment.replace(hour=0, minute=0, second=0) + timedelta(days=1)).astimezone()
    digits = offset[1:].replace(":", "").ljust(4, "0")
    east = timedelta(hours=int(digits[:2]), minutes=int(digits[2:])) if offset not in "Zz" else timedelta()
    return moment.replace(tzinfo=timezone(-east if offset[0] == "-" else east))


def _before(text: str, now: datetime) -> datetime | None:
    match = _ISO.fullmatch(text) or _FRIENDLY.fullmatch(text)
    found = {key: float(value.replace(",", ".")) for key, value in match.groupdict().items() if value} if match else {}
    if not found:
        return None
    clock = timedelta(hours=found.pop("h", 0), minutes=found.pop("m", 0), seconds=found.pop("s", 0))
    return now - timedelta(**found) - clock
