"""Record what an index answers, for tests and examples that work without a network.

Around any envdoctor command:

    python scripts/record_index.py DIRECTORY --python 3.11 --platform win_amd64 -- check PROJECT --profile NAME

or for named projects, with the metadata of their newest versions:

    python scripts/record_index.py DIRECTORY --python 3.11 --platform win_amd64 --names torch torchaudio --newest 5

Hosts are rewritten. Wheels that the target cannot use are dropped, except where a version has no other. Running it
again adds to the recording; delete the directory to start anew. The index is the one that pip would use; give
``--exclude-newer`` to record it as it was on a day.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from packaging.utils import canonicalize_name

from envdoctor.adapters.index import AnyIndex, IndexSettings, open_index
from envdoctor.adapters.index.index_settings import IndexSettingsError
from envdoctor.adapters.index.recording_format import trim
from envdoctor.model.candidate import FileKind, ProjectPage
from envdoctor.ports import IndexUnavailable, MetadataUnavailable, ProjectNotFound


def usable_for(python: str | None, platform: str | None) -> Callable[[str], bool]:
    """Return a judge of file names: interpreter and platform as far as they are given."""
    digits = (python or "").replace(".", "")

    def usable(filename: str) -> bool:
        parts = filename.removesuffix(".whl").rsplit("-", 3)
        if not filename.endswith(".whl") or len(parts) < 4:
            return True
        interpreter, abi, machine = parts[1:]
        fits = not digits or re.search(rf"(?:cp{digits}|py3|py2\.py3|py{digits})(?:\.|$)", interpreter) or abi == "abi3"
        return bool(fits) and (not platform or machine == "any" or platform in machine)

    return usable


def record_names(index: AnyIndex, names: list[str], newest: int) -> None:
    """Ask for pages, and for the metadata of each one's newest versions."""
    normalised = [canonicalize_name(name) for name in names]
    index.prefetch_pages(normalised)
    for name in normalised:
        with contextlib.suppress(ProjectNotFound):  # recorded as such
            record_versions(index, index.page(name), newest)


def record_versions(index: AnyIndex, page: ProjectPage, newest: int) -> None:
    """Ask for metadata of the newest versions of a page, and for the build risk where there is no wheel."""
    for version in sorted({file.version for file in page.files}, reverse=True)[:newest]:
        files = [file for file in page.files if file.version == version]
        files.sort(key=lambda file: file.kind is FileKind.SDIST)
        with contextlib.suppress(MetadataUnavailable):  # recorded as such
            index.metadata(files[0])
            index.build_risk(files[0])


def _partition(arguments: list[str]) -> tuple[list[str], str, list[str]]:
    if "--" not in arguments:
        return arguments, "", []
    where = arguments.index("--")
    return arguments[:where], "--", arguments[where + 1 :]


def main() -> int:
    """Record, trim, and say with what exit code the command ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--python", help="keep wheels for this interpreter only, such as 3.11")
    parser.add_argument("--platform", help="keep wheels whose platform tag contains this, such as win_amd64")
    parser.add_argument("--only-considered", action="store_true", help="keep only versions of which metadata was asked")
    parser.add_argument("--exclude-newer", help="with --names: leave out files that are newer than this date")
    parser.add_argument("--names", nargs="+", default=[], help="projects to record, in place of a command")
    parser.add_argument("--newest", type=int, default=3, help="with --names: versions whose metadata is recorded")
    parser.usage = "%(prog)s DIRECTORY [options] (--names NAME ... | -- ARGUMENTS OF ENVDOCTOR)"
    # argparse takes `--` as the start of the first positional that may be empty, so the command is cut off by hand.
    own, _, command_line = _partition(sys.argv[1:])
    options = parser.parse_args(own)
    options.command = command_line
    if bool(options.names) == bool(options.command):
        parser.error("give either --names or, after --, a command of envdoctor")
    code = 0
    if options.names:
        settings = IndexSettings(record_to=options.directory, exclude_newer=options.exclude_newer)
        try:
            index = open_index(settings)
        except (IndexSettingsError, IndexUnavailable) as error:
            parser.error(str(error))
        try:
            record_names(index, options.names, options.newest)
        except IndexUnavailable as error:
            sys.stderr.write(f"{error}\n")
            code = 3
        finally:
            index.close()
    else:
        environment = {**os.environ, "ENVDOCTOR_INDEX_RECORD": str(options.directory.resolve())}
        command = [sys.executable, "-m", "envdoctor", *options.command]
        code = subprocess.run(command, env=environment, check=False).returncode  # noqa: S603 - envdoctor itself
    trim(options.directory, usable_for(options.python, options.platform), options.only_considered)
    return code


if __name__ == "__main__":
    sys.exit(main())
