"""Candidates, solver, conflicts and repairs."""
