"""What the user asks for when a case is to be executed; plain values, as a flow takes them."""

from dataclasses import dataclass

from benchyard.core.errors import InputError
from benchyard.run.adaptive import MAX_RUNS, Adaptive

#: Seconds between two samples, at least and at most: shorter uses a CPU up, longer shows nothing.
INTERVAL = (0.001, 3600.0)
#: Seconds of rest, at most: a day.
MOST_COOLDOWN = 86_400.0


def wrong_amounts(runs: int, interval: float, cooldown: float) -> list[str]:
    """Return what is wrong with amounts that a form or a program gave; empty if nothing is."""
    least, most = INTERVAL
    checks = (
        (1 <= runs <= MAX_RUNS, f"runs {runs}: write 1 to {MAX_RUNS:,}"),
        (least <= interval <= most, f"interval {interval}: write {least} to {most:,.0f} seconds"),
        (0 <= cooldown <= MOST_COOLDOWN, f"cooldown {cooldown}: write 0 to {MOST_COOLDOWN:,.0f} s"),
    )
    return [text for is_right, text in checks if not is_right]


@dataclass(frozen=True, slots=True)
class Request:
    """One wish to execute one case.

    Args:
        case: Path, name or name with a point of its matrix, such as ``cases/tpch[scale=0.1]``.
        runs: How many runs there shall be in the end; finished ones count. With ``most_runs`` the
            fewest.
        most_runs: The most runs, where precision decides how many there shall be; else None.
        until: Relative precision of the steps' medians at which to stop; goes with ``most_runs``.
        campaign: Which campaign the runs belong to: "auto" goes on with the one that is there
            unless something else would be measured now, "new" begins one, "keep" goes on.
        only: Numbers of the runs to execute now; empty means all of them.
        interval: Seconds between two samples.
        cooldown: Seconds of rest between two runs.
        rest_first: Rest before the first run too, because another case ran just now.
        force: Do finished runs again.
        fail_fast: Stop at the first failed run.
        wait: Wait for the testbed if another lab holds it.
        wait_for_user: Ask for Enter before each step.
        ignore_requirements: Execute here even if this host is not what the case requires.
        root: Folder that cases are looked for in.
        results: Folder for results instead of the case's own, or None.
        resources: Folders with further resource classes.
        publish: Sinks that finished runs are published to, such as ``local``; none if empty.
        baseline: Finished results to compare with afterwards, as ``benchyard compare`` takes them;
            "previous" is the campaign before; None compares nothing.
        suite: Id of the flow run of the suite that this is a turn of; None for others. The turns
            of one suite share a campaign.
    """

    case: str
    runs: int = 3
    most_runs: int | None = None
    until: float | None = None
    campaign: str = "auto"
    only: tuple[int, ...] = ()
    interval: float = 0.1
    cooldown: float = 15.0
    rest_first: bool = False
    force: bool = False
    fail_fast: bool = False
    wait: bool = True
    wait_for_user: bool = False
    ignore_requirements: bool = False
    root: str = "."
    results: str | None = None
    resources: tuple[str, ...] = ()
    publish: tuple[str, ...] = ("local",)
    baseline: str | None = None
    suite: str | None = None

    def check(self) -> None:
        """Check that every amount is within its bounds.

        Raises:
            InputError: With one sentence for all that is wrong.
        """
        wrong = wrong_amounts(self.runs, self.interval, self.cooldown)
        if any(run < 1 for run in self.only):
            wrong.append("only: write numbers of runs, from 1 on")
        if wrong:
            raise InputError("; ".join(wrong))

    def rule(self) -> Adaptive | None:
        """Return the rule for the number of runs; None for a fixed number.

        Raises:
            InputError: If only one of its halves is there, or it cannot decide anything.
        """
        if self.most_runs is None and self.until is None:
            return None
        if self.most_runs is None or self.until is None:
            raise InputError("'until' and 'most_runs' go together: give both, or neither")
        if not (1 <= self.runs <= self.most_runs and 0 < self.until < 1):
            raise InputError(
                f"runs {self.runs}, most_runs {self.most_runs}, until {self.until}: write 1 or "
                "more runs, at least as many most_runs, and a precision between 0 and 1"
            )
        return Adaptive(self.runs, self.most_runs, self.until)
