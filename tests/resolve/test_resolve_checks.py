"""The independent check, candidates, couplings and hitting sets, each by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from resolve_universe import JETSON, LINUX, WINDOWS, MemoryIndex, read

from envdoctor.model.candidate import RejectionKind
from envdoctor.model.resolution import Resolution, Unmet
from envdoctor.resolve.candidates import Selector
from envdoctor.resolve.core_groups import MinimalHittingSets, cheapest_hitting_sets, hitting_sets_by_group
from envdoctor.resolve.diagnosis import resolve
from envdoctor.resolve.edges import admitted_bits, positions_of
from envdoctor.resolve.manifest import Manifest, Policy
from envdoctor.resolve.requires_dist import Couplings, may_count
from envdoctor.resolve.verification import Promise, rederive, unmet
from envdoctor.shipped import couplings

TABLE = {
    "torch": {"2.10.0": {}, "2.11.0": {}, "2.13.0": {}},
    "torchcodec": {"0.11.0": {}},
    "app": {"1": ["torch>=2.10"]},
}


def _promise(resolution: Resolution, *lines: str) -> Promise:
    return Promise(resolution, read(*lines), LINUX, MemoryIndex(TABLE), Couplings())


def _unmet(resolution: Resolution, *lines: str) -> list[str]:
    return [str(found.requirement) for found in unmet(_promise(resolution, *lines))]


def _with(resolution: Resolution, name: str, version: str) -> Resolution:
    packages = (replace(p, version=Version(version)) if p.name == name else p for p in resolution.packages)
    return replace(resolution, packages=tuple(packages))


def test_the_check_finds_lines_demands_and_couplings_that_do_not_hold() -> None:
    sound = resolve(Manifest(read("app", "torchcodec"), LINUX), MemoryIndex(TABLE))
    assert isinstance(sound, Resolution)
    assert _unmet(sound, "app", "torchcodec") == []
    assert _unmet(sound, "torch==2.13.0") == ["torch==2.13.0"]
    assert _unmet(sound, "absent") == ["absent"]
    assert _unmet(_with(sound, "torch", "2.13.0")) == ["torch==2.11.*"]
    assert "torch>=2.10" in _unmet(_with(sound, "torch", "2.1.0"))
    lone = replace(sound, packages=tuple(p for p in sound.packages if p.name != "torch"))
    assert len(_unmet(lone)) == 2


def test_resolvelib_arrives_at_a_resolution_again_or_names_the_demand_that_it_breaks_on() -> None:
    sound = resolve(Manifest(read("app", "torchcodec"), LINUX), MemoryIndex(TABLE))
    assert isinstance(sound, Resolution)
    assert rederive(_promise(sound, "app", "torchcodec")) == ()
    (broken,) = rederive(_promise(_with(sound, "torch", "2.13.0"), "app", "torchcodec"))
    assert isinstance(broken, Unmet)
    assert (str(broken.requirement), str(broken.requirement.origin)) == ("torch==2.11.*", "torchcodec 0.11.0")
    assert str(broken.there) == "2.13.0"
    lone = replace(sound, packages=tuple(p for p in sound.packages if p.name != "torch"))
    (broken,) = rederive(_promise(lone, "app", "torchcodec"))
    assert isinstance(broken, Unmet)
    assert (broken.requirement.name, broken.there) == ("torch", None)


def test_resolvelib_arrives_at_hundreds_of_packages_with_extras_and_cycles() -> None:
    table: dict[str, dict[str, list[str]]] = {f"p{number}": {"1": [f"p{number + 1}[x]"]} for number in range(300)}
    table["p300"] = {"1": ["p0"]}
    whole = resolve(Manifest(read("p0"), LINUX), MemoryIndex(table))
    assert isinstance(whole, Resolution)
    assert len(whole.packages) == 301
    promise = Promise(whole, read("p0"), LINUX, MemoryIndex(table), Couplings())
    assert rederive(promise) == ()
    moved = replace(promise, resolution=replace(whole, packages=tuple(p for p in whole.packages if p.name != "p250")))
    (broken,) = rederive(moved)
    assert isinstance(broken, Unmet)
    assert broken.requirement.name == "p250"


def test_resolvelib_names_packages_that_nothing_asks_for_and_heeds_bounds_and_what_is_set_aside() -> None:
    whole = resolve(Manifest(read("app", "torchcodec"), LINUX), MemoryIndex(TABLE))
    assert isinstance(whole, Resolution)
    assert [getattr(found, "name", "") for found in rederive(_promise(whole, "app"))] == ["torchcodec"]
    bounded = replace(
        _promise(whole, "app", "torchcodec"),
        requirements=(*read("app", "torchcodec"), *read("torch<2.11", path="constraints.txt", constraint=True)),
    )
    (broken,) = rederive(bounded)
    assert isinstance(broken, Unmet)
    assert str(broken.requirement) == "torch<2.11"
    moved = _promise(_with(whole, "torch", "2.1.0"), "app")
    assert rederive(moved)
    found = rederive(replace(moved, ignored=lambda owner, name: (owner, name) == ("app", "torch")))
    assert [getattr(item, "name", "") for item in found] == ["torchcodec"]


@pytest.mark.parametrize(
    ("owner", "version", "demand"),
    [
        ("torchaudio", "2.10.0", "==2.10.*"),
        ("torchaudio", "2.11.0", ">=2.11"),
        ("torchvision", "0.16.1", "==2.1.1"),
        ("torchvision", "0.26.0", "==2.11.0"),
        ("torchvision", "0.29.2", ">=2.14.0"),
        ("torchaudio", "2.11.0.3+rocm10.1.0", ">=2.11"),
        ("torchcodec", "0.5", "==2.7.*"),
        ("torchcodec", "0.10.0", "==2.10.*"),
        ("torchcodec", "0.17.0", ">=2.11"),
    ],
)
def test_shipped_couplings(owner: str, version: str, demand: str) -> None:
    found = Couplings().demands(canonicalize_name(owner), Version(version), frozenset())
    assert [(name, str(specifier)) for name, specifier in found] == [("torch", demand)]
    assert Couplings().demands(canonicalize_name(owner), Version(version), frozenset({"torch"})) == ()


@pytest.mark.parametrize(
    ("owner", "version"),
    [
        ("torchvision", "0.30.0"),  # beyond what was read
        ("torchcodec", "0.18.0"),
        ("torchaudio", "2.12.0"),
        ("torchaudio", "2.6.0a0+1a8f621"),  # builders number pre-releases as they like
        ("torchvision", "0.24.0.dev20250801"),
        ("numpy", "2.0.0"),
    ],
)
def test_couplings_are_silent_where_nothing_was_read(owner: str, version: str) -> None:
    assert Couplings().demands(canonicalize_name(owner), Version(version), frozenset()) == ()


def test_each_coupling_ends_says_from_where_it_is_known_and_can_be_read() -> None:
    assert {table.name for table in couplings()} >= {"torchaudio-torch", "torchvision-torch", "torchcodec-torch"}
    for table in couplings():
        assert table.evidence
        assert table.known_to is not None
        assert table.wanted(table.known_to) is not None, f"{table.name}: no row speaks of {table.known_to}"
        for of, needs in table.rows:
            assert SpecifierSet(of)
            assert SpecifierSet(needs)


def test_a_builders_prerelease_counts_as_the_release_that_it_is_of() -> None:
    (vision,) = (table for table in couplings() if table.name == "torchvision-torch")
    wanted = vision.wanted(Version("0.20.0"))
    assert wanted == "==2.5.0"
    assert vision.fits(wanted, Version("2.5.0a0+872d972e41.nv24.8"))
    assert not vision.fits(wanted, Version("2.6.0"))


def test_wheels_come_first_and_shut_out_files_say_why() -> None:
    table = {
        "app": {
            "1": {"tags": ["cp311-cp311-win_amd64", "py3-none-any"], "sdist": True},
            "2": {"tags": ["cp311-cp311-manylinux_2_17_x86_64"]},
            "3": {"tags": ["cp311-cp311-win_amd64"], "requires_python": ">=3.12"},
        }
    }
    page = MemoryIndex(table).page(canonicalize_name("app"))
    selector = Selector(WINDOWS, Policy())
    candidates = selector.select(page)
    assert [str(version) for version in candidates.versions] == ["1"]
    assert [file.filename for file in candidates.candidate(0).files] == [
        "app-1-cp311-cp311-win_amd64.whl",
        "app-1-py3-none-any.whl",
        "app-1.tar.gz",
    ]
    reasons = {r.version: r.kind for r in selector.rejections(page, [Version("2"), Version("3")])}
    assert reasons == {Version("2"): RejectionKind.TAG, Version("3"): RejectionKind.REQUIRES_PYTHON}


def test_a_pure_wheel_above_its_python_cap_needs_an_exact_pin() -> None:
    table = {"app": {"1": {"requires_python": "<3.12"}}}
    assert not isinstance(resolve(Manifest(read("app"), JETSON), MemoryIndex(table)), Resolution)
    assert isinstance(resolve(Manifest(read("app==1"), JETSON), MemoryIndex(table)), Resolution)
    strict = Policy(trust_pins_over_python_caps=False)
    assert not isinstance(resolve(Manifest(read("app==1"), JETSON, policy=strict), MemoryIndex(table)), Resolution)


def test_hitting_sets() -> None:
    family = [frozenset("ab"), frozenset("bc"), frozenset("d")]
    minimal: MinimalHittingSets[str] = MinimalHittingSets(100)
    for members in family:
        minimal.add(sorted(members))
    assert {frozenset(found) for found in minimal.sets} == {frozenset("bd"), frozenset("acd")}
    ordered = list(cheapest_hitting_sets(family, lambda _element: (0,), 3))
    assert ordered[0] == frozenset("bd")
    kept = list(cheapest_hitting_sets(family, lambda _element: (0,), 3, allowed=lambda element: element != "b"))
    assert kept == [frozenset("acd")]


def test_hitting_sets_by_group_are_those_of_all_together() -> None:
    family = [frozenset("ab"), frozenset("bc"), frozenset("de"), frozenset("fgh")]
    weight: Callable[[str], tuple[int, ...]] = lambda element: (1, ord(element))  # noqa: E731
    together = {found for found in cheapest_hitting_sets(family, weight, 9) if len(found) == 3}
    grouped = [found for found in hitting_sets_by_group(family, weight, 2) if len(found) == 3]
    assert set(grouped) == together
    assert len(grouped) == 6
    assert grouped[0] == frozenset("bdf")
    # The plain search does it where no more have nothing in common than it may take.
    assert list(hitting_sets_by_group(family, weight, 3)) == []
    assert list(hitting_sets_by_group(family, weight, 2, allowed=lambda element: element not in "de")) == []


_SOME = st.sampled_from(["0", "1", "1.0", "1.1", "1.1.1", "2", "2.10"])
_VERSIONS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "", "1!"]),
    _SOME,
    st.sampled_from(["", "", "a1", "rc1", "rc1.post0", ".dev0", ".post0", ".post1", ".post1.dev1"]),
    st.sampled_from(["", "", "+cpu", "+cu118", "+1"]),
)
_CLAUSES = st.one_of(
    st.builds("{}{}".format, st.sampled_from([">=", "<=", ">", "<", "==", "!=", "===", "~=1."]), _SOME),
    st.builds("{}{}.*".format, st.sampled_from(["==", "!="]), _SOME),
    st.sampled_from([">1.0rc1", "<1.1.post1", "==1.1+cu118", ">=1!1", "<=1.0.dev0"]),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_VERSIONS, max_size=12), st.lists(_CLAUSES, max_size=3))
def test_where_bounds_lie_among_versions_is_what_packaging_admits(texts: list[str], clauses: list[str]) -> None:
    versions, specifier = sorted(set(map(Version, texts))), SpecifierSet(",".join(clauses))
    admitted = [versions[position] for position in positions_of(admitted_bits(versions, specifier))]
    assert admitted[::-1] == list(specifier.filter(versions, prereleases=True))


@pytest.mark.parametrize(
    ("line", "extras", "counts"),
    [
        ("numpy", (), True),
        ("numpy; python_version < '3.9'", (), True),
        ("numpy; extra == 'dev'", (), False),
        ("numpy ; (python_version < '3.9') and extra=='dev'", (), False),
        ("numpy; extra == 'dev'", ("dev",), True),
        ("numpy; extra == 'Dev_Tools'", ("dev-tools",), True),
        ("numpy; extra == 'dev' or python_version >= '3'", (), True),
        ("numpy; 'dev' == extra", (), True),
        ("numpy; extra != 'dev'", (), True),
        ("extra-name @ https://index.example/a;b", (), True),
    ],
)
def test_lines_that_wait_for_an_extra_are_told_by_their_text(line: str, extras: tuple[str, ...], counts: bool) -> None:
    assert may_count(line, extras) is counts


@pytest.mark.parametrize(("python", "there"), [("3.10", ["0.56.4"]), ("3.11", [])])
def test_a_build_that_refuses_the_python_is_no_candidate(python: str, there: list[str]) -> None:
    minor = int(python.split(".")[1])
    page = MemoryIndex({"numba": {"0.56.4": {"tags": ["cp310-cp310-win32"], "sdist": True}}}).page(
        canonicalize_name("numba")
    )
    selector = Selector(replace(LINUX, python=(3, minor)), Policy())
    assert [str(version) for version in selector.select(page).versions] == there
    reasons = [item.detail for item in selector.rejections(page, page.versions) if item.filename.endswith(".tar.gz")]
    assert reasons == ([] if there else ["its build refuses Python 3.11"])
