"""``envdoctor host``."""

from __future__ import annotations

from typing import Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.messages import note
from envdoctor.cli.output import write_report

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_EPILOG = (
    "Examples: `envdoctor host` on the machine with the card; `envdoctor host --format json -o facts.json` writes a "
    "file for `envdoctor check --facts facts.json` elsewhere. Every fact can be overridden: docs/facts.md lists the "
    "variables."
)


@app.command(epilog=_EPILOG)
def host(
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds that one probe may take.", callback=opt.seconds)
    ] = 5.0,
    format: opt.FormatOption = opt.Format.HUMAN,  # noqa: A002
    output: opt.OutputOption = None,
    color: opt.ColorOption = opt.Color.AUTO,
    verbose: opt.VerboseOption = False,
) -> None:
    """Show what this machine is: cards, drivers, toolkits, compilers, tools, each fact with its source."""
    from envdoctor.adapters.probe.host_facts import probe_host
    from envdoctor.verbs.host import host_report
    from envdoctor.verbs.patient_machine import variables_passed_over

    for text in variables_passed_over():
        note(text)
    report = host_report(lambda: probe_host(timeout_s=timeout))
    code = write_report(report, format=format, output=output, fail_on=opt.FailOn.ERROR, color=color, verbose=verbose)
    raise typer.Exit(code)
