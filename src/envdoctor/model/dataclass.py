"""The decorator of all our dataclasses: the standard one's classes, made in a third of its time.

A check imports more than two hundred of them. ``dataclasses`` compiles up to six methods of each from text, looks at
every annotation for what it might be, and freezes; that was a tenth of the time of a small check, with all but the
first of it left to it. Here ``__init__`` alone is compiled, when a class has its first value, which for half of them is
never; the others are the same functions for all classes. What
``dataclasses`` has for values (``fields``, ``replace``, ``asdict``) works as with its own.

``frozen=True`` is held by mypy and makes values hashable; at run time nothing refuses an assignment.
"""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, field
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool):
        """Return what makes a dataclass of a class, with the standard one's equality, hash and representation."""
        assert slots, "all of ours have slots"  # noqa: S101

        def make(cls):
            fields = _fields_of(cls)
            made = _with_slots(cls, fields)
            own = {name for name, value in made.__dict__.items() if value is not None}
            made.__dataclass_fields__ = fields
            made.__match_args__ = tuple(fields)
            made.__init__ = _compiled_when_called(made, fields.values())
            if "__repr__" not in own:
                made.__repr__ = _represented
            if "__eq__" not in own:
                made.__eq__ = _equality(tuple(name for name, item in fields.items() if item.compare))
            if "__hash__" not in own:
                hashed = (name for name, item in fields.items() if (item.compare if item.hash is None else item.hash))
                made.__hash__ = _hash(tuple(hashed)) if frozen else None
            return made

        return make

    def _fields_of(cls):
        """Return the fields by name, in order: those of the classes above, then the class's own."""
        found = {}
        for above in reversed(cls.__mro__[1:]):
            found.update(getattr(above, "__dataclass_fields__", {}))
        for name, written in cls.__annotations__.items():
            if written.startswith("ClassVar["):
                continue
            default = cls.__dict__.get(name, MISSING)
            own = default if isinstance(default, dataclasses.Field) else field(default=default)
            own.name, own.type, own._field_type, own.kw_only = name, written, dataclasses._FIELD, False
            found[name] = own
        return found

    def _with_slots(cls, fields):
        """Return the class anew, for slots cannot be added to one."""
        body = {name: value for name, value in cls.__dict__.items() if name not in fields}
        body.pop("__dict__", None)
        body.pop("__weakref__", None)
        above = {name for base in cls.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
        body["__slots__"] = tuple(name for name in fields if name not in above)
        made = type(cls)(cls.__name__, cls.__bases__, body)
        made.__qualname__ = cls.__qualname__
        return made

    def _compiled_when_called(cls, fields):
        """Return an ``__init__`` that puts the compiled one into its place and leaves the rest to it."""

        def __init__(self, *args, **kwargs):  # noqa: N807
            cls.__init__ = _beginning(cls, fields)
            cls.__init__(self, *args, **kwargs)

        return __init__

    def _beginning(cls, fields):
        """Return ``__init__``, compiled from the names of fields and nothing else."""
        known, parameters, lines = {"_absent": MISSING}, ["self"], []
        for item in fields:
            name, given = item.name, f"_of_{item.name}"
            lines.append(f"self.{name} = {name}")
            if item.default_factory is not MISSING:
                known[given] = item.default_factory
                parameters.append(f"{name}=_absent")
                lines[-1] = f"self.{name} = {given}() if {name} is _absent else {name}"
            elif item.default is not MISSING:
                known[given] = item.default
                parameters.append(f"{name}={given}")
            else:
                parameters.append(name)
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        body = "\n ".join(lines or ["pass"])
        exec(f"def __init__({', '.join(parameters)}):\n {body}", known)  # noqa: S102
        known["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
        return known["__init__"]


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
