"""An environment with a project: a world that fits into a second, and a plan with every kind of step."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from apply_archives import make_sdist, make_wheel, planned
from packaging.utils import canonicalize_name

from envdoctor.adapters.apply.interpreters import ask_python
from envdoctor.adapters.smoke.startup_hook import hook_files
from envdoctor.model.plan import Plan
from envdoctor.model.profile import Patch, PatchKind
from envdoctor.model.step import (
    BuildSdist,
    CreateEnvironment,
    DownloadFiles,
    InstallFromLock,
    PatchLater,
    RemoveDistribution,
    Step,
    WriteRecord,
    WriteStartup,
    WriteStub,
    WriteVariables,
)

UV = shutil.which("uv") or str(Path(sys.executable).with_name("uv.exe" if os.name == "nt" else "uv"))
BASE = sys._base_executable  # type: ignore[attr-defined]

ALPHA_1 = make_wheel(
    "alpha",
    "1.0",
    {"alpha/__init__.py": "V = 1\n", "alpha/old.py": "x\n", "shared.py": "1\n"},
    scripts="alpha = alpha:go",
)
ALPHA_2 = make_wheel(
    "alpha",
    "2.0",
    {"alpha/__init__.py": "V = 2\n", "alpha/new.py": "y\n", "shared.py": "2\n"},
    scripts="alpha = alpha:go",
)
BETA_1 = make_wheel("beta", "1.0", {"beta/__init__.py": "V = 1\n", "beta/data.bin": bytes(range(256))})
GAMMA_1 = make_wheel("gamma", "1.0", {"gamma.py": "import left_out\nDEVICE = 'cuda'\n"})
DELTA = make_sdist()
EVERYTHING = dict([ALPHA_1, ALPHA_2, BETA_1, GAMMA_1, DELTA])

PROJECT = {
    "app.py": b"import deepspeed\r\n\r\ndevice = 'cuda'\r\n",
    "scripts/start.bat": b"python app.py --deepspeed\r\n",
    "notes.txt": "größer\n".encode("latin-1"),
}


@dataclass
class World:
    """An environment with alpha 1.0 and beta 1.0 beside a project."""

    root: Path

    @property
    def environment(self) -> Path:
        """The environment."""
        return self.root / "env"

    @property
    def project(self) -> Path:
        """The project."""
        return self.root / "project"

    def state(self) -> dict[str, tuple[object, ...]]:
        """Return everything that must be the same again: content, modes, links, also of empty folders."""
        return {
            **{f"env/{name}": value for name, value in tree_state(self.environment).items()},
            **{f"project/{name}": value for name, value in tree_state(self.project).items()},
        }


def tree_state(root: Path) -> dict[str, tuple[object, ...]]:
    """Return every name under a folder but ``.envdoctor`` with its content."""
    found: dict[str, tuple[object, ...]] = {}
    if not root.exists():
        return {"": ("absent",)}
    for folder, names, files in os.walk(root):
        if ".envdoctor" in names:
            names.remove(".envdoctor")
        for name in [*names, *files]:
            path = Path(folder, name)
            relative = path.relative_to(root).as_posix()
            if path.is_symlink():
                found[relative] = ("link", str(path.readlink()))
            elif path.is_dir():
                found[relative] = ("folder", path.stat().st_mode)
            else:
                status = path.stat()
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found[relative] = ("file", status.st_mode, status.st_mtime_ns, digest)
    return found


def make_world(root: Path, *, environment: bool = True) -> World:
    """Build a world in an empty folder."""
    world = World(root)
    for name, data in PROJECT.items():
        path = world.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if environment:
        run([UV, "venv", "--no-config", "--no-project", "--python", BASE, str(world.environment)])
        wheels = root / "wheels"
        wheels.mkdir()
        for name, data in (ALPHA_1, BETA_1):
            (wheels / name).write_bytes(data)
        run(
            [UV, "pip", "install", "--no-config", "--offline", "--no-index", "--no-deps", "--link-mode", "copy",
             "--python", str(python_in(world.environment)), *map(str, wheels.glob("*.whl"))]
        )  # fmt: skip
        shutil.rmtree(wheels)
    return world


def copy_world(world: World, root: Path) -> World:
    """Copy a world with times and modes; nothing in it knows where it is but its scripts."""
    shutil.copytree(world.root, root, symlinks=True)
    return World(root)


def python_in(environment: Path) -> Path:
    """Return an environment's interpreter."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def site_of(environment: Path) -> Path:
    """Return an environment's site-packages."""
    library = "Lib" if os.name == "nt" else f"lib/python{sys.version_info[0]}.{sys.version_info[1]}"
    return environment / library / "site-packages"


def run(argv: list[str]) -> None:
    """Run a command that must not fail."""
    done = subprocess.run(argv, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def full_plan(world: World, url: str, *, created: bool = False) -> Plan:
    """Return a plan with every kind of step."""
    from envdoctor.adapters.apply.preview import preview_patches
    from envdoctor.adapters.apply.trees import FolderTree

    alpha = planned("alpha", "2.0", *ALPHA_2, url)
    gamma = planned("gamma", "1.0", *GAMMA_1, url)
    delta = planned("delta", "1.0", *DELTA, url, sdist=True)
    files = (alpha, delta, gamma)
    patches = [
        Patch(PatchKind.GUARD_IMPORT, ("app.py",), "b", module="deepspeed", name="guard"),
        Patch(PatchKind.SET_ATTRIBUTE, ("app.py",), "b", attribute="device", value="'cpu'", name="device"),
        Patch(PatchKind.REMOVE_FILE, ("scripts/start.bat",), "b", name="no-start"),
    ]
    preview = preview_patches(patches, {"project": FolderTree(world.project)})
    assert not preview.refusals
    later = [
        PatchLater(
            "",
            Patch(kind, (file,), "b", root="site-packages", attribute="DEVICE", value="'cpu'", name=f"later-{file}"),
            f"later-{file}",
        )
        for kind, file in ((PatchKind.SET_ATTRIBUTE, "delta.py"), (PatchKind.SET_ATTRIBUTE, "gamma.py"))
    ]
    facts = ask_python(BASE)
    assert facts is not None
    make: list[Step] = [
        CreateEnvironment("", str(world.environment), "3.11", BASE, "uv"),
    ]
    gone: list[Step] = [RemoveDistribution("", canonicalize_name("beta"), "1.0", "it must not be there")]
    steps: list[Step] = [
        DownloadFiles("", files),
        *(make if created else []),
        BuildSdist("", delta, {"TORCH_CUDA_ARCH_LIST": "11.0"}),
        *([] if created else gone),
        InstallFromLock("", files, "uv"),
        *preview.steps,
        *later,
        WriteStub("", "deepspeed/__init__.py", "deepspeed", '"""stub"""\n'),
        WriteStartup("", ("cudnn-off",), {}, hook_files(["cudnn-off"], {})),
        WriteVariables("", {"PYTHONUTF8": "1"}),
        WriteRecord("", "environment.json", '{"variables": {"PYTHONUTF8": "1"}}\n', "variables"),
    ]
    numbered = tuple(replace(step, id=f"s{number:02d}") for number, step in enumerate(steps, 1))
    return Plan(numbered, str(world.environment), str(world.project))
