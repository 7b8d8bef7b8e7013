"""What people paste."""

from __future__ import annotations

import json
import time

import pytest

from envdoctor.adapters.probe.host_pastes import facts_of_paste
from envdoctor.adapters.probe.listing import ListingError, read_listing
from envdoctor.model.environment import EnvironmentProblemKind

NOT_TOLD = (
    EnvironmentProblemKind.REQUIREMENTS_NOT_TOLD,
    EnvironmentProblemKind.PYTHON_NOT_TOLD,
    EnvironmentProblemKind.SYSTEM_NOT_TOLD,
    EnvironmentProblemKind.NOT_TOLD,
)


def versions(text: str) -> dict[str, str]:
    return {item.name: item.version for item in read_listing(text, "pasted.txt").distributions}


def unknown(text: str) -> list[str]:
    return [item.detail for item in read_listing(text, "pasted.txt").problems if item.kind in NOT_TOLD]


FREEZE = """\
(venv) PS C:\\proj> pip freeze
Flask_Login==0.6.3
torch==2.6.0+cu124
local @ file:///C:/wheels/local-1.2%2Bcpu-py3-none-any.whl#sha256=00
conda-built @ file:///croot/conda-built_1700/work
-e git+https://git.example/u/mine@0123abc#egg=mine&subdirectory=x
# Editable install with no version control (other==0.2)
-e c:\\src\\other
--extra-index-url https://index.example/cu124
[notice] A new release of pip is available: 24.0 -> 25.0
"""


def test_pip_freeze_with_all_its_forms():
    environment = read_listing(FREEZE, "pasted.txt")
    assert environment.source == "pip freeze"
    assert versions(FREEZE) == {
        "flask-login": "0.6.3",
        "torch": "2.6.0+cu124",
        "local": "1.2+cpu",
        "conda-built": "",
        "mine": "",
        "other": "0.2",
    }
    assert [item.name for item in environment.distributions if item.editable] == ["mine", "other"]
    assert "the Python version" in unknown(FREEZE)


def test_a_byte_order_mark_and_windows_line_ends():
    assert versions("\ufefftorch==2.6.0\r\nnumpy==1.26.4\r\n") == {"torch": "2.6.0", "numpy": "1.26.4"}


def test_one_bad_line_among_good_ones_is_kept_as_a_problem(diagnose):
    environment = read_listing("torch==2.6.0\n???\nnumpy==1.26.4\n", "pasted.txt")
    assert [(p.kind, p.subject) for p in environment.problems if p.kind not in NOT_TOLD] == [
        (EnvironmentProblemKind.UNREADABLE_LINE, "pasted.txt:2")
    ]
    findings = diagnose(environment)
    assert [finding.rule for finding in findings] == ["ENV008", "ENV011"]
    assert findings[1].evidence == ()  # its message says all of it


COLUMNS = """\
Package            Version     Editable project location
------------------ ----------- -------------------------
numpy              1.26.4
my-project         0.1.0       /home/u/my project
"""


def test_pip_list_in_columns():
    environment = read_listing(COLUMNS, "pasted.txt")
    assert environment.source == "pip list"
    assert versions(COLUMNS) == {"numpy": "1.26.4", "my-project": "0.1.0"}
    assert [item.direct_url for item in environment.distributions] == [None, "/home/u/my project"]


def test_pip_list_of_old_pips_and_as_json_and_as_freeze():
    assert versions("numpy (1.26.4)\nmine (0.1, /src/mine)\n") == {"numpy": "1.26.4", "mine": "0.1"}
    text = json.dumps([{"name": "numpy", "version": "1.26.4"}, {"name": "A.B", "version": "1"}])
    assert versions(text) == {"numpy": "1.26.4", "a-b": "1"}


CONDA = """\
# packages in environment at C:\\Users\\u\\miniconda3\\envs\\tts:
#
# Name                    Version                   Build  Channel
_openmp_mutex             4.5                       1_gnu    conda-forge
cudatoolkit               11.8.0               h4ba93d1_13    conda-forge
numpy                     1.26.4          py310h5f9d8c6_0
python                    3.10.13              h955ad1f_0
pytorch                   2.1.0           py3.10_cuda11.8_cudnn8.7.0_0    pytorch
requests                  2.31.0             pyhd8ed1ab_0    conda-forge
torch-directml            0.2.5                    pypi_0    pypi
"""


def test_conda_list():
    environment = read_listing(CONDA, "pasted.txt")
    assert environment.source == "conda list"
    assert environment.python_full == "3.10.13"
    assert environment.root == "C:\\Users\\u\\miniconda3\\envs\\tts"
    assert versions(CONDA) == {"numpy": "1.26.4", "torch": "2.1.0", "requests": "2.31.0", "torch-directml": "0.2.5"}
    packages = environment.conda_packages
    assert ("cudatoolkit", "11.8.0", "h4ba93d1_13", "conda-forge") in packages  # type: ignore[operator]
    assert {item.name: item.installer for item in environment.distributions}["torch-directml"] == "pip"


def test_conda_list_with_addresses_of_channels():
    text = (
        "# packages in environment at /opt/conda/envs/x:\n#\n# Name Version Build Channel\n"
        "_libgcc_mutex 0.1 main https://conda.example/pkgs/main\n"
        "python 3.8.20 he870216_0 https://conda.example/pkgs/main\n"
        "pytorch 1.7.1 cuda101py38h0a6ab63_0 https://conda.example/pkgs/main\n"
        "fvcore 0.1.5 pypi_0 pypi\n"
    )
    assert versions(text) == {"torch": "1.7.1", "fvcore": "0.1.5"}
    assert read_listing(text, "pasted.txt").python_full == "3.8.20"


def test_conda_list_as_export_explicit_and_json():
    export = "# $ conda create --name <env> --file <this file>\n# platform: win-64\nnumpy=1.26.4=py310h5_0\n"
    export += "python=3.10.1=h9_0\n"
    environment = read_listing(export, "pasted.txt")
    assert environment.told.platform == "win32"
    assert environment.python == (3, 10)
    explicit = "# platform: osx-arm64\n@EXPLICIT\nhttps://conda.example/osx-arm64/numpy-1.26.4-py310h5_0.conda#00ff\n"
    assert versions(explicit) == {"numpy": "1.26.4"}
    rows = [
        {
            "name": "numpy",
            "version": "1.26.4",
            "build_string": "py310h5_0",
            "channel": "c",
            "platform": "linux-aarch64",
        },
        {"name": "torch", "version": "2.6.0", "build_string": "pypi_0", "channel": "pypi", "platform": "pypi"},
    ]
    environment = read_listing(json.dumps(rows), "pasted.txt")
    assert environment.told.machine == "aarch64"
    assert [item.name for item in environment.distributions] == ["numpy", "torch"]


COLLECT_ENV = """\
Collecting environment information...
PyTorch version: 2.6.0+cu124
Is debug build: False
CUDA used to build PyTorch: 12.4

OS: Microsoft Windows 11 Pro (10.0.22631 64-bit)
Python version: 3.10.11 (tags/v3.10.11:7d4cc5a, Apr  5 2023, 00:38:17) [MSC v.1929 64 bit (AMD64)] (64-bit runtime)
Python platform: Windows-10-10.0.22631-SP0
GPU models and configuration:
GPU 0: NVIDIA GeForce RTX 5080
GPU 1: NVIDIA GeForce RTX 3060

Versions of relevant libraries:
[pip3] numpy==1.26.4
[pip3] torch==2.6.0
[conda] numpy                     1.26.4                   pypi_0    pypi
[conda] Could not collect
"""


def test_collect_env():
    environment = read_listing(COLLECT_ENV, "pasted.txt")
    assert environment.source == "collect_env"
    assert environment.python_full == "3.10.11"
    assert environment.told.platform == "win32"
    assert versions(COLLECT_ENV) == {"numpy": "1.26.4", "torch": "2.6.0+cu124"}
    facts = facts_of_paste(COLLECT_ENV)
    assert facts is not None
    assert [facts.value(f"gpu[{number}].name") for number in (0, 1)] == [
        "NVIDIA GeForce RTX 5080",
        "NVIDIA GeForce RTX 3060",
    ]
    assert "the distributions that it leaves out" in unknown(COLLECT_ENV)


def test_the_torch_that_collect_env_imported_is_the_one_that_counts():
    text = "PyTorch version: 2.6.0+cu124\n\n[pip3] torch==2.8.0\n[pip3] torchvision==0.23.0\n[conda] torch 2.8.0 pypi_0"
    assert versions(text) == {"torch": "2.6.0+cu124", "torchvision": "0.23.0"}
    nothing = read_listing(
        "PyTorch version: 2.0.0a0+gite9ebda2\n[pip3] torch==2.0.0a0+gite9ebda2\n[conda] N/A", "a.txt"
    )
    assert [item.version for item in nothing.distributions] == ["2.0.0a0+gite9ebda2"]
    assert not [item for item in nothing.problems if item.kind not in NOT_TOLD]


def test_the_libraries_of_collect_env_alone():
    assert versions("[pip3] numpy==1.26.4\n[conda] pytorch 2.1.0 py3.10_0 pytorch\n") == {
        "numpy": "1.26.4",
        "torch": "2.1.0",
    }


def test_pip_inspect_tells_requirements_and_markers(diagnose):
    document = {
        "version": "1",
        "pip_version": "24.0",
        "installed": [
            {
                "metadata": {"name": "a", "version": "1", "requires_dist": ["b>=2; sys_platform == 'win32'"]},
                "metadata_location": "C:\\env\\Lib\\site-packages\\a-1.dist-info",
                "installer": "pip",
            },
            {
                "metadata": {"name": "b", "version": "1"},
                "direct_url": {"url": "file:///b", "dir_info": {"editable": True}},
            },
        ],
        "environment": {
            "sys_platform": "win32",
            "python_version": "3.10",
            "python_full_version": "3.10.11",
            "platform_machine": "AMD64",
        },
    }
    environment = read_listing(json.dumps(document), "pasted.txt")
    assert environment.python == (3, 10)
    assert environment.distributions[0].location == "C:\\env\\Lib\\site-packages"
    assert environment.distributions[1].editable
    assert [finding.subject for finding in diagnose(environment, "ENV001")] == ["a"]
    assert unknown(json.dumps(document)) == ["which files its distributions own"]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "the file is empty"),
        ("\n\n  \n", 1, "the file is empty"),
        ("torch>=2.0\nnumpy\n", 1, "is a requirement, not an installed version"),
        ("# a comment\nDear doctor, my torch is ill\n", 2, "is of no listing that is known"),
        ("{\n 'x'\n}", 2, "this is not JSON"),
        ('{"a": 1}', 1, "this JSON is neither"),
        ('["a"]', 1, "this JSON is neither"),
        ('[{"name": "a"}]', 1, "entry [0] has no `name` and `version`"),
        ('{"installed": [{"metadata": {}}]}', 1, "installed[0] has no `metadata`"),
        ("# only comments\n", 1, "no installed distribution is listed"),
        ("t\0o\0r\0c\0h\0", 1, "this is not text"),
    ],
)
def test_what_is_no_listing_is_refused_with_the_line(text, line, says):
    with pytest.raises(ListingError) as caught:
        read_listing(text, "pasted.txt")
    assert (caught.value.path, caught.value.line) == ("pasted.txt", line)
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"pasted.txt:{line}: ")


@pytest.mark.parametrize(
    "before",
    [
        "[me@here ~]$ pip freeze",
        "[root@a ~]# pip list",
        "In [1]: !pip list",
        "!pip list",
        ">pip freeze",
        "\u279c  x pip list",
    ],
)
def test_the_command_before_a_listing_is_no_line_of_it(before: str):
    listing = read_listing(f"{before}\ntorch==2.2.0+cu121\nnumpy==2.1.0\n", "pasted.txt")
    assert {item.name: item.version for item in listing.distributions} == {"torch": "2.2.0+cu121", "numpy": "2.1.0"}
    assert EnvironmentProblemKind.UNREADABLE_LINE not in {item.kind for item in listing.problems}


PIP_JSON = '[{"name": "torch", "version": "2.2.0+cu121"}, {"name": "numpy", "version": "2.1.0"}]'


@pytest.mark.parametrize(
    "text",
    [
        f"{PIP_JSON}\n\n[notice] A new release of pip is available: 24.0 -> 25.3\n",
        f"$ pip list --format=json\n{PIP_JSON}\n",
        f"WARNING: Ignoring invalid distribution ~orch (/v)\n{PIP_JSON}\n(venv) u@h:~$ ",
    ],
)
def test_what_stands_around_pips_json_is_left_out(text: str):
    assert versions(text) == {"torch": "2.2.0+cu121", "numpy": "2.1.0"}


def test_the_system_information_of_a_web_ui_is_a_listing():
    """It holds what `pip freeze` prints as a list of texts."""
    packages = '"Packages": ["torch==2.1.2+cu121", "xformers==0.0.27"]'
    text = f'{{"Platform": "Windows-10-10.0.22631-SP0", "Python": "3.10.6", {packages}}}'
    assert versions(text) == {"torch": "2.1.2+cu121", "xformers": "0.0.27"}
    environment = read_listing(text, "sysinfo.json")
    assert (environment.told.platform, environment.python) == ("win32", (3, 10))


def test_more_text_after_json_is_told_with_its_line():
    with pytest.raises(ListingError, match=r"pasted\.txt:2: this is not JSON"):
        read_listing(f"{PIP_JSON}\nmore of it", "pasted.txt")


def test_json_without_end_of_its_depth_is_refused():
    with pytest.raises(ListingError, match="not JSON"):
        read_listing("[" * 100_000, "pasted.txt")


def test_a_terminals_colours_are_no_part_of_a_listing():
    text = "\x1b[1m$ pip freeze\x1b[0m\n\x1b[33mWARNING: Ignoring ~orch\x1b[0m\n\x1b[36mnumpy\x1b[0m==2.1.0\n"
    assert versions(text) == {"numpy": "2.1.0"}
    assert not [
        item
        for item in read_listing(text, "pasted.txt").problems
        if item.kind is EnvironmentProblemKind.UNREADABLE_LINE
    ]


@pytest.mark.parametrize(
    ("text", "platform"),
    [
        ("(venv) C:\\work> pip freeze\nnumpy==1.26.4\n", "win32"),
        ("# packages in environment at D:\\conda\\envs\\x:\n#\nnumpy    1.26.4    py311_0    conda-forge\n", "win32"),
        ("numpy==1.26.4\nfoo @ file:///C:/x/foo-1.2.3-py3-none-any.whl\n", "win32"),
        ("numpy==1.26.4\n-e /home/u/bar\n", "linux"),
        ("# packages in environment at /Users/u/miniforge3:\n#\nnumpy  1.26.4  py311_0  conda-forge\n", "darwin"),
        ("numpy==1.26.4\na @ file:///C:/x/a-1.whl\nb @ file:///home/u/b-1.whl\n", None),
        ("numpy==1.26.4\nc @ git+https://git.example/home/u/c\n", None),
        # What conda-forge builds for every system it builds on Linux.
        (
            "a @ file:///D:/bld/a_1652464130670/work/dist\nb @ file:///home/conda/artifacts/b_1603108395799/work\n",
            "win32",
        ),
        ("numpy==1.26.4\nb @ file:///home/conda/artifacts/b_1603108395799/work\n", "linux"),
    ],
)
def test_the_paths_in_a_listing_tell_its_system(text: str, platform: str | None):
    assert read_listing(text, "pasted.txt").told.platform == (platform or "")


def test_a_listing_of_conda_s_takes_no_square_of_its_length():
    rows = "".join(f"package{number} 1.{number} py310_0 conda-forge\n" for number in range(20_000))
    begun = time.process_time()
    listing = read_listing(f"# packages in environment at /opt/conda:\n# Name Version Build Channel\n{rows}", "x.txt")
    assert len(listing.distributions) == 20_000
    assert time.process_time() - begun < 8


def test_a_text_of_collect_env_takes_no_square_of_its_length():
    rows = "".join(f"[pip3] package{number}==1.{number}\n" for number in range(20_000))
    again = "".join(f"[conda] package{number} 1.{number} py310_0 conda-forge\n" for number in range(20_000))
    cards = "".join(f"GPU {number}: NVIDIA A100\n" for number in range(20_000))
    begun = time.process_time()
    listing = read_listing(f"PyTorch version: 2.5.1\nGPU models and configuration:\n{cards}{rows}{again}", "x.txt")
    assert len(listing.distributions) == 20_001
    assert {item.installer for item in listing.distributions} == {"conda", None}
    assert time.process_time() - begun < 8


def test_the_copies_that_setuptools_brings_along_are_none_of_the_environments():
    """wandb lists them behind the others, and pip does not."""
    text = (
        "packaging==25.0\nzipp==3.23.0\nwheel==0.45.1\nautocommand==2.2.2\njaraco.text==3.12.1\n"
        "packaging==24.2\nzipp==3.19.2\nwheel==0.45.1\ntomli==2.0.1\n"
    )
    assert [(item.name, item.version) for item in read_listing(text, "requirements.txt").distributions] == [
        ("packaging", "25.0"),
        ("zipp", "3.23.0"),
        ("wheel", "0.45.1"),
        ("autocommand", "2.2.2"),
        ("jaraco-text", "3.12.1"),
        ("tomli", "2.0.1"),
    ]
    twice = "packaging==25.0\npackaging==24.2\n"
    assert len(read_listing(twice, "requirements.txt").distributions) == 2
