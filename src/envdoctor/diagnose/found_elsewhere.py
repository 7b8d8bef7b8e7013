"""What findings of kernels, waivers, fixes and logs are called, which no rule of an examination makes; with texts."""

from __future__ import annotations

from envdoctor.diagnose.found_by_kernels import FOUND_BY_KERNELS
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Severity

__all__ = ["FOUND_ELSEWHERE"]

FOUND_ELSEWHERE = (
    *FOUND_BY_KERNELS,
    Rule.found_elsewhere(
        "ENV030",
        "installer-disagrees",
        Severity.ERROR,
        """After a fix, the installer sees another version than was installed, or none.

## What it does

Asks the environment's own pip or uv what it sees, and compares that with the plan.

## Why is this bad

Something else on the search path stands before the environment, or another program changed it meanwhile. What the
program will import is then not what the lock says.

## Example

`torch` 2.4.1 was installed, and pip sees 2.7.0 in the user's own site-packages.

## References

- Python, site: https://docs.python.org/3/library/site.html
""",
        summary="After a fix, the installer sees another version than was installed",
    ),
    Rule.found_elsewhere(
        "ENV031",
        "installer-check-complains",
        Severity.WARNING,
        """After a fix, the installer's own check complains.

## What it does

Runs `pip check` or `uv pip check` in the environment and reports each line. A line that an accepted override explains
is shown as accepted, and none is hidden.

## Why is this bad

A requirement between installed distributions does not hold, and nobody set it aside on purpose.

## Example

`librosa 0.9.2 requires resampy, which is not installed`

## References

- pip, pip check: https://pip.pypa.io/en/stable/cli/pip_check/
""",
    ),
    Rule.found_elsewhere(
        "LOG001",
        "failure-not-understood",
        Severity.WARNING,
        """A log shows a failure that nothing here knows.

## What it does

Finds the lines of a log that tell of a failure: the last line of a traceback, an error of a compiler, a linker or an
installer, a crash. Where no advisory and no resolver's output explains one, it is quoted. The verdict is then
`unknown` (exit code 3), since a log with a failure in it is never healthy; where another failure of the same log is
understood, the line is but a note, for what fails last is often a consequence.

What the log itself calls a warning, what was caught and followed by success, and what a text quotes is no failure.

## Why is this bad

Something failed, and it is not known why.

## Example

`ValueError: no sampling rate in settings.yaml`: it may be the program's own settings, which nothing here can judge.

## What to do

See whether the line speaks of the program's own files, settings or data. Else give the whole log, not its end alone,
and the environment and the machine with it: `--env`, or `--installed` and `--facts`.
""",
    ),
    Rule.found_elsewhere(
        "LOG003",
        "log-without-outcome",
        Severity.WARNING,
        """A log shows neither a failure nor an end that went well.

## What it does

Looks, where no failure is found in a log, for how it ended. An install that was begun (`Collecting`, `Building wheel`)
and of which no end is shown (`Successfully installed`) was cut; a text in which no line is a program's, or in which a
person speaks, is prose. Where nothing else is looked at, the verdict is `unknown` (exit code 3); beside a project or an
environment it is a note. What a program printed while it went on is no such log.

## Why is this bad

What a cut log leaves out is most often the failure.

## Example

Ten lines of `Collecting ...` and `Downloading ...`, and then nothing.

## What to do

Paste all that the command printed, to its last line.
""",
    ),
    Rule.found_elsewhere(
        "RES091",
        "expired-waiver",
        Severity.WARNING,
        """A waiver whose last day has gone.

## What it does

Names each waiver of `[tool.envdoctor]` in pyproject.toml that ended, with the reason that was given for it. What it
waived is open again.

## Why is this bad

A waiver says "not now". Without an end it becomes "never", and nobody remembers why.

## Example

`expires = 2026-03-31` on a waiver of `source-only`, and it is April.

## References

- docs/conflicts-repairs-locks.md
""",
    ),
    Rule.found_elsewhere(
        "RES092",
        "unknown-waiver",
        Severity.WARNING,
        """A waiver of something that no finding is called.

## What it does

Names each waiver of `[tool.envdoctor]` whose `rule` is neither the code or name of a rule nor that of an advisory, the
project's own among them, with the name that is nearest to it.

## Why is this bad

It accepts nothing. What it was written for is open, or will be when it is found.

## Example

`rule = "RES999"`

## References

- docs/conflicts-repairs-locks.md
""",
    ),
    Rule.found_elsewhere(
        "RES093",
        "unused-waiver",
        Severity.INFO,
        """A waiver that accepts nothing of what was found.

## What it does

Names each waiver of `[tool.envdoctor]` in force whose rule was looked at and found nothing, or found something of other
subjects than the one that it is for. It is a note: another target, profile or environment may need the waiver. Nothing
is said where not everything could be looked at.

## Why is this bad

A waiver that outlives its finding accepts the next one unseen.

## Example

`subject = "torhc"` on a waiver of `source-only`, and what is found is about `torch`.

## References

- docs/conflicts-repairs-locks.md
""",
    ),
)
