"""Treating and taking back, in this process."""

from __future__ import annotations

from apply_world import UV, World

from envdoctor.adapters.apply.executor import Applied, apply_plan
from envdoctor.adapters.apply.holding import hold_environment
from envdoctor.adapters.apply.installers import Installer, Uv
from envdoctor.adapters.apply.journal import list_journals
from envdoctor.adapters.apply.restore import take_back
from envdoctor.adapters.index.download import IndexFetch
from envdoctor.model.plan import Plan
from envdoctor.model.step import DownloadFiles, InstallFromLock, PlannedFile
from envdoctor.ports import SilentProgress


def apply(world: World, plan: Plan, installer: Installer | None = None) -> Applied:
    with hold_environment(world.environment, wait_s=5, say=lambda _text: None) as held:
        return apply_plan(plan, held, installer or Uv(UV), IndexFetch([]), SilentProgress())


def only(world: World, *files: PlannedFile) -> Plan:
    return Plan(
        (DownloadFiles("s1", files), InstallFromLock("s2", files, "uv")), str(world.environment), str(world.project)
    )


def undo(world: World) -> list[str]:
    with hold_environment(world.environment, wait_s=5, say=lambda _text: None):
        ids = [record.id for record in reversed(list_journals(world.environment))]
        done = take_back(world.environment, ids, world.project)
    assert [problem for _, restored in done for problem in restored.problems] == []
    return [place for _, restored in done for place in restored.kept]
