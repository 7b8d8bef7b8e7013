"""Branches of a script that exclude each other are not added up: one counts, and the others are named."""

from __future__ import annotations

import re
import time

import pytest
from project_asked import names

from envdoctor.model.project import LeftOut

SHELL = """
if [ "$1" = "cu121" ]; then
    pip install torch==2.3.0
elif [ "$1" = "rocm" ]; then pip install torch==2.1.0
else
    pip install torch==2.2.0
fi
pip install numpy
if command -v git; then pip install six; fi
"""
CASE = """
case "$BACKEND" in
  cuda) pip install torch==2.3.0 ;;
  rocm|amd)
    pip install torch==2.1.0
    ;;
  *) echo "nothing" ;;
esac
pip install numpy
"""
APART = """
case "$BACKEND" in
  (cuda)
    pip install torch==2.3.0
    ;;
  rocm)
    (pip install torch==2.1.0)
    ;;
  xpu)
    bash -c "pip install torch==2.2.0"
    ;;
  none)
    ;;
  cpu)
    pip install torch==2.2.0
  ;;
esac
pip install numpy
"""
BATCH = """
@echo off
if "%GPU%"=="nvidia" (
    pip install torch==2.3.0
) else if "%GPU%"=="amd" (
    pip install torch==2.1.0
) else (
    pip install torch==2.2.0
)
if not exist x (pip install six)
for %%p in (a b) do (
    pip install %%p
)
pip install numpy
"""
POWERSHELL = """
if ($Gpu) {
    pip install torch==2.3.0
}
elseif ($Amd) { pip install torch==2.1.0 }
else {
    pip install torch==2.2.0
}
pip install numpy
"""
NESTED = """
if [ -n "$A" ]; then
  if [ -n "$B" ]; then
    pip install torch==2.3.0
  else
    pip install torch==2.2.0
  fi
  pip install six
else
  pip install torch==2.1.0
fi
"""
SYSTEMS = """
if [[ "$OSTYPE" == "darwin"* ]]; then
  pip install torch==2.1.0
elif [[ "$OSTYPE" == "linux-gnu"* ]]; then
  pip install torch==2.3.0
else
  pip install torch==2.2.0
fi
"""
REMOVES = 'if [ -n "$CLEAN" ]; then pip uninstall -y six; fi\npip install six\n'


@pytest.mark.parametrize(
    ("name", "text", "asked", "left"),
    [
        ("a.sh", SHELL, ["torch==2.3.0", "numpy", "six"], [4, 6]),
        ("a.sh", CASE, ["torch==2.3.0", "numpy"], [5]),
        ("a.sh", APART, ["torch==2.3.0", "numpy"], [7, 10, 15]),
        ("a.bat", BATCH, ["torch==2.3.0", "six", "a", "b", "numpy"], [6, 8]),
        ("a.ps1", POWERSHELL, ["torch==2.3.0", "numpy"], [5, 7]),
        ("a.sh", NESTED, ["torch==2.3.0", "six"], [6, 10]),
        ("a.sh", REMOVES, ["six"], []),
    ],
)
def test_one_branch_counts_and_the_others_are_named(read_files, name, text, asked, left):
    project = read_files({name: text}, at=name)
    assert names(project) == asked
    named = [one for one in project.left_out if one.reason is LeftOut.BRANCH]
    assert [one.path for one in named] == [f"{name}:{line}" for line in left]
    assert all(one.detail.endswith(("2.0", "1.0")) for one in named)


@pytest.mark.parametrize(("platform", "version"), [("linux", "2.3.0"), ("darwin", "2.1.0"), ("win32", "2.2.0")])
def test_the_branch_of_the_target_counts(read_files, platform, version):
    project = read_files({"a.sh": SYSTEMS}, at="a.sh", target_environment={"sys_platform": platform})
    assert names(project) == [f"torch=={version}"]


MAKERS = """
pip install torch==2.4.0 torchvision==0.19.0
case $PLATFORM in
  cuda)
    CUDA_VERSION=$(python -c "import torch; print(torch.version.cuda)")
    ;;
  hip|rocm)
    pip install torch==2.4.1 --index-url https://index.example/rocm6.1
    ;;
esac
if [ "$XFORMERS" = true ]; then
  if [ "$PLATFORM" = "cuda" ] ; then
    case $PYTORCH_VERSION in
      2.0.1) pip install xformers==0.0.22 ;;
      2.4.0) pip install xformers==0.0.27.post2 ;;
      2.4.1) pip install xformers==0.0.28 ;;
      *) echo "none" ;;
    esac
  elif [ "$PLATFORM" = "hip" ] ; then
    pip install xformers==0.0.29
  fi
fi
"""
ASKED = ["torch==2.4.0", "torchvision==0.19.0"]


@pytest.mark.parametrize(
    ("backend", "asked"),
    [
        ("cuda", [*ASKED, "xformers==0.0.27.post2"]),
        ("rocm", ["torchvision==0.19.0", "torch==2.4.1", "xformers==0.0.29"]),
        ("cpu", ASKED),
    ],
)
def test_the_branch_of_the_target_s_card_and_of_the_torch_before_it_counts(read_files, backend, asked):
    project = read_files({"a.sh": MAKERS}, at="a.sh", target_backend=backend)
    assert names(project) == asked


@pytest.mark.parametrize(
    ("name", "text", "asked"),
    [
        ("a.sh", "case $1 in cpu) pip install a;; cuda|rocm) pip install b;; esac", ["b"]),
        ("a.sh", "case $1 in\n  rocm) pip install a;;\n  *nvidia*) (pip install b);;\nesac", ["b"]),
        ("a.sh", 'case "$1" in cuda|rocm)\n pip install a;; cpu) pip install b;; esac', ["a"]),
        ("a.sh", '[ "$GPU" = rocm ] && pip install a\npip install b', ["b"]),
        ("a.sh", 'if [ "$GPU" != cuda ]; then pip install a; fi\npip install b', ["a", "b"]),
        ("a.sh", "if [ $GPU = rocm ] || [ $GPU = cuda ]; then pip install a; fi\npip install b", ["a", "b"]),
        ("a.sh", 'if [ -n "$CUDA_HOME" ]; then pip install a; else pip install b; fi', ["a"]),
        ("a.sh", 'if [ "$GPU" = amd ]; then pip install a; fi', ["a"]),
        (
            "a.sh",
            "pip install c==2.1\nif [ $V = 2.0 ]; then pip install a; elif [ $V = 2.1 ]; then pip install b; fi",
            ["c==2.1", "b"],
        ),
        ("a.bat", 'if "%GPU%"=="amd" (\n  pip install a\n) else (\n  pip install b\n)', ["b"]),
        ("a.ps1", 'if ($Gpu -eq "amd") { pip install a }\nelse { pip install b }', ["b"]),
        ("a.sh", 'if [ -n "$X" ] && [ "$GPU" = amd ]; then pip install a; else pip install b; fi', ["b"]),
        ("a.sh", 'if [[ "$GPU" == *"AMD"* ]]; then pip install a; else pip install b; fi', ["b"]),
        ("a.sh", 'if [[ "$GPU" =~ "Radeon" ]]; then pip install a; else pip install b; fi', ["b"]),
        ("a.sh", "if lspci | grep -qi amd; then pip install a; else pip install b; fi", ["b"]),
        ("a.sh", "if ! command -v nvidia-smi; then pip install a; else pip install b; fi", ["b"]),
        ("a.sh", "if command -v rocminfo || [ -d /opt/rocm ]; then pip install a; else pip install b; fi", ["b"]),
        ("a.sh", '[ "$X" = 1 ] && command -v rocminfo && pip install a\npip install b', ["a", "b"]),
        ("a.bat", 'if "!GPU!"=="amd" (\n  pip install a\n) else (\n  pip install b\n)', ["b"]),
        ("a.bat", "if %GPU% EQU amd (\n  pip install a\n) else (\n  pip install b\n)", ["b"]),
        ("a.bat", 'if "%GPU%"=="amd" pip install a\npip install b', ["b"]),
        ("a.bat", 'if "%GPU%"=="amd" (\n echo 1^) AMD\n pip install a\n) else (\n pip install b\n)', ["b"]),
        ("a.bat", "if %GPU%==amd (echo don't & pip install a) else (echo can't & pip install b)", ["b"]),
        ("a.sh", "rocminfo > /dev/null\nif [ $? -eq 0 ]; then pip install a; else pip install b; fi", ["b"]),
        ("a.bat", "where nvidia-smi >nul\nif errorlevel 1 (\n  pip install a\n) else (\n  pip install b\n)", ["b"]),
        (
            "a.bat",
            "nvidia-smi >nul\nif %errorlevel% neq 0 goto no\npip install b\ngoto end\n:no\npip install a\n:end",
            ["b"],
        ),
        ("a.ps1", "nvidia-smi\nif ($LASTEXITCODE -ne 0) { pip install a } else { pip install b }", ["b"]),
        ("a.ps1", 'if ($Gpu -like "*amd*") { pip install a } else { pip install b }', ["b"]),
        ("a.ps1", 'if ($Gpu -match "AMD|Radeon") { pip install a } else { pip install b }', ["b"]),
        ("a.ps1", 'if ($Gpu -notmatch "AMD") { pip install a }\npip install b', ["a", "b"]),
        ("a.ps1", "if ($Gpu -eq 'amd')\n{\n  pip install a\n}\nelse\n{\n  pip install b\n}", ["b"]),
        ("a.ps1", "if ($Gpu -eq 'amd') {  # don't {\n  pip install a\n} else {\n  pip install b\n}", ["b"]),
    ],
)
def test_a_branch_for_another_card_gives_way_where_it_says_so(read_files, name, text, asked):
    project = read_files({name: f"{text}\n"}, at=name, target_backend="cuda")
    assert names(project) == asked


FLAGS = {
    '[ "$USE_CUDA" = true ]': {"cuda"},
    "[[ $USE_GPU == 1 ]]": {"cuda", "rocm"},
    '[ "$USE_GPU" = 0 ]': {"cpu"},
    "$CPU_ONLY": {"cpu"},
    '[ -n "$CUDA_HOME" ]': {"cuda"},
    '[ -z "$CUDA_HOME" ]': {"cpu", "rocm"},
    "! $NO_CUDA": {"cuda"},
    '[ "$CUDA_VERSION" = 11.8 ]': {"cuda", "rocm", "cpu"},
    'if "%USE_CUDA%"=="1" (': {"cuda"},
    "if not defined CUDA_PATH (": {"cpu", "rocm"},
    'if /i "%CPU%"=="y" (': {"cpu"},
    "if ($Cpu) {": {"cpu"},
    "if (-not $UseCuda) {": {"cpu", "rocm"},
    "if ($UseGpu -eq $true) {": {"cuda", "rocm"},
}


@pytest.mark.parametrize("asks", FLAGS)
def test_a_variable_that_is_asked_whether_it_is_true_may_have_a_card_in_its_name(read_files, asks):
    name, ends = ("a.ps1", "}") if asks.endswith("{") else ("a.bat", ")") if asks.endswith("(") else ("a.sh", "")
    text = f"{asks}\n  pip install a\n{ends} else {asks[-1]}\n  pip install b\n{ends}\n"
    text = text if ends else f"if {asks}; then\n  pip install a\nelse\n  pip install b\nfi\n"
    for backend in ("cuda", "rocm", "cpu"):
        project = read_files({name: text}, at=name, target_backend=backend)
        assert names(project) == ["a" if backend in FLAGS[asks] else "b"]


@pytest.mark.parametrize(
    ("name", "text", "asked"),
    [
        ("a.sh", "M=${1:-full}\nif [ $M = lite ]; then pip install a; else pip install b; fi\n", ["b"]),
        ("a.sh", "M=full\nif [ $M != full ]; then pip install a; else pip install b; fi\n", ["b"]),
        ("a.sh", "M=0\n[ $M = 1 ] && pip install a\npip install b\n", ["b"]),
        ("a.sh", "M=0\nif x; then M=1; fi\n[ $M = 1 ] && pip install a\npip install b\n", ["a", "b"]),
        ("Dockerfile", "FROM x\nARG M=2\nRUN if [ $M = 1 ]; then pip install a; else pip install b; fi\n", ["b"]),
        ("Dockerfile", "FROM x\nARG M=cuda\nRUN if [ $M = rocm ]; then pip install a; else pip install b; fi\n", ["a"]),
    ],
)
def test_a_test_of_known_values_is_decided_but_not_against_the_target_s_card(read_files, name, text, asked):
    assert names(read_files({name: text}, at=name, target_backend="rocm")) == asked


BY_PROCESSOR = (
    ("a.sh", 'if [ "$(uname -m)" = "{0}" ]; then\n  pip install a\nelse\n  pip install b\nfi\n'),
    ("a.sh", "case $(uname -m) in\n  {0}) pip install a ;;\n  *) pip install b ;;\nesac\n"),
    ("a.sh", '[ "$(uname -m)" != "{0}" ] && pip install b || pip install a\n'),
    ("a.bat", 'if "%PROCESSOR_ARCHITECTURE%"=="{0}" (pip install a) else (pip install b)\n'),
    ("Dockerfile", 'FROM x\nRUN if [ "$TARGETPLATFORM" = "linux/{0}" ]; then pip install a; else pip install b; fi\n'),
)


@pytest.mark.parametrize(("name", "text"), BY_PROCESSOR)
@pytest.mark.parametrize(
    ("processor", "machine", "taken"),
    [("arm64", "x86_64", "b"), ("aarch64", "aarch64", "a"), ("arm64", "AMD64", "b"), ("AMD64", "AMD64", "a")],
)
def test_the_branch_of_the_target_s_processor_counts(read_files, name, text, processor, machine, taken):
    project = read_files({name: text.format(processor)}, at=name, target_environment={"platform_machine": machine})
    assert names(project) == [taken]


@pytest.mark.parametrize(
    ("name", "asks"), [("a.sh", "[ ! -f /usr/lib/x86_64-linux-gnu/x.so ]"), ("a.sh", "[ ! -d x-linux ]")]
)
def test_the_name_of_a_file_says_nothing_of_the_target(read_files, name, asks):
    target = {"platform_machine": "x86_64", "sys_platform": "linux"}
    project = read_files(
        {name: f"if {asks}; then pip install a; fi\npip install b\n"}, at=name, target_environment=target
    )
    assert names(project) == ["a", "b"]


WHEEL = "pip install https://index.example/a-1-cp{0}-cp{0}-linux_x86_64.whl"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", "if [ $V = 3.10 ]; then\n  {0}\nelse\n  {1}\nfi\n"),
        ("a.sh", "case $V in\n  3.10) {0} ;;\n  3.11) {1} ;;\nesac\n"),
        ("a.bat", 'if "%V%"=="3.10" {0}\nif "%V%"=="3.11" {1}\n'),
        ("a.bat", "goto l%V%\n:l10\n{0}\ngoto end\n:l11\n{1}\n:end\n"),
    ],
)
@pytest.mark.parametrize(("python", "taken"), [("3.10", "310"), ("3.11", "311"), ("3.12", "310")])
def test_of_wheels_for_several_pythons_that_of_the_target_counts(read_files, name, text, python, taken):
    text = text.format(WHEEL.format(310), WHEEL.format(311))
    project = read_files({name: text}, at=name, target_environment={"python_version": python})
    assert [f"-cp{taken}-" in str(one.url) for one in project.requirements] == [True]


TORCH = "pip install torch==2.3.0"
OLD = "pip install torch==2.1.0"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", f"{TORCH} || {OLD}"),
        ("a.sh", f"{TORCH} ||\n  {OLD}"),
        ("a.sh", f"{TORCH} \\\n  || {OLD}"),
        ("a.sh", f"{TORCH} || (echo again; {OLD})"),
        ("a.sh", f"{TORCH} || {{\n  echo again\n  {OLD}\n}}"),
        ("a.sh", f"({TORCH} && echo fine) || {OLD}"),
        ("a.sh", f"cd . && {TORCH} || {OLD} || {OLD}.post1"),
        ("a.sh", f"if ! {TORCH}; then\n  echo again\n  {OLD}\nfi"),
        ("a.sh", f"{TORCH}\nif [ $? -ne 0 ]; then\n  if true; then {OLD}; fi\nfi"),
        ("a.bat", f"{TORCH} || {OLD}"),
        ("a.bat", f"{TORCH} || (\n  echo again\n  {OLD}\n)"),
        ("a.bat", f"{TORCH}\nif errorlevel 1 {OLD}"),
        ("a.bat", f"{TORCH}\nif %errorlevel% neq 0 (\n  {OLD}\n)"),
        ("a.ps1", f"{TORCH} || {OLD}"),
        ("a.ps1", f"{TORCH}\nif ($LASTEXITCODE -ne 0) {{\n  {OLD}\n}}"),
        ("a.ps1", f"try {{\n  {TORCH}\n}} catch {{\n  {OLD}\n}}"),
        ("a.sh", f"if {TORCH}; then\n  echo fine\nelse\n  {OLD}\nfi"),
        ("a.sh", f"if {TORCH}; then :\nelif {OLD}; then :\nelse if x; then {OLD}; else {OLD}; fi; fi"),
        ("a.sh", f"{TORCH}\nif [ $? -eq 0 ]; then echo fine; else {OLD}; fi"),
        ("a.bat", f"{TORCH}\nif %errorlevel% equ 0 (\n  echo fine\n) else (\n  {OLD}\n)"),
        ("a.bat", f"{TORCH}\nif not errorlevel 1 (\n  echo fine\n) else {OLD}"),
        ("a.bat", f"{TORCH}\nif %errorlevel% geq 1 (\n  {OLD}\n)"),
        ("a.ps1", f"{TORCH}\nif ($LASTEXITCODE -eq 0) {{ echo fine }}\nelse {{ {OLD} }}"),
        ("a.ps1", f"{TORCH}\nif ($?) {{ echo fine }} elseif ($x) {{ {OLD} }} else {{ {OLD} }}"),
    ],
)
def test_what_runs_where_an_install_fails_is_named_and_not_added_up(read_files, name, text):
    project = read_files({name: f"{text}\npip install numpy\n"}, at=name)
    assert names(project) == ["torch==2.3.0", "numpy"]
    assert [one.detail.partition("torch==2.1.0")[1] for one in project.left_out if one.reason is LeftOut.FALLBACK]
    assert not [one for one in project.left_out if one.reason is not LeftOut.FALLBACK]
    assert project.commands[0].checked or not re.search(r"\|\||if !", text)


@pytest.mark.parametrize(
    ("name", "text", "asked"),
    [
        ("a.sh", "command -v uv || pip install uv", ["uv"]),
        ("a.sh", "pip install six || true", ["six"]),
        ("a.sh", "pip install six || pip install attrs && pip install idna", ["six", "idna"]),
        ("a.sh", '[ "$(uname)" = Darwin ] && pip install six || pip install attrs', ["attrs"]),
        ("a.sh", "[[ $OSTYPE == darwin* ]] && pip install six\npip install attrs", ["attrs"]),
        ("a.sh", "[[ $OSTYPE == darwin* ]] && pip install six", ["six"]),
        ("a.sh", "if [[ $OSTYPE == darwin* ]]; then pip install six; fi\npip install attrs", ["attrs"]),
        ("a.sh", "if [[ $OSTYPE == darwin* ]]; then pip install six; fi", ["six"]),
        ("a.sh", "[ -f x ] && pip install six && pip install attrs", ["six", "attrs"]),
        ("a.sh", 'python -c "import six"\nif [ $? -ne 0 ]; then pip install six; fi', ["six"]),
        ("a.sh", "pip install six\nif [ $? -eq 0 ]; then pip install attrs; fi", ["six", "attrs"]),
        ("a.sh", "if ! pip install six; then pip install attrs; else pip install idna; fi", ["six", "idna"]),
        ("a.sh", "if pip install six; then pip install attrs; fi", ["six", "attrs"]),
        ("a.sh", "all() { pip install six; }\nall || exit 1\n{ pip install attrs; }", ["six", "attrs"]),
        ("a.bat", 'python -c "import six"\nif errorlevel 1 pip install six', ["six"]),
        ("a.bat", "pip install six\nif not errorlevel 1 pip install attrs", ["six", "attrs"]),
        ("a.bat", "pip install six\nif errorlevel 1 exit /b 1\npip install attrs", ["six", "attrs"]),
        ("a.ps1", "try { pip install six } catch { exit 1 }\npip install attrs", ["six", "attrs"]),
    ],
)
def test_what_runs_as_well_counts(read_files, name, text, asked):
    project = read_files({name: f"{text}\n"}, at=name, target_environment={"sys_platform": "linux"})
    assert names(project) == asked


def test_branches_of_a_dockerfile_s_command(read_files):
    text = 'FROM x\nRUN if [ "$GPU" = 1 ]; then \\\n      pip install torch==2.3.0; \\\n    else \\\n'
    project = read_files({"Dockerfile": f"{text}      pip install torch==2.1.0; \\\n    fi\n"}, at="Dockerfile")
    assert names(project) == ["torch==2.3.0"]


def test_a_script_without_an_end_is_read_to_its_end(read_files):
    for text in (
        "fi\nelse\nesac\npip install six\n",
        "if x; then pip install six\n",
        "case x in\n a) pip install six\n",
    ):
        assert [str(line) for line in read_files({"a.sh": text}, at="a.sh").requirements] == ["six"]
    for text in (")\n) else (\npip install six\n", "if x (\npip install six\n"):
        assert [str(line) for line in read_files({"a.bat": text}, at="a.bat").requirements] == ["six"]


@pytest.mark.parametrize(
    ("name", "platform", "said"),
    [
        ("go.bat", "linux", "`go.bat` is a script for Windows, and the target is linux"),
        ("go.ps1", "darwin", "`go.ps1` is a script for Windows, and the target is macos"),
        ("go.sh", "win32", "`go.sh` is a script for Linux and macOS, and the target is windows"),
        ("go.bat", "win32", None),
        ("go.sh", "linux", None),
        ("Dockerfile", "win32", None),
    ],
)
def test_a_script_for_another_system_is_said_to_be_one(read_files, name, platform, said):
    run = "RUN " if name == "Dockerfile" else ""
    project = read_files({name: f"{run}pip install six\n"}, target_environment={"sys_platform": platform})
    assert [line.name for line in project.requirements] == ["six"]
    assert [each.message.partition(":")[0] for each in project.problems] == ([said] if said else [])
    assert not project.unread


MENU = """@echo off
set /p c=which
if "%c%"=="1" goto nvidia
if "%c%"=="2" goto amd
goto cpu
:nvidia
pip install torch==2.3.0
goto common
:amd
pip install torch==2.1.0
goto common
:cpu
pip install torch==2.2.0
:common
pip install numpy || goto failed
exit /b 0
:failed
pip install six
"""


@pytest.mark.parametrize(("backend", "torch"), [("cuda", "2.3.0"), ("rocm", "2.1.0"), ("cpu", "2.2.0"), ("", "2.3.0")])
def test_of_the_parts_of_a_batch_file_that_goto_keeps_apart_one_counts(read_files, backend, torch):
    project = read_files({"i.bat": MENU}, at="i.bat", target_backend=backend)
    assert names(project) == [f"torch=={torch}", "numpy"]
    assert [one.reason for one in project.left_out] == [LeftOut.BRANCH, LeftOut.BRANCH, LeftOut.FALLBACK]


OPTIONS = """:menu
set /p c=
if "%c%"=="0" goto check
if "%c%"=="1" goto install
if "%c%"=="2" goto again
if "%c%"=="3" goto remove
goto menu
:check
pip install six
goto menu
:install
pip install a==1
pip install b
goto menu
:again
pip install a==2
pip install b
goto menu
:remove
pip uninstall -y a
goto menu
"""


def test_of_the_parts_of_a_menu_the_first_of_the_longest_counts_and_what_removes_it_does_not(read_files):
    project = read_files({"i.bat": OPTIONS}, at="i.bat")
    assert names(project) == ["a==1", "b"]
    assert [one.detail for one in project.left_out] == [
        "pip install six", "pip install a==2", "pip install b", "pip uninstall -y a"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cuda", "cpu"),
    [
        ("one", "two"),
        ("InstallCUDA", "InstallCPU"),
    ],
)
def test_of_the_parts_of_a_menu_that_of_the_target_s_card_counts_by_label_or_index(read_files, cuda, cpu):
    index = " --index-url https://index.example/whl/"
    by_index = cuda == "one"
    text = f"goto l%c%\n:{cuda}\npip install a{index + 'cu118' if by_index else ''}\npip install b\ngoto end\n"
    text += f":{cpu}\npip install c{index + 'cpu' if by_index else ''}\n:end\n"
    for backend, taken in (("cuda", ["a", "b"]), ("cpu", ["c"])):
        project = read_files({"i.bat": text}, at="i.bat", target_backend=backend)
        assert names(project) == taken


ALONG = {
    "skip.bat": "if exist venv goto go\npip install one\n:go\npip install two\n",
    "calls.bat": "call :cpu\npip install two\ngoto :eof\n:cpu\npip install one\nexit /b\n",
    "again.bat": ":top\npip install one\nif errorlevel 1 (\n  pause\n  goto top\n)\npip install two\n",
    "line.bat": "pip install one\nif errorlevel 1 echo no & pause & exit /b 1\npip install two\n",
    "jump.bat": "pip install one\nif errorlevel 1 echo no & goto end\npip install two\n:end\npause\n",
    "joined.bat": "call:a\ncall:b\ngoto :eof\n:a\npip install one\nexit /b\n:b\npip install two\n",
    "group.bat": "if not exist x (\n  pip install one\n  goto go\n)\n:go\npip install two\n",
    "check.sh": 'if [ -z "$X" ]; then echo no; exit 1; fi\npip install one\npip install two\n',
    "case.sh": "case $1 in\n -h) exit 0;;\n *) pip install one;;\n -v) exit;;\nesac\npip install two\n",
    "inner.sh": "(pip install one; exit 1)\npip install two\n",
    "or.sh": "cd x || exit 1\npip install one || exit 1\npip install two\nexit 0\n",
    "Dockerfile": "FROM x\nRUN if a; then pip install one; exit 0; fi\nRUN pip install two\n",
    "check.ps1": "if (-not $x) {\n  exit 1\n}\npip install one\nif ($y) { exit }\npip install two\n",
}


@pytest.mark.parametrize("name", ALONG)
def test_what_runs_in_one_go_is_added_up(read_files, name):
    project = read_files({name: ALONG[name]}, at=name)
    assert sorted(one.pep508 for one in project.requirements) == ["one", "two"]


LEAVING = {
    "a.sh": 'if [ "$1" = cuda ]; then\n  pip install one\n  exit 0\nfi\npip install two\n',
    "b.sh": 'if [ "$1" = rocm ]; then pip install two; exit; fi\npip install one\n',
    "c.sh": "if [ -d x ]; then\n  pip install two\n  exit\nfi\nmake\npip install one\npip install one\n",
    "a.bat": 'if "%1"=="cuda" (\n  pip install one\n  exit /b\n)\npip install two\n',
    "b.bat": 'if "%1"=="cuda" (\n  pip install one\n  goto end\n)\npip install two\n:end\n',
    "a.ps1": "if ($Gpu -eq 'cuda') {\n  pip install one\n  exit\n}\npip install two\n",
}


@pytest.mark.parametrize("name", LEAVING)
def test_what_follows_a_branch_that_ends_the_script_excludes_it(read_files, name):
    project = read_files({name: LEAVING[name]}, at=name, target_backend="cuda")
    assert {one.pep508 for one in project.requirements} == {"one"}
    assert {one.reason for one in project.left_out} == {LeftOut.BRANCH}


def test_the_cases_of_a_switch_exclude_each_other(read_files):
    text = 'switch ($Gpu) {\n  "rocm" { pip install one }\n  "cuda" {\n    pip install two\n  }\n  default { }\n}\n'
    project = read_files({"i.ps1": f"{text}pip install three\n"}, at="i.ps1", target_backend="cuda")
    assert names(project) == ["two", "three"]


def test_many_jumps_are_looked_at_in_no_more_than_their_number(read_files):
    text = "".join(f"if x goto l{n}\n:l{n}\npip install p{n}\ngoto l{n + 1}\n" for n in range(3000))
    assert len(read_files({"i.bat": text}, at="i.bat").requirements) == 3000


def test_a_block_that_begins_behind_then_or_else_is_one_of_its_own(read_files):
    for text in (
        "if a; then if b; then pip install one; else pip install two; fi; else pip install three; fi\n",
        "if a; then pip install one\nelse if b; then pip install two; else pip install three; fi; fi\n",
        "if a; then case $1 in x) pip install one;; y) pip install two;; esac; else pip install three; fi\n",
    ):
        project = read_files({"i.sh": f"{text}pip install four\n"}, at="i.sh")
        assert names(project) == ["one", "four"]


@pytest.mark.parametrize("joined", [" || ", " && "])
def test_a_long_chain_is_read_to_its_end(read_files, joined):
    text = joined.join(f"pip install p{n}" for n in range(500))
    project = read_files({"i.sh": text}, at="i.sh")
    assert len(project.requirements) == (1 if joined == " || " else 500)


NEEDED = {
    "made from": "FROM x AS a\nRUN pip install one\nFROM a\nRUN pip install two\n",
    "copied from": "FROM x AS a\nRUN pip install one\nFROM y\nCOPY --from=A /v /v\nRUN pip install two\n",
    "by its number": "FROM x\nRUN pip install one\nFROM y\nCOPY --from=0 /v /v\nRUN pip install two\n",
    "bound": "FROM x AS a\nRUN pip install one\nFROM y\nRUN --mount=type=bind,from=a,target=/w pip install two\n",
    "through another": (
        "FROM x AS a\nRUN pip install one\nFROM a AS b\nFROM y\nCOPY --from=b /v /v\nRUN pip install two\n"
    ),
    "not known": "FROM x AS a\nRUN pip install one\nFROM a AS b\nRUN pip install two\nFROM $C\nRUN make\n",
    "the last installs nothing": "FROM x\nRUN pip install one\nRUN pip install two\nFROM nginx\nRUN make\n",
}


@pytest.mark.parametrize("how", NEEDED)
def test_the_stages_that_the_image_is_made_with_are_added_up(read_files, how):
    project = read_files({"Dockerfile": NEEDED[how]}, at="Dockerfile")
    assert sorted(one.pep508 for one in project.requirements) == ["one", "two"]


STAGES = """FROM x AS base
RUN pip install numpy
FROM base AS cpu
RUN pip install torch==2.2.0
FROM base AS app-rocm
RUN pip install torch==2.1.0
FROM base AS {last}
RUN pip install torch==2.3.0
"""


@pytest.mark.parametrize(
    ("backend", "last", "torch"),
    [("cuda", "cuda", "2.3.0"), ("rocm", "cuda", "2.1.0"), ("rocm", "end", "2.1.0"), ("xpu", "cuda", "2.3.0")],
)
def test_of_stages_that_are_images_of_their_own_the_target_s_or_the_last_one_counts(read_files, backend, last, torch):
    project = read_files({"Dockerfile": STAGES.format(last=last)}, at="Dockerfile", target_backend=backend)
    assert names(project) == ["numpy", f"torch=={torch}"]
    assert {one.reason for one in project.left_out} == {LeftOut.STAGE}


@pytest.mark.parametrize(
    "text",
    [
        "pip install a || { echo no; exit 1; }\npip install b\n",
        "pip install a || {\n  echo no\n  exit 1\n}\npip install b\n",
        'put() {\n  pip install "$@" || {\n    echo no\n    exit 1\n  }\n}\nput a\nput b\n',
        'die() {\n  echo "$1"\n  exit 1\n}\ngit x || die git\npip install a || die a\npip install b || die b\n',
        "x || (echo; exit 1)\npip install a\nif y; then\n  z || {\n    echo\n    exit 1\n  }\nfi\npip install b\n",
    ],
)
def test_what_leaves_where_something_fails_excludes_nothing_behind_it(read_files, text):
    project = read_files({"a.sh": text}, at="a.sh")
    assert [one.name for one in project.requirements] == ["a", "b"]
    assert project.left_out == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", 'if [ "$(uname)" != "Darwin" ]; then\n  pip install {0}\nelse\n  pip install {1}\nfi\n'),
        ("a.sh", 'if ! [[ "$OSTYPE" == "darwin"* ]]; then\n  pip install {0}\nelse\n  pip install {1}\nfi\n'),
        ("a.sh", 'if [[ "$OSTYPE" == "darwin"* ]]; then\n  pip install {1}\nelse\n  pip install {0}\nfi\n'),
    ],
)
@pytest.mark.parametrize(("platform", "taken"), [("linux", "a"), ("darwin", "b")])
def test_a_condition_that_is_turned_round_is_for_the_other_systems(read_files, name, text, platform, taken):
    project = read_files({name: text.format("a", "b")}, at=name, target_environment={"sys_platform": platform})
    assert [one.name for one in project.requirements] == [taken]


INDEX = "--index-url https://index.example/whl/"
BY_INDEX = {
    "i.sh": f"if x; then\n  pip install one {INDEX}cpu\nelse\n  pip install two {INDEX}cu121\nfi\n",
    "c.sh": f"case $1 in\n 1) pip install one {INDEX}cpu ;;\n 2) pip install two {INDEX}nightly/cu128 ;;\nesac\n",
    "i.bat": f'if "%1"=="--amd" (\n  pip install one {INDEX}rocm6.0\n) else (\n  pip install two {INDEX}cu121\n)\n',
    "i.ps1": f"if ($Cpu) {{\n  pip install one {INDEX}cpu\n}} else {{\n  pip install two {INDEX}cu121\n}}\n",
}


@pytest.mark.parametrize("name", BY_INDEX)
def test_of_branches_the_one_whose_index_has_builds_for_the_target_s_card_counts(read_files, name):
    project = read_files({name: BY_INDEX[name]}, at=name, target_backend="cuda")
    assert names(project) == ["two"]
    project = read_files({name: BY_INDEX[name]}, at=name, target_backend="rocm" if name == "i.bat" else "cpu")
    assert names(project) == ["one"]


@pytest.mark.parametrize(("backend", "taken"), [("directml", "two"), ("mps", "two"), ("zluda", "one"), ("", "one")])
def test_a_card_takes_the_builds_that_it_runs_with(read_files, backend, taken):
    text = (
        f"if a; then pip install one {INDEX}cu121; elif b; then pip install two; else pip install six {INDEX}cpu; fi\n"
    )
    assert names(read_files({"i.sh": text}, at="i.sh", target_backend=backend)) == [taken]


def test_a_branch_alone_counts_whatever_its_index(read_files):
    text = f"if x; then pip install one {INDEX}cpu; fi\npip install two\n"
    project = read_files({"i.sh": text}, at="i.sh", target_backend="cuda")
    assert names(project) == ["one", "two"]


IN_BRACES = "{$_ -eq 'rocm'} { pip install two }\n{$_ -eq 'cuda'} { pip install one }"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("i.bat", 'if "%1"=="rocm" (pip install two) else (pip install one)\npip install three\n'),
        ("i.bat", 'if "%1"=="rocm" (echo pip & pip install two) else (pip install one)\npip install three\n'),
        ("i.bat", 'if "%1"=="rocm" (pip install two) else pip install one\npip install three\n'),
        ("i.bat", 'if "%1"=="rocm" (\n  pip install two\n) else pip install one\npip install three\n'),
        ("i.ps1", "if ($G -eq 'rocm') { pip install two } else { pip install one }\npip install three\n"),
        ("i.ps1", f"switch ($G) {{\n{IN_BRACES}\n}}\npip install three\n"),
        ("i.ps1", "switch ($G) { 'rocm' { pip install two } 'cuda' { pip install one } }\npip install three\n"),
    ],
)
def test_branches_on_one_line_exclude_each_other(read_files, name, text):
    project = read_files({name: text}, at=name, target_backend="cuda")
    assert names(project) == ["one", "three"]


def test_what_a_menu_offers_again_and_again_excludes_each_other(read_files):
    text = (
        ":menu\nset /p choice=\nif %choice%==1 goto one\nif %choice%==2 goto two\ngoto menu\n"
        ":one\npip install a==1\npip install b\ngoto menu\n:two\npip install a==2\ngoto menu\n"
    )
    project = read_files({"a.bat": text}, at="a.bat", target_environment={"sys_platform": "win32"})
    assert names(project) == ["a==1", "b"]
    assert [one.reason for one in project.left_out] == [LeftOut.BRANCH]
    text = "goto start\n:part\npip install a\ngoto end\n:start\npip install b\ngoto part\n:end\npip install c\n"
    project = read_files({"a.bat": text}, at="a.bat", target_environment={"sys_platform": "win32"})
    assert names(project) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", "pip install demo\nif [ $? -ne 0 ]; then\n" * 4000),
        ("a.sh", "pip uninstall -y demo || (\n" * 4000),
        ("a.bat", "pip install demo\nif errorlevel 1 (\n" * 4000),
        ("a.bat", "if exist x (\n" * 8000 + "goto :eof\n"),
        ("a.ps1", "try {\n" * 4000 + "} catch {\n}\n" * 4000),
        ("a.sh", 'x="a\n' + 'b" "c\n' * 20_000 + 'd"\n'),
    ],
)
def test_blocks_in_one_another_take_no_square_of_their_number(read_files, name, text):
    begun = time.process_time()
    read_files({name: f"pip install own\n{text}"}, at=name)
    assert time.process_time() - begun < 15


CHOICES = {
    "a.bat": 'set /p c=\nif "%c%"=="1" (\n  pip install {}\n)\nif "%c%" EQU "2" pip install {}\npip install {}\n',
    "a.sh": 'read c\nif [ "$c" = "1" ]; then\n  pip install {}\nfi\n[[ $c == 2 ]] && pip install {}\npip install {}\n',
    "a.ps1": "if ($c -eq '1') {{\n  pip install {}\n}}\nif ($c -eq 2) {{ pip install {} }}\npip install {}\n",
}


@pytest.mark.parametrize("name", CHOICES)
def test_what_is_installed_for_other_values_of_one_variable_excludes_each_other(read_files, name):
    text = CHOICES[name].format("a==1", "a==2", "b")
    project = read_files({name: text}, at=name)
    assert names(project) == ["a==1", "b"]
    assert [one.reason for one in project.left_out] == [LeftOut.BRANCH]
    text = CHOICES[name].format(f"a==1 {INDEX}rocm6.0", f"a==2 {INDEX}cpu", "b")
    project = read_files({name: text}, at=name, target_backend="cpu")
    assert project.requirements[0].pep508 == "a==2"


@pytest.mark.parametrize(
    "text",
    [
        'for c in "$@"; do\n  [ $c = 1 ] && pip install a\n  [ $c = 2 ] && pip install b\ndone\n',
        "read c\n[ $c = 1 ] && pip install a\nread c\n[ $c = 2 ] && pip install b\n",
        "while [ $# -gt 0 ]; do\n  [ $1 = x ] && pip install a\n  [ $1 = y ] && pip install b\n  shift\ndone\n",
        "[ $c = 1 ] && pip install a\n[ $d = 2 ] && pip install b\n",
        "[ $c = 1 ] && pip install a\n[ $c != 2 ] && pip install b\n",
    ],
)
def test_what_is_installed_for_values_that_come_one_after_the_other_is_added_up(read_files, text):
    project = read_files({"a.sh": text}, at="a.sh")
    assert names(project) == ["a", "b"]
