"""One file of a project, read as its form asks."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from envdoctor.adapters.project.draft import Circumstances, Draft, ProjectFileError
from envdoctor.adapters.project.file_names import Form, form_of
from envdoctor.adapters.project.group_choice import Wanted
from envdoctor.adapters.project.pyproject import read_pyproject
from envdoctor.adapters.project.requirements_file import read_requirements_file
from envdoctor.model.requirement import RequirementKind

__all__ = ["read_one", "read_setuptools"]


def read_one(draft: Draft, path: Path, circumstances: Circumstances, *, alone: bool) -> None:
    """Read one file as its name tells its form; ``alone``: nothing else says what is needed.

    Raises ProjectFileError.
    """
    form = form_of(path)
    if draft.is_denied(path):
        return
    wanted = Wanted.own(draft.choice)
    if form is Form.CONSTRAINTS and not alone:
        circumstances = replace(circumstances, kind=RequirementKind.CONSTRAINT)
    if form in {Form.REQUIREMENTS, Form.CONSTRAINTS}:
        read_requirements_file(draft, path, circumstances)
    elif form is Form.PYPROJECT:
        if not read_pyproject(draft, path, circumstances, wanted=wanted):
            read_setuptools(draft, path.parent, circumstances, wanted)
    elif form in _WITH_GROUPS:
        module, name = _WITH_GROUPS[form]
        getattr(import_module(f"{__package__}.{module}"), name)(draft, path, circumstances, wanted=wanted)
    elif form in _PLAIN:
        module, name = _PLAIN[form]
        getattr(import_module(f"{__package__}.{module}"), name)(draft, path, circumstances)
    elif form is Form.NOTEBOOK:
        from envdoctor.adapters.project.notebook import read_notebook

        read_notebook(draft, path, required=alone)
    elif form is Form.PYTHON_VERSION:
        message = "names a Python and no requirement; give the project's folder"
        raise ProjectFileError(draft.shown(path), None, message)
    else:
        from envdoctor.adapters.project.install_script import read_install_script

        read_install_script(draft, path, dockerfile=form is Form.DOCKERFILE, required=alone)


# Module and function that read a form; a run imports those of the files that it has.
_WITH_GROUPS = {
    Form.SETUP_CFG: ("setup_cfg", "read_setup_cfg"),
    Form.SETUP_PY: ("setup_py", "read_setup_py"),
    Form.PIPFILE: ("poetry", "read_pipfile"),
    Form.PIXI: ("pixi", "read_pixi_file"),
}
_PLAIN = {
    Form.CONDA: ("conda_environment", "read_conda_environment"),
    Form.LOCK: ("locks", "read_lock_file"),
    Form.PYTHON_SCRIPT: ("script_metadata", "read_script"),
}


def read_setuptools(draft: Draft, directory: Path, circumstances: Circumstances, wanted: Wanted) -> None:
    """Read setup.cfg, and setup.py where that says nothing: what ``dynamic`` leaves to setuptools."""
    from envdoctor.adapters.project.setup_cfg import read_setup_cfg
    from envdoctor.adapters.project.setup_py import read_setup_py

    for name, read in (("setup.cfg", read_setup_cfg), ("setup.py", read_setup_py)):
        path = directory / name
        before = len(draft.requirements) + len(draft.problems)
        if path.is_file():
            read(draft, path, circumstances, wanted=wanted)
        if len(draft.requirements) + len(draft.problems) > before:
            return
