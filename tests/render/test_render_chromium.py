"""The HTML report in a real browser: a phone and a desk, light and dark. Skipped where there is no Chromium."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest
from render_reports import REPORTS

from envdoctor.render import RenderOptions, render

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium on the PATH (`apt install chromium`)")

WIDTHS = (390, 1280)
PAGES = ("xtts", "kernels", "finding_kinds", "nasty")
_MEASURE = """
<script>
const wide = [...document.querySelectorAll("main *")].filter((item) => !item.closest(".wide, pre") &&
  item.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
document.title = JSON.stringify([document.documentElement.scrollWidth, innerWidth, wide.map((item) => item.outerHTML)]);
</script>
"""
_SEARCH = """
<script>
const field = document.querySelector("input[type=search]");
const told = [document.querySelector(".tools").hidden];
const shown = () => [...document.querySelectorAll("[data-find]")].filter((item) => !item.hidden).length;
told.push(shown());
field.value = "launcher REPLACES"; field.dispatchEvent(new Event("input"));
told.push(shown(), document.querySelector("output").textContent);
document.dispatchEvent(new KeyboardEvent("keydown", {key: "/"}));
told.push(document.activeElement === field);
document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
told.push(shown());
const box = document.querySelector("input[value=error]");
box.checked = false; box.dispatchEvent(new Event("change"));
told.push([...document.querySelectorAll("[data-find=error]")].every((item) => item.hidden));
document.title = JSON.stringify(told);
</script>
"""


def chromium(page: Path, *options: str) -> str:
    assert CHROMIUM is not None
    common = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--user-data-dir={page.parent}/profile",
    )
    done = subprocess.run(
        [CHROMIUM, *common, *options, page.as_uri()], capture_output=True, encoding="utf-8", timeout=120, check=True
    )
    return done.stdout


def written(folder: Path, name: str, script: str = "") -> Path:
    text = render(REPORTS[name], "html", options=RenderOptions(show_waived=True))
    if script:
        # The page's own policy lets no other script run.
        text = re.sub(r"<meta http-equiv=[^>]*>", "", text).replace("</body>", f"{script}</body>")
    page = folder / f"{name}.html"
    page.write_text(text, encoding="utf-8")
    return page


def title(dom: str) -> str:
    found = re.search(r"<title>(.*?)</title>", dom, re.DOTALL)
    assert found is not None
    return found[1]


def pixels(png: bytes) -> tuple[int, int, bytes]:
    """Return width, height and the colour of the pixel in the middle of the left edge."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert (depth, kind) in ((8, 2), (8, 6))
    data, at = b"", 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        data += png[at + 8 : at + 8 + length] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += length + 12
    # The first row has no row above it: its first pixel is as it is, whatever the filter.
    return width, height, zlib.decompress(data)[1:4]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_taken_in_both_widths_and_colour_schemes(name: str, tmp_path: Path) -> None:
    page = written(tmp_path, name)
    for width in WIDTHS:
        corners = []
        for scheme in (1, 0):
            picture = tmp_path / f"{name}-{width}-{scheme}.png"
            options = (f"--window-size={width},2000", f"--blink-settings=preferredColorScheme={scheme}")
            chromium(page, *options, f"--screenshot={picture}")
            taken, height, corner = pixels(picture.read_bytes())
            assert (taken, height) == (width, 2000)
            corners.append(corner)
        light, dark = corners
        assert min(light) > 200
        assert max(dark) < 60


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_page(name: str, width: int, tmp_path: Path) -> None:
    page = written(tmp_path, name, _MEASURE)
    said = title(chromium(page, f"--window-size={width},900", "--dump-dom"))
    assert said.endswith(",[]]"), said


def test_search_and_filter_work_and_the_keyboard_reaches_them(tmp_path: Path) -> None:
    said = title(chromium(written(tmp_path, "finding_kinds", _SEARCH), "--dump-dom"))
    hidden, before, found, told, focused, after, filtered = json.loads(said)
    assert (hidden, focused, filtered) == (False, True, True)
    assert 0 < found < before == after
    assert told == f"{found} of {before} shown"


def test_a_hostile_report_runs_nothing_and_reads_the_same_without_scripts(tmp_path: Path) -> None:
    page = written(tmp_path, "nasty")
    dom = chromium(page, "--dump-dom")
    assert dom.count("<script>") == 1
    assert "alert" not in "".join(re.findall(r"<script>(.*?)</script>", dom, re.DOTALL))
    assert '<div class="tools" role="search">' in dom
