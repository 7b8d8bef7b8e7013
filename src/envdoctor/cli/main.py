"""The entry point. Importing it imports next to nothing, so that Ctrl-C at any moment is answered in one line."""

from __future__ import annotations

import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envdoctor.model.unknown import Unknown

__all__ = ["main"]

_SETTLED_BY_SIGNAL = 130
_WRONG_USE = 2
_OWN_FAULT = 4
_NO_POWERSHELL = "PowerShell, which knows where its profile lies, is not on the path; `--show-completion` prints it"


def main(argv: list[str] | None = None, *, begin: Callable[[], None] | None = None) -> int:
    """Run the command line and return the exit code: 0 to 3 by the contract, 4 for our own fault, 130 after Ctrl-C.

    ``begin`` is called before a verb is: until then Ctrl-C may end the process at once.
    """
    if os.name == "nt":
        from envdoctor.adapters.terminal import tell_broken_pipes

        tell_broken_pipes()
    if sys.stderr is None:
        # Closed by the caller (`2>&-`): what would be said there is lost, and the exit code still counts.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - lives as long as the process
    if sys.stdout is None:
        from envdoctor.cli.streams import ClosedStdout

        sys.stdout = ClosedStdout()
    elif isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        # What its encoding lacks is shown by its number: a pipe on Windows (the second) has letters of one code page.
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments in ([], ["--version"]) and not os.environ.get("_ENVDOCTOR_COMPLETE"):
            # Without the parser of command lines: its import takes longer than all of this.
            return _first_contact(version=bool(arguments))
        return _run(arguments, begin)
    except KeyboardInterrupt as stop:
        return _interrupted(stop)
    except Exception as error:  # noqa: BLE001 - the last net: whatever comes here is a fault of ours
        return _own_fault(error)


def _interrupted(stop: BaseException) -> int:
    said = "; ".join(map(str, stop.args)) or "nothing half-done is left behind"
    sys.stderr.write(f"interrupted; {said}\n")
    return _SETTLED_BY_SIGNAL


def _own_fault(error: Exception) -> int:
    """Say that the fault is ours and how to report it; ``ENVDOCTOR_TRACEBACK=1`` shows where it happened."""
    from envdoctor import __version__

    if os.environ.get("ENVDOCTOR_TRACEBACK") == "1":
        import traceback

        traceback.print_exception(error)
    place = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if trace.tb_frame.f_globals.get("__name__", "").startswith("envdoctor."):
            place = f" in {trace.tb_frame.f_globals['__name__']}.{code.co_name}"
        trace = trace.tb_next
    words = " ".join(str(error).split())[:200]
    said = f"this is a fault of envdoctor {__version__}, not of your project: {type(error).__name__}{place}"
    _say_errors([f"{said}{': ' if words else ''}{words}"], error)
    sys.stderr.write(
        "Nothing was judged. To report it, run the same command with ENVDOCTOR_TRACEBACK=1 and send what it says "
        "together with the input that it reads.\n"
    )
    return _OWN_FAULT


def _arguments(argv: list[str]) -> list[str]:
    """Return the arguments as the parser takes them. Raises UsageError for an empty one, or where we stand nowhere."""
    from envdoctor.cli.verb_list import VERBS
    from envdoctor.ports import UsageError
    from envdoctor.shell_line import with_upgrades

    try:
        os.getcwd()  # noqa: PTH109 - pathlib is not imported before this
    except OSError as error:
        raise UsageError(f"the current directory cannot be used: {error.strerror}; go to another one first") from None
    verb = argv[0] if argv else ""
    end = argv.index("--") if "--" in argv else len(argv)
    if verb in VERBS and verb != "run":
        _refuse_empty(argv[:end])
    return with_upgrades(argv[:end]) + argv[end:] if verb == "lock" else argv


def _refuse_empty(argv: list[str]) -> None:
    """Refuse ``--output ''`` (an unset variable of a script, mostly): as a path it would be the current directory."""
    from envdoctor.ports import UsageError

    for number, item in enumerate(argv[1:]):
        before = argv[number]
        if not item.strip():
            named = f"`{before}`" if before.startswith("-") and "=" not in before else "an argument"
            raise UsageError(f"{named} is given an empty value; leave it out or give one")
        if item.startswith("--") and item.endswith("=") and item.count("=") == 1:
            raise UsageError(f"`{item[:-1]}` is given an empty value; leave it out or give one")


def _run(arguments: list[str], begin: Callable[[], None] | None) -> int:
    import typer

    from envdoctor.cli.group import Interrupted, app, usage_error
    from envdoctor.cli.streams import StreamError, flush, silence_stdout, stream_error
    from envdoctor.ports import UsageError, refused_path

    try:
        if begin is not None:
            begin()
        outcome = app(_arguments(arguments), standalone_mode=False, prog_name="envdoctor")
        flush()
    except UsageError as error:
        _say_errors(error.messages, error)
        return _WRONG_USE
    except StreamError as error:
        silence_stdout()
        _say_errors([str(error)], error)
        return _WRONG_USE
    except (Interrupted, typer.Abort) as stop:
        return _interrupted(stop)
    except BrokenPipeError:
        # Help is written before a verb is invoked, and so are the errors of the parser.
        silence_stdout()
        return 0
    except typer.Exit as leave:
        return leave.exit_code
    except Exception as error:
        if (reason := stream_error(error) if isinstance(error, OSError) else None) is not None:
            silence_stdout()
            _say_errors([str(StreamError(reason))], error)
            return _WRONG_USE
        absent = isinstance(error, OSError) and error.filename in ("powershell", "pwsh")
        if (refused := _NO_POWERSHELL if absent else refused_path(error)) is not None:
            _say_errors([refused], error)
            return _WRONG_USE
        if (code := usage_error(error)) is None:
            raise
        return code
    return outcome if isinstance(outcome, int) else 0


def _first_contact(*, version: bool) -> int:
    import shutil

    from envdoctor import __version__
    from envdoctor.cli.streams import StreamError, silence_stdout, write_out
    from envdoctor.cli.verb_list import first_screen

    columns = shutil.get_terminal_size().columns
    try:
        write_out(f"envdoctor {__version__}\n" if version else first_screen(max(40, min(100, columns))))
    except StreamError as error:
        silence_stdout()
        _say_errors([str(error)], error)
        return _WRONG_USE
    return 0


def _say_errors(messages: Sequence[str | Unknown], stop: Exception) -> None:
    """Say what went wrong, and what is left of what was begun (``fix`` puts that into the exception)."""
    from envdoctor.cli.messages import error, say

    for message in messages:
        if isinstance(message, str):
            error(message)
        else:
            from envdoctor.render.reasons import reason

            error(reason(message))
    for left in getattr(stop, "left_behind", ()):
        say(left)
