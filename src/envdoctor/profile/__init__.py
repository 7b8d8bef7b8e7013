"""Profiles: TOML to values, all faults at once."""

from envdoctor.profile.fault import Fault, ProfileError
from envdoctor.profile.load import load_profile, parse_profile, validate
from envdoctor.profile.pythons import python_choices
from envdoctor.profile.target import target_for

__all__ = [
    "Fault",
    "ProfileError",
    "load_profile",
    "parse_profile",
    "python_choices",
    "target_for",
    "validate",
]
