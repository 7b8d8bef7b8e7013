"""A new profile to fill in, valid as it stands, and the JSON Schema of profiles, from the loader's own grammar."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any

from envdoctor.model.target import Arch, Backend, OperatingSystem
from envdoctor.profile.grammar import PROFILE_NAME, Format, Key, Section, SectionKind, Shape, Table
from envdoctor.profile.load import parse_profile
from envdoctor.profile.sections import SCHEMA_NUMBER, SECTIONS
from envdoctor.profile.validation import ProfileError
from envdoctor.toml_tables import Fault

__all__ = ["SCHEMA_FILE", "new_profile_text", "schema", "schema_text"]

SCHEMA_FILE = "profile.schema.json"
"""Its name beside the shipped profiles."""


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a profile's TOML.

    It says what one value can show; what holds between entries (duplicates, contradictions), PEP 508 in full and what
    a base profile supplies is for ``envdoctor profiles validate``.
    """
    properties = {name: _section(section) for name, section in SECTIONS.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "envdoctor profile",
        "description": "One stack on one kind of target",
        "type": "object",
        "properties": {"schema": {"const": SCHEMA_NUMBER}, **properties},
        "required": ["schema", "profile"],
        "additionalProperties": False,
        "if": {
            "properties": {
                "profile": {
                    "type": "object",
                    "not": {"anyOf": [{"required": ["extends"]}, {"required": ["abstract"]}]},
                }
            }
        },
        "then": {
            "required": ["target"],
            "properties": {"target": {"required": ["os", "arch", "python", "backend"]}},
        },
    }


def schema_text() -> str:
    """Return the text of the schema file that is shipped beside the profiles."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _section(section: Section) -> dict[str, Any]:
    about: dict[str, Any] = {"description": section.doc}
    if section.kind is SectionKind.ARRAY:
        return {**about, "type": "array", "items": _table(section.table)}
    if section.kind is SectionKind.TABLE:
        return {**about, **_table(section.table)}
    inner = _table(section.table) if section.kind is SectionKind.NAMED else _text(section.value_format)
    return {**about, "type": "object", **_names(section.key_format), "additionalProperties": inner}


def _names(names: Format | None) -> dict[str, Any]:
    return {"propertyNames": {"pattern": names.pattern}} if names and names.pattern else {}


def _table(table: Table) -> dict[str, Any]:
    described: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"description": key.doc, **_key(key)} for name, key in table.keys.items()},
        "additionalProperties": False,
    }
    required = [name for name, key in table.keys.items() if key.required]
    if required:
        described["required"] = required
    groups = [{"oneOf": [{"required": [name]} for name in group]} for group in table.one_of]
    needs_one = [
        {"if": {"required": [name]}, "then": {"anyOf": [{"required": [owner]} for owner in owners]}}
        for name, owners in (table.only_with or {}).items()
    ]
    if groups or needs_one:
        described["allOf"] = [*groups, *needs_one]
    if table.together:
        described["dependentRequired"] = {name: list(others) for name, others in table.together.items()}
    return described


def _text(format_: Format | None, choices: tuple[str, ...] = ()) -> dict[str, Any]:
    if choices:
        return {"enum": list(choices)}
    return {"type": "string", "pattern": format_.pattern} if format_ and format_.pattern else {"type": "string"}


def _key(key: Key) -> dict[str, Any]:
    text = _text(key.format, key.choices)
    many = {"type": "array", "items": text, "uniqueItems": True}
    shapes: dict[Shape, dict[str, Any]] = {
        Shape.TEXT: text,
        Shape.TEXT_LIST: many,
        Shape.TEXT_OR_LIST: {"anyOf": [text, many]},
        Shape.TEXT_MAP: {"type": "object", "additionalProperties": text},
        Shape.BOOLEAN: {"type": "boolean"},
        Shape.INTEGER: {"type": "integer", "minimum": 1},
    }
    return _table(key.table) if key.table is not None else shapes[key.shape]


_TEXT = """\
#:schema {schema_path}
# Check it with: envdoctor profiles validate {name}.toml
schema = 1

[profile]
name = "{name}"
summary = "What this is, and on which machines"
# extends = "diffrhythm2-directml"   # a shipped profile, or "base.toml" beside this file

[target]
os = "{os}"               # windows | linux | macos
arch = "{arch}"            # x86_64 | aarch64 (linux) | arm64 (macos, windows)
python = "{python}"      # the newest that resolves is chosen; preferred-python names another
backend = "{backend}"            # cuda | rocm | zluda | directml | mps | xpu | coreml | cpu
# glibc = "2.39"          # linux: the oldest libc of these machines
# gpu-architectures = ["sm_110"]

# What marks the project, and what is read of it.
[project]
recognise = []            # files, as globs
recognise-packages = []   # requirements that few other projects have
requirements = []         # empty: whatever requirement files there are

# A requirement to add; with kind = "constraint" it only bounds what something else asks for.
# [[requires]]
# requirement = "setuptools<82"
# because = "which package breaks without it, and how"
# evidence = "project#123"

# A project that must not be installed.
# [[exclude]]
# name = "deepspeed"
# because = "why it cannot work here"
# stubs = ["deepspeed"]   # an empty stand-in for code that only asks whether the module is there

# An accepted disagreement. `replaces` says whose demand is set aside: "project" for the lines of the
# requirement files, or the names of distributions; without it, everybody's.
# [[override]]
# requirement = "torch==2.4.1"
# replaces = "project"
# because = "why the demand cannot be met here"

# Binaries that belong together although their metadata does not say so.
# [[coupled]]
# names = ["torch", "torchaudio", "torchvision"]
# rule = "table"          # same-version | same-minor | table (the shipped table of releases)

# An extra index: the packages named come from there, and from there alone.
# [[index]]
# name = "pytorch-cu118"
# url = "https://index.example/whl/cu118"
# packages = ["torch", "torchaudio"]
# local-label = "cu118"

# An edit of a source file. Exactly one of guard-import, stub-function, replace-function, set-attribute,
# set-argument, replace-requirement, replace-text, remove-file.
# [[patch]]
# name = "no-run-time-install"
# file = "scripts/setup.py"
# stub-function = "install_everything"
# because = "it calls pip at every start"

# Variables for the environment; {{project}} and {{environment}} stand for those folders.
[environment]
PYTHONNOUSERSITE = "1"

# Something outside Python.
# [[system]]
# name = "ffmpeg"
# because = "what calls it"
# install = {{ apt = "apt install ffmpeg", brew = "brew install ffmpeg" }}

# What proves the stack on the GPU (`envdoctor smoke`).
[smoke]
kernels = ["gemm-float32"]
workloads = []
settings = []

# Where a part goes when a kernel that it needs fails.
# [[placement]]
# component = "decoder"
# needs = ["gemm-float32"]
# otherwise = "cpu"
# set = {{ file = "inference.py", attribute = "device" }}

# What this profile cannot do, said plainly.
# [[caution]]
# text = "Not run on this hardware"
"""


def new_profile_text(
    name: str,
    *,
    os: OperatingSystem = OperatingSystem.LINUX,
    arch: Arch = Arch.X86_64,
    python: str = ">=3.10,<3.13",
    backend: Backend = Backend.CPU,
) -> str:
    """Return a commented profile that validates.

    Raises ProfileError where ``name`` is not a profile name, or where the parts of the target do not go together.
    """
    fault = PROFILE_NAME.check(name)
    if fault is not None:
        raise ProfileError(name, [Fault("profile.name", fault)])
    text = _TEXT.format(
        schema_path=PurePosixPath(".") / SCHEMA_FILE,
        name=name,
        os=os.value,
        arch=arch.value,
        python=python,
        backend=backend.value,
    )
    parse_profile(text, f"{name}.toml")
    return text
