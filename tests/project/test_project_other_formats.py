"""setup.cfg, setup.py, conda's environment.yml, Pipfile, inline metadata, and the choice among files."""

from __future__ import annotations

import re

import pytest

from envdoctor.adapters.project import ProjectFileError, conda_environment
from envdoctor.model.project import ReadingProblemKind
from envdoctor.model.requirement import RequirementKind


def found(project):
    return [(one.pep508, one.origin.line) for one in project.requirements]


def test_setup_cfg(read_files):
    text = (
        "[metadata]\nname = mine\n[options]\npython_requires = >=3.8\ninstall_requires =\n    torch>=2  # why\n\n"
        "    # comment\n    numpy; python_version < '3.12'\n    bad==1.\n[options.extras_require]\ndev = pytest; ruff\n"
    )
    project = read_files({"setup.cfg": text}, groups=["dev"])
    assert found(project) == [("torch>=2", 6), ('numpy ; python_version < "3.12"', 9), ("pytest", 12), ("ruff", 12)]
    assert (project.name, str(project.requires_python)) == ("mine", ">=3.8")
    assert [problem.origin.line for problem in project.problems] == [10]


def test_setup_cfg_that_names_a_file(read_files):
    project = read_files({"setup.cfg": "[options]\ninstall_requires = file: deps.txt\n", "deps.txt": "torch\n"})
    assert [str(one.origin) for one in project.requirements] == ["deps.txt:1"]


def test_setup_py_literals_and_simple_variables(read_files):
    text = (
        "from setuptools import setup\nNAME = 'mine'\nbase = [\n  'torch>=2',\n]\nbase += ['numpy']\n"
        "base.append('scipy')\n"
        "more = ('tqdm',)\nsetup(name=NAME, python_requires='>=3.8',\n  install_requires=base + ['six', *more],\n)\n"
    )
    project = read_files({"setup.py": text})
    assert found(project) == [("torch>=2", 4), ("numpy", 6), ("scipy", 7), ("six", 10), ("tqdm", 8)]
    assert (project.name, str(project.requires_python)) == ("mine", ">=3.8")


@pytest.mark.parametrize(
    "expression",
    [
        "open('deps.txt').read().splitlines()",
        "[l.strip() for l in open('deps.txt') if l]",
        "load()",
        "load('deps.txt')",
        "Path(__file__).parent.joinpath('deps.txt').read_text().split('\\n')",
        "required",
        "open(os.path.join(here, 'deps.txt')).readlines()",
    ],
)
def test_setup_py_that_reads_a_file(read_files, expression):
    text = (
        "import os\nhere = '.'\ndef load(name='x'):\n"
        "    with open(name if name else 'deps.txt') as f:\n        return f.read().split()\n"
        "with open('deps.txt') as handle:\n    required = handle.read().splitlines()\n"
    )
    if expression == "load()":
        text = text.replace("name if name else 'deps.txt'", "'deps.txt'")
    project = read_files({"setup.py": f"{text}setup(install_requires={expression})\n", "deps.txt": "torch\n"})
    assert [str(one.origin) for one in project.requirements] == ["deps.txt:1"]
    assert not project.problems


@pytest.mark.parametrize(
    "text",
    [
        "setup(install_requires=compute())",
        "setup(**arguments)",
        "setup(install_requires=[x for x in y])",
        "r = ['a']\nif w:\n  r.append('b')\nsetup(install_requires=r)",
        "a = b\nb = a\nsetup(install_requires=a)",
        "setup(install_requires=['torch'] + extra())",
    ],
)
def test_setup_py_that_computes(read_files, text):
    project = read_files({"setup.py": text + "\n"})
    assert [problem.kind for problem in project.problems] == [ReadingProblemKind.DYNAMIC]


def test_conda_environment(read_files):
    text = (
        "# env\nname: tts\nchannels:\n- pytorch\n- conda-forge\ndependencies:\n- python=3.10\n- pytorch::pytorch=2.1\n"
        "- numpy=1.26.4=py310h1  # build\n- scipy==1.10\n- pandas >=1,<3\n- 'librosa 0.9.2'\n"
        "- pytorch-cuda=11.8\n- ffmpeg\n- pip\n"
        "- pip:\n  - torchaudio==2.1\n  - -r extra.txt\n  - \"edge-tts; os_name == 'nt'\"\n"
        "  - bad==1.\n- {a: b}\nvariables:\n  X: 1\nprefix: /opt/x\n"
    )
    project = read_files({"environment.yml": text, "extra.txt": "six\n"})
    assert found(project) == [
        ("torch==2.1.*", 8),
        ("numpy==1.26.4", 9),
        ("scipy==1.10", 10),
        ("pandas<3,>=1", 11),
        ("librosa==0.9.2", 12),
        ("torchaudio==2.1", 17),
        ("six", 1),
        ('edge-tts ; os_name == "nt"', 19),
    ]
    assert (project.name, str(project.requires_python), project.requires_python_origin.line) == ("tts", "==3.10.*", 7)
    of_conda, invalid = ReadingProblemKind.OF_CONDA, ReadingProblemKind.INVALID_REQUIREMENT
    assert [(problem.origin.line, problem.kind) for problem in project.problems] == [
        (13, of_conda),
        (14, of_conda),
        (20, invalid),
        (21, invalid),
    ]
    assert project.requirements[0].text == "pytorch::pytorch=2.1"


def test_conda_flow_list_and_other_yaml(read_files):
    assert found(read_files({"environment.yml": "dependencies: [numpy=1.26, 'scipy']\n"})) == [
        ("numpy==1.26.*", 1),
        ("scipy", 1),
    ]
    with pytest.raises(ProjectFileError, match="no `dependencies`"):
        read_files({"environment.yml": "version: 3\nservices:\n  a: b\n"})


def test_conda_anchors_merges_and_folded_texts(read_files):
    text = (
        "base: &base\n  dependencies: &all\n    - &np numpy=1.26\n    - python=3.11\n"
        "<<: *base\nname: merged\nspare:\n  - *np\n"
    )
    assert found(read_files({"environment.yml": text})) == [("numpy==1.26.*", 3)]
    text = (
        "pins: [&np numpy=1.26]\ndependencies:\n  - *np\n  - >-\n    scipy\n    >=1,<2\n"
        "  - {pip: ['torch==2.1', six]}\n"
        "  - pip:\n    - |\n      idna\n      tqdm>=4\n    - >\n      edge-tts;\n      os_name == 'nt'\n"
    )
    project = read_files({"environment.yml": text})
    assert found(project) == [
        ("numpy==1.26.*", 1),
        ("scipy<2,>=1", 4),
        ("torch==2.1", 7),
        ("six", 7),
        ("idna", 10),
        ("tqdm>=4", 11),
        ('edge-tts ; os_name == "nt"', 12),
    ]
    assert not project.problems


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("name: a\ndependencies:\n  - 'numpy\n", 3, "invalid YAML"),
        ("name: a\ndependencies:\n  - *nowhere\n", 3, "undefined alias"),
        ("dependencies:\n  - a\nname: b\ndependencies:\n  - c\n", 4, "`dependencies` is given twice"),
        ("dependencies:\n  - a\n---\ndependencies:\n  - c\n", 3, "another document"),
        ("dependencies:\n  - numpy\n  - a\x07b\n", 3, "character"),
        ("dependencies:\n" + "  - " + "[" * 5000, None, "nested too deeply"),
        ("dependencies: &d\n  <<: *d\n", None, "not a package"),
        ("<<: &d\n  <<: *d\n", None, "without an end"),
        ("p: &p [" + "six," * 2000 + "]\ndependencies:\n" + "  - pip: *p\n" * 2000, None, "more than 10,000"),
        ("dependencies:\n" + "  - six\n" * 80_000, None, "512 KiB"),
        ("? [a, b]\n: c\n", None, "no `dependencies`"),
    ],
)
def test_conda_files_that_cannot_be_read_say_where(read_files, text, line, words):
    if words == "not a package":
        (problem,) = read_files({"environment.yml": text}).problems[:1]
        assert words in problem.message
        return
    with pytest.raises(ProjectFileError, match=words) as raised:
        read_files({"environment.yml": text}, at="environment.yml")
    assert raised.value.line == line


SHAPES = (
    "~", "x", "''", "1", "1.5", "true", "2024-01-01", "[]", "{}", "[x]", "{x: y}", "[[x]]", "[{x: y}]", "{x: [y]}",
    "[~]", "{? [x] : y}", "!mine x", "!!binary eA==", "&a [*a]", "|\n   x", "{<<: {x: y}}",
)  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "place",
    [
        "%s",
        "dependencies: %s",
        "dependencies: [numpy]\nname: %s",
        "dependencies: [numpy]\nchannels: %s",
        "dependencies: [numpy]\nchannels:\n  - %s",
        "dependencies:\n  - numpy\n  - %s",
        "dependencies:\n  - numpy\n  - pip: %s",
        "dependencies:\n  - numpy\n  - pip:\n    - %s",
        "dependencies: [numpy]\n<<: %s",
        "dependencies: [numpy]\n? %s\n: x",
    ],
)
def test_conda_values_of_any_shape_are_read_or_refused_in_words(read_files, place, shape):
    text = place % shape + "\n"
    try:
        project = read_files({"environment.yml": text}, at="environment.yml")
    except ProjectFileError as error:
        assert re.search(r"no `dependencies`|invalid YAML|without an end|a JSON document", str(error)), error
        return
    if "numpy" in text:
        assert found(project)[0][0] == "numpy"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("m: &m {%s}\ndependencies: [%s]\n", "more than 10,000 packages"),
        ("m: &m {pip: , %s}\ndependencies: [%s]\n", ""),
        ("m: &m [%s]\n<<: [%s]\ndependencies: [six]\n", "without an end"),
        ("m: &m {%s}\n<<: [%s]\ndependencies: [six]\n", "without an end"),
        ("m: &m '%s'\ndependencies: [pip: [%s]]\n", "more than 10,000 packages"),
    ],
)
def test_what_conda_aliases_say_again_and_again_is_not_read_again(read_files, monkeypatch, text, words):
    """A small file can say the same a thousand million times; nodes are looked at no oftener than the limit."""
    looked = 0
    pairs = conda_environment._pairs

    def counted(file, node):
        nonlocal looked
        looked += 1
        return pairs(file, node)

    monkeypatch.setattr(conda_environment, "_pairs", counted)
    files = {"environment.yml": text % (", ".join(f"k{n}: " for n in range(4_000)), ", ".join(["*m"] * 9_000))}
    if not words:
        read_files(files, at="environment.yml")
    elif words == "more than 10,000 packages" and "'" not in text:
        files["environment.yml"] = files["environment.yml"].replace("*m]", "*m" + ", *m" * 2_000 + "]")
    if words:
        with pytest.raises(ProjectFileError, match=words):
            read_files(files, at="environment.yml")
    assert looked <= 3


@pytest.mark.parametrize(
    "line", ["jpeg=9e=hcfcfb64_3", "m2w64-libwinpthread-git=5.0.0.4634.697f757=2", "openssl=1.1.1w"]
)
def test_versions_that_conda_alone_has_are_left_to_conda(read_files, line):
    project = read_files({"environment.yml": f"dependencies:\n  - {line}\n  - numpy=1.26\n"})
    (problem,) = project.problems
    assert problem.kind is ReadingProblemKind.OF_CONDA
    assert "is left to conda" in problem.message
    assert found(project) == [("numpy==1.26.*", 3)]


def test_conda_entries_of_other_kinds_are_problems_of_their_line(read_files):
    text = "dependencies:\n  - numpy\n  - \n  - [a, b]\n  - !!python/object:os.system x\n  - !mine six\n  - pip: six\n"
    project = read_files({"environment.yml": text})
    assert found(project) == [("numpy", 2)]
    assert [problem.origin.line for problem in project.problems][:2] == [3, 4]
    assert {problem.kind for problem in project.problems} == {ReadingProblemKind.INVALID_REQUIREMENT}
    assert "`pip: six`" in project.problems[-1].message


def test_pipfile(read_files):
    text = (
        '[[source]]\nname = "main"\nurl = "https://index.example/simple"\n[packages]\n'
        'torch = {version = "==2.1", extras = ["x"]}\n'
        'numpy = "*"\nwin = {version = ">=1", sys_platform = "== \'win32\'"}\n[dev-packages]\n'
        'pytest = "*"\n[requires]\npython_version = "3.10"\n'
    )
    project = read_files({"Pipfile": text})
    assert found(project) == [("torch[x]==2.1", 5), ("numpy", 6), ('win>=1 ; sys_platform == "win32"', 7)]
    assert str(project.requires_python) == "==3.10.*"


def test_inline_metadata(read_files):
    text = (
        "#!/usr/bin/env python\n# /// other\n# x\n# ///\n\n# /// script\n# requires-python = '>=3.11'\n"
        "# dependencies = [\n"
        "#   'torch',\n#\n#   'numpy<2',\n# ]\n# ///\nimport torch\n"
    )
    project = read_files({"tool.py": text}, at="tool.py")
    assert found(project) == [("torch", 9), ("numpy<2", 11)]
    assert str(project.requires_python) == ">=3.11"
    for wrong, words in ((text + "\n# /// script\n# ///\n", "second"), ("import torch\n", "without inline metadata")):
        with pytest.raises(ProjectFileError, match=words):
            read_files({"tool.py": wrong}, at="tool.py")


@pytest.mark.parametrize(
    ("files", "read"),
    [
        (
            ["requirements.txt", "setup.cfg", "environment.yml", "requirements-dev.txt"],
            ["requirements.txt", "setup.cfg"],
        ),
        (["setup.cfg", "environment.yml", "demo-requirements.txt"], ["setup.cfg"]),
        (["requirements-gpu.txt"], ["requirements-gpu.txt"]),
        (["requirements-cpu.txt", "requirements_gpu.txt", "requirements-dev.txt"], ["requirements_gpu.txt"]),
        (["requirements/base.txt", "requirements/test.txt"], ["requirements/base.txt"]),
        (["requirements-dev.txt"], ["requirements-dev.txt"]),
        (["environment.yml"], ["environment.yml"]),
        (["run.sh"], ["run.sh"]),
        (["Dockerfile"], ["Dockerfile"]),
    ],
)
def test_which_files_of_a_folder_are_read(read_files, files, read):
    contents = {
        ".txt": "torch\n",
        ".cfg": "[options]\ninstall_requires = torch\n",
        ".yml": "dependencies:\n- pytorch\n",
        ".sh": "pip install torch\n",
        "": "RUN pip install torch\n",
    }
    project = read_files({name: contents["." + name.partition(".")[2] if "." in name else ""] for name in files})
    assert {one.origin.path for one in project.requirements} == set(read)
    assert {group.name.name for group in project.groups} == set(files) - set(read)


def test_named_files_take_the_place_of_found_ones(read_files):
    files = {
        "requirements.txt": "a\n",
        "b.txt": "b\n",
        "constraints-x.txt": "c<1\n",
        "pyproject.toml": "[tool.envdoctor]\nx = 1\n",
    }
    project = read_files(files, files=["b.txt", "constraints-x.txt"])
    assert [(one.name, one.kind) for one in project.requirements] == [
        ("b", RequirementKind.REQUIRE),
        ("c", RequirementKind.CONSTRAINT),
    ]
    assert project.settings == {"x": 1}


@pytest.mark.parametrize(
    ("lines", "pyproject", "bound"),
    [
        (["python=3.10", "python=3.12"], None, "==3.10.*,==3.12.*"),
        (["python>=3.9", "python<3.11"], None, "<3.11,>=3.9"),
        (["python=3.10"], ">=3.9", "==3.10.*,>=3.9"),
        ([], ">=3.9", ">=3.9"),
    ],
)
def test_all_that_is_asked_of_python_holds_together(read_files, lines, pyproject, bound):
    files = {"environment.yml": "name: x\ndependencies:\n  - numpy\n" + "".join(f"  - {line}\n" for line in lines)}
    if pyproject is not None:
        files["pyproject.toml"] = f'[project]\nname = "x"\nversion = "1"\nrequires-python = "{pyproject}"\n'
    project = read_files(files)
    assert str(project.requires_python) == bound
    assert project.requires_python_origin.path == ("environment.yml" if lines else "pyproject.toml")


@pytest.mark.parametrize(
    ("channels", "told"),
    [
        ("[pytorch, nvidia, conda-forge]", []),
        ("[conda-forge, pytorch-nightly]", ["conda's channel `pytorch-nightly` cannot be asked"]),
        (
            "[my-lab, https://conda.example/other]",
            ["conda's channels `my-lab` and `https://conda.example/other` cannot"],
        ),
        ("", []),
    ],
)
def test_channels_with_builds_of_their_own_are_named(read_files, channels, told):
    project = read_files({"environment.yml": f"channels: {channels}\ndependencies: [pytorch]\n"})
    assert [problem.kind for problem in project.problems] == [ReadingProblemKind.UNSUPPORTED] * len(told)
    assert all(problem.message.startswith(text) for problem, text in zip(project.problems, told, strict=True))


COMPUTED = """
import platform, re, sys
from setuptools import setup
_deps = ["torch>=2", "numpy<2", "black~=23.1", "tqdm"]
deps = {b: a for a, b in (re.findall(r"^(([^!=<>~ ]+)(?:.*)?)$", x)[0] for x in _deps)}
def deps_list(*names):
    return [deps[name] for name in names]
required = [r for r in ["idna"]] + ["six" if sys.version_info < (3, 9) else "rich"]
if sys.platform == "win32":
    required.append("pywin32")
elif platform.system() == "Darwin":
    required += ["pyobjc"]
required += [deps["torch"], *deps_list("numpy", "tqdm")]
extras = {"dev": ["pytest"]}
extras["lint"] = deps_list("black")
extras["all"] = sum(extras.values(), []) + extras["dev"]
if __name__ == "__main__":
    setup(name="x", install_requires=sorted(required), extras_require=extras)
"""


def test_setup_py_that_computes_its_lists(read_files):
    project = read_files({"setup.py": COMPUTED})
    assert not project.problems
    assert [one.pep508 for one in project.requirements] == [
        "idna",
        'six ; python_version < "3.9"',
        'rich ; python_version >= "3.9"',
        'pywin32 ; sys_platform == "win32"',
        'pyobjc ; sys_platform != "win32" and platform_system == "Darwin"',
        "torch>=2",
        "numpy<2",
        "tqdm",
    ]
    groups = {group.name.name: [one.name for one in group.requirements] for group in project.groups}
    assert (groups["dev"], groups["lint"]) == (["pytest"], ["black"])
    assert {"pytest", "black"} <= set(groups["all"])


@pytest.mark.parametrize(
    "body",
    [
        "install_requires=[x + '1' for x in names()]",
        "install_requires=load() if CUDA else []",
        "install_requires=['a'] if os.environ.get('X') else ['b']",
        "install_requires=deps['nowhere']",
    ],
)
def test_setup_py_that_only_running_it_would_tell(read_files, body):
    project = read_files({"setup.py": f"import os\nfrom setuptools import setup\nsetup({body})\n"})
    assert [problem.kind for problem in project.problems] == [ReadingProblemKind.DYNAMIC]
