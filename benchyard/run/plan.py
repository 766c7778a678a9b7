"""What is to be executed of a case, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchyard.core.model import Outcome
from benchyard.results.record import RunRecord
from benchyard.run.adaptive import Adaptive
from benchyard.run.beginning import Campaigning


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Which runs of a case are to be executed, and how.

    Args:
        runs: Numbers of the wanted runs; finished ones are not done again.
        whole: Numbers of all runs of a campaign: what is wanted where a new one begins unforeseen.
        campaign: Which campaign they belong to.
        rule: When there are enough of them; None if all are wanted.
        force: Do finished ones again.
        cooldown: Seconds of rest between two runs.
        rest_first: Rest before the first run too, because another case ran just now.
        fail_fast: Stop at the first failed run.
        wait: Wait for the testbed if another lab holds it.
        wait_for_user: Ask for Enter before each step.
    """

    runs: Sequence[int]
    whole: Sequence[int] = ()
    campaign: Campaigning = Campaigning.AUTO
    rule: Adaptive | None = None
    force: bool = False
    cooldown: float = 15.0
    rest_first: bool = False
    fail_fast: bool = False
    wait: bool = True
    wait_for_user: bool = False


@dataclass(frozen=True, slots=True)
class Executed:
    """What came of a plan.

    Args:
        records: Of the runs executed now; of all but the last, and of those that failed, without
            what nobody asks for any more.
        done: Numbers of all finished runs.
        interrupted: Whether the user asked to stop before all was done.
    """

    records: tuple[RunRecord, ...]
    done: tuple[int, ...]
    interrupted: bool

    @property
    def failed(self) -> tuple[RunRecord, ...]:
        """The runs that failed."""
        return tuple(r for r in self.records if r.outcome is not Outcome.COMPLETED)
