"""What the user asks for when many cases are to be executed; plain values, as a flow takes them."""

import math
from dataclasses import dataclass

from benchyard.core.errors import InputError
from benchyard.run.beginning import Campaigning, campaigning
from benchyard.run.request import Request, wrong_amounts

#: A century; more is a slip of the pen, and Python's dates end somewhere.
_MOST_DAYS = 36_525.0


@dataclass(frozen=True, slots=True)
class SuiteRequest:
    """One wish to execute many cases.

    Args:
        cases: Each a path, a name or a glob over names, as ``benchyard run`` takes them; all below
            the root if empty.
        tags: Only cases with all of these.
        order: How the runs of the cases follow each other: case, round-robin or random.
        seed: Of the random order; None takes one by chance.
        runs: How many runs of each case there shall be in the end.
        budget: Hours after which nothing more is to be under way; None for as long as it takes.
        changed: Only cases whose finished runs are of another subject.
        stale: Only cases whose last finished run is older than so many days; None for any. With
            ``changed`` a case is executed for either reason.
        force: Do finished runs again.
        campaign: As in ``Request``; with "new", of each case once in the suite.
        pool: Work pool of the testbeds; None executes in place, on this host.
        baseline: Finished results to compare with afterwards, as ``benchyard compare`` takes them;
            "previous" is of each case the campaign before.
    """

    cases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    order: str = "case"
    seed: int | None = None
    runs: int = 3
    interval: float = 0.1
    cooldown: float = 15.0
    budget: float | None = None
    changed: bool = False
    stale: float | None = None
    force: bool = False
    campaign: str = "auto"
    fail_fast: bool = False
    pool: str | None = None
    wait: bool = True
    root: str = "."
    results: str | None = None
    resources: tuple[str, ...] = ()
    publish: tuple[str, ...] = ("local",)
    baseline: str | None = None

    def check(self) -> None:
        """Check the options, alone and together.

        Raises:
            InputError: With one sentence for all that is wrong.
        """
        campaigning(self.campaign)
        wrong = wrong_amounts(self.runs, self.interval, self.cooldown)
        wrong += [text for is_wrong, text in self._looked_at() if is_wrong]
        if wrong:
            raise InputError("; ".join(wrong))

    def _looked_at(self) -> list[tuple[bool, str]]:
        budget, stale = self.budget, self.stale
        return [
            (
                budget is not None and not (math.isfinite(budget) and budget > 0),
                f"budget {budget}: write hours, more than 0",
            ),
            (
                stale is not None and not 0 <= stale <= _MOST_DAYS,
                f"stale {stale}: write days, 0 to {_MOST_DAYS:,.0f}",
            ),
            (
                self.force and (self.changed or stale is not None),
                "force does all runs again, so leave out changed and stale, or force",
            ),
            (
                self.campaign == Campaigning.KEEP and (self.changed or stale is not None),
                "keep goes on with the runs that are done: leave out changed and stale, or keep",
            ),
        ]

    def request(
        self,
        case: str,
        runs: tuple[int, ...],
        *,
        again: bool,
        rest: bool,
        campaign: str,
        suite: str | None = None,
        baseline: str | None = None,
    ) -> Request:
        """Return what one turn asks of ``execute-case``.

        Args:
            case: How that is to name the case.
            runs: Numbers of the runs.
            again: Do those of them again that are done.
            rest: Rest before the first of them too.
            campaign: Which campaign they belong to.
            suite: Id of the suite's flow run.
            baseline: What to compare with, where the turn is to do it.
        """
        return Request(
            case=case,
            runs=self.runs,
            campaign=campaign,
            only=runs,
            interval=self.interval,
            cooldown=self.cooldown,
            rest_first=rest,
            force=again,
            fail_fast=self.fail_fast,
            wait=self.wait,
            root=self.root,
            results=self.results,
            resources=self.resources,
            publish=self.publish,
            baseline=baseline,
            suite=suite,
        )
