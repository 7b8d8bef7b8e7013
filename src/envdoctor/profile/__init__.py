"""Profiles: TOML to values, all faults at once."""
