"""A log's lines without what terminals, loggers and containers put around them."""

from __future__ import annotations

import re

from envdoctor.model.dataclass import dataclass

__all__ = ["EXCEPTIONS", "SEAM", "LogLine", "lines_of_log", "plain"]

# ECMA-48, 5.4: parameters, intermediates, final byte; xterm's choice of a character set ends what `tput sgr0` writes.
_COLOUR = re.compile(
    r"(?:\x1b|\^\[|\\033|\\x1b|\\u001b|\u241b)\[[0-?]*[ -/]*[@-~]|\x1b[()*+][0-9A-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
)
"""The escape itself, or what editors and JSON write for it."""
_WRITTEN_ESCAPES = ("^[[", "\\033[", "\\x1b[", "\\u001b[", "\u241b[")
_TYPOGRAPHY = {ord(mark): "'" for mark in "\u2018\u2019\u201b\u201a\u00b4\u2032"} | {
    ord(mark): '"' for mark in "\u201c\u201d\u201e"
}
_GUILLEMETS = re.compile(r"\u00ab([^\u00ab\u00bb\n]{1,200})\u00bb")
_ENTITY = re.compile(r"&(?:#39|#x27|apos|quot|lt|gt|amp|nbsp);")
_ENTITIES = {"#39": "'", "#x27": "'", "apos": "'", "quot": '"', "lt": "<", "gt": ">", "amp": "&", "nbsp": " "}
_REPORTED = re.compile(r"^[-*] \*\*Exception Type:\*\* ([\w.]{1,200})\n[-*] \*\*Exception Message:\*\* ", re.MULTILINE)
"""What ComfyUI's report makes of an exception: a list of two."""
_NOT_RECOGNIZED = (
    "ist entweder falsch geschrieben",
    "n'est pas reconnu en tant que commande",
    "no se reconoce como un comando",
    "n\u00e3o \u00e9 reconhecido como um comando",
    "non \u00e8 riconosciuto come comando",
    "\u043d\u0435 \u044f\u0432\u043b\u044f\u0435\u0442\u0441\u044f \u0432\u043d\u0443\u0442\u0440\u0435\u043d\u043d",
    "\u4e0d\u662f\u5185\u90e8\u6216\u5916\u90e8\u547d\u4ee4",
    "\u4e0d\u662f\u5167\u90e8\u6216\u5916\u90e8\u547d\u4ee4",
    "\u306f\u3001\u5185\u90e8\u30b3\u30de\u30f3\u30c9\u307e\u305f\u306f\u5916\u90e8\u30b3\u30de\u30f3\u30c9",
)
"""What cmd says of a program that it does not find, in eight languages, Chinese in both its scripts."""
_OF_CMD = re.compile(rf"(?:Der Befehl )?['\"]([^'\"\n]{{1,200}})['\"] ?(?:{'|'.join(_NOT_RECOGNIZED)})[^\n]*")
_WINDOWS = re.compile(r"[A-Za-z]:\\")
_INSIDE = re.compile(r"^[^\S\n]*[\[{\"'].*\\n", re.MULTILINE)
"""A line that holds others: JSON, or Python's `repr`."""
_LINE_END = re.compile(r"(?<!\\)\\n")
SEAM = "\x1e"
"""Stands between lines that one line of the log holds."""
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE)"
_CLOCK = r"\d\d?:\d\d:\d\d(?:[.,-]\d+)?"
_DATE = rf"\d{{4}}[-/]\d\d[-/]\d\d(?:[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?)?"
_BEFORE = re.compile(
    rf"(?:#\d+ \d+\.\d{{0,3}}|\d+\.\d{{2,3}}|(?:stdout|stderr) [FP]|[\w./-]+ +\|(?= )|\[?{_DATE}\]?|\[?{_CLOCK}\]?"
    rf"|[A-Z][a-z]{{2}} +\d+ {_CLOCK} \S+ [\w./-]+(?:\[\d+\])?:"
    rf"|\[(?! ?{_LEVEL} ?\])[\w. :,/-]{{1,40}}\](?:<\w+>)?:?|\[!\]|\(\w+"
    rf" pid=\d+[^)]*\)|##\[error\]|::error::|E (?= {{2}}))(?=\s|$)\s?"
)
"""A container's name, a time, a logger's brackets, the mark of ComfyUI's manager; each may stand before the others."""
_SERVICE = re.compile(r"([a-z][\w.-]{0,60}) +\| ")
_SAID = re.compile(rf"(?:\[ ?({_LEVEL}) ?\]:?\s*|((?i:{_LEVEL}))\s*[:|]|({_LEVEL})\s+(?=\S))")
EXCEPTIONS = "(?:Error|Exception|Failure|Failed|Fault|Timeout|NotFound|Conflict)"
"""How classes of exceptions are called, at their end."""
_PLACE = (
    rf"(?:[\w.<>-]+(?::[\w.<>-]+)*:\d+|[a-z][a-z0-9]*(?:\.(?!\w*{EXCEPTIONS}\b)\w+)+|[a-z0-9]+_\w+)\s*[-|:]"
    r"|[\w.:<>-]+\s+[-|]\s"
)
"""Before a colon and a space only what can be no exception and no other program's level."""
_LOGGED = re.compile(
    rf"(?:[-|:]\s*)?(?:(?!{_LEVEL}\b)[\w.-]+\s*[-|:]\s*)?\b({_LEVEL})\b"
    rf"(?::[\w.]+:(?=\S)|\s*[-|:]\s*(?:{_PLACE})\s*|\s*[-|:\]]\s*|\s*)"
)
"""What a logger writes between time and message: its name, the level, a place in the code."""
_PASSED_ON = re.compile(
    r"(?:INFO\s*:\s*)?(?:[\w.-]{1,60}: ?)?(?=(?:ERROR|CRITICAL|FATAL): (?!\d)"
    r"|error: (?:subprocess-exited-with-error|metadata-generation-failed|legacy-install-failure|failed-wheel-build"
    r"|command ['\"]|Failed to (?:build|prepare|download))"
    r"|(?:[\w./-]*/)?(?:gcc|g\+\+|nvcc|clang|clang\+\+|cc1plus|ld|cl|LINK)\s?: (?:fatal )?error\b)"
)
"""What stands before another program's own error where one that runs it logs all that it prints, as information."""
_OF_PYTHON = re.compile(r"INFO:[\w.]{1,100}:")
"""What Python's logging writes before a message where nothing else is set."""
_OF_GLOG = re.compile(
    r"(?:E\d{4} \d\d:\d\d:\d\S* +\d+|(?:\d[\d:. -]+: )?E) \S+:\d+\] "
    # What TensorFlow, XLA and gRPC call an error though all goes on as it should.
    r"(?!Unable to register \w+ factory|computation[ _]placer already registered|layout failed|Delay kernel timed out"
    r"|(?:\[\S+\] )?(?:Very slow compile|Constant folding an instruction)|Results do not match the ref|Difference at"
    r"|FD from fork parent|ALTS creds ignored|grpc_wait_for_shutdown"
    # What inductor tries out to find the fastest.
    r"|\[\d+/\d+(?:_\d+)?\] (?:Runtime error during autotuning|No valid triton configs|Ignoring this choice"
    r"|(?:Exception )?out of resource|.{1,400}for benchmark choice))"
)
"""A line of the level E, as Google's loggers write it; those of the level F are failures whatever they say."""
_OF_LETTERS = re.compile(
    r"(?:\[[\d/: -]{10,25}\] )?(?:\[TRT\] \[([VIWEF])\]"
    r"|\[([VIWEF])\] (?=\[TRT\]|Error\[\d+\]: |\S{1,300}\.\w{1,4}:\d+:)"
    r"|(?:\[rank\d{1,5}\]: ?)?\[([VIWEF])(?:\d{3,4} [\d:.]{8,20})? \S{1,200}\.(?:cpp|cc|cu|h):\d+\])"
)
"""TensorRT's levels, letters between brackets on each side of its name; trtexec has no name, k2 and torch a place."""
_LETTERS = {"V": "debug", "I": "info", "W": "warning", "E": "error", "F": "fatal"}
_MILD = {"trace", "debug", "info", "notice", "warn", "warning"}
_GRAVE = {"error", "critical", "fatal", "severe"}


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line, without what stands before its message."""

    number: int
    indent: int
    """Columns before the text; what a logger wrote before it does not count."""
    text: str
    level: str = ""
    """As the logger named it, in lower case; empty where none did."""
    service: str = ""
    """Whose container printed it, where `docker compose` says so."""

    @property
    def is_mild(self) -> bool:
        """Whether its writer calls it no failure."""
        return self.level in _MILD

    @property
    def is_grave(self) -> bool:
        """Whether its writer calls it a failure."""
        return self.level in _GRAVE


def plain(text: str) -> str:
    """Return a log as programs wrote it: without colours, and without what mail, web pages and JSON make of marks."""
    if any(mark in text for mark in ("\x1b", *_WRITTEN_ESCAPES)):
        text = _COLOUR.sub("", text)
    if "&" in text:
        text = _ENTITY.sub(lambda found: _ENTITIES[found[0][1:-1]], text)
    if "\\_" in text and not _WINDOWS.search(text):
        # Markdown's way to write an underscore; in a path of Windows it is one.
        text = text.replace("\\_", "_")
    if "**Exception Message:**" in text:
        text = _REPORTED.sub(r"\n\1: ", text)
    if "\\n" in text and _INSIDE.search(text):
        rows = (_opened(row) if _INSIDE.match(row) else row for row in text.split("\n"))
        text = "\n".join(rows)
    text = text if text.isascii() else _GUILLEMETS.sub(r"'\1'", text).translate(_TYPOGRAPHY)
    if any(words in text for words in _NOT_RECOGNIZED):
        text = _OF_CMD.sub(r"'\1' is not recognized as an internal or external command", text)
    return text


def _opened(row: str) -> str:
    return _LINE_END.sub(SEAM, row).replace('\\"', '"').replace("\\'", "'")


def lines_of_log(text: str) -> list[LogLine]:
    """Return the lines that hold something; of one that a program wrote over, the last state counts alone."""
    found = []
    for number, row in enumerate(plain(text).split("\n"), 1):
        for inner in row.split(SEAM):
            shown = next((part for part in reversed(inner.split("\r")) if part.strip()), "")
            if shown:
                found.append(_line(number, shown[:4000]))
    return found


def _line(number: int, row: str) -> LogLine:
    rest, stamped = row, False
    while found := _BEFORE.match(rest.lstrip() if stamped or rest[:1] != " " else rest):
        rest, stamped = rest.lstrip()[found.end() :] if stamped else rest[found.end() :], True
    level = ""
    # `ERROR: ` behind a build's time is what pip wrote, not a logger.
    if stamped and not re.match(r"[A-Z]+: ", rest.lstrip()) and (found := _LOGGED.match(rest.lstrip())):
        level, rest = found[1].lower(), rest.lstrip()[found.end() :]
    elif found := _SAID.match(rest.lstrip()):
        level = found[found.lastindex or 1].lower()
        rest = rest.lstrip()[found.end() :] if found[1] else rest
    if level == "info":
        if found := _OF_PYTHON.match(rest):
            rest = rest[found.end() :]
        if found := _PASSED_ON.match(rest.lstrip()):
            level, rest = "error", rest.lstrip()[found.end() :]
    stripped = rest.lstrip()
    if not level and _OF_GLOG.match(stripped):
        level = "error"
    if found := _OF_LETTERS.match(row):
        level = _LETTERS[found[found.lastindex or 1]]
    service = _SERVICE.match(row)
    return LogLine(number, len(rest) - len(stripped), stripped.rstrip(), level, service[1] if service else "")
