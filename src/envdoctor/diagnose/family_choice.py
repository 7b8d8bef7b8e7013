"""Which of several distributions that own the same files to keep: as the GPU backend has it, else in general words."""

from __future__ import annotations

from collections.abc import Sequence

from envdoctor.diagnose.wheel_facts import Family, shipped_wheel_facts

__all__ = ["family_of", "one_to_keep", "what_to_keep"]


def family_of(names: Sequence[str]) -> Family | None:
    """Return the family that all of ``names`` belong to, None where the table has none."""
    return next((family for family in shipped_wheel_facts().families if set(names) <= set(family.names)), None)


def one_to_keep(family: Family, backend: str) -> str | None:
    """Return the distribution that is for ``backend``, None where the table does not say."""
    return family.by_backend.get(backend)


def what_to_keep(family: Family, names: Sequence[str], backend: str) -> str:
    """Return a piece of advice: ``keep `onnxruntime-gpu`, which is the one for cuda, and drop `onnxruntime```."""
    name = one_to_keep(family, backend)
    if name is None:
        return f"keep {family.keep}"
    others = [item for item in names if item != name]
    away = " and ".join(f"`{item}`" for item in others)
    if len(others) < len(names):
        return f"keep `{name}`, which is the one for {backend}, and drop {away}"
    return f"take `{name}`, which is the one for {backend}, in place of {away}"
