"""The reference is what the code says now."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from envdoctor.diagnose.rulebook import documented, rule

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"


def reference(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "scripts" / "reference.py"), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=False)


def test_docs_reference_is_current() -> None:
    done = reference(ROOT, "--check")
    assert done.returncode == 0, done.stderr


def test_docs_reference_check_notices_a_page_that_is_not_current(tmp_path: Path) -> None:
    for name in ("src", "scripts"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    schema = tmp_path / "profiles" / "profile.schema.json"
    schema.write_text("{}\n", encoding="utf-8")
    # The script finds its root from its own path, so it has to lie there itself.
    (tmp_path / "scripts").unlink()
    (tmp_path / "scripts").mkdir()
    for script in ("reference.py", "reference_markdown.py", "man_page.py"):
        (tmp_path / "scripts" / script).write_text((ROOT / "scripts" / script).read_text(encoding="utf-8"))
    done = reference(tmp_path, "--check")
    assert done.returncode == 1
    assert "profile.schema.json is not current" in done.stderr
    assert reference(tmp_path).returncode == 0
    assert schema.read_bytes() == (ROOT / "profiles" / schema.name).read_bytes()
    assert reference(tmp_path, "--check").returncode == 0
    page = tmp_path / "docs" / "reference" / "rules.md"
    page.write_text(page.read_text(encoding="utf-8") + "by hand\n", encoding="utf-8")
    (page.parent / "gone.md").write_text("of a rule that went\n", encoding="utf-8")
    done = reference(tmp_path, "--check")
    assert done.returncode == 1
    assert "docs/reference/rules.md is not current" in done.stderr
    assert "docs/reference/gone.md is not current" in done.stderr


def test_docs_reference_has_every_rule_with_its_documentation() -> None:
    text = (REFERENCE / "rules.md").read_text(encoding="utf-8")
    for item in documented():
        assert f"\n## {item.code} {item.name}\n" in text
        assert item.documentation.strip(), item.code


def test_docs_every_code_that_the_sources_give_to_a_finding_is_documented() -> None:
    given: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        given.update(re.findall(r"""\b(?:rule|code)=["'](\w{3,4}\d{3})["']""", path.read_text(encoding="utf-8")))
    assert given
    assert {code for code in given if rule(code) is None} == set()
