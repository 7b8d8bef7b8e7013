"""A pin on a pre-release that is not there asks for no other pre-release."""

from __future__ import annotations

from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.resolve.diagnosis import diagnose
from envdoctor.resolve.manifest import Manifest


def _versions(line: str) -> list[str]:
    index = MemoryIndex({"a": {"7.0": {}, "9.0": {}, "9.1.dev1": {}, "7.0b2": {}}})
    diagnosis = diagnose(Manifest(requirements=read(line), target=LINUX), index)
    return [f"{item.name} {item.version}" for item in diagnosis.resolution.packages] if diagnosis.resolution else []


def test_the_repair_of_a_prerelease_that_is_not_there_is_a_release() -> None:
    assert _versions("a==7.0b5") == ["a 9.0"]


def test_a_prerelease_that_is_there_is_taken() -> None:
    assert _versions("a==7.0b2") == ["a 7.0b2"]
    assert _versions("a>=9.1.dev1") == ["a 9.1.dev1"]
