"""What a resolver has to get right, one scenario each, in the words of the standards; the answers were found by hand.

A scenario is what the user asks for, what the index has, and what is chosen (None where nothing agrees). Of an index:
``{project: {version: what it asks for, or a table with more}}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Chosen = Mapping[str, str]


class Scenario(NamedTuple):
    """One question and its answer."""

    requires: list[str]
    index: Mapping[str, Mapping[str, Any]]
    chosen: Chosen | None
    python: str = "3.12"
    constraints: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return it in the form that the index of scenarios takes."""
        packages = {
            name: {"versions": {v: e if isinstance(e, dict) else {"requires": e} for v, e in versions.items()}}
            for name, versions in self.index.items()
        }
        root: dict[str, Any] = {"requires": self.requires}
        if self.constraints:
            root["constraints"] = list(self.constraints)
        expected: dict[str, Any] = {"satisfiable": self.chosen is not None}
        if self.chosen is not None:
            expected["packages"] = dict(self.chosen)
        return {
            "name": "",
            "root": root,
            "packages": packages,
            "expected": expected,
            "environment": {"python": self.python},
        }


YANKED: dict[str, Any] = {"yanked": "it broke"}
SDIST: dict[str, Any] = {"wheel": False}
WIN: dict[str, Any] = {"wheel_tags": ["cp312-cp312-win_amd64"]}
OTHER_PYTHON: dict[str, Any] = {"wheel_tags": ["cp39-cp39-manylinux_2_17_x86_64"], "sdist": False}

SCENARIOS: dict[str, Scenario] = {
    # Names and versions that are not there.
    "no-such-project": Scenario(["gone"], {}, None),
    "no-version-so-high": Scenario(["a>1"], {"a": {"1.0": []}}, None),
    "an-older-version-asks-for-nothing-missing": Scenario(
        ["a"], {"a": {"1.0": [], "2.0": ["gone"], "3.0": ["gone>=1"]}}, {"a": "1.0"}
    ),
    # Plain conflicts and walking back.
    "two-lines-disagree": Scenario(["a==1.0", "a==2.0"], {"a": {"1.0": [], "2.0": []}}, None),
    "a-line-against-a-dependency": Scenario(
        ["a", "b==2.0"], {"a": {"1.0": ["b==1.0"]}, "b": {"1.0": [], "2.0": []}}, None
    ),
    "back-through-three": Scenario(
        ["a", "b"],
        {
            "a": {"1.0": ["c==1.0"], "2.0": ["c==2.0"], "3.0": ["c==3.0"]},
            "b": {"1.0": ["c==1.0"], "2.0": ["d"]},
            "c": {"1.0": [], "2.0": [], "3.0": []},
            "d": {"1.0": ["c==2.0"]},
        },
        {"a": "2.0", "b": "2.0", "c": "2.0", "d": "1.0"},
    ),
    "a-circle": Scenario(["a"], {"a": {"1.0": ["b"]}, "b": {"1.0": ["a==1.0"]}}, {"a": "1.0", "b": "1.0"}),
    "a-circle-that-cannot-close": Scenario(["a"], {"a": {"1.0": ["b"]}, "b": {"1.0": ["a>1"]}}, None),
    "a-constraint-asks-for-nothing": Scenario(
        ["a"], {"a": {"1.0": []}, "b": {"1.0": []}}, {"a": "1.0"}, constraints=("b==9",)
    ),
    "a-constraint-bounds-a-dependency": Scenario(
        ["a"], {"a": {"1.0": ["b"]}, "b": {"1.0": [], "2.0": []}}, {"a": "1.0", "b": "1.0"}, constraints=("b<2",)
    ),
    # Versions left out by !=.
    "all-but-one-left-out": Scenario(["a!=2.0,!=3.0"], {"a": {"1.0": [], "2.0": [], "3.0": []}}, {"a": "1.0"}),
    "a-family-left-out": Scenario(["a!=2.*"], {"a": {"1.9": [], "2.0": [], "2.9": []}}, {"a": "1.9"}),
    "holes-in-a-range": Scenario(
        ["a", "b>=2"],
        {
            "a": {"1.0": ["b==1.0"], "2.0": ["b>=2,!=2.5,!=3.0"]},
            "b": {"1.0": [], "2.0": [], "2.5": [], "3.0": []},
        },
        {"a": "2.0", "b": "2.0"},
    ),
    "compatible-release": Scenario(["a~=1.4.5"], {"a": {"1.4.4": [], "1.4.9": [], "1.5.0": []}}, {"a": "1.4.9"}),
    "exactly-this-text": Scenario(["a===1.0"], {"a": {"1.0": [], "1.0.1": []}}, {"a": "1.0"}),
    # Prereleases.
    "only-prereleases": Scenario(["a"], {"a": {"0.1a1": [], "0.1b1": []}}, {"a": "0.1b1"}),
    "a-final-before-newer-prereleases": Scenario(["a"], {"a": {"0.1": [], "1.0rc1": []}}, {"a": "0.1"}),
    "below-a-final-are-not-its-prereleases": Scenario(["a<0.2.0"], {"a": {"0.1.0": [], "0.2.0a1": []}}, {"a": "0.1.0"}),
    "below-a-prerelease-are-earlier-ones": Scenario(
        ["a<0.2.0a3"], {"a": {"0.1.0": [], "0.2.0a1": [], "0.2.0a2": [], "0.2.0a3": []}}, {"a": "0.2.0a2"}
    ),
    "kinds-of-prereleases-in-order": Scenario(
        ["a>=1.0a1"], {"a": {"1.0a1": [], "1.0b1": [], "1.0rc1": [], "1.0.dev5": []}}, {"a": "1.0rc1"}
    ),
    "a-named-prerelease": Scenario(["a==1.0rc1"], {"a": {"0.9": [], "1.0rc1": []}}, {"a": "1.0rc1"}),
    "a-final-is-better-than-a-named-prerelease": Scenario(["a>=1.0a1"], {"a": {"1.0a1": [], "1.0": []}}, {"a": "1.0"}),
    "pre-for-all": Scenario(
        ["--pre", "a"], {"a": {"0.1": ["b"], "1.0a1": ["b"]}, "b": {"1": [], "2b1": []}}, {"a": "1.0a1", "b": "2b1"}
    ),
    "the-user-lets-in-a-dependencys-prerelease": Scenario(
        ["a", "b>0.0.0a1"], {"a": {"0.1": ["b>0.1"]}, "b": {"0.1": [], "1.0a1": []}}, {"a": "0.1", "b": "1.0a1"}
    ),
    # Local versions.
    "a-public-pin-takes-a-local-build": Scenario(["a==1.2.3"], {"a": {"1.2.3+cpu": []}}, {"a": "1.2.3+cpu"}),
    "the-highest-local-build": Scenario(["a<=1.2.3"], {"a": {"1.2.3+bar": [], "1.2.3+foo": []}}, {"a": "1.2.3+foo"}),
    "from-a-public-version-on": Scenario(["a>=1.2.3"], {"a": {"1.2.3+bar": []}}, {"a": "1.2.3+bar"}),
    "two-local-builds-at-once": Scenario(
        ["a", "b==2.0+foo"], {"a": {"1.0": ["b==2.0+bar"]}, "b": {"2.0+foo": [], "2.0+bar": []}}, None
    ),
    "a-dependency-by-its-public-version": Scenario(
        ["a", "b==2.0+foo"], {"a": {"1.0": ["b==2.0"]}, "b": {"2.0": [], "2.0+foo": []}}, {"a": "1.0", "b": "2.0+foo"}
    ),
    # Post releases.
    "above-is-not-its-own-post-release": Scenario(["a>1.2.3"], {"a": {"1.2.3.post1": []}}, None),
    "below-is-not-its-own-post-release": Scenario(["a<1.2.3"], {"a": {"1.2.3.post1": []}}, None),
    "a-named-post-release": Scenario(["a==1.2.3.post0"], {"a": {"1.2.3": [], "1.2.3.post0": []}}, {"a": "1.2.3.post0"}),
    "above-a-post-release-there-is-none": Scenario(["a>1.2.3.post3"], {"a": {"1.2.3": [], "1.2.3.post3": []}}, None),
    "the-family-has-post-releases": Scenario(["a==1.2.*"], {"a": {"1.2": [], "1.2.post1": []}}, {"a": "1.2.post1"}),
    # Yanked versions.
    "only-yanked": Scenario(["a"], {"a": {"1.0": YANKED}}, None),
    "yanked-by-a-pin": Scenario(["a==1.0"], {"a": {"1.0": YANKED, "2.0": []}}, {"a": "1.0"}),
    "unyanked-before-a-newer-yanked": Scenario(["a"], {"a": {"1.0": [], "2.0": YANKED}}, {"a": "1.0"}),
    "a-dependency-has-only-yanked-in-range": Scenario(
        ["a"], {"a": {"1.0": ["b>1"]}, "b": {"1.0": [], "2.0": YANKED}}, None
    ),
    # Extras.
    "an-extra-that-is-none": Scenario(
        ["a[nothing]"], {"a": {"1.0": ["b"]}, "b": {"1.0": []}}, {"a": "1.0", "b": "1.0"}
    ),
    "an-extra-of-extras": Scenario(
        ["a[all]"],
        {
            "a": {"1.0": {"extras": {"all": ["a[x,y]"], "x": ["b"], "y": ["c"]}}},
            "b": {"1.0": []},
            "c": {"1.0": []},
        },
        {"a": "1.0", "b": "1.0", "c": "1.0"},
    ),
    "an-extra-against-a-line": Scenario(
        ["a[x]", "b==2.0"], {"a": {"1.0": {"extras": {"x": ["b==1.0"]}}}, "b": {"1.0": [], "2.0": []}}, None
    ),
    "an-extra-that-nobody-asked-for": Scenario(
        ["a", "b==2.0"],
        {"a": {"1.0": {"extras": {"x": ["b==1.0"]}}}, "b": {"1.0": [], "2.0": []}},
        {"a": "1.0", "b": "2.0"},
    ),
    "an-extra-in-other-letters": Scenario(
        ["a[X_y]"], {"a": {"1.0": {"extras": {"x-y": ["b"]}}}, "b": {"1.0": []}}, {"a": "1.0", "b": "1.0"}
    ),
    # Wheels and source archives.
    "a-source-archive-where-no-wheel-fits": Scenario(["a"], {"a": {"1.0": WIN}}, {"a": "1.0"}),
    "no-wheel-for-this-python": Scenario(["a"], {"a": {"1.0": OTHER_PYTHON}}, None),
    "an-older-version-has-the-wheel": Scenario(["a"], {"a": {"1.0": [], "2.0": OTHER_PYTHON}}, {"a": "1.0"}),
    "source-archives-alone": Scenario(["a"], {"a": {"1.0": SDIST}}, {"a": "1.0"}),
    "only-binary-passes-over-source": Scenario(
        ["--only-binary a", "a"], {"a": {"1.0": [], "2.0": SDIST}}, {"a": "1.0"}
    ),
    "only-binary-for-all": Scenario(["--only-binary :all:", "a"], {"a": {"1.0": SDIST}}, None),
    "no-binary-needs-source": Scenario(["--no-binary a", "a"], {"a": {"1.0": {"sdist": False}}}, None),
    "abi3-of-an-older-python": Scenario(
        ["a"], {"a": {"1.0": {"wheel_tags": ["cp38-abi3-manylinux_2_17_x86_64"], "sdist": False}}}, {"a": "1.0"}
    ),
    # What asks for which Python.
    "too-new-for-this-python": Scenario(["a"], {"a": {"1.0": {"requires_python": ">=3.13"}}}, None),
    "the-newest-that-admits-this-python": Scenario(
        ["a"],
        {
            "a": {
                "1.0": {"requires_python": ">=3.8"},
                "2.0": {"requires_python": ">=3.10"},
                "3.0": {"requires_python": ">=3.13"},
            }
        },
        {"a": "2.0"},
    ),
    "a-python-that-does-not-exist": Scenario(["a"], {"a": {"1.0": {"requires_python": ">=3.30"}}}, None),
    "a-patch-that-is-not-known": Scenario(
        ["a"], {"a": {"1.0": {"requires_python": "!=3.9.0,>=3.8"}}}, {"a": "1.0"}, python="3.9"
    ),
    "a-patch-that-is-too-old": Scenario(["a"], {"a": {"1.0": {"requires_python": ">=3.9.4"}}}, None, python="3.9.3"),
    "a-family-of-pythons": Scenario(["a"], {"a": {"1.0": {"requires_python": "==3.12.*"}}}, {"a": "1.0"}),
    # Conditions, for one target.
    "conditions-are-those-of-the-target": Scenario(
        ["a; sys_platform == 'linux'", "b; sys_platform == 'win32'", "c; python_version < '3.12'"],
        {"a": {"1.0": ["c; platform_machine == 'x86_64'"]}, "c": {"1.0": []}},
        {"a": "1.0", "c": "1.0"},
    ),
    "two-branches-of-which-one-counts": Scenario(
        ["a<2; sys_platform == 'darwin'", "a>=2; sys_platform == 'linux'"], {"a": {"1.0": [], "2.0": []}}, {"a": "2.0"}
    ),
    "names-in-other-letters": Scenario(["My.Pkg_x"], {"my-pkg-x": {"1.0": []}}, {"my-pkg-x": "1.0"}),
}
