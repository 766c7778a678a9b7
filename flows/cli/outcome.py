"""What came of an execution: a table of steps, or the summaries as JSON."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import click

from benchyard.errors import RecordError
from benchyard.execution.layout import failed_runs, run_folder
from benchyard.execution.wording import duration
from benchyard.files import shown
from benchyard.model import Case, Json, Outcome
from benchyard.record import read_record
from flows.cli.common import print_columns, print_json


def read_summary(results: Path) -> dict[str, Any]:
    """Read ``summary.json`` of a case; empty if there is none.

    Raises:
        RecordError: If it is damaged.
    """
    path = results / "summary.json"
    try:
        return cast("dict[str, Any]", json.loads(path.read_text()))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RecordError(
            f"{path}: not readable: {error}; benchyard stats writes it anew"
        ) from error


def print_outcome(chosen: Sequence[Case], folders: Sequence[Path], *, as_json: bool) -> None:
    """Print the summaries of the cases."""
    if as_json:
        summaries: list[Json] = [
            {
                "case": case.title,
                "results": str(folder),
                "runs_failed": [*failed_runs(folder)],
                "summary": read_summary(folder),
            }
            for case, folder in zip(chosen, folders, strict=True)
        ]
        print_json({"cases": summaries})
        return
    for case, folder in zip(chosen, folders, strict=True):
        print_summary(case, folder, read_summary(folder))


def print_summary(case: Case, folder: Path, summary: dict[str, Any]) -> None:
    """Print one case's steps with their statistics."""
    click.echo(click.style(f"\n{case.title}", bold=True))
    steps = summary.get("steps", [])
    if steps:
        _print_steps(steps)
        for warning in summary.get("warnings", []):
            click.echo(click.style(f"warning: {warning}", fg="yellow"))
    else:
        click.echo("no finished run")
    for run in failed_runs(folder):
        click.echo(click.style(_failure(run_folder(folder, run)), fg="red"))
    click.echo(f"results: {shown(folder)}")


def _failure(folder: Path) -> str:
    """Say in a line why a run is not done, and where to read more."""
    try:
        record = read_record(folder)
    except RecordError as error:
        return str(error)
    broken = [s for s in record.steps if s.outcome in (Outcome.FAILED, Outcome.TIMED_OUT)]
    errors = [s.attempts[-1].error for s in broken if s.attempts]
    why = record.error or next((e for e in errors if e is not None), None)
    where = f" in step {broken[0].index} {broken[0].name}" if broken else ""
    text = f": {why.message.partition(chr(10))[0]}" if why else ""
    return f"run {record.run} {record.outcome}{where}{text}; see {shown(folder / 'log.txt')}"


def _print_steps(steps: list[dict[str, Any]]) -> None:
    rows = [("", "STEP", "N", "MEDIAN", "MIN", "MAX", "STDEV", "OUTCOMES")]
    rows += [_row(step) for step in steps]
    print_columns(rows, right=(0, 2, 3, 4, 5, 6))


def _row(step: dict[str, Any]) -> tuple[str, ...]:
    metrics: dict[str, Any] = step.get("metrics") or {}
    described: dict[str, Any] = metrics.get("duration_s", {}).get("statistics", {})
    outcomes = ", ".join(f"{n} {word}" for word, n in step["outcomes"].items() if n)
    figures = [_figure(described.get(k)) for k in ("median", "min", "max", "stdev")]
    count = str(described.get("n", "-")) if step["measured"] else "-"
    return (str(step["index"]), step["name"], count, *figures, outcomes)


def _figure(value: float | None) -> str:
    return "-" if value is None else duration(value)
