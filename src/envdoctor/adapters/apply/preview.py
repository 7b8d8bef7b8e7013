"""What patches would do to the files as they are now: new contents with diffs, or why not."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from envdoctor.adapters.apply.former import Former, UnpatchedTree
from envdoctor.adapters.apply.patches import AnchorMissing, patched_text
from envdoctor.adapters.apply.paths import PathEscape
from envdoctor.adapters.apply.source_text import read_source
from envdoctor.adapters.apply.trees import Tree
from envdoctor.model.plan import PatchFile, PatchLater, PatchPreview, Refusal, RemoveFile
from envdoctor.model.profile import Patch, PatchKind

__all__ = ["name_of", "preview_patches"]

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
            result.refusals.append(Refusal("path", name, f"patch `{name}` would touch what it must not: {error}"))
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
        "anchor", path, message, "the file is not as the profile expects; another version of it, or changed by hand"
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
