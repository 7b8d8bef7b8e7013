"""The entry point: a group of verbs, each imported when it is asked for.

Nothing here imports a verb's module, so that a hook pays only for what it runs.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from envdoctor import __version__
from envdoctor.cli.errors import UsageFault

__all__ = ["VERBS", "app", "main"]

VERBS = {
    "check": "Find every conflict, missing wheel and known failure of a project for a target",
    "lock": "Write the resolution down: pylock (PEP 751), constraints and overrides",
    "explain": "Say why a package has its version, or why requirements cannot hold together",
    "fix": "Apply the prescription as a transaction that `undo` takes back",
    "undo": "Take the last fix back, or a chosen one with all that came after it",
    "run": "Start a command inside the environment, with the profile's variables",
    "host": "Show what this machine is, each fact with its source",
    "compare": "Say what differs between two reports or environments, and what of it matters",
    "smoke": "Run small GPU kernels in an environment, compare them with a reference, and say what can run where",
    "profiles": "List, show, validate and create profiles",
    "rule": "Show a rule's documentation",
}
"""Every verb with its line of help; a test holds them against the modules' own."""

_SETTLED_BY_SIGNAL = 130


class LazyGroup(TyperGroup):
    """A group whose commands live in modules of the same name."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the verbs in the order of the work."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Import and return the verb's command, None where there is no such verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"envdoctor.cli.{cmd_name}")
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command

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


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Diagnose, prescribe and treat Python environments whose GPU is not the one their authors had.

    Start with `envdoctor check PROJECT --profile NAME`; `envdoctor profiles list` names the profiles.
    """


def _arguments(argv: list[str]) -> list[str]:
    """Give a bare ``--upgrade`` its value: the option takes an optional one, which the parser cannot express."""
    return ["--upgrade=*" if item == "--upgrade" else item for item in argv]


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code: 0, 1, 2 or 3 as the contract says, 130 after Ctrl-C."""
    arguments = _arguments(list(sys.argv[1:] if argv is None else argv))
    try:
        outcome = app(arguments, standalone_mode=False, prog_name="envdoctor")
    except UsageFault as fault:
        for line in fault.messages:
            sys.stderr.write(f"error: {line}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing half-done is left behind\n")
        return _SETTLED_BY_SIGNAL
    except BrokenPipeError:
        # The reader of a pipe (`| head`) has gone; Python would complain again at exit without this.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except typer.Abort:
        sys.stderr.write("interrupted; nothing half-done is left behind\n")
        return _SETTLED_BY_SIGNAL
    except typer.Exit as leave:
        return leave.exit_code
    except Exception as error:
        code = _usage_error(error)
        if code is None:
            raise
        return code
    return outcome if isinstance(outcome, int) else 0


def _usage_error(error: Exception) -> int | None:
    """Show an error of the command-line parser and return its exit code, None for any other exception."""
    show = getattr(error, "show", None)
    code = getattr(error, "exit_code", None)
    if show is None or code is None:
        return None
    show()
    return int(code)
