"""Sources that are asked at the same time, none of which can keep us: each has a thread that nobody waits for for ever.

A folder on a file system that does not answer (NFS, a dead FUSE mount) blocks whoever looks at it, and no time limit of
a child helps there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from envdoctor.model.fact import Fact

__all__ = ["collected"]


class _Source(threading.Thread):
    """Collects the facts of one source; daemonic, so that the interpreter ends without it."""

    def __init__(self, name: str, source: Callable[[], Iterable[Fact]]) -> None:
        super().__init__(name=f"facts-{name}", daemon=True)
        self.source = source
        self.facts: list[Fact] = []
        self.failure: str | None = None
        self.start()

    def run(self) -> None:
        try:
            for fact in self.source():
                self.facts.append(fact)
        except Exception as error:  # noqa: BLE001 - one odd machine must not cost all other facts
            self.failure = f"{type(error).__name__}: {error}"


def collected(
    sources: Mapping[str, Callable[[], Iterable[Fact]]],
    until: float,
    missing: Callable[[str, str], Iterable[Fact]],
) -> Iterator[tuple[str, list[Fact]]]:
    """Ask all sources at once and yield the facts of each, in their order.

    ``until``: on the monotonic clock; a source that has not ended by then gives what it has. ``missing``: the facts
    that say what a source owes, by its name and the reason; given where it failed or did not end.
    """
    begin = time.monotonic()
    running = {name: _Source(name, source) for name, source in sources.items()}
    for name, source in running.items():
        source.join(max(0.0, until - time.monotonic()))
        failure = source.failure
        if source.is_alive():
            failure = f"did not end within {round(max(0.0, until - begin), 1):g} s"
        facts = list(source.facts)
        yield name, [*facts, *(missing(name, failure) if failure else ())]
