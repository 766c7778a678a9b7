"""The order of things: which stage follows which, for all runs of a case.

What a stage does and how it is executed is not this module's business (``benchyard.run.stages``).
It knows the order, the graph of steps, and when to stop.
"""

import queue
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from benchyard.core.errors import RunInterruptedError
from benchyard.core.model import Outcome, Step
from benchyard.core.wording import in_short
from benchyard.host.testbed import hold_both
from benchyard.results.folders import Results
from benchyard.results.layout import refuse_foreign
from benchyard.results.reasons import fail_alike, why_failed
from benchyard.results.record import RunRecord
from benchyard.results.subject import Subject
from benchyard.run.beginning import (
    Campaigning,
    CampaignRequest,
    OpenCampaign,
    Precision,
    missing,
    nothing_to_do,
    open_campaign,
    settled_campaign,
)
from benchyard.run.interrupts import reraise_interrupt, two_stage_ctrl_c
from benchyard.run.ordering import cooldown_of, rest_after
from benchyard.run.progress import CaseStarted, Listener, Notice, Waiting, tell
from benchyard.run.request import Request
from benchyard.run.run_context import RunContext
from benchyard.run.session import Session
from benchyard.run.stages import (
    ARCHIVE,
    CHECKPOINT,
    COOLDOWN,
    INITIALIZE,
    KEEP_OUTPUTS,
    RECORD,
    START_COLLECTOR,
    STOP,
    STOP_COLLECTOR,
    SUMMARIZE,
    UPLOAD,
    Handle,
    Handles,
    Publication,
    Stages,
)


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


class _Stop:
    """Whether the user asked to stop, told to the session under way."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self.session: Session | None = None
        self.asked = False

    def ask(self) -> None:
        self.asked = True
        if self.session is not None:
            self.session.stopping.set()
        tell(self._listener, Notice("stopping after this step; press Ctrl-C again to stop now"))


def execute_case(setting: RunContext, request: Request, stages: Stages) -> Executed:
    """Execute the runs of a case that are not done, one after another, alone on this host.

    Whatever happens to a run, resources and collector are stopped and its record is written.

    Raises:
        InputError: If something else has the place of a run or of a summary.
        TestbedBusyError: If another lab measures here and the request is not to wait.
        KeyboardInterrupt: At the second Ctrl-C, after everything was stopped.
    """
    stop = _Stop(setting.listener)
    with two_stage_ctrl_c(stop.ask), _testbed(setting, request, stop):
        runs = _Runs(setting, request, stop)
        last: Handles = []
        for session in runs:
            if runs.rest:
                last = stages.run(COOLDOWN, session, runs.rest, after=last)
                if stop.asked:
                    break
            with _abandoned_if_broken(session):
                session.prepare()
                with _failed_if_broken(session):
                    last = stages.run(INITIALIZE, session, after=last)
                    last = stages.run(START_COLLECTOR, session, after=last)
                    last = execute_steps(session, stages, last, ask=request.wait_for_user)
                last = stages.run(STOP, session, after=last)
                last = stages.run(STOP_COLLECTOR, session, after=last)
                last = stages.run(KEEP_OUTPUTS, session, after=last)
                last = stages.run(RECORD, session, after=last)
                if session.written.outcome is Outcome.COMPLETED:
                    last = stages.run(CHECKPOINT, session, after=last)
            runs.note(session.written)
        last = stages.run(SUMMARIZE, setting, after=last)
    publication = Publication(setting)  # the host may be measured on meanwhile
    if publication.runs:
        last = stages.run(UPLOAD, publication, after=last)
        stages.run(ARCHIVE, publication, after=last)
        publication.tell()
    return runs.executed()


def _testbed(setting: RunContext, request: Request, stop: _Stop) -> AbstractContextManager[None]:
    return hold_both(
        setting.results,
        setting.case.title,
        wait=request.wait,
        tell=lambda text: tell(setting.listener, Waiting(text)),
        give_up=lambda: stop.asked,
    )


@contextmanager
def _abandoned_if_broken(session: Session) -> Generator[None]:
    """Stop a run at once that an interruption or an error of the lab's ends."""
    try:
        yield
    except BaseException as error:
        session.abandon(error)
        raise


@contextmanager
def _failed_if_broken(session: Session) -> Generator[None]:
    """Note an error as the run's failure: it is stopped and recorded all the same."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever it is, the run failed of it
        reraise_interrupt(error)
        session.fail(error)


class _Runs:
    """The runs of a case that are to be executed, one after another.

    Attributes:
        rest: How long the host is to rest before the run that was yielded last (s).
    """

    def __init__(self, setting: RunContext, request: Request, stop: _Stop) -> None:
        self._request, self._stop, self._listener = request, stop, setting.listener
        self._opened, todo = _open(setting, request)
        self._todo = deque(todo)
        tell(setting.listener, CaseStarted(setting.case.title, todo, self._opened.done))
        self._precision = Precision(setting, request, todo, self._opened.campaign)
        self._setting = self._precision.setting
        self._records: list[RunRecord] = []
        self.rest = 0.0

    def __iter__(self) -> Iterator[Session]:
        while self._todo:
            # First the session, then the question: a Ctrl-C in between would reach neither.
            session = self._stop.session = Session(self._setting, self._todo[0])
            if self._stop.asked or self._enough():
                return
            self.rest = self._rest()
            yield session

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

    def note(self, record: RunRecord) -> None:
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
        interrupted = self._stop.asked and (left or cancelled)
        return Executed(
            tuple(self._records), tuple(Results(self._setting.results).done()), interrupted
        )


def _open(setting: RunContext, request: Request) -> tuple[OpenCampaign, tuple[int, ...]]:
    """Return the campaign that runs are added to, and the runs that are to be executed."""

    def say(text: str) -> None:
        tell(setting.listener, Notice(text))

    refuse_foreign(setting.results, {*request.wanted, *request.whole})
    there = settled_campaign(setting.results, say)
    subject: Subject = setting.subject() if there.records else {}
    opened = open_campaign(
        setting.case,
        there,
        CampaignRequest(Campaigning(request.campaign), setting.flow_run),
        subject,
        say,
    )
    wanted = request.whole if opened.changed else request.wanted
    todo = tuple(wanted) if request.force else missing(wanted, opened.done)
    if not todo:
        say(nothing_to_do(setting.case.title, opened.campaign, len(request.whole)))
    return opened, todo


def execute_steps(
    session: Session, stages: Stages, after: Handles, *, ask: bool = False
) -> Handles:
    """Execute the graph of steps: those that wait for nothing run side by side.

    Returns:
        The handles of the executed steps that no other executed step waited for; ``after`` if none
        was executed.
    """
    graph = _Graph(session.case.steps)
    handles: dict[str, Handle] = {}
    ended: queue.Queue[Step] = queue.Queue()
    running = 0
    while ready := graph.take_ready(session) or running:
        steps = ready if isinstance(ready, list) else []
        if ask and steps:
            _ask_user(session, steps)
            if session.stopping.is_set():
                graph.put_back(steps)
                continue
        alone = len(steps) == 1 and not running
        for step in steps:
            before = [handles[i] for i in step.needs if i in handles] or after
            if alone:
                handles[step.id] = stages.step(session, step, before)
                ended.put(step)
            else:
                handles[step.id] = stages.submit(session, step, before, ended)
            running += 1
        finished = ended.get()
        running -= 1
        outcome = session.settle(finished, unless_tried=Outcome.FAILED).outcome
        graph.note(finished, outcome)
    graph.settle_rest(session)
    needed = {i for step in session.case.steps if step.id in handles for i in step.needs}
    return [handle for i, handle in handles.items() if i not in needed] or after


def _ask_user(session: Session, steps: Sequence[Step]) -> None:
    names = ", ".join(step.name for step in steps)
    tell(session.setting.listener, Waiting(f"press Enter to execute {names}"))
    try:
        input()
    except EOFError:
        raise RunInterruptedError("nobody is there to press Enter") from None


class _Graph:
    """Which steps may start now."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._open = list(steps)
        self._outcomes: dict[str, Outcome] = {}
        self._broken = False

    def take_ready(self, session: Session) -> list[Step]:
        """Take the steps whose needs have all succeeded; none after a failure or a stop."""
        if self._broken or session.stopping.is_set():
            return []
        ready = [
            step
            for step in self._open
            if all(
                i in self._outcomes and self._outcomes[i].lets_the_case_go_on for i in step.needs
            )
        ]
        self._open = [step for step in self._open if step not in ready]
        return ready

    def put_back(self, steps: Sequence[Step]) -> None:
        """Put steps back that were taken and did not start."""
        self._open = [*steps, *self._open]

    def note(self, step: Step, outcome: Outcome) -> None:
        """Remember how a step ended."""
        self._outcomes[step.id] = outcome
        self._broken = self._broken or not outcome.lets_the_case_go_on

    def settle_rest(self, session: Session) -> None:
        """Settle the steps that will not start."""
        stopped = session.stopping.is_set() and not self._broken
        outcome = Outcome.CANCELLED if stopped else Outcome.SKIPPED
        for step in self._open:
            session.settle(step, unless_tried=outcome)
