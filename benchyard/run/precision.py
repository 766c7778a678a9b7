"""Whether a case has enough runs, asked before each run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from benchyard.core.model import Outcome
from benchyard.results.campaigns import Campaign
from benchyard.results.record import RunRecord
from benchyard.run.adaptive import declared, enough, other_rule
from benchyard.run.progress import Notice, tell
from benchyard.run.request import Request
from benchyard.run.run_context import RunContext


class Precision:
    """Whether there are enough runs by the request's rule.

    Args:
        setting: What all runs have in common.
        request: Which runs are wanted, and by which rule.
        todo: Numbers of the runs that may be executed now.
        campaign: The finished runs, which these are added to.

    Attributes:
        reached: Whether no further run is wanted.
        setting: As given, with other rules that earlier runs were made under, for the records.
    """

    def __init__(
        self, setting: RunContext, request: Request, todo: Sequence[int], campaign: Campaign
    ) -> None:
        self._rule = request.rule
        self._from = datetime.min.replace(tzinfo=UTC)
        self.reached = False
        self.setting = setting
        kept: Mapping[int, RunRecord] = {} if request.force else campaign.records
        # Where each turn is one run, all that follow the last look find the same answer.
        self._is_first_to_find = not todo or todo[0] - 1 in kept
        left = [one for one in campaign.alike() if one.run in kept and one.run not in todo]
        self._earlier = sorted(left, key=lambda record: record.began)
        warning = other_rule(self._rule, self._earlier)
        if warning is None:
            return
        self.setting = replace(setting, adaptive=declared(self._rule, self._earlier))
        if not request.rest_first or other_rule(self._rule, self._earlier[-1:]):
            tell(setting.listener, Notice(f"{setting.case.title}: {warning}"))

    def needed(self, record: RunRecord) -> RunRecord:
        """Return what of a record is still asked for when the next run begins.

        The rest is on disk: a lab that executes thousands of runs must not grow with them.
        """
        if record.outcome is not Outcome.COMPLETED:
            return record
        steps = () if self._rule is None else record.steps
        return RunRecord(
            *(record.case, record.run, record.outcome),
            *(record.started_at, record.ended_at, record.duration_s),
            steps=steps,
            adaptive=record.adaptive,
        )

    def forget(self, before: RunRecord) -> None:
        """Leave out all runs before one, which were of something else."""
        self._earlier = []
        self._from = before.began

    def after(self, records: Sequence[RunRecord]) -> bool:
        """Tell whether no further run is wanted.

        Args:
            records: Of the runs executed now.
        """
        if self._rule is None:
            return False
        own = [record for record in records if record.began >= self._from]
        answer = enough(self._rule, [*self._earlier, *own])
        looked = answer.look is not None and answer.look == answer.done
        if looked and (records or self._is_first_to_find):
            tell(self.setting.listener, Notice(f"{self.setting.case.title}: {answer.why}"))
        self.reached = answer.stop
        return answer.stop
