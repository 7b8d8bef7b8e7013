"""What ``fix`` would do on the machine that the target is, told on another one: a plan that is never carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from envdoctor.model.plan import Plan
from envdoctor.model.report import Report
from envdoctor.model.target import Target
from envdoctor.planning.fix_refusals import EnvironmentState
from envdoctor.planning.patch_selection import select
from envdoctor.verbs.fix_request import FixRequest, Prepared
from envdoctor.verbs.this_machine import ThisMachine

__all__ = ["Elsewhere", "with_patches_alone"]


class Elsewhere(ThisMachine):
    """Another machine as a plan needs to know it: nothing is there yet, and what this one has does not count."""

    def look(self, environment: str) -> EnvironmentState:
        """Return that nothing is there."""
        return EnvironmentState(environment, exists=False)

    def find_python(self, wanted: Sequence[tuple[int, int]]) -> tuple[str, tuple[int, int]] | None:
        """Return that the first one will be there; where, is not known."""
        return ("", wanted[0]) if wanted else None

    def installer(self, state: EnvironmentState) -> tuple[str, bool]:  # noqa: ARG002 - as the other one's
        """Return the installer that takes everything."""
        return "uv", False

    def missing_needs(self, needs: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002 - as the other one's
        """Return nothing: what is there cannot be seen from here."""
        return ()

    def disk_free(self, environment: str) -> int | None:  # noqa: ARG002 - as the other one's
        """Return that it is not known."""
        return None

    def other_machine(self, target: Target) -> str | None:  # noqa: ARG002 - as the other one's
        """Return None: it is the target's own."""
        return None


def with_patches_alone(request: FixRequest, prepared: Prepared, machine: ThisMachine) -> Prepared:
    """Return what was refused with a plan of the project's patches, which need no lock to be shown."""
    profile = request.check.profile
    if profile is None or prepared.plan is not None or request.check.project is None:
        return prepared
    chosen = select(profile, _versions(prepared.report), set(request.moved) or None)
    own = tuple(patch for patch in chosen.patches if patch.root == "project")
    if not own:
        return prepared
    made = machine.preview(own, (), EnvironmentState(request.environment, exists=False), builds=False)
    plan = Plan(
        steps=tuple(replace(step, id=f"s{number:02d}-{step.kind}") for number, step in enumerate(made.steps, 1)),
        environment=request.environment,
        project=request.check.project.root,
        profile=profile.name,
        refusals=(*prepared.refusals, *made.refusals),
        skipped=(*chosen.skipped, *made.skipped),
        notes=("only the patches of the project are shown: there is no lock to install from",),
        label=request.check.part,
    )
    return replace(prepared, plan=plan)


def _versions(report: Report | None) -> Mapping[str, str]:
    resolution = report.resolution if report is not None else None
    return {item.name: str(item.version) for item in resolution.packages} if resolution is not None else {}
