"""What can be asked for of many cases; plain values, as a flow takes them."""

import math
from dataclasses import dataclass, fields, replace
from typing import Annotated, Literal

from annotated_types import Ge, Gt

from benchyard.core.fields import Within
from benchyard.run.ordering import Order, new_session
from benchyard.run.request import Campaigning, ExecutionOptions, Request

#: A century; more is a slip of the pen, and Python's dates end somewhere.
FALSE_PER_MONTH = Within(0.001, 1000)
_DAYS = Within(0, 36_525, " days")


@dataclass(frozen=True, slots=True)
class SuiteRequest(ExecutionOptions):
    """What can be asked for of many cases.

    Args:
        cases: Folders, names or globs over names, with [name=value] for a point of a matrix; empty
            means all below root.
        tags: Only cases with all of these tags.
        order: How the runs of the cases follow each other; random mixes run by run. Only cases
            that took turns (round-robin, random) are compared as of one session.
        seed: Of the random order; chosen, and recorded, if left out.
        budget: Hours, on the command line a length such as 8h or 90m; nothing is begun that would
            not be through by then.
        changed: Only cases that have changed since their runs were done; these are done again.
        stale: Only cases whose last finished run is older than so many days, on the command line a
            length such as 7d or 12h; they are done again. With changed, either will do. A case
            without runs is both.
        pool: Work pool of the testbeds, such as testbeds; empty executes on the host of this flow
            run.
        no_control: Without the control case, fixed work that each host executes before the cases
            and that tells whether the host has changed.
        false_per_month: Confirm what seems slower afterwards, and raise alarms: at most so many
            false ones a month, on average, on each host.
    """

    cases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    order: Literal["case", "round-robin", "random"] = "case"
    seed: Annotated[int, Ge(0)] | None = None
    budget: Annotated[float, Gt(0)] | None = None
    changed: bool = False
    stale: Annotated[float, _DAYS] | None = None
    pool: str | None = None
    no_control: bool = False
    false_per_month: Annotated[float, FALSE_PER_MONTH] | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether only cases that changed, or are stale, are wanted."""
        return self.changed or self.stale is not None

    def _wrong(self) -> list[str]:
        wrong: list[str] = []
        if self.budget is not None and not (math.isfinite(self.budget) and self.budget > 0):
            wrong.append(f"budget {self.budget}: write hours, more than 0")
        if self.force and self.is_filtered:
            wrong.append("force does all runs again, so leave out changed and stale, or force")
        if self.campaign == Campaigning.KEEP and self.is_filtered:
            wrong.append(
                "keep goes on with the runs that are done: leave out changed and stale, or keep"
            )
        return wrong

    def request_of_case(self, suite: str | None = None) -> Request:
        """Return what all turns ask of ``execute-case`` alike; they compare nothing.

        Args:
            suite: Id of the suite's flow run.
        """
        shared = {one.name: getattr(self, one.name) for one in fields(ExecutionOptions)}
        session = f"{self.order}:{suite}" if suite else new_session(Order(self.order))
        return replace(Request("", **shared), suite=suite, session=session, baseline=None)
