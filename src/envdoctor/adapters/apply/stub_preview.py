"""Whether a stand-in for a module can be written: looked up before anything is changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from envdoctor.adapters.apply.paths import PathEscape
from envdoctor.adapters.apply.trees import Tree
from envdoctor.model.plan import Refusal, WriteStub

__all__ = ["preview_stubs"]


def preview_stubs(
    stubs: Sequence[WriteStub],
    arriving: Tree,
    here: Tree | None,
    *,
    owners: Mapping[str, str],
    leaving: Collection[str],
) -> tuple[tuple[WriteStub, ...], tuple[Refusal, ...]]:
    """Return the stand-ins that are to be written, and why others must not be.

    ``arriving``: the wheels that come; ``here``: site-packages as it is. ``owners``: the distribution of each file
    there, of which those in ``leaving`` go.
    """
    wanted: list[WriteStub] = []
    refusals: list[Refusal] = []
    for stub in stubs:
        try:
            holder, present = _arriving(stub, arriving), False
            if holder is None and here is not None:
                holder, present = _here(stub, here, owners, leaving)
        except PathEscape as error:
            holder, present = str(error), False
        if holder is not None:
            message = f"the profile wants an empty stand-in for the module `{stub.module}`, and {holder}"
            refusals.append(Refusal("path", stub.module, message, "take it out of the profile's `stubs`"))
        elif not present:
            wanted.append(stub)
    return tuple(wanted), tuple(refusals)


def _arriving(stub: WriteStub, tree: Tree) -> str | None:
    found = _found(stub, tree)
    return f"`{tree.owner(found[0])}` brings it (`{found[0]}`)" if found else None


def _here(stub: WriteStub, tree: Tree, owners: Mapping[str, str], leaving: Collection[str]) -> tuple[str | None, bool]:
    """Return what holds the place, None where nothing does, and whether the very stand-in is there."""
    for path in _found(stub, tree):
        owner = owners.get(path, "")
        if owner in leaving:
            continue
        data = tree.read(path)
        if path == stub.path and data.startswith(WriteStub.MARK.encode()):
            if data == stub.content.encode():
                return None, True
            continue
        return f"`{path}` is there" + (f", of `{owner}`" if owner else ""), False
    return None, False


def _found(stub: WriteStub, tree: Tree) -> list[str]:
    """Return every file that is the module, or part of it."""
    folder = stub.path.rpartition("/")[0]
    return [path for pattern in (f"{folder}/**", f"{folder}.py", f"{folder}.*.so", f"{folder}.pyd", f"{folder}.*.pyd")
            for path in tree.match(pattern)]  # fmt: skip
