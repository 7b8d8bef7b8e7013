"""The steps that write single files: patches, stubs, variables and records."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from envdoctor.adapters.apply.durable import digest_of, remove_file
from envdoctor.adapters.apply.journal import Journal, own_folder
from envdoctor.adapters.apply.paths import PathEscape, resolve_inside
from envdoctor.adapters.apply.preview import preview_patches
from envdoctor.adapters.apply.records import PATCH_RECORD, shell_scripts
from envdoctor.adapters.apply.trees import FolderTree
from envdoctor.model.step import PatchFile, PatchLater, RemoveFile, WriteRecord, WriteStartup, WriteStub, WriteVariables

__all__ = ["FileSteps", "NotAsExpected"]


class NotAsExpected(Exception):
    """A file is not what the plan was made for."""


class FileSteps:
    """Writes files with their journal entries."""

    def __init__(self, environment: Path, project: Path, journal: Journal, site: Callable[[], Path]) -> None:
        self.environment = environment
        self.project = project
        self.journal = journal
        self.site = site

    def patch(self, step: PatchFile) -> None:
        """Put the new content in place. Raises NotAsExpected."""
        path = self._expected(step)
        self.journal.write_file(step.id, step.root, step.path, path, step.content, step.result)
        self._remember(step.id, self._row(step, path, step.result))

    def remove(self, step: RemoveFile) -> None:
        """Take a file away. Raises NotAsExpected."""
        path = self._expected(step)
        with self.journal.changing(step.id, step.root, step.path, path, None):
            remove_file(path)
        self._remember(step.id, self._row(step, path, None))

    def patch_later(self, step: PatchLater) -> None:
        """Patch what a build has made. Raises NotAsExpected."""
        preview = preview_patches([step.patch], {"site-packages": FolderTree(self.site())})
        if preview.refusals:
            raise NotAsExpected(preview.refusals[0].message)
        for made in preview.steps:
            if isinstance(made, PatchFile):
                path = self._expected(made)
                self.journal.write_file(step.id, made.root, made.path, path, made.content, made.result)
                self._remember(step.id, self._row(made, path, made.result))
            elif isinstance(made, RemoveFile):
                path = self._expected(made)
                with self.journal.changing(step.id, made.root, made.path, path, None):
                    remove_file(path)
                self._remember(step.id, self._row(made, path, None))

    def stub(self, step: WriteStub) -> None:
        """Write a stand-in, unless something else is there. Raises NotAsExpected."""
        path = self._inside(self.site(), step.path)
        data = step.content.encode("utf-8")
        if path.exists() and not path.read_bytes().startswith(step.MARK.encode()):
            raise NotAsExpected(f"`{path}` is there already, and is no stand-in")
        self._write(step.id, "site-packages", step.path, path, data)

    def startup(self, step: WriteStartup) -> None:
        """Write the start-up hook. Raises NotAsExpected."""
        for path, text in step.files.items():
            self._write(step.id, "site-packages", path, self._inside(self.site(), path), text.encode("utf-8"))

    def variables(self, step: WriteVariables) -> None:
        """Write scripts that set the variables in a shell; `envdoctor run` reads the record."""
        own = own_folder(self.environment)
        for name, text in shell_scripts(step.variables, windows=os.name == "nt").items():
            self._write(step.id, "record", name, own / name, text.encode("utf-8"))

    def record(self, step: WriteRecord) -> None:
        """Write a record."""
        own = own_folder(self.environment)
        self._write(step.id, "record", step.path, self._inside(own, step.path), step.content.encode("utf-8"))

    def _write(self, step: str, root: str, relative: str, path: Path, data: bytes) -> None:
        if path.is_file() and path.read_bytes() == data:
            return
        self.journal.write_file(step, root, relative, path, data, hashlib.sha256(data).hexdigest())

    def _expected(self, step: PatchFile | RemoveFile) -> Path:
        root = self.project if step.root == "project" else self.site()
        path = self._inside(root, step.path)
        digest = digest_of(path)
        if (digest or "") != step.expected:
            state = "is not there" if digest is None else "is not the file that the plan was made for"
            raise NotAsExpected(f"`{path}` {state}; nothing of it was changed")
        return path

    @staticmethod
    def _inside(root: Path, relative: str) -> Path:
        try:
            return resolve_inside(root, relative)
        except PathEscape as error:
            raise NotAsExpected(str(error)) from None

    @staticmethod
    def _row(step: PatchFile | RemoveFile, path: Path, after: str | None) -> dict[str, object]:
        return {
            "root": step.root,
            "path": step.path,
            "patches": list(step.patches) if isinstance(step, PatchFile) else [step.patch],
            "before": step.expected,
            "after": after,
            "distribution": step.distribution if isinstance(step, PatchFile) else "",
            "real": str(path),
        }

    def _remember(self, step: str, row: Mapping[str, object]) -> None:
        """Add a patched file to the record that `check` reads."""
        path = own_folder(self.environment) / PATCH_RECORD
        rows: list[object] = []
        if path.is_file():
            try:
                read = json.loads(path.read_text(encoding="utf-8"))
                rows = read if isinstance(read, list) else []
            except (ValueError, RecursionError):
                rows = []
        same = [item for item in rows if isinstance(item, dict) and item.get("real") == row["real"]]
        if same and (same[0].get("after") or "") == row["before"]:
            # It was patched already: what it was before the first patch is what a re-install brings back.
            row = {**row, "before": same[0].get("before", row["before"])}
        rows = [item for item in rows if item not in same]
        if row["after"] != row["before"]:
            rows.append(row)
        data = (json.dumps(rows, indent=1) + "\n").encode("utf-8")
        self._write(step, "record", PATCH_RECORD, path, data)
