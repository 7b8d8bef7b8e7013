"""Patches and stand-in modules as they would come out, with encoding and newlines kept, and how each patch stands."""

from __future__ import annotations

import codecs
import difflib
import hashlib
import io
import tokenize
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from envdoctor.adapters.apply.former import Former, UnpatchedTree
from envdoctor.adapters.apply.patches import AnchorMissing, patched_text
from envdoctor.adapters.apply.paths import PathEscape
from envdoctor.adapters.apply.trees import FolderTree, Tree
from envdoctor.model.dataclass import dataclass
from envdoctor.model.plan import PatchPreview, PatchState
from envdoctor.model.profile import Patch, PatchKind, Profile
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.step import PatchFile, PatchLater, RemoveFile, WriteStub

__all__ = ["name_of", "patch_states", "preview_patches", "preview_stubs", "read_source"]


def patch_states(profile: Profile, project: Path) -> tuple[PatchState, ...]:
    """Return how each patch of the project's own files stands, in the profile's order; nothing for a single file."""
    if not project.is_dir():
        return ()
    patches = [patch for patch in profile.patches if patch.root == "project"]
    return tuple(_state(patches, number, project) for number in range(len(patches)))


def _state(patches: Sequence[Patch], number: int, project: Path) -> PatchState:
    patch, tree = patches[number], FolderTree(project)
    trees: dict[str, Tree] = {"project": tree, "site-packages": tree}
    name = name_of(patch)
    try:
        here = tuple(path for glob in patch.files for path in tree.match(glob))
    except PathEscape as error:  # A link that leads out of the project; a fix refuses it, too.
        return PatchState(name, patch.files, "misfit", str(error))
    if not here:
        return PatchState(name, patch.files, "optional" if patch.optional else "absent")
    made = preview_patches([patch], trees)
    if made.refusals and _fits_after(patches, number, trees):
        return PatchState(name, here, "fits")
    if made.refusals:
        return PatchState(name, here, "misfit", made.refusals[0].message)
    if made.skipped:
        return PatchState(name, here, "optional", made.skipped[0])
    return PatchState(name, here, "fits" if made.steps else "applied")


def _fits_after(patches: Sequence[Patch], number: int, trees: Mapping[str, Tree]) -> bool:
    """Return whether a patch fits what those before it make of its file."""
    before = preview_patches(patches[:number], trees)
    return len(preview_patches(patches[: number + 1], trees).refusals) == len(before.refusals)


_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text and how it was written."""

    text: str
    encoding: str
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Return another text in the same form. Raises UnicodeEncodeError where it cannot be."""
        return self.mark + text.encode(self.encoding)


def read_source(data: bytes, name: str) -> SourceText:
    """Return the text of a file. A file in no known encoding is read byte by byte, so that it comes out unchanged."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return SourceText(data[len(mark) :].decode(encoding), encoding, mark)
    encoding = "utf-8"
    if name.endswith((".py", ".pyi", ".pyx")):
        try:
            encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        except SyntaxError:
            encoding = "latin-1"
    try:
        return SourceText(data.decode(encoding), encoding)
    except (UnicodeDecodeError, LookupError):
        return SourceText(data.decode("latin-1"), "latin-1")


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
            refusals.append(Refusal(RefusalKind.PATH, stub.module, message, "take it out of the profile's `stubs`"))
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


_WILD = frozenset("*?[")


@dataclass(slots=True)
class _Result:
    """A preview in the making."""

    steps: list[PatchFile | RemoveFile | PatchLater] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Working:
    """One file on its way through the patches."""

    before: bytes
    after: bytes | None
    patches: list[str] = field(default_factory=list)


def preview_patches(
    patches: Iterable[Patch],
    trees: Mapping[str, Tree],
    *,
    built_later: bool = False,
    former: Mapping[tuple[str, str], Former] | None = None,
) -> PatchPreview:
    """Apply patches in memory.

    ``built_later``: some packages come from source, so their files are not known yet. ``former``: files, by root and
    path, that an earlier fix has patched; they are patched anew from what they were, so that what no patch asks for any
    more is taken back.
    """
    result = _Result()
    earlier = former or {}
    originals: dict[str, dict[str, bytes]] = {}
    for (root, path), known in earlier.items():
        originals.setdefault(root, {})[path] = known.original
    whole = {root: UnpatchedTree(tree, originals[root]) if root in originals else tree for root, tree in trees.items()}
    working: dict[tuple[str, str], _Working] = {}
    for number, patch in enumerate(patches):
        _take(patch, number, whole[patch.root], working, result, built_later=built_later)
    for key, known in earlier.items():
        working.setdefault(key, _start(known.original))
    for (root, path), file in working.items():
        current = earlier[root, path].current if (root, path) in earlier else file.before
        _finish(root, path, file, current, whole[root], result)
    return PatchPreview(tuple(result.steps), tuple(result.refusals), tuple(result.skipped), tuple(result.unchanged))


def name_of(patch: Patch) -> str:
    """Return what a plan calls a patch."""
    subject = patch.module or patch.function or patch.attribute or patch.argument or patch.requirement or ""
    return patch.name or f"{patch.kind.value} {subject}".strip()


def _take(
    patch: Patch,
    number: int,
    tree: Tree,
    working: dict[tuple[str, str], _Working],
    result: _Result,
    *,
    built_later: bool,
) -> None:
    name = name_of(patch)
    met: list[str] = []
    missed: list[tuple[str, str]] = []
    for pattern in patch.files:
        wild = bool(_WILD & set(pattern))
        try:
            paths = [path for path in tree.match(pattern) if not _gone(working.get((patch.root, path)))]
            if not paths and not wild:
                missed.append((pattern, "there is no such file"))
            for path in paths:
                fault = _apply(patch, name, path, tree, working)
                if fault is None:
                    met.append(path)
                else:
                    missed.append((path, fault))
        except PathEscape as error:
            result.refusals.append(
                Refusal(RefusalKind.PATH, name, f"patch `{name}` would touch what it must not: {error}")
            )
            return
    explicit = [entry for entry in missed if entry[0] in patch.files]
    if not met and built_later and patch.root == "site-packages":
        result.steps.append(PatchLater("", patch, name))
    elif (explicit or not met) and patch.optional:
        first = explicit or missed or [(", ".join(patch.files), "no such file")]
        result.skipped.append(f"optional patch `{name}`: `{first[0][0]}`: {first[0][1]}")
    elif explicit or not met:
        for path, fault in explicit or missed or [(", ".join(patch.files), "no file matches")]:
            result.refusals.append(_refusal(patch, number, name, path, fault))


def _refusal(patch: Patch, number: int, name: str, path: str, fault: str) -> Refusal:
    where = "" if patch.root == "project" else " in site-packages"
    entry = str(patch.origin) if patch.origin is not None else f"patch[{number}]"
    message = f"patch `{name}` ({entry}, {patch.kind.value}) does not fit `{path}`{where}: {fault}"
    return Refusal(
        RefusalKind.ANCHOR,
        path,
        message,
        "the file is not as the profile expects; another version of it, or changed by hand",
    )


def _gone(file: _Working | None) -> bool:
    return file is not None and file.after is None


def _apply(patch: Patch, name: str, path: str, tree: Tree, working: dict[tuple[str, str], _Working]) -> str | None:
    """Apply one patch to one file in memory; return what it missed."""
    key = (patch.root, path)
    try:
        file = working.get(key) or _start(tree.read(path))
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"
    if patch.kind is PatchKind.REMOVE_FILE:
        file.after = None
    else:
        source = read_source(file.after or b"", path)
        try:
            file.after = source.encode(patched_text(patch, source.text))
        except AnchorMissing as error:
            return f"looked for {error.looked_for}"
        except UnicodeEncodeError:
            return f"the new text cannot be written in the file's encoding, {source.encoding}"
    file.patches.append(name)
    working[key] = file
    return None


def _start(data: bytes) -> _Working:
    return _Working(data, data)


def _finish(root: str, path: str, file: _Working, current: bytes | None, tree: Tree, result: _Result) -> None:
    if file.after == current:
        result.unchanged.append(path)
        return
    expected = hashlib.sha256(current).hexdigest() if current is not None else ""
    if file.after is None:
        result.steps.append(RemoveFile("", path, root, expected, ", ".join(file.patches)))
        return
    result.steps.append(
        PatchFile(
            id="",
            path=path,
            root=root,
            patches=tuple(file.patches),
            expected=expected,
            result=hashlib.sha256(file.after).hexdigest(),
            diff=_diff(path, current or b"", file.after),
            content=file.after,
            distribution=tree.owner(path) if root == "site-packages" else "",
        )
    )


def _diff(path: str, before: bytes, after: bytes) -> str:
    """Return a unified diff, newlines of the files as they are shown by a terminal."""
    old = read_source(before, path).text.splitlines()
    new = read_source(after, path).text.splitlines()
    return "\n".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm="")) + "\n"
