"""Scripts that a script runs and that are not here: what may install is not known, what only sets up says nothing."""

from __future__ import annotations

import pytest

from envdoctor.model.project import ReadingProblemKind

FORGE = "https://raw.githubusercontent.com/a/b/main/install.sh"
NOT_KNOWN = {
    "run.sh": "bash install_deps.sh",
    "own.sh": '"$(dirname "$0")/setup.sh" --all',
    "made-executable.sh": "chmod +x build.sh && sudo ./build.sh",
    "below.sh": "cd tools && sh ./get_deps.sh",
    "sourced.sh": ". ./deps.sh",
    "variable.sh": 'SCRIPT_DIR="$(cd "$(dirname "$0")" && pwd)"\nsource "${SCRIPT_DIR}/install_torch.sh"',
    "checked.sh": "if [ ! -f install_deps.sh ]; then exit 1; fi\nbash install_deps.sh",
    "cloned.sh": "git clone https://git.example/a/b\ncd b\nbash setup.sh",
    "written.sh": "python make.py > install_more.sh\nbash install_more.sh",
    "fetched.sh": f"wget {FORGE}\nbash install.sh",
    "piped.sh": f"curl -fsSL {FORGE} | sudo bash -s -- -y",
    "read.sh": f"bash <(curl -s {FORGE})",
    "text.sh": f'bash -c "$(curl -fsSL {FORGE})"',
    "call.bat": "call setup\\x.bat",
    "own.bat": 'call "%~dp0setup\\x.bat"',
    "run.ps1": "& .\\install.ps1",
    "piped.ps1": f"irm {FORGE} | iex",
    "handed.ps1": f"iex (irm {FORGE})",
    "client.ps1": f"iex ((New-Object System.Net.WebClient).DownloadString('{FORGE}'))",
    "Dockerfile": "FROM x\nCOPY . /app\nWORKDIR /app\nRUN bash scripts/install.sh",
    "Dockerfile.stage": "FROM x\nCOPY --from=a /x/install.sh /y/\nRUN /y/install.sh",
}
NOTHING = {
    "activate.sh": "source venv/bin/activate\n. .venv/Scripts/activate.sh\nsource activate.sh",
    "machine.sh": "source ~/.bashrc\n. /etc/profile\nsource /opt/rocm/env.sh\nbash /opt/tools/install.sh\n. $HOME/x.sh",
    "env.sh": ". ./env.sh\nsource set_vars.sh\n. ./setvars.sh\nsource config.sh\nsource common.sh\n. lib/utils.sh",
    "conda.sh": 'source "$(conda info --base)/etc/profile.d/conda.sh"\n. miniconda3/etc/profile.d/conda.sh',
    "ros.sh": "source install/setup.bash\n. devel/setup.sh",
    "starts.sh": "bash run.sh\n./start_server.sh\nsh download_models.sh\nbash scripts/test_all.sh",
    "libraries.sh": "git clone https://git.example/a/b\ncd b\n./autogen.sh && ./build.sh\nbash deploy.sh",
    "recipe.sh": "steps/make_mfcc.sh --nj 4 data\nutils/prepare_lang.sh a\n./cmd.sh\nbash build_lm.sh",
    "looks.sh": "./test_install.sh\nbash check_requirements.sh",
    "guarded.sh": "[ -f install_local.sh ] && . ./install_local.sh\nif test -x ./more.sh; then ./more.sh; fi",
    "tools.sh": (
        "wget https://repo.example/Miniconda3-latest-Linux-x86_64.sh -O c.sh && bash c.sh -b\n"
        "bash Miniforge3-Linux-x86_64.sh -b\ngit clone https://github.com/microsoft/vcpkg && ./vcpkg/bootstrap-vcpkg.sh"
    ),
    "piped.sh": (
        "curl --proto '=https' -sSf https://sh.rustup.rs | sh -s -- -y\n"
        "curl -LsSf https://astral.sh/uv/install.sh | sh\n"
        "curl -o- https://raw.githubusercontent.com/nvm-sh/nvm/v0.40.1/install.sh | bash\n"
        "curl -sS https://bootstrap.pypa.io/get-pip.py | python3\n"
        '/bin/bash -c "$(curl -fsSL https://raw.githubusercontent.com/Homebrew/install/HEAD/install.sh)"\n'
        "curl -fsSL https://deb.nodesource.com/setup_20.x | sudo -E bash -"
    ),
    "said.sh": "echo bash install_deps.sh\nchmod +x install_deps.sh\ncp install_deps.sh /tmp",
    "guarded.bat": "if exist local.bat call local.bat\nif exist more.bat (\n  call more.bat\n)",
    "machine.bat": (
        'call "C:\\Program Files\\x\\vcvarsall.bat" x64\ncall vcvars64.bat\ncall "%ONEAPI_ROOT%\\setvars.bat"\n'
        "call venv\\Scripts\\activate.bat\ncall conda.bat activate x"
    ),
    "tools.ps1": "irm https://astral.sh/uv/install.ps1 | iex\n& Activate.ps1",
    "guarded.ps1": "if (Test-Path .\\more.ps1) { & .\\more.ps1 }",
    "Dockerfile": "FROM x\nRUN bash /opt/install.sh && . /opt/intel/oneapi/setvars.sh",
}


@pytest.mark.parametrize("name", NOT_KNOWN)
def test_what_a_script_that_is_not_here_installs_is_not_known(read_files, name):
    begin = "RUN pip install six" if name.startswith("Dockerfile") else "pip install six"
    project = read_files({name: f"{NOT_KNOWN[name]}\n{begin}\n", "tools/x": ""}, at=name)
    (problem,) = project.problems
    assert (problem.kind, [one.name for one in project.requirements]) == (ReadingProblemKind.UNREAD, ["six"])
    assert "what it installs is not known" in problem.message


@pytest.mark.parametrize("name", NOTHING)
def test_a_script_that_is_the_machine_s_or_sets_up_only_is_passed_over(read_files, name):
    begin = "RUN pip install six" if name.startswith("Dockerfile") else "pip install six"
    project = read_files({name: f"{NOTHING[name]}\n{begin}\n"}, at=name)
    assert (project.problems, [one.name for one in project.requirements]) == ((), ["six"])


def test_a_script_that_runs_nothing_but_one_that_is_not_here_is_not_known(read_files):
    project = read_files({"i.sh": "bash install_deps.sh\n"}, at="i.sh")
    assert (project.unread, project.commands) == (("bash install_deps.sh",), ())


def test_what_brings_a_script_is_said(read_files):
    project = read_files({"i.sh": "git clone https://git.example/a/b\nbash b/setup.sh\n"}, at="i.sh")
    assert project.problems[0].message.startswith("`b/setup.sh` is not here: line 1 of `i.sh` fetches it;")


def test_a_script_that_is_not_here_and_runs_in_the_place_of_one_that_counts_is_only_named(read_files):
    project = read_files({"i.sh": "pip install six || bash install_other.sh\n"}, at="i.sh")
    assert (project.problems, [one.detail for one in project.left_out]) == ((), ["bash install_other.sh"])
