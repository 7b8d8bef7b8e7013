"""The group of verbs, each imported when it is asked for.

Nothing here imports a verb's module, so that a hook pays only for what it runs.
"""

from __future__ import annotations

import importlib
import os
import shutil
import textwrap
from functools import partial
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from envdoctor import __version__
from envdoctor.cli.completion import in_short
from envdoctor.cli.streams import StreamError, silence_stdout, stream_error
from envdoctor.cli.verb_list import VERBS

__all__ = ["Interrupted", "app", "usage_error"]


class Interrupted(Exception):
    """Ctrl-C, before the parser makes a silent exit code of it."""


class LazyGroup(TyperGroup):
    """A group whose commands live in modules named after the verb: ``check`` in ``check_command``."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the verbs in the order of the work."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Import and return the verb's command, None where there is no such verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"envdoctor.cli.{cmd_name}_command")
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        _fit(command)
        return command

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the examples wrapped."""
        self.epilog = _wrapped(self.epilog or "")
        super().format_help(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """List the verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Offer close names for a verb that does not exist."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], VERBS, n=1)
            hint = f"; did you mean `{close[0]}`?" if close else f"; verbs: {', '.join(VERBS)}"
            ctx.fail(f"no such command `{args[0]}`{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; what happens to the process's streams is settled here, before the parser guesses at it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise Interrupted(*stop.args) from None
        except BrokenPipeError:
            # The reader of a pipe (`| head`) has seen enough.
            silence_stdout()
            return 0
        except OSError as error:
            reason = stream_error(error)
            if reason is None:
                raise
            raise StreamError(reason) from error


_SECTIONS = {
    "Target": "target_os target_arch target_python target_backend gpu glibc macos",
    "Environment": "env python installed facts log no_imports import_timeout",
    "Requirements": "extra group only_group all_groups",
    "Index": "offline index_url recorded_index cache_dir exclude_newer",
    "Report": "format output color fail_on show_waived quiet verbose",
}
"""Titles in the help of a command, and the options below each, by their names in code; the others come first."""
_FEW = 8
"""Options that need no titles."""


def _write_options(command: Any, ctx: Any, formatter: Any) -> None:
    titles = {name: title for title, names in _SECTIONS.items() for name in names.split()}
    rows: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Arguments", "Options", *_SECTIONS)}
    for item in command.get_params(ctx):
        record = item.get_help_record(ctx)
        if record is not None:
            title = "Arguments" if item.param_type_name == "argument" else titles.get(item.name, "Options")
            rows[title if title == "Arguments" or len(command.params) > _FEW else "Options"].append(record)
    for title, listed in rows.items():
        if listed:
            with formatter.section(title):
                formatter.write_dl(listed)


def _write_commands(command: Any, _ctx: Any, formatter: Any) -> None:
    """List the commands of a group with their whole first sentence."""
    with formatter.section("Commands"):
        formatter.write_dl([(name, each.get_short_help_str(1_000)) for name, each in command.commands.items()])


def _wrapped(examples: str) -> str:
    """Return examples wrapped where no command breaks at a hyphen."""
    if not examples or examples.startswith("\b"):
        return examples
    width = max(50, min(80, shutil.get_terminal_size().columns)) - 4
    return "\b\n" + "\n".join(textwrap.wrap(examples, width, break_on_hyphens=False, break_long_words=False))


def _fit(command: Any) -> None:
    """Group the options, and wrap the examples.

    While a shell completes, say of an option the least.
    """
    command.epilog = _wrapped(command.epilog or "")
    if os.environ.get("_ENVDOCTOR_COMPLETE"):
        for item in command.params:
            if getattr(item, "help", None):
                item.help = in_short(item.help)
    below = getattr(command, "commands", {})
    if not below:
        command.format_options = partial(_write_options, command)
    else:
        command.format_commands = partial(_write_commands, command)
    for each in below.values():
        _fit(each)


app = typer.Typer(
    cls=LazyGroup,
    name="envdoctor",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"envdoctor {__version__}")
        raise typer.Exit


@app.callback(epilog="Example: `envdoctor check ~/xtts-webui --profile xtts-zluda`, on any machine.")
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Diagnose and treat Python environments whose GPU is not the one their authors had.

    Start with `envdoctor check PROJECT --profile NAME`; `envdoctor profiles list` names the profiles.
    """


def usage_error(error: Exception) -> int | None:
    """Show an error of the command-line parser and return its exit code, None for any other exception."""
    show = getattr(error, "show", None)
    code = getattr(error, "exit_code", None)
    if show is None or code is None:
        return None
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError" and context is not None:
        # Nothing was typed wrong: the help is the answer, and whole.
        typer.echo(context.get_help())
        return 0
    message = getattr(error, "message", None)
    if isinstance(message, str):
        from envdoctor.cli.messages import printable

        error.message = printable(message)  # type: ignore[attr-defined]
    show()
    return int(code)
