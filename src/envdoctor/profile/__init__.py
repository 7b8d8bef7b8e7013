"""Profiles: TOML to values, all faults at once."""

from envdoctor.profile.load import load_profile, parse_profile, validate
from envdoctor.profile.profile_target import python_choices, target_for
from envdoctor.profile.validation import ProfileError
from envdoctor.toml_tables import Fault

__all__ = [
    "Fault",
    "ProfileError",
    "load_profile",
    "parse_profile",
    "python_choices",
    "target_for",
    "validate",
]
