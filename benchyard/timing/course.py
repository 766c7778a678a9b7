"""The executions: rounds in a random order, until the numbers, the clock or the user stop them."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from benchyard.core.errors import CommandFailedError
from benchyard.timing.commands import TimedCommand
from benchyard.timing.execution import Execution, Executor
from benchyard.timing.plan import MOST, Plan, last_level, minimum_for
from benchyard.timing.ranking import Ranking, rank

#: Told after each execution: what is there so far, and the last ranking if there is one.
Watcher = Callable[["Course"], None]


@dataclass(slots=True)
class Course:
    """What was executed so far.

    Args:
        commands: What is timed, in the order given.
        executions: Of each command, in the order of their making.
        ranking: Of the last look; None before the first.
        seed: Of the order within the rounds.
        looks: How many rankings were made.
        why: Why no further round followed.
    """

    commands: Sequence[TimedCommand]
    seed: int
    executions: list[list[Execution]] = field(default_factory=list[list[Execution]])
    ranking: Ranking | None = None
    looks: int = 0
    why: str = ""

    @property
    def rounds(self) -> int:
        """How many rounds are complete."""
        return min(map(len, self.executions))


@dataclass(frozen=True, slots=True)
class Options:
    """How the commands are executed.

    Args:
        warmup: Unmeasured executions of each command.
        ignore_failure: Whether a command may end with another exit code than 0.
        seed: Of the order; the same seed gives the same order.
    """

    warmup: int = 0
    ignore_failure: bool = False
    seed: int = 0


def execute(
    commands: Sequence[TimedCommand],
    executor: Executor,
    plan: Plan,
    options: Options,
    watch: Watcher,
) -> Course:
    """Execute the commands in turns until the plan says that it is enough.

    Ctrl-C after the first round ends it early, with what is there.

    Raises:
        CommandFailedError: If a command cannot be started, or fails and may not.
    """
    course = Course(commands, options.seed, [[] for _ in commands])
    for one in commands:
        executor.call(one.setup, "the setup")
    try:
        _warm_up(course, executor, options)
        _rounds(course, executor, plan, options, watch)
    except KeyboardInterrupt:
        if not course.rounds:
            raise
        course.why = INTERRUPTED
    finally:
        for one in commands:
            executor.call(one.cleanup, "the cleanup")
    if course.why in {INTERRUPTED, _OUT_OF_TIME} and not _looked_now(course):
        _rank(course, plan, last_level(plan, course.looks))
    return course


INTERRUPTED = "interrupted"
_OUT_OF_TIME = "the time is up"


def _warm_up(course: Course, executor: Executor, options: Options) -> None:
    for one in course.commands:
        for _ in range(options.warmup):
            executor.call(one.prepare, "the preparation")
            _checked(executor, one, executor.time(one, -1), options)


def _rounds(
    course: Course, executor: Executor, plan: Plan, options: Options, watch: Watcher
) -> None:
    began, random_order = time.monotonic(), random.Random(options.seed)  # noqa: S311 - no secret
    looks: Iterator[tuple[int, float]] | None = None
    at, share = 0, 0.0
    while True:
        order = list(range(len(course.commands)))
        random_order.shuffle(order)
        for which in order:
            _execute(course, which, executor, options)
            watch(course)
        if looks is None:
            plan = _fitted(plan, time.monotonic() - began)
            looks = plan.levels()
            at, share = next(looks)
        if course.rounds == at:
            _rank(course, plan, share)
            at, share = next(looks, (0, 0.0))
            course.why = _enough(course, plan, more=bool(at))
        if not course.why and plan.maximum is None and time.monotonic() - began > plan.max_s:
            course.why = _OUT_OF_TIME
        if course.why:
            return


def _fitted(plan: Plan, round_s: float) -> Plan:
    if plan.maximum is not None:
        return plan
    return replace(plan, minimum=minimum_for(round_s))


def _execute(course: Course, which: int, executor: Executor, options: Options) -> None:
    command = course.commands[which]
    executor.call(command.prepare, "the preparation")
    done = executor.time(command, sum(map(len, course.executions)))
    _checked(executor, command, done, options)
    course.executions[which].append(done)


def _checked(executor: Executor, command: TimedCommand, done: Execution, options: Options) -> None:
    if done.exit_code and not options.ignore_failure:
        how = f"signal {-done.exit_code}" if done.exit_code < 0 else f"exit code {done.exit_code}"
        raise CommandFailedError(
            f"'{command.line}' failed: {how}{executor.messages()}; --ignore-failure goes on"
        )


def _rank(course: Course, plan: Plan, share: float) -> None:
    done = course.rounds
    course.looks += 1
    course.ranking = rank(
        [one.name for one in course.commands],
        [[each.wall_s for each in some[:done]] for some in course.executions],
        share=share,
        plan=plan,
    )


def _looked_now(course: Course) -> bool:
    return course.ranking is not None and course.ranking.rounds == course.rounds


def _enough(course: Course, plan: Plan, *, more: bool) -> str:
    if not more:
        return "no more were asked for" if plan.maximum else f"{MOST:,} are the most"
    spent = min(sum(each.wall_s for each in some) for some in course.executions)
    ranking = course.ranking
    if ranking is None or spent < plan.min_s or not ranking.settled:
        return ""
    return ranking.why
