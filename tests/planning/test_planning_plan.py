"""Plans as values: what they hold for an environment as it is, and why they refuse."""

from __future__ import annotations

import json

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.model.environment import InstalledDistribution, InstalledFile
from envdoctor.model.origin import FileOrigin
from envdoctor.model.override import Override
from envdoctor.model.plan import PatchPreview, Plan
from envdoctor.model.profile import (
    BoundIndex,
    Exclusion,
    Patch,
    PatchKind,
    PlacementRule,
    Profile,
    ProfileTarget,
    SetAttribute,
)
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement
from envdoctor.model.step import InstallFromLock, PatchFile, PlannedFile, RemoveDistribution
from envdoctor.model.target import Arch, Backend, OperatingSystem
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.planning.fix_refusals import BuildState, EnvironmentState
from envdoctor.planning.patch_selection import expand_variables, select, stand_ins
from envdoctor.planning.plan_maker import PlanInput, brought, environment_digest, leftovers, make_plan
from envdoctor.render.plan_json import plan_document, plan_json
from envdoctor.render.plan_text import plan_text

HASH = (("sha256", "0" * 64),)


def file(name: str, version: str = "1.0", **more: object) -> PlannedFile:
    fields: dict[str, object] = {
        "filename": f"{name}-{version}-py3-none-any.whl",
        "url": f"https://index.example/{name}",
        "hashes": HASH,
        "size": 1000,
        **more,
    }
    return PlannedFile(name=canonicalize_name(name), version=version, **fields)  # type: ignore[arg-type]


def installed(name: str, version: str = "1.0", *paths: str, **more: object) -> InstalledDistribution:
    files = tuple(InstalledFile(path, size=10) for path in paths) if paths else None
    return InstalledDistribution(canonicalize_name(name), version, files=files, **more)  # type: ignore[arg-type]


def profile(**more: object) -> Profile:
    target = ProfileTarget(OperatingSystem.LINUX, Arch.X86_64, SpecifierSet(">=3.11"), Backend.CPU)
    return Profile(name="p", summary="s", target=target, **more)  # type: ignore[arg-type]


def plan(*files: PlannedFile, here: tuple[InstalledDistribution, ...] | None = (), **more: object) -> Plan:
    state = EnvironmentState("/env", exists=here is not None, python=(3, 11), distributions=here or ())
    given: dict[str, object] = {
        "environment": state,
        "project": "/project",
        "files": files,
        "lock_text": "lock",
        "installer": "uv",
        "python": "3.11",
        "interpreter": "/usr/bin/python3.11",
        **more,
    }
    return make_plan(PlanInput(**given))  # type: ignore[arg-type]


def names(made: Plan) -> list[str]:
    return [item.name for step in made.steps if isinstance(step, InstallFromLock) for item in step.files]


def test_what_is_there_already_stays() -> None:
    made = plan(file("a"), file("b", "2.0"), here=(installed("a"), installed("b", "1.0"), installed("c")))
    assert names(made) == ["b"]
    step = next(step for step in made.steps if isinstance(step, InstallFromLock))
    assert step.replaces == (("b", "1.0"),)
    assert made.notes == ("1 installed package is not in the lock and stays: `c`",)


def test_nothing_to_do_is_no_change() -> None:
    made = plan(file("a"), here=(installed("a"),), records=(("pylock.toml", "x", "the lock"),))
    assert not made.changes
    assert made.download_bytes == 0


def test_what_came_from_elsewhere_is_installed_again() -> None:
    made = plan(file("a"), file("b"), here=(installed("a", editable=True), installed("b", direct_url="file:///b")))
    assert names(made) == ["a", "b"]


def test_an_excluded_package_goes_and_its_twin_that_shares_files_is_made_whole() -> None:
    here = (
        installed("onnxruntime-gpu", "1.0", "onnxruntime/__init__.py"),
        installed("onnxruntime", "1.0", "onnxruntime/__init__.py"),
        installed("other", "1.0", "other.py"),
    )
    excluded = profile(excludes=(Exclusion(canonicalize_name("onnxruntime-gpu"), "no CUDA here"),))
    made = plan(file("onnxruntime"), file("other"), here=here, profile=excluded)
    assert [step.name for step in made.steps if isinstance(step, RemoveDistribution)] == ["onnxruntime-gpu"]
    assert names(made) == ["onnxruntime"]


@pytest.mark.parametrize("because", ["it's out", 'so"""\nimport os\n"""', "a\\", "`x` {y}\n"])
def test_a_stand_in_is_a_module_and_its_reason_never_code(because: str) -> None:
    excluded = profile(excludes=(Exclusion(canonicalize_name("deepspeed"), because, stubs=("deepspeed.ops",)),))
    (stub,) = stand_ins(excluded)
    assert stub.path == "deepspeed/ops/__init__.py"
    assert stub.content.startswith(stub.MARK)
    module: dict[str, object] = {}
    exec(compile(stub.content, stub.path, "exec"), module)  # noqa: S102 - the module under test
    assert set(module) - {"__builtins__"} == {"REASON", "__version__", "__getattr__"}
    assert because in str(module["REASON"])
    assert plan(file("a"), profile=excluded, stubs=(stub,)).steps[-1].kind == "write-stub"


def removed(made: Plan) -> list[str]:
    return [item.name for item in made.steps if isinstance(item, RemoveDistribution)]


def left(*here: InstalledDistribution, ours: dict[str, str], locked: tuple[str, ...] = ()) -> dict[str, str]:
    return {item.distribution.name: item.kept for item in leftovers(here, ours, locked)}


def test_what_an_earlier_fix_brought_and_the_lock_has_no_use_for_goes() -> None:
    here = (installed("a"), installed("old"), installed("mine"))
    stale = leftovers(here, {"a": "1.0", "old": "1.0"}, {"a"})
    made = plan(file("a"), here=here, leftovers=stale)
    assert removed(made) == ["old"]
    assert made.notes == ("1 installed package is not in the lock and stays: `mine`",)


def test_what_no_fix_brought_stays() -> None:
    assert left(installed("a"), installed("b"), ours={}) == {}


def test_what_a_person_has_changed_since_stays_and_is_said() -> None:
    here = (installed("old", "2.0"), installed("own", editable=True))
    stale = leftovers(here, {"old": "1.0", "own": "1.0"}, ())
    made = plan(here=here, leftovers=stale)
    assert removed(made) == []
    assert made.notes[0].startswith("`old` 2.0 is not in the lock any more and stays: it is 2.0 by now")


def test_what_a_persons_own_package_asks_for_stays_with_all_that_it_wants() -> None:
    mine = installed("mine", requires_dist=("Old_One>=1; extra == 'more'", "?? nonsense"))
    old = installed("old-one", requires_dist=("older",))
    ours = {"old-one": "1.0", "older": "1.0", "oldest": "1.0", "pip": "1.0"}
    here = (mine, old, installed("older"), installed("oldest", requires_dist=("older",)), installed("pip"))
    assert left(*here, ours=ours) == {
        "old-one": "`mine` asks for it",
        "older": "`old-one` asks for it",
        "oldest": "",
    }


def test_a_fix_remembers_what_it_brought_and_forgets_what_went() -> None:
    files = (file("a", "2.0"), file("b"))
    assert brought({"a": "1.0", "gone": "1.0", "c": "1.0"}, files, {"a", "c"}, {"c"}) == {"a": "2.0", "b": "1.0"}
    assert brought({}, files, {"a"}) == {"b": "1.0"}


def test_steps_have_stable_ids_and_sentences() -> None:
    one, two = plan(file("a"), here=None), plan(file("a"), here=None)
    assert [step.id for step in one.steps] == [step.id for step in two.steps]
    assert [step.kind for step in one.steps] == ["download-files", "create-environment", "install-from-lock"]
    assert all(step.sentence for step in one.steps)


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("no-hash", lambda: plan(file("a", hashes=()))),
        ("no-hash", lambda: plan(file("a", hashes=(("md5", "0" * 32),)))),
        ("path", lambda: plan(file("a", filename="../a-1.0-py3-none-any.whl"))),
        ("path", lambda: plan(file("a", filename=".."))),
        ("index", lambda: plan(file("a", url=""))),
        ("disk", lambda: plan(file("a", size=10**9), disk_free=10**9)),
        ("python", lambda: plan(file("a"), here=None, interpreter=None)),
        ("python", lambda: plan(file("a"), python="3.12")),
    ],
)
def test_refusals(kind: str, made: object) -> None:
    assert [item.kind.value for item in made().refusals] == [kind]  # type: ignore[operator]


def test_a_package_bound_to_an_index_comes_from_there_alone() -> None:
    bound = profile(indexes=(BoundIndex("cu118", "https://index.example/cu118", (canonicalize_name("torch"),)),))
    made = plan(file("torch", index="default"), profile=bound)
    assert [item.kind.value for item in made.refusals] == ["wrong-index"]
    assert "bound to index `cu118`" in made.refusals[0].message
    assert plan(file("torch", index="cu118"), profile=bound).refusals == ()


def test_a_build_is_refused_before_anything_is_downloaded() -> None:
    needs = {"av": BuildState(("FFmpeg headers", "pkg-config"), ("FFmpeg headers",), ("apt: libavformat-dev",))}
    made = plan(file("av", "11.0.0", filename="av-11.0.0.tar.gz", sdist=True), builds=needs)
    assert [item.kind.value for item in made.refusals] == ["system-need"]
    assert "needs FFmpeg headers" in made.refusals[0].message
    assert made.refusals[0].remedy == "apt: libavformat-dev"


def test_a_digest_tells_one_environment_from_another() -> None:
    assert environment_digest([installed("a"), installed("b")]) == environment_digest([installed("b"), installed("a")])
    assert environment_digest([installed("a")]) != environment_digest([installed("a", "2.0")])


def test_the_document_and_the_page_show_the_very_steps() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    patched = PatchFile("", "x.py", "project", ("calm",), "0" * 64, "1" * 64, diff, b"b\n")
    made = plan(file("a"), here=None, preview=PatchPreview((patched,), skipped=("optional patch `m`: none",)),
                variables={"PYTHONUTF8": "1"}, disk_free=10**9)  # fmt: skip
    document = json.loads(plan_json([made]))
    assert document == plan_document(made)
    assert [item["id"] for item in document["steps"]] == [step.id for step in made.steps]
    assert [item["diff"] for item in document["steps"] if item["kind"] == "patch-file"] == [diff]
    assert document["download_bytes"] == 1000
    page = plan_text(made)
    assert "     +b\n" in page
    assert "left out: optional patch `m`: none" in page
    assert all(step.sentence in page for step in made.steps)


def test_what_is_refused_is_told_with_its_package_and_is_not_nothing_to_do() -> None:
    unknown = Unknown(UnknownKind.OFFLINE, Subject(SubjectKind.PACKAGE, "d"), "default", "https://x")
    made = Plan(
        (), "e", "p",
        refusals=(
            *(Refusal(RefusalKind.UNKNOWN, name, "no index was reached") for name in ("a", "b")),
            Refusal(RefusalKind.UNKNOWN, "d", unknown=unknown),
            Refusal(RefusalKind.DISK, "e", "the disk is full"),
        ),
    )  # fmt: skip
    assert plan_text(made).splitlines() == [
        "plan for `e`",
        "refused (unknown): `a` cannot be locked: no index was reached",
        "refused (unknown): `b` cannot be locked: no index was reached",
        "refused (unknown): `d` cannot be locked: index default (https://x): offline and not in the cache",
        "refused (disk): the disk is full",
        "nothing was changed",
    ]
    told = [refusal["message"] for refusal in plan_document(made)["refusals"]]
    assert told[0] == "no index was reached"
    assert told[2] == "`d` cannot be locked: index default (https://x): offline and not in the cache"


def test_the_page_says_first_which_repair_is_taken_and_what_it_sets_aside() -> None:
    name = canonicalize_name("torch")
    asked = Requirement(name, FileOrigin("requirements.txt", 2), SpecifierSet("==2.7"))
    override = Override(Requirement(name, asked.origin, SpecifierSet("==2.4.1")), (asked,))
    made = plan(file("a"), repair=Repair("R2", (override,), ("C1",), cautions=("it is old",)))
    assert plan_text(made).splitlines()[1:4] == [
        "  with repair R2, which sets aside what was asked for:",
        "    `torch==2.7` (requirements.txt:2): replaced by `torch==2.4.1`",
        "    caution: it is old",
    ]


PATCH = Patch(PatchKind.SET_ATTRIBUTE, ("app.py",), "b", attribute="device", value="1", name="device")
RULE = PlacementRule("voice", ("gemm",), set=SetAttribute(file="app.py", attribute="device"))


def test_a_patch_of_a_component_waits_for_its_placement() -> None:
    patch = Patch(PatchKind.REPLACE_TEXT, ("a.py",), "b", find="x", replace="y", component="voice", name="calm")
    owner = profile(patches=(patch,), placements=(PlacementRule("voice", ("gemm",)),))
    assert select(owner, {}).skipped == ("patch `calm`: only where kernels send `voice` away from the GPU",)
    assert select(owner, {}, moved=["voice"]).patches == (patch,)


def test_a_component_that_always_moves_is_moved_without_kernels() -> None:
    rule = PlacementRule("voice", (), always=True, set=SetAttribute(environment="CUDA_VISIBLE_DEVICES", value="-1"))
    assert dict(select(profile(placements=(rule,)), {}).variables) == {"CUDA_VISIBLE_DEVICES": "-1"}


def test_a_placement_wins_over_a_patch_of_the_same_name() -> None:
    owner = profile(patches=(PATCH,), placements=(RULE,))
    assert select(owner, {}).patches == (PATCH,)
    (placed,) = select(owner, {}, moved=["voice"]).patches
    assert (placed.name, placed.value) == ("place-voice", '"cpu"')


@pytest.mark.parametrize(("version", "count"), [("2.5.1", 0), ("2.6.0", 1), ("2.7.0+cu118", 1)])
def test_a_condition_is_about_the_versions_that_come(version: str, count: int) -> None:
    patch = Patch(PatchKind.SET_ARGUMENT, ("a.py",), "b", when="torch>=2.6", name="w")
    assert len(select(profile(patches=(patch,)), {"torch": version}).patches) == count


def test_variables_name_project_and_environment() -> None:
    expanded = expand_variables({"PYTHONPATH": "{project}", "LIB": "{environment}/lib"}, project="/p", environment="/e")
    assert expanded == {"PYTHONPATH": "/p", "LIB": "/e/lib"}


def test_what_has_lost_files_is_installed_again_in_its_version() -> None:
    here = (installed("a"), installed("b", "1.0"), installed("c"))
    state = EnvironmentState("/env", exists=True, python=(3, 11), distributions=here, lost=frozenset({"a", "c"}))
    made = plan(file("a"), file("b"), environment=state)
    assert names(made) == ["a"]
    assert made.changes
    step = next(step for step in made.steps if isinstance(step, InstallFromLock))
    assert "in place of" not in step.sentence
    assert "files of `a` 1.0 are missing or damaged: it is installed again" in made.notes
    assert "files of `c` 1.0 are missing or damaged: it is not in the lock, and stays so" in made.notes
