"""What several tests of the index look at."""

from __future__ import annotations

import io
import tarfile

from envdoctor.model.candidate import ProjectPage


def versions(page: ProjectPage) -> list[str]:
    return [str(file.version) for file in page.files]


def make_sdist(top: str, members: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(f"{top}/{name}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()
