"""The isolation rules, over real venvs and made-up details."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from envdoctor.adapters.probe.environment_isolation import path_programs, pip_settings, relevant_variables
from envdoctor.adapters.probe.installed_environment import read_environment
from envdoctor.model.environment import (
    EnvironmentKind,
    InstalledDistribution,
    InstalledEnvironment,
    Interpreter,
    Isolation,
    Venv,
)
from envdoctor.model.finding import Severity

pytestmark = pytest.mark.skipif(os.name != "posix", reason="venvs are laid out here as on POSIX systems")


def codes(findings):
    return [(finding.rule, finding.severity) for finding in findings]


def user_environment(kind: EnvironmentKind, root: str = "/opt/env") -> InstalledEnvironment:
    """An environment of which the user site hides numpy."""
    user, own = "/home/u/.local/lib/python3.10/site-packages", f"{root}/lib/python3.10/site-packages"
    return InstalledEnvironment(
        (
            InstalledDistribution("numpy", "2.1.0", location=user),  # type: ignore[arg-type]
            InstalledDistribution("numpy", "1.26.4", location=own),  # type: ignore[arg-type]
        ),
        root=root,
        python=(3, 10),
        site_packages=(user, own),
        search_path=("/opt/env/lib/python310.zip", user, own),
        kind=kind,
        told=Interpreter(user_site=user),
    )


def test_a_fresh_venv_has_nothing_to_say(venv, venv_site, diagnose, clean):
    venv_site.add("foo", "1.0")
    assert diagnose(read_environment(venv, environ=clean)) == []


def test_an_activated_venv_has_nothing_to_say(venv, diagnose, clean):
    variables = {**clean, "VIRTUAL_ENV": str(venv), "PATH": f"{venv}/bin"}
    assert diagnose(read_environment(venv, environ=variables)) == []


def test_the_systems_pip_beside_a_venv_without_one_is_information(venv, diagnose, clean, tmp_path):
    (tmp_path / "pip").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "pip").chmod(0o755)
    variables = {**clean, "VIRTUAL_ENV": str(venv), "PATH": f"{venv}/bin:{tmp_path}"}
    assert codes(diagnose(read_environment(venv, environ=variables))) == [("ISO005", Severity.INFO)]


def test_the_user_site_before_a_conda_environment(diagnose):
    findings = diagnose(user_environment(EnvironmentKind.CONDA), "ISO001", "ISO010")
    assert codes(findings) == [("ISO001", Severity.WARNING), ("ISO010", Severity.WARNING)]
    assert findings[1].message.startswith("`numpy` 1.26.4 is hidden by 2.1.0")


def test_the_user_site_of_an_installed_python_is_information(diagnose):
    assert codes(diagnose(user_environment(EnvironmentKind.PREFIX), "ISO001")) == [("ISO001", Severity.INFO)]


def test_the_user_site_that_is_off_or_empty_is_silent(diagnose):
    shown = user_environment(EnvironmentKind.CONDA)
    off = replace(shown, told=Interpreter())
    assert diagnose(off, "ISO001") == []
    empty = InstalledEnvironment((), root="/opt/env", search_path=off.search_path, told=shown.told)
    assert diagnose(empty, "ISO001") == []


def test_an_environments_own_package_before_the_systems_is_silent(diagnose):
    own, system = "/opt/env/lib/python3.10/site-packages", "/usr/lib/python3/dist-packages"
    environment = InstalledEnvironment(
        (
            InstalledDistribution("numpy", "2.1.0", location=own),  # type: ignore[arg-type]
            InstalledDistribution("numpy", "1.26.4", location=system),  # type: ignore[arg-type]
        ),
        root="/opt/env",
        search_path=(own, system),
        kind=EnvironmentKind.VENV,
        venv=Venv("/usr/bin", system_site=True),
    )
    assert diagnose(environment, "ISO010") == []
    (finding,) = diagnose(environment, "ISO008")
    assert finding.severity is Severity.INFO
    assert "1 distributions come from outside" in finding.message


def test_pythonpath_of_sources_is_information_with_distributions_a_warning(venv, diagnose, clean, site, tmp_path):
    sources = tmp_path / "src"
    sources.mkdir()
    environment = read_environment(venv, environ={**clean, "PYTHONPATH": str(sources)})
    assert codes(diagnose(environment)) == [("ISO002", Severity.INFO)]
    site.add("foo", "2.0")
    environment = read_environment(venv, environ={**clean, "PYTHONPATH": str(site.folder)})
    assert codes(diagnose(environment)) == [("ISO002", Severity.WARNING)]


def test_pythonpath_that_hides_an_installed_version(venv, venv_site, diagnose, clean, site):
    venv_site.add("foo", "1.0")
    site.add("foo", "2.0")
    environment = read_environment(venv, environ={**clean, "PYTHONPATH": str(site.folder)})
    assert ("ISO010", Severity.WARNING) in codes(diagnose(environment))


@pytest.mark.parametrize(
    ("path", "severity"),
    [
        ("foo.py", Severity.WARNING),
        ("foo/__init__.py", Severity.WARNING),
        ("bar.py", Severity.INFO),
        ("foo/part.py", Severity.INFO),
    ],
)
def test_pythonpath_with_sources_that_hide_what_is_installed(
    venv, venv_site, diagnose, clean, tmp_path, path, severity
):
    venv_site.add("foo", "1.0", files={"foo/__init__.py": ""})
    file = tmp_path / "sources" / path
    file.parent.mkdir(parents=True)
    file.write_text("", encoding="utf-8")
    environment = read_environment(venv, environ={**clean, "PYTHONPATH": str(tmp_path / "sources")})
    (finding,) = diagnose(environment, "ISO002")
    assert finding.severity is severity
    assert any("hides foo" in item.what for item in finding.evidence) is (severity is Severity.WARNING)


def test_pythonpath_of_another_python_is_a_warning(venv, diagnose, clean):
    variables = {**clean, "PYTHONPATH": "/nonexistent/lib/python2.7/site-packages"}
    assert codes(diagnose(read_environment(venv, environ=variables))) == [("ISO002", Severity.WARNING)]


def test_pythonhome_that_stops_the_interpreter(venv, diagnose, clean, tmp_path):
    environment = read_environment(venv, environ={**clean, "PYTHONHOME": str(tmp_path)})
    assert environment.python == sys.version_info[:2]
    findings = dict(codes(diagnose(environment)))
    assert findings["ISO003"] is Severity.ERROR
    assert findings["ENV010"] is Severity.ERROR


def test_pip_settings_of_files_and_variables(tmp_path):
    home, prefix = tmp_path / "home", tmp_path / "env"
    for path, text in {
        home / ".config" / "pip" / "pip.conf": "[global]\nuser = true\nindex-url = https://u:p@index.example\n",
        prefix / "pip.conf": "[install]\nno-deps = yes\n",
    }.items():
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    environ = {"HOME": str(home), "XDG_CONFIG_DIRS": "/nonexistent"}
    found = {key: (where, value) for where, key, value in pip_settings(environ, str(prefix), "linux")}
    assert found["user"] == (str(home / ".config/pip/pip.conf"), "true")
    assert found["no-deps"] == (str(prefix / "pip.conf"), "yes")
    assert "index-url" not in found
    assert "user" not in {key for _, key, _ in pip_settings({**environ, "PIP_USER": "0"}, str(prefix), "linux")}
    assert pip_settings({**environ, "PIP_CONFIG_FILE": os.devnull}, str(prefix), "linux") == ()


def test_a_pip_configuration_that_is_none_is_passed_over(tmp_path):
    (tmp_path / "pip.conf").write_text("user = true without a section\n", encoding="utf-8")
    assert pip_settings({"HOME": "/nonexistent"}, str(tmp_path), "linux") == ()


def test_pip_user_in_a_venv_is_a_warning(venv, diagnose, clean):
    environment = read_environment(venv, environ={**clean, "PIP_USER": "1"})
    (finding,) = diagnose(environment)
    assert (finding.rule, finding.severity) == ("ISO004", Severity.WARNING)
    assert finding.evidence[0].where == "PIP_USER"


def test_only_variables_of_isolation_are_kept():
    assert relevant_variables({"PYTHONPATH": "/x", "PIP_INDEX_URL": "https://u:p@x", "HF_TOKEN": "s"}) == {
        "PYTHONPATH": "/x"
    }


def test_an_active_environment_with_another_pip_first(venv, venv_site, diagnose, clean, tmp_path):
    venv_site.add("pip", "25.0")
    other = tmp_path / "other" / "bin"
    other.mkdir(parents=True)
    for name in ("pip", "python"):
        (other / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (other / name).chmod(0o755)
    variables = {**clean, "VIRTUAL_ENV": str(venv), "PATH": f"{other}:{venv}/bin"}
    findings = diagnose(read_environment(venv, environ=variables))
    assert [(finding.rule, finding.subject) for finding in findings] == [("ISO005", "python"), ("ISO005", "pip")]
    not_active = {**clean, "PATH": f"{other}:{venv}/bin"}
    assert diagnose(read_environment(venv, environ=not_active)) == []


def test_a_venv_that_was_moved_has_a_pip_of_the_old_place(venv, diagnose, clean):
    pip = venv / "bin" / "pip"
    pip.write_text("#!/somewhere/old/bin/python3\nimport sys\n", encoding="utf-8")
    (finding,) = diagnose(read_environment(venv, environ=clean))
    assert finding.rule == "ISO005"
    assert "`/somewhere/old/bin/python3`, which is no longer there" in finding.message
    pip.write_text(f"#!{venv}/bin/python3\nimport sys\n", encoding="utf-8")
    assert diagnose(read_environment(venv, environ=clean)) == []
    pip.write_text("#!/bin/sh\n'''exec' python3 \"$0\" \"$@\"\n' '''\n", encoding="utf-8")
    assert diagnose(read_environment(venv, environ=clean)) == []


def test_conda_in_the_way_of_a_venv(diagnose):
    variables = {"VIRTUAL_ENV": "/home/u/env", "CONDA_PREFIX": "/home/u/miniconda3"}

    def environment(python: str, **more: str) -> InstalledEnvironment:
        around = Isolation({**variables, **more}, {"python": python})
        return InstalledEnvironment((), root="/home/u/env", kind=EnvironmentKind.VENV, isolation=around)

    def found(item: InstalledEnvironment) -> list[tuple[str, Severity]]:
        return codes(diagnose(item, "ISO006"))

    assert found(environment("/home/u/miniconda3/bin/python")) == [("ISO006", Severity.WARNING)]
    assert found(environment("/home/u/env/bin/python", LD_LIBRARY_PATH="/home/u/miniconda3/lib")) == [
        ("ISO006", Severity.WARNING)
    ]
    assert found(environment("/home/u/env/bin/python")) == [("ISO006", Severity.INFO)]


def test_pth_files_that_run_code_of_their_own(venv, venv_site, diagnose, clean):
    texts = {
        "distutils-precedence.pth": "import os; print",
        "__editable__.mine-0.1.pth": "import __editable___mine_finder",
        "google_auth-nspkg.pth": "import sys",
        "paths.pth": "/somewhere\n# import comment\n",
        "loader.pth": "/x\nimport os; os.environ.get('x')\n",
    }
    for name, text in texts.items():
        (venv_site.folder / name).write_text(text, encoding="utf-8")
    (venv_site.folder / "__editable___mine_finder.py").write_text("", encoding="utf-8")
    (finding,) = diagnose(read_environment(venv, environ=clean))
    assert (finding.rule, finding.severity, finding.subject) == ("ISO007", Severity.INFO, "loader.pth")
    assert finding.evidence[0].where.endswith("loader.pth:2")


def test_a_venv_whose_base_is_gone(venv, venv_site, diagnose, clean):
    venv_site.add("foo", "1.0")
    for name in ("python", "python3", f"python{sys.version_info[0]}.{sys.version_info[1]}"):
        link = venv / "bin" / name
        if link.is_symlink():
            link.unlink()
            link.symlink_to("/nonexistent/bin/python3")
    environment = read_environment(venv, environ=clean)
    assert [item.name for item in environment.distributions] == ["foo"]
    assert codes(diagnose(environment)) == [("ISO009", Severity.ERROR)]


def test_a_venv_whose_base_is_another_version_now(venv, venv_site, diagnose, clean):
    venv_site.add("foo", "1.0")
    library = venv_site.folder.parent
    library.rename(library.parent / "python3.7")
    configuration = venv / "pyvenv.cfg"
    text = configuration.read_text(encoding="utf-8")
    configuration.write_text(text.replace(".".join(map(str, sys.version_info[:3])), "3.7.9"), encoding="utf-8")
    environment = read_environment(venv, environ=clean)
    (finding,) = diagnose(environment, "ISO009")
    assert finding.severity is Severity.ERROR
    assert "made for Python 3.7, its base is now Python" in finding.message


def test_programs_on_path_are_those_that_can_run(tmp_path):
    for folder, mode in (("one", 0o644), ("two", 0o755)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pip").write_text("", encoding="utf-8")
        (tmp_path / folder / "pip").chmod(mode)
    if os.access(tmp_path / "one" / "pip", os.X_OK):
        pytest.skip("this user may run files that are not executable")
    found = path_programs({"PATH": f"{tmp_path}/one::{tmp_path}/two"}, windows=False)
    assert found == {"pip": f"{tmp_path}/two/pip"}


def test_a_bare_folder_says_nothing_of_this_machine(site):
    environment = read_environment(site.folder)
    assert environment.isolation is None
    assert environment.told == Interpreter()


def test_the_venv_of_a_symlinked_folder_is_itself(venv, diagnose, clean, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(venv)
    environment = read_environment(Path(link), environ=clean)
    assert len(environment.site_packages) == 1
    assert diagnose(environment) == []


def test_another_environment_that_is_active_is_a_note_but_not_envdoctors_own(diagnose):
    def environment(active: str, python: str, doctor: str = "/home/u/doctor") -> InstalledEnvironment:
        around = Isolation({"VIRTUAL_ENV": active}, {"python": python}, doctor=doctor)
        return InstalledEnvironment((), root="/home/u/b", kind=EnvironmentKind.VENV, isolation=around)

    (finding,) = diagnose(environment("/home/u/a", "/home/u/a/bin/python"), "ISO005")
    assert finding.severity is Severity.INFO
    assert "Another environment is active: `python` here is `/home/u/a/bin/python`" in finding.message
    assert diagnose(environment("/home/u/a", "/home/u/a/bin/python", doctor="/home/u/a"), "ISO005") == []
    assert diagnose(environment("/home/u/b", "/home/u/b/bin/python"), "ISO005") == []
