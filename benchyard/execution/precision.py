"""Whether a case has runs enough, asked before each of them."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from benchyard.errors import RecordError
from benchyard.execution.adaptive import declared, enough, other_rule
from benchyard.execution.layout import done_runs, run_folder
from benchyard.execution.plan import Plan
from benchyard.execution.progress import Notice, tell
from benchyard.execution.setting import Setting
from benchyard.record import RunRecord, read_record


class Precision:
    """Whether there are runs enough, by the plan's rule.

    Args:
        todo: Numbers of the runs that may be executed now.

    Attributes:
        reached: Whether no further run is wanted.
        setting: As given, with other rules that earlier runs were made under, for the records.
    """

    def __init__(self, setting: Setting, plan: Plan, todo: Sequence[int]) -> None:
        self._rule = plan.rule
        self.reached = False
        self.setting = setting
        kept = [] if plan.force else done_runs(setting.results)
        # Where each turn is one run, all that follow the last look find the same answer.
        self._is_first_to_find = not todo or todo[0] - 1 in kept
        self._earlier = self._read_earlier([run for run in kept if run not in todo])
        warning = other_rule(self._rule, self._earlier)
        if warning is None:
            return
        self.setting = replace(setting, adaptive=declared(self._rule, self._earlier))
        if not plan.rest_first or other_rule(self._rule, self._earlier[-1:]):
            tell(setting.listener, Notice(f"{setting.case.title}: {warning}"))

    def _read_earlier(self, runs: Sequence[int]) -> list[RunRecord]:
        """Return the records that a rule has to do with, the oldest first."""
        if self._rule is not None:
            return self._read(runs)
        # Of a fixed number the last record alone tells whether there ever was a rule.
        with suppress(RecordError):
            if any(record.adaptive for record in self._read(runs[-1:])):
                return self._read(runs)
        return []

    def _read(self, runs: Sequence[int]) -> list[RunRecord]:
        """Return the records of this version of the case, the oldest first."""
        records: list[RunRecord] = []
        for run in runs:
            with suppress(RecordError):  # KROWN's have none, and ``stats`` names damaged ones
                records.append(read_record(run_folder(self.setting.results, run)))
        same = [r for r in records if r.case.get("hash") == self.setting.case_hash]
        return sorted(same, key=lambda record: record.began)

    def after(self, records: Sequence[RunRecord]) -> bool:
        """Tell whether no further run is wanted.

        Args:
            records: Of the runs executed now.
        """
        if self._rule is None:
            return False
        answer = enough(self._rule, [*self._earlier, *records])
        looked = answer.look is not None and answer.look == answer.done
        if looked and (records or self._is_first_to_find):
            tell(self.setting.listener, Notice(f"{self.setting.case.title}: {answer.why}"))
        self.reached = answer.stop
        return answer.stop
