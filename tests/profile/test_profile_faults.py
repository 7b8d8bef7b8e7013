"""Every class of fault: its message, its key path, and whether an editor's schema sees it too."""

from __future__ import annotations

import sys

import pytest
from profile_texts import HEAD, MINIMAL, TARGET, with_sections

from envdoctor.profile.load import parse_profile
from envdoctor.profile.validation import ProfileError
from envdoctor.toml_tables import Fault

if sys.version_info >= (3, 11):
    import tomllib as toml
else:
    import tomli as toml

PATCH = '[[patch]]\nbecause = "b"\n'
STUB = PATCH + 'stub-function = "f"\n'

# text, key path, message
SEEN_BY_SCHEMA = [
    pytest.param(
        MINIMAL.replace("schema = 1", ""), "schema", "is missing: the first line is `schema = 1`", id="no-schema"
    ),
    pytest.param(MINIMAL.replace("schema = 1", "schema = 2"), "schema", "must be 1, not `2`", id="schema-2"),
    pytest.param(MINIMAL.replace("schema = 1", "schema = true"), "schema", "must be 1, not `True`", id="schema-true"),
    pytest.param(
        MINIMAL.replace("[target]", 'documentaton = "d"\n[target]'),
        "profile.documentaton",
        "unknown key `documentaton`; did you mean `documentation`?",
        id="typo",
    ),
    pytest.param(
        MINIMAL.replace('summary = "A stack"\n', ""), "profile.summary", "missing required key `summary`", id="missing"
    ),
    pytest.param(
        with_sections("[[requirez]]\n"), "requirez", "unknown key `requirez`; did you mean `requires`?", id="section"
    ),
    pytest.param(MINIMAL.replace('"linux"', "3"), "target.os", "must be a string, not an integer", id="type"),
    pytest.param(
        MINIMAL.replace('"linux"', '"window"'),
        "target.os",
        "must be one of `windows`, `linux`, `macos`, not `window`; did you mean `windows`?",
        id="os",
    ),
    pytest.param(
        MINIMAL.replace('"x86_64"', '"amd64"'),
        "target.arch",
        "must be one of `x86_64`, `aarch64`, `arm64`, not `amd64`; did you mean `arm64`?",
        id="arch",
    ),
    pytest.param(
        MINIMAL.replace('"cuda"', '"opencl"'),
        "target.backend",
        "must be one of `cuda`, `rocm`, `zluda`, `directml`, `mps`, `xpu`, `coreml`, `cpu`, not `opencl`",
        id="backend",
    ),
    pytest.param(
        HEAD + TARGET.replace('arch = "x86_64"\n', ""), "target.arch", "missing required key `arch`", id="no-arch"
    ),
    pytest.param(
        MINIMAL.replace('">=3.10,<3.13"', '"3.10"'),
        "target.python",
        "`3.10` is not a PEP 440 version specifier such as `>=3.10,<3.12`",
        id="specifier",
    ),
    pytest.param(
        with_sections('[[requires]]\nrequirement = "six"\n'),
        "requires[0].because",
        "missing required key `because`",
        id="requires-because",
    ),
    pytest.param(
        with_sections('[[exclude]]\nname = "six"\n'),
        "exclude[0].because",
        "missing required key `because`",
        id="exclude-because",
    ),
    pytest.param(
        with_sections('[[exclude]]\nname = "six"\nbecause = "b"\nstubs = ["six/../x"]\n'),
        "exclude[0].stubs[0]",
        "`six/../x` is not a dotted Python name",
        id="stub-path",
    ),
    pytest.param(
        with_sections('[[exclude]]\nname = "six"\nbecause = "b"\nstubs = "six"\n'),
        "exclude[0].stubs",
        "must be a list of strings, not a string",
        id="stub-text",
    ),
    pytest.param(
        with_sections('[[override]]\nrequirement = "six==1"\n'),
        "override[0].because",
        "missing required key `because`",
        id="override-because",
    ),
    pytest.param(
        with_sections('[[patch]]\nfile = "a.py"\nstub-function = "f"\n'),
        "patch[0].because",
        "missing required key `because`",
        id="patch-because",
    ),
    pytest.param(
        with_sections('[requires]\nrequirement = "six"\n'),
        "requires",
        "must be an array of tables (`[[requires]]`), not a table",
        id="table",
    ),
    pytest.param(with_sections("[[smoke]]\n"), "smoke", "must be a table (`[smoke]`), not a list", id="array"),
    pytest.param(
        with_sections('[smoke]\nkernels = "stft"\n'),
        "smoke.kernels",
        "must be a list of strings, not a string",
        id="list",
    ),
    pytest.param(
        with_sections("[smoke]\nkernels = [1]\n"),
        "smoke.kernels[0]",
        "must be a string, not an integer",
        id="list-item",
    ),
    pytest.param(
        with_sections('[smoke]\nkernels = ["STFT!"]\n'),
        "smoke.kernels[0]",
        "`STFT!` is not a name of lower-case words joined by `-`",
        id="kernel",
    ),
    pytest.param(
        with_sections('[smoke]\nkernels = ["stft", "stft"]\n'),
        "smoke.kernels[1]",
        "`stft` stands twice in this list",
        id="twice",
    ),
    pytest.param(
        with_sections(STUB + 'file = "/etc/x.py"\n'), "patch[0].file", "`/etc/x.py` must be relative", id="absolute"
    ),
    pytest.param(with_sections(STUB + 'file = "~/x.py"\n'), "patch[0].file", "`~/x.py` must be relative", id="home"),
    pytest.param(
        with_sections(STUB + 'file = "a/../../x.py"\n'),
        "patch[0].file",
        "`a/../../x.py` must not leave its folder (`..`)",
        id="dots",
    ),
    pytest.param(
        with_sections(STUB + 'file = ".."\n'), "patch[0].file", "`..` must not leave its folder (`..`)", id="dots-alone"
    ),
    pytest.param(
        with_sections(STUB + 'files = ["C:x.py"]\n'), "patch[0].files[0]", "`C:x.py` must not name a drive", id="drive"
    ),
    pytest.param(
        with_sections(STUB + "file = 'a\\..\\x.py'\n"),
        "patch[0].file",
        "`a\\..\\x.py` must be written with forward slashes",
        id="backslash",
    ),
    pytest.param(
        with_sections('[project]\nrecognise = ["../x.py"]\n'),
        "project.recognise[0]",
        "`../x.py` must not leave its folder (`..`)",
        id="recognise",
    ),
    pytest.param(
        with_sections('[[index]]\nname = "i"\nurl = "http://index.example/x"\npackages = ["torch"]\n'),
        "index[0].url",
        "`http://index.example/x` must be an https URL (file and loopback URLs are allowed too)",
        id="url",
    ),
    pytest.param(
        with_sections('[[index]]\nname = "i"\nurl = "http://127.0.0.1:80@index.example/x"\npackages = ["torch"]\n'),
        "index[0].url",
        "`http://127.0.0.1:80@index.example/x` must be an https URL (file and loopback URLs are allowed too)",
        id="url-whose-user-looks-like-this-machine",
    ),
    pytest.param(
        with_sections('[[index]]\nname = "i"\nurl = "http://localhost.index.example/x"\npackages = ["torch"]\n'),
        "index[0].url",
        "`http://localhost.index.example/x` must be an https URL (file and loopback URLs are allowed too)",
        id="url-that-begins-like-this-machine",
    ),
    pytest.param(
        with_sections('[environment]\n"A-B" = "1"\n'),
        "environment.A-B",
        "`A-B` is not the name of an environment variable",
        id="variable",
    ),
    pytest.param(
        with_sections("[environment]\nA = 1\n"),
        "environment.A",
        "must be a string, not an integer: write it in quotes",
        id="variable-type",
    ),
    pytest.param(
        with_sections('[environment]\nA = "1\\n2"\n'), "environment.A", "must be on one line", id="variable-lines"
    ),
    pytest.param(
        with_sections(PATCH + 'file = "a.py"\n'),
        "patch[0]",
        "needs one of `guard-import`, `stub-function`, `replace-function`, `set-attribute`, `set-argument`, "
        "`replace-requirement`, `replace-text`, `remove-file`",
        id="no-kind",
    ),
    pytest.param(with_sections(STUB), "patch[0]", "needs one of `file`, `files`", id="no-file"),
    pytest.param(
        with_sections(STUB + 'file = "a.py"\nfiles = ["b.py"]\n'),
        "patch[0].files",
        "cannot stand beside `file`: exactly one of `file`, `files`",
        id="both",
    ),
    pytest.param(
        with_sections(PATCH + 'file = "a.py"\nset-argument = "device"\nvalue = "1"\n'),
        "patch[0].call",
        "missing key `call`, which `set-argument` needs",
        id="together",
    ),
    pytest.param(
        with_sections(STUB + 'file = "a.py"\nfallback = "x = 1"\n'),
        "patch[0].fallback",
        "means something only beside `guard-import`",
        id="stray",
    ),
    pytest.param(
        with_sections(PATCH + 'file = "a.py"\nreplace-text = "a"\nwith = "b"\ncount = 0\n'),
        "patch[0].count",
        "must be 1 or more, not 0",
        id="count",
    ),
    pytest.param(
        with_sections('[[placement]]\ncomponent = "c"\nalways = true\nset = { attribute = "device" }\n'),
        "placement[0].set.file",
        "missing key `file`, which `attribute` needs",
        id="set",
    ),
    pytest.param(
        with_sections('[[exclude]]\nname = "a b"\nbecause = "b"\n'),
        "exclude[0].name",
        "`a b` is not a project name",
        id="name",
    ),
    pytest.param(
        with_sections('[[exclude]]\nname = "a"\nbecause = "  "\n'),
        "exclude[0].because",
        "must not be empty",
        id="blank",
    ),
    pytest.param(
        MINIMAL.replace('"a-stack"', '"A Stack"'),
        "profile.name",
        "`A Stack` is not a profile name (lower-case words joined by `-`)",
        id="profile-name",
    ),
    pytest.param(
        with_sections('[[coupled]]\nnames = ["a", "b"]\nrule = "same"\n'),
        "coupled[0].rule",
        "must be one of `same-version`, `same-minor`, `table`, not `same`",
        id="rule",
    ),
    pytest.param(
        with_sections('[environments.two]\npython = ">=3.10"\n'),
        "environments.two.because",
        "missing required key `because`",
        id="environments",
    ),
]

BEYOND_SCHEMA = [
    pytest.param(
        with_sections('[[requires]]\nrequirement = "six @ http://index.example/six.whl"\nbecause = "b"\n'),
        "requires[0].requirement",
        "`http://index.example/six.whl` must be an https URL (file and loopback URLs are allowed too)",
        id="direct-url",
    ),
    pytest.param(
        with_sections('[[exclude]]\nname = "a"\nbecause = "\\u001b[31mred"\n'),
        "exclude[0].because",
        "must not hold control characters",
        id="control",
    ),
    pytest.param(
        MINIMAL.replace('">=3.10,<3.13"', '">=4"'),
        "target.python",
        "`>=4` admits no CPython from 3.8 to 3.15",
        id="no-python",
    ),
    pytest.param(
        MINIMAL + 'preferred-python = "3.9"\n',
        "target.preferred-python",
        '`3.9` is not admitted by `python = ">=3.10,<3.13"`',
        id="preferred",
    ),
    pytest.param(
        MINIMAL.replace('"x86_64"', '"arm64"'),
        "target.arch",
        "`linux` runs on `x86_64` or `aarch64`, not on `arm64`",
        id="arch-of-os",
    ),
    pytest.param(
        MINIMAL.replace('"cuda"', '"coreml"'),
        "target.backend",
        "`coreml` exists on `macos`, not on `linux`",
        id="backend-of-os",
    ),
    pytest.param(
        MINIMAL.replace('"linux"', '"macos"').replace('"x86_64"', '"arm64"').replace('"cuda"', '"xpu"'),
        "target.backend",
        "`xpu` exists on `windows` or `linux`, not on `macos`",
        id="xpu-of-os",
    ),
    pytest.param(
        MINIMAL + 'macos = "14.0"\n', "target.macos", "means something only where `os` is `macos`", id="level-of-os"
    ),
    pytest.param(
        with_sections('[[exclude]]\nname = "a.b"\nbecause = "b"\n[[exclude]]\nname = "A-B"\nbecause = "b"\n'),
        "exclude[1]",
        "`a-b` is already in `exclude[0]`",
        id="duplicate",
    ),
    pytest.param(
        with_sections(
            '[[override]]\nrequirement = "a==1"\nbecause = "b"\n[[override]]\nrequirement = "A==2"\nbecause = "b"\n'
        ),
        "override[1]",
        "`a` is already in `override[0]`",
        id="duplicate-override",
    ),
    pytest.param(
        with_sections(*['[[requires]]\nrequirement = "six>1"\nbecause = "b"\n'] * 2),
        "requires[1]",
        "`six>1` is already in `requires[0]`",
        id="duplicate-requires",
    ),
    pytest.param(
        with_sections('[[requires]]\nrequirement = "six"\nbecause = "b"\n[[exclude]]\nname = "Six"\nbecause = "b"\n'),
        "requires[0]",
        "asks for `six`, which `exclude[0]` excludes",
        id="contradiction",
    ),
    pytest.param(
        with_sections('[[override]]\nrequirement = "six==1"\nreplaces = []\nbecause = "b"\n'),
        "override[0].replaces",
        "is empty: an override that replaces nothing",
        id="replaces-nothing",
    ),
    pytest.param(
        with_sections('[[override]]\nrequirement = "six==1"\nreplaces = "Six"\nbecause = "b"\n'),
        "override[0].replaces",
        "names `six` itself: it must say whose demand on `six` is set aside",
        id="replaces-itself",
    ),
    pytest.param(
        with_sections('[[override]]\nrequirement = "six"\nbecause = "b"\n'),
        "override[0].requirement",
        "`six` names no version: an override that replaces nothing",
        id="no-version",
    ),
    pytest.param(
        with_sections('[[coupled]]\nnames = ["torch"]\nrule = "table"\n'),
        "coupled[0].names",
        "needs two projects or more",
        id="coupled",
    ),
    pytest.param(
        with_sections(
            '[[index]]\nname = "i"\nurl = "https://index.example/i"\npackages = ["torch"]\n',
            '[[index]]\nname = "j"\nurl = "https://index.example/j"\npackages = ["Torch"]\n',
        ),
        "index[1].packages[0]",
        "`Torch` is already bound by `index[0]`",
        id="bound-twice",
    ),
    pytest.param(
        with_sections('[[index]]\nname = "default"\nurl = "https://index.example/i"\npackages = ["torch"]\n'),
        "index[0].name",
        "`default` is what the user's own index is called",
        id="default-index",
    ),
    pytest.param(
        with_sections('[smoke]\nkernels = ["stft"]\n[[placement]]\ncomponent = "c"\nneeds = ["istft"]\n'),
        "placement[0].needs[0]",
        "`istft` is not in `smoke.kernels`, so nothing would test it; did you mean `stft`?",
        id="unproved",
    ),
    pytest.param(
        with_sections(STUB + 'file = "a.py"\ncomponent = "c"\n'),
        "patch[0].component",
        "no placement is for `c`",
        id="component",
    ),
    pytest.param(
        with_sections('[remove]\nexclude = ["six"]\n'),
        "remove",
        "there is no base to remove from: `profile.extends` is missing",
        id="remove",
    ),
    pytest.param(
        MINIMAL.replace("summary", 'extends = "xtts-zlda"\nsummary'),
        "profile.extends",
        "no profile is called `xtts-zlda`; did you mean `xtts-zluda`?",
        id="extends",
    ),
    pytest.param(
        MINIMAL.replace("summary", 'extends = "../base.toml"\nsummary'),
        "profile.extends",
        "`../base.toml` must be a file beside this one, without a folder",
        id="extends-outside",
    ),
]


def faults_of(text: str) -> tuple[Fault, ...]:
    with pytest.raises(ProfileError) as caught:
        parse_profile(text, "a-stack.toml")
    return caught.value.faults


@pytest.mark.parametrize(("text", "key_path", "message"), [*SEEN_BY_SCHEMA, *BEYOND_SCHEMA])
def test_one_fault_has_one_message_with_its_key_path(text: str, key_path: str, message: str) -> None:
    faults = faults_of(text)

    assert [(fault.key_path, fault.message) for fault in faults] == [(key_path, message)]


@pytest.mark.parametrize(("text", "key_path", "message"), SEEN_BY_SCHEMA)
def test_an_editor_sees_it_too(text: str, key_path: str, message: str) -> None:
    import jsonschema

    from envdoctor.profile.template import schema

    assert not jsonschema.Draft202012Validator(schema()).is_valid(toml.loads(text))


@pytest.mark.parametrize(
    ("section", "key_path", "start"),
    [
        (
            '[[requires]]\nrequirement = "six >> 1"\nbecause = "b"\n',
            "requires[0].requirement",
            "`six >> 1` is not a PEP 508 requirement: ",
        ),
        (
            '[[override]]\nrequirement = "six==one"\nbecause = "b"\n',
            "override[0].requirement",
            "`six==one` is not a PEP 508 requirement: ",
        ),
        (
            STUB + 'file = "a.py"\nwhen = "torch>=two"\n',
            "patch[0].when",
            "`torch>=two` is not a condition such as `torch>=2.6`: ",
        ),
        (
            PATCH + 'file = "a.py"\nset-attribute = "device"\nvalue = "1 +"\n',
            "patch[0].value",
            "is not a Python expression: ",
        ),
        (
            PATCH + 'file = "a.py"\nguard-import = "m"\nfallback = "x ="\n',
            "patch[0].fallback",
            "is not Python source: ",
        ),
    ],
)
def test_what_a_parser_refuses_is_said_in_its_words(section: str, key_path: str, start: str) -> None:
    (fault,) = faults_of(with_sections(section))

    assert fault.key_path == key_path
    assert fault.message.startswith(start)
    assert len(fault.message) > len(start)
    assert not fault.message.endswith(".")


def test_all_faults_come_at_once_in_the_order_of_the_file() -> None:
    text = with_sections('[[exclude]]\nname = "six"\n', "[environment]\nA = 1\n").replace('"linux"', '"lynux"')

    assert [fault.key_path for fault in faults_of(text)] == ["target.os", "exclude[0].because", "environment.A"]


def test_faults_carry_the_line_of_their_key() -> None:
    text = with_sections(
        '[[requires]]\nrequirement = "six"\nbecause = """\nx = 1\n"""\n[[requires]]\nrequirement = "a b"\nbecause = "b"'
    )

    (fault,) = faults_of(text)

    assert text.splitlines()[fault.line - 1] == 'requirement = "a b"' if fault.line else False


def test_a_missing_key_points_to_its_table() -> None:
    text = with_sections('[[exclude]]\nname = "six"')

    (fault,) = faults_of(text)

    assert fault.line == text.splitlines().index("[[exclude]]") + 1


def test_a_syntax_error_has_its_line() -> None:
    faults = faults_of(MINIMAL + "[environment\n")

    assert len(faults) == 1
    assert faults[0].line == MINIMAL.count("\n") + 1
    assert faults[0].message.startswith("not valid TOML: ")


def test_an_unfinished_file_is_a_syntax_error() -> None:
    (fault,) = faults_of(MINIMAL + '[environment]\nA = """')

    assert fault.message.startswith("not valid TOML: ")


def test_deep_nesting_is_one_fault() -> None:
    (fault,) = faults_of(MINIMAL + "a = " + "[" * 100_000)

    assert "profile" in fault.message or "TOML" in fault.message


def test_the_error_reads_as_file_line_key_and_message() -> None:
    error = ProfileError("p.toml", [Fault("a.b", "is odd", 3), Fault("", "no such file")])

    assert str(error) == "p.toml:3: `a.b`: is odd\np.toml: no such file"
