"""What the user asks for: plain values, as a flow, a form and a deployment take them.

The fields say all that there is to say of an option: its type, its default, its bounds and, in the
docstring, what it means. Forms, options and help are made of them. Unless somebody says otherwise,
a case has as many runs as its comparisons need.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Lt

from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.run_sets import results_below
from benchyard.core.errors import InputError
from benchyard.core.fields import Within, described
from benchyard.core.files import is_address
from benchyard.core.model import Case
from benchyard.results.trust import Suspect
from benchyard.run.adaptive import MAX_RUNS, Adaptive
from benchyard.statistics.comparison import LEVEL
from benchyard.statistics.intervals import fewest_for_median
from benchyard.statistics.ranks import fewest_values

#: With fewer runs there is no interval of the median, however alike they are.
FEWEST = fewest_for_median()


def comparisons_of(case: Case, compared: Sequence[Case] = ()) -> int:
    """Return how many comparisons are judged together: the measured steps, by their durations.

    Args:
        case: Compared alone, all points of its matrix together.
        compared: Points of cases that are one family of tests with it; empty without others.
    """
    measured = [sum(step.measure for step in each.steps) for each in (case, *compared)]
    return sum(measured[1:]) if compared else case.points * measured[0]


def default_runs(comparisons: int) -> int:
    """Return the fewest runs of each side that can tell so many comparisons apart at the level.

    Holm's correction asks the first of them for level / comparisons.
    """
    return max(FEWEST, fewest_values(LEVEL / max(1, comparisons)))


#: Shorter uses a CPU up, longer shows nothing.
INTERVAL = Within(0.001, 3600.0, " seconds")
#: A day at most.
COOLDOWN = Within(0.0, 86_400.0, " s")
RUNS = Within(1, MAX_RUNS)


class Campaigning(StrEnum):
    """Which campaign is asked for."""

    #: Go on with the one that is there, unless something else would be measured now.
    AUTO = "auto"
    #: Begin one.
    NEW = "new"
    #: Go on with the one that is there, whatever is measured now.
    KEEP = "keep"


def campaigning(text: str) -> Campaigning:
    """Read which campaign is asked for.

    Raises:
        InputError: If it is none of them.
    """
    try:
        return Campaigning(text)
    except ValueError:
        raise InputError(f"campaign '{text}': write {', '.join(Campaigning)}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionOptions:
    """What can be asked for of one case and of many.

    Args:
        runs: How many runs of a case there shall be in the end; finished ones count. Left empty,
            as many as can tell its comparisons apart: 6 for up to 4, 7 for 17, 8 for 64.
        campaign: auto goes on with the runs that are done unless something else would be measured
            now (case, classes, versions, commit, host); new begins a campaign and keeps the
            earlier one; keep goes on whatever is measured.
        interval: Seconds between two samples of the host.
        cooldown: Seconds of rest between two runs; auto, or left empty, is as the case says, or
            else half as long as the run, and 15 s at most.
        force: Do finished runs again.
        fail_fast: Begin nothing more after the first failure.
        keep_going: Go on with a case although two of its runs in a row failed alike; without it,
            its other runs are not begun.
        wait: Wait for the testbed if another lab holds it; otherwise fail.
        root: Folder that cases are looked for in.
        results: Folder for results instead of the case's own.
        resources: Folders with further resource classes.
        publish: Sinks that finished runs are published to: local, datastore, azure-tables; on the
            command line none, too.
        baseline: Finished results to compare with afterwards: a folder, FOLDER@1-5, or previous
            for the campaign before of the same case on the same host, which a schedule takes by
            itself; a regression is told.
        session_sd: How much sessions of the host vary, relative (standard deviation), such as
            0.005; left empty, 1 % is expected until campaigns tell.
        suspect: What becomes of suspect executions: auto counts them, marked, where too few others
            are left; include and leave-out always do the one or the other.
    """

    runs: Annotated[int, RUNS] | None = None
    campaign: Literal["auto", "new", "keep"] = "auto"
    interval: Annotated[float, INTERVAL] = 0.1
    cooldown: Annotated[float, COOLDOWN] | None = None
    force: bool = False
    fail_fast: bool = False
    keep_going: bool = False
    wait: bool = True
    root: str = "."
    results: str | None = None
    resources: tuple[str, ...] = ()
    publish: tuple[str, ...] = ("local",)
    baseline: str | None = None
    session_sd: Annotated[float, Ge(0), Lt(1)] | None = None
    suspect: Literal["auto", "include", "leave-out"] = "auto"

    @property
    def comparison_rule(self) -> Rule:
        """By which finished runs are compared with the baseline."""
        roots = (Path(self.root), None if self.results is None else Path(self.results))
        return Rule(
            suspect=Suspect(self.suspect),
            session_sd=self.session_sd,
            other_results=partial(results_below, *roots),
        )

    def runs_of(self, case: Case, chosen: Sequence[Case] = ()) -> int:
        """Return how many runs a case shall have.

        Args:
            chosen: All cases that are executed; with a baseline they are one family of tests.
        """
        return self.runs or default_runs(comparisons_of(case, chosen if self.baseline else ()))

    def check(self) -> None:
        """Check the options, alone and together.

        Raises:
            InputError: With one sentence for all that is wrong.
        """
        campaigning(self.campaign)
        addresses = filter(is_address, (self.root, self.results or "", *self.resources))
        wrong = [f"{address} is an address, and paths are taken" for address in addresses]
        wrong += [*self._out_of_bounds(), *self._wrong()]
        if wrong:
            raise InputError("; ".join(wrong))

    def _out_of_bounds(self) -> Iterator[str]:
        for name, field in described(type(self)).items():
            bounds, value = field.bounds, getattr(self, name)
            if bounds and value is not None and not bounds.least <= value <= bounds.most:
                span = f"{bounds.least:,g} to {bounds.most:,.0f}{bounds.unit}"
                yield f"{name} {value}: write {span}"

    def _wrong(self) -> list[str]:
        """Return what is wrong beside bounds."""
        return []


@dataclass(frozen=True, slots=True)
class Request(ExecutionOptions):
    """What can be asked for of one case.

    Args:
        case: Path or name of the case, with the point of its matrix: cases/tpch/sqlite[scale=0.01].
        most_runs: The most runs, where precision decides how many there shall be; runs is the
            fewest then.
        until: Relative precision of the steps' medians at which to stop, such as 0.01; goes with
            most_runs.
        only: Numbers of the runs to execute now; empty means all of them.
        rest_first: Seconds that the run of another case took just now: rest before the first run
            too. 0 if there was none.
        wait_for_user: Ask for Enter before each step; only in a terminal.
        ignore_requirements: Execute even if the host is not what the case requires.
        control: Execute the control case of the host first, once in a suite, which says so itself.
        suite: Flow run of the suite that this is a turn of; the suite says so itself. The turns of
            one suite share a campaign.
        session: The execution of a command that this is a turn of, as ORDER:ID; the command says so
            itself.
    """

    case: str
    most_runs: Annotated[int, RUNS] | None = None
    until: Annotated[float, Gt(0), Lt(1)] | None = None
    only: tuple[int, ...] = ()
    rest_first: Annotated[float, Ge(0)] = 0.0
    wait_for_user: bool = False
    ignore_requirements: bool = False
    control: bool = False
    suite: str | None = None
    session: str | None = None

    def _wrong(self) -> list[str]:
        return ["only: write numbers of runs, from 1 on"] if any(n < 1 for n in self.only) else []

    @property
    def rule(self) -> Adaptive | None:
        """The rule for the number of runs; None for a fixed number.

        Raises:
            InputError: If only one of its halves is there, or it cannot decide anything.
        """
        if self.most_runs is None and self.until is None:
            return None
        if self.most_runs is None or self.until is None:
            raise InputError("'until' and 'most_runs' go together: give both, or neither")
        runs = self.runs or FEWEST
        if not (1 <= runs <= self.most_runs and 0 < self.until < 1):
            raise InputError(
                f"runs {runs}, most_runs {self.most_runs}, until {self.until}: write 1 or "
                "more runs, at least as many most_runs, and a precision between 0 and 1"
            )
        return Adaptive(runs, self.most_runs, self.until)

    @property
    def whole(self) -> range:
        """Numbers of all runs of a campaign: what is wanted where a new one begins unforeseen."""
        return range(1, (self.most_runs or self.runs or FEWEST) + 1)

    @property
    def wanted(self) -> tuple[int, ...]:
        """Numbers of the wanted runs."""
        return self.only or tuple(self.whole)
