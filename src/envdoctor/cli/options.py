"""Options that several verbs share, with the help that teaches them."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from envdoctor.cli.completion import profile_names
from envdoctor.model.compatibility import KNOWN_SPAN
from envdoctor.model.project import GroupChoice
from envdoctor.model.target import OperatingSystem, TargetArch, TargetBackend
from envdoctor.ports import UsageError

__all__ = [
    "AllGroupsOption",
    "BackendOption",
    "CacheDirOption",
    "Color",
    "ColorOption",
    "ExcludeNewerOption",
    "ExtraOption",
    "FactsOption",
    "FailOn",
    "FailOnOption",
    "Format",
    "FormatOption",
    "GroupOption",
    "IndexUrlOption",
    "OfflineOption",
    "OnlyGroupOption",
    "OptionalProjectArgument",
    "OutputOption",
    "PageFormat",
    "PageFormatOption",
    "ProfileOption",
    "ProjectArgument",
    "QuietOption",
    "RecordedOption",
    "TargetArchOption",
    "TargetOsOption",
    "TargetPythonOption",
    "VerboseOption",
    "group_choice",
    "seconds",
]

_LONGEST_S = 86_400.0


def group_choice(
    extra: list[str] | None, group: list[str] | None, only: list[str] | None, *, all_groups: bool
) -> GroupChoice:
    """Return what decides with the main list, or in its place. Raises UsageError."""
    if only and (extra or group or all_groups):
        raise UsageError("`--only-group` leaves the main list out, so no other list can stand beside it")
    return GroupChoice(tuple(extra or ()), tuple(group or ()), only=tuple(only or ()), all_groups=all_groups)


def seconds(value: float) -> float:
    """Return a time limit. Raises BadParameter for one that no clock can hold to; NaN is in no range."""
    if not 0.1 <= value <= _LONGEST_S:
        raise typer.BadParameter(f"{value:g} is not in the range 0.1<=x<={_LONGEST_S:.0f} seconds")
    return value


class Format(str, Enum):
    """Report formats."""

    HUMAN = "human"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    GITHUB = "github"
    MARKDOWN = "markdown"
    HTML = "html"


class PageFormat(str, Enum):
    """Formats of what is no report."""

    HUMAN = "human"
    JSON = "json"


class Color(str, Enum):
    """Whether a report for people is coloured."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class FailOn(str, Enum):
    """What makes the exit code 1."""

    ERROR = "error"
    WARNING = "warning"
    NEVER = "never"


_INPUTS = "A directory or one file: requirements, pyproject, setup.py, conda's, a lock, script, Dockerfile or notebook."
ProjectArgument = Annotated[
    Path,
    typer.Argument(
        metavar="[PROJECT]",
        help=f"{_INPUTS} Default: the current directory.",
        show_default=False,
    ),
]
OptionalProjectArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[PROJECT]",
        help=f"{_INPUTS} Default: the current directory, or nothing where --env, --python, --installed, --facts or "
        "--log says what to look at.",
        show_default=False,
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        "-p",
        metavar="NAME|FILE",
        help="The stack and target to judge for: a shipped profile's name (`envdoctor profiles list`) or a TOML file. "
        "Default: [tool.envdoctor] profile in pyproject.toml, then the profile that recognises the project.",
        autocompletion=profile_names,
    ),
]
TargetOsOption = Annotated[
    OperatingSystem | None,
    typer.Option("--target-os", metavar="OS", case_sensitive=False, help="Judge for windows, linux or macos."),
]
TargetArchOption = Annotated[
    TargetArch | None,
    typer.Option("--target-arch", metavar="ARCH", case_sensitive=False, help="Judge for x86_64 or aarch64 (arm64)."),
]
TargetPythonOption = Annotated[
    str | None,
    typer.Option(
        "--target-python",
        metavar="X.Y",
        help=f"CPython to judge for, {KNOWN_SPAN}, such as 3.11 or 3.11.7. Default: [tool.envdoctor] target-python, "
        "then the one of environment.yml, a Dockerfile or the profile, else this machine's.",
    ),
]
BackendOption = Annotated[
    TargetBackend | None,
    typer.Option(
        "--target-backend",
        metavar="NAME",
        case_sensitive=False,
        help="What runs the tensors, where no profile says: cuda, rocm, zluda, directml, mps, xpu, coreml or cpu; "
        "`auto`: the best that the card has.",
    ),
]
GpuOption = Annotated[
    str | None,
    typer.Option(
        "--gpu",
        metavar="NAME|ARCH",
        help="The card to judge for, by its name or architecture: `RTX 5080`, sm_120, `RX 7900 XTX`, gfx1100.",
    ),
]
FactsOption = Annotated[
    Path | None,
    typer.Option(
        "--facts",
        metavar="FILE",
        help="Facts of another machine: `envdoctor host --format json`, or what nvidia-smi, rocminfo, dxdiag say.",
    ),
]
GlibcOption = Annotated[
    str | None,
    typer.Option(
        "--glibc", metavar="X.Y", help="The oldest glibc to judge for, on Linux. Default: the profile's, else 2.28."
    ),
]
MacosOption = Annotated[
    str | None,
    typer.Option("--macos", metavar="X.Y", help="The oldest macOS to judge for. Default: the profile's, else 14.0."),
]
ExtraOption = Annotated[
    list[str] | None,
    typer.Option("--extra", metavar="NAME", help="Judge these optional dependencies with the main list. Repeatable."),
]
GroupOption = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="NAME", help="Judge this dependency group with the main list. Repeatable."),
]
OnlyGroupOption = Annotated[
    list[str] | None,
    typer.Option("--only-group", metavar="NAME", help="Judge this group without the main list. Repeatable."),
]
AllGroupsOption = Annotated[
    bool, typer.Option("--all-groups", help="Judge every dependency group with the main list; extras have names.")
]
SubstituteOption = Annotated[
    list[str] | None,
    typer.Option("--substitute", metavar="PKG", help="Take the known substitute of a package without wheels."),
]
OfflineOption = Annotated[
    bool, typer.Option("--offline", help="Ask no index; judge by the cache and the lock, and say what is not known.")
]
IndexUrlOption = Annotated[
    str | None,
    typer.Option(
        "--index-url",
        metavar="URL",
        envvar="ENVDOCTOR_INDEX_URL",
        help="The default package index (a simple API). Default: the one that pip would use.",
    ),
]
RecordedOption = Annotated[
    Path | None,
    typer.Option(
        "--recorded-index",
        metavar="DIR",
        help="Take everything from a recorded index (`scripts/record_index.py` makes one); no network.",
    ),
]
CacheDirOption = Annotated[
    Path | None,
    typer.Option("--cache-dir", metavar="DIR", envvar="ENVDOCTOR_CACHE_DIR", help="Where index answers are kept."),
]
ExcludeNewerOption = Annotated[
    str | None,
    typer.Option("--exclude-newer", metavar="DATE", help="Leave out files uploaded after this date (ISO 8601, UTC)."),
]
FormatOption = Annotated[
    Format,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        case_sensitive=False,
        help="How to write the report: human, json, sarif, junit, github, markdown or html.",
    ),
]
PageFormatOption = Annotated[PageFormat, typer.Option("--format", "-f", case_sensitive=False, help="Text, or JSON.")]
ColorOption = Annotated[
    Color,
    typer.Option(
        "--color",
        case_sensitive=False,
        help="Colours: `auto` has them on a terminal, unless NO_COLOR is set, and elsewhere where FORCE_COLOR is.",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the report there instead of stdout. `{host}` and `{rank}` (of torchrun, srun) are filled in.",
    ),
]
FailOnOption = Annotated[
    FailOn,
    typer.Option("--fail-on", case_sensitive=False, help="The mildest severity that makes the exit code 1."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes; the report alone.")]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="Show all of it: every finding and package.")]
