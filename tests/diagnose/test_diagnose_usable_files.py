"""What takes the place of something else must be a file that the target can use without being asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from diagnose_fixtures import PLAIN, MemoryIndex, by_distribution, file_of, require, resolution_of, resolved, target_of
from packaging.utils import canonicalize_name

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rules.res102_source_only import demands_of_moved_pins
from envdoctor.model.candidate import ProjectPage, RejectionKind
from envdoctor.model.compatibility import Compatibility, admits_python, can_use, compatibility
from envdoctor.model.override import Override
from envdoctor.model.repair import Repair
from envdoctor.model.step import PlannedFile
from envdoctor.model.target import Target
from envdoctor.resolve.candidates import Selector
from envdoctor.resolve.manifest import Policy
from envdoctor.verbs.fix_lock import with_wheels_instead

LINUX = target_of(PLAIN)
AV = canonicalize_name("av")
FOR_3_13 = replace(file_of("av", "av-2.0-py3-none-any.whl"), requires_python=">=3.13")
YANKED = file_of("av", "av-3.0-py3-none-any.whl", yanked=True)
FOR_WINDOWS = file_of("av", "av-5.0-cp311-cp311-win_amd64.whl")
FITS = file_of("av", "av-4.0-cp311-cp311-manylinux_2_17_x86_64.whl")
SDIST = file_of("av", "av-1.0.tar.gz")


class PageOfAv(MemoryIndex):
    """An index whose page of ``av`` lists files as they are given."""

    def __init__(self, *files: Any, requires: Mapping[str, list[str]] | None = None) -> None:
        super().__init__({"app": ["app-1.0-py3-none-any.whl"]}, requires)
        self._av = files

    def page(self, name: str) -> ProjectPage:
        return ProjectPage(AV, self._av) if name == "av" else super().page(name)


def instead_of_the_sdist(*files: Any, target: Target = LINUX) -> str | None:
    unbuildable = PlannedFile(AV, "1.0", "av-1.0.tar.gz", SDIST.url, (("sha256", "0" * 64),), sdist=True)
    locked = resolution_of(resolved("av==1.0", sdist=True, wanted_by=[by_distribution("av<2", "app", "1.0")]))
    made = with_wheels_instead([unbuildable], locked, None, PageOfAv(SDIST, *files), target)
    if made is None:
        return None
    (override,) = made[0].overrides
    assert [f"{item} ({item.origin})" for item in override.sets_aside] == ["av<2 (app 1.0)"]
    assert override.replaces == ("app",)
    return str(override.requirement)


def left_to_build(*files: Any) -> list[str]:
    """The files that the demand ``av>=1`` of a moved pin could only be built from."""
    line = require("app==1.0")
    examination = Examination(
        target=LINUX,
        index=PageOfAv(*files, requires={"app==1.0": ["av>=1"]}),
        resolution=resolution_of(resolved("app==2.0"), repair="R1"),
        repairs=(Repair("R1", (Override(require("app==2.0"), (line,)),), ("C1",)),),
    )
    return [item.filename for item in demands_of_moved_pins(examination)]


def test_no_wheel_is_taken_that_the_target_cannot_use() -> None:
    unusable = (FOR_3_13, YANKED, FOR_WINDOWS)
    assert [can_use(file, LINUX) for file in (SDIST, *unusable, FITS)] == [True, False, False, False, True]
    assert instead_of_the_sdist(*unusable) is None
    assert instead_of_the_sdist(*unusable, FITS) == "av>=4.0"
    assert instead_of_the_sdist(*unusable, target=target_of("linux/x86_64/3.13/cpu")) == "av>=2.0"
    assert left_to_build(SDIST, *unusable) == ["av-1.0.tar.gz"]
    assert left_to_build(SDIST, *unusable, FITS) == []


def test_an_sdist_that_the_python_does_not_admit_is_nothing_to_build() -> None:
    newer = replace(file_of("av", "av-6.0.tar.gz"), requires_python=">=3.13")
    assert left_to_build(SDIST, newer) == ["av-1.0.tar.gz"]
    assert left_to_build(newer) == []


def test_candidates_and_rules_ask_the_same_question() -> None:
    """What only an exact pin may take is a candidate, and never a replacement."""
    capped = replace(file_of("av", "av-0.9-py3-none-any.whl"), requires_python="<3.11")
    files = (capped, SDIST, FOR_3_13, YANKED, FITS, FOR_WINDOWS)
    found = Selector(LINUX, Policy()).select(ProjectPage(AV, files))
    assert [str(version) for version in found.versions] == ["0.9", "1.0", "3.0", "4.0"]
    guarded = found.capped | found.yanked
    unasked = [version for position, version in enumerate(found.versions) if not guarded >> position & 1]
    assert unasked == [file.version for file in files if can_use(file, LINUX)]
    assert not can_use(capped, LINUX)


def test_requires_python_is_asked_of_the_targets_patch_release() -> None:
    assert admits_python(">=3.9", LINUX)
    assert admits_python(None, LINUX)
    assert admits_python(">=3.11.2", replace(LINUX, python_full="3.11.7"))
    assert not admits_python(">=3.11.2", replace(LINUX, python_full="3.11.1"))
    assert admits_python("not a specifier", LINUX)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("!=3.11.0,!=3.11.1,>=3.7", True),
        (">=3.11.2", True),
        ("==3.11.4", True),
        (">3.11", True),
        ("<=3.11", True),
        (">3.11.4,<3.11.5", False),
        ("!=3.11.*", False),
        ("<3.11", False),
        (">=3.12", False),
    ],
)
def test_where_nobody_tells_the_patch_release_any_will_do(wanted: str, told: bool) -> None:
    assert admits_python(wanted, LINUX) is told


def test_why_a_kind_of_file_is_unusable() -> None:
    assert compatibility(None, None, LINUX, builds=False) == Compatibility(None, RejectionKind.SOURCE_ONLY)
    assert compatibility("cp311-cp311-win_amd64", None, LINUX) == Compatibility(None, RejectionKind.TAG)
    assert compatibility("", None, LINUX) == Compatibility(None, RejectionKind.TAG), "a name without tags"
    pure = compatibility("py3-none-any", "<3.11", LINUX)
    assert pure.rank is not None
    assert pure.rejection is RejectionKind.REQUIRES_PYTHON
    strict = compatibility("py3-none-any", "<3.11", LINUX, pins_outrank_python_caps=False)
    assert strict == Compatibility(None, RejectionKind.REQUIRES_PYTHON)
