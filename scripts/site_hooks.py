"""What the documentation site needs beyond the pages: links to files of the repository lead to the repository."""

from __future__ import annotations

import posixpath
import re
from typing import Any

_LINK = re.compile(r"\]\((?P<path>\.\./[^)#\s]+)(?P<anchor>#[^)]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Return a page whose links out of docs/ are addresses; mkdocs itself checks those that stay inside."""
    folder = posixpath.dirname(page.file.src_uri)

    def address(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", folder, match["path"]))
        if path.startswith("docs/"):
            return match[0]
        return f"]({config.repo_url.rstrip('/')}/blob/main/{path}{match['anchor'] or ''})"

    return _LINK.sub(address, markdown)
