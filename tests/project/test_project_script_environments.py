"""Scripts that install into several environments: one of them is judged, and of the others nothing is known."""

from __future__ import annotations

import pytest
from project_asked import names

APART = {
    "paths.sh": "python -m venv a\na/bin/pip install one\npython -m venv b\nb/bin/pip install two\n",
    "active.sh": "source a/bin/activate\npip install one\ndeactivate\n. b/bin/activate\npip install two\n",
    "conda.sh": "conda create -y -n a\nconda activate a\npip install one\nconda activate b\npip install two\n",
    "run.sh": "conda run -n a pip install one\nconda run -n b pip install two\n",
    "options.sh": "mamba install -n a one\nuv pip install --python ./b/bin/python two\n",
    "folders.sh": "cd x\n.venv/bin/pip install one\ncd ../y\n.venv/bin/pip install two\n",
    "i.bat": 'call "%~dp0a\\Scripts\\activate"\npip install one\ncall b\\Scripts\\activate.bat\npip install two\n',
    "i.ps1": "& .\\a\\Scripts\\Activate.ps1\npip install one\n.\\b\\Scripts\\pip.exe install two\n",
}
TOGETHER = {
    "one.sh": 'python -m venv a\n. a/bin/activate\npip install one\n"$PWD/a/bin/python" -m pip install two\n',
    "folder.sh": "a/bin/pip install one\ncd x\n../a/bin/pip install two\n",
    "conda.sh": "conda create -n a\nconda activate a\npip install one\n/opt/conda/envs/a/bin/pip install two\n",
    "prefix.sh": "conda create -p ./a\nconda activate ./a\npip install one\ncd x\n../a/bin/pip install two\n",
    "own.bat": 'call a\\Scripts\\activate\npip install one\ncd x\n"%~dp0a\\Scripts\\python.exe" -m pip install two\n',
    "own.ps1": "& .\\a\\Scripts\\Activate.ps1\npip install one\ncd x\n& $PSScriptRoot\\a\\Scripts\\pip install two\n",
    "machine.sh": "pip install one\n/usr/bin/python3 -m pip install two\n",
    "before.sh": "pip install one\n. a/bin/activate\npip install two\n",
    "unknown.sh": "$A/bin/pip install one\n$B/bin/pip install two\n",
    "base.sh": "conda activate base\npip install one\nconda activate a\npip install two\n",
    "branch.sh": (
        "if x; then . a/bin/activate; pip install one\nelse . b/bin/activate; pip install no; fi\npip install two\n"
    ),
}


@pytest.mark.parametrize("name", APART)
def test_what_goes_into_another_environment_is_not_added_up(read_files, name):
    project = read_files({"x/f": "", "y/f": "", name: APART[name]}, at=name)
    assert names(project) == ["one"]
    assert len(project.unread) == 1
    assert "another environment, `" in project.problems[0].message


@pytest.mark.parametrize("name", TOGETHER)
def test_what_may_go_into_the_same_environment_is_added_up(read_files, name):
    project = read_files({"x/f": "", name: TOGETHER[name]}, at=name)
    assert (names(project), project.unread) == (["one", "two"], ())


def test_the_conda_of_an_installer_for_windows_is_conda(read_files):
    text = 'call "%ROOT%\\_conda.exe" create --no-shortcuts -y -k --prefix "%ENV%" python=3.10 || goto end\n'
    text += 'call "%ROOT%\\condabin\\conda.bat" activate "%ENV%"\npip install one\n'
    text += 'call "%ROOT%\\condabin\\conda.bat" install -y numpy==1.26\n:end\n'
    project = read_files({"i.bat": text}, at="i.bat")
    assert (names(project), project.unread) == (["one", "numpy==1.26"], ())
    assert str(project.environment_python) == "==3.10.*"


NAMED = {
    "a.sh": "python3.10 -m venv venv\n. venv/bin/activate\npip install one\n",
    "b.sh": "uv venv .venv --python 3.10\nuv pip install one\n",
    "c.sh": "uv venv --python=3.10.6 .venv\nuv pip install one\n",
    "i.sh": "uv python install 3.10\nuv venv\nuv pip install one\n",
    "j.sh": "export UV_PYTHON=3.10\nuv venv\nuv pip install one\n",
    "k.sh": "uv pip install --python 3.10 one\n",
    "Dockerfile.env": "FROM x\nENV A=b \\\n  UV_PYTHON=3.10\nRUN uv venv && uv pip install one\n",
    "d.sh": "virtualenv -p /usr/bin/python3.10 venv\nvenv/bin/pip install one\n",
    "e.sh": "sudo pip3.10 install one\n",
    "f.sh": "curl -L https://index.example/cpython-3.10.13+20240107.tar.gz | tar xz\npython/bin/pip install one\n",
    "g.sh": "python3.11 -m venv x\nconda create -y -n a python=3.10\nconda activate a\npip install one\n",
    "a.bat": "py -3.10 -m venv venv || python -m venv venv\npip install one\n",
    "b.bat": "set V=3.10.1\ncurl -O https://x.example/python-%V%-embed-amd64.zip\np\\python.exe -m pip install one\n",
    "h.sh": "pip install one\npip install https://x.example/two-1-cp310-cp310-linux_x86_64.whl --no-deps\n",
    "Dockerfile": "FROM x\nRUN apt-get install -y python3.10\nRUN python3.10 -m pip install one\n",
}


@pytest.mark.parametrize("name", NAMED)
def test_the_python_that_a_script_names_is_the_one_that_is_judged(read_files, name):
    project = read_files({name: NAMED[name]}, at=name)
    assert (names(project)[:1], str(project.environment_python)) == (["one"], "==3.10.*")


@pytest.mark.parametrize(
    "line",
    [
        'echo "python3.10 -m venv venv"',
        "python3 -m venv venv",
        "python3.10 setup.py build_ext",
        "apt-get install python3.10",
        "uv venv --python $PYTHON",
        "uv pip install --python .venv/bin/python two",
        "pip install https://x.example/two-1-cp310-cp310-win_amd64.whl https://x.example/two-1-cp311-cp311-win_amd64.whl",
        "pip install https://x.example/two-1-cp39-abi3-linux_x86_64.whl",
    ],
)
def test_a_python_that_nothing_is_installed_with_is_not(read_files, line):
    assert read_files({"a.sh": f"{line}\npip install one\n"}, at="a.sh").environment_python is None


@pytest.mark.parametrize(
    "command",
    [
        "python3.١ -m pip install torch",
        "pip3.١ install torch",
        "uv venv --python 3.1١",
        "conda create -n a python=3.1١",
        "py -3.1١ -m venv a",
        "pip install https://a.example/torch-2.0-cp31١-cp31١-linux_x86_64.whl",
    ],
)
def test_a_digit_of_another_script_names_no_python(read_files, command):
    project = read_files({"install.sh": f"{command}\npip install demo\n"}, at="install.sh")
    assert project.environment_python is None
    assert "demo" in {str(line.name) for line in project.requirements}
