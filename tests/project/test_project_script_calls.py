"""What a script installs by other means than a line of pip's: other scripts, managers, conda's files, setup.py."""

from __future__ import annotations

import pytest
from project_asked import names

from envdoctor.adapters.project import ProjectFileError

CHECKOUT = {
    "pyproject.toml": (
        "[project]\nname = 'a'\nversion = '1'\ndependencies = ['own']\n[project.optional-dependencies]\nx = ['more']\n"
    ),
    "environment.yml": "dependencies:\n- python=3.9\n- pip:\n  - listed\n",
    "deps/all.yml": "dependencies:\n- pip:\n  - inner\n",
    "more/deps.sh": "pip install inner\n",
    "more/deps.bat": "pip install inner\n",
    "more/deps.ps1": "pip install inner\n",
}
CALLS = {
    "a.sh": ("bash more/deps.sh\n", "inner"),
    "b.sh": ("source ./more/deps.sh\n", "inner"),
    "c.sh": ("chmod +x more/*.sh && sudo ./more/deps.sh\n", "inner"),
    "d.sh": ('bash -e "$(dirname "$0")/more/deps.sh"\n', "inner"),
    "e.sh": ("cd more\n. deps.sh\n", "inner"),
    "a.bat": ("@call more\\deps.bat\n", "inner"),
    "b.bat": ('if exist "more\\deps.bat" call "%~dp0more\\deps.bat"\n', "inner"),
    "c.bat": ("powershell -ExecutionPolicy Bypass -File more\\deps.ps1\n", "inner"),
    "a.ps1": ("& .\\more\\deps.ps1\n", "inner"),
    "b.ps1": ('. "$PSScriptRoot\\more\\deps.ps1"\n', "inner"),
    "Dockerfile": ("FROM x\nCOPY more /tmp/\nRUN sh /tmp/deps.sh\n", "inner"),
    "f.sh": ("conda env create\n", "listed"),
    "g.sh": ("mamba env update -n base -f deps/all.yml\n", "inner"),
    "h.sh": ("micromamba install -y -n base -f deps/all.yml\n", "inner"),
    "i.sh": ("conda env create --file=deps/all.yml\n", "inner"),
    "j.sh": ("uv sync --frozen\n", "own"),
    "k.sh": ("python -m poetry install --no-root\n", "own"),
    "l.sh": ("python3 setup.py develop --user\n", "own"),
    "m.sh": ("pdm sync\n", "own"),
    "Dockerfile.uv": ("FROM x\nCOPY pyproject.toml uv.lock ./\nRUN uv sync --locked\n", "own"),
    "n.sh": ("uv pip sync requirements/all.txt\n", "pinned"),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_a_script_installs_by_another_is_read(read_files, name):
    text, expected = CALLS[name]
    project = read_files({**CHECKOUT, "requirements/all.txt": "pinned\n", name: text}, at=name)
    assert (names(project), project.unread) == ([expected], ())


def test_the_extras_that_a_manager_is_asked_for_are_read(read_files):
    for text in ("uv sync --extra x\n", 'poetry install --extras "x"\n', "poetry install -E x\n"):
        assert names(read_files({**CHECKOUT, "i.sh": text}, at="i.sh")) == ["own", "more"]


@pytest.mark.parametrize(
    "line", ["poetry add torch", "uv add torch", "pipenv install", "pixi install", "easy_install torch", "pip-sync"]
)
def test_what_is_installed_by_means_that_are_not_read_is_not_known(read_files, line):
    project = read_files({**CHECKOUT, "i.sh": f"pip install six\n{line}\n"}, at="i.sh")
    assert names(project) == ["six"]
    assert project.unread == (line,)


def test_a_manager_without_its_file_is_not_known(read_files):
    for line in ("poetry install", "conda env create -f gone.yml"):
        assert read_files({"i.sh": f"{line}\n"}, at="i.sh").unread == (line,)


def test_a_file_of_conda_s_that_is_none_is_not_known(read_files):
    files = {"environment.yml": "other: 1\n", "i.sh": "pip install six\nconda env create\n"}
    assert read_files(files, at="i.sh").unread == ("environment.yml",)


@pytest.mark.parametrize(
    "line",
    [
        "echo poetry install",
        "python setup.py build_ext --inplace",
        "uv venv",
        "conda env list",
        "poetry run app",
        "sh x",
    ],
)
def test_what_installs_nothing_is_no_install(read_files, line):
    with pytest.raises(ProjectFileError, match="was found in this script"):
        read_files({**CHECKOUT, "i.sh": f"{line}\n"}, at="i.sh")


def test_scripts_that_run_each_other_are_read_once(read_files):
    loop = {"a.sh": "pip install one\nbash b.sh\nbash b.sh\n", "b.sh": "pip install two\nbash a.sh\nbash b.sh\n"}
    assert names(read_files(loop, at="a.sh")) == ["one", "two"]


def test_of_branches_the_script_of_the_one_that_counts_is_read(read_files):
    text = 'if [ "$1" = rocm ]; then bash rocm.sh; else bash cuda.sh; fi\n'
    files = {"i.sh": text, "rocm.sh": "pip install amd\n", "cuda.sh": "pip install nvidia\n"}
    project = read_files(files, at="i.sh", target_backend="cuda")
    assert names(project) == ["nvidia"]
    assert [one.detail for one in project.left_out] == ["then bash rocm.sh"]


def test_a_script_goes_on_where_one_in_its_own_shell_has_led_and_a_child_leads_nowhere(read_files):
    files = {"sub/requirements.txt": "inner\n", "requirements.txt": "main\n", "go.sh": "cd sub\npip install six\n"}
    for line, expected in (("source go.sh", "inner"), ("bash go.sh", "main")):
        project = read_files({**files, "i.sh": f"{line}\npip install -r requirements.txt\n"}, at="i.sh")
        assert names(project) == ["six", expected]


def test_variables_of_pip_reach_the_scripts_that_are_run(read_files):
    files = {"a.sh": "export PIP_EXTRA_INDEX_URL=https://index.example/x\nbash b.sh\n", "b.sh": "pip install six\n"}
    assert [one.url for one in read_files(files, at="a.sh").index_options] == ["https://index.example/x"]


def test_a_script_that_a_dockerfile_runs_belongs_to_the_stage_of_its_line(read_files):
    text = "FROM python:3.9 AS a\nCOPY i.sh .\n" + "#\n" * 9 + "FROM python:3.11\nCOPY i.sh .\nRUN bash i.sh\n"
    assert str(read_files({"Dockerfile": text, "i.sh": "pip install six\n"}, at="Dockerfile").environment_python) == (
        "==3.11.*"
    )


def test_conda_s_others_are_told_by_their_names(read_files):
    text = "mamba install -y one\nconda install two\nmicromamba create -n x three\nuv pip install four\n"
    said = [one.said for one in read_files({"i.sh": text}, at="i.sh").commands]
    assert said == ["mamba install -y one", "conda install two", "micromamba create -n x three", "uv pip install four"]


def test_a_step_of_another_manager_is_told_by_its_name(read_files):
    project = read_files({**CHECKOUT, "i.sh": "uv sync --frozen\npython setup.py install\n"}, at="i.sh")
    assert [one.said for one in project.commands] == ["uv sync --frozen", "python setup.py install"]


HANDED = {
    "a.sh": 'eval "pip install one"\n',
    "b.sh": "X='pip install one'\neval $X\n",
    "c.sh": "eval cd more\npip install -r list.txt\n",
    "d.sh": "sudo -E bash -s <<'EOF'\npip install one\nEOF\n",
    "e.sh": "f() {\n  bash <<EOF\npip install one\nEOF\n}\nf\n",
    "a.bat": 'start /wait cmd /c "pip install one"\n',
    "b.bat": 'powershell -NoProfile -Command "pip install one"\n',
    "a.ps1": 'Invoke-Expression "pip install one"\n',
    "b.ps1": 'Start-Process pip -ArgumentList "install","one" -Wait\n',
    "c.ps1": 'Start-Process -Wait -FilePath "python" -ArgumentList "-m pip install one" -NoNewWindow\n',
    "d.ps1": 'if ($x) { Start-Process python -ArgumentList @("-m", "pip", "install", "one") }\n',
    "e.ps1": 'cmd /c "pip install one"\n',
}


@pytest.mark.parametrize("name", HANDED)
def test_a_text_that_a_shell_is_handed_is_read(read_files, name):
    project = read_files({"more/list.txt": "one\n", name: HANDED[name]}, at=name)
    assert (names(project), project.problems, project.index_options) == (["one"], (), ())


def test_a_text_for_no_shell_is_data(read_files):
    text = "cat <<EOF\npip install one\nEOF\nssh host bash <<EOF\npip install two\nEOF\npip install six\n"
    assert names(read_files({"i.sh": text}, at="i.sh")) == ["six"]


IMAGE = """FROM x AS b
COPY list.txt .
RUN pip wheel --wheel-dir /usr/src/wheels -r list.txt
FROM y
COPY list.txt .
COPY --from=b /usr/src/wheels /wheels
RUN pip install {what}
"""
WHEELS = {
    "Dockerfile": (IMAGE.format(what="--no-cache /wheels/*"), "inner"),
    "Dockerfile.links": (IMAGE.format(what="--no-index --find-links=/wheels -r list.txt"), "inner"),
    "a.sh": ("pip wheel . --no-deps -w out\npip install out/*.whl\n", "own"),
    "b.sh": ("python -m build --wheel\npip install dist/*.whl\n", "own"),
    "c.sh": ("python setup.py bdist_wheel\npip install --upgrade dist/a-*.whl\n", "own"),
    "a.bat": ("pip wheel -w wheels inner\npip install wheels\\*.whl\n", "inner"),
}


@pytest.mark.parametrize("name", WHEELS)
def test_wheels_that_a_script_makes_ask_for_what_they_were_made_of(read_files, name):
    text, expected = WHEELS[name]
    project = read_files({**CHECKOUT, "list.txt": "inner\n", name: text}, at=name)
    assert (names(project), project.unread, project.index_options) == ([expected], (), ())
    assert [one.verb for one in project.commands] == ["install"]


def test_the_index_of_wheels_counts_and_other_folders_of_files_do_too(read_files):
    text = "pip wheel -w w -i https://index.example/x six\npip install w/*.whl\npip install --no-index -f other idna\n"
    kinds = [(one.kind.name, one.url) for one in read_files({"i.sh": text}, at="i.sh").index_options]
    assert kinds == [("INDEX_URL", "https://index.example/x"), ("FIND_LINKS", "other"), ("NO_INDEX", "")]


def test_wheels_that_nobody_makes_here_are_not_known(read_files):
    text = "pip wheel -w here six\npip install there/*.whl\n"
    assert read_files({"i.sh": text}, at="i.sh").unread == ("there/*.whl",)


def test_all_extras_that_a_manager_is_asked_for_are_read(read_files):
    for text in ("uv sync --all-extras\n", "uv pip install -r pyproject.toml --all-extras\n"):
        assert names(read_files({**CHECKOUT, "i.sh": text}, at="i.sh")) == ["own", "more"]
    poetry = "[tool.poetry]\nname = 'a'\n[tool.poetry.dependencies]\nown = '*'\n"
    poetry += "more = {version = '*', optional = true}\n[tool.poetry.extras]\nx = ['more']\n"
    files = {"pyproject.toml": poetry, "i.sh": "poetry install --all-extras\n"}
    assert sorted(one.name for one in read_files(files, at="i.sh").requirements) == ["more", "own"]


@pytest.mark.parametrize("line", ["uv sync --project sub", "poetry -C sub install", "uv --directory=sub sync"])
def test_the_project_of_another_folder_is_read_where_a_manager_is_told_to(read_files, line):
    other = "[project]\nname = 'b'\nversion = '1'\ndependencies = ['inner']\n"
    project = read_files({**CHECKOUT, "sub/pyproject.toml": other, "i.sh": f"{line}\n"}, at="i.sh")
    assert (names(project), project.unread) == (["inner"], ())


def test_a_group_that_a_manager_is_asked_for_is_not_known(read_files):
    for line in ("uv sync --group test", "poetry install --with test", "poetry install --only main,test"):
        project = read_files({**CHECKOUT, "i.sh": f"{line}\n"}, at="i.sh")
        assert (names(project), project.unread) == (["own"], ("test",))


def test_scripts_that_are_run_too_deep_or_too_often_are_said_not_to_be_read(read_files):
    deep = {f"a{at}.sh": f"bash a{at + 1}.sh\n" for at in range(9)} | {"a9.sh": "pip install inner\n"}
    project = read_files({**deep, "a.sh": "pip install own\nbash a0.sh\n"}, at="a.sh")
    assert names(project) == ["own"]
    (problem,) = project.problems
    assert "`a5.sh` is not read" in problem.message
    wide = {f"b{at}.sh": f"pip install p{at}\n" for at in range(150)}
    project = read_files({**wide, "a.sh": "".join(f"bash {name}\n" for name in wide)}, at="a.sh")
    assert len(project.requirements) == 100
    assert "`b100.sh` is not read" in project.problems[0].message
