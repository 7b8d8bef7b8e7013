"""What a profile may set without a further word of the user."""

from __future__ import annotations

import pytest

from envdoctor.planning.fix_refusals import refused_variables
from envdoctor.profile.catalogue import catalogue
from envdoctor.profile.load import load_profile

HOSTILE = [
    *("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "PATH", "SHELL"),
    *("PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS", "PYTHONUSERBASE", "PYTHONEXECUTABLE"),
    *("PIP_INDEX_URL", "UV_INDEX", "GIT_SSH_COMMAND", "EDITOR", "BROWSER", "CUDA_INJECTION64_PATH", "HF_ENDPOINT"),
    *("HSA_TOOLS_LIB", "OMP_TOOL_LIBRARIES", "NCCL_NET_PLUGIN", "path", "XCUDA_HOME"),
]


@pytest.mark.parametrize("name", HOSTILE)
def test_what_decides_which_code_runs_needs_the_users_word(name: str) -> None:
    (refusal,) = refused_variables({name: "x"}, "/p", frozenset())
    assert (refusal.kind.value, refusal.subject) == ("variable", name)
    assert f"--allow-variable {name}" in refusal.remedy
    assert not list(refused_variables({name: "x"}, "/p", frozenset({name})))


@pytest.mark.parametrize(
    ("value", "refused"),
    [
        ("/p", False),
        ("/p/src:/p/models", False),
        ("C:\\p;C:\\p\\src", False),
        ("/px", True),
        ("/p/../evil", True),
        ("/p:/evil", True),
        ("/evil", True),
    ],
)
def test_modules_may_come_from_the_project_alone(value: str, refused: bool) -> None:
    project = "C:\\p" if value.startswith("C:") else "/p"
    assert bool(list(refused_variables({"PYTHONPATH": value}, project, frozenset()))) is refused


def test_shipped_profiles_set_nothing_else() -> None:
    for listed in catalogue():
        profile = load_profile(listed.name)
        variables = {key: value.replace("{project}", "/p") for key, value in profile.environment.items()}
        assert not list(refused_variables(variables, "/p", frozenset())), listed.name
