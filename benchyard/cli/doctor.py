"""``benchyard doctor``: whether this host is fit to be measured on, and what to do about it."""

import platform
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from benchyard.cli.option_types import NamedPath, Seconds, json_option
from benchyard.cli.terminal import print_json, say, styled
from benchyard.core import places
from benchyard.core.errors import CaseFailedError, ExitCode, RunInterruptedError
from benchyard.core.model import Json
from benchyard.core.wording import printable
from benchyard.host.checks import LOOK_SECONDS, findings, worst_first
from benchyard.host.checks.check_context import Finding, Status

# What benchyard.cli.common imports (cases, resources, schemas) takes longer than all checks.

_COLOURS = {
    Status.FAIL: "red",
    Status.WARN: "yellow",
    Status.UNKNOWN: "cyan",
    Status.OK: "green",
}
#: Columns below which a finding stands under its check instead of beside it.
_NARROW = 72


@click.command("doctor")
@click.option(
    "--results",
    type=NamedPath(),
    help="Folder for results that is looked at instead of the current one.",
)
@click.option(
    "--look",
    default=LOOK_SECONDS,
    show_default=True,
    type=Seconds(0, 60),
    help="Seconds that the host is watched; 0 leaves out who is busy.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 if anything is a warning or worse.")
@click.option("--control", is_flag=True, help="Execute the control case first, as each suite does.")
@json_option
def command(
    results: Path | None, look: float, *, strict: bool, control: bool, as_json: bool
) -> ExitCode:
    """Check what on this host disturbs measurements, and how to fix it.

    Changes nothing but the results of --control. Exits with 0 whatever it finds, unless you give
    --strict.

    Example:
        benchyard doctor
    """
    if control:
        _execute_control()
    found = worst_first((*findings(results, look_seconds=look), *_control()))
    if as_json:
        listed: list[Json] = [finding.to_json() for finding in found]
        print_json({"summary": {**_counts(found)}, "findings": listed})
    else:
        _print(found)
    spoilt = any(finding.status in (Status.FAIL, Status.WARN) for finding in found)
    return ExitCode.CASE_FAILED if strict and spoilt else ExitCode.DONE


def _execute_control() -> None:
    from benchyard.cli.executing import execute_plainly  # noqa: PLC0415 - see above
    from benchyard.results.reasons import why_failed  # noqa: PLC0415 - see above
    from benchyard.run.control import control_request  # noqa: PLC0415 - see above
    from tasks.parameters import open_case  # noqa: PLC0415 - see above

    request = control_request()
    executed = execute_plainly(open_case(request), request)
    if executed.interrupted:
        raise RunInterruptedError("stopped; --control begins anew")
    if executed.failed:
        raise CaseFailedError(f"the control case failed: {why_failed(executed.failed[-1])}")


def _control() -> list[Finding]:
    """Return what the control case tells of this host; nothing if it was never executed."""
    if not places.control().exists():
        return []
    from benchyard.analysis.comparison import control  # noqa: PLC0415 - see above

    said = control.health(control.control_campaigns(platform.node()))
    few, same = "".join(said).startswith(control.FEW), said == [control.AS_USUAL]
    status = Status.UNKNOWN if few else Status.OK if same else Status.WARN
    more = "benchyard doctor --control executes it once more"
    advice = more if few else "" if same else "look what changed: benchyard serve, Testbeds"
    return [Finding("control case", status, "; ".join(said), advice)] if said else []


def _counts(found: Sequence[Finding]) -> dict[str, int]:
    counts = Counter(finding.status for finding in found)
    return {status.value: counts[status] for status in Status}


def _print(found: Sequence[Finding]) -> None:
    # A file is searched, not read: there each text is one line.
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    column = max((len(finding.check) for finding in found), default=0)
    for finding in found:
        for line in _lines(finding, column, width):
            say(*line)
    say("\n", *_summary(found))


def _lines(finding: Finding, column: int, width: int) -> Iterator[tuple[str, ...]]:
    """Yield the parts of the lines of one finding: its advice under it, both indented alike."""
    status = f"{finding.status.value:<7}"
    colour = _COLOURS[finding.status]
    told = [finding.finding, *([f"→ {finding.advice}"] if finding.advice else [])]
    texts = list(map(printable, told))
    if width < _NARROW:
        yield styled(status, fg=colour, bold=True), f"  {finding.check}"
        for text in texts:
            yield from ((line,) for line in _wrapped(text, " " * 4, width))
        return
    indent = " " * (len(status) + column + 4)
    first, *more = (line for text in texts for line in _wrapped(text, indent, width))
    about = f"  {finding.check:<{column}}  {first[len(indent) :]}"
    yield styled(status, fg=colour, bold=True), about
    yield from ((line,) for line in more)


def _wrapped(text: str, indent: str, width: int) -> list[str]:
    under = indent + "  " * text.startswith("→")
    return textwrap.wrap(
        text,
        max(width, len(indent) + 20),
        initial_indent=indent,
        subsequent_indent=under,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _summary(found: Sequence[Finding]) -> Iterator[str]:
    counts = _counts(found)
    told = [
        styled(f"{count} {name}", fg=_COLOURS[Status(name)])
        for name, count in counts.items()
        if count
    ]
    for place, one in enumerate(told):
        yield from (", ", one) if place else (one,)
    if counts["fail"]:
        verdict = "numbers from this host would be wrong, or runs would break"
    elif counts["warn"]:
        verdict = "numbers from this host will be noisier than they need be"
    else:
        verdict = "nothing speaks against measuring here"
    yield f": {verdict}"
