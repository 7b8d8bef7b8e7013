"""A log with a failure that nothing here knows is never healthy; one that went well, or speaks of errors, is."""

from __future__ import annotations

import pytest
from diagnose_fixtures import examination_of

from envdoctor.diagnose.engine import examine, is_understood
from envdoctor.diagnose.logs.log_failures import failures_of
from envdoctor.diagnose.logs.log_lines import lines_of_log
from envdoctor.model.finding import Severity

_TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    go()\n'

FATAL = {
    "a traceback's last line": (f"{_TRACEBACK}KeyError: 'sr'", "KeyError: 'sr'"),
    "an exception of any name ends a traceback": (f"{_TRACEBACK}app.errors.NoSuchVoice", "app.errors.NoSuchVoice"),
    "the last of a chain": (
        (f"{_TRACEBACK}KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n"
        f"{_TRACEBACK}app.Oops: no rate"),
        "app.Oops: no rate",
    ),
    "an indented one, as pip shows it": (
        ("      Traceback (most recent call last):\n        File \"setup.py\", line 3, in <module>\n          x()\n"
        "      NameError: name 'x' is not defined\n      [end of output]"),
        "NameError: name 'x' is not defined",
    ),
    "rich's box": (
        "╭─── Traceback (most recent call last) ───╮\n│ a.py:1 in go │\n╰──────╯\nOverflow: too much",
        "Overflow: too much",
    ),
    "IPython's": (
        ("ValueError                                Traceback (most recent call last)\nCell In[1], line 1\n"
        "----> 1 go()\n\nValueError: no voice"),
        "ValueError: no voice",
    ),
    "an excerpt of one line": ("ValueError: no voice", "ValueError: no voice"),
    "behind a container's name and a time": (
        "app-1  | 2026-01-01T10:00:00.123Z RuntimeError: no voice",
        "RuntimeError: no voice",
    ),
    "a logger's": ("2026-01-01 10:00:00,123 - tts.core - ERROR - it broke", "it broke"),
    "a shell's word for a crash": ("start\nzsh: segmentation fault  python a.py", "zsh: segmentation fault"),
    "C++": ("terminate called after throwing an instance of 'x'\nAborted (core dumped)", "terminate called"),
    "glibc": ("double free or corruption (!prev)\nAborted", "double free or corruption (!prev)"),
    "Windows": ("Windows fatal exception: access violation", "Windows fatal exception"),
    "a compiler before what drives it": (
        ("x.cpp:3:10: fatal error: foo.h: No such file or directory\nninja: build stopped: subcommand failed.\n"
        "error: subprocess-exited-with-error"),
        "x.cpp:3:10: fatal error: foo.h",
    ),
    "MSVC": ("ops.cu(12): error C2065: 'x': undeclared identifier", "ops.cu(12): error C2065"),
    "a linker": ("/usr/bin/ld: cannot find -lfoo\ncollect2: error: ld returned 1 exit status", "/usr/bin/ld: cannot"),
    "CMake": ("CMake Error at CMakeLists.txt:3 (find_package):", "CMake Error at"),
    "Rust": ("error[E0308]: mismatched types", "error[E0308]"),
    "the loader": ("app: error while loading shared libraries: libfoo.so.1: cannot open", "app: error while loading"),
    "macOS' loader": ("dyld[123]: Library not loaded: @rpath/libfoo.dylib", "dyld[123]"),
    "pip": ("ERROR: Could not install packages due to an OSError: [Errno 22] Invalid argument", "ERROR: Could"),
    "Docker": ("docker: Error response from daemon: no such image", "docker: Error response from daemon"),
    "cmd": ("C:\\x>run.bat\nThe system cannot find the path specified.\n\nC:\\x>pause", "The system cannot"),
    "PowerShell": (
        "Get-Item : Cannot find path 'C:\\x' because it does not exist.\n+ Get-Item x\n+ ~~~~~~~~~~",
        "Get-Item : Cannot find path",
    ),
    "an exception in small letters": ("cv2.error: OpenCV(4.8.0) color.cpp:182: error: (-215)", "cv2.error: OpenCV"),
    "uv": ("error: Failed to fetch: `https://x.example/`", "error: Failed to fetch"),
    "git": ("fatal: repository 'x' not found", "fatal: repository"),
    "a shell": ("bash: nvcc: command not found", "bash: nvcc"),
    "an exception group": (
        ("  + Exception Group Traceback (most recent call last):\n  |   File \"a.py\", line 1, in <module>\n"
        "  | ExceptionGroup: many\n  +-+---------------- 1 ----------------\n    | ValueError: no voice\n    +-----"),
        "| ValueError: no voice",
    ),
    "a traceback that a mail quotes": (
        "Hi,\n> Traceback (most recent call last):\n>   File \"a.py\", line 1\n> ValueError: no voice\nAny idea?",
        "> ValueError: no voice",
    ),
    "a class above its message": ("  RuntimeError\n\n  no candidates for x\n\n  at chooser.py:74", "RuntimeError: no"),
    "a pod's": ("2026-01-01T10:00:00.000000000Z stderr F ValueError: no voice", "ValueError: no voice"),
    "a check of Google's logger": ("F0715 12:00:00.123456  1234 kernel.cc:33] Check failed: x == y", "F0715"),
    "an error of Google's logger": ("E0715 12:00:00.123456  1234 plug.cc:33] no such plug", "E0715"),
    "an error of absl before its clock": ("E0000 00:00:1738697930.202924    7665 plug.cc:33] no such plug", "E0000"),
    "an error of TensorFlow": ("2026-01-01 10:00:00.1: E tensorflow/core/plug.cc:33] no such plug", "10:00:00.1: E"),
    "an operation of TensorFlow": (
        "2026-01-01 10:00:00.1: W tensorflow/core/op_kernel.cc:41] OP_REQUIRES failed at x.cc:7 : INTERNAL: no plug",
        "10:00:00.1: W",
    ),
    "the report of a program of nodes": (
        "## Error Details\n- **Node ID:** 7\n- **Exception Type:** ValueError\n- **Exception Message:** no voice",
        "ValueError: no voice",
    ),
    "a part of ComfyUI that was left out": (
        ("Import times for custom nodes:\n   0.0 seconds: C:\\x\\a.py\n   0.2 seconds (IMPORT FAILED): C:\\x\\Nodes\n"
        "Starting server\nTo see the GUI go to: http://127.0.0.1:8188"),
        "0.2 seconds (IMPORT FAILED)",
    ),
    "a module of such a part": (
        "Cannot import C:\\x\\Nodes module for custom nodes: no voice\nTo see the GUI go to: http://127.0.0.1:8188",
        "Cannot import C:\\x\\Nodes",
    ),
    "an exception of a module of exceptions, whatever its name": (
        "[rank0]: pkg._engine.exc.CardTooOldForKernels: found a card from before",
        "pkg._engine.exc.CardTooOldForKernels",
    ),
    "TensorRT": (
        "[01/10/2026-09:11:50] [TRT] [W] no such plug\n[01/10/2026-09:11:51] [TRT] [E] 1: no engine",
        "1: no engine",
    ),
    "k2's letter before a place": ("[F] /k2/csrc/array.h:66:int32_t k2::Get() no index", "/k2/csrc/array.h"),
    "apt": ("Reading package lists...\nE: The repository http://x Release has no file.", "E: The rep"),
    "NCCL's watchdog": (
        "[rank0]:[E1109 09:11:22.123456789 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught a collective timeout",
        "[rank0]:[E1109",
    ),
    "conda's, as Python writes it": ("InvalidArchiveError('Error with archive /x.conda.')", "InvalidArchiveError("),
    "a shell on a Mac": ("zsh: illegal hardware instruction  python a.py", "zsh: illegal"),
    "an option that pip does not know": ("Usage: pip install\n\nno such option: --x", "no such option"),
    "a level in wide brackets": ("[ INFO ] Device info:\n[ ERROR ] no such plugin", "no such plugin"),
    "behind a time with a dash": ("17:28:23-486771 INFO Go\n17:28:24-473061 ERROR    Load: no file", "Load: no file"),
    "TensorRT's other order": ("[12/12/2024-10:15:17] [E] [TRT] 1: no engine", "1: no engine"),
    "trtexec": ("[07/19/2025-23:34:55] [E] Error[9]: no engine\n&&&& FAILED x", "Error[9]: no engine"),
    "ggml on AMD's cards": ("ROCm error: out of plugs\n  current device: 0", "ROCm error: out of plugs"),
    "a model that macOS does not compile": (
        ("/v/model.py:560: RuntimeWarning: You will not be able to run predict() on this Core ML model. Underlying "
        "exception message was: no"),
        "/v/model.py:560: RuntimeWarning",
    ),
    "bitsandbytes on AMD's cards": (
        "Error out of plugs at line 107 in file /src/csrc/ops.hip",
        "Error out of plugs at line 107",
    ),
    "arguments that a program does not take": (
        "usage: main.py [-h] [--port PORT]\nmain.py: error: unrecognized arguments: --use-rocm",
        "main.py: error: unrecognized arguments",
    ),
    "systemd's word for what it started": (
        ("Jan 12 10:00:02 box systemd[1]: ui.service: Main process exited, code=exited, status=203/EXEC\n"
        "Jan 12 10:00:02 box systemd[1]: ui.service: Failed with result 'exit-code'."),
        "ui.service: Main process exited",
    ),
    "a traceback behind a line that has nothing to do with it": (
        f"INFO:httpx:HTTP Request: GET https://huggingface.co 200 OK\n{_TRACEBACK}foo.MyError: x\nnext step",
        "foo.MyError: x",
    ),
    "the last words of a program that warned before": (
        f"WARNING:root:no cache\n{_TRACEBACK}OSError: gone\n(venv) u@box:~$ ",
        "OSError: gone",
    ),
    "DeepSpeed's own build": (
        ("FAILED: async_io.so\n/usr/bin/ld: cannot find -laio: No such file or directory\n"
        "collect2: error: ld returned 1 exit status\nninja: build stopped: subcommand failed."),
        "/usr/bin/ld: cannot find -laio",
    ),
    "a check of torch-directml": (
        "100%|####| 6/6\n[F D:\\a\\_work\\1\\s\\csrc\\engine\\dml_util.cc:118] Check failed",
        "[F D:",
    ),
    "torch's own fatal line on a day of one digit's month": (
        "[F302 15:36:01.000000000 dml_util.cc:118] the device is gone",
        "the device is gone",
    ),
    "git's last word": ("$ git pull\nfatal: not a git repository (or any of the parents): .git", "fatal: not"),
    "cmd's last word": (
        "C:\\x>nvcc\n'nvcc' is not recognized as an internal or external command,\noperable program or batch file.",
        "'nvcc' is not recognized",
    ),
    "a test that failed": (
        "FAILED tests/a.py::b - AssertionError: assert 1 == 2\n=== 1 failed, 3 passed in 3.1s ===",
        "FAILED tests/a.py::b - AssertionError",
    ),
    "a test that failed, by the last line": ("tests/a.py ..F.\n=== 1 failed, 3 passed in 3.1s ===", "=== 1 failed"),
    "a program that is not there": ("ollama: command not found\n[INFO] waiting", "ollama: command not found"),
    "a download": ("curl: (56) Recv failure: Connection reset by peer", "curl: (56) Recv failure"),
    "pip's launcher": ("failed to create process.", "failed to create process."),
    "Qt": ('qt.qpa.plugin: Could not load the Qt platform plugin "xcb" in "" even', "qt.qpa.plugin: Could not load"),
    "a program's own sentences": (
        ("The model could not be loaded because of the following error:\nRuntimeError: no plug\n"
        "Please make sure that the file is complete, then try it again."),
        "RuntimeError: no plug",
    ),
    "memory of a parser": ("terminate called after throwing an instance of 'std::bad_alloc'", "terminate called"),
}  # fmt: skip

HARMLESS = {
    "a warning": "WARNING: Retrying (Retry(total=4)) after connection broken by 'ReadTimeoutError'",
    "a caught traceback of a warning": f"2026-01-01 10:00:00 WARNING x: no cache\n{_TRACEBACK}OSError: gone\nnext step",
    "a traceback in a debugger's words": (
        f"DEBUG:torio._extension.utils:Failed to load FFmpeg6 extension.\n{_TRACEBACK}OSError: gone\n\n"
        f"During handling of the above exception, another exception occurred:\n\n{_TRACEBACK}RuntimeError: x\n"
        "DEBUG:torio._extension.utils:Loading FFmpeg5"
    ),
    "DeepSpeed's trials on Windows": (
        "test.c\nLINK : fatal error LNK1181: cannot open input file 'aio.lib'\n"
        'test.c\nLINK : fatal error LNK1181: Eingabedatei "cufile.lib" kann nicht ge\u00f6ffnet werden.'
    ),
    "DeepSpeed's trials on Linux": (
        "/usr/bin/ld: cannot find -laio: No such file or directory\ncollect2: error: ld returned 1 exit status\n"
        "/opt/conda/compiler_compat/ld: /tmp/tmpx/test.o: in function `main':\n"
        "test.c:(.text+0x1b): undefined reference to `io_pgetevents'\ncollect2: error: ld returned 1 exit status"
    ),
    "an attention that vLLM does without": (
        "(EngineCore_DP0 pid=1) ERROR 11-10 09:12:11 [fa_utils.py:57] Cannot use FA version 2 is not supported due to x"
    ),
    "a browser that went away": (
        "[ERROR] Exception in callback _ProactorBasePipeTransport._call_connection_lost(None)\n"
        f"handle: <Handle _ProactorBasePipeTransport._call_connection_lost(None)>\n{_TRACEBACK}"
        "ConnectionResetError: [WinError 10054] An existing connection was forcibly closed by the remote host"
    ),
    "what inductor tries out": (
        "E0912 11:54:57.366000 11 torch/_inductor/select_algorithm.py:2100] [7/0] Runtime error during autotuning: \n"
        "E0912 11:54:57.366000 11 torch/_inductor/select_algorithm.py:2100] [7/0] Ignoring this choice."
    ),
    "threads of onnxruntime without a place": (
        "2024-04-08 08:26:08.023267162 [E:onnxruntime:Default, env.cc:254 ThreadMain] pthread_setaffinity_np failed for"
        " thread: 1257, index: 27, mask: {14, }, error code: 22 error msg: Invalid argument."
    ),
    "a preloaded library that is not there": (
        "ERROR: ld.so: object 'libtcmalloc.so.4' from LD_PRELOAD cannot be preloaded (cannot open shared object file):"
        " ignored."
    ),
    "a program that goes on without git": "fatal: not a git repository (or any of the parents): .git\nmain 1",
    "a program that asks for tools": "sh: 1: rocminfo: not found\nUsing device cpu",
    "what Python ignores": f"Exception ignored in: <function A.__del__>\n{_TRACEBACK}AttributeError: x",
    "success afterwards": f"{_TRACEBACK}ImportError: no avx2\nRunning on local URL:  http://127.0.0.1:7860",
    "an install that found another way": "ERROR: Failed building wheel for x\nSuccessfully installed x-1.0",
    "a user's Ctrl-C": f"{_TRACEBACK}KeyboardInterrupt",
    "numbers": "error: 0.013\nerrors: 0\nError: 0",
    "a list of a manual": "- `ImportError: x`: install x\n- RuntimeError: y: take another y",
    "prose around an error": (
        "If the program stops and you see a message like\n\n    ModuleNotFoundError: No module named 'triton'\n\n"
        "then ignore it, because this module is not needed on Windows."
    ),
    "tests that passed": "tests/a.py::test_error[RuntimeError: x] PASSED\n=== 3 passed in 1.02s ===",
    "conda's second try": (
        "Solving environment: failed with initial frozen solve. Retrying with flexible solve.\n"
        "Solving environment: done\nExecuting transaction: done"
    ),
    "errors of TensorFlow that are none": (
        "2026-01-01 10:00:00.1: E tensorflow/compiler/xla/cuda_dnn.cc:9342] Unable to register cuDNN factory: "
        "Attempting to register factory for plugin cuDNN when one has already been registered\n"
        "E0000 00:00:1738697930.202924    7665 cuda_blas.cc:1418] Unable to register cuBLAS factory: Attempting\n"
        "W0000 00:00:1738697930.202924    7665 computation_placer.cc:177] computation placer already registered.\n"
        "E0000 00:00:1738697930.202924    7665 computation_placer.cc:177] computation placer already registered."
    ),
    "the end of a data set": (
        "2026-01-01 10:00:00.1: W tensorflow/core/op_kernel.cc:41] OP_REQUIRES failed at x.cc:7 : OUT_OF_RANGE: End"
    ),
    "TensorRT's warnings, and an error that it got over": (
        "[01/10/2026-09:11:50] [TRT] [W] fatal error: none\n[01/10/2026-09:11:51] [TRT] [E] 3: no such tactic\n"
        "[01/10/2026-09:14:51] [TRT] [I] built in 148.9 s\n&&&& PASSED TensorRT.trtexec [TensorRT v100300]"
    ),
    "a service that came to its end": (
        "Jan 12 10:00:02 box systemd[1]: ui.service: Main process exited, code=exited, status=0/SUCCESS"
    ),
    "what a program does without": (
        "A matching Triton is not available, some optimizations will not be enabled\n"
        f"{_TRACEBACK}ModuleNotFoundError: No module named 'triton'\nmodel saved."
    ),
    "an information": "2026-01-01 10:00:00 | INFO | faiss.loader | Could not load library due to:\nOSError('x')",
}


@pytest.mark.parametrize(("log", "quoted"), FATAL.values(), ids=FATAL.keys())
def test_a_failure_that_nothing_knows_is_quoted_and_leaves_the_report_incomplete(log: str, quoted: str) -> None:
    findings = [item for item in examine(examination_of({"log": log})) if item.rule == "LOG001"]
    (finding,) = findings
    assert finding.severity is Severity.WARNING
    assert finding.evidence[0].what.startswith(quoted)
    assert f"`{quoted[:12]}" in finding.message
    assert finding.remedy is not None
    assert not is_understood(findings)


@pytest.mark.parametrize("log", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_went_well_or_is_only_told_of_is_no_failure(log: str) -> None:
    assert not failures_of(log)


def test_an_error_in_a_report_of_somebody_counts_though_sentences_stand_around_it() -> None:
    text = (
        "When I start the program, I see this:\nValueError: no voice\nCan you help, please? I use the latest version."
    )
    assert [item.line for item in failures_of(text)] == ["ValueError: no voice"]


def test_what_an_advisory_explains_is_not_quoted_and_what_fails_beside_it_is_but_a_note() -> None:
    known = "RuntimeError: Numpy is not available"
    assert {item.rule for item in examine(examination_of({"log": known}))} == {"ADV014"}
    log = "\n".join([known, *["working"] * 40, "ValueError: no voice"])
    other = [item for item in examine(examination_of({"log": log})) if item.rule == "LOG001"]
    assert [item.severity for item in other] == [Severity.INFO]
    assert is_understood(other)


@pytest.mark.parametrize(
    "log",
    [
        "web-1  | exec /start.sh: exec format error",
        'standard_init_linux.go:211: exec user process caused "exec format error"',
        "docker: no matching manifest for linux/arm64/v8 in the manifest list entries.",
    ],
)
def test_an_image_of_another_processor_has_failed(log: str) -> None:
    assert len(failures_of(log)) == 1


def test_what_is_no_error_explains_its_own_lines_and_not_what_failed_near_them() -> None:
    warning = (
        "W0824 17:41:21.103258 13550 gpu_resources.cc:96] The GPU architecture in your current machine is Pascal, "
    )
    warning += "which is not compatible with Paddle installation with arch: 70 75 80 86"
    alone = list(examine(examination_of({"log": warning})))
    assert [(item.rule, item.severity) for item in alone] == [("ADV412", Severity.WARNING)]
    both = list(examine(examination_of({"log": f"{warning}\nOSError: (External) CUDNN error(1)."})))
    assert {item.rule for item in both} == {"ADV412", "LOG001"}
    assert not is_understood(both)


def test_a_missing_module_is_named_and_lack_of_memory_said() -> None:
    (missing,) = examine(examination_of({"log": f"{_TRACEBACK}ModuleNotFoundError: No module named 'vocal_ops.fft'"}))
    assert missing.remedy is not None
    assert "`vocal_ops.fft`" in missing.remedy.summary
    (memory,) = examine(examination_of({"log": "free(): memory\nstd.BadAllocError: out of memory"}))
    assert memory.remedy is not None
    assert "memory" in memory.remedy.summary


def test_what_a_kernel_did_is_to_be_asked_of_the_card_step_by_step() -> None:
    log = f"{_TRACEBACK}torch.AcceleratorError: CUDA error: an illegal memory access was encountered"
    (found,) = examine(examination_of({"log": log}))
    assert found.remedy is not None
    assert "CUDA_LAUNCH_BLOCKING=1" in found.remedy.summary


_PIP = "ERROR: Failed building wheel for x\nERROR: Could not build wheels for x, which is required to install"
_GCC = "gcc: error: foo.c: No such file or directory\nerror: command 'gcc' failed with exit code 1"


@pytest.mark.parametrize(
    "before",
    [
        "[INFO] ",
        "INFO:root:",
        "2026-01-01 10:00:00,123 INFO pip: ",
        "10:00:00 | INFO | ",
        "2026-01-01 10:00:00,123 - build - INFO - ",
        "2026-01-01 10:00:00.123 | INFO     | __main__:run:12 - ",
    ],
)
@pytest.mark.parametrize("text", [_PIP, _GCC, f"{_TRACEBACK}ImportError: no avx2"])
def test_what_a_program_that_runs_another_logs_as_information_is_a_failure_all_the_same(text: str, before: str) -> None:
    if "pip: " in before and text.startswith("Traceback"):
        pytest.skip("a name after the level may be a part of the message")
    log = "\n".join(f"{before}{line}" for line in ("running the installer", *text.split("\n")))
    (found,) = examine(examination_of({"log": log}))
    assert found.rule == "LOG001"
    assert found.message == examine(examination_of({"log": text}))[0].message


@pytest.mark.parametrize(
    "log",
    [
        "[INFO] error: 0.013\n[INFO] errors: 0\n[INFO] Error handling enabled\n[INFO] validation error: 0.2",
        f"INFO:root:could not import triton\n{_TRACEBACK}ImportError: no triton\nINFO:root:serving",
        f"2026-01-01 10:00:00 INFO x: no cache: {_TRACEBACK}OSError: gone\n2026-01-01 10:00:00 INFO x: next",
        "[INFO] ERROR: Failed building wheel for x\n[INFO] Successfully installed x-1.0",
        "INFO:app:Summary: ERROR: 3 CRITICAL: 0\n2026-01-01 10:00:00 INFO Metrics: FATAL: 0.0",
    ],
)
def test_what_a_program_logs_as_information_of_itself_is_none(log: str) -> None:
    assert failures_of(log) == ()


@pytest.mark.parametrize("level", ["ERROR - ", "ERROR: ", "- app - ERROR - ", "| ERROR    | app.main:run:12 - "])
@pytest.mark.parametrize("name", ["torch.cuda.OutOfMemoryError", "json.decoder.JSONDecodeError", "ValueError"])
def test_the_class_of_an_exception_is_no_place_in_the_code(name: str, level: str) -> None:
    (failure,) = failures_of(f"2026-01-01 10:00:00,123 {level}{name}: no room")
    assert failure.line.endswith(f"{name}: no room")


def test_lines_keep_their_numbers_and_lose_what_loggers_put_before_them() -> None:
    text = '\n\x1b[31m2026-01-01T10:00:00Z [worker-1]   File "x"\x1b[0m\n10%\r20%\rdone\nINFO:root:go\n[ERROR] no'
    lines = [(item.number, item.indent, item.text, item.level) for item in lines_of_log(text)]
    assert lines == [
        (2, 2, 'File "x"', ""), (3, 0, "done", ""), (4, 0, "go", "info"), (5, 0, "no", "error"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "before", ["[!] ", "Jan 26 13:40:19 debian python3[614]: [!] ", "2025-01-26 13:40:19.021 [!]  "]
)
def test_what_comfyui_s_manager_writes_before_pip_s_errors_is_taken_off(before: str) -> None:
    (line,) = lines_of_log(f"{before}torchaudio 2.5.1 requires torch==2.5.1, but you have torch 2.4.1")
    assert line.text.startswith("torchaudio 2.5.1 requires")


@pytest.mark.parametrize(
    "written",
    [
        "ImportError: no &#39;some_voice&#39; &lt;here&gt;",
        "ImportError: no 'some\\_voice' <here>",
        "ImportError: no \N{ACUTE ACCENT}some_voice\N{ACUTE ACCENT} <here>",
        (
            "ImportError: no \N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}some_voice"
            "\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK} <here>"
        ),
        "^[[31mImportError^[[0m: no 'some_voice' <here>",
        (
            '{"level": "info", "exc": "Traceback (most recent call last):\\n  File \\"a.py\\", line 1\\n'
            "ImportError: no 'some_voice' <here>\\n\"}"
        ),
    ],
)
def test_what_mail_pages_and_json_make_of_a_line_is_undone(written: str) -> None:
    (failure,) = failures_of(f"start\n{written}\n")
    assert (failure.number, failure.line) == (2, "ImportError: no 'some_voice' <here>")


@pytest.mark.parametrize(
    "said",
    [
        'Der Befehl "node" ist entweder falsch geschrieben oder\nkonnte nicht gefunden werden.',
        "'node' n'est pas reconnu en tant que commande interne\nou externe, un programme ex\u00e9cutable",
        '"node" no se reconoce como un comando interno o externo,\nprograma o archivo por lotes ejecutable.',
        "'node' \u4e0d\u662f\u5185\u90e8\u6216\u5916\u90e8\u547d\u4ee4",
        "'node' \u306f\u3001\u5185\u90e8\u30b3\u30de\u30f3\u30c9\u307e\u305f\u306f\u5916\u90e8\u30b3\u30de\u30f3\u30c9",
    ],
)
def test_what_cmd_does_not_find_is_told_in_the_language_of_the_machine(said: str) -> None:
    (failure,) = failures_of(f"C:\\ui>run.bat\n{said}\n")
    assert failure.line == "'node' is not recognized as an internal or external command"


def test_a_path_of_windows_keeps_its_underscores() -> None:
    (failure,) = failures_of("ImportError: C:\\app\\_internal\\new\\x.dll")
    assert failure.line == "ImportError: C:\\app\\_internal\\new\\x.dll"


_HALF = "Collecting torch==2.7\n  Downloading torch-2.7.0-cp311-cp311-manylinux_2_28_x86_64.whl (865.0 MB)\n"
_WHOLE = f"{_HALF}Installing collected packages: torch\nSuccessfully installed torch-2.7.0\n"


@pytest.mark.parametrize(
    "log",
    [
        "I tried to start the program this morning and nothing came up. Any idea?",
        "Somebody wrote that it says Successfully installed at the end, but mine does not.",
        "The window stays white and nothing is played after the start.",
        "Why does the program need so long on a fresh machine?",
        "I installed torch 2.7 and get no sound.\n\npip install torch==2.7",
        "We have torch-2.7.1 on a card of 24.0 GB.\nNothing comes out of our program.",
        _HALF,
        f"{_WHOLE}{_HALF}",
        "C:\\ui>.\\python_embeded\\python.exe -s a.py\n[DONE] scan\n\nC:\\ui>pause\nPress any key to continue . . .\n",
        "Resolving dependencies...\n",
    ],
)
def test_a_log_without_an_outcome_is_unknown_and_says_what_to_paste(log):
    (finding,) = examine(examination_of({"log": log}))
    assert (finding.rule, finding.severity) == ("LOG003", Severity.WARNING)
    assert finding.remedy is not None
    assert "paste all that the command printed" in finding.remedy.summary
    assert not is_understood([finding])


@pytest.mark.parametrize(
    "log",
    [
        _WHOLE,
        "Requirement already satisfied: torch in ./.venv/lib/python3.11/site-packages (2.7.0)\n",
        "Resolved 3 packages in 12ms\nInstalled 3 packages in 4ms\n + a==1\n",
        "Audited 12 packages in 3ms\n",
        "....\n12 passed in 3.1s\n",
        "Installing dependencies from lock file\n\nNo dependencies to install or update\n",
        "INFO:44k:Train Epoch: 3 [62%]\nINFO:44k:Saving model\n",
        "added 812 packages in 14s\nnpm WARN deprecated rimraf@3.0.2: no longer supported\n",
        "Installation\n\n1. pip install -r requirements.txt\n2. FFmpeg must be on PATH.\n",
        "Solving environment: done\n\n# All requested packages already installed.\n",
        "Resolving dependencies... (2.1s)\n\n  - Installing torch (2.8.0)\n\nWriting lock file\n",
        "[nltk_data] Downloading package punkt_tab to /root/nltk_data...\n > Saved to output.wav\n",
        "Applied providers: ['CPUExecutionProvider']\n[APP.CORE] Processing to image succeed in 1.2 seconds\n",
        "Fetching 11 files: 100%|####| 11/11 [00:00<00:00, 21it/s]\nHi!\nGeneration: 9 tokens, 88 tokens-per-sec\n",
        f"{_WHOLE}\nC:\\ui>pause\nAppuyez sur une touche pour continuer...\n",
        (
            "2025-01-01 10:00:00 ERROR app: upload failed\n2025-01-01 10:00:05 INFO app: retrying it\n"
            "2025-01-01 10:00:09 INFO app: upload finished\n"
        ),
        "Epoch 1: 100%|####| 10/10 [00:09<00:00, loss=0.1]\n[rank0]: the group is not destroyed before we end\n",
        "#5 RUN pip install a\n#5 1.234 Collecting a\n#5 99.1 Successfully installed a-2.5.1\n#5 DONE 99.9s\n",
        "[00:00.000 --> 00:02.000]  Hello, this is what we heard\n",
        "C:\\ui>run.bat\n[INFO] model saved to out.pt\n\nC:\\ui>pause\nPress any key to continue . . .\n",
        "`flash-attention` package not found, consider it: No module named 'flash_attn'.\nsaved 3 files in 1.2 s\n",
    ],
)
def test_a_log_that_ends_well_says_nothing(log):
    assert not examine(examination_of({"log": log}))


def test_a_file_in_the_place_of_a_package_is_told_and_nothing_is_to_be_installed() -> None:
    # triton-windows#51: the person's own script is called triton.py.
    log = f"{_TRACEBACK}ModuleNotFoundError: No module named 'triton.language'; 'triton' is not a package"
    (finding,) = [item for item in examine(examination_of({"log": log})) if item.rule == "LOG001"]
    assert "a single file stands in the place of the package `triton`" in finding.message
    assert finding.remedy is not None
    assert finding.remedy.summary.startswith("rename the file `triton.py`")
    assert "install" not in finding.remedy.summary


_CIRCLE = "(most likely due to a circular import)"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (
            f"ImportError: cannot import name 'x' from partially initialized module 'torch' {_CIRCLE} (/a/torch.py)",
            "torch",
        ),
        (
            f"ImportError: cannot import name 'x' from partially initialized module 'yaml' {_CIRCLE} (C:\\a\\yaml.py)",
            "yaml",
        ),
        (
            (
                "AttributeError: module 'random' has no attribute 'randint' (consider renaming '/a/random.py' since it "
                "has the same name as the standard library module named 'random' and prevents importing that module)"
            ),
            "random",
        ),
    ],
)
def test_the_file_that_hides_a_package_is_told_where_the_error_names_it(line: str, name: str) -> None:
    (finding,) = examine(examination_of({"log": f"{_TRACEBACK}{line}"}))
    assert f"in the place of the package `{name}`" in finding.message
    assert finding.remedy is not None
    assert finding.remedy.summary.startswith(f"rename the file `{name}.py`")


def test_a_package_that_is_used_before_it_is_loaded_may_be_hidden() -> None:
    line = f"AttributeError: partially initialized module 'torch' has no attribute 'cuda' {_CIRCLE}"
    (finding,) = examine(examination_of({"log": line}))
    assert finding.message.startswith("`torch` is used before it is loaded whole")
    assert finding.remedy is not None
    assert "find_spec('torch').origin" in finding.remedy.summary


@pytest.mark.parametrize(
    "line",
    [
        # Files of a program that import each other; a package that does so itself.
        f"ImportError: cannot import name 'x' from partially initialized module 'models' {_CIRCLE} (/a/models.py)",
        f"AttributeError: partially initialized module 'my_models' has no attribute 'x' {_CIRCLE}",
        (
            f"ImportError: cannot import name 'x' from partially initialized module 'torch' {_CIRCLE} "
            "(/v/lib/python3.11/site-packages/torch/__init__.py)"
        ),
        (
            f"ImportError: cannot import name 'x' from partially initialized module 'random' {_CIRCLE} "
            "(/usr/lib/python3.11/random.py)"
        ),
        "MemoryError: Cannot allocate write+execute memory for ffi.callback().",
    ],
)
def test_a_circle_of_imports_is_not_taken_for_a_file_that_hides_a_package(line: str) -> None:
    (finding,) = examine(examination_of({"log": f"{_TRACEBACK}{line}"}))
    assert "not known here" in finding.message


@pytest.mark.parametrize(
    "line",
    [
        "ModuleNotFoundError: No module named '__main__.utils'; '__main__' is not a package",
        "ImportError: attempted relative import with no known parent package",
    ],
)
def test_a_part_of_a_package_that_was_started_as_a_script_is_hidden_by_nothing(line: str) -> None:
    (finding,) = examine(examination_of({"log": f"{_TRACEBACK}{line}"}))
    assert "not known here" in finding.message
    assert finding.remedy is not None
    assert "python -m PACKAGE.MODULE" in finding.remedy.summary


def test_a_missing_module_is_told_with_what_brings_it() -> None:
    """The module's name is seldom the project's."""
    log = f"{_TRACEBACK}ModuleNotFoundError: No module named 'yaml'"
    (finding,) = [item for item in examine(examination_of({"log": log})) if item.rule == "LOG001"]
    assert finding.remedy is not None
    assert finding.message == "the module `yaml` is not there, which `pyyaml` brings"
    assert finding.remedy.summary.startswith("install `pyyaml` into the environment")
    log = f"{_TRACEBACK}ModuleNotFoundError: No module named 'nobody_knows_it'"
    (finding,) = [item for item in examine(examination_of({"log": log})) if item.rule == "LOG001"]
    assert finding.message.startswith("the log shows a failure that is not known here: ")
    assert finding.remedy is not None
    assert finding.remedy.summary.startswith("see what brings the module `nobody_knows_it`")


@pytest.mark.parametrize("behind", ["", "; 'torch._C' is not a package"])
def test_a_package_without_one_of_its_modules_is_there_and_not_to_be_installed(behind: str) -> None:
    """Python names the package itself where that is what it does not find."""
    log = f"{_TRACEBACK}ModuleNotFoundError: No module named 'torch._C._no_such_part'{behind}"
    (finding,) = [item for item in examine(examination_of({"log": log})) if item.rule == "LOG001"]
    assert finding.message == "`torch` is there, and has no module `torch._C._no_such_part`"
    assert finding.remedy is not None
    assert finding.remedy.summary.startswith("nothing is to be installed under that name")


@pytest.mark.parametrize(
    ("module", "says"),
    [
        ("google.protobuf", "install `protobuf`"),
        ("google.cloud.storage", "install `google-cloud-storage`"),
        ("azure.identity", "install `azure-identity`"),
        ("backports.tarfile", "install `backports-tarfile`"),
        ("ruamel.yaml", "install `ruamel-yaml`"),
        ("mpl_toolkits.basemap", "see what brings the module `mpl_toolkits.basemap`"),
    ],
)
def test_a_folder_of_several_distributions_may_lack_one_of_them(module: str, says: str) -> None:
    log = f"{_TRACEBACK}ModuleNotFoundError: No module named '{module}'"
    (finding,) = [item for item in examine(examination_of({"log": log})) if item.rule == "LOG001"]
    assert finding.remedy is not None
    assert finding.remedy.summary.startswith(says)


def test_a_package_that_misses_a_part_of_itself_is_to_be_installed_again() -> None:
    frame = '  File "/v/lib/python3.12/site-packages/PIL/Image.py", line 90, in <module>\n    from . import _imaging\n'
    log = f"{_TRACEBACK}{frame}ModuleNotFoundError: No module named 'PIL._imaging'"
    (finding,) = [item for item in examine(examination_of({"log": log})) if item.rule == "LOG001"]
    assert finding.remedy is not None
    assert finding.remedy.summary.startswith("it is a part of `pillow` itself")


def test_the_end_of_a_long_line_is_quoted_with_its_beginning() -> None:
    log = "Error response from daemon: " + "failed to create: " * 20 + 'exec: "whisper-server": not found in $PATH'
    (finding,) = [item for item in examine(examination_of({"log": log})) if item.rule == "LOG001"]
    assert finding.evidence[0].what.startswith("Error response from daemon: ")
    assert finding.evidence[0].what.endswith("not found in $PATH")


def test_a_traceback_that_was_pasted_without_its_blanks_ends_in_its_exception() -> None:
    rows = (
        "Traceback (most recent call last):",
        'File "inference.py", line 7, in <module>',
        "import torch, face_detection",
        'File "torch/__init__.py", line 81, in <module>',
        "from torch._C import *",
        "some.module.Trouble: nothing goes",
    )
    for between in ("\n", "\n\n"):
        (failure,) = failures_of(between.join(rows))
        assert failure.line == rows[-1]
    (failure,) = failures_of('Traceback (most recent call last):\n  File "<string>", line 1\nTrouble: no source')
    assert failure.line == "Trouble: no source"


@pytest.mark.parametrize(
    "line",
    [
        r"D:\a\factory.cc(520)\ort.dll!00007FFBDAE7F9B9: (caller: 00007FFBDAE7FB21) Exception(1) tid(93ac) 887A0004 No",
        'loc("-":0:0): error: current mps dialect version is 1.0.0, can\'t parse version 1.1.0',
        "Error named symbol not found at line 233 in file /src/csrc/ops.cu",
    ],
)
def test_an_error_of_windows_runtime_of_mlir_and_of_a_cuda_call_that_ends_the_program_is_a_failure(line: str) -> None:
    assert [item.line for item in failures_of(f"Platform 'METAL' is experimental\n{line}\n")] == [line]


def test_a_missing_module_is_told_where_it_stands_below_the_error() -> None:
    """diffusers and transformers load their parts late, and put the cause on a line of its own, without its class."""
    error = "RuntimeError: Failed to import diffusers.loaders.peft because of the following error"
    log = f"{error} (look up to see its traceback):\nNo module named 'accelerate'\n"
    (finding,) = examine(examination_of({"log": log}))
    assert finding.message == "the module `accelerate` is not there, which `accelerate` brings"


_MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 12.00 GiB. GPU 0 has a total of 8.00 GiB"
_OFFLINE = (
    "ERROR: Could not install packages due to an OSError: HTTPSConnectionPool(host='index.example', port=443): "
    "Max retries exceeded with url: /simple/torch/ (Caused by NewConnectionError('[Errno -3] Temporary failure in "
    "name resolution'))"
)


def _worst(log: str) -> Severity | None:
    found = examine(examination_of({"log": log}))
    return min((item.severity for item in found), key=lambda item: item.rank, default=None)


@pytest.mark.parametrize(
    ("log", "worst"),
    [
        (f"{_MEMORY}\nretrying with smaller tiles (512)\ntile 64/64\nsaved out.png", Severity.WARNING),
        (f"{_TRACEBACK}{_MEMORY}\nWARNING: moving the vocoder to CPU\nwrote song.wav", Severity.WARNING),
        (
            f"{_MEMORY}\nreducing batch size to 16\n{_MEMORY}\nreducing batch size to 8\nTraining complete",
            Severity.WARNING,
        ),
        (
            (
                "ERROR: Library libcublas.so.12 is not found or cannot be loaded\nfalling back to CPU (int8)\n"
                "transcribing\nProcess finished with exit code 0"
            ),
            Severity.WARNING,
        ),
        (f"{_MEMORY}\nlowering batch_size to 4\nattempt 2 succeeded", Severity.WARNING),
        (f"{_MEMORY}\nOOM on the card, trying on the CPU\ngenerated 128 tokens in 4.1 s", Severity.WARNING),
        (f"{_OFFLINE}\nretrying in 5 s\nCollecting torch\nSuccessfully installed torch-2.7.1", Severity.INFO),
        (f"{_TRACEBACK}app.NansError: no\nWill now convert it into 32-bit float and retry.\n100%|####| 9/9", None),
    ],
)
def test_what_a_program_says_to_have_got_over_on_its_way_to_the_end_is_no_error(log: str, worst: Severity) -> None:
    assert _worst(log) is worst


@pytest.mark.parametrize(
    "log",
    [
        # Cut before an end; a further failure; the same again; no word of another way; advice; somebody's next command.
        f"{_MEMORY}\nretrying with smaller tiles (512)\ntile 1/64",
        f"{_MEMORY}\nretrying with smaller tiles (512)\n{_TRACEBACK}KeyError: 'alpha'\nPrompt executed in 41.2 seconds",
        f"{_MEMORY}\nretrying with smaller tiles\nsaved a.png\nnext: b.png\n{_MEMORY}\nleaving b.png out",
        f"{_TRACEBACK}{_MEMORY}\nsaved the log to run.log",
        f"{_MEMORY}\nFalling back is not supported for this model\nsaved the log to run.log",
        f"{_MEMORY}\nYou may try falling back to CPU.\nsaved the log to run.log",
        f"{_MEMORY}\na@b:~$ python b.py\nno flash-attn, falling back to sdpa attention\nsaved out.png",
        f"{_MEMORY}\nfalling back to CPU\nmodel loaded, done\nKilled",
        # What ends well is the next command; or what is written is a report of the crash.
        f"$ python a.py\n{_MEMORY}\nRetrying\n$ pip install b\nSuccessfully installed b-1.0",
        f"a@b app % python a.py\n{_MEMORY}\nRetrying\na@b app % pip install b\nSuccessfully installed b-1.0",
        f"[a@b ~]$ python a.py\n{_MEMORY}\ntrying again\n[a@b ~]$ pip install b\nSuccessfully installed b-1.0",
        f"bash-5.1$ python a.py\n{_MEMORY}\ntrying again\nbash-5.1$ pip install b\nSuccessfully installed b-1.0",
        f"\u276f python a.py\n{_MEMORY}\nfalling back to CPU\n\u276f make c\nDone.",
        f"> python a.py\n{_MEMORY}\nfalling back to CPU\n> python c.py\nDone.",
        f"{_MEMORY}\nfalling back to CPU\nwrote a crash dump to a.dmp",
    ],
)
def test_a_failure_that_something_else_follows_than_an_end_stays_one(log: str) -> None:
    assert _worst(log) is Severity.ERROR


def test_a_refusal_after_which_an_installer_found_another_way_is_no_conflict() -> None:
    refused = (
        "ERROR: Could not find a version that satisfies the requirement voices==2.7 (from versions: 2.8, 2.9)\n"
        "ERROR: No matching distribution found for voices==2.7\n"
    )
    assert _worst(refused) is Severity.ERROR
    assert _worst(f"{refused}falling back to the newest one\nSuccessfully installed voices-2.9") is not Severity.ERROR


_NO_RUST = (
    "$ pip install -r requirements.txt\n  error: subprocess-exited-with-error\n      error: can't find Rust compiler\n"
    "  ERROR: Failed building wheel for tokenizers\n"
)
_NO_WHEELS = "Failed to build tokenizers\nerror: failed-wheel-build-for-install\n"
_NO_VERSION = (
    "ERROR: Could not find a version that satisfies the requirement voices==2.7 (from versions: 2.8, 2.9)\n"
    "ERROR: No matching distribution found for voices==2.7\n"
)


@pytest.mark.parametrize(
    "log",
    [
        f"{_NO_RUST}$ pip install 'tokenizers>=0.19'\nSuccessfully installed tokenizers-0.20.3\n$ python main.py\ndone",
        f"{_NO_RUST}{_NO_WHEELS}a@b:~$ pip install -r x.txt\nSuccessfully installed six-1.17.0 tokenizers-0.13.3",
        f"{_NO_RUST}{_NO_WHEELS}$ uv pip install tokenizers\nInstalled 1 package in 3ms\n + tokenizers==0.20.3",
        f"{_NO_VERSION}$ pip install voices\nSuccessfully installed voices-2.9",
    ],
)
def test_a_package_that_a_later_install_put_in_is_no_failure_any_more(log: str) -> None:
    assert _worst(log) in (None, Severity.INFO)


@pytest.mark.parametrize(
    "log",
    [
        f"{_NO_RUST}{_NO_WHEELS}",
        f"{_NO_RUST}$ pip install six\nSuccessfully installed six-1.17.0",
        f"{_NO_RUST}  Failed to build tokenizers six\n$ pip install x\nSuccessfully installed tokenizers-0.20.3",
        f"Successfully installed tokenizers-0.20.3\n{_NO_RUST}",
        f"{_NO_VERSION}$ pip install voices\nSuccessfully installed voices-2.9\n{_TRACEBACK}ImportError: no avx2",
        f"{_NO_VERSION.replace('2.7', '2.7+cu126')}$ pip install voices\nSuccessfully installed voices-2.9",
        f"{_NO_VERSION}$ pip install choir\nSuccessfully installed choir-2.9",
    ],
)
def test_another_package_or_an_earlier_install_makes_up_for_no_failure(log: str) -> None:
    assert _worst(log) is Severity.ERROR


_NO_B = "$ python a.py\n" + _TRACEBACK + "KeyError: 'b'\n"
_NO_CV2 = "$ python a.py\n" + _TRACEBACK + "ModuleNotFoundError: No module named 'cv2'\n"


@pytest.mark.parametrize(
    ("log", "is_over"),
    [
        (f"{_NO_B}$ pip install b\nSuccessfully installed b-1.0\n", False),
        (f"{_NO_CV2}$ pip install b\nSuccessfully installed b-1.0\n", False),
        (f"{_NO_CV2}$ pip install opencv-python\nSuccessfully installed opencv-python-4.11.0.86\n", True),
        (f"{_NO_CV2}$ uv pip install cv2\nInstalled 1 package in 3ms\n + cv2==1.0\n", True),
        (f"{_NO_B}$ pip install b\nSuccessfully installed b-1.0\n$ python a.py\nRunning on local URL: x\n", True),
        # A script goes on behind what failed in it.
        (f"{_NO_B.removeprefix('$ python a.py')}Collecting b\nSuccessfully installed b-1.0\n", True),
        (f"{_TRACEBACK}ValueError: bad\nwill retry\n0 of 3 completed\n", False),
    ],
)
def test_an_install_that_somebody_types_next_gets_over_no_failure_but_what_it_brings(log: str, is_over: bool) -> None:
    assert (failures_of(log) == ()) is is_over


_OF_APP = "app-1  | Traceback (most recent call last):\napp-1  |   File \"a.py\", line 1\napp-1  | KeyError: 'sr'\n"
_OF_PROMPT = f"a@b:~$ python app.py\n{_TRACEBACK}KeyError: 'sr'\n"


@pytest.mark.parametrize(
    "log",
    [
        # Another service of the same `docker compose`.
        f"{_OF_APP}web-1  | INFO:     Application startup complete.\n",
        f"{_OF_APP}db-1   | retrying in 5 s\ndb-1   | saved out.png\n",
        # Another command.
        f"{_OF_PROMPT}a@b:~$ pip install six\nSuccessfully installed six-1.17.0\n",
        f"C:\\x>python app.py\n{_TRACEBACK}KeyError: 'sr'\n\nC:\\x>pip install six\nSuccessfully installed six-1.17.0",
        f"{_TRACEBACK}KeyError: 'sr'\n(venv) PS C:\\x> uv pip install six\nInstalled 1 package in 3ms\n + six==1.17.0",
        # Only another package was put in.
        "Failed to build voices\nerror: failed-wheel-build-for-install\nSuccessfully installed six-1.17.0",
    ],
)
def test_what_goes_well_elsewhere_is_no_end_of_a_failure(log: str) -> None:
    assert failures_of(log)


@pytest.mark.parametrize(
    "log",
    [
        f"{_OF_APP}app-1  | INFO:     Application startup complete.\n",
        f"{_OF_PROMPT}a@b:~$ pip install six\nSuccessfully installed six-1.17.0\na@b:~$ python app.py --x\nAll done.",
        f"$ pip install -r x\n{_TRACEBACK}KeyError: 1\n$ pip install --no-deps -r x\nSuccessfully installed a-1",
        "$ pip install 'a==1'\nERROR: Exception:\n$ python -m pip install a\nSuccessfully installed a-2",
        f"{_TRACEBACK}KeyError: 'sr'\nSuccessfully installed six-1.17.0",
    ],
)
def test_what_the_same_command_does_well_later_ends_its_failure(log: str) -> None:
    assert failures_of(log) == ()


_UNMET = (
    "$ pip install torch==2.6.0\nERROR: pip's dependency resolver does not currently take into account all of them\n"
    "torchvision 0.20.1 requires torch==2.5.1, but you have torch 2.6.0 which is incompatible.\n"
    "Successfully installed torch-2.6.0\n"
)
_APART = (
    "$ pip install a==1 b==2\nERROR: Cannot install a==1 and b==2 because these package versions have conflicting "
    "dependencies.\n\nThe conflict is caused by:\n    a 1 depends on c==1\n    b 2 depends on c==2\n\n"
    "ERROR: ResolutionImpossible: for help visit https://x\n"
)


@pytest.mark.parametrize(
    ("log", "worst"),
    [
        (_UNMET, Severity.ERROR),
        (f"{_UNMET}$ pip install torchvision==0.21.0\nSuccessfully installed torchvision-0.21.0\n", None),
        (f"{_UNMET}$ pip install torch==2.5.1\nSuccessfully installed torch-2.5.1\n", None),
        (f"{_UNMET}$ pip install torchaudio\nSuccessfully installed torchaudio-2.6.0\n", Severity.ERROR),
        (f"{_UNMET}$ pip install torchvision==0.20.1\nSuccessfully installed torchvision-0.20.1\n", Severity.ERROR),
        (_APART, Severity.ERROR),
        (f"{_APART}$ pip install a b\nSuccessfully installed a-2 b-2 c-2\n", None),
        (f"{_APART}$ pip install a\nSuccessfully installed a-1 c-1\n", Severity.ERROR),
        (f"$ pip install a b\nSuccessfully installed a-2 b-2 c-2\n{_APART}", Severity.ERROR),
    ],
)
def test_what_a_later_install_settles_stands_no_more(log: str, worst: Severity | None) -> None:
    assert _worst(log) is worst


def test_a_failure_that_nobody_knows_and_that_was_got_over_is_told_as_one() -> None:
    log = "*** EP Error ***\nEP Error a.cc:1 RuntimeError\nFalling back to ['B'] and retrying.\nProcessing finished\n"
    for text, is_over in ((log, True), (log.partition("Falling")[0], False)):
        (finding,) = [item for item in examine(examination_of({"log": text})) if item.rule == "LOG001"]
        assert (", and that was got over: `" in finding.message) is is_over


def test_a_part_of_comfyui_that_misses_a_module_is_told_with_it() -> None:
    log = "Cannot import C:\\x\\Nodes module for custom nodes: No module named 'cv2'\n"
    (finding,) = [item for item in examine(examination_of({"log": log})) if item.rule == "LOG001"]
    assert finding.message == "the module `cv2` is not there, which `opencv-python` brings"
