"""Requirements that a setup.py adds on some machines alone: what the packer's machine wrote gets its condition back."""

from __future__ import annotations

import pytest

from envdoctor.adapters.index.setup_conditions import Unforeseeable, with_conditions

WHISPER = """
requirements = []
if sys.platform.startswith("linux") and platform.machine() == "x86_64":
    requirements.append("triton>=2.0.0,<3")
setup(install_requires=requirements + [str(r) for r in parse(open("requirements.txt"))])
"""
FUNCTION = """
IS_WINDOWS = platform.system() == "Windows"
def wanted():
    found = ["six"]
    if IS_WINDOWS:
        found += ["pywin32"]
    elif sys.platform in ("darwin", "ios"):
        found.append("pyobjc")
    else:
        found.extend(["uvloop>=0.2"])
    return found
setup(install_requires=wanted())
"""
UVLOOP = 'uvloop>=0.2 ; (platform_system != "Windows") and ((sys_platform != "darwin") and (sys_platform != "ios"))'
BY_PYTHON = """
reqs = ["six"]
if sys.version_info < (3, 8):
    reqs.append("numpy<1.22")
else:
    reqs.append("numpy>=1.22")
setuptools.setup(install_requires=reqs)
"""
TORCH = """
reqs = ["six"]
if platform.release() > "5":
    reqs.append("uring")
setup(install_requires=reqs)
"""
VARIABLE = """
reqs = ["six"]
if not os.environ.get("READTHEDOCS"):
    reqs.append("numpy")
setup(install_requires=reqs)
"""


@pytest.mark.parametrize(
    ("setup", "written", "meant"),
    [
        (
            WHISPER,
            ["numba", "triton<3,>=2.0.0"],
            ["numba", 'triton>=2.0.0,<3 ; (sys_platform == "linux") and (platform_machine == "x86_64")'],
        ),
        (
            WHISPER,
            ["numba"],
            ["numba", 'triton>=2.0.0,<3 ; (sys_platform == "linux") and (platform_machine == "x86_64")'],
        ),
        (
            FUNCTION,
            ["six", "uvloop>=0.2"],
            [
                "six",
                'pywin32 ; platform_system == "Windows"',
                'pyobjc ; (platform_system != "Windows") and ((sys_platform == "darwin") or (sys_platform == "ios"))',
                UVLOOP,
            ],
        ),
        (
            BY_PYTHON,
            ["six", "numpy>=1.22"],
            ["six", 'numpy<1.22 ; python_version < "3.8"', 'numpy>=1.22 ; python_version >= "3.8"'],
        ),
        (VARIABLE, ["six", "numpy"], ["six", "numpy"]),
        ('setup(install_requires=["a"] if os.name == "nt" else ["b"])', ["b"],
         ['a ; os_name == "nt"', 'b ; os_name != "nt"']),
        # It stands without a condition too.
        ('r = ["a"]\nif os.name == "nt":\n    r.append("a>1")\nsetup(install_requires=r)', ["a"], ["a"]),
        # A marker says it already.
        (WHISPER, ['triton ; sys_platform == "linux"'], ['triton ; sys_platform == "linux"']),
        # What is no requirement of the project: flags of the compiler.
        ('flags = []\nif os.name == "nt":\n    flags.append("winmm")\nsetup(install_requires=["a"])', ["a"], ["a"]),
        ("print 'of Python 2'\nif x: pass", ["a"], ["a"]),
    ],
)  # fmt: skip
def test_a_condition_of_setup_py_becomes_a_marker(setup: str, written: list[str], meant: list[str]) -> None:
    assert list(with_conditions(written, setup)) == meant


def test_a_condition_that_no_marker_can_say_leaves_the_requirement_unknown() -> None:
    with pytest.raises(Unforeseeable, match="uring"):
        with_conditions(["six", "uring"], TORCH)


@pytest.mark.parametrize(
    ("test", "marker"),
    [
        ('"linux" in sys.platform', '"linux" in sys_platform'),
        ('platform.system().lower() == "darwin"', 'platform_system == "Darwin"'),
        ("sys.version_info[0] == 2", 'python_version == "2.*"'),
        ("sys.version_info.major < 3", 'python_version < "3"'),
        ("sys.version_info[:2] >= (3, 9)", 'python_version >= "3.9"'),
        ('not sys.platform == "win32"', 'sys_platform != "win32"'),
        ('not (os.name == "nt" or sys.platform == "darwin")', '(os_name != "nt") and (sys_platform != "darwin")'),
    ],
)
def test_tests_of_the_machine_are_said_as_markers(test: str, marker: str) -> None:
    setup = f"r = []\nif {test}:\n    r.append('a')\nsetup(install_requires=r)"
    assert with_conditions(["a"], setup) == (f"a ; {marker}",)


FINDS_OUT = (
    "def find():\n    if sys.platform == 'linux':\n        names = ['libnvrtc.so.12']\n    return load(names)\n"
    "def main():\n    package = find()\n    wanted = f'{package}==1.0'\n"
    "    setup(install_requires=[wanted] if not os.environ.get('PACK') else [])\n"
)


def test_what_a_computed_name_is_made_of_is_no_requirement() -> None:
    assert with_conditions(["six"], FINDS_OUT) == ("six",)
    with pytest.raises(Unforeseeable, match="package"):
        with_conditions([], FINDS_OUT)
