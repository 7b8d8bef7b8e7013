"""A torch that aborts, hangs, raises or is not there: each a finding of `check`, and `check` itself always ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGABRT or SIGKILL that ends a process")

LIMIT_S = 2.0
"""For what hangs. What ends by itself gets longer: a busy machine needs more than this to start Python."""
ABORTS = "import os\nos.abort()\n"
HANGS = "import time\ntime.sleep(600)\n"
HANGS_WITH_A_CHILD = "import subprocess, time\nsubprocess.Popen(['sleep', '600'])\ntime.sleep(600)\n"
DEAF = "import signal, time\nfor one in (2, 15):\n    signal.signal(one, signal.SIG_IGN)\nwhile True: pass\n"
RAISES = "raise OSError('libcudart.so.12: cannot open shared object file: No such file or directory')\n"
EXITS = "import sys\nsys.exit(0)\n"
LEAVES = "import os\nos._exit(0)\n"
TOO_LONG = "did not end within 2 s: it hangs, or is slow to load here"
FLOODS = "import sys\nwhile True: sys.stderr.write('x' * 65536)\n"


def check(*arguments: str, limit_s: float = 20) -> tuple[int, dict[str, object], float]:
    command = [sys.executable, "-m", "envdoctor", "check", "--format", "json", "--import-timeout", str(limit_s)]
    begin = time.monotonic()
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout), time.monotonic() - begin


def errors(report: dict[str, object], severity: str = "error") -> list[tuple[str, str]]:
    findings = report["findings"]
    assert isinstance(findings, list)
    return [(item["rule"], item["message"]) for item in findings if item["severity"] == severity]


def assert_is_said(code: int, report: dict[str, object], says: str) -> None:
    """Assert that torch is the one finding: an error, or what nobody can tell from a slow machine."""
    hangs = says.startswith(TOO_LONG)
    ((rule, message),) = errors(report, "warning" if hangs else "error")
    assert rule == "ENV020"
    assert message.startswith(f"`import torch` {says}")
    verdict = "unknown" if hangs else "broken"
    assert (code, report["complete"], report["verdict"]) == (3 if hangs else 1, not hangs, verdict)


@pytest.mark.parametrize("registered", [True, False], ids=["with-metadata", "bare-folder"])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ABORTS, "kills the interpreter: SIGABRT"),
        (HANGS, TOO_LONG),
        (RAISES, "fails: OSError: libcudart.so.12: cannot open shared object file: No such file or"),
    ],
    ids=["aborts", "hangs", "raises"],
)
def test_a_broken_torch_is_a_finding(venv, venv_site, text, says, registered):
    if registered:
        venv_site.add("torch", "2.11.0", files={"torch/__init__.py": text})
    else:
        (venv_site.folder / "torch").mkdir()
        (venv_site.folder / "torch" / "__init__.py").write_text(text, encoding="utf-8")
    code, report, seconds = check("--env", str(venv), limit_s=LIMIT_S if says == TOO_LONG else 20)
    assert_is_said(code, report, says)
    assert seconds < 40


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HANGS_WITH_A_CHILD, TOO_LONG),
        (DEAF, TOO_LONG),
        (FLOODS, TOO_LONG),
        (EXITS, "fails: SystemExit"),
        (LEAVES, "kills the interpreter"),
    ],
    ids=["child", "deaf", "floods", "exits", "leaves"],
)
def test_nothing_that_torch_does_keeps_check_from_its_end(venv, venv_site, text, says):
    venv_site.add("torch", "2.11.0", files={"torch/__init__.py": text})
    limit_s = LIMIT_S if says == TOO_LONG else 20
    code, report, seconds = check("--python", str(venv / "bin" / "python"), limit_s=limit_s)
    assert_is_said(code, report, says)
    assert seconds < 40


def test_a_torch_whose_files_are_gone_is_one_that_cannot_be_imported(venv, venv_site):
    venv_site.add("torch", "2.11.0", files={"torch/__init__.py": "", "torch/nn.py": ""})
    for name in ("__init__.py", "nn.py"):
        (venv_site.folder / "torch" / name).unlink()
    (venv_site.folder / "torch").rmdir()
    code, report, _ = check("--env", str(venv))
    assert code == 1
    assert {rule for rule, _ in errors(report)} == {"ENV006", "ENV020"}


def test_a_torch_that_others_need_and_that_is_missing_is_a_finding(venv, venv_site):
    venv_site.add("accelerate", "1.0", "torch>=2.0")
    code, report, _ = check("--env", str(venv))
    assert (code, errors(report)) == (
        1,
        [("ENV001", "`accelerate` 1.0 requires `torch>=2.0`, but it is not installed")],
    )


def test_a_torch_that_the_profile_runs_in_and_that_is_missing_is_a_finding(venv, venv_site):
    venv_site.add("six", "1.16.0")
    code, report, _ = check("--env", str(venv), "--profile", "diffrhythm2-cpu", "--offline")
    assert code == 1
    assert ("ENV020", "`torch` cannot be imported: there is no such module") in errors(report)


def test_no_imports_leaves_torch_alone(venv, venv_site):
    venv_site.add("torch", "2.11.0", files={"torch/__init__.py": HANGS})
    code, report, _ = check("--env", str(venv), "--no-imports")
    assert (code, errors(report)) == (0, [])
