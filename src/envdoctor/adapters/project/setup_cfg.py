"""setup.cfg: ``[options] install_requires``, ``python_requires`` and ``[options.extras_require]``."""

from __future__ import annotations

import configparser
import re
from dataclasses import field, replace
from pathlib import Path

from envdoctor.adapters.project.draft import Circumstances, Draft, ProjectFileError, TextFile
from envdoctor.adapters.project.group_choice import Wanted, groups_of
from envdoctor.adapters.project.requirement_lines import without_comment
from envdoctor.adapters.project.requirements_file import include_requirements
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblemKind
from envdoctor.model.requirement import GroupKind

__all__ = ["read_setup_cfg"]

_SECTION = re.compile(r"^\[([^\]]+)\]")
_OPTION = re.compile(r"^([^\s=:#;][^=:]*?)\s*[=:]\s*(.*)$")


@dataclass(slots=True)
class _Option:
    line: int
    values: list[tuple[int, str]] = field(default_factory=list)


def read_setup_cfg(draft: Draft, path: Path, circumstances: Circumstances, wanted: Wanted) -> None:
    """Read the file into the draft. Raises ProjectFileError, with the line of a syntax error."""
    file = draft.load(path)
    _check(file)
    options = _options(file.text)
    draft.asks_for_none = draft.asks_for_none or any(section in {"metadata", "options"} for section, _ in options)
    for line, name in options.get(("metadata", "name"), _Option(0)).values:
        if draft.name is None and ":" not in name and line:
            draft.name = name
    for line, text in options.get(("options", "python_requires"), _Option(0)).values:
        draft.set_python(text, FileOrigin(file.shown, line, circumstances.included_from))
    main = options.get(("options", "install_requires"))
    if main is not None and wanted.main:
        _read_list(draft, file, main, circumstances)
    extras = [key for section, key in options if section == "options.extras_require"]
    for group in groups_of(draft, GroupKind.EXTRA, extras, wanted):
        option = options["options.extras_require", group.name]
        _read_list(draft, file, option, replace(circumstances, group=group))


def _check(file: TextFile) -> None:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(file.text)
    except configparser.MissingSectionHeaderError as error:
        raise ProjectFileError(file.shown, error.lineno, "invalid setup.cfg: a line before any section") from error
    except configparser.ParsingError as error:
        line = error.errors[0][0] if error.errors else None
        raise ProjectFileError(file.shown, line, "invalid setup.cfg: neither a section nor an option") from error
    except (configparser.Error, AttributeError, ValueError) as error:
        raise ProjectFileError(file.shown, None, f"invalid setup.cfg: {str(error).splitlines()[0]}") from error


def _options(text: str) -> dict[tuple[str, str], _Option]:
    """Return options by section and name with the line of each value line, which ``configparser`` does not tell."""
    found: dict[tuple[str, str], _Option] = {}
    section, current = "", None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith(("#", ";")):
            continue
        if raw[:1].isspace() and current is not None:
            current.values.append((number, line))
            continue
        header, option = _SECTION.match(line), _OPTION.match(line)
        if header is not None:
            section, current = header.group(1).strip(), None
        elif option is not None:
            current = _Option(number)
            found[section, option.group(1).strip().lower().replace("-", "_")] = current
            if option.group(2):
                current.values.append((number, option.group(2)))
    return found


def _read_list(draft: Draft, file: TextFile, option: _Option, circumstances: Circumstances) -> None:
    values = option.values
    if len(values) == 1 and values[0][0] == option.line:
        # setuptools splits a value of one line at semicolons.
        values = [(option.line, part) for part in values[0][1].split(";")]
    for line, value in values:
        text = without_comment(value).strip()
        origin = FileOrigin(file.shown, line, circumstances.included_from)
        if text.startswith("file:"):
            for reference in text.removeprefix("file:").split(","):
                include_requirements(draft, reference.strip(), file.path.parent, origin, circumstances)
        elif text.startswith("attr:"):
            message = f"`{text}` is a value that only running code would tell"
            draft.problem(ReadingProblemKind.DYNAMIC, origin, message, text)
        elif text:
            draft.add(parse_pep508(text, origin), circumstances)
