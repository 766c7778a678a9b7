"""Progress of an execution on stderr: a live line in a terminal, plain lines elsewhere."""

import time
from statistics import fmean
from typing import Self

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchyard.cli import terminal
from benchyard.core.files import shown
from benchyard.core.model import Outcome
from benchyard.core.quantity import duration
from benchyard.core.wording import printable
from benchyard.run.progress import (
    MARKS,
    AttemptFailed,
    CaseStarted,
    Event,
    Notice,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    Waiting,
    say,
)

_COLOURS = {Outcome.COMPLETED: "green", Outcome.TOLERATED: "yellow"}


class PlainDisplay:
    """Prints one line for each event.

    Args:
        verbose: Whether starts of runs and steps are printed, too.
        turns: Whether each run is a turn of its own: it has one line, and one for what failed.

    Attributes:
        folders: Whether the line of a run names its folder, as cases with one title need.
    """

    folders = False

    def __init__(self, *, verbose: bool, turns: bool = False) -> None:
        self._verbose, self._turns = verbose, turns

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def hear(self, event: Event) -> None:
        """Show an event."""
        if not (self._turns and _is_small(event)):
            self._take(event)

    def _take(self, event: Event) -> None:
        # The end of the step repeats what its last attempt failed of.
        again = isinstance(event, AttemptFailed) and not event.left
        shows = self._verbose or not isinstance(event, StepStarted | RunStarted)
        if shows and not again and (text := self._said(event)):
            terminal.say(text, err=True)

    def _said(self, event: Event) -> str:
        named = f" in {shown(event.folder)}" if self.folders and isinstance(event, RunEnded) else ""
        return say(event) + named


class LiveDisplay(PlainDisplay):
    """Prints a line for what has finished, and a live line below.

    It redraws once a second: a lab that burns CPU for its own display measures itself.

    Args:
        runs: How many runs all cases have together.
        turns: As in ``PlainDisplay``.
    """

    def __init__(self, *, runs: int, turns: bool = False) -> None:
        super().__init__(verbose=False, turns=turns)
        self._runs, self._rest = runs, 0.0
        self._seconds: list[float] = []
        self._run_began = time.monotonic()
        self._steps = 0
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[estimate]}"),
            console=terminal.console(),
            refresh_per_second=1,
            transient=True,
        )
        self._task = self._progress.add_task("starting", total=None, estimate="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def _take(self, event: Event) -> None:
        match event:
            case StepStarted(case, run, index, name):
                self._show(f"{case}  run {run}  step {index}/{self._steps}  {name}")
            case RunStarted(case, run, steps):
                self._steps, self._run_began = steps, time.monotonic()
                self._show(f"{case}  run {run}  initializing")
            case StepEnded():
                self._print_step(event)
            case RunEnded(record):
                self._seconds.append(record.duration_s)
                self._print(self._said(event), _COLOURS.get(record.outcome, "red"))
            case Waiting(_, seconds):
                self._rest = self._rest if seconds is None else seconds
                self._show(say(event))
            case CaseStarted() | Notice():
                self._print(say(event), "bold")
            case AttemptFailed(left=left):
                self._print(say(event) if left else "", "yellow")
            case _:
                pass

    def _print_step(self, event: StepEnded) -> None:
        took = "" if event.seconds is None else duration(event.seconds)
        line = f"  {MARKS[event.outcome]} {printable(event.name):<32} {took:>10}"
        if event.message and event.outcome is not Outcome.COMPLETED:
            line += f"  {event.outcome}: {event.message}"
        self._print(line, _COLOURS.get(event.outcome, "red"))

    def _print(self, text: str, style: str) -> None:
        if text:
            self._progress.console.print(terminal.safe(text), style=style)

    def _show(self, text: str) -> None:
        self._progress.update(self._task, description=printable(text), estimate=self._estimate())

    def _estimate(self) -> str:
        """Guess the rest from the runs so far; nothing is said before the first has ended."""
        if not self._seconds:
            return ""
        left = self._runs - len(self._seconds)
        rest = left * (fmean(self._seconds) + self._rest) - self._rest
        rest -= time.monotonic() - self._run_began
        return f"about {_roughly(rest)} left" if rest > 1 else "nearly done"


def _is_small(event: Event) -> bool:
    """Tell whether runs in turns, a line each, do not show an event."""
    fine = isinstance(event, StepEnded) and event.outcome is Outcome.COMPLETED
    return fine or isinstance(event, CaseStarted)


def _roughly(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else duration(seconds)


def make_display(*, runs: int, verbose: bool, terminal: bool, turns: bool = False) -> PlainDisplay:
    """Return a live display for a terminal, else a plain one."""
    turns = turns and not verbose
    if terminal:
        return LiveDisplay(runs=runs, turns=turns)
    return PlainDisplay(verbose=verbose, turns=turns)
