"""Carrying out a plan, with a journal."""
