"""Each shipped profile has a page that names what the profile does to a project, and both lists name the profile."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from envdoctor.model.profile import Profile
from envdoctor.profile.catalogue import catalogue
from envdoctor.profile.load import load_profile

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "profiles"
WHOLE = [load_profile(item.name) for item in catalogue()]
every_profile = pytest.mark.parametrize("profile", WHOLE, ids=lambda profile: profile.name)


def page(profile: Profile) -> str:
    """Return the page, with those of the profiles that it builds upon."""
    text = (PAGES / f"{profile.name}.md").read_text(encoding="utf-8")
    others = re.findall(r"\]\(([a-z0-9-]+)\.md\)", text)
    return "\n".join([text, *((PAGES / f"{name}.md").read_text(encoding="utf-8") for name in others)])


def row(list_: Path, profile: Profile) -> str:
    (found,) = [line for line in list_.read_text(encoding="utf-8").splitlines() if f"{profile.name}.md)" in line]
    return found


@every_profile
def test_docs_profile_page_says_what_it_fixes_and_what_it_cannot(profile: Profile) -> None:
    text = (PAGES / f"{profile.name}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {profile.name}\n")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## What it fixes", "## What the machine must bring", "## What it cannot"]
    assert profile.documentation == f"docs/profiles/{profile.name}.md"


@every_profile
def test_docs_profile_page_names_what_the_profile_adds_bounds_leaves_out_and_sets_aside(profile: Profile) -> None:
    changed = {item.requirement.name for item in profile.requires}
    changed |= {item.requirement.name for item in profile.overrides} | {item.name for item in profile.excludes}
    assert {name for name in changed if name.casefold() not in page(profile).casefold()} == set()


@every_profile
def test_docs_profile_page_names_what_the_machine_must_bring(profile: Profile) -> None:
    assert {need.name for need in profile.system if f"`{need.name}`" not in page(profile)} == set()


@every_profile
def test_docs_lists_of_profiles_say_what_is_set_aside(profile: Profile) -> None:
    assert row(ROOT / "README.md", profile)
    last = row(PAGES / "README.md", profile).split("|")[-2]
    named = {item.requirement.name for item in profile.overrides} | {item.name for item in profile.excludes}
    assert set(re.findall(r"[a-z][\w-]*", last)) - {"nothing", "leaves", "out"} == named
