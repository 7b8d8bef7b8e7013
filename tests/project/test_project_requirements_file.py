"""Requirements files as pip documents and reads them."""

from __future__ import annotations

import pytest

from envdoctor.model.project import IndexOptionKind, ReadingProblemKind
from envdoctor.model.requirement import RequirementKind

DIGEST = "a" * 64


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("torch==2.1.1", "torch==2.1.1"),
        ("torch == 2.1.1  # why", "torch==2.1.1"),
        ("torch", "torch"),
        ("coqui-tts[languages]==0.24.2", "coqui-tts[languages]==0.24.2"),
        ("fastapi[All,Extra_One]>=0.1", "fastapi[all,extra-one]>=0.1"),
        ("torch==2.0.1+cu118", "torch==2.0.1+cu118"),
        ("numpy~=1.23.4", "numpy~=1.23.4"),
        ("odd===1.0-weird", "odd===1.0-weird"),
        ("zope.interface>=5", "zope-interface>=5"),
        ("hangul_romanize", "hangul-romanize"),
        ("legacy (>=1,<2)", "legacy<2,>=1"),
        ("numpy>=1.25.2,<2.0.0", "numpy<2.0.0,>=1.25.2"),
        ("a; python_version < '3.12'", 'a ; python_version < "3.12"'),
        ('WeTextProcessing; platform_machine != "Darwin"', 'wetextprocessing ; platform_machine != "Darwin"'),
        ("lhotse @ git+https://git.example/lhotse@v1", "lhotse @ git+https://git.example/lhotse@v1"),
        (
            "git+https://git.example/a/b.git@main#egg=bee[x]&subdirectory=s",
            "bee[x] @ git+https://git.example/a/b.git@main#egg=bee[x]&subdirectory=s",
        ),
        (
            "https://files.example/torch-2.1.0%2Bcu118-cp310-cp310-win_amd64.whl ; sys_platform == 'win32'",
            'torch @ https://files.example/torch-2.1.0%2Bcu118-cp310-cp310-win_amd64.whl ; sys_platform == "win32"',
        ),
        (
            "./wheels/fairseq-0.12.2-cp310-cp310-win_amd64.whl",
            "fairseq==0.12.2",
        ),
        (
            r"C:\wheels\fairseq-0.12.2-cp310-cp310-win_amd64.whl",
            r"fairseq @ C:\wheels\fairseq-0.12.2-cp310-cp310-win_amd64.whl",
        ),
        ("https://files.example/pesq-0.0.4.tar.gz", "pesq @ https://files.example/pesq-0.0.4.tar.gz"),
    ],
)
def test_forms_of_a_requirement(read_files, line, expected):
    project = read_files({"requirements.txt": f"\n{line}\n"})
    gone = line.startswith("./")
    assert [problem.kind for problem in project.problems] == [ReadingProblemKind.MISSING_FILE] * gone
    (requirement,) = project.requirements
    shown = requirement.pep508.replace(" @ ", " @ ")
    assert shown == expected
    assert str(requirement.origin) == "requirements.txt:2"


def test_a_wheel_says_its_version(read_files):
    (wheel,) = read_files({"requirements.txt": "./torch-2.1.0+cu118-cp310-cp310-win_amd64.whl\n"}).requirements
    assert str(wheel.specifier) == "==2.1.0+cu118"


def test_comments_and_continuations_keep_the_first_line(read_files):
    text = (
        "# top\r\n\r\ntorch \\\r\n  ==2.1.1 \\\r\n  --hash=sha256:%s\r\n#middle\r\nnumpy#no-comment\r\nscipy\t# yes\r\n"
    ).replace("%s", DIGEST)
    project = read_files({"requirements.txt": text})
    assert [(str(one.origin), one.name, one.hashes) for one in project.requirements] == [
        ("requirements.txt:3", "torch", (f"sha256:{DIGEST}",)),
        ("requirements.txt:8", "scipy", ()),
    ]
    (problem,) = project.problems
    assert (problem.kind, problem.origin.line) == (ReadingProblemKind.INVALID_REQUIREMENT, 7)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends(read_files, newline):
    project = read_files({"requirements.txt": newline.join(["a", "", "b==1"])})
    assert [one.origin.line for one in project.requirements] == [1, 3]


@pytest.mark.parametrize(
    ("encoding", "mark", "kinds"),
    [
        ("utf-8", b"", []),
        ("utf-8", b"\xef\xbb\xbf", [ReadingProblemKind.ENCODING]),
        ("utf-16-le", b"\xff\xfe", [ReadingProblemKind.ENCODING]),
        ("utf-16-be", b"\xfe\xff", [ReadingProblemKind.ENCODING]),
        ("utf-16-le", b"", [ReadingProblemKind.ENCODING]),
        ("utf-16-be", b"", [ReadingProblemKind.ENCODING]),
        ("utf-32-le", b"\xff\xfe\0\0", [ReadingProblemKind.ENCODING]),
    ],
)
def test_encodings(read_files, encoding, mark, kinds):
    project = read_files({"requirements.txt": mark + "torch~=2.1.0\r\nnumpy\r\n".encode(encoding)})
    assert [one.name for one in project.requirements] == ["torch", "numpy"]
    assert [problem.kind for problem in project.problems] == kinds


def test_declared_encoding_and_latin_fallback(read_files):
    declared = read_files({"requirements.txt": "# -*- coding: cp1251 -*-\n# Привет\ntorch\n".encode("cp1251")})
    assert (len(declared.requirements), declared.problems) == (1, ())
    latin = read_files({"requirements.txt": "# caf\xe9\ntorch\n".encode("latin-1")})
    assert [problem.kind for problem in latin.problems] == [ReadingProblemKind.ENCODING]
    unknown = read_files({"requirements.txt": "# coding: no-such\ntorch\n"})
    assert len(unknown.requirements) == len(unknown.problems) == 1


def test_includes_constraints_and_where_they_came_from(read_files):
    project = read_files(
        {
            "requirements.txt": "a\n-r sub/more.txt\n--constraint=sub/limits.txt\n",
            "sub/more.txt": "b\n-r deep.txt\n",
            "sub/deep.txt": "c\n",
            "sub/limits.txt": "d<2\n-r deep2.txt\n",
            "sub/deep2.txt": "e\n",
        }
    )
    found = [(one.name, str(one.origin), str(one.origin.included_from), one.kind) for one in project.requirements]
    require, constrain = RequirementKind.REQUIRE, RequirementKind.CONSTRAINT
    assert found == [
        ("a", "requirements.txt:1", "None", require),
        ("b", "sub/more.txt:1", "requirements.txt:2", require),
        ("c", "sub/deep.txt:1", "sub/more.txt:2", require),
        ("d", "sub/limits.txt:1", "requirements.txt:3", constrain),
        ("e", "sub/deep2.txt:1", "sub/limits.txt:2", require),
    ]
    assert project.files == ("requirements.txt", "sub/more.txt", "sub/deep.txt", "sub/limits.txt", "sub/deep2.txt")


def test_files_that_include_each_other_are_a_problem(read_files):
    project = read_files({"requirements.txt": "a\n-r b.txt\n", "b.txt": "b\n-r requirements.txt\n-r b.txt\n"})
    assert [one.name for one in project.requirements] == ["a", "b"]
    assert [str(problem.origin) for problem in project.problems] == ["b.txt:2", "b.txt:3"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("-r missing.txt", ReadingProblemKind.MISSING_FILE),
        ("-c missing.txt", ReadingProblemKind.MISSING_FILE),
        ("-r ../../../../../../../../../../etc/hostname", ReadingProblemKind.OUTSIDE_PROJECT),
        ("-r /etc/hostname", ReadingProblemKind.OUTSIDE_PROJECT),
        ("-r https://files.example/r.txt", ReadingProblemKind.UNREAD),
        ("--no-such-option x", ReadingProblemKind.UNKNOWN_OPTION),
        ("--index-url", ReadingProblemKind.UNKNOWN_OPTION),
        ("-i 'open", ReadingProblemKind.UNKNOWN_OPTION),
        ("torch==2.1 --extra-index-url https://index.example/cu118", ReadingProblemKind.IGNORED_OPTION),
        ("--extra-index-url https://index.example/cu118 torch==2.1", ReadingProblemKind.IGNORED_OPTION),
        ("git+https://git.example/a/whisper.git", ReadingProblemKind.UNREAD),
        ("./not-a-wheel.whl", ReadingProblemKind.INVALID_REQUIREMENT),
        ("torch @ ${TOKEN_URL}/x.whl", ReadingProblemKind.MISSING_VARIABLE),
        ("-e torch", ReadingProblemKind.INVALID_REQUIREMENT),
        ("a; nonsense == '1'", ReadingProblemKind.INVALID_REQUIREMENT),
        ("a; " + "(" * 5000, ReadingProblemKind.INVALID_REQUIREMENT),
    ],
)
def test_a_bad_line_is_a_problem_and_the_rest_goes_on(read_files, line, kind):
    project = read_files({"requirements.txt": f"first\n{line}\nlast\n"})
    assert {"first", "last"} <= {one.name for one in project.requirements}
    assert [(problem.kind, problem.origin.line) for problem in project.problems] == [(kind, 2)]


def test_a_path_where_an_address_has_its_port_is_no_requirement(read_files):
    """git reads `host:path` behind ssh alone; pip and uv refuse it, so no fetching can help."""
    lines = (
        "-e git+https://git.example:owner/alpha.git#egg=alpha\n"
        "beta @ git+https://git.example:8443/owner/beta.git\n"
        "gamma @ git+https://user:word@git.example/owner/gamma.git\n"
    )
    project = read_files({"requirements.txt": lines})
    (problem,) = project.problems
    assert problem.message == "`owner` stands where the address has its port, which is a number"
    assert problem.suggestions == ("-e git+https://git.example/owner/alpha.git#egg=alpha",)
    assert [item.name for item in project.requirements] == ["beta", "gamma"]


@pytest.mark.parametrize(
    ("text", "suggestions"),
    [
        ("httpx==0.23.", ("httpx==0.23.*", "httpx==0.23.0")),
        ("httpx>=0.23.", ("httpx>=0.23", "httpx>=0.23.0")),
        ("torch=2.1", ("torch==2.1",)),
        ("torch=2.1=py310_0", ("torch==2.1",)),
        ("torch 2.1", ("torch==2.1",)),
        ("torch=>2.1", ("torch>=2.1",)),
        ("torch>=2.*", ("torch>=2",)),
        ("torch==2.x", ("torch==2.*",)),
        ("\u201ctorch==2.1\u201d", ("torch==2.1",)),
        ("torch\u22652.1", ("torch>=2.1",)),
        ("'torch==2.1'", ("torch==2.1",)),
        ("pip install torch", ("torch",)),
        ("torch==2.1;", ("torch==2.1",)),
        ("legacy (1.0)", ()),
        ("??", ()),
    ],
)
def test_suggestions_ask_and_never_assume(read_files, text, suggestions):
    project = read_files({"requirements.txt": text})
    assert not project.requirements
    (problem,) = project.problems
    assert set(suggestions) <= set(problem.suggestions)
    assert text in problem.message


def test_options_of_a_file(read_files):
    text = (
        "-i https://index.example/simple\n--extra-index-url=https://index.example/cu118\n-f https://files.example/\n"
        "--no-index\n--pre\n--prefer-binary\n--require-hashes\n--no-binary :all:\n--only-binary=torch\n"
        "--trusted-host index.example\n--use-feature fast-deps\n--extra-index https://index.example/rocm\n"
    )
    project = read_files({"requirements.txt": text})
    assert [problem.kind for problem in project.problems] == [ReadingProblemKind.EMPTY]
    assert [(one.kind, one.url, one.origin.line) for one in project.index_options] == [
        (IndexOptionKind.INDEX_URL, "https://index.example/simple", 1),
        (IndexOptionKind.EXTRA_INDEX_URL, "https://index.example/cu118", 2),
        (IndexOptionKind.FIND_LINKS, "https://files.example/", 3),
        (IndexOptionKind.NO_INDEX, "", 4),
        (IndexOptionKind.EXTRA_INDEX_URL, "https://index.example/rocm", 12),
    ]
    assert [(one.name, one.value) for one in project.options] == [
        ("pre", ""),
        ("prefer-binary", ""),
        ("require-hashes", ""),
        ("no-binary", ":all:"),
        ("only-binary", "torch"),
        ("trusted-host", "index.example"),
    ]


def test_options_do_not_leak_from_line_to_line(read_files):
    project = read_files({"requirements.txt": "a --hash=sha256:00\nb\n-i https://index.example/\nc\n"})
    assert [one.hashes for one in project.requirements] == [("sha256:00",), (), ()]
    assert len(project.index_options) == 1


def test_variables_in_the_only_form_that_pip_knows(read_files):
    text = "-i https://${USER_1}@index.example/\n$HOME_${lower}\na==${VERSION}\n"
    project = read_files({"requirements.txt": text}, variables={"USER_1": "me", "VERSION": "2"})
    assert project.index_options[0].url == "https://me@index.example/"
    (requirement,) = project.requirements
    assert (requirement.pep508, requirement.text) == ("a==2", "a==${VERSION}")
    assert [problem.origin.line for problem in project.problems] == [2]


def test_editable_local_project_is_read_in_its_place(read_files):
    files = {
        "requirements.txt": "-e .[gpu]\nextra\n",
        "pyproject.toml": '[project]\nname = "mine"\ndependencies = ["torch"]\n'
        '[project.optional-dependencies]\ngpu = ["bitsandbytes"]\n',
    }
    project = read_files(files)
    assert [(one.name, str(one.origin), one.group and one.group.name) for one in project.requirements] == [
        ("torch", "pyproject.toml:3", None),
        ("extra", "requirements.txt:2", None),
        ("bitsandbytes", "pyproject.toml:5", "gpu"),
    ]
    assert project.name == "mine"


def test_an_editable_folder_needs_no_dot_before_its_name(read_files):
    files = {
        "requirements.txt": "-e near[gpu]\n",
        "near/pyproject.toml": '[project]\nname = "near"\n' + 'dependencies = ["six"]\n'
        '[project.optional-dependencies]\ngpu = ["torch"]\n',
    }
    project = read_files(files)
    assert [one.name for one in project.requirements] == ["six", "torch"]
    assert project.problems == ()


def test_editable_vcs_reference(read_files):
    (one,) = read_files({"requirements.txt": "-e git+https://git.example/a.git#egg=a-b\n"}).requirements
    assert (one.name, one.editable) == ("a-b", True)


def test_duplicates_compare_what_is_asked_for(read_files):
    text = (
        "accelerate==0.25.0\nAccelerate == 0.25.0 # again\nrequests\nrequests>=2\n"
        "x; os_name=='nt'\nx; os_name=='posix'\n"
    )
    project = read_files({"requirements.txt": text})
    assert [(first.origin.line, second.origin.line) for first, second in project.duplicates] == [(1, 2)]


def test_a_file_included_twice_is_no_duplicate(read_files):
    project = read_files({"requirements.txt": "-r a.txt\n-r a.txt\n", "a.txt": "torch\n"})
    assert (len(project.requirements), project.duplicates) == (1, ())
