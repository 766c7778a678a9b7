"""One attempt of one step: executions timed tightly and checked; answers that others must equal."""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from benchyard.case.resource import CommandResult, FileRole, Resource, step_context
from benchyard.core.clock import Deadline, Timeline, iso, seconds
from benchyard.core.errors import (
    CheckFailedError,
    CommandFailedError,
    CommandTimedOutError,
    ProgramFailedError,
    ResourceError,
)
from benchyard.core.files import remove_tree
from benchyard.core.model import Json, Outcome, Step
from benchyard.host.collector import Collector
from benchyard.process.orphans import Leftovers
from benchyard.results.record import ErrorRecord, Repetition
from benchyard.run.checks import Checks
from benchyard.run.running_resources import owned_by
from benchyard.run.workspaces import declared_files


class KeptAnswers:
    """Keeps answers while the run goes on: a step of the same output's name moves them away.

    Args:
        steps: All steps of the case.
        work: Where the run works.
        lasting: Folder for the answers of all steps with a check, which then outlast the run.
    """

    def __init__(self, steps: Iterable[Step], work: Path, lasting: Path | None = None) -> None:
        checked = [step for step in steps if step.check]
        self._wanted = {step.check.equal_to for step in checked if step.check}
        if lasting is not None:
            self._wanted |= {step.id for step in checked}
        self._folder = lasting or work / "answers"
        self._kept: dict[str, Path] = {}

    def wants(self, step: Step) -> bool:
        """Tell whether the answer of a step is kept."""
        return step.id in self._wanted

    def keep(self, step: Step, output: Path) -> None:
        """Keep the answer of a step, in place of an earlier one; nothing if it made none."""
        # The suffix stays: tables are compared otherwise than texts.
        kept = answer_folder(self._folder, step) / f"answer{output.suffix}"
        kept.unlink(missing_ok=True)
        self._kept.pop(step.id, None)
        if output.is_file():
            kept.parent.mkdir(parents=True, exist_ok=True)
            _link_or_copy(output, kept)
            self._kept[step.id] = kept

    def of(self, step_id: str) -> Path:
        """Return the file with the answer of a step.

        Raises:
            CheckFailedError: If it gave none.
        """
        if step_id not in self._kept:
            raise CheckFailedError(f"the step '{step_id}' gave no answer to compare with")
        return self._kept[step_id]


def answer_folder(folder: Path, step: Step) -> Path:
    """Return the folder, among those of all steps, that holds the answer of one."""
    return folder / str(step.index)


def _link_or_copy(output: Path, kept: Path) -> None:
    """Link the file, which takes no time; copy what is not ours to link."""
    try:
        os.link(output.resolve(strict=True), kept)
    except OSError:
        shutil.copyfile(output, kept)


_FILES = (FileRole.OUTPUT,)

Describe = Callable[[BaseException], ErrorRecord]


@dataclass(frozen=True, slots=True)
class AttemptKit:
    """What an execution is measured with.

    Args:
        timeline: The run's monotonic clock.
        collector: Reads the counters.
        describe: Makes the record of an error, secrets removed.
        leftovers: Ends what programs leave running.
        checks: Look at what was made.
        answers: Those that later steps must equal.
    """

    timeline: Timeline
    collector: Collector
    describe: Describe
    leftovers: Leftovers
    checks: Checks
    answers: KeptAnswers


def execute_attempt(
    step: Step,
    resource: Resource[Any],
    parameters: Mapping[str, Json],
    bench: AttemptKit,
    abort: Callable[[], None],
) -> tuple[Repetition, ...]:
    """Execute a step's command: warm-ups, then the measured repetitions; the first failure ends it.

    Args:
        step: The step.
        resource: What executes it, ready for commands.
        parameters: Of the command, secrets resolved.
        bench: What it is measured with.
        abort: Kills what the resource does.

    Returns:
        What was executed; the last one tells whether the attempt succeeded.
    """
    method = getattr(resource, step.command)
    call = cast("Callable[[], object]", lambda: method(**parameters))
    kinds = ["warmup"] * step.warmup + ["measured"] * step.repeat
    made: list[Repetition] = []
    resource.begin(step.label)
    with step_context(step.label):
        for kind in kinds:
            made.append(_execute_once(step, kind, call, resource, bench, abort))
            if made[-1].outcome is not Outcome.COMPLETED:
                break
    return tuple(made)


def _execute_once(
    step: Step,
    kind: str,
    call: Callable[[], object],
    resource: Resource[Any],
    bench: AttemptKit,
    abort: Callable[[], None],
) -> Repetition:
    """Time one execution: counters, monotonic clock, command, monotonic clock, counters."""
    deadline = Deadline(step.timeout, abort)
    _forget_outputs(step, resource)
    error: Exception | None = None
    answer: object = None
    there = bench.leftovers.before()
    before = bench.collector.boundary(owned_by(resource, step.label), begins=True)
    with deadline.armed():
        start = bench.timeline.now_ns()
        try:
            answer = call()
        except Exception as raised:  # noqa: BLE001 - whatever a command raises is how it failed
            error = raised
        end = bench.timeline.now_ns()
    after = bench.collector.boundary(owned_by(resource, step.label), begins=False)
    bench.leftovers.end(f"the step '{step.name}'", resource.programs(step.label), there)
    beside = resource.works_beside or bool(step.ports_of)
    used = bench.collector.used(before, after, step=step.index, beside=beside)
    if deadline.passed:
        error = CommandTimedOutError(f"stopped after {step.timeout} s (timeout)")
    timed = Repetition(
        kind=kind,
        start_s=bench.timeline.since_start(start),
        duration_s=seconds(end - start),
        outcome=Outcome.COMPLETED,
        used=used.metrics,
        started_at=iso(before.wall_ns),
        ended_at=iso(after.wall_ns),
        harness=used.harness,
        suspect=used.suspect,
    )
    return _judge(step, resource, timed, bench, answer, error)


def _forget_outputs(step: Step, resource: Resource[Any]) -> None:
    """Remove what an earlier execution made: it must not pass for the answer of this one."""
    for name in declared_files(step, type(resource)):
        output = resource.workspace.shared / name
        if not output.is_symlink():
            remove_tree(output)


def _judge(
    step: Step,
    resource: Resource[Any],
    timed: Repetition,
    bench: AttemptKit,
    answer: object,
    error: Exception | None,
) -> Repetition:
    """Decide how an execution ended; its measurements stay as they are."""
    result = CommandResult()
    if error is None:
        try:
            result = _result(step, answer)
            if timed.kind == "measured" and not step.expect_failure:
                _look_at_answer(step, resource, result, bench)
        except Exception as raised:  # noqa: BLE001 - as in _execute_once
            error = raised
    timed = replace(timed, values=result.values)
    if step.expect_failure:
        return _judge_expected(timed, error, bench)
    if error is None:
        return timed
    outcome = Outcome.TIMED_OUT if isinstance(error, CommandTimedOutError) else Outcome.FAILED
    return replace(timed, outcome=outcome, error=bench.describe(error))


def _judge_expected(timed: Repetition, error: Exception | None, bench: AttemptKit) -> Repetition:
    if error is None:
        missing = CommandFailedError("the command succeeded, and the case expects it to fail")
        return replace(timed, outcome=Outcome.FAILED, error=bench.describe(missing))
    told = bench.describe(error)
    timed = replace(timed, error=told)
    if isinstance(error, CommandTimedOutError):
        return replace(timed, outcome=Outcome.TIMED_OUT)
    if isinstance(error, ProgramFailedError):
        return timed
    # What never began, was killed or went away, and a bug, would pass for any failure.
    message = f"{told.message}; the case expects the program itself to fail, and this is not that"
    return replace(timed, outcome=Outcome.FAILED, error=replace(told, message=message))


def _result(step: Step, answer: object) -> CommandResult:
    if answer is False:
        raise ResourceError(f"{step.resource}.{step.command} returned False")
    result = answer if isinstance(answer, CommandResult) else CommandResult()
    if isinstance(answer, Mapping):
        result = CommandResult(cast("Mapping[str, Json]", answer))
    result = result.verified()
    try:
        json.dumps(dict(result.values), allow_nan=False)
    except (ValueError, TypeError) as error:
        what = f"{step.resource}.{step.command} reported a value that no record can hold"
        raise ResourceError(f"{what}: {error}") from error
    return result


def _look_at_answer(
    step: Step, resource: Resource[Any], result: CommandResult, bench: AttemptKit
) -> None:
    """Check a step's answer, and keep it for the steps that must give the same one."""
    check, wanted = step.check, bench.answers.wants(step)
    if check is None and not wanted:
        return
    output = _output(step, resource, result)
    if output is None:
        raise CheckFailedError(f"{step.resource}.{step.command} has no output to check")
    if check is not None:
        other = bench.answers.of(check.equal_to) if check.equal_to else None
        bench.checks.check(check, output, resource.workspace.inputs, step.timeout, other)
    if wanted:
        bench.answers.keep(step, output)


def _output(step: Step, resource: Resource[Any], result: CommandResult) -> Path | None:
    named = step.check.file if step.check else None
    names = [named] if named else declared_files(step, type(resource), _FILES)
    return resource.workspace.new_file(names[0]) if names else result.output
