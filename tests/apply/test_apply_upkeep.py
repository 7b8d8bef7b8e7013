"""A second fix over the first: what is left over goes, what is a person's stays; and stand-ins for excluded modules."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest
from apply_archives import Served, as_index, make_wheel, serve
from apply_commands import STACK, Fix
from apply_world import UV, python_in, run, site_of, tree_state

from envdoctor.cli.main import main

pytestmark = pytest.mark.usefixtures("quiet_machine")
OMEGA = make_wheel("omega", "1.0", {"omega.py": ""}, requires=("beta",))
OWNER = make_wheel("owner", "1.0", {"deepspeed/__init__.py": "REAL = True\n"})
DEEPSPEED = make_wheel("deepspeed", "1.0", {"deepspeed/__init__.py": "REAL = True\n"})
STUB = '[[exclude]]\nname = "deepspeed"\nstubs = ["deepspeed"]\nbecause = "its kernels abort"\n'


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve(as_index(*STACK, OMEGA, OWNER)) as it:
        yield it


def installed(environment: Path) -> set[str]:
    return {item.metadata["Name"] for item in distributions(path=[str(site_of(environment))])}


def install(environment: Path, folder: Path, *archives: tuple[str, bytes]) -> None:
    folder.mkdir(exist_ok=True)
    for name, data in archives:
        (folder / name).write_bytes(data)
    run(
        [UV, "pip", "install", "--no-config", "--offline", "--no-index", "--no-deps", "--link-mode", "copy",
         "--reinstall", "--python", str(python_in(environment)), *(str(folder / name) for name, _ in archives)]
    )  # fmt: skip


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_what_the_lock_has_no_use_for_any_more_goes_and_comes_back(
    fix: Fix, project: Path, installer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = project / ".venv"
    (project / "requirements.txt").write_text("epsilon\ngamma\nbeta\n")
    assert fix("--yes", "--installer", installer) == 0
    assert {"alpha", "beta", "epsilon", "gamma"} <= installed(environment)
    before = tree_state(environment)
    (project / "requirements.txt").write_text("epsilon\ngamma\n")
    capsys.readouterr()
    assert fix("--dry-run") == 0
    assert "remove `beta` 1.0: an earlier fix brought it" in capsys.readouterr().out
    assert fix("--yes", "--installer", installer) == 0
    assert {"alpha", "epsilon", "gamma"} <= installed(environment)
    assert "beta" not in installed(environment)
    assert json.loads((environment / ".envdoctor/environment.json").read_text())["brought"] == {
        "alpha": "2.0",
        "epsilon": "1.0",
        "gamma": "1.0",
    }
    assert main(["undo", "--env", str(environment)]) == 0
    assert tree_state(environment) == before


def test_a_package_of_conda_is_replaced_with_a_word_and_comes_back(
    fix: Fix, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = project / ".venv"
    run([UV, "venv", "--no-config", "--no-project", "--python", sys.executable, str(environment)])
    install(environment, tmp_path / "wheels", make_wheel("beta", "0.5", {"beta/__init__.py": "V = 0\n"}))
    (site_of(environment) / "beta-0.5.dist-info" / "INSTALLER").write_text("conda\n")
    (environment / "conda-meta").mkdir()
    (environment / "conda-meta" / "history").write_text("")
    (project / "requirements.txt").write_text("epsilon\ngamma\nbeta\n")
    before = tree_state(environment)
    assert fix("--dry-run") == 0
    assert "conda installed `beta` and does not learn of it" in " ".join(capsys.readouterr().out.split())
    assert fix("--yes") == 0
    assert (site_of(environment) / "beta/__init__.py").read_text() == "V = 1\n"
    assert main(["undo", "--env", str(environment)]) == 0
    assert tree_state(environment) == before


def test_what_was_there_before_the_first_fix_is_never_removed(fix: Fix, project: Path, tmp_path: Path) -> None:
    environment = project / ".venv"
    run([UV, "venv", "--no-config", "--no-project", "--python", sys.executable, str(environment)])
    install(environment, tmp_path / "wheels", *(item for item in STACK if item[0].startswith("beta")))
    (project / "requirements.txt").write_text("epsilon\ngamma\nbeta\n")
    assert fix("--yes") == 0
    (project / "requirements.txt").write_text("gamma\n")
    assert fix("--yes") == 0
    assert installed(environment) == {"beta", "gamma"}


def test_what_a_later_package_of_a_person_asks_for_stays_and_is_said(
    fix: Fix, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = project / ".venv"
    (project / "requirements.txt").write_text("gamma\nbeta\n")
    assert fix("--yes") == 0
    install(environment, tmp_path / "wheels", OMEGA)
    (project / "requirements.txt").write_text("gamma\n")
    capsys.readouterr()
    assert fix("--dry-run") == 0
    assert "`beta` 1.0 is not in the lock any more and stays: `omega` asks for it" in capsys.readouterr().out


def test_a_stand_in_is_found_is_empty_and_goes_with_the_fix(
    fix: Fix, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    environment = project / ".venv"
    assert fix("--yes", more=STUB) == 0
    code = "import importlib.util as u, deepspeed; print(u.find_spec('deepspeed') is not None, deepspeed.ops)"
    done = subprocess.run([python_in(environment), "-c", code], capture_output=True, text=True, check=False)
    assert "AttributeError: `deepspeed` is left out of this environment: its kernels abort" in done.stderr
    assert fix("--yes", more=STUB) == 0
    assert "nothing to do" in capfd.readouterr().err
    assert fix("--yes", more=STUB.replace("abort", "hang")) == 0
    assert "hang" in (site_of(environment) / "deepspeed/__init__.py").read_text()
    assert main(["check", str(project), "--env", str(environment), "--profile", str(project / "small.toml"),
                 "--no-imports", "--offline"]) in (0, 3)  # fmt: skip
    assert "deepspeed" not in capfd.readouterr().out.replace("app.py", "")
    assert main(["undo", "--env", str(environment)]) == 0
    assert "abort" in (site_of(environment) / "deepspeed/__init__.py").read_text()


def test_a_stand_in_takes_the_place_of_what_is_excluded(fix: Fix, project: Path, tmp_path: Path) -> None:
    environment = project / ".venv"
    run([UV, "venv", "--no-config", "--no-project", "--python", sys.executable, str(environment)])
    install(environment, tmp_path / "wheels", DEEPSPEED)
    before = tree_state(environment)
    assert fix("--yes", more=STUB) == 0
    assert "deepspeed" not in installed(environment)
    assert "REASON" in (site_of(environment) / "deepspeed/__init__.py").read_text()
    assert main(["undo", "--env", str(environment)]) == 0
    assert tree_state(environment) == before


def test_a_stand_in_for_a_module_that_a_package_brings_is_refused(
    fix: Fix, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "requirements.txt").write_text("gamma\nowner\n")
    assert fix("--yes", more=STUB) == 1
    assert "`owner` brings it (`deepspeed/__init__.py`)" in capsys.readouterr().err
    assert not (project / ".venv").exists()


@pytest.mark.parametrize("name", ["deepspeed.py", "deepspeed/own.py", "deepspeed.cpython-311-x86_64-linux-gnu.so"])
def test_a_stand_in_for_a_module_that_a_person_has_there_is_refused(
    fix: Fix, project: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = project / ".venv"
    run([UV, "venv", "--no-config", "--no-project", "--python", sys.executable, str(environment)])
    mine = site_of(environment) / name
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("MINE = 1\n")
    before = tree_state(project)
    assert fix("--yes", more=STUB) == 1
    assert f"`{name}` is there" in capsys.readouterr().err
    (project / "small.toml").unlink()
    assert tree_state(project) == before


GONE = '[[patch]]\nname = "gone"\nroot = "site-packages"\nfile = "alpha/new.py"\nremove-file = true\nbecause = "b"\n'


def without_patches(project: Path) -> str:
    """Write the profile without any patch; return its path."""
    file = project / "small.toml"
    head, *sections = file.read_text().split("\n[[")
    file.write_text("\n[[".join([head, *(item for item in sections if not item.startswith("patch")), ""]).rstrip("["))
    return str(file)


def test_what_no_patch_asks_for_any_more_is_taken_back(
    fix: Fix, project: Path, served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = project / ".venv"
    assert fix("--yes", more=GONE) == 0
    site = site_of(environment)
    assert not (site / "alpha/new.py").exists()
    patched = tree_state(environment)
    arguments = ["--profile", without_patches(project), "--index-url", f"{served.url}simple/"]
    capsys.readouterr()
    assert main(["fix", str(project), *arguments, "--yes"]) == 0
    assert (project / "app.py").read_text() == "import deepspeed\n"
    assert (site / "gamma.py").read_text() == "import left_out\nDEVICE = 'cuda'\n"
    assert (site / "alpha/new.py").read_text() == "y\n"
    assert json.loads((environment / ".envdoctor/patches.json").read_text()) == []
    assert main(["undo", "--env", str(environment)]) == 0
    assert tree_state(environment) == patched


def test_what_a_person_has_changed_in_a_patched_file_is_left_alone_and_said(
    fix: Fix, project: Path, served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fix("--yes") == 0
    (project / "app.py").write_text((project / "app.py").read_text() + "mine = 1\n")
    arguments = ["--profile", without_patches(project), "--index-url", f"{served.url}simple/"]
    capsys.readouterr()
    assert main(["fix", str(project), *arguments, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "take the patches of `gamma.py` back" in out
    assert "left out: `app.py` was changed after a fix had patched it (calm), and is left as it is" in out


def test_check_notices_a_patched_package_that_was_installed_again(
    fix: Fix, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = project / ".venv"
    assert fix("--yes") == 0
    checked = ["check", str(project), "--env", str(environment), "--profile", str(project / "small.toml"),
               "--no-imports", "--offline", "--format", "json"]  # fmt: skip

    def lost() -> list[str]:
        capsys.readouterr()
        main(checked)
        return [item["message"] for item in json.loads(capsys.readouterr().out)["findings"] if item["rule"] == "ENV013"]

    assert lost() == []
    (site_of(environment) / "gamma.py").unlink()
    install(environment, tmp_path / "wheels", *(item for item in STACK if item[0].startswith("gamma")))
    assert lost() == ["`gamma.py` of `gamma` has lost the patch `inner`: `gamma` was installed again"]
    assert fix("--yes") == 0
    assert lost() == []


def test_an_upgrade_of_a_patched_package_is_patched_from_its_new_file(fix: Fix, project: Path, served: Served) -> None:
    assert fix("--yes") == 0
    environment = project / ".venv"
    newer = make_wheel("gamma", "2.0", {"gamma.py": "import left_out\nDEVICE = 'cuda:1'\n"})
    with serve(as_index(*STACK, OMEGA, OWNER, newer)) as other:
        assert fix("--yes", index=f"{other.url}simple/") == 0
        assert (site_of(environment) / "gamma.py").read_text() == "import left_out\nDEVICE = 'cpu'\n"
        arguments = ["--profile", without_patches(project), "--index-url", f"{other.url}simple/"]
        assert main(["fix", str(project), *arguments, "--yes"]) == 0
    assert (site_of(environment) / "gamma.py").read_text() == "import left_out\nDEVICE = 'cuda:1'\n"


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_a_package_that_has_lost_a_file_is_installed_again_and_patched(
    fix: Fix, project: Path, installer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fix("--yes", "--installer", installer) == 0
    site = site_of(project / ".venv")
    whole = (site / "gamma.py").read_text()
    (site / "gamma.py").unlink()
    capsys.readouterr()
    assert fix("--dry-run", "--installer", installer) == 0
    assert "files of `gamma` 1.0 are missing or damaged: it is installed again" in capsys.readouterr().out
    assert fix("--yes", "--installer", installer) == 0
    assert (site / "gamma.py").read_text() == whole
    assert fix("--yes", "--installer", installer) == 0
    assert "nothing to do: `" in (said := "".join(capsys.readouterr())) and "as the profile wants it" in said


def test_a_library_of_the_recorded_size_and_another_content_is_installed_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = b"\x7fELF" + bytes(range(256))
    wheel = make_wheel("native", "1.0", {"native/_core.so": library, "native/__init__.py": "A = 1\n"})
    (tmp_path / "requirements.txt").write_text("native\n")
    with serve(as_index(wheel)) as it:
        arguments = ["fix", str(tmp_path), "--index-url", f"{it.url}simple/"]

        def said(option: str) -> str:
            assert main([*arguments, option]) == 0
            return "".join(capsys.readouterr())

        said("--yes")
        folder = site_of(tmp_path / ".venv") / "native"
        (folder / "__init__.py").write_text("A = 2\n")
        assert "has what the lock names" in said("--yes"), "a module may have been edited on purpose"
        (folder / "_core.so").write_bytes(library[:-1] + b"\0")
        assert "files of `native` 1.0 are missing or damaged: it is installed again" in said("--dry-run")
        said("--yes")
        assert (folder / "_core.so").read_bytes() == library
        assert "has what the lock names" in said("--yes")


def test_an_edited_module_is_left_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel = make_wheel("pure", "1.0", {"pure/__init__.py": "A = 1\n", "pure/more.py": "B = 1\n"})
    (tmp_path / "requirements.txt").write_text("pure\n")
    with serve(as_index(wheel)) as it:
        arguments = ["fix", str(tmp_path), "--index-url", f"{it.url}simple/"]

        def said(option: str) -> str:
            assert main([*arguments, option]) == 0
            return " ".join("".join(capsys.readouterr()).split())

        assert "on purpose" not in said("--yes") + said("--yes")
        module = site_of(tmp_path / ".venv") / "pure" / "__init__.py"
        module.write_text("A = 1\nB = 2\n")
        left = "`pure/__init__.py` of `pure` 1.0 has another size than recorded and is left"
        for option in ("--dry-run", "--yes"):
            words = said(option)
            assert "nothing to do" in words
            assert words.count(left) == 1
            assert "remove it, and `envdoctor fix` brings the package's own back" in words
        assert module.read_text() == "A = 1\nB = 2\n"
        module.unlink()
        assert left not in said("--yes")
        assert module.read_text() == "A = 1\n"
        assert "nothing to do" in (words := said("--yes"))
        assert left not in words


def test_without_a_profile_none_is_named(
    project: Path, served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "requirements.txt").write_text("beta\n")
    arguments = ["fix", str(tmp_path), "--index-url", f"{served.url}simple/", "--yes"]
    assert main(arguments) == 0
    capsys.readouterr()
    assert main(arguments) == 0
    assert ".venv` has what the lock names\n" in "".join(capsys.readouterr())


@pytest.mark.parametrize("option", ["--dry-run", "--yes"])
def test_what_a_later_patch_release_alone_can_have_is_not_put_on_this_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    later = f">={sys.version_info[0]}.{sys.version_info[1]}.{sys.version_info[2] + 1}"
    refused = make_wheel("pure", "2.0", {"pure.py": ""}, requires=(f"six; extra == 'x'\nRequires-Python: {later}",))
    pages = as_index(refused, make_wheel("pure", "1.0", {"pure.py": ""}))
    page = pages["simple/pure/"].replace(b'<a href="/pure-2.0', b'<a data-requires-python="%s" href="/pure-2.0')
    pages["simple/pure/"] = page.replace(b"%s", later.replace(">", "&gt;").encode())
    (tmp_path / "requirements.txt").write_text("pure\n")
    with serve(pages) as it:
        for _ in range(2):
            assert main(["fix", str(tmp_path), "--index-url", f"{it.url}simple/", option]) == 0
    said = "".join(capsys.readouterr())
    assert "pure 2.0" not in said
    assert option == "--yes" or "pure 1.0" in said
    assert option == "--dry-run" or (site_of(tmp_path / ".venv") / "pure-1.0.dist-info").is_dir()
