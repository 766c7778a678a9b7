"""The order of things: which stage follows which, for one run and for all runs of a case.

What a stage does is the session's business; how it is executed, plainly or as a Prefect task, is
that of ``Stages``. This module knows only the order, the graph of steps, and when to stop.
"""

import queue
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchyard.core.errors import RunInterruptedError
from benchyard.core.model import Case, Outcome, Step
from benchyard.host.testbed import hold_both
from benchyard.publish import Outcome as Published
from benchyard.publish import Uploaded
from benchyard.publish.outcome import advice, problems
from benchyard.results.campaigns import publishable_runs
from benchyard.results.layout import done_runs, refuse_foreign
from benchyard.results.record import RunRecord
from benchyard.results.subject import Subject
from benchyard.run.beginning import (
    Opened,
    WishedCampaign,
    missing,
    nothing_to_do,
    open_campaign,
    settled_campaign,
)
from benchyard.run.interrupts import graceful, insist
from benchyard.run.plan import Executed, Plan
from benchyard.run.precision import Precision
from benchyard.run.progress import CaseStarted, Listener, Notice, Waiting, tell
from benchyard.run.session import Session
from benchyard.run.setting import Setting

#: Stands for a stage that was executed, so that a later one can wait for it.
Handle = object


class Stages(Protocol):
    """How the stages of a run are executed. Each returns a handle for those that follow it."""

    def initialize(self, session: Session, after: Sequence[Handle], /) -> Handle:
        """Initialize the resources; raises what the session raises."""
        ...

    def start_collector(self, session: Session, after: Sequence[Handle], /) -> Handle:
        """Start the collector; raises what the session raises."""
        ...

    def step(self, session: Session, step: Step, after: Sequence[Handle], /) -> Handle:
        """Execute a step with all its attempts, here and now; a failure is not raised."""
        ...

    def submit(
        self, session: Session, step: Step, after: Sequence[Handle], done: "queue.Queue[Step]", /
    ) -> Handle:
        """Execute a step beside others; it is put on ``done`` when it has ended."""
        ...

    def stop_resources(self, session: Session, after: Sequence[Handle], /) -> Handle:
        """Stop the resources."""
        ...

    def stop_collector(self, session: Session, after: Sequence[Handle], /) -> Handle:
        """Stop the collector."""
        ...

    def keep_outputs(self, session: Session, after: Sequence[Handle], /) -> Handle:
        """Move the declared outputs to the results."""
        ...

    def record(self, session: Session, after: Sequence[Handle], /) -> tuple[RunRecord, Handle]:
        """Write the record."""
        ...

    def checkpoint(self, session: Session, after: Sequence[Handle], /) -> Handle:
        """Declare the run done."""
        ...

    def cooldown(self, session: Session, seconds: float, after: Sequence[Handle], /) -> Handle:
        """Let the host come to rest."""
        ...

    def summarize(self, case: Case, results: Path, after: Sequence[Handle], /) -> Handle:
        """Write the statistics over all finished runs."""
        ...

    def upload(
        self, runs: Sequence[Path], sinks: Sequence[str], after: Sequence[Handle], /
    ) -> tuple[Uploaded, Handle]:
        """Hand the finished runs in these folders to sinks; trouble with one is not raised."""
        ...

    def archive(
        self, uploaded: Uploaded, after: Sequence[Handle], /
    ) -> tuple[Sequence[Published], Handle]:
        """Move to the archive what the sinks have confirmed; say how it went for each sink."""
        ...


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


def execute_case(setting: Setting, plan: Plan, stages: Stages) -> Executed:
    """Execute the runs of a case that are not done, one after another, alone on this host.

    Raises:
        InputError: If something else has the place of a run or of a summary.
        TestbedBusyError: If another lab measures here and the plan is not to wait.
        KeyboardInterrupt: At the second Ctrl-C, after everything was stopped.
    """
    listener = setting.listener
    stop = _Stop(listener)
    with (
        graceful(stop.ask),
        hold_both(
            setting.results,
            setting.case.title,
            wait=plan.wait,
            tell=lambda text: tell(listener, Waiting(text)),
            give_up=lambda: stop.asked,
        ),
    ):
        opened, todo = _open(setting, plan)
        tell(listener, CaseStarted(setting.case.title, todo, opened.done))
        precision = Precision(setting, plan, todo, opened.campaign)
        course = _Course(plan, stages, stop, precision, opened)
        records, last = course.execute(precision.setting, todo)
        last = [stages.summarize(setting.case, setting.results, last)]
    _publish(setting, stages, last)
    interrupted = stop.asked and (course.left or _cancelled(records))
    return Executed(tuple(records), tuple(done_runs(setting.results)), interrupted)


def _open(setting: Setting, plan: Plan) -> tuple[Opened, tuple[int, ...]]:
    """Return the campaign that runs are added to, and the runs that are to be executed."""

    def say(text: str) -> None:
        tell(setting.listener, Notice(text))

    refuse_foreign(setting.results, {*plan.runs, *plan.whole})
    there = settled_campaign(setting.results, say)
    subject: Subject = setting.subject() if there.records else {}
    opened = open_campaign(
        setting.case, there, WishedCampaign(plan.campaign, setting.flow_run), subject, say
    )
    wanted = plan.whole or plan.runs if opened.changed else plan.runs
    todo = tuple(wanted) if plan.force else missing(wanted, opened.done)
    if not todo:
        say(nothing_to_do(setting.case.title, opened.campaign, len(plan.whole or plan.runs)))
    return opened, todo


def _publish(setting: Setting, stages: Stages, after: Sequence[Handle]) -> None:
    """Publish all finished runs that are not published; the host may be measured on meanwhile."""
    runs = publishable_runs(setting.results)
    if not runs or not setting.sinks:
        return
    uploaded, handle = stages.upload(runs, setting.sinks, after)
    outcomes, _ = stages.archive(uploaded, [handle])
    for outcome in outcomes:
        for text in (*problems(outcome), *advice(outcome)):
            tell(setting.listener, Notice(text))


def _cancelled(records: Sequence[RunRecord]) -> bool:
    return any(record.outcome is Outcome.CANCELLED for record in records)


@dataclass
class _Course:
    """The runs of a case, one after another.

    Attributes:
        left: Whether runs are left that were to be executed and are not.
    """

    plan: Plan
    stages: Stages
    stop: _Stop
    precision: Precision
    opened: Opened
    left: bool = False

    def execute(
        self, setting: Setting, runs: Sequence[int]
    ) -> tuple[list[RunRecord], list[Handle]]:
        """Execute runs, and return their records and the last handles."""
        todo, records, last = deque(runs), list[RunRecord](), list[Handle]()
        while todo:
            # First the session, then the question: a Ctrl-C in between would reach neither.
            session = self.stop.session = Session(setting, todo[0])
            if self.stop.asked or self._enough(records):
                break
            if self.plan.cooldown and (records or self.plan.rest_first):
                last = self._rest(session, last)
                if self.stop.asked:
                    break
            records[-1:] = map(self.precision.needed, records[-1:])
            record, handle = execute_run(session, self.stages, last, ask=self.plan.wait_for_user)
            records.append(record)
            last = [handle]
            todo.popleft()
            if self._is_of_something_else(setting, record):
                self.precision.forget(before=record)
                todo = deque(missing(self.plan.whole or self.plan.runs, (record.run,)))
        self.left = bool(todo) and not self.precision.reached
        return records, last

    def _enough(self, records: Sequence[RunRecord]) -> bool:
        failed = bool(records) and _failed(records[-1])
        return (self.plan.fail_fast and failed) or self.precision.after(records)

    def _rest(self, session: Session, after: list[Handle]) -> list[Handle]:
        tell(session.setting.listener, Waiting("cooling down", self.plan.cooldown))
        return [self.stages.cooldown(session, self.plan.cooldown, after)]

    def _is_of_something_else(self, setting: Setting, record: RunRecord) -> bool:
        if record.outcome is not Outcome.COMPLETED:
            return False
        return self.opened.add(record, lambda text: tell(setting.listener, Notice(text)))


def _failed(record: RunRecord) -> bool:
    return record.outcome is not Outcome.COMPLETED


def execute_run(
    session: Session, stages: Stages, after: Sequence[Handle], *, ask: bool = False
) -> tuple[RunRecord, Handle]:
    """Execute one run from its empty folder to its checkpoint.

    Whatever happens, resources and collector are stopped and the record is written.

    Args:
        after: Handles of what went before.
        ask: Ask the user for Enter before each step.
    """
    try:
        session.prepare()
        last = _execute_stages(session, stages, after, ask=ask)
        record, handle = stages.record(session, last)
        if record.outcome is Outcome.COMPLETED:
            handle = stages.checkpoint(session, [handle])
    except BaseException as error:
        session.abandon(error)
        raise
    return record, handle


def _execute_stages(
    session: Session, stages: Stages, after: Sequence[Handle], *, ask: bool
) -> list[Handle]:
    last = list(after)
    try:
        last = [stages.initialize(session, last)]
        last = [stages.start_collector(session, last)]
        last = execute_steps(session, stages, last, ask=ask) or last
    except Exception as error:  # noqa: BLE001 - the run failed, and is stopped and recorded all the same
        insist(error)
        session.fail(error)
    last = [stages.stop_resources(session, last)]
    last = [stages.stop_collector(session, last)]
    return [stages.keep_outputs(session, last)]


def execute_steps(
    session: Session, stages: Stages, after: Sequence[Handle], *, ask: bool = False
) -> list[Handle]:
    """Execute the graph of steps: those that wait for nothing run side by side.

    Returns:
        The handles of the executed steps that no other executed step waited for.
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
            before = [handles[i] for i in step.needs if i in handles] or list(after)
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
    return [handle for i, handle in handles.items() if i not in needed]


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
