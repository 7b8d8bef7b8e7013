"""Locks (PEP 751) and the constraints and overrides files beside them: a resolution written down, and read back."""
