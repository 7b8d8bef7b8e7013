"""Names, files, bases: how a profile is found and put together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from profile_texts import MINIMAL, with_sections

from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.profile import PatchKind
from envdoctor.model.requirement import RequirementKind
from envdoctor.profile.load import load_profile, parse_profile, validate
from envdoctor.profile.profile_target import python_choices
from envdoctor.profile.validation import ProfileError
from envdoctor.toml_tables import Fault

BASE = """\
schema = 1
[profile]
name = "base"
summary = "A base"
abstract = true
[target]
os = "linux"
arch = "x86_64"
[[requires]]
requirement = "inflect"
because = "b"
[[override]]
requirement = "torch==2.4.1"
because = "b"
[[patch]]
name = "one"
file = "a.py"
stub-function = "f"
because = "b"
[environment]
A = "1"
B = "2"
[smoke]
kernels = ["stft", "conv1d"]
workloads = ["w"]
"""
CHILD = """\
schema = 1
[profile]
name = "child"
summary = "A child"
extends = "base.toml"
[target]
python = ">=3.10"
backend = "cuda"
"""


@pytest.fixture
def family(tmp_path: Path) -> Path:
    (tmp_path / "base.toml").write_text(BASE, encoding="utf-8")
    (tmp_path / "child.toml").write_text(CHILD, encoding="utf-8")
    return tmp_path


def child(family: Path, *sections: str) -> str:
    path = family / "child.toml"
    path.write_text("\n".join((CHILD, *sections)), encoding="utf-8")
    return str(path)


def faults(path: str) -> list[tuple[str, str]]:
    with pytest.raises(ProfileError) as caught:
        load_profile(path)
    return [(fault.key_path, fault.message) for fault in caught.value.faults]


def test_a_child_has_what_its_base_has(family: Path) -> None:
    profile = load_profile(child(family))

    assert profile.name == "child"
    assert profile.target.os.value == "linux"
    assert profile.environment == {"A": "1", "B": "2"}
    assert [str(item.requirement) for item in profile.requires] == ["inflect"]


def test_tables_override_by_key_and_arrays_append(family: Path) -> None:
    profile = load_profile(
        child(
            family,
            '[environment]\nB = "3"\nC = "4"\n[smoke]\nkernels = ["istft"]\n',
            '[[requires]]\nrequirement = "six"\nbecause = "b"\n',
        )
    )

    assert profile.environment == {"A": "1", "B": "3", "C": "4"}
    assert profile.smoke.kernels == ("istft",)
    assert profile.smoke.workloads == ("w",)
    assert [str(item.requirement) for item in profile.requires] == ["inflect", "six"]


def test_an_origin_names_the_file_that_a_person_would_edit(family: Path) -> None:
    profile = load_profile(child(family, '[[requires]]\nrequirement = "six"\nbecause = "b"\n'))

    assert [item.requirement.origin for item in profile.requires] == [
        ProfileOrigin("base", "requires[0]"),
        ProfileOrigin("child", "requires[0]"),
    ]


def test_remove_takes_away_what_the_base_has(family: Path) -> None:
    profile = load_profile(
        child(family, '[remove]\nrequires = ["Inflect"]\noverride = ["torch"]\npatch = ["one"]\nenvironment = ["A"]\n')
    )

    assert profile.requires == profile.overrides == profile.patches == ()
    assert profile.environment == {"B": "2"}


def test_remove_of_what_the_base_lacks_is_a_fault(family: Path) -> None:
    assert faults(child(family, '[remove]\noverride = ["torhc"]\n')) == [
        ("remove.override[0]", "the base has no `torhc` in `override`; did you mean `torch`?")
    ]


def test_an_entry_that_the_base_has_must_be_removed_first(family: Path) -> None:
    section = '[[override]]\nrequirement = "torch==2.6.0"\nbecause = "b"\n'

    assert faults(child(family, section)) == [
        ("override[0]", "`torch` is already in `override[0]` of `base`; take it away with `remove.override`")
    ]
    assert (
        load_profile(child(family, '[remove]\noverride = ["torch"]\n' + section)).overrides[0].requirement.name
        == "torch"
    )


def test_a_caution_of_the_base_is_removed_by_its_name(family: Path) -> None:
    base = family / "base.toml"
    base.write_text(base.read_text("utf-8") + '[[caution]]\nname = "slow"\ntext = "Slow"\n[[caution]]\ntext = "Old"\n')
    own = '[[caution]]\nname = "slow"\ntext = "Faster here"\n'

    assert faults(child(family, own)) == [
        ("caution[0]", "`slow` is already in `caution[0]` of `base`; take it away with `remove.caution`")
    ]
    assert faults(child(family, '[remove]\ncaution = ["slwo"]\n')) == [
        ("remove.caution[0]", "the base has no `slwo` in `caution`; did you mean `slow`?")
    ]
    profile = load_profile(child(family, '[remove]\ncaution = ["slow"]\n' + own))
    assert [caution.text for caution in profile.cautions] == ["Old", "Faster here"]


def test_a_base_is_no_profile(family: Path) -> None:
    assert faults(str(family / "base.toml")) == [
        ("profile.abstract", "`base` is a base for other profiles and cannot be used itself")
    ]


def test_a_shipped_base_names_its_children() -> None:
    ((key_path, message),) = faults("diffrhythm2")

    assert key_path == "profile.abstract"
    assert "`diffrhythm2-directml`" in message


def test_a_base_may_be_validated(family: Path) -> None:
    assert validate([str(family / "base.toml"), str(family / "child.toml")]) == {
        str(family / "base.toml"): (),
        str(family / "child.toml"): (),
    }


def test_a_fault_of_the_base_names_the_base(family: Path) -> None:
    base = family / "base.toml"
    base.write_text(BASE.replace('"linux"', '"lynux"'), encoding="utf-8")

    with pytest.raises(ProfileError) as caught:
        load_profile(str(family / "child.toml"))
    assert caught.value.source == str(base)

    (fault,) = validate([str(family / "child.toml")])[str(family / "child.toml")]
    assert fault.key_path == "profile.extends"
    assert fault.message.startswith(f"`{base}`: `target.os`: must be one of ")


def test_bases_that_go_in_a_circle(family: Path) -> None:
    (family / "base.toml").write_text(BASE.replace("abstract = true", 'extends = "child.toml"'), encoding="utf-8")

    with pytest.raises(ProfileError) as caught:
        load_profile(str(family / "child.toml"))
    assert caught.value.faults[0].key_path == "profile.extends"
    assert caught.value.faults[0].message == "goes in a circle: child -> base -> child"


def test_a_base_that_is_not_there(tmp_path: Path) -> None:
    assert faults(child(tmp_path))[0] == ("profile.extends", "there is no `base.toml` beside this file")


def test_a_child_of_a_shipped_profile(tmp_path: Path) -> None:
    profile = parse_profile(
        CHILD.replace('"base.toml"', '"xtts-zluda"')
        .replace('backend = "cuda"\n', "")
        .replace('python = ">=3.10"\n', ""),
        str(tmp_path / "child.toml"),
    )

    assert profile.extends == "xtts-zluda"
    assert profile.documentation == ""
    assert "deepspeed" in {item.name for item in profile.excludes}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("xtts-zlda", "no profile is called `xtts-zlda`; did you mean `xtts-zluda`?"),
        ("qqq", "no profile is called `qqq`; `envdoctor profiles list` shows all"),
        ("nowhere/p.toml", "no such file"),
    ],
)
def test_a_profile_that_is_not_there(name: str, message: str) -> None:
    assert faults(name) == [("", message)]


def test_what_is_no_text_is_said_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(b"schema = 1\n\xff\xfe\n")

    assert validate([str(path)]) == {str(path): (Fault("", "is not UTF-8 text", 2),)}


def test_a_folder_is_no_profile(tmp_path: Path) -> None:
    ((_, message),) = faults(f"{tmp_path}/")

    assert message.startswith("cannot be read: ")


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(b"\xef\xbb\xbf" + MINIMAL.replace("\n", "\r\n").encode())

    assert load_profile(str(path)).name == "a-stack"


def test_values_keep_their_meaning() -> None:
    profile = parse_profile(
        with_sections(
            "[[requires]]\nrequirement = \"Foo_Bar[X]<2; python_version < '3.12'\"\n"
            'kind = "constraint"\nbecause = "b"\n',
            '[[override]]\nrequirement = "torch==2.4.1"\nreplaces = "project"\nbecause = "b"\nevidence = "e#1"\n',
            '[[index]]\nname = "i"\nurl = "http://127.0.0.1:8080/simple"\npackages = ["Torch_X"]\n'
            'local-label = "rocm6.4.2"\n',
            '[[patch]]\nfiles = ["a/**/*.py"]\nguard-import = "deepspeed"\nbecause = "b"\n',
            '[[patch]]\nroot = "site-packages"\nfile = "a.so*"\nremove-file = true\nbecause = "b"\n',
            '[[exclude]]\nname = "Deep_Speed"\nstubs = ["deepspeed", "deepspeed.ops"]\nbecause = "b"\n',
            "[environments.one]\npython = '>=3.11'\nbecause = 'b'\n",
        ),
        "a-stack.toml",
    )

    wanted = profile.requires[0].requirement
    assert (wanted.name, wanted.extras, str(wanted.specifier)) == ("foo-bar", {"x"}, "<2")
    assert wanted.kind is RequirementKind.CONSTRAINT
    assert str(wanted.marker) == 'python_version < "3.12"'
    assert profile.overrides[0].replaces == ("project",)
    assert profile.overrides[0].evidence == "e#1"
    assert (profile.excludes[0].name, profile.excludes[0].stubs) == ("deep-speed", ("deepspeed", "deepspeed.ops"))
    assert profile.indexes[0].packages == ("torch-x",)
    assert profile.indexes[0].local_label == "rocm6.4.2"
    assert profile.patches[0].kind is PatchKind.GUARD_IMPORT
    assert profile.patches[0].module == "deepspeed"
    assert profile.patches[1].kind is PatchKind.REMOVE_FILE
    assert profile.environments[0].name == "one"


@pytest.mark.parametrize("url", ["https://index.example/x", "http://localhost/x", "http://[::1]:1/x", "file:///srv/x"])
def test_safe_urls_are_fine(url: str) -> None:
    parse_profile(with_sections(f'[[index]]\nname = "i"\nurl = "{url}"\npackages = ["torch"]\n'), "p.toml")


@pytest.mark.parametrize(
    ("python", "choices"), [("==3.11.4", [(3, 11)]), (">=3.11.4,<3.12.1", [(3, 12), (3, 11)]), ("<3.8.1", [(3, 8)])]
)
def test_a_minor_version_is_a_choice_where_any_of_its_patch_releases_is(
    python: str, choices: list[tuple[int, int]]
) -> None:
    profile = parse_profile(MINIMAL.replace(">=3.10,<3.13", python), "p.toml")
    assert python_choices(profile) == choices


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """A project's settings may name one, and nobody writes to it."""
    os.mkfifo(tmp_path / "own.toml")
    with pytest.raises(ProfileError, match="is a named pipe, and no file"):
        load_profile(str(tmp_path / "own.toml"))


def test_faults_without_end_are_told_to_a_limit(tmp_path: Path) -> None:
    """Twenty thousand of them were a message of six megabytes."""
    rows = "".join(f'[[requires]]\npackage = "p{number}"\nspecifier = ">=1"\n' for number in range(300))
    (tmp_path / "own.toml").write_text(f'schema = 1\n[profile]\nname = "own"\n{rows}', encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        load_profile(str(tmp_path / "own.toml"))
    told = str(caught.value).splitlines()
    assert len(told) == 201
    assert told[-1].endswith(f": and {len(caught.value.faults) - 200} more like these")
