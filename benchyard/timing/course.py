"""The executions: rounds in a random order, until the numbers, the clock or the user stop them."""

import random
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Annotated

from benchyard.core.errors import CommandFailedError
from benchyard.core.fields import Within
from benchyard.statistics.measures import median
from benchyard.timing.commands import TimedCommand
from benchyard.timing.execution import Execution, Executor
from benchyard.timing.ranking import MOST, Plan, Ranking, last_level, minimum_for, rank

#: Told after each execution: what is there so far, and the last ranking if there is one.
Watcher = Callable[["Course"], None]
#: A program that takes so many times as long into a pipe, and so many seconds longer, may look at
#: its stdout; writing into a pipe and starting its reader take less.
_PIPE_TIMES, _PIPE_S = 1.5, 0.002
#: So many pairs are executed into a pipe and into ``/dev/null``, or as many as take so many seconds
#: into a pipe; a quarter of them may be equal by chance.
_PAIRS, _PAIRS_S, _EQUAL = 8, 2.0, 0.25


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
        failure: What failed and ended it, as a sentence; empty for nothing.
        warmups: Of each command the unmeasured executions.
        piped: Of each command those, unmeasured as well, whose stdout was a pipe.
        sees_null: Places of the commands that take far longer into a pipe than into ``/dev/null``.
    """

    commands: Sequence[TimedCommand]
    seed: int
    executions: list[list[Execution]] = field(default_factory=list[list[Execution]])
    ranking: Ranking | None = None
    looks: int = 0
    why: str = ""
    failure: str = ""
    warmups: list[list[Execution]] = field(default_factory=list[list[Execution]])
    piped: list[list[Execution]] = field(default_factory=list[list[Execution]])
    sees_null: list[int] = field(default_factory=list[int])

    @property
    def rounds(self) -> int:
        """How many rounds are complete."""
        return min(map(len, self.executions))

    def succeeded(self, at: int, rounds: int | None = None) -> list[Execution]:
        """Return a command's executions that did not fail: all numbers stand on these."""
        return [one for one in self.executions[at][:rounds] if not one.exit_code]


@dataclass(frozen=True, slots=True)
class Options:
    """How the commands are executed.

    Args:
        warmup: Unmeasured executions of each command.
        ignore_failure: Go on after an exit code other than 0.
        seed: Of the random order; the same seed, the same order. None takes one by chance.
        timeout: Seconds after which an execution is killed; None for no limit.
    """

    warmup: Annotated[int, Within(0, 1000)] = 0
    ignore_failure: bool = False
    seed: int | None = None
    timeout: float | None = None


def execute(
    commands: Sequence[TimedCommand],
    executor: Executor,
    plan: Plan,
    options: Options,
    watch: Watcher,
) -> Course:
    """Execute the commands in turns until the plan says that it is enough.

    Ctrl-C after the first round, or a failure after the first measured execution, ends it early,
    with what is there.

    Raises:
        CommandFailedError: If a command cannot be started, or fails and may not, before that.
    """
    course = Course(commands, secrets.randbits(32) if options.seed is None else options.seed)
    for some in (course.executions, course.warmups, course.piped):
        some += [[] for _ in commands]
    with ExitStack() as cleanups:
        try:
            for one in commands:
                executor.call(one.setup, "the setup")
                cleanups.callback(_clean_up, course, executor, one)
            executor.refuse_missing(commands)
            _warm_up(course, executor, options)
            _rounds(course, executor, plan, options, watch)
            _confirm(course, executor, options)
        except CommandFailedError as error:
            course.failure, course.why = str(error), "a failure"
        except KeyboardInterrupt:
            if not course.rounds:
                raise
            course.why = INTERRUPTED
    if course.failure and not any(map(course.succeeded, range(len(commands)))):
        raise CommandFailedError(course.failure)
    if course.rounds and (not course.ranking or course.ranking.rounds < course.rounds):
        _rank(course, plan, last_level(plan, course.looks))
    return course


INTERRUPTED = "interrupted"
_OUT_OF_TIME = "the time is up"


def _clean_up(course: Course, executor: Executor, command: TimedCommand) -> None:
    try:
        executor.call(command.cleanup, "the cleanup")
    except CommandFailedError as error:
        course.failure = course.failure or str(error)


def _warm_up(course: Course, executor: Executor, options: Options) -> None:
    streams = executor.streams
    for which in range(len(course.commands)):
        if not (streams.output or streams.show or streams.pipe):
            _execute(course, which, executor, options, course.piped)
        for _ in range(options.warmup):
            _execute(course, which, executor, options, course.warmups)


def _confirm(course: Course, executor: Executor, options: Options) -> None:
    """Execute again in turns what was slow into a pipe: by chance, or as the first execution."""
    for which, piped in enumerate(course.piped):
        good, pairs, equal = course.succeeded(which), 0, 0
        if not (piped and good and _slower(piped[0], good)):
            continue
        while equal <= _EQUAL * _PAIRS and pairs < _PAIRS:
            _execute(course, which, executor, options, course.warmups)
            _execute(course, which, executor, options, course.piped)
            pairs, equal = pairs + 1, equal + (not _slower(piped[-1], course.warmups[which][-1:]))
            if sum(one.wall_s for one in piped) > _PAIRS_S:
                break
        if equal <= _EQUAL * pairs:
            course.sees_null.append(which)


def _slower(piped: Execution, beside: Sequence[Execution]) -> bool:
    usual_s = median([one.wall_s for one in beside])
    return piped.wall_s > max(_PIPE_TIMES * usual_s, usual_s + _PIPE_S)


def _rounds(
    course: Course, executor: Executor, plan: Plan, options: Options, watch: Watcher
) -> None:
    began, random_order = time.monotonic(), random.Random(course.seed)  # noqa: S311 - no secret
    looks: Iterator[tuple[int, float]] | None = None
    at, share = 0, 0.0
    while True:
        order = list(range(len(course.commands)))
        random_order.shuffle(order)
        for which in order:
            _execute(course, which, executor, options, course.executions)
            watch(course)
        if looks is None:
            if plan.maximum is None:
                plan = replace(plan, minimum=minimum_for(time.monotonic() - began))
            looks = plan.levels()
            at, share = next(looks)
        if course.rounds == at:
            _rank(course, plan, share)
            at, share = next(looks, (0, 0.0))
            course.why = _enough(course, plan, more=bool(at))
        if not course.why and plan.maximum is None and time.monotonic() - began > plan.max_time:
            course.why = _OUT_OF_TIME
        if course.why:
            return


def _execute(
    course: Course,
    which: int,
    executor: Executor,
    options: Options,
    into: list[list[Execution]],
) -> None:
    """Execute a command once, and add it to its executions, warm-ups or those into a pipe."""
    command, position = course.commands[which], sum(map(len, course.executions))
    pipe = into is course.piped
    done = executor.time(command, position, pipe=pipe, timeout=options.timeout)
    into[which].append(done)
    if done.exit_code and not options.ignore_failure:
        number = sum(len(some[which]) for some in (course.piped, course.warmups, course.executions))
        measured = f"measured execution {len(into[which])}"
        kind = measured if into is course.executions else "unmeasured"
        raise CommandFailedError(
            f"'{command.line}' failed in execution {number} ({kind}): "
            f"{executor.failure(done, options.timeout)}; --ignore-failure goes on"
        )


def _rank(course: Course, plan: Plan, share: float) -> None:
    done = course.rounds
    course.looks += 1
    places = range(len(course.commands))
    times = [[each.wall_s for each in course.succeeded(at, done)] for at in places]
    ranking = rank([one.name for one in course.commands], times, share=share, plan=plan)
    course.ranking = replace(ranking, rounds=done)


def _enough(course: Course, plan: Plan, *, more: bool) -> str:
    if not more:
        return "no more were asked for" if plan.maximum else f"{MOST:,} are the most"
    spent = min(sum(each.wall_s for each in some) for some in course.executions)
    ranking = course.ranking
    return ranking.why if ranking and spent >= plan.min_time else ""
