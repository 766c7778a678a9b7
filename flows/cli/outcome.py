"""What came of an execution: a table of steps, or the summaries as JSON."""

import json
from pathlib import Path
from typing import Any, cast

import click

from benchyard.errors import RecordError
from benchyard.execution.wording import duration
from benchyard.model import Case, Json
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


def print_outcome(chosen: list[Case], folders: list[Path], *, as_json: bool) -> None:
    """Print the summaries of the cases."""
    if as_json:
        summaries: list[Json] = [
            {"case": case.title, "results": str(folder), "summary": read_summary(folder)}
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
    if not steps:
        click.echo("  no finished run")
        return
    rows = [("", "STEP", "N", "MEDIAN", "MIN", "MAX", "STDEV", "OUTCOMES")]
    rows += [_row(step) for step in steps]
    print_columns(rows, right=(0, 2, 3, 4, 5, 6))
    click.echo(f"results: {folder}")


def _row(step: dict[str, Any]) -> tuple[str, ...]:
    metrics: dict[str, Any] = step.get("metrics") or {}
    described: dict[str, Any] = metrics.get("duration_s", {}).get("statistics", {})
    outcomes = ", ".join(f"{n} {word}" for word, n in step["outcomes"].items() if n)
    figures = [_figure(described.get(k)) for k in ("median", "min", "max", "stdev")]
    count = str(described.get("n", "-")) if step["measured"] else "-"
    return (str(step["index"]), step["name"], count, *figures, outcomes)


def _figure(value: float | None) -> str:
    return "-" if value is None else duration(value)
