"""Environment doctor and dependency resolver for projects whose GPU is not the one their authors had.

``diagnose``, ``inspect_environment``, ``lock`` and ``smoke`` are the verbs of the command line for other programs;
``__init__.pyi`` has their types. Nothing is imported before one of them is asked for.
"""

import sys

__version__ = "0.1.0"

__all__ = [
    "Error",
    "Lock",
    "Report",
    "__version__",
    "diagnose",
    "inspect_environment",
    "lock",
    "schema",
    "smoke",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module `envdoctor` has no attribute `{name}`")
    import importlib

    return getattr(importlib.import_module("envdoctor.library"), name)


def __dir__() -> "list[str]":
    return sorted({*globals(), *__all__} - {"Verb", "sys"})


class Verb(type(sys)):
    """A folder of this package that has the name of a verb: once imported it takes the function's place, and is called.

    ``envdoctor.diagnose`` and ``envdoctor.lock`` are such.
    """

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Call the function of that name."""
        return self.__wrapped__(*args, **kwargs)

    @property
    def __wrapped__(self) -> object:
        return __getattr__(self.__name__.rpartition(".")[2])
