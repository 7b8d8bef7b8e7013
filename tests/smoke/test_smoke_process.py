"""How a process ended, in words; and torch that is missing, raises, aborts or hangs at import."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from envdoctor.adapters.smoke.process import Child, describe_exit
from envdoctor.adapters.smoke.runner import ChildRunner
from envdoctor.model.kernel import KernelStatus, SmokeOutcome, SmokeRequest


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (-11, "SIGSEGV"),
        (-6, "SIGABRT"),
        (-9, "SIGKILL (killed; was the system out of memory?)"),
        (-100, "signal 100"),
        (0xC0000005, "access violation (0xC0000005)"),
        (-1073741819, "access violation (0xC0000005)"),
        (0xC0000409, "fail-fast abort (0xC0000409)"),
        (0xC0000135, "a DLL was not found (0xC0000135)"),
        (0xE06D7363, "uncaught C++ exception (0xE06D7363)"),
        (0xC0001234, "exception 0xC0001234"),
        (1, "exit status 1"),
    ],
)
def test_an_exit_is_described(code: int, words: str) -> None:
    if os.name == "nt" and words.startswith("SIG"):
        pytest.skip("Windows has exception codes instead of signals")
    assert describe_exit(code) == words


def run_with(tmp_path: Path, torch: str | None, **options: object) -> SmokeOutcome:
    """Run the real bundle in this interpreter with a module in torch's place."""
    if torch is not None:
        (tmp_path / "torch").mkdir()
        (tmp_path / "torch" / "__init__.py").write_text(torch, "utf-8")
        environment = {"PYTHONPATH": str(tmp_path)}
    else:
        (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['torch'] = None\n", "utf-8")
        environment = {"PYTHONPATH": str(tmp_path)}
    request = SmokeRequest(("stft", "conv1d"), environment=environment, **options)  # type: ignore[arg-type]
    return ChildRunner(Path(sys.executable)).run(request)


@pytest.mark.parametrize(
    ("torch", "status", "words"),
    [
        (None, KernelStatus.UNSUPPORTED, "ModuleNotFoundError"),
        ("raise OSError('libcudart.so.11: cannot open shared object file')", KernelStatus.CRASHED, "libcudart.so.11"),
        ("import os\nos._exit(3)", KernelStatus.CRASHED, "exit status 3"),
        ("raise SystemExit(2)", KernelStatus.CRASHED, "SystemExit"),
        ("import time\ntime.sleep(60)", KernelStatus.TIMED_OUT, "no answer after 3 s"),
    ],
    ids=["missing", "raises", "exits", "system-exit", "hangs"],
)
def test_an_import_that_fails_has_a_name(tmp_path: Path, torch: str | None, status: KernelStatus, words: str) -> None:
    outcome = run_with(tmp_path, torch, timeout_scale=0.025)
    first = outcome.results[0]
    assert (first.kernel, first.status) == ("import-torch", status)
    assert words in str(first.detail)
    assert [result.status for result in outcome.results[1:]] == [KernelStatus.SKIPPED] * 2
    assert outcome.children == 1


@pytest.mark.skipif(os.name != "posix", reason="Windows has no signals that end a process")
def test_an_import_that_aborts_says_its_last_words(tmp_path: Path) -> None:
    outcome = run_with(
        tmp_path, "import os, sys\nsys.stderr.write('driver too old\\n'); sys.stderr.flush()\nos.abort()"
    )
    assert outcome.results[0].status is KernelStatus.CRASHED
    assert "SIGABRT" in str(outcome.results[0].detail)
    assert "driver too old" in str(outcome.results[0].detail)


def test_the_parent_never_imports_torch() -> None:
    code = (
        "import sys\nsys.modules['torch'] = None\n"
        "import envdoctor.adapters.smoke.runner, envdoctor.verbs.smoke\n"
        "print([n for n in sys.modules if n.startswith('envdoctor.adapters.smoke.child')])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_an_abort_on_windows_is_no_exit_status_3() -> None:
    assert describe_exit(3, windows=True) == "abort (exit status 3)"
    assert describe_exit(3, windows=False) == "exit status 3"


def test_last_words_are_no_frames_however_threads_mix_them(tmp_path: Path) -> None:
    # As a child wrote it that an illegal instruction ended in two threads at once.
    said = """driver is too old
Windows fatal exception: code 0xWindows fatal exception: code 0xc000001d

c000001d

Thread 0x00000120 (most recent call first):
  File "smoke.pyz/child/entry.py", line 152 in _item
0x00000124 (most recent call first):
line 152 in _item
"""
    script = f"import sys; sys.stderr.write({said!r})"
    with Child([sys.executable, "-c", script], stdin=b"", environment=dict(os.environ)) as child:
        child.wait(60)
        assert child.last_words() == "driver is too old"


def test_what_a_child_starts_ends_with_it(tmp_path: Path) -> None:
    # The grandchild holds a file open and writes to it for as long as it lives; its parent ends at once.
    script = (
        "import subprocess, sys\n"
        "loop = 'import time\\nwhile True:\\n    print(1, flush=True); time.sleep(0.05)'\n"
        f"file = open({str(tmp_path / 'alive')!r}, 'wb')\n"
        "subprocess.Popen([sys.executable, '-c', loop], stdin=subprocess.DEVNULL, stdout=file, stderr=file)\n"
    )
    with Child([sys.executable, "-c", script], stdin=b"", environment=dict(os.environ)) as child:
        assert child.wait(60) == 0
        deadline = time.monotonic() + 30
        while not (tmp_path / "alive").stat().st_size and time.monotonic() < deadline:
            time.sleep(0.05)
    time.sleep(0.3)
    size = (tmp_path / "alive").stat().st_size
    assert size > 0
    time.sleep(0.5)
    assert (tmp_path / "alive").stat().st_size == size
