"""Whole treatments in this process: what they do, what stops them, what is left when they stop, and undo."""

from __future__ import annotations

import io
import os
import signal
import stat
import tarfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from apply_archives import Served, make_wheel, planned, serve
from apply_treating import apply, only, undo
from apply_world import (
    BASE,
    EVERYTHING,
    GAMMA_1,
    UV,
    World,
    full_plan,
    make_world,
    python_in,
    run,
    site_of,
    tree_state,
)

from envdoctor.adapters.apply.backups import Backups
from envdoctor.adapters.apply.holding import Busy, hold_environment
from envdoctor.adapters.apply.installers import Pip, Uv, ask_installers
from envdoctor.adapters.apply.journal import list_journals
from envdoctor.adapters.apply.records import read_record
from envdoctor.adapters.apply.restore import take_back
from envdoctor.model.step import DownloadFiles, InstallFromLock, PatchFile


def test_every_kind_of_step_is_done_and_taken_back(world: World, served: Served) -> None:
    before = world.state()
    applied = apply(world, full_plan(world, served.url))
    assert applied.failure is None
    site = site_of(world.environment)
    assert (site / "alpha/__init__.py").read_text() == "V = 2\n"
    assert not (site / "alpha/old.py").exists()
    assert not (site / "beta").exists()
    assert (site / "delta.py").read_text() == "WHO = 'delta'\nDEVICE = 'cpu'\n"
    assert (site / "deepspeed/__init__.py").exists()
    assert (
        (world.project / "app.py").read_bytes().startswith(b"try:\r\n    import deepspeed\r\nexcept ImportError:\r\n")
    )
    assert not (world.project / "scripts/start.bat").exists()
    record = read_record(world.environment)
    assert record is not None
    assert record.variables == {"PYTHONUTF8": "1"}
    assert {item.state for item in record.patched} == {"patched"}
    assert not (world.environment / ".envdoctor/journal" / applied.journal / "files").exists()
    assert undo(world) == []
    assert world.state() == before


def test_a_new_environment_goes_again(tmp_path: Path, served: Served) -> None:
    world = make_world(tmp_path / "new", environment=False)
    before = world.state()
    assert apply(world, full_plan(world, served.url, created=True)).failure is None
    (world.environment / "mine.txt").write_text("later")
    kept = undo(world)
    assert not world.environment.exists()
    assert [Path(place, "mine.txt").read_text() for place in kept] == ["later"]
    assert {name: value for name, value in world.state().items() if name.startswith("project")} == {
        name: value for name, value in before.items() if name.startswith("project")
    }


def test_what_a_person_did_in_a_new_environment_outlives_it(tmp_path: Path, served: Served) -> None:
    world = make_world(tmp_path / "new", environment=False)
    assert apply(world, full_plan(world, served.url, created=True)).failure is None
    first = world.environment
    site = site_of(first)
    (site / "alpha/new.py").write_text("edited\n")
    (site / "alpha/own.py").write_text("mine\n")
    (site / "later").mkdir()
    (site / "later/__init__.py").write_text("installed later\n")
    (site / "later/empty").mkdir()
    for cache in (site / "alpha/__pycache__", site / "cached/__pycache__"):
        cache.mkdir(parents=True, exist_ok=True)
        (cache / "own.cpython-311.pyc").write_bytes(b"made anew")
    (site / "pip-99.0.dist-info").mkdir()
    (site / "pip-99.0.dist-info/METADATA").write_text("Name: pip\n")
    # A second fix on top, taken back by the same undo: what it puts aside must not go with the environment.
    zeta = planned("zeta", "1.0", *make_wheel("zeta", "1.0", {"zeta.py": "A = 1\n"}), served.url)
    with serve(dict([make_wheel("zeta", "1.0", {"zeta.py": "A = 1\n"})])) as more:
        applied = apply(world, only(world, replace(zeta, url=more.url + zeta.filename)))
    assert applied.failure is None
    (site / "zeta.py").write_text("edited, too\n")
    with hold_environment(first, wait_s=5, say=lambda _text: None):
        done = take_back(first, [record.id for record in reversed(list_journals(first))], world.project)
    assert not first.exists()
    kept = [(Path(place), name) for _, restored in done for place, names in restored.kept.items() for name in names]
    assert all((place / name).exists() for place, name in kept)
    inside = site.relative_to(first).as_posix()
    told = sorted(name.partition(f"{inside}/")[2] for _, name in kept)
    assert told == ["alpha/new.py", "alpha/own.py", "later", "zeta.py"]
    files = {path.name for place, _ in kept for path in place.rglob("*") if path.is_file()}
    assert files == {"new.py", "own.py", "__init__.py", "zeta.py"}


def test_a_package_that_was_replaced_since_and_that_the_fix_had_not_touched_stays_whole(
    world: World, tmp_path: Path, served: Served
) -> None:
    """No copy of the old one is there: taking the new one's files away would leave half of each."""
    (site_of(world.environment) / "beta.pth").write_text("# 1\n")  # Of such files there always is a copy.
    with serve(dict([make_wheel("zeta", "1.0", {"zeta.py": "A = 1\n"})])) as more:
        zeta = planned("zeta", "1.0", *make_wheel("zeta", "1.0", {"zeta.py": "A = 1\n"}), served.url)
        assert apply(world, only(world, replace(zeta, url=more.url + zeta.filename))).failure is None
    wheels = [
        make_wheel("beta", "9.0", {"beta/__init__.py": "V = 9\n", "beta/new.py": "", "beta.pth": "# 9\n"}),
        make_wheel("eta", "1.0", {"eta.py": "E = 1\n"}),
    ]
    for name, data in wheels:
        (tmp_path / name).write_bytes(data)
    run(
        [UV, "pip", "install", "--no-config", "--offline", "--no-index", "--no-deps", "--link-mode", "copy",
         "--python", str(python_in(world.environment)), *(str(tmp_path / name) for name, _ in wheels)]
    )  # fmt: skip
    site = site_of(world.environment)
    (site / "mine.py").write_text("mine\n")
    kept = undo(world)
    assert (site / "beta.pth").read_text() == "# 9\n"
    assert (site / "beta/__init__.py").read_text() == "V = 9\n"
    assert (site / "beta/new.py").exists()
    assert (site / "beta-9.0.dist-info/METADATA").exists()
    assert not list(site.glob("zeta*"))
    assert not list(site.glob("eta*"))
    assert sorted(path.name for place in kept for path in Path(place).rglob("*.py")) == ["eta.py", "mine.py"]


@pytest.mark.skipif(os.name == "nt", reason="files have no such modes there")
@pytest.mark.parametrize("created", [True, False])
def test_another_mode_alone_makes_no_file_a_persons_own(created: bool, tmp_path: Path, served: Served) -> None:
    world = make_world(tmp_path / "new", environment=not created)
    assert apply(world, full_plan(world, served.url, created=created)).failure is None
    for path in site_of(world.environment).rglob("*"):
        path.chmod(path.stat().st_mode ^ stat.S_IWOTH)
    assert undo(world) == []


def test_an_untouched_new_environment_leaves_nothing(tmp_path: Path, served: Served) -> None:
    world = make_world(tmp_path / "new", environment=False)
    assert apply(world, full_plan(world, served.url, created=True)).failure is None
    run([str(python_in(world.environment)), "-c", "import alpha, delta"])
    assert undo(world) == []
    assert not list(world.environment.parent.glob("*-kept-*"))


def test_a_reinstall_of_a_patched_package_is_noticed(world: World, served: Served) -> None:
    assert apply(world, full_plan(world, served.url)).failure is None
    (site_of(world.environment) / "gamma.py").write_bytes(b"import left_out\nDEVICE = 'cuda'\n")
    record = read_record(world.environment)
    assert record is not None
    assert {item.path: item.state for item in record.patched}["gamma.py"] == "reverted"


def test_what_a_person_did_after_the_fix_is_put_aside(world: World, served: Served) -> None:
    before = world.state()
    assert apply(world, full_plan(world, served.url)).failure is None
    (world.project / "app.py").write_bytes(b"my own work\n")
    site = site_of(world.environment)
    (site / "alpha/new.py").write_text("edited\n")
    (site / "later.py").write_text("installed later\n")
    (site / "alpha/__init__.py").write_text("edited, and replaced by the fix\n")
    (world.environment / "data.bin").write_bytes(b"1")
    undo(world)
    after = world.state()
    assert (world.project / "app.py.after-fix").read_bytes() == b"my own work\n"
    kept = world.environment / ".envdoctor/kept"
    assert {path.name for path in kept.rglob("*.py")} == {"new.py", "later.py", "__init__.py"}
    assert (world.environment / "data.bin").exists()
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == {
        "project/app.py.after-fix", "env/data.bin",
    }  # fmt: skip


def test_a_build_that_fails_shows_its_output_and_is_taken_back(world: World, served: Served) -> None:
    before = world.state()
    plan = full_plan(world, served.url)
    text = io.BytesIO()
    with tarfile.open(fileobj=text, mode="w:gz") as archive:
        backend = b"def build_wheel(*arguments, **more):\n    raise SystemExit('no compiler here')\n"
        for name, data in (
            (
                "delta-1.0/pyproject.toml",
                b'[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n',
            ),
            ("delta-1.0/own.py", backend),
        ):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    broken = planned("delta", "1.0", "delta-1.0.tar.gz", text.getvalue(), served.url, sdist=True)
    steps = [replace(step, file=broken) if step.kind == "build-sdist" else step for step in plan.steps]  # type: ignore[call-arg]
    steps = [
        replace(step, files=tuple(broken if file.sdist else file for file in step.files))
        if isinstance(step, DownloadFiles | InstallFromLock)
        else step
        for step in steps
    ]
    with serve({**EVERYTHING, "delta-1.0.tar.gz": text.getvalue()}) as other:
        steps = [
            replace(step, files=tuple(replace(file, url=other.url + file.filename) for file in step.files))
            if isinstance(step, DownloadFiles)
            else step
            for step in steps
        ]
        applied = apply(world, replace(plan, steps=tuple(steps)))
    assert applied.failure is not None
    assert "building `delta` failed" in applied.failure
    assert "no compiler here" in applied.outcomes[-1].output
    assert world.state() == before


def test_an_interruption_is_taken_back(world: World, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    before = world.state()

    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("envdoctor.adapters.apply.file_steps.FileSteps.stub", interrupt)
    with pytest.raises(KeyboardInterrupt):
        apply(world, full_plan(world, served.url))
    assert world.state() == before


def test_an_impatient_second_interruption_waits_for_the_taking_back(
    world: World, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = world.state()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    real = Backups.put_back

    def again(self: Backups, digest: str, path: Path, *, mode: int, mtime_ns: int) -> None:
        signal.raise_signal(signal.SIGINT)
        real(self, digest, path, mode=mode, mtime_ns=mtime_ns)

    monkeypatch.setattr("envdoctor.adapters.apply.file_steps.FileSteps.stub", interrupt)
    monkeypatch.setattr(Backups, "put_back", again)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        apply(world, full_plan(world, served.url))
    assert world.state() == before
    assert signal.getsignal(signal.SIGINT) is handler


def test_two_treatments_at_once(world: World) -> None:
    told: list[str] = []
    inside = threading.Event()
    leave = threading.Event()

    def first() -> None:
        with hold_environment(world.environment, wait_s=1, say=told.append):
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    assert inside.wait(5)
    with pytest.raises(Busy, match="is under way"), hold_environment(world.environment, wait_s=0.3, say=told.append):
        pass
    leave.set()
    thread.join()
    assert "waiting" in told[0]
    assert not (world.environment / ".envdoctor").exists()


def test_pip_alone_does_the_same(tmp_path: Path, served: Served) -> None:
    world = make_world(tmp_path / "pip", environment=False)
    run([BASE, "-m", "venv", str(world.environment)])
    wheel = tmp_path / "alpha-1.0-py3-none-any.whl"
    wheel.write_bytes(EVERYTHING[wheel.name])
    beta = tmp_path / "beta-1.0-py3-none-any.whl"
    beta.write_bytes(EVERYTHING[beta.name])
    python = str(python_in(world.environment))
    run([python, "-m", "pip", "install", "--no-index", "--no-deps", str(wheel), str(beta)])
    before = tree_state(world.environment)
    applied = apply(world, full_plan(world, served.url), Pip())
    assert applied.failure is None, applied.outcomes[-1].output
    word = ask_installers(python_in(world.environment), Pip())
    assert word.source.startswith("pip ")
    assert word.versions is not None
    assert word.versions["alpha"] == "2.0"
    assert (site_of(world.environment) / "gamma.py").read_text() == "import left_out\nDEVICE = 'cpu'\n"
    undo(world)
    after = tree_state(world.environment)
    assert {
        name: (before.get(name), after.get(name)) for name in {*before, *after} if before.get(name) != after.get(name)
    } == {}


def test_installers_are_asked_what_they_see(world: World, served: Served) -> None:
    name, data = make_wheel("needy", "1.0", {"needy.py": ""}, requires=("gamma>=2",))
    served.files[name] = data
    gamma = planned("gamma", "1.0", *GAMMA_1, served.url)
    assert apply(world, only(world, gamma, planned("needy", "1.0", name, data, served.url))).failure is None
    word = ask_installers(python_in(world.environment), Uv(UV))
    assert word.versions == {"alpha": "1.0", "beta": "1.0", "gamma": "1.0", "needy": "1.0"}
    assert [(consumer, wanted) for consumer, wanted, _ in word.complaints] == [("needy", "gamma")]


def test_backups_that_were_damaged_are_said(world: World, served: Served) -> None:
    applied = apply(world, full_plan(world, served.url))
    for copy in (world.environment / ".envdoctor/journal" / applied.journal / "backups").iterdir():
        copy.write_bytes(b"rot")
    with hold_environment(world.environment, wait_s=5, say=lambda _text: None):
        ((_, restored),) = take_back(world.environment, [applied.journal], world.project)
    assert any("missing or damaged" in problem for problem in restored.problems)


def test_a_patch_keeps_mode_and_newlines(world: World, served: Served) -> None:
    # Windows keeps of a mode whether a file may be written to.
    (world.project / "app.py").chmod(0o444 if os.name == "nt" else 0o755)
    mode = (world.project / "app.py").stat().st_mode
    plan = full_plan(world, served.url)
    step = next(step for step in plan.steps if isinstance(step, PatchFile))
    assert apply(world, replace(plan, steps=(step,))).failure is None
    assert (world.project / "app.py").stat().st_mode == mode
    assert b"\n" not in (world.project / "app.py").read_bytes().replace(b"\r\n", b"")


def test_the_same_wheel_again_is_whole(world: World, served: Served) -> None:
    gamma = planned("gamma", "1.0", *GAMMA_1, served.url)
    assert apply(world, only(world, gamma)).failure is None
    assert apply(world, only(world, gamma)).failure is None
    assert (site_of(world.environment) / "gamma.py").exists()
