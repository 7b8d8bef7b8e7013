"""The decorator of all our dataclasses: the standard one's classes, made in a third of its time.

A third of a small check was the making of classes: for each, ``dataclasses`` compiles six methods from text, and half
of the time goes into what freezes it. Here ``__init__`` is compiled; the others are the same functions for all classes.
``frozen=True`` is held by mypy and makes values hashable; at run time nothing refuses an assignment.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False):
        """Return what makes a dataclass of a class, with the standard one's equality, hash and representation."""

        def make(cls):
            own = {name for name, value in vars(cls).items() if value is not None}
            made = dataclasses.dataclass(slots=slots, repr=False, eq=False)(cls)
            fields = dataclasses.fields(made)
            if "__repr__" not in own:
                made.__repr__ = _represented
            if "__eq__" not in own:
                made.__eq__ = _equality(tuple(field.name for field in fields if field.compare))
            if "__hash__" not in own:
                hashed = (field.name for field in fields if (field.compare if field.hash is None else field.hash))
                made.__hash__ = _hash(tuple(hashed)) if frozen else None
            return made

        return make


def _values(names: tuple[str, ...]) -> attrgetter[object]:
    # Of no names nothing can be asked; the class is as good, for values of one class alone are compared.
    return attrgetter(*(names or ("__class__",)))


def _equality(names: tuple[str, ...]) -> object:
    values = _values(names)

    def __eq__(self: object, other: object) -> bool:  # noqa: N807
        if self is other:
            return True
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return __eq__


def _hash(names: tuple[str, ...]) -> object:
    values = _values(names)

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__


@recursive_repr()
def _represented(self: object) -> str:
    shown = (field for field in dataclasses.fields(self) if field.repr)  # type: ignore[arg-type]
    return f"{type(self).__qualname__}({', '.join(f'{each.name}={getattr(self, each.name)!r}' for each in shown)})"
