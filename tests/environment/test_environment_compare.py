"""What differs between two environments, and what of it matters."""

from __future__ import annotations

from packaging.utils import canonicalize_name

from envdoctor.diagnose.environment_differences import compare_environments
from envdoctor.model.environment import CondaPackage, InstalledDistribution, InstalledEnvironment


def environment(python: str | None = "3.11.7", **versions: str) -> InstalledEnvironment:
    return InstalledEnvironment(
        tuple(InstalledDistribution(canonicalize_name(name), version) for name, version in versions.items()),
        python=tuple(int(part) for part in python.split(".")[:2]) if python else None,  # type: ignore[arg-type]
        python_full=python,
    )


def seen(before: InstalledEnvironment, after: InstalledEnvironment) -> list[tuple[str, str | None, str | None, bool]]:
    return [(item.name, item.before, item.after, item.matters) for item in compare_environments(before, after)]


def test_the_same_environment_differs_in_nothing():
    assert compare_environments(environment(torch="2.7.1"), environment(torch="2.7.1")) == ()


def test_builds_of_torch_come_before_versions_of_anything_else():
    before = environment(rich="13.0", torch="2.7.1+cu118", gone="1.0", numpy="1.26.4")
    after = environment(rich="14.0", torch="2.7.1+cu128", new="1.0", numpy="2.1.0")
    assert seen(before, after) == [
        ("torch", "2.7.1+cu118", "2.7.1+cu128", True),
        ("numpy", "1.26.4", "2.1.0", True),
        ("gone", "1.0", None, True),
        ("rich", "13.0", "14.0", True),
        ("new", None, "1.0", False),
    ]
    (torch, *_) = compare_environments(before, after)
    assert "another build" in torch.because


def test_pythons():
    assert seen(environment("3.10.1"), environment("3.11.7")) == [("python", "3.10.1", "3.11.7", True)]
    assert seen(environment("3.11.1"), environment("3.11.7")) == [("python", "3.11.1", "3.11.7", False)]
    assert seen(environment(None), environment("3.11.7")) == []


def test_small_steps_are_small():
    before = environment(a="0.3.1", b="0.3.1", numpy="1.26.0", c="weird-1")
    after = environment(a="0.3.2", b="0.4.0", numpy="1.26.4", c="weird-2")
    matters = {item.name: item.matters for item in compare_environments(before, after)}
    assert matters == {"a": False, "b": True, "numpy": False, "c": False}


def test_an_editable_install_of_the_same_version_is_a_difference():
    one = InstalledEnvironment((InstalledDistribution(canonicalize_name("a"), "1"),))
    other = InstalledEnvironment((InstalledDistribution(canonicalize_name("a"), "1", editable=True),))
    (difference,) = compare_environments(one, other)
    assert (difference.before, difference.after) == ("1 (index)", "1 (editable)")


def test_conda_builds_and_libraries():
    def conda(*packages: tuple[str, str, str, str]) -> InstalledEnvironment:
        return InstalledEnvironment((), conda_packages=tuple(CondaPackage(*item) for item in packages))

    before = conda(
        ("pytorch", "2.1.0", "py3.10_cuda11.8_0", ""), ("cudatoolkit", "11.8.0", "h1", ""), ("zlib", "1", "h1", "")
    )
    after = conda(("pytorch", "2.1.0", "py3.10_cpu_0", ""), ("zlib", "1", "h2", ""))
    assert seen(before, after) == [
        ("pytorch", "2.1.0 py3.10_cuda11.8_0", "2.1.0 py3.10_cpu_0", True),
        ("cudatoolkit", "11.8.0", None, True),
        ("zlib", "1 h1", "1 h2", False),
    ]
