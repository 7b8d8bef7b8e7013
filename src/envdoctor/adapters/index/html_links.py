"""The links of an HTML page."""

from __future__ import annotations

from html.parser import HTMLParser

__all__ = ["Links"]


class Links(HTMLParser):
    """Collects links, the base that they start from, and what tells a listing from another page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.base: str | None = None
        self.links: list[dict[str, str | None]] = []
        self.marked = False
        self.heading = False
        self.title = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take in the beginning of an element."""
        if tag == "a":
            self.links.append(dict(attrs))
        elif tag == "base" and self.base is None:
            self.base = dict(attrs).get("href")
        elif tag == "meta" and (dict(attrs).get("name") or "").startswith("pypi:"):
            self.marked = True
        self.heading = tag in ("title", "h1")

    def handle_data(self, data: str) -> None:
        """Take in a text."""
        if self.heading:
            self.title += data
