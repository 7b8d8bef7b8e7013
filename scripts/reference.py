"""Write docs/reference, the man page and the schema of profiles from the code: `python scripts/reference.py`.

`--check` writes nothing and fails where one is not current.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import man_page
from reference_markdown import anchor, schema_page, table

from envdoctor.profile.template import SCHEMA_FILE, schema_text

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "reference"
MAN = ROOT / "man" / "envdoctor.1"
SCHEMA = ROOT / "profiles" / SCHEMA_FILE
HEADER = "<!-- Written by scripts/reference.py; change the code and run it again. -->\n\n"
Json = Mapping[str, Any]

VARIABLES = {
    "ENVDOCTOR_INDEX_URL": "The default package index, as `--index-url`; the option wins.",
    "ENVDOCTOR_CACHE_DIR": "Where index answers are kept, as `--cache-dir`; the option wins.",
    "ENVDOCTOR_INDEX_TIMEOUT": "How many seconds a host may go without one answer before it is left alone, all its "
    "requests and attempts together; 60 where nothing is set.",
    "ENVDOCTOR_INDEX_RECORDED": "A recorded index that every command answers from, as `--recorded-index`.",
    "ENVDOCTOR_INDEX_RECORD": "A directory into which answers of the index are recorded (`scripts/record_index.py`).",
    "ENVDOCTOR_INDEX_": "With an index's name behind it, in capitals, `_` for `-`: the URL to ask in its place.",
    "ENVDOCTOR_FACT_": "With a fact's name behind it: replaces what was measured. [Facts](../facts.md) lists them; "
    "a name that is none, or a value that the fact cannot have, is refused.",
    "ENVDOCTOR_ADVISORIES": "Further files and folders of advisories, as on PATH; they are checked, never executed.",
    "ENVDOCTOR_PROFILES": "Further files and folders of profiles, as on PATH; they are checked, never executed.",
    "ENVDOCTOR_TRACEBACK": "`1` shows where a fault of envdoctor's own happened (exit code 4), to report it with.",
}
"""What a user may set; names that end in an underscore are prefixes."""
INTERNAL = re.compile(r"ENVDOCTOR_(ANSWER|COLLECTIVE|PLANT|CRASH_\w+|FULL_\w+|INTERRUPT_\w+|PYTHON|VENV|LOCKED)\Z")
"""Between envdoctor and its own child processes, or for its own tests."""
OTHERS = {
    "NO_COLOR": "Set to anything: no colour. `--color` outweighs it.",
    "FORCE_COLOR": "Set to anything but `0`: colour also where the output is no terminal, as in the log of a CI job.",
    "XDG_CACHE_HOME": "On Linux, where the cache lies when `ENVDOCTOR_CACHE_DIR` does not say.",
    "FORCE_HYPERLINK": "`1` or `0`: places and addresses are links, or not; else where the terminal takes them.",
    "TERM": "`dumb`: no colour and no moving progress line.",
    "COLUMNS": "The width of the page, at most 200; running text takes no more than 100.",
    "GITHUB_WORKSPACE": "Where no `.git` lies above the project: the folder from which reports name files.",
    "CI_PROJECT_DIR": "The same in a GitLab job.",
    "PIP_*": "What pip reads: index, proxy, certificates, `PIP_UPLOADED_PRIOR_TO`, `PIP_NO_BUILD_ISOLATION`, "
    "`PIP_CONFIG_FILE`; its configuration files count too.",
    "UV_*": "What uv reads of indexes: `UV_INDEX`, `UV_DEFAULT_INDEX`, `UV_INDEX_URL`, `UV_EXTRA_INDEX_URL`, "
    "`UV_FIND_LINKS`, `UV_NO_INDEX`, `UV_INDEX_<NAME>_USERNAME` and `_PASSWORD`, `UV_KEYRING_PROVIDER`, "
    "`UV_EXCLUDE_NEWER`, `UV_NO_BUILD_ISOLATION`, `UV_CONFIG_FILE`, `UV_NO_CONFIG`; its configuration files count too.",
}


def main() -> int:
    """Write the pages, or with ``--check`` say which are not current and return 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page is not current")
    check = parser.parse_args().check
    for path, text in ((SCHEMA, schema_text()), (MAN, man_page.page())):
        if _current(path) == text:
            continue
        if check:
            sys.stderr.write(f"{path.relative_to(ROOT)} is not current; run `python scripts/reference.py`\n")
            return 1
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    stale = [name for name, text in pages().items() if _current(PAGES / name) != text]
    extra = sorted({path.name for path in PAGES.glob("*.md")} - set(pages()))
    if check:
        for name in (*stale, *extra):
            sys.stderr.write(f"docs/reference/{name} is not current; run `python scripts/reference.py`\n")
        return 1 if stale or extra else 0
    PAGES.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (PAGES / name).write_text(pages()[name], encoding="utf-8", newline="\n")
    for name in extra:
        (PAGES / name).unlink()
    return 0


def pages() -> dict[str, str]:
    """Return every page by its file name."""
    made = {
        "README.md": _index(),
        "commands.md": _commands(),
        "rules.md": _rules(),
        "advisories.md": _advisories(),
        "profile.md": schema_page(
            "Profile",
            "A profile is a TOML file; [profiles](../profiles/README.md) explains what each table is for.",
            _read(files("envdoctor"), "profiles/profile.schema.json"),
        ),
        "report.md": schema_page(
            "Report",
            "What `--format json` prints. `schema` changes when a key changes its meaning or goes away; new keys may "
            "come. The JSON Schema ships in the package as `envdoctor/render/report.schema.json`.",
            _read(files("envdoctor.render"), "report.schema.json"),
        ),
        "documents.md": _documents(_read(files("envdoctor.render"), "documents.schema.json")),
        "variables.md": _variables(),
    }
    return {name: HEADER + text.rstrip() + "\n" for name, text in made.items()}


def _current(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _read(package: Any, name: str) -> Json:
    """Return a JSON file of the checkout, or of the package where it lies there."""
    path = ROOT / name
    text = path.read_text(encoding="utf-8") if path.is_file() else package.joinpath(name).read_text(encoding="utf-8")
    return dict(json.loads(text))


def _index() -> str:
    return """# Reference

Written from the code by `scripts/reference.py`; a test fails when a page is not current.

- [Commands](commands.md): every verb with its options
- [Rules](rules.md): every rule, why it is there, an example
- [Advisories](advisories.md): every known failure, where the fact comes from, what to do
- [Profile](profile.md): every key of a profile
- [Report](report.md): every key of the JSON report
- [Documents](documents.md): `--format json` of what is no report
- [Variables](variables.md): what the environment may set

Written by hand: [exit codes](../exit-codes.md), [smoke kernels](../kernels.md), [facts](../facts.md),
[profiles](../profiles/README.md), [advisory files](../../advisories/README.md).
"""


def _documents(schema: Json) -> str:
    intro = (
        "Each verb that prints something has `--format json`: a [report](report.md), or one of these documents. New "
        "keys may come. The JSON Schema ships in the package as `envdoctor/render/documents.schema.json`. With "
        "`--format json` `run` says how it would start its command, and starts nothing."
    )
    return schema_page("Documents", intro, {**schema, "properties": {"schema": {"type": "string"}}})


# Commands.


def _commands() -> str:
    import typer

    from envdoctor.cli.verb_list import VERBS

    parts = ["# Commands\n\n`envdoctor --version` names the version; `-h` and `--help` show these pages.\n"]
    for verb in VERBS:
        command = typer.main.get_command(importlib.import_module(f"envdoctor.cli.{verb}_command").app)
        parts.extend(_command(f"envdoctor {verb}", command))
    return "\n".join(parts)


def _command(path: str, command: Any) -> Iterator[str]:
    summary = " ".join((command.help or "").split())
    below = getattr(command, "commands", None)
    yield f"## {path}\n\n{summary}\n"
    if below:
        for name, child in below.items():
            yield from _command(f"{path} {name}", child)
        return
    arguments = [item for item in command.params if item.param_type_name == "argument"]
    options = [item for item in command.params if item.param_type_name == "option" and item.name != "help"]
    if arguments:
        yield table(("argument", "meaning"), [(_metavar(item), item.help or "") for item in arguments])
    if options:
        yield table(("option", "meaning"), [(_option(item), _meaning(item)) for item in options])
    if command.epilog:
        yield " ".join(command.epilog.split()) + "\n"


def _metavar(item: Any) -> str:
    return f"`{item.metavar or item.name.upper()}`"


def _option(item: Any) -> str:
    value = ""
    if not item.is_flag and not getattr(item, "count", False):
        choices = getattr(item.type, "choices", None)
        names = [str(getattr(choice, "value", choice)) for choice in choices or ()]
        value = " " + ("|".join(names) if names else item.metavar or item.type.name.upper())
    return f"`{', '.join((*item.opts, *item.secondary_opts))}{value}`"


def _meaning(item: Any) -> str:
    text = item.help or ""
    default = item.default if not callable(item.default) else None
    default = getattr(default, "value", default)
    if default not in (None, False, True, (), []) and item.show_default is not False and not item.is_flag:
        text += f" Default: `{default}`."
    if item.multiple and "epeat" not in text:
        text += " May be given several times."
    if item.envvar:
        text += f" Variable: `{item.envvar}`."
    return text.strip()


# Rules and advisories.


def _rules() -> str:
    from envdoctor.diagnose.rulebook import documented

    rules = documented()
    overview = table(
        ("code", "name", "severity", "what it finds"),
        [(f"[{r.code}](#{anchor(f'{r.code} {r.name}')})", r.name, r.severity.value, r.summary) for r in rules],
    )
    intro = (
        "# Rules\n\n`envdoctor rule CODE` shows the same in the terminal. A finding may be milder than its rule where "
        "it says why; waivers accept one with a reason: [conflicts, repairs, locks](../conflicts-repairs-locks.md).\n\n"
    )
    return (
        intro
        + overview
        + "\n"
        + "\n".join(_deeper(f"# {r.code} {r.name}\n\n{r.documentation.strip()}\n") for r in rules)
    )


def _advisories() -> str:
    from envdoctor.diagnose.advisories.book import shipped_advisories
    from envdoctor.diagnose.documentation import documentation

    known = sorted(shipped_advisories().advisories, key=lambda item: item.code)
    overview = table(
        ("code", "name", "severity", "message"),
        [(f"[{a.code}](#{anchor(f'{a.code} {a.id}')})", a.id, a.severity.value, a.message) for a in known],
    )
    intro = (
        "# Advisories\n\nKnown failures as data: a question over versions, target, facts and sources, and what to do. "
        "`{name}` in a message stands for the version of that package. The files' format: "
        "[advisories](../../advisories/README.md).\n\n"
    )
    return intro + overview + "\n" + "\n".join(_deeper(documentation(a.code) or "") for a in known)


def _deeper(markdown: str) -> str:
    """Return a page as a section of another: every heading outside a code block one level down."""
    lines, fenced = [], False
    for line in markdown.rstrip().splitlines():
        fenced ^= line.lstrip().startswith("```")
        lines.append(f"#{line}" if line.startswith("#") and not fenced else line)
    return "\n".join(lines) + "\n"


# Variables.


def _variables() -> str:
    from envdoctor.adapters.probe.host_overrides import FOREIGN

    unknown = sorted(_named_in_source() - set(VARIABLES))
    if unknown:
        raise SystemExit(f"scripts/reference.py: VARIABLES does not say what these are: {', '.join(unknown)}")
    own = table(("variable", "meaning"), [(f"`{name}{_more(name)}`", text) for name, text in VARIABLES.items()])
    others = table(("variable", "meaning"), [(f"`{name}`", text) for name, text in OTHERS.items()])
    foreign = table(("variable", "facts that it sets"), [(f"`{name}`", _set_by(FOREIGN[name])) for name in FOREIGN])
    return (
        f"# Variables\n\n{own}\n## Of others\n\n{others}\n## Of others, about the machine\n\n"
        "conda, uv, and the installers of NVIDIA and AMD read these; they replace facts here too, and "
        "`ENVDOCTOR_FACT_...` goes before them. A value that is not understood here is passed over with a note.\n\n"
        f"{foreign}"
    )


def _more(name: str) -> str:
    return "<NAME>" if name.endswith("_") else ""


def _set_by(reader: Any) -> str:
    """Return the facts that a reader sets, by giving it one value of each form that it may take."""
    values = ("550.54", "13.0", "90", "gfx1100")
    names = dict.fromkeys(name for value in values for name, _ in reader(value))
    return ", ".join(f"`{name}`" for name in names)


def _named_in_source() -> set[str]:
    """Return the variables of our own that the sources name, without those between our own processes."""
    found: set[str] = set()
    for path in sorted((ROOT / "src").rglob("*.py")):
        found.update(re.findall(r"\bENVDOCTOR_[A-Z_]+", path.read_text(encoding="utf-8")))
    names = {name for name in found if not INTERNAL.match(name)}
    return {prefix if (prefix := _prefix(name)) else name for name in names}


def _prefix(name: str) -> str | None:
    return next((known for known in VARIABLES if known.endswith("_") and name.startswith(known)), None)


if __name__ == "__main__":
    sys.exit(main())
