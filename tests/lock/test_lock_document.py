"""Locks: what is written, what is refused, what is read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from lock_index import LoopbackIndex
from lock_profile import profile_text
from packaging.pylock import Pylock
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.cli.main import main
from envdoctor.lock.lock_refusals import not_pinned
from envdoctor.lock.pylock_reader import LockError, parse_lock
from envdoctor.lock.pylock_writer import build_pylock, constraints_text, lock_text, overrides_text
from envdoctor.model.candidate import DistributionFile, FileKind
from envdoctor.model.origin import DistributionOrigin, FileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target
from envdoctor.toml_tables import read_toml

TARGET = Target(OperatingSystem.WINDOWS, Arch.X86_64, (3, 11), Backend.DIRECTML)
LINE = Requirement(
    canonicalize_name("torch"), FileOrigin("requirements.txt", 1), SpecifierSet("==2.7"), text="torch==2.7"
)
DEMAND = Requirement(
    canonicalize_name("torch"), DistributionOrigin("torchaudio", "2.4.1"), SpecifierSet("==2.4.1"), text="torch==2.4.1"
)


def _package(name: str, version: str, *, kind: FileKind = FileKind.WHEEL, **changes: object) -> ResolvedPackage:
    suffix = "-py3-none-any.whl" if kind is FileKind.WHEEL else ".tar.gz"
    facts: dict[str, object] = {
        "hashes": (("md5", "0" * 32), ("sha256", "a" * 64)),
        "size": 1234,
        "upload_time": "2024-09-04T12:00:00.123456Z",
    } | changes
    file = DistributionFile(
        canonicalize_name(name),
        Version(version),
        f"{name}-{version}{suffix}",
        kind,
        f"https://user:secret@index.example/files/{name}-{version}{suffix}",
        **facts,  # type: ignore[arg-type]
    )
    return ResolvedPackage(
        file.project,
        file.version,
        file,
        (file,),
        dependencies=(DEMAND,) if name == "torchaudio" else (),
        wanted_by=(DEMAND,) if name == "torch" else (),
        set_aside=(LINE,) if name == "torch" else (),
    )


RESOLUTION = Resolution((_package("torch", "2.4.1"), _package("torchaudio", "2.4.1")))
REPAIR = Repair(
    "R1",
    (
        Override(
            Requirement(
                canonicalize_name("torch"),
                FileOrigin("requirements.txt", 1),
                SpecifierSet("==2.4.1"),
                text="torch==2.4.1",
            ),
            (LINE,),
            replaces=("project",),
        ),
    ),
    ("C1",),
    cost=1,
    verified=True,
)


def _text() -> str:
    return lock_text(
        build_pylock(
            RESOLUTION,
            TARGET,
            created_by="envdoctor",
            profile="demo",
            overrides=REPAIR.overrides,
            index_urls={"default": "https://user:secret@index.example/simple"},
        )
    )


def test_a_lock_is_valid_pins_files_and_never_carries_credentials() -> None:
    text = _text()
    assert "secret" not in text
    assert "md5" not in text
    assert text == _text(), "the same resolution gives the same bytes"
    document = Pylock.from_dict(read_toml(text))
    torch, torchaudio = document.packages
    assert torch.wheels is not None
    assert dict(torch.wheels[0].hashes) == {"sha256": "a" * 64}
    assert torch.wheels[0].size == 1234
    assert torchaudio.dependencies == [{"name": "torch"}]
    assert torch.index == "https://index.example/simple"
    chosen = list(document.select(environment=TARGET.marker_environment(), tags=list(TARGET.tag_priorities())))
    assert [package.name for package, _ in chosen] == ["torch", "torchaudio"]


def test_a_lock_read_back_gives_versions_and_accepted_overrides() -> None:
    locked = parse_lock(_text(), "pylock.demo.toml")
    assert {name: str(version) for name, version in locked.versions.items()} == {
        "torch": "2.4.1",
        "torchaudio": "2.4.1",
    }
    assert locked.profile == "demo"
    assert locked.targets == ({"os": "windows", "arch": "x86_64", "python": "3.11", "backend": "directml"},)
    (override,) = locked.overrides
    assert str(override.requirement) == "torch==2.4.1"
    assert override.sets_aside == (LINE,)
    assert override.replaces == ("project",)
    assert override.source is OverrideSource.LOCK
    assert locked.hashes[canonicalize_name("torch")] == frozenset({"sha256:" + "a" * 64})


def test_an_sdist_is_locked_as_an_sdist() -> None:
    resolution = Resolution((_package("muq", "0.1.0", kind=FileKind.SDIST),))
    (package,) = build_pylock(resolution, TARGET, created_by="envdoctor").packages
    assert package.wheels is None
    assert package.sdist is not None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"hashes": ()}, "has no hash"),
        ({"hashes": (("md5", "0" * 32),)}, "has no hash"),
        ({"hashes": (("sha256", ""),)}, "has no hash"),
        ({"hashes": (("sha256", "z" * 64),)}, "has no hash"),
        ({"hashes": (("sha256", "0" * 63),)}, "has no hash"),
        ({"stand_in": True, "index": "pytorch-cu118"}, "`pytorch-cu118` could not be reached"),
    ],
)
def test_what_cannot_be_pinned_is_refused(changes: dict[str, object], reason: str) -> None:
    resolution = Resolution((_package("torch", "2.4.1", **changes),))
    (refusal,) = not_pinned(resolution)
    assert reason in refusal.message
    with pytest.raises(ValueError, match="torch: "):
        build_pylock(resolution, TARGET, created_by="envdoctor")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lock-version = ", "x.toml: not TOML"),
        ("[project]\nname = 'x'\n", "x.toml: not a valid PEP 751 lock"),
        ('lock-version = "1.0"\ncreated-by = "x"\npackages = [{}]\n', "packages"),
    ],
)
def test_a_file_that_is_not_a_lock_is_named(text: str, message: str) -> None:
    with pytest.raises(LockError, match=message):
        parse_lock(text, "x.toml")


def test_companions_say_why() -> None:
    assert "torch==2.4.1  # wanted by torchaudio 2.4.1" in constraints_text(RESOLUTION, "demo", "constraints.demo.txt")
    overrides = overrides_text(REPAIR.overrides, RESOLUTION, "demo", "overrides.demo.txt")
    assert "# sets aside torch==2.7 (requirements.txt:1)\ntorch==2.4.1\n" in overrides
    assert "# keeps torchaudio with torch\ntorchaudio==2.4.1\n" in overrides
    assert "hold as they stand" in overrides_text((), RESOLUTION, "demo", "overrides.demo.txt")


def test_companions_are_headed_with_whose_they_are_and_their_own_name(project: Path, index: LoopbackIndex) -> None:
    text = '[project]\nname = "app"\nversion = "1"\ndependencies = ["alpha"]\n[dependency-groups]\ndev = ["beta"]\n'
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    (project / "requirements.txt").unlink()
    assert main(["lock", str(project), "--quiet"]) == 0
    assert main(["lock", str(project), "--group", "dev", "--quiet"]) == 0
    (project / "stack.toml").write_text(profile_text(), encoding="utf-8")
    assert main(["lock", str(project), "--profile", str(project / "stack.toml"), "--quiet"]) == 0
    for name, whose in (("project", "the project"), ("group-dev", "the project"), ("stack", "profile stack")):
        constraints, overrides = (project / f"{kind}.{name}.txt" for kind in ("constraints", "overrides"))
        head = f"# Constraints of {whose}: pip install -c constraints.{name}.txt ...\n"
        assert constraints.read_text(encoding="utf-8").startswith(head)
        head = f"# Overrides of {whose}: uv pip install --overrides overrides.{name}.txt ...\n"
        assert overrides.read_text(encoding="utf-8").startswith(head)
