"""The runs of a case, one after another, and when no other follows.

What is done in a run, and which task follows which, is read in ``flows.execute_case``.
"""

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchyard.core.model import Outcome
from benchyard.core.wording import in_short
from benchyard.host.testbed import hold_both
from benchyard.publish.outcome import PublishResult, advice, problems
from benchyard.publish.service import archive_uploaded, upload_runs
from benchyard.results.campaigns import publishable_runs
from benchyard.results.folders import Results
from benchyard.results.layout import Say, refuse_foreign
from benchyard.results.reasons import fail_alike, why_failed
from benchyard.results.record import RunRecord
from benchyard.results.subject import Subject
from benchyard.run.beginning import (
    OpenCampaign,
    Precision,
    missing,
    nothing_to_do,
    open_campaign,
    settled_campaign,
)
from benchyard.run.interrupts import two_stage_ctrl_c
from benchyard.run.ordering import cooldown_of, rest_after
from benchyard.run.progress import CaseStarted, Notice, Waiting, tell
from benchyard.run.request import Campaigning, Request
from benchyard.run.run_context import RunContext
from benchyard.run.session import Session


@dataclass(frozen=True, slots=True)
class Executed:
    """What came of a request.

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


class CaseCourse:
    """The runs of a case that are not done, one after another.

    Args:
        setting: What all of them have in common.
        request: What is wanted.

    Attributes:
        rest: How long the host is to rest before the run that was yielded last (s).
        stopping: Whether the user asked to stop.
    """

    def __init__(self, setting: RunContext, request: Request) -> None:
        self._setting, self._request, self._listener = setting, request, setting.listener
        self._records: list[RunRecord] = []
        self._session: Session | None = None
        self.rest, self.stopping = 0.0, False

    @contextmanager
    def alone(self) -> Generator[None]:
        """Keep the testbed, and end at Ctrl-C: at the first after the step, at the second now.

        Raises:
            InputError: If something else has the place of a run or of a summary.
            TestbedBusyError: If another lab measures here and the request is not to wait.
            KeyboardInterrupt: At the second Ctrl-C, after everything was stopped.
        """
        held = hold_both(
            self._setting.results,
            self._setting.case.title,
            wait=self._request.wait,
            tell=lambda text: tell(self._listener, Waiting(text)),
            give_up=lambda: self.stopping,
        )
        with two_stage_ctrl_c(self._stop), held:
            yield

    def _stop(self) -> None:
        self.stopping = True
        if self._session is not None:
            self._session.stopping.set()
        self._say("stopping after this step; press Ctrl-C again to stop now")

    def __iter__(self) -> Iterator[Session]:
        self._opened, todo = _open(self._setting, self._request, self._say)
        self._todo = deque(todo)
        tell(self._listener, CaseStarted(self._setting.case.title, todo, self._opened.done))
        self._precision = Precision(self._setting, self._request, todo, self._opened.campaign)
        while self._todo:
            # First the session, then the question: a Ctrl-C in between would reach neither.
            session = self._session = Session(self._precision.setting, self._todo[0])
            if self.stopping or self._enough():
                return
            self.rest = self._rest()
            yield session
            self._note(session.written)

    def _enough(self) -> bool:
        failed = bool(self._records) and self._records[-1].outcome is not Outcome.COMPLETED
        gives_up = self._request.fail_fast or (not self._request.keep_going and self._fails_alike())
        return (failed and gives_up) or self._precision.after(self._records)

    def _fails_alike(self) -> bool:
        last = self._records[-2:]
        alike = fail_alike(last)
        if alike:
            numbers = in_short([record.run for record in last])
            self._say(
                f"{self._setting.case.title}: runs {numbers} failed alike, so its other runs are "
                f"not begun (--keep-going begins them): {why_failed(last[-1])}"
            )
        return alike

    def _rest(self) -> float:
        took = self._records[-1].duration_s if self._records else self._request.rest_first
        cooldown = cooldown_of(self._request.cooldown, self._setting.case.cooldown)
        rest = rest_after(took, cooldown) if self._records or took else 0.0
        if rest:
            tell(self._listener, Waiting("cooling down", rest))
        return rest

    def _note(self, record: RunRecord) -> None:
        """Take a run's record; if it is of something else than those before, all begins anew."""
        self._records[-1:] = map(self._precision.needed, self._records[-1:])
        self._records.append(record)
        self._todo.popleft()
        if record.outcome is Outcome.COMPLETED and self._opened.add(record, self._say):
            self._precision.forget(before=record)
            self._todo = deque(missing(self._request.whole, (record.run,)))

    def _say(self, text: str) -> None:
        tell(self._listener, Notice(text))

    def executed(self) -> Executed:
        """Return what came of them."""
        left = bool(self._todo) and not self._precision.reached
        cancelled = any(record.outcome is Outcome.CANCELLED for record in self._records)
        interrupted = self.stopping and (left or cancelled)
        return Executed(
            tuple(self._records), tuple(Results(self._setting.results).done()), interrupted
        )


def _open(setting: RunContext, request: Request, say: Say) -> tuple[OpenCampaign, tuple[int, ...]]:
    """Return the campaign that runs are added to, and the runs that are to be executed."""
    refuse_foreign(setting.results, {*request.wanted, *request.whole})
    there = settled_campaign(setting.results, say)
    subject: Subject = setting.subject() if there.records else {}
    opened = open_campaign(setting, there, Campaigning(request.campaign), subject, say)
    wanted = request.whole if opened.changed else request.wanted
    todo = tuple(wanted) if request.force else missing(wanted, opened.done)
    if not todo:
        say(nothing_to_do(setting.case.title, opened.campaign, len(request.whole)))
    return opened, todo


class Publication:
    """The finished runs of a case on their way to the sinks.

    Attributes:
        runs: Folders of those that are not published; none where no sink is wanted.
    """

    def __init__(self, setting: RunContext) -> None:
        self._setting = setting
        self.runs = publishable_runs(setting.results) if setting.sinks else ()
        self._uploaded: tuple[PublishResult, ...] = ()

    def upload(self) -> None:
        """Put the runs into the spools, and upload what waits of them; trouble is not raised."""
        self._uploaded = upload_runs(self.runs, self._setting.sinks)

    def archive(self) -> None:
        """Move what the sinks have confirmed to the archives; say what went wrong."""
        for outcome in archive_uploaded(self._uploaded):
            for text in (*problems(outcome), *advice(outcome)):
                tell(self._setting.listener, Notice(text))
