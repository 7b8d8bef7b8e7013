"""What could not be read, or asks for nothing, is said: a diagnosis must not look healthy because of it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from envdoctor.adapters.project import ProjectFileError, read_project
from envdoctor.model.project import ReadingProblemKind as Kind

DYNAMIC_SETUP = "from setuptools import setup\nsetup(install_requires=compute())\n"


def _kinds(project):
    return [problem.kind for problem in project.problems]


@pytest.mark.parametrize(
    ("line", "kind", "unread"),
    [
        ("-r https://files.example/r.txt", Kind.UNREAD, True),
        ("-e git+https://git.example/a/b.git", Kind.UNREAD, True),
        ("./missing", Kind.MISSING_FILE, True),
        ("-e ../missing", Kind.MISSING_FILE, True),
        ("./missing; python_version < '3'", Kind.UNREAD, True),
        ("/missing", Kind.OUTSIDE_PROJECT, True),
        ("--find-links ./missing", Kind.IGNORED_OPTION, False),
        ("--find-links ../missing", Kind.IGNORED_OPTION, False),
        ("-e ./missing", Kind.MISSING_FILE, True),
        ("-r missing.txt", Kind.MISSING_FILE, True),
        ("-r ../../x.txt", Kind.OUTSIDE_PROJECT, True),
        ("-e ../..", Kind.OUTSIDE_PROJECT, True),
        ("a/b", Kind.INVALID_REQUIREMENT, False),
        ("-e ./empty", Kind.INVALID_REQUIREMENT, False),
        ("--foo", Kind.UNKNOWN_OPTION, False),
        *((option, Kind.UNKNOWN_OPTION, False) for option in ("-e", "-r", "-c", "-i")),
    ],
)
def test_lines_that_say_nothing_of_versions(read_files, line, kind, unread):
    project = read_files({"requirements.txt": f"torch\n{line}\n", "empty/README": ""})
    assert _kinds(project) == [kind]
    assert bool(project.unread) is unread


def test_requirements_that_only_code_would_tell(read_files):
    project = read_files({"setup.py": DYNAMIC_SETUP})
    assert _kinds(project) == [Kind.DYNAMIC]
    assert project.unread == ("setup.py",)


def test_dynamic_dependencies(read_files):
    project = read_files({"pyproject.toml": '[project]\nname = "a"\ndynamic = ["dependencies"]\n'})
    assert _kinds(project) == [Kind.DYNAMIC]
    assert project.unread


def test_paths_of_a_script_may_come_into_being(read_files):
    project = read_files({"install.sh": "pip install -e /opt/whisper\npip install torch\n"})
    assert _kinds(project) == [Kind.UNREAD]
    assert project.unread == ("/opt/whisper",)


def test_a_file_of_another_kind_is_refused(read_files):
    text = "root:x:0:0:root:/root:/bin/bash\nbin:x:2:2:bin:/bin:/usr/sbin/nologin\n"
    with pytest.raises(ProjectFileError, match="no line of it is a requirement") as raised:
        read_files({"passwd": text}, at="passwd")
    assert raised.value.line == 1
    assert "`check --log` reads a log" in str(raised.value)


def test_one_bad_line_of_a_list_goes_on(read_files):
    assert _kinds(read_files({"requirements.txt": "!!!\n"})) == [Kind.INVALID_REQUIREMENT]
    assert _kinds(read_files({"wanted": "!!!\ntorch\n"}, at="wanted")) == [Kind.INVALID_REQUIREMENT]


def test_two_places_for_one_package(read_files):
    one, two = "aa @ https://files.example/aa-1.tar.gz", "aa @ https://files.example/aa-2.tar.gz"
    project = read_files({"requirements.txt": f"{one}\n{one}\n{two}\n"})
    (problem,) = project.problems
    assert (problem.kind, problem.origin.line) == (Kind.INVALID_REQUIREMENT, 3)
    assert "requirements.txt:1" in problem.message
    elsewhere = f"{one} ; sys_platform == 'win32'\n{two} ; sys_platform != 'win32'\n"
    assert not read_files({"requirements.txt": elsewhere}).problems


def test_an_extra_that_is_not_there(read_files):
    metadata = '[project]\nname = "a"\ndependencies = ["torch"]\n[project.optional-dependencies]\ntts = ["b"]\n'
    project = read_files({"requirements.txt": "-e .[nope]\n-e .[tts]\n", "pyproject.toml": metadata})
    assert _kinds(project) == [Kind.UNKNOWN_EXTRA]
    assert "`nope`" in project.problems[0].message


def test_extras_of_a_local_setup_py(read_files):
    setup = "from setuptools import setup\nsetup(install_requires=['a'], extras_require={'x': ['b']})\n"
    project = read_files({"requirements.txt": "-e ./part[x]\n", "part/setup.py": setup})
    assert not project.problems
    assert [one.name for one in project.requirements] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("tool = 'x'\n", "`tool`"),
        ("[tool]\npoetry = 1\n", "`tool.poetry`"),
        ("[tool]\nuv = []\n", "`tool.uv`"),
        ("project = 3\n", "`project`"),
    ],
)
def test_tables_that_are_none(read_files, text, key):
    (problem,) = read_files({"pyproject.toml": text}).problems
    assert problem.kind is Kind.INVALID_REQUIREMENT
    assert problem.message.startswith(key)
    assert problem.origin.line


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", ""),
        ("requirements.txt", "# nothing\n\n"),
        ("environment.yml", "name: a\ndependencies:\n"),
        ("environment.yml", "name: a\ndependencies: null\n"),
        ("environment.yml", "name: a\ndependencies: ~\n"),
        ("Pipfile", "[packages]\n"),
        ("pyproject.toml", "[tool.ruff]\nline-length = 100\n"),
    ],
)
def test_a_project_that_asks_for_nothing_says_so(read_files, name, text):
    (problem,) = read_files({name: text}).problems
    assert problem.kind is Kind.EMPTY
    assert f"no requirements found in `{name}`" in problem.message


def test_a_project_that_says_that_it_has_no_requirements(read_files):
    assert not read_files({"pyproject.toml": '[project]\nname = "a"\ndependencies = []\n'}).problems


LONG = "1" * 5000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("requirements.txt", line) for line in (f"aa=={LONG}", f"aa==1+{LONG}", f"aa==1.post{LONG}")),
        ("requirements.txt", f"aa; python_version > '{LONG}'"),
        ("requirements.txt", f"aa=={'1.' * 150}1"),
        ("requirements.txt", f"https://files.example/aa-{LONG}-py3-none-any.whl"),
        ("requirements.txt", f"aa[{'x,' * 10000}x]"),
        ("pyproject.toml", f'[project]\nname = "a"\nrequires-python = ">={LONG}"\n'),
        ("pyproject.toml", f'[tool.poetry.dependencies]\naa = "^{LONG}"\n'),
        ("pyproject.toml", f'[tool.poetry.dependencies]\naa = {{version = "1", python = "^{LONG}"}}\n'),
        ("pyproject.toml", f'[tool.poetry.dependencies]\npython = "~{LONG}"\n'),
        ("environment.yml", f"dependencies:\n  - aa={LONG}\n"),
        ("setup.cfg", f"[options]\ninstall_requires = aa>={LONG}\n"),
        ("Dockerfile", f"FROM x\nRUN pip install aa=={LONG}\n"),
        ("install.sh", f"pip install aa=={LONG}\n"),
    ],
)
def test_absurd_lengths_are_invalid_requirements(read_files, name, text):
    project = read_files({name: text})
    (problem,) = project.problems
    assert problem.kind is Kind.INVALID_REQUIREMENT
    assert "set_int_max_str_digits" not in problem.message
    assert len(problem.message) < 700
    assert len(problem.text) <= 200


def test_a_long_line_is_not_told_whole(read_files):
    (problem,) = read_files({"requirements.txt": "!" * 1_000_000}).problems
    assert len(problem.message) < 700
    assert len(problem.text) <= 200


@pytest.mark.parametrize("option", ["-i", "--extra-index-url", "--find-links"])
def test_an_index_with_a_query_is_a_problem_that_quotes_no_token(read_files, option):
    project = read_files({"requirements.txt": f"torch\n{option} https://u:s3cret@index.example/simple/?token=s3cret\n"})
    (problem,) = project.problems
    assert (problem.kind, problem.origin.line) == (Kind.INVALID_URL, 2)
    assert "s3cret" not in problem.message + problem.text
    assert not project.index_options


@pytest.mark.parametrize("url", ["http://[bad", "http://xn--/simple", f"http://{'a' * 300}/", "http://", "http://h:x/"])
@pytest.mark.parametrize("option", ["-i", "--extra-index-url", "--find-links"])
def test_urls_are_looked_at_where_they_are_written(read_files, url, option):
    project = read_files({"requirements.txt": f"torch\n{option} {url}\n"})
    (problem,) = project.problems
    assert (problem.kind, problem.origin.line) == (Kind.INVALID_URL, 2)
    assert not project.index_options


@pytest.mark.parametrize(
    "url", ["https://index.example/simple", "./wheels", "file:///wheels", "C:\\wheels", "http://[::1]:8080/", "wheels"]
)
def test_urls_that_can_be_opened(read_files, url):
    # pip takes a backslash on such a line for an escape.
    project = read_files({"requirements.txt": f"torch\n--find-links '{url}'\n", "wheels/torch.html": ""})
    assert not project.problems
    assert [option.url for option in project.index_options] == [url]


def test_urls_of_other_forms(read_files):
    text = "[packages]\na = '*'\n[[source]]\nname = 'x'\nurl = 'http://[bad'\n"
    assert _kinds(read_files({"Pipfile": text})) == [Kind.INVALID_URL]
    text = "[project]\nname = 'a'\n[[tool.uv.index]]\nurl = 'http://[bad'\n"
    assert _kinds(read_files({"pyproject.toml": text}, at="pyproject.toml")) == [Kind.INVALID_URL]


def test_repeated_lines_are_counted(read_files):
    project = read_files({"requirements.txt": "aa\n" * 3000})
    assert len(project.duplicates) == 100
    assert project.duplicates_left_out == 2899


def test_problems_alike_are_counted(read_files):
    project = read_files({"requirements.txt": "".join(f"!!!{number}\n" for number in range(2000))})
    assert len(project.problems) == 100
    assert "and 1,900 more like this one" in project.problems[-1].message


def test_long_lists_are_read_to_their_end(read_files):
    words = " \\\n ".join(f"a{number}" for number in range(20000))
    project = read_files({"Dockerfile": f"FROM x\nRUN pip install {words}\n"})
    assert len(project.requirements) == 20000


def test_long_chains_of_files_and_groups(read_files):
    files = {f"r{number}.txt": f"-r r{number + 1}.txt\na{number}\n" for number in range(400)}
    project = read_files({"requirements.txt": "-r r0.txt\n", **files})
    assert _kinds(project) == [Kind.INVALID_REQUIREMENT]
    groups = "".join(f"g{number} = [{{include-group = 'g{number + 1}'}}]\n" for number in range(1000))
    text = f"[project]\nname = 'a'\n[dependency-groups]\n{groups}"
    project = read_files({"pyproject.toml": text}, at="pyproject.toml", groups=["g0"])
    assert [one.kind for one in project.problems if one.group is None] == [Kind.INVALID_REQUIREMENT]


def test_a_folder_of_files_that_is_not_there_is_no_index(tmp_path: Path):
    (tmp_path / "there").mkdir()
    (tmp_path / "requirements.txt").write_text("--no-index\n-f ./gone\n-f there\n-f /elsewhere\nidna\n")
    project = read_project(tmp_path)
    assert [option.url for option in project.index_options] == ["", "there", "/elsewhere"]
    (problem,) = project.problems
    assert problem.message == "there is no file or folder `./gone`: pip leaves this `--find-links` aside"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no mkfifo")
def test_pipes_and_devices_are_not_opened(tmp_path: Path):
    os.mkfifo(tmp_path / "requirements.txt")
    with pytest.raises(ProjectFileError, match="this is a named pipe"):
        read_project(tmp_path / "requirements.txt")
    assert read_project(tmp_path).unread == ("requirements.txt",)
    (tmp_path / "below").mkdir()
    os.mkfifo(tmp_path / "below" / "pyproject.toml")
    assert read_project(tmp_path).unread == ("requirements.txt",)
    with pytest.raises(ProjectFileError, match="this is a device"):
        read_project(Path(os.devnull))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no /dev/fd")
def test_what_a_shell_hands_over_is_called_what_it_is(tmp_path: Path):
    reading, writing = os.pipe()
    try:
        with pytest.raises(ProjectFileError, match="this is a named pipe, not a file"):
            read_project(Path(f"/dev/fd/{reading}"))
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize(("name", "line"), [("Pipfile.lock", "{broken"), ("a.ipynb", "{")])
def test_what_is_no_json_is_called_so(tmp_path: Path, name: str, line: str):
    (tmp_path / name).write_text(f"\n{line}\n")
    with pytest.raises(ProjectFileError, match=rf"{name}:[23]: not JSON: "):
        read_project(tmp_path / name)
    (tmp_path / name).write_text("[" * 100_000)
    with pytest.raises(ProjectFileError, match="not JSON that can be read"):
        read_project(tmp_path / name)


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="Python has no AF_UNIX on Windows")
def test_a_socket_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("requirements.txt")
        with pytest.raises(ProjectFileError, match="this is a socket"):
            read_project(tmp_path / "requirements.txt")


def test_a_reference_called_like_what_another_line_asks_for_is_taken_for_that(tmp_path: Path) -> None:
    url = "git+https://git.example/m/WhisperX.git@main"
    (tmp_path / "requirements.txt").write_text(f"{url}\nwhisperx~=3.1.1\nnumpy\n", encoding="utf-8")
    project = read_project(tmp_path)
    assert [(item.name, item.url) for item in project.requirements] == [
        ("whisperx", None),
        ("numpy", None),
        ("whisperx", url),
    ]
    assert _kinds(project) == [Kind.UNREAD]
    (tmp_path / "requirements.txt").write_text(f"{url}\nnumpy\n", encoding="utf-8")
    assert [item.name for item in read_project(tmp_path).requirements] == ["numpy"]


@pytest.mark.parametrize(
    ("line", "asked", "problems"),
    [
        ("mine", ["idna"], []),
        ("Mine>=1", ["idna"], []),
        ("mine==3.4", ["idna"], [Kind.INVALID_REQUIREMENT]),
        ("mine[all]>2", ["idna"], [Kind.INVALID_REQUIREMENT]),
        ("mine==3.4; python_version < '3'", ["mine", "idna"], []),
        ("mine[all]", ["six", "attrs", "idna"], []),
        ("mine[None]", ["idna"], [Kind.UNKNOWN_EXTRA]),
        ("mine[Listed]", ["regex", "idna"], []),
        ("mine[elsewhere]", ["mine", "idna"], []),
        ("mine2==3.4", ["mine2", "idna"], []),
    ],
)
def test_a_project_that_requires_itself(read_files, line: str, asked: list[str], problems: list[Kind]):
    extras = "all = ['mine[more]', 'six', 'mine']\nmore = ['attrs', 'mine[all]']\n"
    extras += "elsewhere = [\"mine[more]; sys_platform == 'win32'\"]\n"
    extras += "[tool.setuptools.dynamic.optional-dependencies]\nlisted = { file = 'listed.txt' }\n"
    head = f"[project]\nname = 'mine'\nversion = '1'\ndependencies = [\"{line}\", 'idna']\n"
    target = {"python_version": "3.11", "sys_platform": "linux"}
    project = read_files(
        {"pyproject.toml": f"{head}[project.optional-dependencies]\n{extras}", "listed.txt": "regex"},
        target_environment=target,
    )
    assert ([each.name for each in project.requirements], _kinds(project)) == (asked, problems)


MINE = "[project]\nname = 'Mine'\nversion = '1.2'\ndependencies = ['idna']\n"
MINE += "[project.optional-dependencies]\nmore = ['six']\n"


@pytest.mark.parametrize(
    ("lines", "asked", "problems"),
    [
        ("-e ./mine\nmine==1.0", ["idna"], [Kind.INVALID_REQUIREMENT]),
        ("mine @ {uri}/mine\nmine<1", ["idna"], [Kind.INVALID_REQUIREMENT]),
        ("./mine\nmine>=1.0", ["idna"], []),
        ("mine\n./mine", ["idna"], []),
        ("-e ./mine\nmine[more]", ["idna", "six"], []),
        ("-e ./mine\n-e ./mine[more]", ["idna", "six"], []),
        ("-e ./mine[more]\nmine[more]==1.2", ["idna", "six"], []),
        ("-e ./mine\nmine==1.0; sys_platform == 'win32'", ["mine", "idna"], []),
        ("-e ./mine\n-c bounds.txt", ["idna"], [Kind.INVALID_REQUIREMENT]),
        ("-e ./mine\nother", ["other", "idna"], []),
        ("-e ./mine\n-e ./user", ["idna", "attrs"], []),
        ("mine==1.0", ["mine"], []),
        ("-e ./built\nbuilt", ["idna"], []),
        ("-e ./built\nbuilt==2", ["idna"], [Kind.UNREAD]),
    ],
)
def test_what_a_folder_gives_is_what_other_lines_mean(
    tmp_path: Path, lines: str, asked: list[str], problems: list[Kind]
) -> None:
    texts = {
        "mine": MINE,
        "user": "[project]\nname = 'user'\nversion = '1'\ndependencies = ['mine>=1', 'attrs']\n",
        "built": "[project]\nname = 'built'\ndynamic = ['version']\ndependencies = ['idna']\n",
    }
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(text)
    (tmp_path / "bounds.txt").write_text("mine==1.0\n")
    (tmp_path / "requirements.txt").write_text(lines.format(root=tmp_path.as_posix(), uri=tmp_path.as_uri()))
    target = {"python_version": "3.11", "sys_platform": "linux"}
    project = read_project(tmp_path / "requirements.txt", target_environment=target)
    assert ([each.name for each in project.requirements], _kinds(project)) == (asked, problems)


GITMODULES = '[submodule "knn"]\n\tpath = submodules/knn\n\turl = https://git.example/x/knn.git\n'
UPDATE = "`git submodule update --init --recursive` fetches them"


@pytest.mark.parametrize("line", ["./submodules/knn", "-e submodules/knn", "./submodules/knn/python"])
@pytest.mark.parametrize("there", [True, False])
def test_a_submodule_without_files_is_to_be_fetched(read_files, tmp_path, line, there):
    if there:
        (tmp_path / "submodules" / "knn").mkdir(parents=True)
    project = read_files({"requirements.txt": f"idna\n{line}\n", ".gitmodules": GITMODULES})
    (problem,) = project.problems
    assert (problem.kind, problem.message.endswith(UPDATE)) == (Kind.MISSING_FILE, True)
    assert "git submodule `submodules/knn`" in problem.message
    assert project.unread
    script = read_files({"install.sh": f"pip install {line}\n"}, at="install.sh")
    assert [(one.kind, one.message.endswith(UPDATE)) for one in script.problems] == [(Kind.UNREAD, True)]


def test_a_folder_that_is_no_submodule_or_has_files_is_the_line_s_own_fault(read_files, tmp_path):
    (tmp_path / "empty").mkdir()
    contents = {"requirements.txt": "./empty\n./submodules/knn\n", ".gitmodules": GITMODULES}
    project = read_files({**contents, "submodules/knn/README": "x"})
    assert _kinds(project) == [Kind.INVALID_REQUIREMENT] * 2
    assert not any(UPDATE in one.message for one in project.problems)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.cfg", "[metadata]\nname = Mine\nversion = 1.2\n[options]\ninstall_requires =\n  idna\n"),
        ("setup.py", "from setuptools import setup\nsetup(name='Mine', version='1.2', install_requires=['idna'])\n"),
    ],
)
def test_what_a_folder_without_pyproject_gives_is_what_other_lines_mean(read_files, name, text):
    project = read_files({"requirements.txt": "-e ./mine\nmine>=1\nmine<1\n", f"mine/{name}": text})
    assert ([each.name for each in project.requirements], _kinds(project)) == (["idna"], [Kind.INVALID_REQUIREMENT])
    assert "`-e ./mine`, which is version 1.2" in project.problems[0].message


@pytest.mark.parametrize("plugin", ["poetry-dynamic-versioning", "poetry-version-plugin"])
def test_a_version_that_a_plugin_fills_in_is_not_known(read_files, plugin):
    text = f"[tool.poetry]\nname = 'mine'\nversion = '0.0.0'\n[tool.{plugin}]\nenable = true\n"
    project = read_files({"requirements.txt": "-e ./mine\nmine>=1\n", "mine/pyproject.toml": text})
    assert [(one.kind, "only a build of it tells" in one.message) for one in project.problems] == [(Kind.UNREAD, True)]


@pytest.mark.parametrize(
    ("lines", "asked"),
    [
        ("pip install -e ./mine\npip install mine six\n", ["six", "idna"]),
        ("pip install --no-deps -e ./mine\npip install mine six\n", ["six"]),
        ("pip install mine six\npip install -e ./mine\n", ["mine", "six", "idna"]),
    ],
)
def test_what_a_step_before_installed_is_there(read_files, lines, asked):
    project = read_files({"install.sh": lines, "mine/pyproject.toml": MINE}, at="install.sh")
    assert [each.name for each in project.requirements] == asked


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "idna\n-r submodules/knn/requirements.txt\n"),
        ("requirements.txt", "idna\nknn @ file:submodules/knn\n"),
        (
            "pyproject.toml",
            (
                "[project]\nname = 'a'\nversion = '1'\ndependencies = ['knn']\n"
                "[tool.uv.sources]\nknn = {path = 'submodules/knn'}\n"
            ),
        ),
    ],
)
def test_what_a_file_names_in_a_submodule_without_files_is_to_be_fetched(read_files, tmp_path, there, name, text):
    if there:
        (tmp_path / "submodules" / "knn").mkdir(parents=True)
    project = read_files({name: text, ".gitmodules": GITMODULES})
    assert [(one.kind, one.message.endswith(UPDATE)) for one in project.problems] == [(Kind.MISSING_FILE, True)]


def test_a_file_url_that_nobody_can_read_is_kept(read_files):
    project = read_files({"requirements.txt": "six @ file://[x/y\n"})
    assert [each.url for each in project.requirements] == ["file://[x/y"]


def test_the_members_of_a_workspace_are_looked_for_once(read_files, monkeypatch):
    from envdoctor.adapters.project import uv_sources

    looked, folders = [], uv_sources._folders
    monkeypatch.setattr(uv_sources, "_folders", lambda table, root: looked.append(root) or folders(table, root))
    root = (
        "[project]\nname = 'root'\nversion = '1'\ndependencies = ['a', 'b']\n[tool.uv.workspace]\nmembers = ['m/*']\n"
    )
    member = "[project]\nname = '{}'\nversion = '1'\ndependencies = ['six']\n"
    project = read_files({"pyproject.toml": root, **{f"m/{x}/pyproject.toml": member.format(x) for x in "abc"}})
    assert ([each.name for each in project.requirements], len(looked)) == (["six"] * 3, 1)


OWN_EXTRAS = {
    "setup.cfg": (
        "[metadata]\nname = Mine\n[options]\ninstall_requires =\n  idna\n[options.extras_require]\n"
        "gpu =\n  six\n  mine[all]\nAll_ =\n  mine[gpu]\n  mine[more]; sys_platform == 'win32'\nall = mine[GPU]\n"
    ),
    "setup.py": (
        "from setuptools import setup\nsetup(name='Mine', install_requires=['idna'], extras_require={\n"
        "'gpu': ['six', 'mine[all]'], 'all': ['mine[gpu]', \"mine[more]; sys_platform == 'win32'\"]})\n"
    ),
}


@pytest.mark.parametrize("name", OWN_EXTRAS)
@pytest.mark.parametrize("asked", [True, False])
def test_the_own_extras_that_a_list_of_setuptools_names_are_those_of_the_project(read_files, name, asked):
    environment = {"sys_platform": "linux", "python_version": "3.11"}
    project = read_files(
        {name: OWN_EXTRAS[name]}, target_environment=environment, **({"groups": ["all"]} if asked else {})
    )
    lines = project.requirements if asked else [line for group in project.groups for line in group.requirements]
    assert "six" in [line.name for line in lines]
    assert not [line for line in lines if line.name == "mine" and line.marker is None]
    assert project.problems == ()


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ('library\n[tool.uv.sources]\nlibrary = { path = "parts" }', []),
        ("library @ file:///croot/library_17/work", ["library"]),
        ("library @ file:library-1.0-py3-none-any.whl", ["library"]),
    ],
)
def test_a_folder_of_the_project_that_is_not_there_is_nothing_that_an_index_has(read_files, line, kept):
    name, _, more = line.partition("\n")
    text = f'[project]\nname = "x"\nversion = "1"\ndependencies = ["{name}"]\n{more}\n'
    project = read_files({"pyproject.toml": text}, at="pyproject.toml")
    assert [(one.name, one.url) for one in project.requirements] == [(each, None) for each in kept]
    (problem,) = project.problems
    assert problem.kind is Kind.MISSING_FILE
    assert (problem.message == "there is no directory `parts`, which `library` is to come from") == (not kept)
