"""Where a script is while it runs, and what it brings there itself."""

from __future__ import annotations

import json

import pytest
from project_asked import names

from envdoctor.model.project import ReadingProblemKind

PACKAGE = "[project]\nname = 'a'\nversion = '1'\ndependencies = ['own']\n"
CHECKOUT = {"pyproject.toml": PACKAGE, "requirements.txt": "main\n", "sub/requirements.txt": "inner\n"}
PLACES = {
    "popd.sh": "pushd sub\ncd ..\npopd\npip install -r requirements.txt\n",
    "back.sh": "cd sub\ncd -\npip install -r requirements.txt\n",
    "shell.sh": "(cd sub && make)\npip install -r requirements.txt\n",
    "shells.sh": "(cd sub; (cd ..; pip install -r requirements.txt); make)\n",
    "function.sh": "all() {\n  cd sub\n}\npip install -r requirements.txt\n",
    "own.sh": 'cd sub\ncd "$(dirname "$0")"\npip install -r requirements.txt\n',
    "copied.sh": "cp requirements.txt /tmp/all.txt\npip install -r /tmp/all.txt\n",
    "back_again.sh": "cd -P sub\ncd -- -\npip install -r requirements.txt\n",
    "popd.bat": "pushd %~dp0sub\npopd\npip install -r requirements.txt\n",
    "copied.bat": "copy sub\\..\\requirements.txt all.txt\npip install -r all.txt\n",
    "pop.ps1": "Push-Location sub\nPop-Location\npip install -r requirements.txt\n",
    "Dockerfile": "FROM x\nRUN cd sub && make\nRUN pip install -r requirements.txt\n",
    "Dockerfile.named": "FROM x\nCOPY requirements.txt /tmp/sub.txt\nRUN pip install -r /tmp/sub.txt\n",
    "Dockerfile.stages": (
        "FROM x AS b\nCOPY . /b\nFROM x\nCOPY --from=b /b/requirements.txt /\nRUN pip install -r /requirements.txt\n"
    ),
    "Dockerfile.glob": "FROM x\nWORKDIR /z\nCOPY require*.txt ./\nRUN pip install -r requirements.txt\n",
}
INNER = {
    "Dockerfile": "FROM x\nCOPY . /app\nWORKDIR /app/sub\nRUN pip install -r requirements.txt\n",
    "Dockerfile.cd": "FROM x\nCOPY . /app\nRUN cd /app/sub && pip install -r requirements.txt\n",
    "Dockerfile.path": "FROM x\nCOPY . /app\nRUN pip install -r /app/sub/requirements.txt\n",
    "Dockerfile.renamed": "FROM x\nCOPY sub/requirements.txt requirements.txt\nRUN pip install -r requirements.txt\n",
    "Dockerfile.last": "FROM x\nCOPY . /a\nCOPY sub /a\nRUN pip install -r /a/requirements.txt\n",
    "Dockerfile.mount": (
        "FROM x\nRUN --mount=type=bind,source=sub/requirements.txt,target=/tmp/all.txt pip install -r /tmp/all.txt\n"
    ),
    "Dockerfile.mounts": (
        "FROM x\nWORKDIR /app\nRUN --mount=type=cache,target=/root/.cache \\\n"
        "    # the list\n    --mount=type=bind,src=sub/requirements.txt,dst=all.txt \\\n    pip install -r all.txt\n"
    ),
    "Dockerfile.whole": "FROM x\nRUN --mount=target=/src cd /src/sub && pip install -r requirements.txt\n",
    "flags.sh": "cd -P -- sub\npip install -r requirements.txt\n",
    "path.ps1": "Set-Location -LiteralPath sub\npip install -r requirements.txt\n",
    "i.sh": "cp -r sub all\ncd all\npip install -r requirements.txt\n",
}


@pytest.mark.parametrize("name", PLACES)
def test_a_file_is_the_one_where_the_script_is(read_files, name):
    project = read_files({**CHECKOUT, name: PLACES[name]}, at=name)
    assert (names(project), project.unread) == (["main"], ())


@pytest.mark.parametrize("name", INNER)
def test_a_file_in_a_folder_is_not_the_one_of_that_name_above(read_files, name):
    project = read_files({**CHECKOUT, name: INNER[name]}, at=name)
    assert (names(project), project.unread) == (["inner"], ())


def test_a_dockerfile_in_a_folder_of_its_own_is_built_from_the_checkout_s(read_files):
    text = "FROM x\nWORKDIR /app\nCOPY requirements.txt .\nRUN pip install -r requirements.txt\n"
    text += "COPY . .\nRUN pip install .\n"
    project = read_files({**CHECKOUT, ".git/HEAD": "", "docker/Dockerfile": text}, at="docker/Dockerfile")
    assert (names(project), project.problems) == (["main", "own"], ())


CLONE = "git clone https://git.example/x/y.git\n"
NOT_OURS = {
    "editable.sh": CLONE + "pip install -e y\n",
    "inside.sh": CLONE + "cd y\npip install -e .\n",
    "list.sh": CLONE + "cd y && pip install -r requirements.txt\n",
    "path.sh": CLONE + "pip install -r y/requirements.txt\n",
    "archive.sh": "wget https://files.example/a-1.0.tar.gz\npip install a-1.0.tar.gz\n",
    "renamed.sh": "wget -O a-1.0-py3-none-any.whl https://files.example/get\npip install a-1.0-py3-none-any.whl\n",
    "asked.sh": (
        "wget -O a-1.0-py3-none-any.whl https://files.example/get?file=a-1.0-py3-none-any.whl\n"
        "pip install ./a-1.0-py3-none-any.whl\n"
    ),
    "Dockerfile.text": "FROM x\nCOPY <<EOF /requirements.txt\nsix\nEOF\nRUN pip install -r /requirements.txt\n",
    "Dockerfile.stage": ("FROM x\nRUN --mount=from=b,source=/out,target=/in pip install -r /in/requirements.txt\n"),
    "written.sh": "grep -v torch requirements.txt > all.txt\npip install -r all.txt\n",
    "close.sh": "grep -v torch requirements.txt >/tmp/requirements.txt\npip install -r /tmp/requirements.txt\n",
    "named.sh": "R=/tmp/all.txt\necho six >> $R\npip install -r $R\n",
    "tee.sh": "echo six | tee all.txt\npip install -r all.txt\n",
    "made.sh": "uv pip compile requirements.in -o all.txt\npip install -r all.txt\n",
    "exported.sh": "poetry export --output=all.txt\npip install -r all.txt\n",
    "glob.sh": "make wheels\npip install dist/*.whl\n",
    "unknown.sh": "cd other\npip install .\n",
    "zip.sh": "unzip y.zip\ncd y-main\npip install -r requirements.txt\n",
    "update.sh": "git submodule update --init\npip install -r third/y/requirements.txt\n",
    "written.ps1": "Get-Content requirements.txt | Out-File all.txt\npip install -r all.txt\n",
    "Dockerfile": "FROM x\nRUN poetry export > /all.txt && pip install -r /all.txt\n",
    "Dockerfile.long": f"FROM x\nCOPY {'a' * 300} /a\nRUN pip install -r /a/requirements.txt\n",
}


@pytest.mark.parametrize("name", NOT_OURS)
def test_what_a_script_brings_is_neither_missing_nor_the_checkout_s(read_files, name):
    project = read_files({**CHECKOUT, name: NOT_OURS[name]}, at=name)
    (problem,) = project.problems
    assert (problem.kind, project.requirements) == (ReadingProblemKind.UNREAD, ())


@pytest.mark.parametrize("name", ["torch-2.1.0%2Bcu118-cp311-cp311-linux_x86_64.whl", "a-1.0-py3-none-any.whl"])
def test_a_wheel_that_a_script_downloads_is_the_one_at_that_url(read_files, name):
    url = f"https://files.example/{name}"
    text = f"wget -q {url}\npip install ./{name.replace('%2B', '+')}\n"
    project = read_files({"install.sh": text}, at="install.sh")
    assert ([one.url for one in project.requirements], project.problems) == ([url], ())


@pytest.mark.parametrize("text", ["cd {0}\n", "git clone https://git.example/x/{0}.git\ncd {0}\n"])
def test_a_script_that_goes_into_the_checkout_itself_stays_there(read_files, tmp_path, text):
    contents = {**CHECKOUT, "install.sh": text.format(tmp_path.name) + "pip install -e . -r sub/requirements.txt\n"}
    assert sorted(names(read_files(contents, at="install.sh"))) == ["inner", "own"]


def test_a_script_that_clones_what_its_checkout_was_cloned_from_means_it(read_files):
    config = '[remote "origin"]\n\turl = git@git.example:x/Thing.git\n'
    text = "git clone https://git.example/x/thing code\ncd code\npip install -r sub/requirements.txt\n"
    project = read_files({**CHECKOUT, ".git/config": config, "install.sh": text}, at="install.sh")
    assert (names(project), project.problems) == (["inner"], ())


def test_redirections_one_behind_another_are_read(read_files):
    project = read_files({"install.sh": "echo " + "a>" * 5000 + "b\npip install six\n"}, at="install.sh")
    assert (names(project), project.problems) == (["six"], ())


@pytest.mark.parametrize(
    ("cells", "asked"),
    [
        (["!cd sub\n", "!pip install -r requirements.txt\n"], ["main"]),
        (["!cd sub && make\n!pip install -r requirements.txt\n"], ["main"]),
        (
            ["%%bash\ncd sub\npip install -r requirements.txt\n", "%pip install -r requirements.txt\n"],
            ["inner", "main"],
        ),
        (["%cd sub\n", "!pip install -r requirements.txt\n"], ["inner"]),
        (["%cd sub\n%cd ..\n!pip install -r requirements.txt\n"], ["main"]),
        (["import os\nos.chdir('sub')  # there\n!pip install -r requirements.txt\n"], ["inner"]),
    ],
)
def test_each_command_of_a_notebook_has_a_shell_of_its_own(read_files, cells, asked):
    text = json.dumps({"cells": [{"cell_type": "code", "source": cell.splitlines(True)} for cell in cells]}, indent=1)
    project = read_files({**CHECKOUT, "a.ipynb": text}, at="a.ipynb")
    assert (names(project), project.problems) == (asked, ())


@pytest.mark.parametrize(
    "text",
    [
        "pip install -r requirements.txt -e .\n",
        'cd "$(dirname "$0")/.."\npip install -r requirements.txt .\n',
        'cd "$(git rev-parse --show-toplevel)" && pip install -r requirements.txt .\n',
        'cd "$(dirname "$0")"\npip install -r ../requirements.txt ..\n',
        'pip install -r "$ROOT/requirements.txt" .\n',
    ],
)
def test_a_script_in_a_folder_of_its_own_is_run_from_the_checkout(read_files, text):
    contents = {**CHECKOUT, ".git/HEAD": "", "scripts/install.sh": text}
    project = read_files(contents, at="scripts/install.sh")
    assert (sorted(names(project)), project.problems) == (["main", "own"], ())


def test_a_file_that_neither_the_script_s_folder_nor_the_checkout_has_is_missing(read_files):
    contents = {**CHECKOUT, ".git/HEAD": "", "scripts/install.sh": "pip install -r all/requirements.txt\n"}
    (problem,) = read_files(contents, at="scripts/install.sh").problems
    assert problem.kind is ReadingProblemKind.MISSING_FILE


CHANGED = {
    "a.sh": "sed -i '/torch/d' requirements.txt\npip install -r requirements.txt\n",
    "b.sh": "echo 'numpy<2' >> requirements.txt\npip install -r requirements.txt\n",
    "c.sh": "grep -v torch requirements.txt > new && mv new requirements.txt\npip install -r requirements.txt\n",
    "d.sh": "cat > requirements.txt <<EOF\ntorch\nEOF\npip install -r requirements.txt\n",
    "e.sh": "sed -i.bak s/a/b/ requirements.txt\ncp requirements.txt all.txt\npip install -r all.txt\n",
    "f.sh": "cd sub\necho six | tee -a ../requirements.txt\ncd ..\npip install -r requirements.txt\n",
    "g.sh": "sed -i s/own/other/ pyproject.toml\npip install .\n",
    "a.bat": "echo numpy^<2>> requirements.txt\npip install -r requirements.txt\n",
    "a.ps1": "Add-Content requirements.txt 'numpy<2'\npip install -r requirements.txt\n",
    "Dockerfile": "FROM x\nCOPY . .\nRUN sed -i /torch/d requirements.txt && pip install -r requirements.txt\n",
    "Dockerfile.named": "FROM x\nWORKDIR $A\nRUN sed -i s/a/b/ requirements.txt\nRUN pip install -r requirements.txt\n",
}
UNCHANGED = {
    "a.sh": "pip install -r requirements.txt\nsed -i '/torch/d' requirements.txt\npip freeze > requirements.txt\n",
    "b.sh": "sed -i 's/\\r$//' requirements.txt\npip install -r requirements.txt\n",
    "c.sh": "sed -i s/a/b/ sub/requirements.txt\npip install -r requirements.txt\n",
    "d.sh": "sed '/torch/d' requirements.txt\npip install -r requirements.txt > requirements.log\n",
    "later.sh": "bash own.sh\npip install -r requirements.txt\nsed -i '/torch/d' requirements.txt\n",
    "e.sh": "echo six >> all.txt\ncp requirements.txt all.txt\npip install -r all.txt\n",
    "Dockerfile": "FROM x\nRUN sed -i s/a/b/ /etc/apt/sources.list\nCOPY . .\nRUN pip install -r requirements.txt\n",
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_file_that_the_script_changes_is_not_the_one_that_lies_here(read_files, name):
    project = read_files({**CHECKOUT, name: CHANGED[name]}, at=name)
    assert names(project) == []
    assert [one.kind for one in project.problems] == [ReadingProblemKind.UNREAD]


@pytest.mark.parametrize("name", UNCHANGED)
def test_a_file_is_read_that_the_script_changes_later_or_not_at_all(read_files, name):
    project = read_files({**CHECKOUT, "own.sh": "echo\n", name: UNCHANGED[name]}, at=name)
    assert (names(project), project.unread) == (["main"], ())


def test_a_changed_file_is_told_with_the_line_that_changes_it(read_files):
    (problem,) = read_files({**CHECKOUT, "a.sh": CHANGED["a.sh"]}, at="a.sh").problems
    assert problem.message == "`requirements.txt` is not what lies here: line 1 of `a.sh` changes it"


def test_a_list_of_another_stage_is_not_the_one_of_that_name_in_the_checkout(read_files):
    text = "FROM x AS b\nRUN git clone https://git.example/a/b /b\nFROM y\nCOPY --from=b /b/requirements.txt .\n"
    project = read_files({**CHECKOUT, "Dockerfile": text + "RUN pip install -r requirements.txt\n"}, at="Dockerfile")
    assert (names(project), project.unread) == ([], ("requirements.txt",))


@pytest.mark.parametrize(
    "text",
    [
        "COPY . /app\nRUN pip install /app\n",
        'COPY sub /srv/sub\nRUN pip install -e "/srv/sub"\n',
        "COPY . /app\nRUN uv sync --project /app\n",
        "COPY . /app\nWORKDIR /x\nRUN poetry -C /app install\n",
    ],
)
def test_a_project_is_read_where_a_dockerfile_has_copied_it(read_files, text):
    metadata = "[project]\nname = 'a'\nversion = '1'\ndependencies = ['own']\n"
    files = {"pyproject.toml": metadata, "sub/pyproject.toml": metadata, "Dockerfile": f"FROM x\n{text}"}
    project = read_files(files, at="Dockerfile")
    assert (names(project), project.problems) == (["own"], ())


def test_a_project_whose_metadata_alone_a_dockerfile_in_a_folder_copies_is_read(read_files):
    metadata = "[project]\nname = 'a'\nversion = '1'\ndependencies = ['own']\n"
    mount = "--mount=type=bind,source=pyproject.toml,target=pyproject.toml"
    for line in ("COPY pyproject.toml uv.lock ./\nRUN uv sync\n", f"RUN {mount} uv sync\n"):
        files = {".git/HEAD": "", "pyproject.toml": metadata, "docker/Dockerfile": f"FROM x\nWORKDIR /opt/a\n{line}"}
        project = read_files(files, at="docker/Dockerfile")
        assert (names(project), project.problems) == (["own"], ())


def test_a_project_comes_through_another_stage_and_from_nowhere_else(read_files):
    metadata = "[project]\nname = 'a'\nversion = '1'\ndependencies = ['own']\n"
    text = "FROM scratch AS s\nADD . /tmp/a\nFROM x\nCOPY --from=s /tmp/a/ /tmp/a\nRUN pip install /tmp/a /opt/b\n"
    project = read_files({"pyproject.toml": metadata, "Dockerfile": text}, at="Dockerfile")
    assert (names(project), project.unread) == (["own"], ("/opt/b",))


def test_what_lies_in_a_script_s_own_folder_is_not_in_what_it_clones(read_files):
    text = 'git clone https://git.example/b "$D"\n. "$SCRIPT_DIR/more/x.sh"\npip install -r ${SCRIPT_PATH}/all.txt\n'
    project = read_files({"more/x.sh": "pip install one\n", "all.txt": "two\n", "a.sh": text}, at="a.sh")
    assert (names(project), project.problems) == (["one", "two"], ())
