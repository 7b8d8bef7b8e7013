"""``envdoctor profiles``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.completion import profile_names
from envdoctor.cli.output import write_document, write_listing, write_page
from envdoctor.model.target import Arch, Backend, OperatingSystem

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)


@app.callback(epilog="Example: `envdoctor profiles new my-stack > my-stack.toml` makes one to start from.")
def _profiles() -> None:
    """List, show, validate, test and create profiles: one stack on one kind of target, as a TOML file."""


@app.command("list", epilog="Example: `envdoctor profiles list`.")
def list_profiles(
    format: opt.PageFormatOption = opt.PageFormat.HUMAN,  # noqa: A002
    color: opt.ColorOption = opt.Color.AUTO,
) -> None:
    """List the shipped profiles with their targets."""
    from envdoctor.profile.catalogue import catalogue
    from envdoctor.profile.show import listed
    from envdoctor.render.plain_values import plain

    if format is opt.PageFormat.JSON:
        known = [{"name": item.name, "summary": item.summary, "target": plain(item.target)} for item in catalogue()]
        write_document("profiles", profiles=known)
        return
    write_listing(listed(catalogue()), color)


@app.command(epilog="Example: `envdoctor profiles show xtts-zluda`.")
def show(
    name: Annotated[str, typer.Argument(help="A shipped profile's name or a TOML file.", autocompletion=profile_names)],
    format: opt.PageFormatOption = opt.PageFormat.HUMAN,  # noqa: A002
    color: opt.ColorOption = opt.Color.AUTO,
) -> None:
    """Show what a profile asks for, sets aside and patches, each with its reason."""
    from envdoctor.profile.show import show_text
    from envdoctor.verbs.settings import profile_called

    profile = profile_called(name)
    if format is opt.PageFormat.JSON:
        from envdoctor.render.plain_values import plain

        write_document("profile", **plain(profile))
    else:
        write_page(show_text(profile), color)


@app.command(epilog="Example: `envdoctor profiles validate profiles/my-stack.toml`.")
def validate(
    files: Annotated[list[Path], typer.Argument(help="Profile files.")],
    format: opt.PageFormatOption = opt.PageFormat.HUMAN,  # noqa: A002
) -> None:
    """Report every fault of each file at once, with its key path and line; exit 2 where there is one."""
    from envdoctor.profile.validation import ProfileError
    from envdoctor.verbs.smoke import faults_of

    results = faults_of([str(file) for file in files])
    if format is opt.PageFormat.JSON:
        rows = [{"path": path, "faults": [asdict(fault) for fault in each]} for path, each in results.items()]
        write_document("validation", files=rows)
    for path, faults in () if format is opt.PageFormat.JSON else results.items():
        if faults:
            typer.echo(str(ProfileError(path, faults)), err=True)
        else:
            typer.echo(f"{path}: valid")
    if any(results.values()):
        raise typer.Exit(2)


@app.command("test", epilog="Example: `envdoctor profiles test my-stack.toml` runs the cases of my-stack.cases.toml.")
def test_profile(
    file: Annotated[Path, typer.Argument(help="A profile file, with its cases beside it.")],
    format: opt.PageFormatOption = opt.PageFormat.HUMAN,  # noqa: A002
) -> None:
    """Check each case beside a profile: what resolves, versions, what is told; exit 1: one differs, 3: not known."""
    from envdoctor.cli.messages import printable
    from envdoctor.render.reasons import unknown_text
    from envdoctor.verbs.profile_cases import exit_code, run_cases

    results = run_cases(file)
    rows = [(name, one.wrong, [unknown_text(each) for each in one.unknowns]) for name, one in results.items()]
    if format is opt.PageFormat.JSON:
        write_document("cases", cases=[dict(zip(("name", "wrong", "unknown"), row, strict=True)) for row in rows])
    for name, wrong, unknown in () if format is opt.PageFormat.JSON else rows:
        typer.echo(printable(f"{name}: {'; '.join(['unknown', *unknown] if unknown else wrong) or 'as written'}"))
    raise typer.Exit(exit_code(results.values()))


@app.command(epilog="Example: `envdoctor profiles new my-stack --os windows --backend zluda > my-stack.toml`.")
def new(
    name: Annotated[str, typer.Argument(help="The new profile's name, such as my-stack.")],
    os: Annotated[
        OperatingSystem, typer.Option("--os", case_sensitive=False, help="Its operating system.")
    ] = OperatingSystem.LINUX,
    arch: Annotated[Arch, typer.Option("--arch", case_sensitive=False, help="Its architecture.")] = Arch.X86_64,
    backend: Annotated[
        Backend, typer.Option("--backend", case_sensitive=False, help="What runs its tensors.")
    ] = Backend.CUDA,
    project: Annotated[Path | None, typer.Option("--project", metavar="DIR", help="Draft it from a project.")] = None,
    target_os: opt.TargetOsOption = None,
    target_python: opt.TargetPythonOption = None,
    gpu: opt.GpuOption = None,
    facts: opt.FactsOption = None,
    format: opt.PageFormatOption = opt.PageFormat.HUMAN,  # noqa: A002
) -> None:
    """Print a commented profile to start from, or with --project the draft of one for a card; it is valid."""
    from envdoctor.verbs.profile_draft import draft_profile, new_profile

    drafted = draft_profile(name, project, target_os, target_python, gpu, facts) if project else None
    text = drafted or new_profile(name, os, arch, backend)
    if format is opt.PageFormat.JSON:
        write_document("draft", name=name, profile=text)
    else:
        typer.echo(text)
