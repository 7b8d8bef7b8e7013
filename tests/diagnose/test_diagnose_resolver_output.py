"""What pip, uv, Poetry, conda and PDM print of their refusals is read as conflicts, with the core that they name."""

from __future__ import annotations

import pytest
from diagnose_fixtures import examination_of

from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.logs.log_findings import conflicts_of_log
from envdoctor.diagnose.logs.resolver_failure import of_poetry
from envdoctor.install_words import versions_of
from envdoctor.model.origin import CommandLineOrigin

UV = """\
  × No solution found when resolving dependencies:
  ╰─▶ Because alpha==1.0 depends on gamma>=3.9,<3.20
      and beta==2.0 depends on gamma>=4.25, we can conclude that
      alpha==1.0 and beta==2.0 are incompatible.
      And because you require alpha==1.0 and beta==2.0, we
      can conclude that your requirements are unsatisfiable.
"""
UV_NOW = """\
error: No solution found when resolving dependencies
  cause: Because all versions of mid depend on deep>=4 and all versions of alpha depend on deep<2, we can conclude \
that all versions of alpha and all versions of mid are incompatible. (1)

         Because top<=2.0 depends on mid, we can conclude that top<=2.0 and all versions of alpha are incompatible.
         And because song-maker:dev depends on top and your project depends on alpha>1, we can conclude that your \
project's requirements are unsatisfiable.

hint: The resolution failed for other Python versions supported by your project.
"""
PIP = """\
Collecting beta (from -r requirements/base.txt (line 7))
ERROR: Cannot install -r requirements/base.txt (line 7), alpha==1.0 and delta==1 because these package versions have \
conflicting dependencies.

The conflict is caused by:
    The user requested alpha==1.0
    beta 3.1 depends on alpha<2.0 and >=1.5
    beta 3.0 depends on alpha<2.0 and >=1.5
    The user requested (constraint) epsilon<2
    delta 1 depends on epsilon>=2

To fix this you could try to:
1. loosen the range of package versions you've specified
ERROR: ResolutionImpossible: for help visit https://pip.example/
"""
POETRY = """\
Resolving dependencies... (2.1s)

Because no versions of beta match >2.7.0,<3.0.0
 and beta (2.7.0) depends on alpha (2.7.0), beta (>=2.7.0,<3.0.0) requires alpha (2.7.0).
So, because my-app depends on both alpha (^2.4.1) and beta (^2.7.0), version solving failed.
"""
POETRY_EXTRAS = """\
Because alpha[cuda] (2.15.0) depends on gamma (2.16.5)
 and beta[cuda12] (0.4.23) depends on gamma (>=2.18.3), alpha[cuda] (2.15.0) is incompatible with beta[cuda12] (0.4.23).
So, because mine depends on both beta[cuda12] (0.4.23) and alpha[cuda] (2.15.0), version solving failed.
"""
CONDA = """\
Could not solve for environment specs
The following packages are incompatible
├─ alpha 2.4.1**  is requested and can be installed;
└─ beta 2.7.0**  is not installable because it requires
   └─ alpha 2.7.0 , which conflicts with any installable versions previously reported.
"""
PDM = """\
[ResolutionImpossible]: Unable to find a resolution
because of the following conflicts:
  alpha==2.7.0 (from beta@2.7.0)
  alpha==2.4.1 (from project)
To fix this, you could loosen the dependency version constraints.
"""

PIP_LIST = """\
#11 43.84 ERROR: Cannot install -r r.txt (line 1), -r r.txt (line 2), -r r.txt (line 3) and alpha==2.0.0 because these \
package versions have conflicting dependencies.
#11 43.84 The conflict is caused by:
#11 43.84     The user requested alpha==2.0.0
#11 43.84     beta 0.6 depends on alpha>=1.7
#11 43.84     gamma 0.2 depends on alpha>=1.13.0
#11 43.84     delta 0.0.20 depends on alpha==2.0.1
"""
CONDA_CLASSIC = """\
UnsatisfiableError: The following specifications were found to be incompatible with each other:

Output in format: Requested package -> Available versions

Package alpha conflicts for:
beta==0.11 -> alpha==1.10.0
alpha=1.13

Package numpy conflicts for:
beta==0.11 -> numpy[version='>=1.11,<2.0a0']
"""


@pytest.mark.parametrize(
    ("log", "cores", "packages"),
    [
        (PIP_LIST, [["alpha==2.0.0", "delta"]], ["alpha"]),
        (CONDA_CLASSIC, [["alpha==1.13", "beta==0.11"]], ["alpha"]),
        (UV, [["alpha==1.0", "beta==2.0"]], ["gamma"]),
        (UV_NOW, [["alpha>1", "top"]], ["deep"]),
        (PIP, [["alpha==1.0", "beta"], ["delta==1", "epsilon<2"]], ["alpha", "epsilon"]),
        (POETRY, [["alpha<3,>=2.4.1", "beta<3,>=2.7.0"]], ["alpha"]),
        (CONDA, [["alpha==2.4.1.*", "beta==2.7.0.*"]], ["alpha"]),
        (PDM, [["alpha==2.4.1", "beta==2.7.0"]], ["alpha"]),
    ],
)
def test_a_refusal_is_a_conflict_with_the_core_that_the_output_names(log: str, cores: list, packages: list) -> None:
    conflicts = conflicts_of_log(f"start\n{log}\nend of the log")
    assert [sorted(item.pep508 for item in one.core) for one in conflicts] == cores
    assert [one.clash.package for one in conflicts] == packages
    findings = examine(examination_of({"log": log}))
    assert [item.rule for item in findings] == ["RES001"] * len(cores)


def test_a_line_of_a_file_that_pip_names_is_where_the_requirement_stands() -> None:
    (first, _) = conflicts_of_log(PIP)
    assert {str(item.origin) for item in first.core} == {"--log line 2", "requirements/base.txt:7"}


@pytest.mark.parametrize(
    ("log", "subject", "said"),
    [
        (
            (
                "╰─▶ Because alpha==1.0 has no wheels with a matching\n      platform tag (e.g., `manylinux_2_36`) "
                "and you require\n      alpha==1.0, we can conclude that your requirements are unsatisfiable.\n\n"
                "      hint: Wheels are available for `alpha` (v1.0) on the\n      following platform: `win_amd64`"
            ),
            "alpha",
            "wheels are there for `win_amd64`",
        ),
        (
            (
                "error: No solution found when resolving\n  cause: Because alpha==3.0 requires Python >=3.13 "
                "and only alpha==3.0 is available, we can conclude that all versions of alpha cannot be used.\n"
                "         And because you require alpha, we can conclude that your requirements are unsatisfiable."
            ),
            "alpha",
            "needs Python >=3.13",
        ),
        (
            (
                "ERROR: Could not find a version that satisfies the requirement alpha==0.2 (from versions: 0.3, 0.4)\n"
                "ERROR: No matching distribution found for alpha==0.2"
            ),
            "alpha",
            "0.3, 0.4",
        ),
        (
            (
                "[SolverProblemError]\nBecause beta (1.8.0) requires Python >= 2.7, != 3.0.*, != 3.1.*\n"
                " and no versions of beta match >1.8.0,<1.9.0, beta is forbidden.\n"
                "So, because mine depends on beta (^1.8), version solving failed."
            ),
            "beta",
            "needs Python >=2.7,!=3.0.*,!=3.1.*,",
        ),
        ("ERROR: Package 'alpha' requires a different Python: 3.9.6 not in '>=3.10'", "alpha", "needs Python >=3.10"),
        (
            "  - alpha requires Python >=3.10,<3.14, so it will not be installable for Python >=3.9,<3.10",
            "alpha",
            "needs Python >=3.10,<3.14",
        ),
        (
            (
                "`-> Because alpha{os_name == 'nt'}==2.7 has no `sys_platform ==\n      'win32'`-compatible wheels, "
                "we can conclude that alpha==2.7 cannot be used.\n"
                "      And because your project depends on alpha{os_name == 'nt'}==2.7, we can conclude that your\n"
                "      project's requirements are unsatisfiable."
            ),
            "alpha",
            "has no wheel for this",
        ),
        (
            (
                "╰─▶ Because there is no version of beta==9.1 and alpha==2.4 depends on beta==9.1, we can "
                "conclude that alpha==2.4 cannot be used.\n    And because you require alpha==2.4, it fails."
            ),
            "alpha",
            "needs `beta==9.1`, which is no version",
        ),
        (
            (
                "UnsatisfiableError: The following were found\n\nSpecifications:\n\n"
                "  - alpha=0.8 -> python[version='2.7.*|>=3.5,<3.6.0a0']\n\nYour python: x/osx-64::python==3.10.4=h8\n"
            ),
            "alpha",
            "Python 3.10.4 is installed",
        ),
        (
            "Encountered problems while solving.\nProblem: nothing provides requested alpha\n",
            "alpha",
            "none of the channels",
        ),
        ("ResolvePackageNotFound: \n  - alpha=11.3\n", "alpha", "none of the channels"),
    ],
)
def test_a_requirement_that_cannot_be_met_alone_is_no_conflict(log: str, subject: str, said: str) -> None:
    assert not conflicts_of_log(log)
    (finding,) = examine(examination_of({"log": log}))
    assert (finding.rule, finding.subject) == ("RES101", subject)
    assert said in finding.message


HAS = "`beta` 2.7.0 requires `alpha==2.7.0`, but 2.4.1 is installed"
OF_UV = "`beta` requires `alpha<2,>=1`, but 2.3 is installed"
ROWS = {
    "beta 2.7.0 has requirement alpha==2.7.0, but you have alpha 2.4.1.": HAS,
    "beta 2.7.0 requires alpha==2.7.0, but you have alpha 2.4.1 which is incompatible.": HAS,
    "beta 2.7.0 requires alpha, which is not installed.": "`beta` 2.7.0 requires `alpha`, but it is not installed",
    "The package `beta` requires `alpha>=1,<2`, but `2.3` is installed": OF_UV,
    "The package `beta` requires `alpha`, but it's not installed": "`beta` requires `alpha`, but it is not installed",
    "* beta==2.7.0\n - alpha [required: >=1,<2, installed: 2.3]": OF_UV.replace("beta`", "beta` 2.7.0"),
}


@pytest.mark.parametrize(("row", "message"), ROWS.items())
def test_what_an_installers_check_says_is_an_unmet_requirement(row: str, message: str) -> None:
    before = "ERROR: pip's dependency resolver does not currently take into account all the packages"
    (finding,) = examine(examination_of({"log": f"{before}\n{row}\nSuccessfully installed x-1"}))
    assert (finding.rule, finding.message) == ("ENV001", message)


def test_no_version_is_offered_where_none_suits_everyone() -> None:
    rows = "a 1 requires x<2, but you have x 3.\nb 1 requires x>4, but you have x 3 which is incompatible."
    for finding in examine(examination_of({"log": rows})):
        assert finding.remedy is not None
        assert "no version of `x` suits" in finding.remedy.summary
        assert not finding.remedy.commands


UV_LOCKED = """\
error: Distribution `alpha==2.8.0+cu128 @ registry+https://index.example/cu128` can't be installed because it doesn't \
have a source distribution or wheel for the current platform

hint: You're on macOS (`macosx_15_0_arm64`), but `alpha` (v2.8.0+cu128) only has wheels for the following platforms: \
`manylinux_2_28_x86_64`, `win_amd64`
"""
PIXI = """\
Error:   × failed to solve requirements of environment 'default' for platform 'linux-aarch64'
  ├─▶   × failed to solve the environment
  │
  ╰─▶ Cannot solve the request because of: alpha-gpu * cannot be installed because there are no viable options:
      ├─ alpha-gpu 2.10.0 would require
      │  └─ alpha ==2.10.0 cuda*203, which cannot be installed because there are no viable options:
      │     └─ alpha 2.10.0 | 2.10.0 would require
      │        └─ arm-variant * sbsa, for which no candidates were found.
"""
PIXI_NONE = """\
  × failed to solve the conda requirements of 'default' 'linux-64'
  ╰─▶ Cannot solve the request because of: No candidates were found for alpha-cuda 12.8.*.
"""
PIXI_APART = """\
  × failed to solve the conda requirements of 'default' 'linux-64'
  ╰─▶ Cannot solve the request because of: The following packages are incompatible
      ├─ alpha ==2.3.1 can be installed with any of the following options:
      │  └─ alpha 2.3.1 | 2.3.1
      └─ beta 12.1.* cannot be installed because there are no viable options:
         └─ beta 12.1 would require
            └─ alpha >=2.4, which conflicts with the versions reported above.
"""
POETRY_PYTHON = """\
The current project's supported Python range (>=3.10) is not compatible with some of the required packages Python \
requirement:
  - alpha requires Python <3.13,>=3.10, so it will not be installable for Python >=3.13

Because my-app depends on alpha (0.9.4) which requires Python <3.13,>=3.10, version solving failed.
"""


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (UV_LOCKED, "`alpha==2.8.0+cu128` has no wheel for macOS (`macosx_15_0_arm64`); wheels are there for"),
        (PIXI, "`alpha-gpu` cannot be installed: it needs `arm-variant * sbsa`, which no channel has"),
        (PIXI_NONE, "`alpha-cuda==12.8.*` is in none of the channels that were asked"),
        (POETRY_PYTHON, "`alpha` needs Python <3.13,>=3.10, and the project admits >=3.13, too"),
    ],
)
def test_what_cannot_be_met_alone_is_told_alone(log: str, message: str) -> None:
    (finding,) = [item for item in examine(examination_of({"log": log})) if item.rule in ("RES101", "RES001", "LOG001")]
    assert finding.message.startswith(message)
    assert conflicts_of_log(log) == ()


PIP_TWICE = """\
1.098 Collecting beta==2.2.1 (from -r requirements.txt (line 1))
1.316 Collecting gamma==0.17.1 (from -r requirements.txt (line 2))
5.512 ERROR: Cannot install -r requirements.txt (line 1), -r requirements.txt (line 2) and alpha==2.3.0 because these \
package versions have conflicting dependencies.
5.512
5.512 The conflict is caused by:
5.512     The user requested alpha==2.3.0
5.512     beta 2.2.1 depends on alpha==2.2.1
5.512     gamma 0.17.1 depends on alpha==2.2.1
5.512
5.512 To fix this you could try to:
"""


def test_each_two_that_cannot_stand_together_are_a_conflict_of_their_own() -> None:
    """Docker writes the seconds before each line; who mends one of the two only must know of the other."""
    found = [[str(item) for item in conflict.core] for conflict in conflicts_of_log(PIP_TWICE)]
    assert found == [["alpha==2.3.0", "beta==2.2.1"], ["alpha==2.3.0", "gamma==0.17.1"]]


def test_what_pixi_calls_incompatible_is_a_conflict() -> None:
    (conflict,) = conflicts_of_log(PIXI_APART)
    assert [item.name for item in conflict.core] == ["alpha", "beta"]


def _alone(log: str) -> tuple[str, str]:
    (found,) = (item for item in examine(examination_of({"log": log})) if item.rule == "RES101")
    return found.message, found.remedy.summary


def test_packages_that_conda_does_not_find_in_a_build_of_another_system_are_told_as_such() -> None:
    head = "PackagesNotFoundError: The following packages are not available from current channels:\n\n"
    message, remedy = _alone(f"{head}  - alpha==1.0=py310_0\n  - beta==2.0=h12debd9_5\n\nCurrent channels:\n")
    assert message == "`alpha==1.0` in the build `py310_0` and 1 other are in none of the channels that were asked"
    assert "leave the build behind the version out" in remedy
    message, remedy = _alone(f"{head}  - alpha==1.0\n")
    assert "build" not in message + remedy


def test_what_stands_for_the_machine_is_sought_in_no_channel() -> None:
    message, remedy = _alone("  - nothing provides __cuda needed by alpha-1.11.0-cuda102py310hdf4a2db_202")
    assert message == "`alpha==1.11.0` needs `__cuda`, which the machine does not give"
    assert "CONDA_OVERRIDE_CUDA" in remedy


def test_what_uv_takes_from_an_index_of_builds_without_need_is_sent_to_the_usual_one() -> None:
    text = (
        "error: Distribution `{} @ registry+https://index.example/whl/cpu` can't be installed because it doesn't have "
        "a source distribution or wheel for the current platform"
    )
    assert "explicit = true" in _alone(text.format("markupsafe==3.0.2"))[1]
    assert "explicit" not in _alone(text.format("torchvision==0.20.1"))[1]


def test_a_torch_on_an_intel_mac_is_told_which_was_the_last() -> None:
    log = (
        "error: Distribution `torch==2.6.0 @ registry+https://index.example/simple` can't be installed because it "
        "doesn't have a source distribution or wheel for the current platform\n\n"
        "hint: You're on macOS (`macosx_14_0_x86_64`), "
        "but `torch` (v2.6.0) only has wheels for the following platforms: `macosx_11_0_arm64`, `win_amd64`"
    )
    (found,) = examine(examination_of({"log": log}))
    assert (found.rule, "torch 2.2.2 is the last" in found.remedy.summary) == ("ADV005", True)


def test_a_version_of_more_digits_than_python_reads_is_passed_over():
    assert versions_of([("torch", "9" * 5000), ("numpy", "1.0")]) == {"numpy": "1.0"}
    assert of_poetry(f"torch (>=1,<{'9' * 5000})", CommandLineOrigin("--log")) is None


def test_an_extra_does_not_make_poetry_s_next_consumer_a_demand_of_the_first() -> None:
    (conflict,) = conflicts_of_log(POETRY_EXTRAS)
    assert conflict.clash.package == "gamma"
    assert {item.name for item in conflict.core} == {"alpha", "beta"}
