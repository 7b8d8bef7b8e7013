"""pip, uv and conda lines of shell scripts, batch files, PowerShell and Dockerfiles."""

from __future__ import annotations

import json
import re

import pytest
from project_asked import names

from envdoctor.adapters.project import ProjectFileError
from envdoctor.adapters.project.script_commands import commands
from envdoctor.adapters.project.shell_words import Dialect
from envdoctor.model.project import IndexOptionKind, ReadingProblemKind
from envdoctor.model.requirement import RequirementKind


@pytest.mark.parametrize(
    "line",
    [
        "pip install torch==2.1 numpy",
        "pip3 install torch==2.1 numpy",
        "pip3.11 install 'torch==2.1' \"numpy\"",
        "python -m pip install torch==2.1 numpy",
        "python3.10 -s -m pip install -q torch==2.1 numpy",
        "uv pip install torch==2.1 numpy",
        "sudo -H pip install -Uq torch==2.1 numpy",
        "FOO=1 pip install torch==2.1 numpy",
        "if ! pip install torch==2.1 numpy; then exit 1; fi",
        '"$PYTHON" -m pip install torch==2.1 numpy',
        "./venv/bin/pip --no-cache-dir install --timeout 60 torch==2.1 numpy",
        "conda run -n e pip install torch==2.1 numpy",
        "cd /x && pip install \\\n  torch==2.1 \\\n numpy",
        "(pip install torch==2.1 numpy) || true",
    ],
)
def test_pip_in_a_posix_shell(read_files, line):
    project = read_files({"install.sh": f"#!/bin/sh\n{line}\n"})
    assert names(project) == ["torch==2.1", "numpy"]
    assert not project.problems
    assert [(one.step, one.verb, one.origin.line) for one in project.commands] == [(1, "install", 2)]


@pytest.mark.parametrize(
    "line",
    [
        "pip install torch==2.1 numpy",
        "python.exe -m pip install torch==2.1 numpy",
        "%PYTHON% -m pip install torch==2.1 numpy",
        "call pip install torch==2.1 numpy",
        "@pip install torch==2.1 numpy >nul 2>&1",
        '"%PYTHON%" -m pip install "torch==2.1" numpy',
        ".\\venv\\Scripts\\python.exe -s -m pip install torch==2.1 numpy",
        "pip install ^\r\n  torch==2.1 ^\r\n  numpy",
        "if exist x ( pip install torch==2.1 numpy )",
        "PIP.EXE install torch==2.1 numpy",
    ],
)
def test_pip_in_a_batch_file(read_files, line):
    project = read_files({"install.bat": f"@echo off\r\nrem pip install no\r\n:: pip install no\r\n{line}\r\n"})
    assert names(project) == ["torch==2.1", "numpy"]
    assert not project.problems


@pytest.mark.parametrize(
    "line",
    [
        "pip install torch==2.1 numpy",
        "& $PYTHON -m pip install `\n  'torch==2.1' \"numpy\"",
        "python -m pip install torch==2.1 numpy; exit",
    ],
)
def test_pip_in_powershell(read_files, line):
    project = read_files({"install.ps1": f"# pip install no\n{line}\n"})
    assert names(project) == ["torch==2.1", "numpy"]


@pytest.mark.parametrize(
    "line",
    [
        "echo pip install torch",
        "apt-get install pip",
        "# pip install torch",
        "pip list",
        "pip download torch",
        "command -v pip install",
    ],
)
def test_what_is_no_install(read_files, line):
    with pytest.raises(ProjectFileError, match="no `pip install`"):
        read_files({"install.sh": f"{line}\n"}, at="install.sh")


def test_lines_of_words_and_dockerfile(read_files):
    text = (
        "FROM python:3.11\nARG TORCH=2.3.0\nENV CUDA cu121\nCOPY requirements.txt /app/\nRUN apt-get update && \\\n"
        "    # a comment\n"
        "    pip install --no-cache-dir torch==${TORCH} \\\n      --index-url https://index.example/${CUDA} && \\\n"
        '    pip install -r /app/requirements.txt\nRUN ["pip", "install", "six"]\nCMD pip install late\n'
    )
    project = read_files({"Dockerfile": text, "requirements.txt": "numpy\n"}, at="Dockerfile")
    assert [(one.pep508, str(one.origin), one.step, one.index_url) for one in project.requirements] == [
        ("torch==2.3.0", "Dockerfile:7", 1, "https://index.example/cu121"),
        ("numpy", "requirements.txt:1", 2, None),
        ("six", "Dockerfile:10", 3, None),
        ("late", "Dockerfile:11", 4, None),
    ]
    assert all(command.checked for command in project.commands)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        # pip's variable is that of isolation itself: 0 switches it off, and 1 leaves it on.
        ("a.sh", "export PIP_NO_BUILD_ISOLATION=0\npip install a\npip install b\n", [("no", 1, 1), ("no", 1, 2)]),
        ("a.sh", "PIP_NO_BUILD_ISOLATION=false pip install a\npip install b\n", [("no", 1, 1)]),
        ("a.sh", "env PIP_NO_BUILD_ISOLATION=off pip install a\n", [("no", 1, 1)]),
        (
            "a.sh",
            "PIP_NO_BUILD_ISOLATION=0 pip install a\nPIP_NO_BUILD_ISOLATION=1 pip install b\n",
            [("no", 1, 1), ("1", 2, 2)],
        ),
        ("a.sh", "PIP_NO_BUILD_ISOLATION=0\npip install a\n", []),
        ("a.sh", "PIP_NO_BUILD_ISOLATION=0\nexport PIP_NO_BUILD_ISOLATION\npip install a\n", [("no", 2, 1)]),
        ("a.sh", "export PIP_NO_BUILD_ISOLATION=0\nunset PIP_NO_BUILD_ISOLATION\npip install a\n", []),
        ("a.sh", "export PIP_NO_BUILD_ISOLATION=1\npip install a\n", [("1", 1, 1)]),
        ("a.sh", "export PIP_NO_BUILD_ISOLATION=$X\npip install a\n", []),
        ("a.sh", "export PIP_NO_BUILD_ISOLATION=0\nuv pip install a\n", []),
        ("a.sh", "export PIP_NO_BUILD_ISOLATION=0\npip install --no-build-isolation a\n", [("no", 2, 1)]),
        ("a.sh", "export UV_NO_BUILD_ISOLATION=1\nuv pip install a\npip install b\n", [("no", 1, 1)]),
        ("a.sh", "export UV_NO_BUILD_ISOLATION=0\nuv pip install a\n", []),
        ("Dockerfile", "FROM x\nENV A=1 PIP_NO_BUILD_ISOLATION=0\nRUN pip install a\n", [("no", 2, 1)]),
        ("Dockerfile", "FROM x\nENV PIP_NO_BUILD_ISOLATION no\nRUN pip install a\n", [("no", 2, 1)]),
        ("a.bat", "set PIP_NO_BUILD_ISOLATION=0\npip install a\n", [("no", 1, 1)]),
        ("a.ps1", '$env:PIP_NO_BUILD_ISOLATION = "0"\npip install a\n', [("no", 1, 1)]),
        ("a.ps1", '$PIP_NO_BUILD_ISOLATION = "0"\npip install a\n', []),
    ],
)
def test_a_build_without_isolation_by_a_variable_is_told(read_files, name, text, told):
    project = read_files({name: text}, at=name)
    assert [(one.value or "no", one.origin.line, one.step) for one in project.options] == told
    assert all(one.name == ("build-isolation" if one.value else "no-build-isolation") for one in project.options)


@pytest.mark.parametrize("name", ["UV_EXCLUDE_NEWER", "PIP_UPLOADED_PRIOR_TO"])
def test_a_date_by_a_variable_is_told(read_files, name):
    tool, option = ("uv pip", "exclude-newer") if name.startswith("UV") else ("pip", "uploaded-prior-to")
    text = f"FROM x\nENV {name}=2024-01-01\nRUN {tool} install a\nRUN {tool} install --{option} 2023-01-01 b\n"
    project = read_files({"Dockerfile": text}, at="Dockerfile")
    assert [(one.name, one.value, one.origin.line, one.step) for one in project.options] == [
        (option, "2024-01-01", 2, 1),
        (option, "2023-01-01", 4, 2),
    ]


def test_a_build_without_isolation_is_told(read_files):
    text = "pip install torch\npip install a --no-build-isolation\nuv pip install --no-build-isolation-package b b c\n"
    project = read_files({"install.sh": text})
    assert [(one.name, one.value, one.step) for one in project.options] == [
        ("no-build-isolation", "", 2),
        ("no-build-isolation", "b", 3),
    ]
    assert [one.name for one in project.requirements] == ["torch", "a", "b", "c"]


def test_options_of_a_command_belong_to_its_step(read_files):
    text = (
        "pip install a -f https://files.example/ --extra-index-url https://index.example/x --pre -c limits.txt\n"
        "pip install --no-deps b -e . --no-index\n"
    )
    project = read_files({"install.sh": text, "limits.txt": "c<2\n", "setup.cfg": "[options]\n"}, at="install.sh")
    assert [(one.kind, one.step) for one in project.index_options] == [
        (IndexOptionKind.FIND_LINKS, 1),
        (IndexOptionKind.EXTRA_INDEX_URL, 1),
        (IndexOptionKind.NO_INDEX, 2),
    ]
    assert [(one.name, one.step) for one in project.options] == [("pre", 1)]
    assert [(one.name, one.kind, one.no_deps) for one in project.requirements] == [
        ("c", RequirementKind.CONSTRAINT, False),
        ("a", RequirementKind.REQUIRE, False),
        ("b", RequirementKind.REQUIRE, True),
    ]


def test_uninstalled_and_installed_again(read_files):
    files = {
        "install.sh": "pip install -r requirements.txt\npip uninstall -y Torch numpy\npip install torch==2.3.0\n",
        "requirements.txt": "torch\nnumpy>=1.25\nscipy\n",
    }
    project = read_files(files)
    assert names(project) == ["scipy", "torch==2.3.0"]
    assert [str(one.origin) for one in project.superseded] == ["requirements.txt:1", "requirements.txt:2"]


REPLACED = {
    "pins": ("pip install a==1 b\npip install a==2\n", ["b", "a==2"]),
    "thrice": ("pip install a==1\npip install a==2\npip install a==1\n", ["a==1", "a==1"]),
    "bounds": ("pip install 'a>=2'\npip install 'a<2'\n", ["a<2"]),
    "list later": ("pip install a==1\npip install -r all.txt\n", ["a==3", "c"]),
    "list first": ("pip install -r all.txt\npip install 'a==1'\n", ["c", "a==1"]),
    "constraint": ("pip install -c all.txt c\npip install a==1\n", ["c", "c", "a==1"]),
    "by uv": ("uv pip install a==1\nuv pip install a==2\n", ["a==2"]),
    "conda first": ("conda install -y numpy=1.26\npip install numpy==2.0\n", ["numpy==2.0"]),
    "newest": ("pip install a==1 b==1\npip install -U a\n", ["b==1", "a"]),
    "anew": ("pip install a==1\nuv pip install --reinstall a\n", ["a"]),
    "repository": (
        "pip install a==1\npip install git+https://git.example/x/a#egg=a\n",
        ["a @ git+https://git.example/x/a#egg=a"],
    ),
    "own marker": ("pip install 'a==1; python_version>\"3\"'\npip install a==2\n", ["a==2"]),
}
BOTH_HOLD = {
    "one command": "pip install a==1 'a<1'\n",
    "left as it is": "pip install a==1\npip install a\n",
    "fits": "pip install a==1\npip install 'a<2'\n",
    "build": "pip install a==1\npip install a==1+cu118\n",
    "bound only": "pip install a==1\npip install -c all.txt c\n",
    "metadata": "pip install -e .\npip install own==2\n",
    "marker": "pip install a==1\npip install 'a==2; sys_platform==\"plan9\"'\n",
    "conda later": "pip install numpy==2.0\nconda install -y numpy=1.26\n",
    "another's": "pip install a==1\npip install -U b\n",
    "elsewhere": "pip install a==1\npip install -t lib a==2\n",
    "not elsewhere any more": "pip install --target=lib a==1\npip install a==2\n",
}


@pytest.mark.parametrize("name", REPLACED)
def test_what_a_later_command_replaces_is_asked_for_no_more(read_files, name):
    text, asked = REPLACED[name]
    project = read_files({"i.sh": text, "all.txt": "a==3\nc\n"}, at="i.sh")
    assert [one.pep508 for one in project.requirements] == asked
    assert project.superseded


@pytest.mark.parametrize("name", BOTH_HOLD)
def test_what_later_commands_leave_or_break_is_asked_for_still(read_files, name):
    own = "[project]\nname = 'x'\nversion = '1'\ndependencies = ['own==1']\n"
    project = read_files({"i.sh": BOTH_HOLD[name], "all.txt": "a==3\nc\n", "pyproject.toml": own}, at="i.sh")
    assert project.superseded == ()


def test_unquoted_comparison_is_a_redirection(read_files):
    project = read_files({"install.sh": "pip install torch>=2.0 numpy\n"})
    assert names(project) == ["torch", "numpy"]
    (problem,) = project.problems
    assert (problem.kind, problem.suggestions) == (ReadingProblemKind.INVALID_REQUIREMENT, ('"torch>=2.0"',))


def test_variables(read_files):
    text = "V=2.1\nEXTRA='numpy scipy'\nW=$(compute)\npip install torch==$V $EXTRA a==${N:-3} b==$W c==$UNSET\n"
    project = read_files({"install.sh": text})
    assert names(project) == ["torch==2.1", "numpy", "scipy", "a==3"]
    assert [problem.kind for problem in project.problems] == [ReadingProblemKind.UNREAD] * 2
    batch = read_files({"x.bat": 'set "V=2.1"\r\nset W=3\r\npip install torch==%V% a==!W! b==%NO%\r\n'}, at="x.bat")
    assert names(batch) == ["torch==2.1", "a==3"]


@pytest.mark.parametrize(
    ("name", "text", "checked"),
    [
        ("Dockerfile", "FROM x\nRUN make && if [ -f a ]; then pip install a; fi\n", True),
        ("Dockerfile", "FROM x\nRUN if [ -f a ]; then pip install a; fi && make\n", True),
        ("Dockerfile", "FROM x\nRUN if [ -f a ]; then pip install a; fi; make\n", False),
        ("Dockerfile", "FROM x\nRUN if [ -f a ]; then pip install a; make; fi\n", False),
        ("a.sh", "pip install a\n", False),
        ("a.sh", "set -e\npip install a\n", True),
        ("a.sh", "set -euo pipefail\npip install a\n", True),
        ("a.sh", "pip install a || exit 1\n", True),
        ("a.sh", "set -e\npip install a || true\n", False),
        ("a.sh", "pip install a && echo ok\n", True),
        ("a.bat", "pip install a\n", False),
        ("a.bat", "pip install a\nif errorlevel 1 exit /b 1\n", True),
        ("a.bat", "pip install a || goto fail\n", True),
        ("a.ps1", "pip install a\nif ($LASTEXITCODE -ne 0) { exit }\n", True),
    ],
)
def test_whether_a_failure_is_seen(read_files, name, text, checked):
    assert read_files({name: text}, at=name).commands[0].checked is checked


def test_conda_install(read_files):
    text = "conda install -y -c pytorch pytorch=2.1 'numpy<2' cudatoolkit=11.8\n"
    project = read_files({"install.sh": text})
    assert names(project) == ["torch==2.1.*", "numpy<2"]
    assert [problem.kind for problem in project.problems] == [ReadingProblemKind.OF_CONDA]


def test_the_script_of_the_target_is_chosen(read_files):
    files = {"install.sh": "pip install posix\n", "install.bat": "pip install windows\n", "requirements.txt": "torch\n"}
    both = read_files(files)
    assert (names(both), {one.path for one in both.left_out}) == (["torch"], {"install.bat", "install.sh"})
    assert names(read_files(files, target_environment={"sys_platform": "win32"})) == ["windows", "torch"]
    assert names(read_files(files, target_environment={"sys_platform": "linux"})) == ["posix", "torch"]


def test_a_script_without_pip_does_not_disturb(read_files):
    assert names(read_files({"setup.sh": "apt-get install x\n", "requirements.txt": "torch\n"})) == ["torch"]


@pytest.mark.parametrize("dialect", list(Dialect))
def test_unbalanced_quotes_end_with_the_line(dialect):
    assert len(list(commands('echo "open\npip install a\n', dialect))) == 2


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("RUN bash <<EOF\npip install a\nEOF\n", ["a", "b"]),
        ("RUN <<'EOF' /bin/sh -e\npip install a\nEOF\n", ["a", "b"]),
        ("RUN cat <<EOF > /etc/motd\npip install a\nEOF\n", ["b"]),
        ("RUN ls && \\\n    python - <<-EOF && ls\nimport a\n\tEOF\n", ["b"]),
        ("RUN cat <<ONE > /a && cat <<TWO > /b\nRUN pip install a\nONE\nTWO\nTWO\n", ["b"]),
        ("COPY --chmod=755 <<EOF /a.sh\nRUN pip install a\nEOF\n", ["b"]),
        ("RUN tr a b <<< EOF\n", ["b"]),
    ],
)
def test_what_follows_a_here_document_of_a_dockerfile_is_read(read_files, text, asked):
    project = read_files({"Dockerfile": f"FROM x\n{text}RUN pip install b\n"}, at="Dockerfile")
    assert (names(project), project.problems) == (asked, ())


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ('bash -c "pip install a && pip install b==1"\n', ["a", "b==1"]),
        ("sudo -H bash -o pipefail -lc \"pip install 'a>=1'\"\n", ["a>=1"]),
        ('su - user -c "pip install a"\nsu user -c "pip install b"\n', ["a", "b"]),
        ('bash -c "cd sub && pip install -r list.txt"\npip install -r list.txt\n', ["inner", "main"]),
        ('if [ -n "$X" ]; then bash -c "pip install a==1"; else bash -c "pip install a==2"; fi\n', ["a==1"]),
        ('bash run.sh -c "pip install a"\necho bash -c "pip install a"\npip install b\n', ["b"]),
    ],
)
def test_a_text_that_is_handed_to_a_shell_is_read(read_files, text, asked):
    contents = {"i.sh": text, "list.txt": "main\n", "sub/list.txt": "inner\n"}
    project = read_files(contents, at="i.sh")
    assert (names(project), project.problems) == (asked, ())


def test_what_a_text_for_a_shell_exports_stays_there(read_files):
    text = 'FROM x\nRUN ["bash", "-c", "export PIP_INDEX_URL=https://m.example/s; pip install a"]\nRUN pip install b\n'
    project = read_files({"Dockerfile": text}, at="Dockerfile")
    assert (names(project), [(one.url, one.step) for one in project.index_options]) == (
        ["a", "b"],
        [("https://m.example/s", 1)],
    )


@pytest.mark.parametrize(
    "line",
    [
        "pip install -r <(grep -v torch list.txt)",
        "cat list.txt | xargs -n 1 pip install",
        "cat list.txt | xargs -I{} pip install {}",
        "conda install -y --file list.txt",
    ],
)
def test_a_command_whose_requirements_no_line_names_is_not_known(read_files, line):
    project = read_files({"i.sh": f"{line}\npip install b\nconda create -n x\n", "list.txt": "a\n"}, at="i.sh")
    assert (names(project), [one.kind for one in project.problems]) == (["b"], [ReadingProblemKind.UNREAD])


def test_here_documents_are_data_in_a_script_and_commands_in_a_dockerfile(read_files):
    text = "pip install a\ncat > x.sh <<'EOF'\npip install fake\nEOF\npip install b\n"
    assert names(read_files({"install.sh": text}, at="install.sh")) == ["a", "b"]
    text = "FROM x\nRUN <<EOF\npip install a\nEOF\nRUN pip install b\n"
    project = read_files({"Dockerfile": text}, at="Dockerfile")
    assert [(one.name, one.origin.line) for one in project.requirements] == [("a", 3), ("b", 5)]


POWERSHELL = """
param([switch]$Cpu, [string]$Index = "https://index.example/cu121")
<# pip install incomment
pip install incomment #>
if(!$Cpu){ & "$venv\\python.exe" -m pip install torch==2.3.0 --index-url $Index }else{
    python -m pip install torch
}
Write-Host "now pip install nothing" -ForegroundColor Green
$packages = @("numpy", "scipy>=1.10")
pip install @packages
foreach ($name in $packages) { pip install $name }
$more = @(
  "onnx",  # why
  "six"
)
pip install $more $unknown --no-deps | Out-Null
$help = @"
pip install intext
"@
"""
SHELL = """
LIST=(numpy "scipy>=1.10")
MORE=(
  onnx  # why
  six
)
pip install "${LIST[@]}" "${MORE[@]}"
for name in a b; do pip install "$name"; done
pip install $(cat reqs.list) ${NONE[@]}
"""
BATCH = """
for %%p in (a b) do pip install %%p
pip install %%q
"""


def test_lists_loops_and_words_of_powershell(read_files):
    project = read_files({"install.ps1": POWERSHELL}, at="install.ps1")
    assert [one.name for one in project.requirements] == [*("torch", "numpy", "scipy", "numpy", "scipy", "onnx", "six")]
    assert [one.index_url for one in project.requirements][:2] == ["https://index.example/cu121", None]
    assert [one.path for one in project.left_out] == ["install.ps1:6"]
    assert [one.no_deps for one in project.requirements][-2:] == [True, True]
    assert [(one.kind, one.origin.line) for one in project.problems] == [(ReadingProblemKind.UNREAD, 16)]


def test_lists_and_loops_of_a_shell_script(read_files):
    project = read_files({"install.sh": SHELL}, at="install.sh")
    assert [one.name for one in project.requirements] == ["numpy", "scipy", "onnx", "six", "a", "b"]
    assert [one.kind for one in project.problems] == [ReadingProblemKind.UNREAD] * 2


def test_loops_of_a_batch_file(read_files):
    project = read_files({"install.bat": BATCH}, at="install.bat")
    assert names(project) == ["a", "b"]
    assert [one.kind for one in project.problems] == [ReadingProblemKind.UNREAD]


DOUBLING = {
    "install.sh": ("A0=x\n", "A{}=$A{}$A{}$A{}$A{}\n", "pip install six $A{}\n"),
    "install.bat": ("set A0=x\n", "set A{}=%A{}%%A{}%%A{}%%A{}%\n", "pip install six %A{}%\n"),
    "install.ps1": ("$A0='x'\n", '$A{}="$A{}$A{}$A{}$A{}"\n', "pip install six $A{}\n"),
    "Dockerfile": (
        "FROM x\nARG A0=x\n",
        "ARG A{}=${{A{}}}${{A{}}}${{A{}}}${{A{}}}\n",
        "RUN pip install six ${{A{}}}\n",
    ),
}
"""Each variable names the one before it four times: the fortieth would have 4**40 characters."""


@pytest.mark.parametrize("name", DOUBLING)
def test_variables_that_double_with_each_line_end_somewhere(read_files, name):
    begin, step, end = DOUBLING[name]
    text = begin + "".join(step.format(n, *[n - 1] * 4) for n in range(1, 41)) + end.format(40)
    project = read_files({name: text}, at=name)
    assert [one.name for one in project.requirements] == ["six"]
    assert len(str(project)) < 100_000


def test_a_default_that_ends_nowhere_is_looked_for_once(read_files):
    # With 20,000 of them it took minutes.
    project = read_files({"install.sh": "pip install six\n" + "${a:-" * 20_000 + "\n"}, at="install.sh")
    assert [one.name for one in project.requirements] == ["six"]
    project = read_files({"install.sh": "pip install ${A:-six} ${B:-${C}}\n"}, at="install.sh")
    assert [one.name for one in project.requirements] == ["six"]


def test_blocks_in_blocks_without_end_are_read(read_files):
    project = read_files({"install.sh": "if x; then\n" * 3000 + "pip install six\n"}, at="install.sh")
    assert [one.name for one in project.requirements] == ["six"]


GROWING = {
    "same.sh": 'PK="a"\nPK="$PK b"\npip install $PK\n',
    "more.sh": 'PK=a\nPK+=" b"\npip install $PK\n',
    "list.sh": 'PK=(a)\nPK+=(b)\npip install "${PK[@]}"\n',
    "braced.sh": 'export PK=a\nexport PK="${PK} b"\npip install $PK\n',
    "same.bat": "set PK=a\nset PK=%PK% b\npip install %PK%\n",
    "quoted.bat": 'set "PK=a"\nset "PK=%PK% b"\npip install %PK%\n',
    "same.ps1": '$PK = "a"\n$PK = "$PK b"\npip install $PK\n',
    "more.ps1": '$PK = "a"\n$PK += " b"\npip install $PK\n',
    "close.ps1": '$PK="a"\n$PK+=" b"\npip install $PK\n',
    "list.ps1": '$PK = @("a")\n$PK += "b"\npip install @PK\n',
    "commas.ps1": '$PK = "a", "b"\npip install $PK\n',
    "comma.ps1": '$PK = "a" , "b"\npip install @PK\n',
    "close_commas.ps1": '$PK = "a","b"\npip install $PK\n',
    "lines.ps1": '$PK = "a", # one\n  "b"\npip install $PK\n',
    "typed.ps1": 'pip install "a", "b"\n',
    "typed_close.ps1": "pip install a,b\n",
    "added.ps1": '$PK = @("a")\n$PK += @("b")\npip install @PK\n',
    "param.ps1": 'param([string]$A = "a", [string]$B = "b")\npip install $A $B\n',
    "Dockerfile": 'FROM x\nARG PK=a\nENV PK="$PK b"\nRUN pip install $PK\n',
}


@pytest.mark.parametrize("name", GROWING)
def test_a_variable_that_names_itself_grows(read_files, name):
    project = read_files({name: GROWING[name]}, at=name)
    assert (names(project), project.problems, project.unread) == (["a", "b"], (), ())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("unset.sh", "pip install $PK\n"),
        ("twice.sh", "PK=a\nif x; then PK=b; fi\npip install $PK\n"),
        ("twice.bat", "set PK=a\ngoto x\n:y\nset PK=b\n:x\npip install %PK%\n"),
        ("if.sh", 'PK=a\nif gpu; then\n  PK="$PK b"\nfi\npip install $PK\n'),
        ("line.sh", 'PK=a\nif gpu; then PK+=" b"; fi\npip install $PK\n'),
        ("and.sh", 'PK=a\n[ -n "$GPU" ] && PK="$PK b"\npip install $PK\n'),
        ("loop.sh", 'V=1\nfor n in 1 2; do\n  V+=".0"\ndone\npip install a==$V\n'),
        ("first.sh", 'PK=(a)\nPK+=b\npip install "${PK[@]}"\n'),
        ("given.sh", 'PK=a\nPK="${PK:+$PK }b"\npip install $PK\n'),
        ("cut.sh", "V=1.2\npip install a==${V%.*}\n"),
        ("long.sh", "PK=a\n" + 'PK="$PK bbbbbbbbbb"\n' * 2000 + "pip install $PK\n"),
        ("if.bat", "set PK=a\nif defined GPU (\nset PK=%PK% b\n)\npip install %PK%\n"),
        ("if.ps1", '$PK = "a"\nif ($gpu) {\n$PK += " b"\n}\npip install $PK\n'),
        ("plus.ps1", '$PK = "a"\n$PK = $PK + " b"\npip install $PK\n'),
        ("method.ps1", '$PK = "a"\n$PK = $PK.Trim()\npip install $PK\n'),
        ("other.ps1", '$A = "a"\n$PK = $A -replace "a", "b"\npip install $PK\n'),
        ("table.ps1", '$A = @{ b = "1" }\npip install "a==$($A.b)"\n'),
        ("class.ps1", '$PK = [System.IO.Path]::Combine("a", "b")\npip install $PK\n'),
        ("item.ps1", '$A = @("a", "b")\n$PK = $A[0]\npip install $PK\n'),
        ("called.ps1", '$PK = "a b"\npip install $PK.Split(" ")\n'),
        ("first.ps1", '$PK = @("a", "b")\npip install $PK[0]\n'),
        ("run.ps1", "$PK = Get-Content list.txt\npip install $PK\n"),
        ("choice.ps1", '$PK = if ($gpu) { "a" } else { "b" }\npip install $PK\n'),
        ("part.bat", "set V=1.2.3\npip install a==%V:~0,3%\n"),
        ("replaced.bat", "set V=1-2\npip install a==!V:-=.!\n"),
    ],
)
def test_an_install_line_that_is_not_known_leaves_the_rest_incomplete(read_files, name, text):
    project = read_files({name: text}, at=name)
    assert not project.requirements
    (problem,) = project.problems
    assert problem.kind is ReadingProblemKind.UNREAD
    assert project.unread
    why = ("the script does not set it to one plain value", "only running the script tells it")
    assert problem.message.endswith(why[1:] if "(" in problem.text else why[:1]) or " depends on `" in problem.message
    assert not re.match(r"(`[^`]+`) depends on \1", problem.message)


FETCHED = {
    "i.sh": "git clone --depth 1 https://git.example/x/y.git\ncd y\npip install -r requirements.txt\n",
    "without.sh": "git clone git@git.example:x/y.git\npip install -r y/requirements.txt\n",
    "named.sh": "sudo git clone -b main https://git.example/x/y z && cd z && pip install -r requirements.txt\n",
    "zip.sh": "wget https://files.example/y.zip\nunzip y.zip\ncd y-main\npip install -r requirements.txt\n",
    "tar.sh": "curl -sL https://files.example/y | tar xz\npip install -r y/requirements.txt\n",
    "file.sh": "curl -sLO https://files.example/requirements.txt?raw=1\npip install -r requirements.txt\n",
    "given.sh": "pip install -r $LIST\n",
    "i.bat": "git clone https://git.example/x/y.git\ncd y\npip install -r requirements.txt\n",
    "i.ps1": "git clone https://git.example/x/y.git\nSet-Location y\npip install -r requirements.txt\n",
    "Dockerfile": "FROM x\nRUN git clone https://git.example/x/y.git\nWORKDIR y\nRUN pip install -r requirements.txt\n",
    "Dockerfile.from": "FROM x\nCOPY --from=b /src /src\nWORKDIR /src\nRUN pip install -r requirements.txt\n",
    "Dockerfile.built": "FROM x\nCOPY built /app/\nWORKDIR /app\nRUN pip install -r requirements.txt\n",
    "a.ipynb": json.dumps(
        {
            "cells": [
                {
                    "cell_type": "code",
                    "source": [
                        "!git clone https://git.example/x/y.git\n",
                        "%cd y\n",
                        "!pip install -r requirements.txt\n",
                    ],
                }
            ]
        }
    ),
}


@pytest.mark.parametrize("name", FETCHED)
def test_a_file_that_the_script_fetches_is_not_known(read_files, name):
    project = read_files({name: FETCHED[name]}, at=name)
    (problem,) = project.problems
    assert problem.kind is ReadingProblemKind.UNREAD
    assert project.unread
    assert "fetches it; clone or download it, and run `envdoctor check` there" in problem.message or name == "given.sh"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("i.sh", "cd y\npip install -r requirements.txt\n"),
        ("before.sh", "pip install -r requirements.txt\ngit clone https://git.example/x/y\n"),
        ("back.sh", "git clone https://git.example/x/y\ncd y\ncd ..\npip install -r requirements.txt\n"),
        ("popped.sh", "git clone https://git.example/x/y\npushd y\npopd\npip install -r requirements.txt\n"),
        ("other.sh", "wget https://files.example/model.bin\nmkdir z\ncd z\npip install -r requirements.txt\n"),
        ("Dockerfile", "FROM x\nWORKDIR /app\nCOPY requirements.txt .\nRUN pip install -r requirements.txt\n"),
        (
            "Dockerfile.other",
            "FROM x\nCOPY --from=b /out /out\nWORKDIR /app\nCOPY . .\nRUN pip install -r requirements.txt\n",
        ),
    ],
)
def test_a_file_that_nothing_fetches_is_missing(read_files, name, text):
    project = read_files({name: text}, at=name)
    assert [one.kind for one in project.problems] == [ReadingProblemKind.MISSING_FILE]


@pytest.mark.parametrize("copy", ["COPY backend/ .", "COPY backend /app", 'COPY ["backend", "/app/"]'])
def test_a_file_of_a_folder_that_a_dockerfile_copies_is_read(read_files, copy):
    text = f"FROM x\nWORKDIR /app\n{copy}\nRUN pip install -r requirements.txt\n"
    project = read_files({"Dockerfile": text, "backend/requirements.txt": "six\n"}, at="Dockerfile")
    assert (names(project), project.problems) == (["six"], ())


def test_text_that_a_dockerfile_copies_is_data(read_files):
    text = "FROM x\nCOPY <<EOF /a.txt\npip install a\nEOF\nRUN pip install b\n"
    assert names(read_files({"Dockerfile": text}, at="Dockerfile")) == ["b"]


def test_the_folder_of_a_container_is_not_the_one_of_that_name_in_the_checkout(read_files):
    text = "FROM x\nWORKDIR app\nCOPY . .\nRUN pip install -r requirements.txt\n"
    contents = {"Dockerfile": text, "requirements.txt": "six\n", "app/requirements.txt": "idna\n"}
    assert names(read_files(contents, at="Dockerfile")) == ["six"]


@pytest.mark.parametrize(
    ("name", "line", "unread"),
    [
        ("install.sh", 'pip install torch==2.1 "$@"', 0),
        ("install.sh", "pip install torch==2.1 $*", 0),
        ("install.bat", "pip install torch==2.1 %*", 0),
        ("install.ps1", "pip install torch==2.1 @args", 0),
        ("install.sh", 'put() {\n  pip install --quiet "$@"\n}', 1),
    ],
)
def test_a_script_that_runs_as_it_stands_has_no_arguments(read_files, name, line, unread):
    project = read_files({name: line + "\n"})
    assert names(project) == ([] if unread else ["torch==2.1"])
    assert [item.kind for item in project.problems] == [ReadingProblemKind.UNREAD] * unread


ON, MORE = "https://index.example/cu121", "https://index.example/more"
MINE = "https://index.example/mine"


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        ("a.sh", f"export PIP_INDEX_URL={ON}\npip install a\n", [("index-url", ON, 1)]),
        ("a.sh", f"PIP_INDEX_URL={ON} pip install a\npip install b\n", [("index-url", ON, 1)]),
        ("a.sh", f"export PIP_INDEX_URL={ON}\npip install -i {MORE} a\n", [("index-url", MORE, 1)]),
        ("a.sh", f"export PIP_INDEX_URL={ON}\nuv pip install a\n", []),
        ("a.sh", f"PIP_INDEX_URL={ON}\npip install a\n", []),
        (
            "Dockerfile",
            f'FROM x\nENV PIP_EXTRA_INDEX_URL="{ON} {MORE}"\nRUN pip install a\n',
            [("extra-index-url", ON, 1), ("extra-index-url", MORE, 1)],
        ),
        (
            "a.sh",
            f"export PIP_EXTRA_INDEX_URL={ON}\npip install --extra-index-url {MORE} a\n",
            [("extra-index-url", MORE, 1), ("extra-index-url", ON, 1)],
        ),
        ("a.sh", f"export UV_INDEX=torch={ON}\nuv pip install a\n", [("extra-index-url", ON, 1)]),
        ("a.sh", f"export UV_INDEX={ON}\nuv pip install --index {MORE} a\n", [("extra-index-url", MORE, 1)]),
        ("a.bat", f"set PIP_FIND_LINKS={ON}\npip install a\n", [("find-links", ON, 1)]),
        ("a.ps1", f'$env:PIP_INDEX_URL = "{ON}"\npip install a\n', [("index-url", ON, 1)]),
        (
            "a.sh",
            f"export UV_INDEX_URL={MORE} UV_DEFAULT_INDEX={ON}\nuv pip install a\n",
            [("index-url", ON, 1)],
        ),
        (
            "a.sh",
            f"export PIP_INDEX_URL={ON}\npip install a\nexport PIP_INDEX_URL={MORE}\npip install b\n",
            [("index-url", ON, 1), ("index-url", MORE, 2)],
        ),
        ("a.sh", f"pip install a\nexport PIP_INDEX_URL={ON}\npip install b\n", [("index-url", ON, 2)]),
        ("a.sh", f"ON={ON}\nPIP_INDEX_URL=$ON pip install a\n", [("index-url", ON, 1)]),
    ],
)
def test_the_index_of_a_variable_that_a_script_exports_is_the_command_s(read_files, name, text, kept):
    project = read_files({name: text}, at=name)
    assert [(one.kind.value.lstrip("-"), one.url, one.step) for one in project.index_options] == kept
    first = next((url for kind, url, step in kept if kind == "index-url" and step == 1), None)
    assert project.requirements[0].index_url == first


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("ARG TOKEN\nENV PIP_EXTRA_INDEX_URL=https://me:${TOKEN}@index.example/mine\nRUN pip install a\n", [MINE]),
        ("ARG TOKEN\nRUN pip install --extra-index-url https://$TOKEN@index.example/mine a\n", [MINE]),
        ("ENV PIP_EXTRA_INDEX_URL=https://index.example/$CUDA\nRUN pip install a\n", []),
    ],
)
def test_an_index_whose_password_alone_is_not_known_is_there_all_the_same(read_files, text, urls):
    project = read_files({"Dockerfile": f"FROM x\n{text}"}, at="Dockerfile")
    assert [one.url for one in project.index_options] == urls
    assert [one.kind for one in project.problems] == [ReadingProblemKind.MISSING_VARIABLE]


@pytest.mark.parametrize(
    "text",
    [
        "export PIP_INDEX_URL=$(cat index.txt)\npip install a\n",
        "export PIP_UPLOADED_PRIOR_TO=$(date -u -d '3 days ago' '+%Y-%m-%dT%H:%M:%SZ')\npip install a\n",
        "UV_EXCLUDE_NEWER=`date +%F` uv pip install a\n",
    ],
)
def test_an_index_or_a_date_that_a_shell_computes_is_not_known(read_files, text):
    (problem,) = read_files({"a.sh": text}, at="a.sh").problems
    assert problem.kind is ReadingProblemKind.MISSING_VARIABLE


def test_extras_and_bounds_of_one_requirement_are_no_list_of_powershell(read_files):
    text = '$PK = @("a[x,y]", "b>=1,<2")\npip install $PK "c[x,y]>=1, <2"\n'
    assert names(read_files({"a.ps1": text}, at="a.ps1")) == ["a[x,y]", "b<2,>=1", "c[x,y]<2,>=1"]


def test_other_options_of_pip_may_stand_in_variables_too(read_files):
    text = "FROM x\nENV PIP_CONSTRAINT='/app/one.txt two.txt' PIP_PREFER_BINARY=1 PIP_PRE=0 PIP_ONLY_BINARY=:all:\n"
    text += "COPY . /app\nWORKDIR /app\nRUN pip install a\nENV PIP_NO_DEPS=true\nRUN pip install -c three.txt b\n"
    files = {name: f"{name[:-4]}==1\n" for name in ("one.txt", "two.txt", "three.txt")}
    project = read_files({"Dockerfile": text, **files}, at="Dockerfile")
    held = [(one.name, one.step) for one in project.requirements if one.kind is RequirementKind.CONSTRAINT]
    assert held == [("one", 1), ("two", 1), ("three", 2), ("one", 2), ("two", 2)]
    assert {(one.name, one.value) for one in project.options if one.step == 1} == {
        ("prefer-binary", ""),
        ("only-binary", ":all:"),
    }
    assert [command.no_deps for command in project.commands] == [False, True]


def test_constraints_of_a_variable_that_the_script_writes_are_not_known(read_files):
    text = "FROM x\nENV PIP_CONSTRAINT=/app/c.txt\nRUN echo 'numpy<2' > /app/c.txt\nRUN pip install a\n"
    (problem,) = read_files({"Dockerfile": text}, at="Dockerfile").problems
    assert problem.kind is ReadingProblemKind.UNREAD
    assert "line 3 of `Dockerfile` writes it" in problem.message


@pytest.mark.parametrize(
    ("name", "text", "known"),
    [
        ("a.sh", "export PIP_CONSTRAINT=$(pwd)/c.txt\n", True),
        ("a.sh", "export PIP_CONSTRAINT=$PWD/c.txt\n", True),
        ("a.bat", "set PIP_CONSTRAINT=%~dp0c.txt\n", True),
        ("a.sh", "export PIP_CONSTRAINT=$FOLDER/d.txt\n", False),
        ("a.sh", "export PIP_CONSTRAINT=$LIST\n", None),
        ("a.bat", "set PIP_EXTRA_INDEX_URL=https://%TOKEN%@index.example/simple\n", False),
    ],
)
def test_constraints_of_which_a_part_is_not_known_are_found_or_told(read_files, name, text, known):
    project = read_files({name: f"{text}pip install a\n", "c.txt": "held==1\n"}, at=name)
    assert ("held==1" in names(project), len(project.problems)) == (known is True, int(known is False))


def test_an_index_that_a_build_may_name_is_not_there_by_itself(read_files):
    text = "FROM x\nARG INDEX\nENV PIP_INDEX_URL=${INDEX}\nRUN pip install a\n"
    project = read_files({"Dockerfile": text}, at="Dockerfile")
    assert (project.index_options, project.problems) == ((), ())


SET, WRITE = f"export PIP_INDEX_URL={ON}", f"pip config set global.index-url {ON}"
"""Of these a, b and so on are installed; which get the index is told by their names."""


@pytest.mark.parametrize(
    ("name", "text", "reached"),
    [
        ("a.sh", f"if [ -n $CN ]; then\n  {SET}\n  pip install a\nfi\npip install b\n", "a"),
        ("a.sh", f"if [ -n $CN ]; then\n  {SET}\nfi\npip install a\n", ""),
        ("a.sh", f"case $1 in\n  cn) {SET};;\nesac\npip install a\n", ""),
        ("a.sh", f"[ -n $CN ] && {SET}\npip install a\n", ""),
        ("a.sh", f"[ -n $CN ] && {SET} && pip install a\npip install b\n", "a"),
        ("a.sh", f"cd app && {SET}\npip install a\n", "a"),
        ("a.sh", f"mirror() {{\n  {SET}\n}}\npip install a\n", ""),
        ("a.sh", f"({SET}; pip install a)\npip install b\n", "a"),
        ("a.sh", f"{SET}\n(pip install a)\nexport -n PIP_INDEX_URL\npip install b\n", "a"),
        ("a.sh", f"{SET}\nif [ $1 ]; then unset PIP_INDEX_URL; fi\npip install a\n", ""),
        ("a.ps1", f'if ($cn) {{ $env:PIP_INDEX_URL = "{ON}" }}\npip install a\n', ""),
        ("a.ps1", f'if ($cn) {{\n  $env:PIP_INDEX_URL = "{ON}"\n}}\npip install a\n', ""),
        ("Dockerfile", f"FROM x\nRUN {SET} && pip install a\nRUN pip install b\n", "a"),
        ("Dockerfile", f"FROM x\nRUN PIP_INDEX_URL={ON}; pip install a\n", ""),
        ("Dockerfile", f"FROM x\nRUN <<EOF\n{SET}\npip install a\nEOF\nRUN pip install b\n", "a"),
        (
            "Dockerfile",
            f"FROM x AS y\nENV PIP_INDEX_URL={ON}\nRUN pip install a\nFROM x\nCOPY --from=y /v /v\nRUN pip install b\n",
            "a",
        ),
        ("Dockerfile", f"FROM x AS Y\nARG PIP_INDEX_URL={ON}\nFROM y\nRUN pip install a\n", "a"),
        ("Dockerfile", f"ARG PIP_INDEX_URL={ON}\nFROM x\nRUN pip install a\n", ""),
        ("Dockerfile", f"ARG PIP_INDEX_URL={ON}\nFROM x\nARG PIP_INDEX_URL\nRUN pip install a\n", "a"),
        ("a.sh", f"pip install a\n{WRITE}\npip install b\n", "b"),
        ("a.sh", f"python3 -m pip config --user set install.index-url {ON}\npip install a\n", "a"),
        ("a.sh", f"(cd x; {WRITE})\npip install a\nuv pip install b\n", "a"),
        ("a.sh", f"{WRITE}\npip install -i https://index.example/o a\n", "a"),
        ("a.sh", f"if x; then {WRITE}; fi\npip install a\n", ""),
        ("a.sh", "pip config list\npip config set global.timeout 60\npip install a\n", ""),
        ("a.bat", f"venv\\Scripts\\pip.exe config set global.index-url {ON}\npip install a\n", "a"),
        ("Dockerfile", f"FROM x\nRUN {WRITE}\nRUN pip install a\n", "a"),
        ("Dockerfile", f"FROM x AS y\nRUN {WRITE}\nFROM x\nCOPY --from=y /v /v\nRUN pip install a\n", ""),
    ],
)
def test_a_variable_reaches_what_its_shell_starts_and_pip_s_file_what_follows(read_files, name, text, reached):
    project = read_files({name: text}, at=name)
    assert "".join(one.name for one in project.requirements if one.index_url) == reached
    assert project.problems == ()


PACKAGE = "[project]\nname = 'a'\nversion = '1'\ndependencies = ['six']\n[project.optional-dependencies]\n"
PACKAGE += "gpu = ['cupy']\ndoc = ['sphinx']\n"
LOCK = 'lock-version = "1.0"\n[[packages]]\nname = "idna"\nversion = "3.4"\n'


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("uv pip install -r pyproject.toml", ["six"]),
        ("uv pip install --extra gpu -r pyproject.toml torch", ["torch", "six", "cupy"]),
        ("uv pip install -r pyproject.toml --all-extras", ["six", "cupy", "sphinx"]),
        ("uv pip install -r pylock.toml", ["idna"]),
    ],
)
def test_uv_takes_a_project_or_a_lock_for_a_list(read_files, line, asked):
    contents = {"install.sh": f"{line}\n", "pyproject.toml": PACKAGE, "pylock.toml": LOCK}
    project = read_files(contents, at="install.sh")
    assert ([one.name for one in project.requirements], project.problems) == (asked, ())


@pytest.mark.parametrize("tool", ["pip", "uv pip"])
def test_the_group_of_a_command_is_no_package(read_files, tool):
    project = read_files({"install.sh": f"{tool} install six --group dev\n"}, at="install.sh")
    assert names(project) == ["six"]
    assert [one.kind for one in project.problems] == [ReadingProblemKind.UNREAD]


def test_a_command_is_named_as_its_tool_is_called(read_files):
    text = "conda create -n x python=3.10 -y\nuv pip install six\npython -m pip install attrs\nmamba install faiss\n"
    commands = read_files({"a.sh": text}, at="a.sh").commands
    said = ["conda create -n x python=3.10 -y", "uv pip install six", "pip install attrs", "mamba install faiss"]
    assert [command.said for command in commands] == said


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.ps1", ","), ("a.ps1", '$x = " "\n,$x\n& $x'), ("a.sh", 'X=" "\n$X\nsudo $X'), ("a.bat", "set X= \n%X%")],
)
def test_a_command_that_comes_to_nothing_is_passed_over(read_files, name, text):
    assert names(read_files({name: f"{text}\npip install six\n"}, at=name)) == ["six"]


QUOTED = {
    'uv pip install --exclude-newer "$D" six\n': "7 days",
    'uv pip install --exclude-newer="$D" six\n': "7 days",
    "uv pip install --exclude-newer '7 days' six\n": "7 days",
}


@pytest.mark.parametrize("line", QUOTED)
def test_a_value_in_quotes_is_one_word(read_files, line):
    project = read_files({"i.sh": f"D='7 days'\n{line}"}, at="i.sh")
    assert [one.value for one in project.options] == [QUOTED[line]]
    assert (names(project), project.problems) == (["six"], ())


def test_a_list_in_a_folder_with_a_space_is_found(read_files):
    files = {"my lists/all.txt": "six\n", "i.sh": "D='my lists'\npip install -r \"$D/all.txt\"\n"}
    assert names(read_files(files, at="i.sh")) == ["six"]


def test_what_a_list_or_a_loop_stands_for_is_parted_in_quotes_too(read_files):
    text = 'L=(one two)\npip install -U "${L[@]}"\nfor x in "${L[@]}"; do pip install -U "$x"; done\n'
    assert names(read_files({"i.sh": text}, at="i.sh")) == ["one", "two"] * 2


def test_a_variable_that_is_set_where_it_is_used_has_its_default(read_files):
    assert names(read_files({"i.sh": 'pip install "one==${A:=1}" two==${B-2}\n'}, at="i.sh")) == ["one==1", "two==2"]


def test_a_dockerfile_s_command_goes_on_behind_an_empty_line(read_files):
    text = "FROM x\nRUN pip install one \\\n\n  # more\n\n  two\nRUN pip install three\n"
    assert names(read_files({"Dockerfile": text}, at="Dockerfile")) == ["one", "two", "three"]


@pytest.mark.parametrize(
    "first", ["set -o errexit", "set -euo pipefail", "#!/bin/bash -xe", "#!/usr/bin/env -S bash -e", "#! /bin/sh -e"]
)
def test_a_script_that_stops_at_the_first_failure_checks_its_installs(read_files, first):
    (command,) = read_files({"i.sh": f"{first}\npip install six\n"}, at="i.sh").commands
    assert command.checked


@pytest.mark.parametrize(
    "command",
    [
        "uv pip install --build-constraints six.txt -b six.txt --upgrade-package numpy one",
        "uv pip install -P numpy --project . --directory . --config-setting a=b --fork-strategy fewest one",
        "pip install --build-constraint six.txt --resume-retries 3 --all-releases torch one",
        "uv --color never pip install --excludes six.txt one",
        "conda install --solver libmamba -y one",
        "micromamba install -r /opt/m -y one",
    ],
)
def test_the_value_of_an_option_is_no_package(read_files, command):
    project = read_files({"six.txt": "six<1\n", "i.sh": f"{command}\n"}, at="i.sh")
    assert (names(project), project.problems) == (["one"], ())


def test_the_overrides_of_a_command_stand_in_the_place_of_what_is_asked_for(read_files):
    files = {"o.txt": "numpy==1.26\n", "all.txt": "numpy>=2\nsix\n"}
    for text in (
        "uv pip install --overrides o.txt -r all.txt\n",
        "export UV_OVERRIDE=o.txt\nuv pip install -r all.txt\n",
    ):
        project = read_files({**files, "i.sh": text}, at="i.sh")
        assert (names(project), project.unread) == (["numpy==1.26", "six"], ())
    project = read_files({**files, "i.sh": "uv pip install --override gone.txt -r all.txt\n"}, at="i.sh")
    assert project.unread == ("gone.txt",)


@pytest.mark.parametrize(
    "text",
    [
        "uv pip install --prerelease=allow six",
        "uv pip install --prerelease allow six",
        "UV_PRERELEASE=allow uv --quiet pip install six",
        "uv pip install --pre six",
    ],
)
def test_pre_releases_are_taken_where_uv_is_told_to(read_files, text):
    assert [one.name for one in read_files({"i.sh": f"{text}\n"}, at="i.sh").options] == ["pre"]


def test_pre_releases_are_left_where_uv_takes_them_only_where_it_must(read_files):
    for text in ("uv pip install --prerelease if-necessary six\n", "UV_PRERELEASE=allow pip install six\n"):
        assert read_files({"i.sh": text}, at="i.sh").options == ()


def test_what_uv_sync_is_told_counts(read_files):
    text = "FROM x\nCOPY . .\nENV UV_EXCLUDE_NEWER=2026-01-31\nRUN uv sync --index https://index.example/x\n"
    package = "[project]\nname = 'a'\nversion = '1'\ndependencies = ['own']\n"
    project = read_files({"pyproject.toml": package, "Dockerfile": text}, at="Dockerfile")
    assert names(project) == ["own"]
    assert [one.url for one in project.index_options] == ["https://index.example/x"]
    assert [(one.name, one.value) for one in project.options] == [("exclude-newer", "2026-01-31")]


def test_a_list_in_brackets_that_powershell_hands_to_a_command_is_read(read_files):
    text = '& $pip install @(\n  "one",\n  "two>=1,<2"  # why\n)\npip install @("three")\npip install four\n'
    project = read_files({"i.ps1": f"$pip = 'pip'\n{text}"}, at="i.ps1")
    assert (names(project), project.problems) == (["one", "two<2,>=1", "three", "four"], ())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", "V=1\npip install one==$V\nV=2\npip install two==$V\n"),
        ("a.sh", 'put() {\n  local -r what=$1\n  pip install "$what"\n}\nput one==1\nput two==2\n'),
        ("a.sh", 'declare -a L=(one==1 two==2)\npip install "${L[@]}"\n'),
        ("a.sh", 'more() {\n  PK="$PK two==2"\n}\nPK=one==1\nmore\npip install $PK\n'),
        ("a.ps1", "$V = '1'\npip install one==$V\n$V = '2'\npip install two==$V\n"),
    ],
)
def test_of_the_values_of_a_variable_the_last_one_before_its_use_counts(read_files, name, text):
    project = read_files({name: text}, at=name)
    assert (names(project), project.problems) == (["one==1", "two==2"], ())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", 'echo "<< Installing >>"\nX=$((1<<Y))\npip install one\n'),
        ("a.sh", "# cat <<EOF\npip install one\ncat <<EOF\npip install no\nEOF\n"),
        ("a.ps1", '@"\npip install no\n"@ | Set-Content x.txt\npip install one\n'),
        ("a.ps1", "$said = @'\npip install no\n'@.Trim()\npip install one\n"),
        ("a.ps1", "<#\npip install no\n#> pip install one\n"),
    ],
)
def test_a_text_over_several_lines_ends_where_its_shell_ends_it(read_files, name, text):
    assert names(read_files({name: text}, at=name)) == ["one"]


def test_a_list_that_powershell_writes_is_not_the_one_that_lies_here(read_files):
    text = '@"\nsix\n"@ | Set-Content all.txt\npip install -r all.txt\npip install one\n'
    project = read_files({"all.txt": "idna\n", "a.ps1": text}, at="a.ps1")
    assert (names(project), project.unread) == (["one"], ("all.txt",))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", 'for f in a.txt b.txt; do pip install -q -r "$f"; done\n'),
        ("a.sh", "for f in a b; do\n  pip install -r ./$f.txt\ndone\n"),
        ("a.bat", "for %%f in (a b) do pip install -r %%f.txt\n"),
        ("a.ps1", 'foreach ($f in @("a.txt", "b.txt")) { pip install -r $f }\n'),
        ("a.sh", 'for p in one two; do pip install "$p==1" --no-deps; done\n'),
    ],
)
def test_a_command_runs_with_each_value_of_a_loop(read_files, name, text):
    project = read_files({"a.txt": "one==1\n", "b.txt": "two==1\n", name: text}, at=name)
    assert (names(project), project.problems) == (["one==1", "two==1"], ())


def test_a_list_is_found_whose_path_powershell_joins(read_files):
    for path in ('$PSScriptRoot "all.txt"', "-Path $root -ChildPath all.txt"):
        text = f"$list = Join-Path {path}\npip install -r $list\n"
        project = read_files({"all.txt": "one\n", "a.ps1": text}, at="a.ps1")
        assert (names(project), project.problems) == (["one"], ())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", 'for f in */all.txt; do pip install -r "$f"; done\npip install one\n'),
        ("a.bat", "for /d %%d in (nodes\\*) do pip install -r %%d\\all.txt\npip install one\n"),
    ],
)
def test_lists_that_lie_there_when_a_script_runs_are_not_known(read_files, name, text):
    project = read_files({"all.txt": "six\n", "x/all.txt": "idna\n", name: text}, at=name)
    assert (names(project), len(project.unread)) == (["one"], 1)


@pytest.mark.parametrize(
    "line",
    [
        "docker exec c pip install six",
        'docker run x bash -c "pip install six"',
        "wsl pip install six",
        "ssh h pip install six",
    ],
)
def test_what_is_installed_on_another_machine_is_not_what_is_judged(read_files, line):
    assert names(read_files({"a.sh": f"{line}\npip install one\n"}, at="a.sh")) == ["one"]


def test_what_a_shell_computes_is_one_word_with_variables_in_it_too(read_files):
    text = 'X=y\npip install one $(if [ "$X" = y ]; then echo "six<1"; fi) `echo $X idna`\n'
    project = read_files({"i.sh": text}, at="i.sh")
    assert (names(project), len(project.unread)) == (["one"], len(project.problems))


def test_a_command_that_only_shows_what_it_would_do_is_none(read_files):
    text = "pip install --dry-run six==1\nuv pip install six==1 --dry-run\npip install --help\npip install one\n"
    assert names(read_files({"i.sh": text}, at="i.sh")) == ["one"]


QUOTES = {
    "a message": 'echo "Usage:\n  pip install no\n"\npip install one\n',
    "a program": "python -c '\nimport os\n# pip install no\npip install no\n'\npip install one\n",
    "a text for a shell": "bash -c '\nset -e\npip install one\n'\n",
    "a requirement": 'pip install "one" \\\n  --global-option "a\nb"\n',
    "an apostrophe in a comment": "pip install one # don't\n# it isn't\npip install two\n",
    "an escaped one": "echo it\\'s\npip install one\necho it\\'s\n",
    "one that nothing ends": "echo it's\npip install one\n",
    "one in the other": 'echo "it\'s"\npip install one\necho "it\'s"\n',
}


@pytest.mark.parametrize("what", QUOTES)
def test_a_quote_may_end_on_a_later_line(read_files, what):
    project = read_files({"i.sh": QUOTES[what]}, at="i.sh")
    assert names(project) == ["one", "two"][: 1 + ("two" in QUOTES[what])]
    assert project.problems == ()


def test_a_quote_ends_with_its_instruction_in_a_dockerfile(read_files):
    text = "FROM x\nENV A it's\nRUN pip install one\nENV B it's\nRUN pip install two\n"
    assert names(read_files({"Dockerfile": text}, at="Dockerfile")) == ["one", "two"]


def test_what_a_batch_file_goes_through_may_be_parted_by_commas(read_files):
    assert names(read_files({"i.bat": "for %%G in (one,two) do pip install %%G\n"}, at="i.bat")) == ["one", "two"]
